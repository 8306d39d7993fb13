"""The circuit breaker at real Stops, in real repositories and in folders without one."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest
from making import configure, ours, put
from ralph.lines import notified, prompt, result, said, typed, used
from ralph.repositories import a_repository, change, commit, git, latest

from arbiter.desk import ARGS, PROMISE
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from arbiter.desk import Desk

    Work = Callable[[Desk], object]

NO_SIGN = "no commit, no change of the work tree, no task done"
MINUTES = 60


@pytest.fixture
def stuck(desk: Desk) -> Desk:
    """A repository with a breaker that opens after two iterations without progress."""
    configure("ralph.no_progress", 2)
    shutil.rmtree(desk.project / ".git")
    a_repository(desk.project)
    desk.now = latest(desk.project)
    return desk


def _settle(desk: Desk) -> None:
    """The clock goes on until what was changed lies in the past."""
    desk.now = max(desk.now, latest(desk.project))


def _stops(desk: Desk, number: int) -> list[bool]:
    """Which of so many Stops are blocked; nothing is done in between."""
    return [desk.answer("still thinking").reason is not None for _ in range(number)]


# --- without progress ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_repository", [True, False], ids=["in a repository", "in a folder"])
def test_five_iterations_without_progress_pause_the_loop(desk: Desk, is_repository: bool) -> None:
    configure("ralph.no_progress", None)
    if is_repository:
        shutil.rmtree(desk.project / ".git")
        a_repository(desk.project)
    put(desk.project / "a.txt", "a\n")
    _settle(desk)
    desk.begin()

    assert _stops(desk, 4) == [True] * 4
    outcome = desk.answer("still thinking")

    assert outcome.reason is None
    assert outcome.notes == [
        f"paused: the circuit breaker opened: 5 iterations without progress: {NO_SIGN}"
    ]
    assert outcome.messages[0].startswith(
        "[RALPH LOOP PAUSED]\n\nThe loop was paused: the circuit breaker opened: 5 iterations "
        f"without progress: {NO_SIGN}.\nNothing is lost. Iteration 5 of 100. Task: do it\n"
    )
    assert (desk.loop.status, desk.loop.paused_by, desk.loop.iteration) == ("paused", "breaker", 5)
    assert desk.answer("and now?").notes == ["allowed: the loop is paused (breaker)"]


def test_a_loop_that_only_talks_is_paused_before_the_client_steps_in(desk: Desk) -> None:
    configure("ralph.no_progress", None)
    _settle(desk)
    desk.begin()
    _stops(desk, 8)

    assert desk.loop.paused_by == "breaker"


def test_where_both_have_a_reason_the_breaker_says_it(
    stuck: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    stuck.begin()
    _stops(stuck, 2)

    assert stuck.loop.paused_by == "breaker"


def test_reading_is_no_progress(stuck: Desk) -> None:
    stuck.begin()
    for number in range(2):
        stuck.add(used("Read", f"toolu_{number}", file_path=str(stuck.project / "a.txt")))
        stuck.answer("I have read it.")

    assert stuck.loop.paused_by == "breaker"


def test_the_rule_can_be_switched_off(stuck: Desk) -> None:
    configure("ralph.no_progress", 0)
    stuck.begin()

    assert _stops(stuck, 7) == [True] * 7
    assert stuck.loop.breaker == {}


def test_a_project_cannot_switch_it_off(stuck: Desk) -> None:
    configure("ralph.no_progress", None)
    put(stuck.project / ".claude/sisyphus.toml", "[ralph]\nno_progress = 0\nsame_error = 0\n")
    _settle(stuck)
    stuck.begin()

    assert _stops(stuck, 6) == [True] * 4 + [False] * 2


# --- progress -----------------------------------------------------------------------------------


def _edit(desk: Desk, path: Path, **fields: object) -> Desk:
    """The model's edit; the file itself is as it was."""
    desk.add(used("Edit", "toolu_3", file_path=str(path)), result("done", "toolu_3", **fields))
    return desk


