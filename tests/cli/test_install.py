from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from install.scene import MD, ours, tree
from making import COMMAND, put

from cli.screen import on_a_terminal
from sisyphus.install import commands

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
    assert f"installed in ~/.config/opencode ({FILES} files).\n- Restart OpenCode" in done.stdout
    plugin = (home / ".config/opencode/plugins/sisyphus.js").read_text()
    assert f'\nconst SISYPHUS = "{COMMAND}"\n' in plugin
    again = _run("install", *OPENCODE)
    assert again.stdout == "Nothing to do: sisyphus is in ~/.config/opencode.\n"
    gone = _run("uninstall", *OPENCODE)
    assert f"removed from ~/.config/opencode ({FILES} files)." in gone.stdout
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
    pytest.param([], 2, "--client opencode. Claude Code takes sisyphus", id="no client"),
    pytest.param(["--client", "vim"], 2, "'vim' is not one of", id="unknown client"),
    pytest.param(
        [*OPENCODE, "--scope", "user", "--project", "."], 2, "is for --scope project", id="both"
    ),
    pytest.param([*OPENCODE, "--project", "/no/such"], 1, "error: no such folder", id="no folder"),
    pytest.param(["--client", "claude"], 1, "error: Claude Code takes sisyphus as a ", id="claude"),
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
