"""What a quiet event costs, and plans that others work on at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from making import PATIENT, finish, put, start_hook, stored, without_coverage
from ralph.repositories import a_repository, git

from boulder.scene import CONTINUATION, DONE, PLAN, Scene, is_silent, model, user
from sisyphus.boulder import enforcement, enforcing
from sisyphus.boulder.book import Book

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json

CODE = """\
import sys
from sisyphus.boulder import hooks
from sisyphus.clients import claude_code
from sisyphus.workspace import Workspace

raw = {{"cwd": {cwd!r}, "session_id": "s1", "prompt": "go on", "tool_name": "Edit",
       "tool_input": {{"file_path": {path!r}}}}}
payload = claude_code.read({event!r}.replace("_", "-"), raw)
assert hooks.on_{event}(payload, Workspace({cwd!r})) is None
print(*(name for name in sys.modules if name.startswith("sisyphus.boulder.")))
"""
GLANCE = {
    f"sisyphus.boulder.{name}"
    for name in ("hooks", "watch", "discover", "store", "record", "in_use")
}

QUIET = [
    pytest.param("stop", "", GLANCE, id="stop"),
    pytest.param("user_prompt_submit", "", GLANCE, id="prompt"),
    pytest.param("post_tool_use", "src/a.py", {"sisyphus.boulder.hooks"}, id="edit of code"),
    pytest.param("post_tool_use", "README.md", GLANCE, id="edit of a document"),
]


@pytest.mark.parametrize(("event", "name", "modules"), QUIET)
def test_a_quiet_event_loads_no_parser(
    scene: Scene, event: str, name: str, modules: set[str]
) -> None:
    scene.edit(PLAN)
    path: Path = scene.project / name
    code = CODE.format(cwd=str(scene.project), path=str(path), event=event)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == modules


def undecided(scene: Scene) -> None:
    scene.write("# Audit\n- [ ] a\n", "PLAN.md")
    scene.start()


def spoilt(scene: Scene) -> None:
    put(scene.theirs, "<<<<<<< HEAD\n")
    scene.start()


def newer(scene: Scene) -> None:
    put(scene.theirs, '{"version": 2}')
    scene.start()


def no_file(scene: Scene) -> None:
    scene.theirs.mkdir(parents=True)
    scene.start()


def foreign(scene: Scene) -> None:
    """A record about a plan that is not here, and no plan of ours."""
    scene.write(DONE)
    put(scene.theirs, '{"activePlan": "docs/theirs.md"}')
    scene.start()


def gone(scene: Scene) -> None:
    scene.start()
    (scene.project / ".claude/PLAN.md").unlink()
    scene.stop()


def no_place(scene: Scene) -> None:
    """Our record cannot be written."""
    put(scene.own.parent / "boulder.json.tmp/in/the/way", "")
    put(scene.own, "{}")
    scene.start()


STATES = [Scene.start, undecided, spoilt, newer, no_file, foreign, gone, no_place]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("event", ["stop", "user_prompt_submit"])
def test_where_nothing_changed_there_is_only_a_glance(
    scene: Scene, event: str, state: Callable[[Scene], None]
) -> None:
    """Also where something is wrong for good: no lock, no parser, nothing written."""
    scene.write(PLAN)
    state(scene)
    code = CODE.format(cwd=str(scene.project), path="", event=event)
    with Book(str(scene.home), str(scene.project)):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert set(done.stdout.decode().split()) == GLANCE


LATER = 4_000_000_000
"""A time of change that no clock of a test has passed."""


def being_written(
    plan: Path, parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """A writer that truncated the plan has written the first of `parts`; the next one follows
    whenever somebody waits, or the function that is returned is called."""
    left = iter(parts)

    def write_on(_: float = 0) -> None:
        with plan.open("a") as file:
            file.write(next(left, ""))
        os.utime(plan, (LATER, LATER))

    plan.write_text("")
    write_on()
    monkeypatch.setattr(time, "sleep", write_on)
    return write_on


HALVES = [
    pytest.param(["# P\n- [x] a\n", "- [ ] b\n"], id="the first half is done"),
    pytest.param(["# P\n- [x] a\n", "- [x] c\n", "- [x] d\n", "- [ ] b\n"], id="in small steps"),
    pytest.param(["", "# P\n- [x] a\n- [ ] b\n"], id="nothing yet"),
]


@pytest.mark.parametrize("parts", HALVES)
def test_a_plan_that_is_being_written_is_not_taken_for_a_complete_one(
    scene: Scene, parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = scene.write("# P\n- [x] a\n- [ ] b\n")
    scene.start()
    being_written(plan, parts, monkeypatch)

    assert is_silent(scene.stop())

    record = scene.record(plan)
    assert record
    assert record["progress"]["completed"] == record["progress"]["total"] - 1
    assert scene.events() == []


def test_what_was_complete_before_a_plan_was_written_anew_is_no_news(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# P\n## Wave 1\n### S01: A\n- [x] a\n### S02: B\n- [ ] b\n"
    plan = scene.write(text)
    scene.start()
    write_on = being_written(plan, ["", text], monkeypatch)
    scene.stop()
    write_on()
    scene.prompt()
    assert scene.events() == []


@pytest.fixture
def linked(scene: Scene) -> Path:
    """A real worktree of the scene's project, which has no plan in its repository."""
    (scene.project / ".git").rmdir()
    a_repository(scene.project)
    git(scene.project, "worktree", "add", "-b", "feature", "../linked")
    return scene.project.parent / "linked"