WORK: list[object] = [
    pytest.param(lambda desk: git(desk.project, "commit", "-q", "--allow-empty", "-m", "x"),
                 id="a commit"),
    pytest.param(lambda desk: _edit(desk, desk.project / "a.txt"), id="an edit"),
    pytest.param(lambda desk: _edit(desk, desk.project / "debug.log"), id="an ignored file's edit"),
    pytest.param(lambda desk: change(desk.project / "a.txt", desk.now), id="a tracked file"),
    pytest.param(lambda desk: change(desk.project / "src/c.py", desk.now), id="a new file"),
    pytest.param(lambda desk: (desk.project / "a.txt").unlink(), id="a file that is gone"),
    pytest.param(lambda desk: (git(desk.project, "switch", "-q", "-c", "x"), commit(desk.project)),
                 id="a commit on another branch"),
]  # fmt: skip


@pytest.mark.parametrize("work", WORK)
def test_what_is_progress(stuck: Desk, work: Work) -> None:
    stuck.begin()
    assert _stops(stuck, 1) == [True]
    work(stuck)
    _settle(stuck)

    assert _stops(stuck, 3) == [True, True, False]


NO_WORK: list[object] = [
    pytest.param(lambda desk: change(desk.project / "x.log", desk.now), id="an ignored file"),
    pytest.param(lambda desk: _edit(desk, desk.project / "a.txt", is_error=True),
                 id="an edit that failed"),
    pytest.param(lambda desk: _edit(desk, desk.home / "elsewhere.txt"), id="an edit elsewhere"),
    pytest.param(lambda desk: _edit(desk, desk.project / ".claude/progress.txt"),
                 id="an edit of our own file"),
    pytest.param(lambda desk: change(desk.project / ".claude/handoffs/x.md", desk.now),
                 id="a file of our own"),
    pytest.param(lambda desk: desk.add(used("Bash", command="true"), result("")), id="a command"),
    pytest.param(lambda desk: os.utime(desk.project / ".git"), id="git's own files"),
]  # fmt: skip


@pytest.mark.parametrize("work", NO_WORK)
def test_what_is_none(stuck: Desk, work: Work) -> None:
    stuck.begin()
    assert _stops(stuck, 1) == [True]
    work(stuck)
    _settle(stuck)

    assert _stops(stuck, 1) == [False]


def test_work_in_the_first_iteration_counts(stuck: Desk) -> None:
    stuck.begin()
    change(stuck.project / "a.txt", stuck.now)
    _settle(stuck)

    assert _stops(stuck, 3) == [True, True, False]


def test_work_of_before_the_loop_does_not(stuck: Desk) -> None:
    change(stuck.project / "a.txt", stuck.now)
    commit(stuck.project)
    _settle(stuck)
    stuck.begin()

    assert _stops(stuck, 2) == [True, False]


def test_a_task_of_the_plan_that_is_done_is_progress(stuck: Desk) -> None:
    put(stuck.project / ".git/info/exclude", ".claude/\n")
    plan = put(stuck.project / ".claude/PLAN.md", "- [ ] one\n- [ ] two\n")
    _settle(stuck)
    stuck.begin()
    _follow(stuck, plan)
    assert _stops(stuck, 1) == [True]
    put(plan, "- [x] one\n- [ ] two\n")

    assert _stops(stuck, 3) == [True, True, False]


def test_a_task_that_is_added_is_none(stuck: Desk) -> None:
    put(stuck.project / ".git/info/exclude", ".claude/\n")
    plan = put(stuck.project / ".claude/PLAN.md", "- [x] one\n- [ ] two\n")
    _settle(stuck)
    stuck.begin()
    _follow(stuck, plan)
    assert _stops(stuck, 1) == [True]
    put(plan, "- [x] one\n- [ ] two\n- [ ] three\n")

    assert _stops(stuck, 1) == [False]


def _follow(desk: Desk, plan: Path) -> None:
    """The session works on this plan."""
    from sisyphus.boulder import hooks
    from sisyphus.clients import claude_code
    from sisyphus.workspace import Workspace

    raw = {"session_id": "s1", "cwd": str(desk.project), "source": "startup"}
    assert hooks.on_session_start(
        claude_code.read("session-start", raw), Workspace(str(desk.project), now=desk.now)
    )
    assert plan.exists()


