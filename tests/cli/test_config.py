from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, ours, put

from sisyphus.settings import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path


OWN, PROJECTS = "~/.claude/.sisyphus/config.toml", ".claude/sisyphus.toml"


@pytest.fixture(autouse=True)
def _in_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


def _config(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "config", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200", **environment},
    )


def test_what_was_set_is_shown_and_taken_out_again(home: Path) -> None:
    path = ours(home, "config.toml")

    done = _config("set", "boulder.stale_days", "30")
    assert (done.returncode, done.stdout) == (0, f"boulder.stale_days = 30 ({OWN})\n")
    assert f"\n[boulder]\nstale_days = 30  # {OWN}\n" in _config("show", "--changed").stdout

    done = _config("unset", "boulder.stale_days")
    assert (done.returncode, done.stdout) == (0, "boulder.stale_days = 14 (default)\n")
    assert "Every setting has its default." in _config("show", "--changed").stdout
    assert path.read_text() == ""


def test_a_projects_file_is_written_where_it_is_named(home: Path, project: Path) -> None:
    done = _config("set", "rules.enabled", "off", "--project", ".")

    assert done.returncode == 0
    assert (project / ".claude/sisyphus.toml").read_text() == "[rules]\nenabled = false\n"
    assert not ours(home, "config.toml").exists()

    done = _config("set", "rules.enabled", "on")
    assert done.stdout == f"rules.enabled = false ({PROJECTS})\n"
    assert done.stderr == f"note: {PROJECTS} is stronger than {OWN}\n"


def test_all_settings_are_shown_with_what_is_wrong(home: Path) -> None:
    put(ours(home, "config.toml"), "[rules]\nenabled = 1\nenabeld = false\n")

    shown = _config("show", SISYPHUS_CONTEXT_ENABLED="0").stdout

    assert [key for key in SETTINGS if f"\n{key.partition('.')[2]} = " not in shown] == []
    assert f"  # passed over: 1 in {OWN}: 1 is not true or false\n" in shown
    assert "\nenabled = false  # SISYPHUS_CONTEXT_ENABLED\n" in shown
    assert f"{OWN}: rules.enabeld: there is no such setting. Did you mean rules.enabled?" in shown


def test_everything_is_there_as_json(home: Path, project: Path) -> None:
    path = put(ours(home, "config.toml"), "[rules]\nenabled = false\n[x]\n")

    shown = json.loads(_config("show", "--json").stdout)
    assert shown["project"] == str(project)
    assert [row["key"] for row in shown["settings"]] == list(SETTINGS)
    assert [problem["key"] for problem in shown["problems"]] == ["x"]
    assert {
        "key": "rules.enabled", "value": False, "default": True, "origin": "user",
        "where": str(path), "passed_over": [],
    } in shown["settings"]  # fmt: skip

    paths = json.loads(_config("path", "--json").stdout)
    assert [(row["origin"], row["exists"]) for row in paths] == [("user", True), ("project", False)]
    assert json.loads(_config("explain", "rules.enabled", "--json").stdout)["takes"] == (
        "true or false"
    )
    assert len(json.loads(_config("explain", "--json").stdout)) == len(SETTINGS)
    assert json.loads(_config("unset", "x", "--json").stdout) == {"key": "x"}
    assert json.loads(_config("set", "rules.enabled", "1", "--json").stdout)["value"] is True


def test_both_files_are_named(home: Path, project: Path) -> None:
    put(project / ".claude/sisyphus.toml", "[rules\n")

    user, projects = _config("path").stdout.splitlines()

    assert user == f"user:    {ours(home, 'config.toml')} (there is none)"
    assert projects.startswith(f"project: {project}/.claude/sisyphus.toml (not used: no TOML: ")


def test_a_negative_number_is_a_value_and_no_option() -> None:
    done = _config("set", "ralph.no_progress", "-3")

    assert (done.returncode, done.stdout) == (1, "")
    assert "'-3' is not a whole number, 0 or more. For example: " in done.stderr


