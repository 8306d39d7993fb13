from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making import debug_log, ours, put
from ralph.lines import prompt

from checkpoint.desk import PLAN, Desk
from checkpoint.telling import edited, hunk
from sisyphus.checkpoint import in_run, make, survey
from sisyphus.clients.base import EDIT, ToolCall
from sisyphus.ralph import actions
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json

RUN: Json = {
    "loop_id": "abc12",
    "task_name": "Migrate to Vitest",
    "objective": "Move all tests",
    "iteration": 5,
    "max_iterations": 20,
    "completion_promise": "DONE",
    "todo_items": ["auth", "tokens"],
    "completed_items": ["setup"],
    "in_flight": {"item": "tokens"},
}


def _hand_over(desk: Desk, **options: Any) -> Checkpoint:
    chosen = {"occasion": make.ASKED, **options}
    return make.hand_over(desk.space(), "s1", str(desk.transcript()), **chosen)


def test_a_handoff_is_written_and_noted(desk: Desk) -> None:
    desk.add(prompt("Mend the parser"))
    desk.fill(87)
    fill = make.Fill("L2", 87, 174_000, 200_000)

    entry = _hand_over(desk, occasion=make.LEVEL, fill=fill)

    [file] = desk.files
    assert entry["handoff_file"] == f".claude/handoffs/{file.name}"
    assert file.name.endswith("-s1.md")
    assert desk.waiting == [entry]
    assert (entry["level"], entry["percent_at_checkpoint"]) == ("L2", 87)
    assert (entry["occasion"], entry["task"]) == ("level", "Mend the parser")
    assert "in_run" not in entry
    assert "plan" not in entry
    text = file.read_text("utf-8")
    assert text.startswith("# Handoff: Mend the parser\n")
    assert "87%" in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_one_of_nothing_says_no_percentage(desk: Desk) -> None:
    entry = _hand_over(desk)
    assert "percent_at_checkpoint" not in entry
    assert entry["level"] == ""


def test_the_loop_of_the_session_is_in_it(desk: Desk) -> None:
    loop = desk.begin_loop()
    entry = _hand_over(desk)
    assert (entry["loop_id"], entry["iteration"], entry["task"]) == (loop.loop_id, 1, "do it")
    assert desk.files[0].name.endswith(f"-{loop.loop_id}.md")


def test_a_loop_that_is_paused_is_not_at_work(desk: Desk) -> None:
    desk.begin_loop()
    actions.pause(desk.ours, "s1", now=desk.now)
    assert "loop_id" not in _hand_over(desk)


def test_the_loop_may_be_told(desk: Desk) -> None:
    loop = desk.begin_loop()
    told = survey.described(loop)
    actions.pause(desk.ours, "s1", now=desk.now)
    assert _hand_over(desk, loop=told)["loop_id"] == loop.loop_id


def test_a_loop_that_follows_a_plan_has_no_prompt_of_its_own(desk: Desk) -> None:
    loop = desk.begin_loop()
    assert survey.described(loop)["prompt"] == "do it"
    loop.options["plan"] = "/p/PLAN.md"
    assert survey.described(loop)["prompt"] == ""


def test_the_plan_of_the_session_is_in_it(desk: Desk) -> None:
    desk.begin_plan()
    assert _hand_over(desk)["plan"] == str(desk.project / ".claude" / "PLAN.md")
    assert "two" in desk.files[0].read_text("utf-8")


