from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from install.scene import MD, ours, tree
from making import COMMAND, put, stored

from cli.screen import on_a_terminal
from sisyphus.install import commands, wiring

if TYPE_CHECKING:
    from pathlib import Path

FILES = len(commands.texts()) + 1
OPENCODE = ("--client", "opencode")


@pytest.fixture(autouse=True)
def _usual_places(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    for name in ("OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    path = os.environ.get("PATH", "/bin")
    monkeypatch.setenv("PATH", f"{os.path.dirname(COMMAND)}{os.pathsep}{path}")
    monkeypatch.chdir(project)


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _json(*words: str) -> Any:
    done = _run(*words, *OPENCODE, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_it_is_given_and_taken_away_again(home: Path, project: Path) -> None:
    before = tree(project)
    done = _run("install", *OPENCODE)

    assert (done.returncode, done.stderr) == (0, "")
    assert "\n  write    commands/ralph-loop.md\n" in done.stdout
    assert f"installed in ~/.config/opencode: {FILES} files.\n- Restart OpenCode" in done.stdout
    plugin = (home / ".config/opencode/plugins/sisyphus.js").read_text()
    assert f'\nconst SISYPHUS = "{COMMAND}"\n' in plugin
    again = _run("install", *OPENCODE)
    assert again.stdout == "Nothing to do: sisyphus is in ~/.config/opencode.\n"
    gone = _run("uninstall", *OPENCODE)
    assert f"removed from ~/.config/opencode: {FILES} files." in gone.stdout
    assert not (home / ".config").exists()
    assert tree(project) == before


SCOPES = [
    pytest.param([], "user", id="the user's, unless asked otherwise"),
    pytest.param(["--scope", "user"], "user", id="the user's"),
    pytest.param(["--scope", "project"], "project", id="the project's"),
    pytest.param(["--project", "."], "project", id="the project that is named"),
    pytest.param(["--project", "sub", "--scope", "project"], "project", id="from below"),
]


@pytest.mark.parametrize(("words", "scope"), SCOPES)
def test_the_scope_is_chosen(home: Path, project: Path, words: list[str], scope: str) -> None:
    (project / "sub").mkdir()
    folders = {"user": home / ".config/opencode", "project": project / ".opencode"}
    answer = _json("install", *words)
    assert (answer["scope"], answer["folder"]) == (scope, str(folders[scope]))
    assert answer["changed"] is True
    assert (folders[scope] / "plugins/sisyphus.js").exists()
    assert _json("uninstall", *words)["changed"] is True
    assert not folders[scope].exists()


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_dry_run_changes_nothing(home: Path, project: Path, verb: str) -> None:
    if verb == "uninstall":
        _run("install", *OPENCODE, "--project", ".")
    before = tree(project), tree(home)
    done = _run(verb, *OPENCODE, "--project", ".", "--dry-run")
    assert done.returncode == 0
    assert f"{project}/.opencode/plugins/sisyphus.js" in done.stdout
    assert "\nNothing was changed (--dry-run).\n" in done.stdout
    answer = _json(verb, "--project", ".", "--dry-run")
    assert answer["changed"] is False
    assert answer["diff"] in done.stdout
    assert (tree(project), tree(home)) == before


def test_consent_is_needed_for_what_was_edited(project: Path) -> None:
    path = put(project / ".opencode/commands/checkpoint.md", ours() + b"mine")
    assert "keep     commands/checkpoint.md" in _run("install", *OPENCODE, "--project", ".").stdout
    assert path.read_bytes().endswith(b"mine")
    _run("install", *OPENCODE, "--project", ".", "--yes")
    assert not path.read_bytes().endswith(b"mine")


FAILURES = [
    pytest.param([*OPENCODE, "--scope", "local"], 2, "is for Claude Code alone", id="local"),
    pytest.param(
        ["--scope", "user", "--project", "."], 2, "project and local.", id="Claude's both"
    ),
    pytest.param(["--client", "vim"], 2, "'vim' is not one of", id="unknown client"),
    pytest.param(
        [*OPENCODE, "--scope", "user", "--project", "."], 2, "is for --scope project", id="both"
    ),
    pytest.param([*OPENCODE, "--project", "/no/such"], 1, "error: no such folder", id="no folder"),
]


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize(("words", "code", "told"), FAILURES)
def test_what_cannot_be_done_is_told(verb: str, words: list[str], code: int, told: str) -> None:
    done = subprocess.run(
        [COMMAND, verb, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "300"},
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr


def test_a_plugin_of_the_users_ends_it_before_anything_is_done(project: Path) -> None:
    put(project / ".opencode/plugins/sisyphus.js", "// mine\n")
    before = tree(project)
    done = _run("install", *OPENCODE, "--project", ".", "--yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert "plugins/sisyphus.js is in the way: not written by sisyphus." in done.stderr
    assert tree(project) == before


def test_on_a_terminal_it_asks_first(project: Path) -> None:
    words = [COMMAND, "install", *OPENCODE, "--project", "."]
    question = f"Write these {FILES} files? [Y/n]: "
    refused = on_a_terminal(words, keys=[(question, "n\r")])
    assert refused.code == 1
    assert "  write    plugins/sisyphus.js\n" in refused.text
    assert "Aborted." in refused.text
    assert not (project / ".opencode").exists()

    agreed = on_a_terminal(words, keys=[(question, "\r")])
    assert agreed.code == 0
    assert (project / ".opencode/plugins/sisyphus.js").exists()
    question = f"Remove these {FILES} files? [Y/n]: "
    on_a_terminal([COMMAND, "uninstall", *words[2:]], keys=[(question, "\r")])
    assert not (project / ".opencode").exists()


def test_on_a_terminal_nothing_is_asked_where_nothing_is_done() -> None:
    _run("install", *OPENCODE)
    assert on_a_terminal([COMMAND, "install", *OPENCODE]).text.startswith("Nothing to do: ")


ANSWERS = [
    pytest.param("y", "// mine", False, id="yes"),
    pytest.param("n", "// mine", True, id="no"),
]


@pytest.mark.parametrize(("answer", "mine", "stays"), ANSWERS)
def test_on_a_terminal_it_asks_for_what_was_edited(
    project: Path, answer: str, mine: str, stays: bool
) -> None:
    path = put(project / ".opencode/plugins/sisyphus.js", ours() + mine.encode())
    keys = [
        ("You changed plugins/sisyphus.js. Replace that", f"{answer}\r"),
        ("files? [Y/n]: ", "\r"),
    ]
    done = on_a_terminal([COMMAND, "install", *OPENCODE, "--project", "."], columns=200, keys=keys)
    assert done.code == 0
    assert path.read_text().endswith(mine) is stays


def test_with_yes_nothing_is_asked(project: Path) -> None:
    put(project / ".opencode/commands/mine.md", MD)
    before = tree(project)
    for verb in ("install", "uninstall"):
        done = on_a_terminal([COMMAND, verb, *OPENCODE, "--project", ".", "-y"])
        assert done.code == 0
        assert "[Y/n]" not in done.text
    assert tree(project) == before


# --- Claude Code ---------------------------------------------------------------------------------

SETTINGS = '{\n\t"model": "opus"\n}\n'


@pytest.fixture
def settings(home: Path) -> Path:
    return put(home / ".claude/settings.json", SETTINGS)


def _parts(settings: Path) -> set[str]:
    """Which parts are there."""
    values = stored(settings)
    has_commands = (settings.parent / "commands").exists()
    found = {"hooks": any(wiring.entries(values)), "commands": has_commands}
    found["statusline"] = "statusLine" in values
    return {name for name, there in found.items() if there}


def test_claude_code_is_wired_and_gets_its_settings_back(settings: Path) -> None:
    done = _run("install")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  edit     settings.json: 10 hooks of 8 events\n" in done.stdout
    assert "installed in ~/.claude: 1 file.\n- Sessions that start from now" in done.stdout
    assert done.stdout.endswith("`sisyphus install --only commands --only statusline`.\n")
    hooks = stored(settings)["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == f"{COMMAND} hook stop"
    assert _run("install").stdout == "Nothing to do: sisyphus is in ~/.claude.\n"
    gone = _run("uninstall")
    assert "removed from ~/.claude: 1 file." in gone.stdout
    assert settings.read_text() == SETTINGS
    assert _run("uninstall").stdout == "Nothing to do: sisyphus is not in ~/.claude.\n"


WORDS = [
    pytest.param([], {"hooks"}, id="unasked"),
    pytest.param(["--yes"], {"hooks", "commands", "statusline"}, id="all"),
    pytest.param(["--yes", "--without", "commands"], {"hooks", "statusline"}, id="all but one"),
    pytest.param(["--only", "commands"], {"commands"}, id="one"),
    pytest.param(["--only", "hooks", "--only", "statusline"], {"hooks", "statusline"}, id="two"),
]


@pytest.mark.parametrize(("words", "parts"), WORDS)
def test_the_parts_are_chosen(settings: Path, words: list[str], parts: set[str]) -> None:
    done = _run("install", *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert set(told["parts"]) - {"excludes"} == _parts(settings) == parts
    assert (told["client"], told["scope"], told["changed"]) == ("claude", "user", True)


@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_project_has_its_own(home: Path, project: Path, scope: str) -> None:
    (project / ".git/info").mkdir()
    before = tree(project)
    assert _run("install", "--scope", scope).returncode == 0
    name = {"project": "settings.json", "local": "settings.local.json"}[scope]
    assert _parts(project / ".claude" / name) == {"hooks"}
    assert not (home / ".claude/settings.json").exists()
    assert _run("uninstall", "--scope", scope, "--project", ".").returncode == 0
    assert tree(project) == before


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_dry_run_for_claude_code_is_a_diff(settings: Path, verb: str) -> None:
    if verb == "uninstall":
        _run("install")
    before = settings.read_bytes()
    done = _run(verb, "--dry-run")
    sign = "+" if verb == "install" else "-"
    assert f"--- {settings}\n+++ {settings}\n@@" in done.stdout
    assert f'\n{sign} "hooks": {{\n' in done.stdout.replace("\t", "")
    assert "\nNothing was changed (--dry-run).\n" in done.stdout
    assert settings.read_bytes() == before


def test_with_the_plugin_there_the_hooks_are_not_put_in_unasked(settings: Path) -> None:
    text = '{"enabledPlugins": {"sisyphus@sisyphus": true}}'
    settings.write_text(text)
    done = _run("install")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: the plugin is on in {settings}, so every event")
    assert settings.read_text() == text
    assert _run("install", "--dry-run").returncode == 0
    assert "its own stays silent: `claude plugin uninstall" in _run("install", "--yes").stdout
    question = (
        f"The plugin is on in {settings}: every event would start two processes. Go on? [y/N]: "
    )
    _run("uninstall")
    refused = on_a_terminal([COMMAND, "install"], columns=300, keys=[(question, "\r")])
    assert refused.code == 1
    assert settings.read_text() == text


def test_on_a_terminal_each_part_is_asked_for(settings: Path) -> None:
    put(settings.parent / "rules/a.md", "---\napplies_to: '*.py'\n---\nBe brief.\n")
    keys = [
        ("Change this file? [Y/n]: ", "\r"),
        ("The slash commands too", "n\r"),
        ("The status line too", "y\r"),
        ("Keep Claude Code from loading", "\r"),
    ]
    done = on_a_terminal([COMMAND, "install"], columns=200, keys=keys)
    assert done.code == 0
    assert _parts(settings) == {"hooks", "statusline"}
    assert stored(settings)["claudeMdExcludes"] == [str(settings.parent / "rules/a.md")]
    again = on_a_terminal([COMMAND, "install", "--only", "commands"], keys=[("files? [Y/n]", "\r")])
    assert "too (" not in again.text
    assert "commands" in _parts(settings)


def test_what_becomes_of_the_parts_is_shown_as_well(settings: Path) -> None:
    mine = put(settings.parent / "commands/checkpoint.md", "mine\n")
    keys = [("Change this file? [Y/n]: ", "\r"), ("The slash commands too", "y\r")]
    keys.append(("The status line too", "n\r"))
    done = on_a_terminal([COMMAND, "install"], columns=200, keys=keys)
    assert done.code == 0
    _, _, later = done.text.partition("The status line too")
    assert "  skip     commands/checkpoint.md: not written by sisyphus\n" in later
    assert "  write    commands/ralph-loop.md\n" in later
    assert mine.read_text() == "mine\n"


@pytest.mark.usefixtures("settings")
def test_a_program_and_a_person_are_told_where_the_settings_as_they_were_lie(home: Path) -> None:
    dry = _run("install", "--dry-run").stdout
    told = json.loads(_run("install", "--json").stdout)["notes"]
    (note,) = [one for one in told if " as it was before is kept: ~/.claude/.sisyphus/" in one]
    assert note.startswith("~/.claude/settings.json as it was")
    assert note not in dry
    kept = note.removesuffix(".").rpartition(" ~/")[2]
    assert (home / kept).read_text() == SETTINGS
    _run("uninstall")
    assert f"\n- {note}\n" in _run("install").stdout


def test_who_says_no_has_nothing_changed(settings: Path) -> None:
    done = on_a_terminal([COMMAND, "install"], keys=[("Change this file? [Y/n]: ", "n\r")])
    assert done.code == 1
    assert settings.read_text() == SETTINGS


def test_a_shim_is_passed_by_and_that_is_said(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = put(tmp_path / "shims/sisyphus", f'#!/bin/sh\nexec "{COMMAND}" "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}/bin")
    done = subprocess.run([shim, "install"], capture_output=True, text=True, check=True)
    assert f"- `sisyphus` on your PATH is {shim}, a version manager's shim, which" in done.stdout
    assert f"{COMMAND} hook stop" in settings.read_text()


REMOVES = [
    pytest.param(["uninstall"], id="uninstall"),
    pytest.param(["uninstall", "--yes"], id="uninstall, unasked"),
    pytest.param(["install", "--without", "hooks"], id="install without them"),
]


@pytest.mark.parametrize("words", REMOVES)
def test_the_models_shell_does_not_take_the_hooks_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    assert _run("install").returncode == 0
    before = tree(home)
    monkeypatch.setenv("CLAUDECODE", "1")
    done = _run(*words)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: nothing was removed: the user alone takes sisyphus out. Do it in another "
        "terminal.\n"
    )
    assert tree(home) == before
    assert _run(*words, "--dry-run").returncode == 0
    assert _run("install").returncode == 0


def test_a_part_is_not_wanted_and_unwanted_at_once(settings: Path) -> None:
    before = settings.read_bytes()
    done = _run("install", "--only", "hooks", "--without", "hooks")
    assert done.returncode == 2
    assert "hooks is wanted by --only" in done.stderr
    assert settings.read_bytes() == before


def test_commands_without_hooks_are_said_to_be_alone(settings: Path) -> None:
    told = _run("install", "--only", "commands").stdout
    assert f"No hook calls sisyphus from {settings.parent}: `sisyphus install` wires them." in told
    assert "Sessions that start from now on" not in told


def test_what_is_only_shown_has_no_effect_to_tell_of() -> None:
    assert "Sessions that start from now on" not in _run("install", "--dry-run").stdout
    assert "Sessions that start from now on" in _run("install").stdout