def test_an_iteration_of_which_nothing_can_be_told_does_not_count(
    stuck: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git the files that have gone are others than those that git knew."""
    stuck.begin()
    _fake_git(stuck, monkeypatch, "exit 3")

    assert _stops(stuck, 1) == [True]
    assert stuck.loop.breaker["no_progress"] == 0
    assert _stops(stuck, 2) == [True, False]


# --- git is asked only where it must be ----------------------------------------------------------


def _fake_git(desk: Desk, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Returns the file that holds an x for each time git was asked."""
    calls = desk.home / "calls"
    script = script or f'exec {shutil.which("git")} "$@"'
    note = f"echo x >> {shlex.quote(str(calls))}"
    program = put(desk.home / "bin/git", f"#!/bin/sh\n{note}\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return calls


UNASKED: list[object] = [
    pytest.param(lambda desk: desk.answer(PROMISE), id="the promise is kept"),
    pytest.param(lambda desk: desk.answer("x", background_tasks=[{"id": "b1"}]), id="it waits"),
    pytest.param(lambda desk: desk.answer("x", permission_mode="plan"), id="plan mode"),
    pytest.param(lambda desk: _edit(desk, desk.project / "a.txt").answer("x"),
                 id="an edit was seen"),
    pytest.param(lambda desk: (desk.pause(), desk.answer("x")), id="it is paused"),
    pytest.param(lambda desk: (desk.cancel(), desk.answer("x")), id="it was cancelled"),
]  # fmt: skip


@pytest.mark.parametrize("work", UNASKED)
def test_git_is_not_asked_without_need(
    stuck: Desk, monkeypatch: pytest.MonkeyPatch, work: Work
) -> None:
    stuck.begin()
    calls = _fake_git(stuck, monkeypatch, "")
    work(stuck)

    assert not calls.exists()


def test_nor_where_a_commit_is_seen(stuck: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck.begin()
    commit(stuck.project)
    calls = _fake_git(stuck, monkeypatch, "")

    assert _stops(stuck, 1) == [True]
    assert not calls.exists()


def test_it_is_asked_where_nothing_else_shows_progress(
    stuck: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck.begin()
    calls = _fake_git(stuck, monkeypatch, "")
    _stops(stuck, 1)

    assert calls.read_text() == "x\n"


# --- the same error -----------------------------------------------------------------------------


@pytest.fixture
def failing(stuck: Desk) -> Desk:
    """The same with a breaker that opens at the third occurrence of one error."""
    configure("ralph.no_progress", 0)
    configure("ralph.same_error", 3)
    return stuck


def _fails(desk: Desk, *errors: str, is_error: bool = True) -> list[bool]:
    """An iteration for each error, every one with an edit; which of them are blocked."""
    blocked = []
    for error in errors:
        _edit(desk, desk.project / "a.txt")
        desk.add(used("Bash", "toolu_5", command="make"))
        desk.add(result(error, "toolu_5", is_error=is_error))
        blocked.append(desk.answer("I try again.").reason is not None)
    return blocked


def test_the_same_error_pauses_the_loop_whatever_was_edited(failing: Desk) -> None:
    failing.begin()

    assert _fails(failing, *["boom at line 3 after 0.1s", "boom at line 4 after 0.2s"] * 2) == [
        True, True, False, False,
    ]  # fmt: skip
    assert failing.loop.paused_by == "breaker"
    assert failing.rows(failing.loop.loop_id)[2]["why"] == (
        "the circuit breaker opened: the same error 3 times: boom at line 3 after 0.1s"
    )


def test_five_times_by_default(failing: Desk) -> None:
    configure("ralph.same_error", None)
    failing.begin()

    assert _fails(failing, *["boom"] * 5) == [True] * 4 + [False]


def test_a_commit_ends_an_error(failing: Desk) -> None:
    failing.begin()
    assert _fails(failing, "boom", "boom") == [True, True]
    commit(failing.project)

    assert _fails(failing, "boom", "boom", "boom") == [True, True, False]


def test_another_error_in_between_starts_the_count_anew(failing: Desk) -> None:
    failing.begin()

    assert _fails(failing, "boom", "boom", "crash", "boom", "boom") == [True] * 5


def test_iterations_without_an_error_do_so_too(failing: Desk) -> None:
    failing.begin()
    _fails(failing, "boom", "boom")
    assert _stops(failing, 2) == [True] * 2

    assert _fails(failing, "boom", "boom") == [True] * 2


def test_what_succeeds_is_no_error_whatever_it_prints(failing: Desk) -> None:
    failing.begin()

    assert _fails(failing, *['"is_error": true, Error: boom'] * 4, is_error=False) == [True] * 4


def test_a_check_that_fails_the_same_way_is_the_same_error(failing: Desk) -> None:
    failing.begin("--verify 'echo 3 failed in 0.$$; exit 1'")
    blocked = []
    for _ in range(3):
        _edit(failing, failing.project / "a.txt")
        blocked.append(failing.answer(PROMISE).reason is not None)

    assert blocked == [True, True, False]
    assert "the same error 3 times: 3 failed in 0." in failing.loop.breaker["why"]


# --- another try --------------------------------------------------------------------------------


def _paused(desk: Desk) -> None:
    desk.begin()
    assert _stops(desk, 2) == [True, False]


def test_the_state_survives_in_the_file(stuck: Desk) -> None:
    stuck.begin()
    _stops(stuck, 1)
    text = ours(stuck.home, "ralph/loops/ralph-loop.s1.local.md").read_text()

    assert '"no_progress": 1' in text
    assert _stops(stuck, 1) == [False]
    assert stuck.loop.breaker["state"] == "open"


def test_a_prompt_within_half_an_hour_does_not_take_it_up(stuck: Desk) -> None:
    _paused(stuck)
    stuck.now += 29 * MINUTES
    stuck.prompt("and?")

    assert _stops(stuck, 1) == [False]
    assert stuck.loop.is_paused


def test_a_prompt_after_half_an_hour_gives_it_another_try(stuck: Desk) -> None:
    _paused(stuck)
    stuck.now += 30 * MINUTES
    stuck.prompt("go on")

    assert (stuck.loop.is_paused, stuck.loop.breaker["state"]) == (False, "half_open")
    outcome = stuck.answer("still thinking")

    assert outcome.reason is None
    assert "no progress after the pause either" in outcome.messages[0]


def test_another_try_that_gets_somewhere_closes_it(stuck: Desk) -> None:
    _paused(stuck)
    stuck.now += 30 * MINUTES
    stuck.prompt("go on")
    commit(stuck.project)

    assert _stops(stuck, 3) == [True, True, False]
    assert stuck.loop.breaker["no_progress"] == 2


def test_a_turn_that_nobody_typed_gives_it_another_try_as_well(stuck: Desk) -> None:
    _paused(stuck)
    stuck.now += 30 * MINUTES
    stuck.add(notified())
    commit(stuck.project)

    outcome = stuck.answer("the task has ended")

    assert outcome.reason is not None
    assert "the circuit breaker has cooled down: the loop has another try" in outcome.notes


def test_a_promise_in_that_turn_counts(stuck: Desk) -> None:
    _paused(stuck)
    stuck.now += 30 * MINUTES
    stuck.add(notified())

    assert "[RALPH LOOP COMPLETE]" in stuck.answer(PROMISE).messages[0]
    assert stuck.loops == []


def test_the_time_is_a_setting(stuck: Desk) -> None:
    configure("ralph.breaker_minutes", 5)
    _paused(stuck)
    stuck.now += 5 * MINUTES
    stuck.prompt("go on")

    assert not stuck.loop.is_paused


def test_a_resume_closes_it_at_once(stuck: Desk) -> None:
    _paused(stuck)
    stuck.resume()

    assert stuck.loop.breaker.get("no_progress", 0) == 0
    assert _stops(stuck, 2) == [True, False]
    assert stuck.loop.iteration == 3


def test_a_pause_by_the_user_does_not_cool_down(stuck: Desk) -> None:
    stuck.begin()
    stuck.pause()
    stuck.now += 300 * MINUTES
    stuck.prompt("something else")

    assert _stops(stuck, 1) == [False]
    assert stuck.loop.paused_by == "user"


def test_the_minutes_of_the_pause_do_not_count(stuck: Desk) -> None:
    stuck.begin("--max-minutes 40")
    assert _stops(stuck, 2) == [True, False]
    stuck.now += 60 * MINUTES
    stuck.prompt("go on")
    commit(stuck.project)

    assert _stops(stuck, 1) == [True]
    assert stuck.loop.minutes(stuck.now) < 1


def test_a_loop_that_nobody_saw_begin_has_a_breaker_too(stuck: Desk) -> None:
    stuck.add(prompt("x"), said("y"))
    stuck.add(typed(f"{ARGS} --max-minutes 0", timestamp=iso(stuck.now)))
    change(stuck.project / "a.txt", stuck.now)
    _settle(stuck)

    assert _stops(stuck, 3) == [True, True, False]
    assert stuck.loop.paused_by == "breaker"