def test_a_worktree_without_a_plan_continues_that_of_its_main_checkout(
    scene: Scene, linked: Path
) -> None:
    plan = scene.write(PLAN)
    scene.start("s1")
    here = {"session": "s2", "cwd": str(linked)}

    assert model(scene.start(**here)).startswith(CONTINUATION.split("Plan location")[0])

    two = PLAN.replace("[ ] two", "[x] two")
    scene.write(two)
    assert is_silent(scene.stop(**here))
    assert scene.record(plan)["progress"]["completed"] == 2  # type: ignore[index]
    scene.tool(scene.write(two.replace("[ ] three", "[/] three")), **here)
    scene.todo("dig", session="s2")
    scene.end(**here)
    record = scene.record(plan)
    assert record
    assert (record["session_ids"], record["metadata"]["ended_sessions"]) == (["s1", "s2"], ["s2"])
    assert scene.checkpoint(scene.own).startswith("2/3 tasks done")
    assert len(list(scene.home.rglob("plans.json"))) == 1
    assert git(linked, "status", "--porcelain") == ""


def test_a_worktree_with_a_plan_of_its_own_has_a_record_of_its_own(
    scene: Scene, linked: Path
) -> None:
    plan = scene.write(PLAN)
    copy = scene.write(PLAN, project=linked)
    scene.start("s1")
    scene.start("s2", cwd=str(linked))

    scene.tool(
        scene.write(PLAN.replace("[ ] two", "[x] two"), project=linked), "s2", cwd=str(linked)
    )

    first, second = scene.record(plan), scene.record(copy, linked)
    assert first
    assert second
    assert (first["session_ids"], first["progress"]["completed"]) == (["s1"], 1)
    assert (second["session_ids"], second["progress"]["completed"]) == (["s2"], 2)
    git(scene.project, "worktree", "remove", "--force", "../linked")
    assert model(scene.start("s3")).startswith(CONTINUATION)
    assert scene.record(copy, linked) == second


def no_plan_is_current(scene: Scene) -> None:
    """The main checkout's plan ends, and two others are open there."""
    scene.edit("# Audit\n- [ ] a\n", "docs/kord/plans/audit.md")
    scene.edit("# Third\n- [ ] a\n", "docs/kord/plans/third.md")
    scene.edit("# Third\n- [x] a\n", "docs/kord/plans/third.md")
    assert scene.book()["current"] is None


def test_a_session_in_a_worktree_keeps_its_plan_while_none_is_current(
    scene: Scene, linked: Path
) -> None:
    plan = scene.write(PLAN)
    scene.start("s1")
    scene.start("s2", cwd=str(linked))
    there = scene.space(str(linked))
    enforcing.enforce(there, session="s2", on=True)

    no_plan_is_current(scene)

    assert enforcement.asked_for(there, "s2").path == str(plan)  # type: ignore[union-attr]
    resumed = model(scene.start("s2", "resume", cwd=str(linked)))
    assert resumed.startswith(CONTINUATION.split("Plan location")[0])
    scene.end("s2", cwd=str(linked))
    assert scene.record(plan)["metadata"]["ended_sessions"] == ["s2"]  # type: ignore[index]


