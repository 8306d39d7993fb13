from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from making import know_session, ours
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.ralph import store

if TYPE_CHECKING:
    from pathlib import Path


PLAN = "# Shop\n\n- [x] one\n- [ ] two\n- [ ] three\n"
KORD = "# Kord\n\n## Wave 1\n\n### S01: A\n- [ ] a\n\n## Wave 2\n\n### S02: B\n- [ ] b\n"


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (project / ".claude").mkdir()
    (project / ".claude/PLAN.md").write_text(PLAN)
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def two(shop: Path) -> Path:
    """A project with two open plans."""
    (shop / "docs/kord/plans").mkdir(parents=True)
    (shop / "docs/kord/plans/kord.md").write_text(KORD)
    return shop


def _run(*words: str) -> str:
    return CliRunner().invoke(app, ["boulder", *words], catch_exceptions=False).stdout


def _json(*words: str) -> Any:
    return json.loads(_run(*words, "--json"))


def _exit_code(*words: str) -> int:
    return CliRunner().invoke(app, ["boulder", *words]).exit_code


@pytest.mark.usefixtures("shop")
def test_start_follows_the_only_open_plan() -> None:
    assert _run("start").startswith("Boulder state tracking enabled for this plan.\n\nShop  (act")

    assert "1/3 tasks complete" in _run("status")
    assert "Next        two" in _run("status")


ANSWERS = ["start", "status", "switch", "checkpoint", "enforce on", "clear"]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", ANSWERS)
def test_every_command_answers_in_json(command: str) -> None:
    _run("start")

    answer = _json(*command.split())

    assert answer["plan_name"] == "Shop"
    assert answer["progress"]["completed"] == 1


@pytest.mark.parametrize("command", ["start", "status", "checkpoint", "enforce on", "clear"])
def test_every_command_takes_a_project(shop: Path, command: str, tmp_path: Path) -> None:
    _run("start")
    os.chdir(tmp_path)

    answer = _json(*command.split(), "--project", str(shop))

    assert answer["plan_name"] == "Shop"


def test_clear_leaves_the_plan_file(shop: Path) -> None:
    _run("start")

    assert "cleared" in _run("clear")
    assert (shop / ".claude/PLAN.md").read_text() == PLAN
    assert _json("status")["state"] == "none"


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["clear"], "nothing to clear", id="nothing to clear"),
        pytest.param(["checkpoint", "x"], "no plan is followed", id="nothing to note"),
        pytest.param(["todos"], "no plan is followed", id="nothing to do"),
        pytest.param(["start", "nowhere"], "no plan is called 'nowhere'", id="no such plan"),
        pytest.param(["status", "--project", "/no/such/folder"], "no such folder", id="no folder"),
        pytest.param(["start", "--session-id", "a/b"], "'a/b' is no session id", id="no session"),
        pytest.param(["todos", "--session-id", "x\n" * 99], "is no session id", id="hostile"),
    ],
)
def test_a_known_failure_is_an_error_for_people(words: list[str], told: str) -> None:
    with pytest.raises(SisyphusError) as caught:
        _run(*words)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["enforce", "maybe"], id="neither on nor off"),
        pytest.param(["enforce"], id="nothing"),
        pytest.param(["enforce", "on", "--max-iterations", "0"], id="no iteration"),
        pytest.param(["checkpoint", "--wave", "two"], id="a wave that is no number"),
        pytest.param(["history", "-n", "0"], id="no line"),
    ],
)
def test_wrong_usage_is_no_failure_of_the_plan(words: list[str]) -> None:
    assert _exit_code(*words) == 2


@pytest.mark.usefixtures("shop")
def test_a_checkpoint_is_noted_in_the_words_given() -> None:
    _run("start")

    assert _run("checkpoint", 'half "done"\x1b[31m') == 'Checkpoint of Shop: half "done" [31m\n'
    assert _json("status")["checkpoint"]["message"] == 'half "done" [31m'


@pytest.mark.usefixtures("two")
def test_a_checkpoint_names_wave_and_story() -> None:
    _run("start", "kord")

    answer = _json("checkpoint", "b is next", "--wave", "2", "--story", "S02")

    assert (answer["current_wave"], answer["current_story"]) == (2, "S02")


