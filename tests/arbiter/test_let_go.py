from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import a_space, know_session, noted, ours, put

from arbiter.plans import Enforced
from sisyphus.arbiter import let_go
from sisyphus.boulder import actions
from sisyphus.ralph import notices, store

if TYPE_CHECKING:
    from arbiter.desk import Desk

WHO = [
    pytest.param("1", "a command in the client's shell", id="in the client's shell"),
    pytest.param("", "the user", id="in another terminal"),
]


def _is_seen(desk: Desk, session: str) -> None:
    know_session(desk.ours, session)


def _tell(desk: Desk, *sessions: str, what: str = let_go.SWITCHED_OFF) -> None:
    space = a_space(desk.project)
    let_go.tell(space, actions.status(space), sessions or ("s1",), what)


@pytest.mark.parametrize(("shell", "who"), WHO)
def test_the_session_tells_by_whom_it_was_let_go(
    desk: Desk, shell: str, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Enforced(desk)
    _is_seen(desk, "s1")
    monkeypatch.setenv("CLAUDECODE", shell)
    _tell(desk)

    text = f"The enforcement of Ship it (.claude/PLAN.md) was switched off by {who}."
    assert desk.answer("first").messages == [f"[BOULDER ENFORCEMENT OFF]\n\n{text}"]
    assert desk.stop("second").messages == []


def test_so_it_does_where_the_plan_went_with_it(desk: Desk) -> None:
    Enforced(desk)
    _is_seen(desk, "s1")
    _tell(desk, what=let_go.CLEARED)

    (message,) = desk.answer("first").messages
    assert message.endswith("was cleared with its plan by the user.")


def test_a_session_that_was_removed_does_not_come_back(desk: Desk) -> None:
    """Its project's book remembers it for longer than our own files do."""
    Enforced(desk).on(sessions=("s1", "gone"))
    _is_seen(desk, "s1")

    _tell(desk, "s1", "gone")

    assert sum("switched off" in note for note in noted(desk.ours)) == 1
    assert list(ours(desk.home, "").rglob("*gone*")) == []


def test_a_hold_that_rests_ends_at_once(desk: Desk) -> None:
    enforced = Enforced(desk)
    desk.answer("first")
    loop = desk.loop
    enforced.off()
    desk.pause()

    _tell(desk)

    assert desk.loops == []
    assert (desk.log[-1]["loop_id"], desk.log[-1]["outcome"]) == (loop.loop_id, "cancelled")


def test_a_loop_of_the_users_own_goes_on_without_the_hold_around_it(desk: Desk) -> None:
    Enforced(desk)
    desk.answer("first")
    desk.begin()

    _tell(desk)

    assert [loop.plan for loop in desk.loops] == [""]
    assert desk.answer("not yet").reason is not None


def test_a_session_that_is_over_tells_nothing_but_one_with_a_hold_does(desk: Desk) -> None:
    Enforced(desk).on(sessions=("s1", "s2"))
    desk.answer("first")
    for session in ("s1", "s2"):
        know_session(desk.ours, session, pid=7, process_started="long ago")

    _tell(desk, "s1", "s2")

    assert [len(store.glance(desk.ours, s).news) for s in ("s1", "s2")] == [1, 0]


def test_what_cannot_be_noted_is_told_all_the_same(desk: Desk) -> None:
    Enforced(desk)
    put(ours(desk.home, "journal"), "no folder")
    notices.tell(desk.ours, "s1", "HEAD", "text", desk.now)

    assert desk.answer("first").messages == ["[HEAD]\n\ntext"]
