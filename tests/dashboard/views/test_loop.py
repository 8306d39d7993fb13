from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import know_session, put
from ralph.past.log import AT, a_loop, ends, lives, ran, starts
from session.processes import sleeping

from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.views import loop as views
from sisyphus.paths import our_home
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.ralph.store import LoopStore
from sisyphus.session.process import identify
from sisyphus.state.files import ensure_folder, write_text
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.dashboard.desk import Desk


GONE = '{"process": {"pid": 999999999, "started": "1"}}'
"""Of a session: a process that nobody is any more."""


def _nested() -> None:
    outer, inner = starts(a_loop("outer")), starts(a_loop("inner", minute=1))
    with LoopStore(our_home(), "s1") as held:
        held.save([outer, inner])


def test_a_loop_that_goes_on_has_its_whole_prompt(desk: Desk) -> None:
    loop = a_loop()
    loop.prompt = "step " * 1_000
    lives(starts(loop))
    found = views.loop(desk, "aaaaa")
    assert (found["prompt"], found["is_cut"]) == (loop.prompt, False)
    assert len(found["task"]) == 2_000


def test_one_that_is_over_has_what_the_history_kept(desk: Desk) -> None:
    loop = a_loop()
    loop.prompt = "x" * 3_000
    ran(loop, lp.STUCK, reason="nothing moved")
    found = views.loop(desk, "aaaaa")
    assert (len(found["prompt"]), found["is_cut"]) == (2_000, True)
    assert found["state"].endswith("it made no progress any more (nothing moved).")
    assert (found["live"], found["limits"], found["seconds"]) == (
        None,
        ["at most 1,440 minutes"],
        60,
    )


def test_limits_and_breaker_are_told_in_words(desk: Desk) -> None:
    loop = a_loop()
    loop.options = {"max_minutes": 90, "verify": "make test", "resume_after_limit": True}
    loop.breaker = {"state": "closed", "no_progress": 2, "same_error": 1}
    loop.verified = {"exit_code": 2}
    lives(starts(loop))
    found = views.loop(desk, "aaaaa")
    assert found["limits"] == [
        "at most 90 minutes",
        "checked by `make test`",
        "it goes on when the account's limit resets",
    ]
    assert found["breaker"] == "closed, 2 iterations without progress, 1 iteration with one error"
    assert found["last_check"] == "last check: exit code 2"


def test_limits_and_checks_are_told_of_one_that_is_over_in_the_same_words(desk: Desk) -> None:
    loop = a_loop()
    loop.options = {"max_tokens": 9_000, "verify": "echo hello; sleep 1; false"}
    lives(starts(loop))
    checked = "checked by `echo hello; sleep 1; false`"
    going_on = views.loop(desk, "aaaaa")["limits"]
    assert going_on == ["0 of 9,000 tokens", "at most 1,440 minutes", checked]
    with LoopStore(our_home(), "s1") as held:
        held.save([])
    ends(loop)
    desk.forget()
    over = views.loop(desk, "aaaaa")["limits"]
    assert over == ["at most 9,000 tokens", "at most 1,440 minutes", checked]


def test_what_was_spent_is_no_limit(desk: Desk) -> None:
    loop = a_loop()
    loop.tokens = 562_608
    lives(starts(loop))
    found = views.loop(desk, "aaaaa")
    assert (found["limits"], found["tokens"]) == (["at most 1,440 minutes"], 562_608)


def test_a_loop_that_its_breaker_paused_says_why(desk: Desk) -> None:
    loop = a_loop()
    loop.pause(lp.BY_BREAKER, epoch(AT))
    loop.breaker = {"state": "open", "why": "the same error 5 times"}
    lives(starts(loop))
    found = views.loop(desk, "aaaaa")
    assert found["state"] == "Paused (breaker): the same error 5 times."
    assert found["actions"] == (views.RESUME, views.CANCEL)


def test_nested_loops_name_each_other(desk: Desk) -> None:
    _nested()
    inner, outer = views.loop(desk, "inner"), views.loop(desk, "outer")
    assert [one["loop_id"] for one in inner["outside"]] == ["outer"]
    assert [one["loop_id"] for one in outer["inside"]] == ["inner"]
    assert (inner["inside"], outer["outside"]) == ([], [])
    assert (inner["actions"], outer["actions"]) == ((views.PAUSE, views.CANCEL), (views.CANCEL,))


def test_what_may_be_done_follows_the_state(desk: Desk) -> None:
    starts(a_loop("lost1", "s1"))
    ran(a_loop("ended", "s2"))
    waiting = a_loop("waits", "s3")
    waiting.waiting = {"for": "limit", "since": 1}
    lives(starts(waiting))
    assert views.loop(desk, "lost1")["actions"] == (views.ARCHIVE, views.DELETE)
    assert views.loop(desk, "ended")["actions"] == (views.DELETE,)
    assert views.loop(desk, "waits")["actions"] == (views.RESUME, views.CANCEL)