@pytest.mark.usefixtures("shop")
def test_a_plan_is_enforced_with_the_limits_given() -> None:
    _run("start")

    answer = _json("enforce", "on", "--max-iterations", "7", "--max-tokens", "1000")

    assert answer["enforced"].pop("since")
    assert answer["enforced"] == {"max_iterations": 7, "max_tokens": 1000}
    assert "not enforced any more" in _run("enforce", "off")


@pytest.fixture
def held(shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session whose plan the user enforced, and its model's shell."""
    know_session(ours(home, ""))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    _run("start")
    _run("enforce", "on", "--max-iterations", "2")
    monkeypatch.setenv("CLAUDECODE", "1")
    return shop


@pytest.mark.usefixtures("held")
def test_the_models_shell_renews_no_enforcement() -> None:
    with pytest.raises(SisyphusError, match="Shop is enforced already"):
        _run("enforce", "on", "--max-iterations", "100000")

    assert _json("status")["enforced"]["max_iterations"] == 2


LETS_GO = [
    pytest.param("enforce off", "was switched off", id="off"),
    pytest.param("clear", "was cleared with its plan", id="cleared"),
]


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(("command", "what"), LETS_GO)
def test_what_ends_an_enforcement_is_told_by_the_session(command: str, what: str) -> None:
    _run(*command.split())

    (news,) = store.glance(our_home(), "s1").news
    assert news == (
        "[BOULDER ENFORCEMENT OFF]\n\nThe enforcement of Shop (.claude/PLAN.md) "
        f"{what} by a command in the client's shell."
    )


@pytest.mark.usefixtures("shop")
def test_the_models_shell_gets_a_loops_limits_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    _run("start")
    monkeypatch.setenv("CLAUDECODE", "1")
    answer = CliRunner().invoke(app, ["boulder", "enforce", "on", "--max-iterations", "500"])

    assert answer.stderr == "note: the model asked for --max-iterations 500; it gets 100\n"
    assert _json("status")["enforced"]["max_iterations"] == 100


def test_the_record_can_lie_in_the_project(shop: Path) -> None:
    _run("start", "--in-repo")

    assert (shop / "docs/kord/boulder.json").exists()


@pytest.mark.usefixtures("two")
def test_what_the_clients_shell_starts_is_for_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    _run("start", "shop")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    _run("start", "kord")

    assert _json("checkpoint", "here")["plan_name"] == "Kord"
    assert _json("status", "--session-id", "s-1")["plan_name"] == "Kord"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
    assert _json("status")["session_ids"] == ["s-1"], "s-2 is at no plan of its own"


def test_a_project_that_was_deleted_can_be_cleared(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()  # no part of the project around it
    _run("start")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(shop)

    assert [row["state"] for row in _json("list")] == ["missing"]
    assert _json("clear", "shop", "--project", str(shop))["state"] == "missing"
    assert _json("list") == []
    assert not shop.exists()


def test_a_project_that_never_was_has_nothing_to_clear(shop: Path, tmp_path: Path) -> None:
    _run("start")

    for name in ("never", "file"):
        (tmp_path / "file").write_text("")
        with pytest.raises(SisyphusError):
            _run("clear", "--project", str(tmp_path / name))
    assert [row["project_root"] for row in _json("list")] == [str(shop)]


def test_what_is_followed_can_be_completed_by_the_shell_though_it_is_gone(two: Path) -> None:
    from sisyphus.cli.boulder import _names_of_followed

    _run("start", "kord")
    (two / "docs/kord/plans/kord.md").unlink()

    assert _names_of_followed("") == _names_of_followed("K") == ["kord"]
    assert _names_of_followed("p") == []


def test_a_plan_file_can_be_completed_by_the_shell(two: Path) -> None:
    from sisyphus.cli.boulder import _names

    assert two.exists()
    assert set(_names("")) == {"PLAN", "kord"}
    assert _names("k") == _names("K") == ["kord"]


def test_who_completes_in_a_folder_that_is_gone_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sisyphus.cli.boulder import _names

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert _names("") == []
