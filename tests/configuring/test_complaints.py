from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.configuring.complaints import complaints
from sisyphus.settings import SETTINGS, load

if TYPE_CHECKING:
    from pathlib import Path

OWN = [
    pytest.param(
        "[rules]\nenabeld = false\n", "rules.enabeld", "there is no such setting",
        "Did you mean rules.enabled?", id="a slip in a key",
    ),
    pytest.param(
        "[rulez]\nenabled = false\n", "rulez", "[rulez] is no section of settings",
        "Did you mean [rules]?", id="a slip in a section",
    ),
    pytest.param(
        "[zzz]\nx = 1\n", "zzz", "[zzz] is no section of settings",
        "`sisyphus config unset zzz` takes it out.", id="a section like no other",
    ),
    pytest.param(
        "[rules]\ncolour = 1\n", "rules.colour", "there is no such setting",
        "`sisyphus config unset rules.colour` takes it out.", id="a key like no other",
    ),
    pytest.param(
        '["x; rm y"]\n', "x; rm y", "[x; rm y] is no section of settings",
        "`sisyphus config unset 'x; rm y'` takes it out.", id="a section that is a command",
    ),
    pytest.param(
        "stale_days = 3\n", "stale_days", "stale_days stands below no section",
        "Did you mean boulder.stale_days?", id="a key without a section",
    ),
    pytest.param(
        "rules = 3\n", "rules", "rules is a section, and no setting",
        "Write [rules] on a line of its own, and its settings below.", id="a value for a section",
    ),
    pytest.param(
        '[ralph]\nno_progress = "5"\n', "ralph.no_progress",
        '"5" is not a whole number, 0 or more',
        "For example: `sisyphus config set ralph.no_progress 10`", id="a wrong type",
    ),
    pytest.param(
        "[ralph]\nverify_seconds = 900\n", "ralph.verify_seconds",
        "900 is not a whole number from 1 to 600",
        "For example: `sisyphus config set ralph.verify_seconds 600`", id="out of bounds",
    ),
    pytest.param(
        '[context]\nagents_md = "Auto"\n', "context.agents_md",
        '"Auto" is not one of auto, always, never',
        "For example: `sisyphus config set context.agents_md always`", id="none of the choices",
    ),
    pytest.param(
        "[enforce]\nclaims = [1]\n", "enforce.claims", "[1] is not a list of texts",
        'For example: `sisyphus config set enforce.claims "all done" "ready to merge"`',
        id="a list of numbers",
    ),
    pytest.param(
        "[rules.enabled]\nx = 1\n", "rules.enabled", "a section is not true or false",
        "For example: `sisyphus config set rules.enabled false`", id="a section for a value",
    ),
    pytest.param(
        "[rules\n", "",
        "no TOML: Expected ']' at the end of a table declaration (at line 1, column 7)",
        "Mend it by `sisyphus config edit`.", id="no TOML",
    ),
    pytest.param(
        b"\xff", "", "not UTF-8", "Mend it by `sisyphus config edit`.", id="no text",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "key", "text", "hint"), OWN)
def test_what_does_not_count_is_named_with_what_to_do(  # one a column
    home: Path, project: Path, content: str | bytes, key: str, text: str, hint: str
) -> None:
    path = put(ours(home, "config.toml"), content)

    assert complaints(str(ours(home, "")), str(project)) == [(str(path), key, text, hint)]


PROJECTS = [
    pytest.param(
        "[ralph]\nno_progress = 900\n", "ralph.no_progress", "a project's file may only lower it",
        "Set it for yourself: `sisyphus config set ralph.no_progress VALUE`.", id="not a project's",
    ),
    pytest.param(
        "[zzz]\n", "zzz", "[zzz] is no section of settings",
        "`sisyphus config unset zzz --project DIR` takes it out.", id="unknown",
    ),
    pytest.param(
        "[rules]\nenabled = 1\n", "rules.enabled", "1 is not true or false",
        "For example: `sisyphus config set rules.enabled false --project DIR`", id="a wrong type",
    ),
    pytest.param(
        "x", "", "no TOML: Expected '=' after a key in a key/value pair (at end of document)",
        "Mend it by `sisyphus config edit --project DIR`.", id="no TOML",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "key", "text", "hint"), PROJECTS)
