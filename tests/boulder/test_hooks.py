"""What each event does, and what it leaves alone."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import debug_log, ours, put

from boulder.scene import CONTINUATION, DONE, ENABLED, PLAN, Scene, is_silent, model, user

if TYPE_CHECKING:
    from pathlib import Path


def test_a_compacted_session_is_told_in_short_and_the_user_not_at_all(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()

    outcome = scene.start(source="compact")

    assert model(outcome) == (
        "[BOULDER STATE DETECTED]\n\n"
        "Active plan: Ship it (1/3 tasks complete, .claude/PLAN.md)\n"
        "Next task: two"
    )
    assert user(outcome) == ""


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
def test_a_plan_that_the_model_writes_begins_a_boulder(scene: Scene, tool: str) -> None:
    outcome = scene.edit(PLAN, tool_name=tool)

    assert (model(outcome), user(outcome)) == (
        "",
        f"{ENABLED}: Ship it, 1/3 tasks complete (.claude/PLAN.md)",
    )
    assert scene.in_use
    assert scene.in_use["session_ids"] == ["s1"]


PLACES = ["PLAN.md", ".claude/PLAN.md", "docs/kord/plans/x.md", ".claude/plans/x.md"]


@pytest.mark.parametrize("name", PLACES)
def test_a_plan_may_lie_in_each_of_its_places(scene: Scene, name: str) -> None:
    assert ENABLED in user(scene.edit(PLAN, name))
    assert f"Plan location: {name}\n" in model(scene.start("s2"))


ELSEWHERE = [
    pytest.param("SPEC.md", id="a specification"),
    pytest.param("docs/PLAN.md", id="another folder"),
    pytest.param("docs/kord/plans/deep/x.md", id="a folder below"),
    pytest.param("docs/kord/plans/x.txt", id="another suffix"),
    pytest.param("src/plan.py", id="code"),
]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_any_other_file_begins_nothing(scene: Scene, name: str) -> None:
    assert is_silent(scene.edit(PLAN, name))
    assert is_silent(scene.start())
    assert is_silent(scene.stop())
    assert scene.in_use is None
    assert not ours(scene.home.parent, "projects").exists()


@pytest.mark.parametrize("tool", ["Read", "Bash", ""])
def test_a_tool_that_writes_no_plan_is_ignored(scene: Scene, tool: str) -> None:
    assert is_silent(scene.edit(PLAN, tool_name=tool))
    assert scene.in_use is None


@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_a_plan_written_by_other_means_is_noticed(scene: Scene, event: str) -> None:
    scene.start()
    scene.write(PLAN)
    assert ENABLED in user(getattr(scene, event)())
    assert scene.in_use


@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_a_change_by_other_means_moves_the_progress_too(scene: Scene, event: str) -> None:
    scene.edit(PLAN)
    scene.write(PLAN.replace("- [ ] two", "- [x] two"))

    assert is_silent(getattr(scene, event)())

    assert scene.in_use
    assert scene.in_use["progress"]["completed"] == 2


def test_two_changes_within_one_tick_of_the_clock_are_both_noticed(scene: Scene) -> None:
    plan = put(scene.project / "PLAN.md", PLAN)
    scene.tool(plan)
    status = plan.stat()
    plan.write_text(PLAN.replace("- [ ] two", "- [x] two"))
    os.utime(plan, ns=(status.st_atime_ns, status.st_mtime_ns))

    scene.stop()

    assert scene.in_use
    assert scene.in_use["progress"]["completed"] == 2


def test_a_quiet_turn_writes_nothing(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.write(DONE, "docs/kord/plans/done.md")
    before = {path: path.stat().st_mtime_ns for path in scene.home.rglob("*")}

    for event in (scene.prompt, scene.stop):
        assert is_silent(event())

    assert {path: path.stat().st_mtime_ns for path in scene.home.rglob("*")} == before


def test_a_subagents_edit_counts_but_gives_the_subagent_no_text(scene: Scene) -> None:
    scene.edit(PLAN)
    plan = scene.write(PLAN.replace("- [ ] two", "- [x] two"))

    assert is_silent(scene.tool(plan, agent_id="a1"))

    assert scene.in_use
    assert scene.in_use["progress"]["completed"] == 2


def test_what_a_subagent_completes_is_told_to_the_user_alone(scene: Scene) -> None:
    scene.edit(PLAN)
    outcome = scene.edit(DONE, agent_id="a1")
    assert (model(outcome), "[BOULDER COMPLETE]" in user(outcome)) == ("", True)


def test_a_subagents_other_events_do_nothing(scene: Scene) -> None:
    scene.write(PLAN)
    for event in (scene.start, scene.prompt, scene.compact, scene.stop, scene.end):
        assert is_silent(event(agent_id="a1"))
    assert scene.in_use is None


def test_the_end_of_a_session_is_noted_and_its_id_stays(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.end(agent_id="a1")
    assert scene.in_use
    assert "ended_sessions" not in scene.in_use["metadata"]

    scene.end()
    scene.end()

    assert scene.in_use
    assert scene.in_use["session_ids"] == ["s1"]
    assert scene.in_use["metadata"]["ended_sessions"] == ["s1"]


def test_a_session_that_comes_back_has_not_ended(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.end()
    scene.start(source="resume")
    assert scene.in_use
    assert scene.in_use["metadata"]["ended_sessions"] == []


def test_the_end_of_a_session_is_noted_in_the_project_of_its_plan(
    scene: Scene, other: Path
) -> None:
    plan = scene.write("# Other\n- [ ] x\n", "PLAN.md", other)
    scene.tool(plan)
    scene.end()
    record = scene.record(plan, other)
    assert record
    assert record["metadata"]["ended_sessions"] == ["s1"]


def test_the_end_of_a_session_without_a_plan_leaves_no_trace(scene: Scene) -> None:
    scene.end()
    scene.end("")
    assert not scene.home.exists()


def test_a_newer_book_is_read_and_never_overwritten(scene: Scene) -> None:
    scene.edit(PLAN)
    [book] = scene.home.rglob("plans.json")
    book.write_text(json.dumps({**scene.book(), "version": 99}))
    before = book.read_bytes()

    outcome = scene.start("s2")

    assert (model(outcome).startswith(CONTINUATION), user(outcome)) == (True, "")
    assert book.read_bytes() == before
    assert "boulder not written" in debug_log(scene.home.parent)


def test_without_a_place_for_state_the_continuation_is_sent_all_the_same(scene: Scene) -> None:
    scene.write(PLAN)
    put(scene.home / ".sisyphus/projects", "in the way")
    outcome = scene.start()
    assert (model(outcome).startswith(CONTINUATION), user(outcome)) == (True, "")


def test_without_a_place_for_state_nobody_decides_between_plans(scene: Scene) -> None:
    scene.write(PLAN)
    scene.write("# Audit\n- [ ] a\n", "PLAN.md")
    put(scene.home / ".sisyphus/projects", "in the way")
    assert is_silent(scene.start())


def test_without_a_place_for_state_and_a_plan_nothing_is_said(scene: Scene) -> None:
    scene.write(DONE)
    put(scene.home / ".sisyphus/projects", "in the way")
    assert is_silent(scene.start())


def test_a_pipe_in_the_place_of_a_plan_is_not_waited_for(scene: Scene) -> None:
    os.mkfifo(scene.project / "PLAN.md")
    assert is_silent(scene.start())
    assert is_silent(scene.tool(scene.project / "PLAN.md"))


def test_a_plan_is_found_from_below_and_through_links(scene: Scene, tmp_path: Path) -> None:
    plan = scene.write(PLAN)
    (scene.project / "src").mkdir()
    (tmp_path / "link").symlink_to(scene.project)

    outcome = scene.tool(tmp_path / "link/.claude/PLAN.md", cwd=str(tmp_path / "link/src"))

    assert ENABLED in user(outcome)
    assert scene.plan_in_use == str(plan)
    assert model(scene.start(cwd=str(scene.project / "src"))).startswith(CONTINUATION)


def test_plans_in_the_clients_own_folder_are_left_alone(scene: Scene) -> None:
    plan = scene.write(PLAN, "plans/idea.md", scene.home)
    assert is_silent(scene.tool(plan))
    assert is_silent(scene.tool(scene.write(PLAN, "PLAN.md", scene.home)))
    assert is_silent(scene.start(cwd=str(scene.home.parent)))
    assert scene.in_use is None


def test_switched_off_it_is_silent(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_BOULDER_ENABLED", "0")
    plan = scene.write(PLAN)
    for outcome in (
        scene.start(),
        scene.tool(plan),
        scene.prompt("/boulder-status"),
        scene.todo("dig"),
        scene.compact(),
        scene.stop(),
        scene.end(),
    ):
        assert is_silent(outcome)
    assert not scene.home.exists()


def test_without_a_session_id_the_plan_goes_on_and_nobody_is_noted(scene: Scene) -> None:
    scene.write(PLAN)
    assert model(scene.start("")).startswith(CONTINUATION)
    assert scene.in_use
    assert scene.in_use["session_ids"] == []
