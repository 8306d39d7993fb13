from __future__ import annotations

import html
import os
import re
from typing import TYPE_CHECKING

import pytest
from making import journal, know_session, noted
from ralph.past.log import AT, a_loop, ends, known, lives, ran, starts

from sisyphus.paths import our_home
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import history, records, removal
from sisyphus.ralph.store import LoopStore, loop_path
from sisyphus.times import epoch

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.testclient import TestClient

ACTIONS = ("cancel", "pause", "resume", "archive", "delete")


def _paused() -> lp.Loop:
    loop = a_loop()
    loop.pause(lp.BY_USER, epoch(AT))
    return lives(starts(loop))


def _left() -> lp.Loop:
    loop = _paused()
    know_session(our_home(), "s1", pid=999_999_999, process_started="1")
    return loop


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(_paused, "give it a prompt there", id="a client is there"),
        pytest.param(_left, "the command that takes up its session", id="none is"),
    ],
)
def test_a_resume_says_what_else_it_takes(
    browser: TestClient, make: Callable[[], lp.Loop], says: str
) -> None:
    make()
    assert says in browser.get("/loops/aaaaa/resume").text


def _nested() -> None:
    outer, inner = starts(a_loop("outer")), starts(a_loop("inner", minute=1))
    with LoopStore(our_home(), "s1") as held:
        held.save([outer, inner])


def _active() -> lp.Loop:
    return lives(starts(a_loop()))


def _lost() -> lp.Loop:
    return starts(a_loop())


def _over() -> lp.Loop:
    return ran(a_loop())


def _results() -> dict[str, str]:
    return {record.loop_id: record.result for record in known()}


@pytest.mark.parametrize(
    ("make", "action", "result"),
    [
        (_active, "cancel", lp.CANCELLED),
        (_active, "pause", records.PAUSED),
        (_paused, "resume", records.ACTIVE),
        (_paused, "cancel", lp.CANCELLED),
        (_lost, "archive", lp.ARCHIVED),
    ],
)
def test_what_is_done_is_done_on_disk(
    browser: TestClient, make: type, action: str, result: str
) -> None:
    make()
    reply = browser.post(f"/loops/aaaaa/{action}")
    assert (reply.status_code, reply.headers["location"]) == (303, f"/loops/aaaaa?done={action}")
    assert _results() == {"aaaaa": result}
    has_file = os.path.exists(loop_path(our_home(), "s1"))
    assert has_file is (result in (records.ACTIVE, records.PAUSED))


def test_the_end_says_that_the_user_wanted_it_there(browser: TestClient) -> None:
    _active()
    browser.post("/loops/aaaaa/cancel")
    assert [record.error_reason for record in known()] == ["by the user on the dashboard"]


TOLD = '<p class="told" role="status" tabindex="-1">'


@pytest.mark.parametrize(
    ("make", "action", "said"),
    [
        (_active, "cancel", "Loop aaaaa cancelled: make the tests pass"),
        (_active, "pause", "Loop aaaaa paused: make the tests pass"),
        (
            _paused,
            "resume",
            "Loop aaaaa resumed: make the tests pass\nAn idle session needs a prompt",
        ),
        (_lost, "archive", "Loop aaaaa archived: make the tests pass"),
        (_over, "delete", "Loop deleted."),
    ],
)
def test_what_was_done_is_told(browser: TestClient, make: type, action: str, said: str) -> None:
    make()
    place = browser.post(f"/loops/aaaaa/{action}").headers["location"]
    assert f"{TOLD}{said}" in browser.get(place).text


def test_that_all_were_deleted_is_told(browser: TestClient) -> None:
    _over()
    place = browser.post(_agreed(browser)).headers["location"]
    assert f"{TOLD}Archived loops deleted." in browser.get(place).text


@pytest.mark.parametrize("word", ["", "cancel", "delete", "explode", "<b>"])
@pytest.mark.parametrize("place", ["/loops/aaaaa?", "/loops?state=archived&"])
def test_what_was_not_done_is_not_told(browser: TestClient, place: str, word: str) -> None:
    _active()
    is_told = TOLD in browser.get(f"{place}done={word}").text
    assert is_told is (word == "delete" and place.startswith("/loops?"))