def test_what_looks_like_an_option_and_is_none_is_no_value(home: Path) -> None:
    done = _config("set", "enforce.claims", "done", "--projct", "x")

    assert done.returncode == 2
    assert "no such option: --projct" in done.stderr
    assert not ours(home, "config.toml").exists()


BEHIND = [
    pytest.param(["enforce.claims", "--", "-all done", "--x"], id="values"),
    pytest.param(["--", "enforce.claims", "-all done", "--x"], id="the key too"),
]


@pytest.mark.parametrize("words", BEHIND)
def test_what_stands_behind_two_dashes_is_a_value(home: Path, words: list[str]) -> None:
    assert _config("set", *words).returncode == 0
    assert ours(home, "config.toml").read_text() == '[enforce]\nclaims = ["-all done", "--x"]\n'


def test_what_stands_before_two_dashes_is_none(home: Path) -> None:
    assert _config("set", "enforce.claims", "-x", "--", "done").returncode == 2
    assert not ours(home, "config.toml").exists()


def test_a_level_above_the_next_one_is_set_with_a_note() -> None:
    done = _config("set", "checkpoint.l1", "99")

    assert done.returncode == 0
    assert done.stderr == (
        "note: checkpoint.l1: 99 is above checkpoint.l2, so 85 counts. Set a lower one, or a "
        "higher checkpoint.l2.\n"
    )
    assert _config("set", "checkpoint.hand_over", "off").stderr == ""


REFUSED = [
    pytest.param(
        ["set", "ralph", "3"],
        "ralph is a section, and no setting. `sisyphus config explain ralph` lists its settings.",
        id="a section",
    ),
    pytest.param(
        ["set", "boulder.stale_dayz", "3"], "Did you mean boulder.stale_days?", id="unknown"
    ),
    pytest.param(
        ["set", "ralph.verify_seconds", "900"],
        "'900' is not a whole number from 1 to 600. For example: `sisyphus config set ",
        id="out of bounds",
    ),
    pytest.param(
        ["set", "notify.command", "x", "--project", "."],
        "notify.command cannot be set by a project. Set it for yourself, without --project.",
        id="not a project's",
    ),
    pytest.param(["unset", "rules.enabled"], "rules.enabled is not set in ", id="not set"),
    pytest.param(["explain", "rule"], "Did you mean", id="explained, unknown"),
    pytest.param(["edit"], "Set VISUAL or EDITOR", id="no editor"),
    pytest.param(["show", "--project", "none"], "no such folder", id="no such project"),
]


@pytest.mark.parametrize(("words", "why"), REFUSED)
def test_a_refusal_says_what_to_do_and_changes_nothing(
    home: Path, project: Path, words: list[str], why: str
) -> None:
    done = _config(*words)

    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert why in done.stderr
    assert not ours(home, "config.toml").exists()
    assert os.listdir(project) == [".git"]


@pytest.mark.parametrize("words", [["set", "rules.enabled", "1"], ["unset", "x"], ["edit"]])
def test_the_model_changes_no_setting(words: list[str]) -> None:
    done = _config(*words, CLAUDECODE="1", EDITOR="true")

    assert done.returncode == 1
    assert done.stderr == ("error: settings are the user's. Do it in another terminal.\n")


def test_what_the_editor_left_is_looked_over() -> None:
    write = "import sys; open(sys.argv[1], 'w').write('[rules]\\nenabled = 1\\n')"
    done = _config("edit", EDITOR=f'{sys.executable} -c "{write}"')

    assert done.returncode == 1
    assert "rules.enabled: 1 is not true or false. For example: " in done.stdout
    assert _config("edit", "--project", ".", VISUAL="true").returncode == 0


def test_a_section_is_listed() -> None:
    listed = _config("explain", "boulder").stdout.splitlines()

    assert [line.split()[0] for line in listed] == ["boulder.enabled", "boulder.stale_days"]
    assert len({line.index(line.split()[1], len(line.split()[0])) for line in listed}) == 1
