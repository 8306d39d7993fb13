from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
import typer
from making import COMMAND, put
from ralph.past.log import a_loop, lives, ran, starts
from typer.testing import CliRunner

from sisyphus.cli import ralph_history
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()
app.command("log")(ralph_history.log)
app.command("stats")(ralph_history.stats)


def _asked(*words: str) -> str:
    return CliRunner().invoke(app, words, catch_exceptions=False).stdout


def _refused(*words: str) -> str:
    """What is said about wrong usage."""
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 2
    return done.stderr


def _ids(*words: str) -> list[str]:
    return [line.split()[0] for line in _asked("log", *words).splitlines()]


@pytest.fixture
def _played(project: Path) -> None:
    here = a_loop("aaaaa", "s1", minute=0)
    here.project = str(project)
    ran(here)
    ran(a_loop("bbbbb", "s2", minute=1), "stuck")
    starts(lives(a_loop("ccccc", "s3", minute=2)))


def test_without_a_loop_the_log_says_how_one_starts() -> None:
    assert ":ralph-loop" in _asked("log")
    assert _asked("log", "--json") == "[]\n"
    assert _asked("stats") == "No loop is known.\n"


FILTERS = [
    pytest.param([], "cba", id="none"),
    pytest.param(["-n", "2"], "cb", id="the latest"),
    pytest.param(["-n", "1", "--all"], "cba", id="all"),
    pytest.param(["--outcome", "stuck"], "b", id="an outcome"),
    pytest.param(["--active"], "c", id="not ended"),
    pytest.param(["--project", "shop"], "cb", id="a project's name"),
    pytest.param(["--project", "/home/me/shop"], "cb", id="a project that is gone"),
]


@pytest.mark.usefixtures("_played")
@pytest.mark.parametrize(("words", "ids"), FILTERS)
def test_the_log_shows_what_is_asked_for(words: list[str], ids: str) -> None:
    shown = [name[0] for name in _ids(*words) if name != "The"]
    assert shown == list(ids)
    rows = json.loads(_asked("log", *words, "--json"))
    assert [row["loop_id"][0] for row in rows] == list(ids)


@pytest.mark.usefixtures("_played")
def test_a_folder_stands_for_its_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project / "src" / "app.py", "")
    monkeypatch.chdir(project)
    for named in (".", "src", str(project), "project"):
        assert _ids("--project", named) == ["aaaaa"]


@pytest.mark.usefixtures("_played")
def test_a_project_of_which_nobody_knows_is_a_known_failure() -> None:
    with pytest.raises(SisyphusError, match="no such folder"):
        _asked("log", "--project", "/nowhere")
    with pytest.raises(SisyphusError, match="no such folder"):
        _asked("stats", "--project", "/nowhere")


@pytest.mark.usefixtures("_played")
def test_where_no_loop_matches_it_is_said() -> None:
    assert _asked("log", "--outcome", "error") == "No loop matches.\n"


def test_an_outcome_that_is_none_is_wrong_usage() -> None:
    assert "no such outcome" in _refused("log", "--outcome", "won")


@pytest.mark.usefixtures("_played")
def test_one_loop_is_told_whole() -> None:
    assert _asked("log", "bb").startswith("Loop bbbbb: make the tests pass\n")
    assert json.loads(_asked("log", "bbbbb", "--json"))["outcome"] == "stuck"
    with pytest.raises(SisyphusError, match="no loop 'zz' is known"):
        _asked("log", "zz")


@pytest.mark.usefixtures("_played")
def test_the_numbers_are_of_all_loops_or_of_those_asked_for() -> None:
    assert _asked("stats").startswith("Loops: 3 (1 active, 2 ended)\n")
    assert _asked("stats", "-n", "1") == "Loops: 1 (1 active)\n"
    assert json.loads(_asked("stats", "--project", "shop", "--json"))["loops"] == 2


def test_a_thousand_loops_are_shown_by_the_command_itself() -> None:
    for number in range(1_000):
        ran(a_loop(f"l{number:04}", f"s{number}", minute=number))
    words = [COMMAND, "ralph", "log", "--all"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1_000
    assert done.stdout.startswith("l0999  success  ")