@pytest.mark.parametrize("make", [_over, _lost])
def test_a_deleted_loop_is_gone_with_what_it_left(browser: TestClient, make: type) -> None:
    make()
    iterations.note(our_home(), "aaaaa", {"iteration": 1}, "I looked.")
    reply = browser.post("/loops/aaaaa/delete")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/loops?state=archived&done=delete"
    assert known() == []
    assert os.listdir(iterations.folder(our_home())) == []
    assert browser.get("/loops/aaaaa").status_code == 404


def test_of_two_loops_of_one_id_the_newest_is_deleted(browser: TestClient) -> None:
    ran(a_loop("twice", "s1", minute=0))
    ran(a_loop("twice", "s2", minute=5))
    browser.post("/loops/twice/delete")
    assert [record.session_id for record in known()] == ["s1"]


def _agreed(browser: TestClient) -> str:
    """Where the form leads that asks whether all archived loops are to be deleted."""
    found = re.search(r'action="(/archived-loops/delete[^"]*)"', _asked(browser))
    assert found
    return html.unescape(found[1])


def _asked(browser: TestClient) -> str:
    return browser.get("/archived-loops/delete").text


def test_all_that_are_over_are_deleted_at_once(browser: TestClient) -> None:
    _active()
    ran(a_loop("ended", "s2"))
    starts(a_loop("lost1", "s3"))
    assert "Delete 2 loops" in _asked(browser)
    assert browser.post(_agreed(browser)).status_code == 303
    assert _results() == {"aaaaa": "active"}


def test_a_loop_may_be_called_as_all_of_them_are(browser: TestClient) -> None:
    ran(a_loop("archived", "s1"))
    ran(a_loop("other", "s2"))
    assert "Delete the loop archived?" in browser.get("/loops/archived/delete").text
    assert browser.post("/loops/archived/delete").status_code == 303
    assert _results() == {"other": "success"}


@pytest.mark.parametrize("of_all", [True, False])
def test_what_fails_is_no_matter_of_the_state(browser: TestClient, of_all: bool) -> None:
    _over()
    here = _agreed(browser) if of_all else "/loops/aaaaa/delete"
    os.makedirs(iterations.full_path(our_home(), "aaaaa"))
    reply = browser.post(here)
    assert (reply.status_code, "aaaaa_full.txt" in reply.text) == (500, True)


def test_what_ends_after_the_question_stays(browser: TestClient) -> None:
    alive = _active()
    ran(a_loop("ended", "s2"))
    starts(a_loop("lost1", "s3"))
    here = _agreed(browser)
    ends(alive, after=61)
    os.unlink(loop_path(our_home(), "s1"))
    assert browser.post(here).status_code == 303
    assert _results() == {"aaaaa": "success"}


@pytest.mark.parametrize(
    "play",
    [
        pytest.param(lambda: os.unlink(loop_path(our_home(), "s1")), id="another one is lost"),
        pytest.param(lambda: ran(a_loop("older", "s4", minute=-9)), id="one ended before"),
        pytest.param(lambda: removal.delete(our_home(), "ended"), id="one is gone"),
    ],
)
def test_where_they_are_not_those_that_were_shown_nothing_is_deleted(
    browser: TestClient, play: Callable[[], object]
) -> None:
    _active()
    ran(a_loop("ended", "s2"))
    here = _agreed(browser)
    play()
    before = _results()
    reply = browser.post(here)
    assert (reply.status_code, "Look at the archived ones again" in reply.text) == (409, True)
    assert _results() == before


@pytest.mark.parametrize("words", ["", "?before=x", "?loops=1", "?before=&loops=x"])
def test_nothing_is_deleted_that_nobody_was_asked_about(browser: TestClient, words: str) -> None:
    ran(a_loop("ended", "s2"))
    assert browser.post(f"/archived-loops/delete{words}").status_code == 400
    assert _results() == {"ended": "success"}