def test_the_check_and_the_checklist_are_shown(desk: Desk) -> None:
    ran(a_loop())
    ours = our_home()
    head = {"loop_id": "aaaaa", "session_id": "s1", "project": "/home/me/shop"}
    checklist_store.update(ours, head, AT, lambda found: criteria.added(found, ["tests"], AT))
    ensure_folder(iterations.folder(ours))
    write_text(iterations.verify_path(ours, "aaaaa"), "old\n" * 9_000 + "\x1b[31m1 failed\x1b[0m\n")
    found = views.loop(desk, "aaaaa")
    assert found["criteria"] == [{"id": "1", "text": "tests", "status": "pending"}]
    assert found["verify"].endswith("old\n1 failed")
    assert len(found["verify"]) <= 20_000


def test_of_two_loops_of_one_id_the_newest_is_shown(desk: Desk) -> None:
    ran(a_loop("twice", "s1", minute=0))
    ran(a_loop("twice", "s2", minute=5))
    found = views.loop(desk, "twice")
    assert (found["session_id"], found["others"]) == ("s2", [AT])


def _stopped(minute: int, number: int) -> None:
    ended = iso(epoch(AT) + 60 * minute)
    row = {"iteration": number, "ended_at": ended, "decision": "blocked"}
    iterations.note(our_home(), "twice", row, "")


def test_the_stops_of_an_older_loop_of_its_id_are_not_its_own(desk: Desk) -> None:
    ran(a_loop("twice", "s1", minute=0))
    _stopped(1, 1)
    _stopped(2, 2)
    assert [stop["iteration"] for stop in views.loop(desk, "twice")["stops"]] == [1, 2]
    ran(a_loop("twice", "s2", minute=5))
    _stopped(6, 1)
    assert [stop["iteration"] for stop in views.loop(desk, "twice")["stops"]] == [1]


def test_a_session_that_the_client_still_has_can_be_resumed(desk: Desk, home: Path) -> None:
    loop = a_loop()
    loop.project = "/home/me/my shop"
    ran(loop)
    assert views.loop(desk, "aaaaa")["resume"] == ""
    folder = home / ".claude/projects/shop"
    os.makedirs(folder)
    (folder / "s1.jsonl").write_text("")
    assert views.loop(desk, "aaaaa")["resume"] == "cd '/home/me/my shop' && claude --resume s1"


def _is_in_a_client(session: str, pid: int) -> None:
    started = identify(pid).started
    know_session(our_home(), session, pid=pid, process_started=started, in_process=1)


def _has_transcript(home: Path) -> None:
    put(home / ".claude/projects/shop/s1.jsonl", "")


def test_nobody_is_told_to_take_up_a_session_that_somebody_is_at_work_in(
    desk: Desk, home: Path
) -> None:
    _has_transcript(home)
    loop = lives(starts(a_loop()))
    with sleeping() as process:
        _is_in_a_client("s1", process.pid)
        at_work = views.loop(desk, "aaaaa")["resume"]
        loop.pause(lp.BY_BREAKER, epoch(AT))
        lives(loop)
        desk.forget()
        paused = views.loop(desk, "aaaaa")["resume"]
        with LoopStore(our_home(), "s1") as held:
            held.save([])
        ends(loop)
        desk.forget()
        over = views.loop(desk, "aaaaa")["resume"]
    desk.forget()
    gone = views.loop(desk, "aaaaa")["resume"]
    command = "cd /home/me/shop && claude --resume s1"
    assert (at_work, paused, over, gone) == ("", "", "", command)


@pytest.mark.parametrize(
    "is_paused", [pytest.param(True, id="paused"), pytest.param(False, id="left")]
)
def test_a_loop_whose_client_has_gone_is_told_all_that_moves_it(
    desk: Desk, home: Path, is_paused: bool
) -> None:
    _has_transcript(home)
    loop = a_loop()
    if is_paused:
        loop.pause(lp.BY_USER, epoch(AT))
    lives(starts(loop))
    know_session(our_home(), "s1", pid=999_999_999, process_started="1")
    again = "cd /home/me/shop && claude --resume s1"
    first = "sisyphus ralph resume aaaaa\n" if is_paused else ""
    assert views.loop(desk, "aaaaa")["resume"] == first + again


@pytest.mark.parametrize(
    ("loop_id", "status", "code"),
    [
        pytest.param("zzzzz", 404, "NOT_FOUND", id="unknown"),
        pytest.param("aa", 404, "NOT_FOUND", id="the start of an id"),
        pytest.param("../x", 400, "INVALID_LOOP_ID", id="a way out"),
        pytest.param("a b", 400, "INVALID_LOOP_ID", id="no id"),
        pytest.param("", 400, "INVALID_LOOP_ID", id="nothing"),
    ],
)
def test_other_ids_are_refused(desk: Desk, loop_id: str, status: int, code: str) -> None:
    ran(a_loop())
    with pytest.raises(FailedError) as raised:
        views.loop(desk, loop_id)
    assert (raised.value.status, raised.value.code) == (status, code)