def test_a_new_session_in_a_worktree_is_asked_where_one_in_its_main_checkout_is(
    scene: Scene, linked: Path
) -> None:
    scene.write(PLAN)
    scene.start("s1")
    no_plan_is_current(scene)
    assert "2 plans are open in this project" in model(scene.start("s2", cwd=str(linked)))


@pytest.mark.parametrize("name", ["PLAN.md", "docs/kord/boulder.json"])
def test_a_worktree_with_something_of_its_own_has_none_of_its_main_checkout(
    scene: Scene, linked: Path, name: str
) -> None:
    scene.write(PLAN)
    scene.start("s1")
    put(linked / name, "{}")
    assert is_silent(scene.start("s2", cwd=str(linked)))


def test_removing_a_worktree_loses_nothing_of_the_plan_it_continued(
    scene: Scene, linked: Path
) -> None:
    plan = scene.write(PLAN)
    scene.start("s1")
    scene.start("s2", cwd=str(linked))
    before = scene.record(plan)
    git(scene.project, "worktree", "remove", "--force", "../linked")
    scene.end("s2", cwd=str(linked))
    assert is_silent(scene.stop("s1"))
    after = scene.record(plan)
    assert before
    assert after
    assert (after["session_ids"], after["progress"]) == (before["session_ids"], before["progress"])


def test_the_end_is_noted_in_the_main_checkout_when_the_worktree_has_its_own_plan_by_then(
    scene: Scene, linked: Path
) -> None:
    plan = scene.write(PLAN)
    scene.start("s1")
    scene.start("s2", cwd=str(linked))
    copy = scene.write(PLAN, project=linked)
    scene.tool(copy, "s2", cwd=str(linked))

    scene.end("s2", cwd=str(linked))

    for path, project in ((plan, scene.project), (copy, linked)):
        record = scene.record(path, project)
        assert record
        assert record["metadata"]["ended_sessions"] == ["s2"]


def test_a_session_in_a_subfolder_is_one_of_the_project(scene: Scene) -> None:
    scene.write(PLAN)
    below = scene.project / "src/deep"
    below.mkdir(parents=True)
    assert model(scene.start("s1", cwd=str(below))).startswith(CONTINUATION)
    scene.todo("dig")
    scene.write(PLAN.replace("[ ] two", "[x] two"))
    scene.stop(cwd=str(below))
    scene.end(cwd=str(below))
    assert scene.checkpoint(scene.own) == "2/3 tasks done; next: three (line 5)"
    assert [todo["content"] for todo in stored(scene.own)["todos"]] == ["dig"]


SESSIONS = 30


@pytest.mark.parametrize("plans", [1, 2])
def test_many_sessions_that_start_at_once_are_all_noted(scene: Scene, plans: int) -> None:
    plan = put(scene.project / "PLAN.md", PLAN)
    if plans == 2:
        put(scene.project / ".claude/PLAN.md", "# Second\n- [ ] x\n")
        put(scene.theirs, '{"activePlan": "PLAN.md", "squad": "red"}')
    payloads = [
        {"session_id": f"s{n}", "cwd": str(scene.project), "source": "startup"}
        for n in range(SESSIONS)
    ]
    options: Json = {"by": PATIENT, "env": without_coverage(), "cwd": scene.project}

    hooks = [start_hook("session-start", payload, **options) for payload in payloads]
    replies = [finish(hook) for hook in hooks]

    assert all("Active plan: Ship it" in json.dumps(reply) for _, reply in replies)
    record = scene.record(plan)
    assert record
    assert set(record["session_ids"]) == {f"s{n}" for n in range(SESSIONS)}
    assert len(record["session_ids"]) == SESSIONS
    announced = [reply for _, reply in replies if "tracking enabled" in json.dumps(reply)]
    assert (len(announced), scene.events()) == (1, [])
    assert scene.theirs.exists() != scene.own.exists()
    found = stored(scene.theirs if plans == 2 else scene.own)
    assert (found["activePlan"], found.get("squad")) == ("PLAN.md", "red" if plans == 2 else None)
    assert user(scene.stop("s1")) == ""
