from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from doctor.scene import hooks
from making import COMMAND, ours, put
from typer.testing import CliRunner

from cli.screen import on_a_terminal
from sisyphus.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _wired(home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client on the PATH, and our hooks in its settings."""
    for name in ("OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    put(tmp_path / "bin/claude", "#!/bin/sh\necho 2.1.329\n").chmod(0o755)
    folders = [str(tmp_path / "bin"), os.path.dirname(COMMAND), "/usr/bin", "/bin"]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    monkeypatch.chdir(project)
    put(home / ".claude/settings.json", json.dumps(hooks(COMMAND)))


def _run(*words: str) -> tuple[int, str]:
    """Exit code and stdout."""
    done = CliRunner().invoke(app, ["doctor", *words])
    return done.exit_code, done.stdout


def _json(*words: str) -> Any:
    return json.loads(_run(*words, "--json")[1])


def test_the_real_command_finds_nothing_where_all_is_well(home: Path) -> None:
    done = subprocess.run([COMMAND, "doctor"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "✗" not in done.stdout
    assert "  ✓ round trip    10 hooks answered through `sh -c`\n" in done.stdout
    assert "by ~/.claude/settings.json (user)\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert sorted(path.name for path in (home / ".claude").iterdir()) == ["settings.json"]


def test_a_problem_is_told_with_what_to_do_and_exits_1(home: Path) -> None:
    (home / ".claude/settings.json").unlink()

    code, shown = _run()

    assert code == 1
    assert "✗ wiring        no coding agent calls sisyphus\n" in shown
    assert f"\n{' ' * 18}`sisyphus install`, or " in shown
    assert shown.splitlines()[-1].startswith("1 problem, ")


def test_programs_get_the_same(home: Path) -> None:
    (home / ".claude/settings.json").unlink()

    found = _json()

    assert (found["ok"], found["problems"], found["fixed"]) == (False, 1, [])
    (row,) = [one for one in found["findings"] if one["state"] == "problem"]
    assert (row["group"], row["check"], row["fixable"]) == ("Hooks", "wiring", False)


def test_what_is_safe_is_mended_and_looked_at_again(home: Path) -> None:
    path = put(ours(home, "sessions/s1.json"), "{}")
    path.chmod(0o666)
    assert _json()["problems"] == 1

    code, shown = _run("--fix")

    assert code == 0
    assert "\nMended: rights: took the rights of others from 3 files and folders\n" in shown
    assert "✓ rights        for you alone" in shown
    assert path.stat().st_mode & 0o777 == 0o600
    assert "There was nothing to mend.\n" in _run("--fix")[1]


def test_another_project_can_be_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project / ".claude/sisyphus.toml", "[ralph\n")
    monkeypatch.chdir("/")

    rows = _json("--project", str(project))["findings"]

    assert [row["state"] for row in rows if row["check"] == "config"] == ["warning"]


def test_words_of_strangers_do_nothing_to_the_terminal(home: Path) -> None:
    values = hooks(COMMAND)
    entry = {"type": "command", "command": "/x/\x1b[2J/sisyphus hook stop"}
    values["hooks"]["Stop"].append({"hooks": [entry]})
    put(home / ".claude/settings.json", json.dumps(values))

    assert "\x1b[2J" not in _run()[1]
    assert "\\u001b" not in _run("--json")[1]


def test_on_a_terminal_it_is_in_colour() -> None:
    shown = on_a_terminal([COMMAND, "doctor"], columns=200)

    assert shown.code == 0
    assert "\x1b[32m✓\x1b[0m" in shown.text
    plain = on_a_terminal([COMMAND, "doctor"], columns=200, env={"NO_COLOR": "1"})
    assert "\x1b[32m" not in plain.text


def test_where_stdout_has_no_such_signs_words_stand() -> None:
    done = subprocess.run(
        [COMMAND, "doctor"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )

    assert b"\n  ok      round trip" in done.stdout
