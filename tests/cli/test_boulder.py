from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

PLAN = "# Shop\n\n- [x] one\n- [ ] two\n- [ ] three\n"


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (project / ".claude").mkdir()
    (project / ".claude/PLAN.md").write_text(PLAN)
    monkeypatch.chdir(project)
    return project


def _run(*words: str) -> str:
    return CliRunner().invoke(app, ["boulder", *words], catch_exceptions=False).stdout


def test_without_a_plan_status_says_how_to_begin(project: Path) -> None:
    assert "sisyphus boulder start" in _run("status", "--project", str(project))


@pytest.mark.usefixtures("shop")
def test_start_follows_the_only_open_plan() -> None:
    _run("start")

    assert "Progress: 1/3 tasks complete" in _run("status")
    assert "Next task: two" in _run("status")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", ["start", "status", "switch", "clear"])
def test_every_command_answers_in_json(command: str) -> None:
    _run("start")

    answer = json.loads(_run(command, "--json"))

    assert answer["plan_name"] == "Shop"
    assert answer["progress"]["completed"] == 1


def test_any_plan_file_can_be_looked_at_without_being_followed(tmp_path: Path, home: Path) -> None:
    plan = tmp_path / "other.md"
    plan.write_text("- [ ] a\n- [x] b\n")

    answer = json.loads(_run("status", "--plan", str(plan), "--json"))

    assert (answer["state"], answer["next_task"]) == ("active", "a")
    assert not (home / ".claude").exists()


def test_clear_leaves_the_plan_file(shop: Path) -> None:
    _run("start")

    assert "cleared" in _run("clear")
    assert (shop / ".claude/PLAN.md").read_text() == PLAN
    assert json.loads(_run("status", "--json"))["state"] == "none"


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["clear"], id="nothing to clear"),
        pytest.param(["start", "nowhere"], id="no plan of that name"),
        pytest.param(["status", "--project", "/no/such/folder"], id="no such folder"),
    ],
)
def test_a_known_failure_is_an_error_for_people(words: list[str]) -> None:
    with pytest.raises(SisyphusError):
        _run(*words)