def test_of_a_projects_file_too(  # one a column
    home: Path, project: Path, content: str, key: str, text: str, hint: str
) -> None:
    path = put(project / ".claude/sisyphus.toml", content)

    assert complaints(str(ours(home, "")), str(project)) == [(str(path), key, text, hint)]


VARIABLES = [
    pytest.param(
        "RULES_ENABLED", "maybe", "'maybe' is not true or false",
        "Set it to true or false, or unset it.", id="a word",
    ),
    pytest.param(
        "RALPH_NO_PROGRESS", "-1", "'-1' is not a whole number, 0 or more",
        "Set it to a whole number, 0 or more, or unset it.", id="a number",
    ),
    pytest.param("NOTIFY_COMMAND", "true", "no variable may set it",
        "Unset it, and set it for yourself: `sisyphus config set notify.command VALUE`.",
        id="a command"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "text", "hint"), VARIABLES)
def test_and_of_variables(  # one a column
    home: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    text: str,
    hint: str,
) -> None:
    monkeypatch.setenv(f"SISYPHUS_{name}", value)

    (found,) = complaints(str(ours(home, "")), str(project))

    assert (found.path, found.key) == ("environment", name.lower().replace("_", ".", 1))
    assert (found.text, found.hint) == (f"SISYPHUS_{name}: {text}", hint)


UNKNOWN = [
    pytest.param("SISYPHUS_RULES_ENABELD", "Did you mean SISYPHUS_RULES_ENABLED?", id="a slip"),
    pytest.param("SISYPHUS_RULZ_ENABLED", "Did you mean SISYPHUS_RULES_ENABLED?", id="a section"),
    pytest.param("SISYPHUS_ZZZ", "Unset it.", id="like no other"),
]


@pytest.mark.parametrize(("name", "hint"), UNKNOWN)
def test_and_of_variables_that_are_no_settings(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, name: str, hint: str
) -> None:
    monkeypatch.setenv(name, "0")

    (found,) = complaints(str(ours(home, "")), str(project))

    assert found == ("environment", "", f"{name}: there is no such setting", hint)


@pytest.mark.parametrize("name", ["SISYPHUS_DISABLE", "SISYPHUS_RUN", "SISYPHUS_SESSION_ID"])
def test_but_not_of_our_other_variables(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")

    assert complaints(str(ours(home, "")), str(project)) == []


def test_a_level_above_the_next_one_is_told_with_what_counts(home: Path, project: Path) -> None:
    path = put(ours(home, "config.toml"), "[checkpoint]\nl1 = 99\n")

    assert complaints(str(ours(home, "")), str(project)) == [
        (
            str(path), "checkpoint.l1", "99 is above checkpoint.l2, so 85 counts",
            "Set a lower one, or a higher checkpoint.l2.",
        )
    ]  # fmt: skip


GOOD = [
    pytest.param("", id="an empty file"),
    pytest.param("# nothing\n", id="a comment"),
    pytest.param("[rules]\n", id="an empty section"),
    pytest.param("[checkpoint]\nl1 = 85\nl3 = 85\n", id="levels that are one"),
    pytest.param("[rules]\nenabled = false\n", id="a value"),
    pytest.param('notify.command = "x"\n', id="a key with a dot"),
]


@pytest.mark.parametrize("text", GOOD)
def test_there_is_nothing_to_say_of(home: Path, project: Path, text: str) -> None:
    put(ours(home, "config.toml"), text)

    assert complaints(str(ours(home, "")), str(project)) == []


def test_every_value_that_hooks_pass_over_is_complained_of(home: Path, project: Path) -> None:
    for key in SETTINGS:
        section, name = key.split(".")
        put(ours(home, "config.toml"), f"[{section}]\n{name} = 1979-05-27\n")

        assert load(str(ours(home, "")), str(project)).get(key) == SETTINGS[key].default
        assert [one.key for one in complaints(str(ours(home, "")), str(project))] == [key]


def test_a_strangers_key_is_harmless(home: Path, project: Path) -> None:
    put(project / ".claude/sisyphus.toml", '["a\\n\\u001b[31m"]\n[rules]\n"b\\u001b" = 1\n')

    told = [text for one in complaints(str(ours(home, "")), str(project)) for text in one]

    assert len(told) == 8
    assert [text for text in told if not text.isprintable()] == []