@pytest.mark.parametrize("end", ["", "zzz", '"><b>', "2026"])
def test_an_end_that_is_no_time_keeps_no_loop_from_going_and_lets_no_other_go(
    browser: TestClient, end: str
) -> None:
    ran(a_loop("ended", "s2"))
    line = {"loop_id": "odd", "session_id": "s3", "status": "completed", "ended_at": end}
    with history.lock(our_home()):
        history.append(our_home(), line)
    here = _agreed(browser)
    ran(a_loop("newer", "s4", minute=9))
    assert browser.post(here).status_code == 303
    assert _results() == {"newer": "success"}


def test_the_journal_says_where_it_was_archived(browser: TestClient) -> None:
    _lost()
    journal("s1", {"at": 1.0, "event": "stop", "notes": []})
    browser.post("/loops/aaaaa/archive")
    assert "loop aaaaa was archived by the user on the dashboard" in noted(our_home())


def test_a_nested_loop_says_what_ends_with_it(browser: TestClient) -> None:
    _nested()
    for one, other in (("inner", "outer"), ("outer", "inner")):
        text = browser.get(f"/loops/{one}/cancel").text
        assert f"end with it: {other} (make the tests pass)" in text
    browser.post("/loops/outer/cancel")
    assert set(_results().values()) == {lp.CANCELLED}


@pytest.mark.parametrize("action", ["pause", "resume"])
def test_a_loop_that_waits_for_another_leads_to_that_one(browser: TestClient, action: str) -> None:
    _nested()
    reply = browser.post(f"/loops/outer/{action}")
    assert (reply.status_code, f"loop inner in it: {action} that one" in reply.text) == (409, True)
    assert set(_results().values()) == {"active"}


@pytest.mark.parametrize(
    ("make", "actions"),
    [
        (_active, {"cancel", "pause"}),
        (_paused, {"cancel", "resume"}),
        (_lost, {"archive", "delete"}),
        (_over, {"delete"}),
    ],
)
def test_what_a_state_does_not_allow_is_refused_and_changes_nothing(
    browser: TestClient, make: type, actions: set[str]
) -> None:
    make()
    before = _results()
    for action in ACTIONS:
        asked = browser.get(f"/loops/aaaaa/{action}")
        assert asked.status_code == (200 if action in actions else 409)
        if action not in actions:
            assert browser.post(f"/loops/aaaaa/{action}").status_code == 409
    assert _results() == before


def test_what_came_too_late_leads_back(browser: TestClient) -> None:
    _over()
    text = browser.post("/loops/aaaaa/pause").text
    assert 'href="/loops/aaaaa">Loop aaaaa</a>' in text
    text = browser.post("/archived-loops/delete?before=&loops=7").text
    assert 'href="/loops?state=archived">Archived loops</a>' in text
    assert ">Loop zzzzz<" not in browser.post("/loops/zzzzz/pause").text


@pytest.mark.parametrize("action", ["cancel", "pause", "delete"])
@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://127.0.0.1:9"])
def test_without_our_own_origin_nothing_is_done(
    browser: TestClient, action: str, origin: str
) -> None:
    _active()
    ran(a_loop("ended", "s2"))
    del browser.headers["origin"]
    named = {"origin": origin} if origin else {}
    for loop_id in ("aaaaa", "ended", "archived"):
        assert browser.post(f"/loops/{loop_id}/{action}", headers=named).status_code == 403
    assert _results() == {"aaaaa": "active", "ended": "success"}


@pytest.mark.parametrize("action", ACTIONS)
def test_a_look_at_the_question_changes_nothing(browser: TestClient, action: str) -> None:
    _active()
    browser.get(f"/loops/aaaaa/{action}")
    assert _results() == {"aaaaa": "active"}


@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("/loops/zzzzz/cancel", 404),
        ("/loops/a%20b/cancel", 400),
        ("/loops/aaaaa/explode", 404),
        ("/loops/aaaaa/transcript", 404),
    ],
)
def test_what_is_not_there_is_not_done(browser: TestClient, place: str, status: int) -> None:
    _active()
    assert browser.post(place).status_code == status
    assert _results() == {"aaaaa": "active"}
