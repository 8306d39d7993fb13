"""`sisyphus config`: shows the settings, and changes one line of a file."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from world import World

from sisyphus.cli import settings_file
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.settings import MAX_BYTES, NOTHING, SETTINGS

FILE = "~/.claude/.sisyphus/config.toml"


def own(world: World) -> Path:
    return world.ours / "config.toml"


# ---------------------------------------------------------------- the file, as text

TEXT = """\
# mine
[rules] # about rules
enabled = true  # on
# neither
unscoped = "send"

# about loops
[ralph]
breaker_stops = 8
"""


@pytest.mark.parametrize(
    ("text", "name", "value", "expected"),
    [
        ("", "rules.unscoped", "send", '[rules]\nunscoped = "send"\n'),
        (TEXT, "rules.enabled", False, TEXT.replace("= true  # on", "= false  # on")),
        (TEXT, "ralph.breaker_stops", 9, TEXT.replace("8", "9")),
        (TEXT, "rules.x", 1, TEXT.replace('"send"\n', '"send"\nx = 1\n')),
        (TEXT, "state.keep_days", 7, f"{TEXT}\n[state]\nkeep_days = 7\n"),
        ("[a]\nb = 1", "c.d", [], "[a]\nb = 1\n\n[c]\nd = []\n"),
        ("[rules]\n# all\n", "rules.x", 1, "[rules]\n# all\nx = 1\n"),
        ("rules.x = 1 # a\n", "rules.x", 2, "rules.x = 2 # a\n"),
        ("rules.x = 1\n", "rules.y", 2, "rules.x = 1\nrules.y = 2\n"),
        ("rules = { x = 1 }\n", "rules.x", 2, "rules = { x = 2 }\n"),
        ("[rules]\nx = [\n  1, # a\n]\n", "rules.x", ["b"], '[rules]\nx = ["b"]\n'),
        ("[a]\nx = 1\r\n", "a.x", 2, "[a]\nx = 2\n"),
        ("[n]\nc = 'a'\n", "n.c", 'say "ü"\n$x', '[n]\nc = "say \\"ü\\"\\n$x"\n'),
    ],
)
def test_a_setting_is_written_and_all_else_stays(
    tmp_path: Path, text: str, name: str, value: object, expected: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)

    settings_file.write(str(file), name, value)

    assert file.read_text() == expected
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (TEXT, "rules.enabled", TEXT.replace("enabled = true  # on\n", "")),
        (TEXT, "ralph.breaker_stops", TEXT.replace("[ralph]\nbreaker_stops = 8\n", "")),
        ("[a]\n# why\nx = 1\n", "a.x", "[a]\n# why\n"),
        ("[a] # why\nx = 1\n", "a.x", "[a] # why\n"),
        (TEXT, "rules.colour", TEXT),
        (TEXT, "state.keep_days", TEXT),
        ("a = 1", "b.x", "a = 1"),
    ],
)
def test_a_setting_is_taken_out_and_all_else_stays(
    tmp_path: Path, text: str, name: str, expected: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)

    assert settings_file.remove(str(file), name) is (text != expected)

    assert file.read_text() == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[rules]\nenabled true\n", "is not valid TOML, see its line 2"),
        ("[a]\nx = 1\n[a]\ny = 1\n", "is not valid TOML, see its line 3"),
        ("[a]\nx = '''\n", "is not valid TOML, see its line 2"),
        ("x = " + "[" * 4_000, "is not valid TOML, see its line 1"),
        ("rules = 3\n", "rules is not a section there"),
        ("#" * (MAX_BYTES + 1), "is too large"),
        ("#" * (MAX_BYTES - 5) + "\n", "would have over 8,192 bytes"),
        (b"\xff\xfex", "cannot be changed"),
        (b"\xe9", "it is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_changed_is_left_alone(
    tmp_path: Path, text: str | bytes, problem: str
) -> None:
    file = tmp_path / "config.toml"
    data = text.encode() if isinstance(text, str) else text
    file.write_bytes(data)

    with pytest.raises(SisyphusError, match=problem):
        settings_file.write(str(file), "rules.unscoped", "send")

    assert file.read_bytes() == data


# ---------------------------------------------------------------- showing


def test_it_lists_every_setting_those_that_somebody_set_first(world: World) -> None:
    world.write(own(world), "[ralph]\nbreaker_stops = 8\n")
    world.write(".claude/sisyphus.toml", "[rules]\nenabled = false\n")
    world.setenv("SISYPHUS_RULES_UNSCOPED", "send")

    lines = world.cli("config").out.splitlines()

    assert lines[:4] == [
        f"ralph.breaker_stops = 8  ({FILE})",
        "rules.enabled = false  (.claude/sisyphus.toml)",
        'rules.unscoped = "send"  (SISYPHUS_RULES_UNSCOPED)',
        "boulder.enabled = true",
    ]
    assert sorted(line.partition(" = ")[0] for line in lines) == sorted(SETTINGS)


def test_json_has_every_setting_and_who_set_it(world: World) -> None:
    world.write(own(world), "[ralph]\nbreaker_stops = 8\n")

    rows = json.loads(world.cli("config", "--json").out)

    assert [row["name"] for row in rows][:2] == ["ralph.breaker_stops", "boulder.enabled"]
    assert len(rows) == len(SETTINGS)
    assert rows[0] == world.cli("config", "ralph.breaker_stops", "--json").json == {
        "name": "ralph.breaker_stops",
        "value": 8,
        "default": 5,
        "set_by": str(own(world)),
        "accepts": "a whole number, 0 or more",
        "project_may": "nothing",
        "help": SETTINGS["ralph.breaker_stops"].help,
    }  # fmt: skip
    assert rows[1]["set_by"] is None


@pytest.mark.parametrize(
    ("toml", "key", "value"),
    [
        ("", "rules.enabled", "true\n"),
        ("", "ralph.breaker_stops", "5\n"),
        ("", "rules.unscoped", "skip\n"),
        ("", "notify.command", "\n"),
        ("[enforce]\nclaims = ['all done', 'ça y est']", "enforce.claims", "all done\nça y est\n"),
        ("[notify]\ncommand = \"\\u001b[2J 'b'\"", "notify.command", "\ufffd[2J 'b'\n"),
    ],
)
def test_a_key_prints_its_value_alone(world: World, toml: str, key: str, value: str) -> None:
    world.write(own(world), toml)

    assert world.cli("config", key).out == value


def test_verbose_explains(world: World) -> None:
    answer = world.cli("config", "rules.enabled", "-v").out

    assert answer.splitlines()[0] == "rules.enabled = true"
    assert SETTINGS["rules.enabled"].help in answer
    assert "Takes true or false. Default: true. A project can turn it off." in answer
    everything = world.cli("config", "-v").out
    assert all(setting.help in everything for setting in SETTINGS.values())


def test_a_secret_in_a_command_is_masked_in_the_list(world: World) -> None:
    world.write(own(world), "[notify]\ncommand = 'curl -H \"Authorization: Bearer abc123def456g\"'")

    assert "abc123def456g" not in world.cli("config").out
    assert "abc123def456g" in world.cli("config", "notify.command").out


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("rules", "Do you mean rules.enabled or rules.unscoped?"),
        ("breaker_stops", "Do you mean ralph.breaker_stops?"),
        ("rules.enabeld", "Do you mean rules.enabled"),
        ("loop.breaker_stop", "Do you mean ralph.breaker_stops"),
        ("Rules.Enabled", "Do you mean rules.enabled"),
        ("state.keep-days", "Do you mean state.keep_days?"),
        ("dashboard.port", "`sisyphus config` lists them all."),
        ("\x1b[2J", "There is no setting [2J."),
        ("x" * 5_000, "…"),
        ("get", "Say `sisyphus config KEY`."),
        ("set", "Say `sisyphus config KEY VALUE`."),
        ("rules.enabled=false", "Write a blank in place of =: `sisyphus config rules.enabled f"),
    ],
)  # fmt: skip
def test_a_setting_that_does_not_exist_is_an_error_that_helps(
    world: World, key: str, hint: str
) -> None:
    for words in ([key], [key, "1"]):
        answer = world.cli("config", *words)
        assert answer.code in (1, 2)
        assert not answer.out
        assert hint in answer.err
        assert len(answer.err) < 400
    assert not own(world).exists()


# ---------------------------------------------------------------- setting


@pytest.mark.parametrize(
    ("key", "words", "value"),
    [
        ("rules.enabled", ["false"], False),
        ("rules.enabled", ["off"], False),
        ("boulder.enabled", ["ON"], True),
        ("ralph.breaker_stops", ["0"], 0),
        ("rules.unscoped", ["send"], "send"),
        ("notify.command", ["notify-send 'hi' \"$1\""], "notify-send 'hi' \"$1\""),
        ("notify.command", [""], ""),
        ("enforce.claims", ["all done", "fini"], ["all done", "fini"]),
        ("enforce.claims", ["fini"], ["fini"]),
    ],
)
def test_a_value_is_set_in_the_users_file(
    world: World, key: str, words: list[str], value: object
) -> None:
    answer = world.cli("config", key, *words)

    assert answer.code == 0
    assert answer.out.startswith(f"Wrote {key} = ")
    assert answer.out.endswith(f" into {FILE}.\n")
    section, _, name = key.partition(".")
    assert tomllib.loads(own(world).read_text()) == {section: {name: value}}
    assert stat.S_IMODE(own(world).stat().st_mode) == 0o600
    assert stat.S_IMODE(world.ours.stat().st_mode) == 0o700
    assert world.cli("config", key, "--json").json["value"] == value


@pytest.mark.parametrize(
    ("key", "words", "problem"),
    [
        ("rules.enabled", ["maybe"], 'rules.enabled must be true or false, not "maybe"'),
        ("ralph.breaker_stops", ["five"], "must be a whole number, 0 or more"),
        ("ralph.breaker_stops", ["1" * 5_000], "must be a whole number, 0 or more"),
        ("ralph.breaker_stops", ["1.5"], "must be a whole number, 0 or more"),
        ("ralph.breaker_stops", ["--", "-1"], "must be a whole number, 0 or more"),
        ("rules.unscoped", ["perhaps"], 'must be "skip" or "send", not "perhaps"'),
        ("notify.command", ["notify-send", "hi"], "takes one value. Quote it"),
        ("rules.enabled", ["--unset", "true"], "--unset takes one KEY and no VALUE"),
        ("rules.enabled", ["--edit"], "--edit takes no KEY"),
        ("rules.enabled", ["--in-project"], "--in-project is for a VALUE"),
        ("rules.enabled", ["true", "--json"], "They change none"),
    ],
)
def test_a_wrong_value_is_refused(world: World, key: str, words: list[str], problem: str) -> None:
    answer = world.cli("config", key, *words)

    assert (answer.code, answer.out) == (2, "")
    assert problem in answer.err
    assert not own(world).exists()


def test_a_hook_heeds_what_was_set(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")

    world.cli("config", "rules.enabled", "off")
    assert world.read("a.py").is_silent
    world.cli("config", "--unset", "rules.enabled")

    assert "MARK" in world.read("a.py").text


@pytest.mark.parametrize(
    ("project", "variable", "wins"),
    [
        ("skip", None, '.claude/sisyphus.toml sets it to "skip" in this project, and wins.\n'),
        ("send", None, ""),
        (None, "skip", 'SISYPHUS_RULES_UNSCOPED sets it to "skip", and wins.\n'),
        ("send", "skip", 'SISYPHUS_RULES_UNSCOPED sets it to "skip", and wins.\n'),
        (None, "perhaps", ""),
    ],
)
def test_it_says_who_still_wins(
    world: World, project: str | None, variable: str | None, wins: str
) -> None:
    if project:
        world.write(".claude/sisyphus.toml", f'[rules]\nunscoped = "{project}"\n')
    if variable:
        world.setenv("SISYPHUS_RULES_UNSCOPED", variable)

    answer = world.cli("config", "rules.unscoped", "send")

    assert answer.out == f'Wrote rules.unscoped = "send" into {FILE}.\n{wins}'


def test_unset_takes_out_what_is_there_even_a_mistake(world: World) -> None:
    world.write(own(world), "[rules]\ncolour = 1\nenabled = false\n")

    assert world.cli("config", "--unset", "rules.enabled").out == (
        f"rules.enabled is no longer in {FILE}.\nIt is true, its default.\n"
    )
    assert world.cli("config", "--unset", "rules.colour").code == 0
    assert not own(world).read_text()
    again = world.cli("config", "--unset", "rules.enabled")
    assert (again.code, "is not in" in again.out) == (0, True)
    assert world.cli("config", "--unset", "rules.colour").code == 1
    assert world.cli("config", "--unset").code == 2


def test_unset_says_what_counts_now(world: World) -> None:
    world.cli("config", "rules.unscoped", "skip")
    world.write(".claude/sisyphus.toml", "[rules]\nunscoped = 'send'\n")

    answer = world.cli("config", "--unset", "rules.unscoped").out

    assert 'It is "send", by .claude/sisyphus.toml.' in answer


def test_a_broken_file_is_named_with_its_line(world: World) -> None:
    world.write(own(world), "[rules]\nenabled true\n")

    answer = world.cli("config", "rules.enabled", "false")

    assert answer.code == 1
    assert f"error: {FILE} is not valid TOML, see its line 2." in answer.err
    assert own(world).read_text() == "[rules]\nenabled true\n"


def test_a_link_stays_a_link(world: World) -> None:
    target = world.home / "dotfiles" / "sisyphus.toml"
    world.ours.mkdir(parents=True)
    own(world).symlink_to(target)

    for value in ("false", "true"):
        assert world.cli("config", "rules.enabled", value).code == 0

    assert own(world).is_symlink()
    assert tomllib.loads(target.read_text()) == {"rules": {"enabled": True}}
    assert list(target.parent.iterdir()) == [target]


def test_only_the_user_changes_settings(world: World) -> None:
    world.start()
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    world.setenv("EDITOR", "touch ran")

    for words in (["rules.enabled", "false"], ["--unset", "rules.enabled"], ["--edit"],
                  ["rules.enabled", "false", "--in-project"]):  # fmt: skip
        answer = world.cli("config", *words)
        assert (answer.code, "Use another terminal" in answer.err) == (1, True)
    assert not own(world).exists()
    assert not (world.project / "ran").exists()
    assert world.cli("config", "rules.enabled").out == "true\n"


@pytest.mark.parametrize("home", ["", "project"])
def test_without_a_home_nothing_is_set(world: World, home: str) -> None:
    folder = world.project / ".cfg" if home else ""
    world.setenv("CLAUDE_CONFIG_DIR", str(folder))
    world.setenv("HOME", "" if not home else str(world.home))

    answer = world.cli("config", "rules.enabled", "false")

    assert answer.code == 1
    assert "error: There is no home folder for your settings" in answer.err
    assert not (world.project / ".cfg").exists()
    assert world.cli("config", "rules.enabled").out == "true\n"


def test_a_file_that_cannot_be_written_is_an_error(world: World) -> None:
    world.cli("status")
    own(world).mkdir()

    answer = world.cli("config", "rules.enabled", "false")

    assert answer.code == 1
    assert f"error: {FILE} cannot be changed: it is not a regular file." in answer.err


# ---------------------------------------------------------------- the project's file


def test_a_project_gets_what_it_may_set(world: World) -> None:
    file = world.project / ".claude/sisyphus.toml"

    assert world.cli("config", "--in-project", "rules.enabled", "off").out == (
        "Wrote rules.enabled = false into .claude/sisyphus.toml.\n"
    )
    assert world.cli("config", "--in-project", "context.agents_md", "never").code == 0

    assert tomllib.loads(file.read_text()) == {
        "rules": {"enabled": False}, "context": {"agents_md": "never"},
    }  # fmt: skip
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert not own(world).exists()
    assert world.cli("config", "--unset", "--in-project", "rules.enabled").code == 0
    assert tomllib.loads(file.read_text()) == {"context": {"agents_md": "never"}}


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("ralph.enabled", "false", "A project cannot set ralph.enabled: it is the user's alone."),
        ("notify.command", "x", "A project cannot set notify.command"),
        ("rules.enabled", "true", "A project can only turn rules.enabled off."),
    ],
)
def test_a_project_does_not_get_what_would_be_ignored(
    world: World, key: str, value: str, reason: str
) -> None:
    answer = world.cli("config", "--in-project", key, value)

    assert (answer.code, answer.out) == (1, "")
    assert reason in answer.err
    assert not (world.project / ".claude").exists()


@pytest.mark.parametrize("link", [".claude", ".claude/sisyphus.toml"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_that_leaves_the_project_is_not_followed(
    world: World, link: str, is_there: bool
) -> None:
    target = world.root / "elsewhere"
    inner = target / "sisyphus.toml" if link == ".claude" else target
    if is_there:
        inner.parent.mkdir(exist_ok=True)
        inner.write_text("[rules]\n")
    (world.project / link).parent.mkdir(exist_ok=True)
    (world.project / link).symlink_to(target)

    answer = world.cli("config", "--in-project", "rules.enabled", "off")

    assert answer.code == 1
    assert "project" in answer.err
    assert inner.read_text() == "[rules]\n" if is_there else not inner.exists()


def test_the_home_is_no_project(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.home)

    answer = world.cli("config", "--in-project", "rules.enabled", "off")

    assert (answer.code, "is no project" in answer.err) == (1, True)


# ---------------------------------------------------------------- the editor


def editor(world: World, name: str, line: str) -> None:
    """Sets an editor that adds a line to the file."""
    script = world.root / "my editor"
    script.write_text(f'#!/bin/sh\n[ "$1" = -w ] && shift\nprintf "{line}" >> "$1"\n')
    script.chmod(0o755)
    world.setenv(name, f"'{script}' -w")


@pytest.mark.parametrize("name", ["VISUAL", "EDITOR"])
def test_the_editor_opens_a_file_with_a_head(world: World, name: str) -> None:
    world.setenv("VISUAL", "")
    editor(world, name, "[ralph]\\nbreaker_stops = 8\\n")

    answer = world.cli("config", "--edit")

    assert (answer.code, answer.err) == (0, "")
    text = own(world).read_text()
    assert text.startswith("# Settings of sisyphus.")
    assert tomllib.loads(text) == {"ralph": {"breaker_stops": 8}}
    assert stat.S_IMODE(own(world).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[ralph\\n", "config.toml is ignored: it is not valid TOML"),
        ("[ralph]\\nbreaker = 8\\n", "unknown setting ralph.breaker"),
        ("[rules]\\nenabled = 1\\n", "rules.enabled must be true or false, not 1"),
    ],
)
def test_it_says_what_is_wrong_after_the_edit(world: World, line: str, problem: str) -> None:
    editor(world, "VISUAL", line)

    answer = world.cli("config", "-e")

    assert answer.code == 1
    assert problem in answer.err
    assert "Run `sisyphus config --edit` again." in answer.err


def test_a_broken_file_can_be_edited(world: World) -> None:
    world.write(own(world), "[ralph\n")
    editor(world, "VISUAL", "")

    assert world.cli("config", "--edit").code == 1
    assert own(world).read_text() == "[ralph\n"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("/nowhere/vim", "error: /nowhere/vim cannot be run: No such file or directory."),
        ("'vim", "VISUAL has a quote that is not closed"),
        ("false", "error: false has failed (exit code 1)."),
    ],
)
def test_an_editor_that_fails_is_named(world: World, command: str, problem: str) -> None:
    world.setenv("VISUAL", command)

    answer = world.cli("config", "--edit")

    assert (answer.code, problem in answer.err) == (1, True), answer


def test_the_projects_file_can_be_edited(world: World) -> None:
    editor(world, "VISUAL", "[ralph]\\nenabled = false\\n")

    answer = world.cli("config", "--edit", "--in-project")

    assert "may not set ralph.enabled to false" in answer.err
    assert (world.project / ".claude/sisyphus.toml").exists()


# ---------------------------------------------------------------- the schema for editors


def schema_errors(world: World, toml: str, *words: str) -> list[str]:
    schema = json.loads(world.cli("config", "schema", *words).out)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    return [each.message for each in validator.iter_errors(tomllib.loads(toml))]


def test_the_schema_has_each_setting_with_its_default_and_takes_it(world: World) -> None:
    schema = json.loads(world.cli("config", "schema").out)
    sections = schema["properties"]
    assert sections.pop("$schema")["type"] == "string"

    described = {
        f"{section}.{key}": each
        for section, table in sections.items()
        for key, each in table["properties"].items()
    }

    assert described.keys() == SETTINGS.keys()
    for name, each in described.items():
        assert (each["default"], each["description"]) == (
            SETTINGS[name].default,
            SETTINGS[name].help,
        )
        Draft202012Validator(each).validate(each["default"])


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("", True),
        ("[rules]\n", True),
        ("[rules]\nenabled = false\nunscoped = 'send'\n", True),
        ("[ralph]\nbreaker_stops = 0\n[enforce]\nclaims = []\nwork = ['on it']\n", True),
        ("rules.enabled = true\nstate = { keep_days = 7 }\n", True),
        ("[notify]\ncommand = ''\n", True),
        ("'$schema' = './config.schema.json'\n[rules]\nenabled = true\n", True),
        ("'$schema' = 1\n", False),
        ("rules = 1\n", False),
        ("rules = []\n", False),
        ("colour = 1\n", False),
        ("[colour]\nred = 1\n", False),
        ("'rules.enabled' = true\n", False),
        ("[rules]\ncolour = 1\n", False),
        ("[rules.enabled]\nx = 1\n", False),
        ("[rules]\nenabled = 'no'\n", False),
        ("[rules]\nenabled = 1\n", False),
        ("[rules]\nunscoped = 'perhaps'\n", False),
        ("[rules]\nunscoped = 'Send'\n", False),
        ("[rules]\nunscoped = ['send']\n", False),
        ("[context]\nagents_md = true\n", False),
        ("[ralph]\nverify_seconds = -1\n", False),
        ("[ralph]\nverify_seconds = 1.5\n", False),
        ("[ralph]\nverify_seconds = '60'\n", False),
        ("[ralph]\nverify_seconds = true\n", False),
        ("[enforce]\nclaims = 'done'\n", False),
        ("[enforce]\nclaims = ['done', 1]\n", False),
        ("[notify]\ncommand = 1\n", False),
    ],
)
def test_the_schema_refuses_what_sisyphus_ignores(world: World, text: str, is_right: bool) -> None:
    world.write(own(world), text)

    ignored = world.cli("status").err
    refused = schema_errors(world, text)

    assert (not ignored, not refused) == (is_right, is_right)


def test_the_schema_of_a_project_has_what_a_project_may_set(world: World) -> None:
    text = "[rules]\nunscoped = 'send'\n"
    assert not schema_errors(world, text, "--in-project")
    for name, setting in SETTINGS.items():
        section, _, key = name.partition(".")
        line = f"[{section}]\n{key} = {json.dumps(setting.default)}\n"
        assert bool(schema_errors(world, line, "--in-project")) is (setting.project == NOTHING)


def test_a_setting_is_changed_below_the_key_of_the_schema(world: World) -> None:
    world.write(own(world), '"$schema" = "./config.schema.json"\n')

    assert world.cli("config", "ralph.breaker_stops", "8").err == ""

    assert own(world).read_text() == (
        '"$schema" = "./config.schema.json"\n\n[ralph]\nbreaker_stops = 8\n'
    )
    assert world.cli("config", "ralph.breaker_stops").out == "8\n"