def test_a_plan_that_is_done_or_not_followed_is_none_to_go_on_with(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin_plan()
    assert survey.plan_of(desk.space(), "s1") is not None
    monkeypatch.setenv("SISYPHUS_BOULDER_ENABLED", "0")
    assert survey.plan_of(desk.space(), "s1") is None
    monkeypatch.delenv("SISYPHUS_BOULDER_ENABLED")
    put(desk.project / ".claude" / "PLAN.md", PLAN.replace("[ ]", "[x]"))
    assert survey.plan_of(desk.space(), "s1") is None


def test_a_plan_that_cannot_be_read_is_left_out(desk: Desk, home: Path) -> None:
    desk.begin_plan()
    plan = desk.project / ".claude" / "PLAN.md"
    plan.write_bytes(b"\xff\xfe\x00")
    assert "plan" not in _hand_over(desk)
    assert "PLAN.md" not in debug_log(home) or "the plan is left out" in debug_log(home)


def _in_run(desk: Desk, monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    put(desk.project / in_run.STATE_FILE, json.dumps({**RUN, **fields}))


def test_an_iteration_of_a_run_knows_its_item(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    _in_run(desk, monkeypatch)
    entry = _hand_over(desk)
    assert entry["in_run"] is True
    assert (entry["loop_id"], entry["iteration"]) == ("abc12", 5)
    assert entry["current_todo_item"] == "tokens"
    assert desk.files[0].name.endswith("-abc12.md")


ITEMS = [
    pytest.param({}, ("tokens", 2, 3), id="the item in flight"),
    pytest.param({"in_flight": None}, ("auth", 2, 3), id="the first that is left"),
    pytest.param({"in_flight": {"item": 7}}, ("auth", 2, 3), id="no item in flight"),
    pytest.param({"in_flight": None, "todo_items": []}, ("", 0, 1), id="none is left"),
    pytest.param({"todo_items": [], "completed_items": []}, ("", None, None), id="no items"),
    pytest.param({"todo_items": "auth"}, ("", None, None), id="no list"),
]


@pytest.mark.parametrize(("fields", "expected"), ITEMS)
def test_a_run_tells_how_far_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, fields: Json, expected: tuple[object, ...]
) -> None:
    _in_run(desk, monkeypatch, **fields)
    found = survey.survey(desk.space(), "s1", str(desk.transcript()))
    assert (found.item, found.items_left, found.items_total) == expected


def test_what_a_runs_file_tells_in_another_shape_is_nothing(desk: Desk) -> None:
    run: Json = {"loop_id": 7, "iteration": "5", "completion_promise": ["x"], "prompt": None}
    found = survey.survey(desk.space(), "s1", str(desk.transcript()), run=run)
    assert found.loop == {
        "loop_id": "",
        "description": "",
        "prompt": "",
        "iteration": 0,
        "max_iterations": 0,
        "completion_promise": None,
    }


NOTE = "We keep the old parser until Friday."


def _enrich(desk: Desk) -> None:
    [file] = desk.files
    text = file.read_text("utf-8").replace("### Decisions\n", f"### Decisions\n\n{NOTE}\n")
    file.write_text(text, encoding="utf-8")


def test_what_the_model_added_goes_on_into_the_next_handoff(desk: Desk) -> None:
    _hand_over(desk)
    _enrich(desk)
    _hand_over(desk)
    assert len(desk.files) == 2
    assert NOTE in desk.files[1].read_text("utf-8")


def test_what_was_given_away_is_not_added_again(desk: Desk) -> None:
    _hand_over(desk)
    _enrich(desk)
    desk.start("resume")
    _hand_over(desk)
    assert NOTE not in desk.files[1].read_text("utf-8")


def test_a_handoff_that_is_gone_leaves_no_notes(desk: Desk) -> None:
    _hand_over(desk)
    desk.files[0].unlink()
    _hand_over(desk)
    assert len(desk.files) == 1


def test_notes_come_from_no_file_outside_the_project(desk: Desk, tmp_path: Path) -> None:
    _hand_over(desk)
    secret = put(tmp_path / "secret.md", f"## Notes\n\n### Decisions\n\n{NOTE}\n")
    desk.files[0].unlink()
    (desk.project / desk.waiting[0]["handoff_file"]).symlink_to(secret)
    _hand_over(desk)
    assert [f for f in desk.files if not f.is_symlink() and NOTE in f.read_text("utf-8")] == []


def test_notes_come_from_our_own_folder_as_well(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (desk.project / ".claude").symlink_to(elsewhere)
    file = Path(_hand_over(desk)["handoff_file"])
    text = file.read_text("utf-8").replace("### Decisions\n", f"### Decisions\n\n{NOTE}\n")
    file.write_text(text, encoding="utf-8")
    assert NOTE in Path(_hand_over(desk)["handoff_file"]).read_text("utf-8")


@pytest.mark.parametrize("lets_stop", [True, False])
def test_it_says_whether_its_session_may_stop_for_it(desk: Desk, *, lets_stop: bool) -> None:
    assert _hand_over(desk, lets_stop=lets_stop).get("lets_stop", False) is lets_stop


def test_what_a_run_writes_is_left_to_it(desk: Desk) -> None:
    assert _hand_over(desk, run={"loop_id": "abc12"})["in_run"]
    assert "in_run" not in _hand_over(desk)


def test_a_loop_a_run_or_a_plan_holds_a_session(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not survey.is_held(desk.space(), "s1")
    desk.begin_loop()
    assert survey.is_held(desk.space(), "s1")
    assert not survey.is_held(desk.space(), "s2")
    actions.pause(desk.ours, "s1", now=desk.now)
    assert not survey.is_held(desk.space(), "s1")
    desk.begin_plan()
    assert survey.is_held(desk.space(), "s1")
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    assert survey.is_held(desk.space(), "s7")


def test_a_call_that_the_transcript_does_not_tell_of_yet_is_in_it(desk: Desk) -> None:
    path = str(put(desk.project / "late.py", "x\nx\nb\n"))
    [call, answer] = edited(path, hunk(3, "-a", "+b"))
    given = call["message"]["content"][0]["input"]
    late = ToolCall("toolu_late", "Edit", EDIT, given, answer=answer["toolUseResult"])
    [file] = _hand_over(desk, late=[late])["files_in_progress"]
    assert (file["path"], file["lines"]) == ("late.py", "3")


def test_a_project_that_cannot_hold_it_leaves_it_with_us(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (desk.project / ".claude").symlink_to(elsewhere)

    entry = _hand_over(desk)

    assert list(elsewhere.iterdir()) == []
    assert entry["handoff_file"].startswith(str(ours(home, "projects/")))
    assert put(elsewhere / "x", "y").exists()
    with open(entry["handoff_file"], encoding="utf-8") as file:
        assert file.read().startswith("# Handoff: ")
