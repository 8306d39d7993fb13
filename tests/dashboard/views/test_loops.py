from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import know_session
from ralph.past.log import AT, a_loop, lives, ran, starts

from sisyphus.dashboard.views import loops
from sisyphus.paths import our_home, project_id
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.ralph.past import history
from sisyphus.ralph.store import loop_path
from sisyphus.times import epoch

if TYPE_CHECKING:
    from sisyphus.dashboard.desk import Desk
    from sisyphus.dashboard.views.loops import Listing
    from sisyphus.ralph.loop import Loop


def _ids(found: Listing) -> list[str]:
    return [row["loop_id"] for row in found.rows]


def _named(loop: Loop, task: str, project: str = "/home/me/shop") -> Loop:
    loop.prompt, loop.project = task, project
    return loop


@pytest.fixture
def some() -> None:
    """Two that go on, one of them paused; three that are over."""
    lives(starts(a_loop("going", "s1", minute=5)))
    paused = a_loop("still", "s2", minute=4)
    paused.pause(lp.BY_BREAKER, epoch(AT))
    lives(starts(paused))
    short = _named(a_loop("short", "s3", minute=3), "Fix the cart", "/home/me/api")
    short.iteration = 9
    ran(short, after=60)
    ran(_named(a_loop("long1", "s4", minute=2), "Straße"), lp.STUCK, after=900, reason="no change")
    starts(_named(a_loop("lost1", "s5", minute=1), "Cart of the shop"))


@pytest.mark.usefixtures("some")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param({}, ["going", "still"], id="what has not ended, unless asked otherwise"),
        pytest.param({"state": "archived"}, ["short", "long1", "lost1"], id="ended and lost ones"),
        pytest.param(
            {"state": "all"}, ["going", "still", "short", "long1", "lost1"], id="the newest first"
        ),
        pytest.param({"state": "nonsense"}, ["going", "still"], id="an unknown state"),
        pytest.param({"state": "all", "q": "cart"}, ["short", "lost1"], id="a word of the task"),
        pytest.param({"state": "all", "q": "cart fix"}, ["short"], id="all words, in any order"),
        pytest.param({"state": "all", "q": "STRASSE"}, ["long1"], id="letters that fold"),
        pytest.param({"state": "all", "q": "no change"}, ["long1"], id="words of the reason"),
        pytest.param({"q": "still"}, ["still"], id="an id"),
        pytest.param({"state": "all", "q": "api"}, ["short"], id="a project's name"),
        pytest.param({"q": "done"}, ["going", "still"], id="a promise"),
        pytest.param({"q": "nowhere"}, [], id="no match"),
        pytest.param(
            {"state": "all", "project": project_id("/home/me/api")}, ["short"], id="a project"
        ),
        pytest.param({"state": "all", "project": "other"}, [], id="no such project"),
        pytest.param({"state": "all", "outcome": "stuck"}, ["long1"], id="an outcome"),
        pytest.param({"state": "all", "outcome": "lost"}, ["lost1"], id="lost"),
    ],
)
def test_loops_are_chosen(desk: Desk, asked: dict[str, str], found: list[str]) -> None:
    assert _ids(loops.chosen(desk, **asked)) == found  # type: ignore[arg-type]


@pytest.mark.usefixtures("some")
@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("newest", ["short", "long1", "lost1"]),
        ("oldest", ["lost1", "long1", "short"]),
        ("longest", ["long1", "short", "lost1"]),
        ("iterations", ["short", "long1", "lost1"]),
        ("project", ["short", "long1", "lost1"]),
        ("task; drop", ["short", "long1", "lost1"]),
    ],
)
def test_loops_are_sorted_by_what_is_known_of_orders(
    desk: Desk, sort: str, found: list[str]
) -> None:
    assert _ids(loops.chosen(desk, state="archived", sort=sort)) == found


@pytest.mark.usefixtures("some")
def test_what_ended_last_comes_first_and_what_has_not_ended_last(desk: Desk) -> None:
    with history.lock(our_home()):
        line = {"loop_id": "odd", "session_id": "s9", "status": "completed", "ended_at": "zzz"}
        history.append(our_home(), line)
    found = _ids(loops.chosen(desk, state="all", sort="ended"))
    assert found[:2] == ["long1", "short"]
    assert set(found[2:]) == {"going", "still", "lost1", "odd"}


@pytest.mark.usefixtures("some")
def test_counts_of_the_states_follow_the_search_and_not_the_outcome(desk: Desk) -> None:
    found = loops.chosen(desk, state="archived", q="cart", outcome="lost")
    assert found.counts == {"active": 0, "archived": 2, "all": 2}
    assert (found.total, found.outcomes) == (1, ["lost", "success"])


@pytest.mark.usefixtures("some")
def test_projects_are_told_by_name(desk: Desk) -> None:
    found = loops.chosen(desk).projects
    assert [(one.name, one.root) for one in found] == [
        ("api", "/home/me/api"),
        ("shop", "/home/me/shop"),
    ]


@pytest.mark.usefixtures("some")
@pytest.mark.parametrize(
    ("page", "count", "told"),
    [
        pytest.param(1, 2, (["short", "long1"], 1, 2), id="the first"),
        pytest.param(2, 2, (["lost1"], 2, 2), id="the last"),
        pytest.param(99, 2, (["lost1"], 2, 2), id="behind the last"),
        pytest.param(-3, 2, (["short", "long1"], 1, 2), id="before the first"),
        pytest.param(1, 0, (["short"], 1, 3), id="no rows"),
    ],
)
def test_a_page_is_one_that_is_there(
    desk: Desk, page: int, count: int, told: tuple[list[str], int, int]
) -> None:
    found = loops.chosen(desk, state="archived", page=page, count=count)
    assert (_ids(found), found.page, found.pages) == told


@pytest.mark.usefixtures("some")
def test_an_active_loop_says_what_holds_it_and_how_far_its_checklist_is(desk: Desk) -> None:
    head = {"loop_id": "still", "session_id": "s2", "project": "/home/me/shop"}
    checklist_store.update(
        our_home(),
        head,
        AT,
        lambda found: criteria.marked(
            criteria.added(found, ["tests", "docs"], AT), ["1"], criteria.COMPLETED, AT, 1
        ),
    )
    [going, still] = loops.chosen(desk).rows
    assert still["live"]["paused_by"] == "breaker"
    assert still["checklist"] == {"done": 1, "total": 2}
    assert (going["live"]["description"], going["checklist"]) == ("make the tests pass", None)
    assert not going["live"]["is_outer"]


@pytest.mark.usefixtures("some")
def test_a_loop_that_is_over_has_no_state_of_the_moment(desk: Desk) -> None:
    [row, *_] = loops.chosen(desk, state="archived").rows
    assert (row["live"], row["seconds"], row["result"]) == (None, 60, "success")


def test_loops_of_one_id_are_told_apart_by_their_sessions(desk: Desk) -> None:
    ran(a_loop("twice", "s1", minute=0))
    lives(starts(a_loop("twice", "s2", minute=9)))
    rows = loops.chosen(desk, state="all").rows
    assert [(row["session_id"], row["live"] is not None) for row in rows] == [
        ("s2", True),
        ("s1", False),
    ]


def test_nothing_is_known_at_first(desk: Desk) -> None:
    found = loops.chosen(desk, state="all")
    assert (found.rows, found.total, found.pages, found.projects) == ([], 0, 1, [])


def test_a_loop_that_goes_on_lasts_until_now_and_one_that_is_over_as_long_as_it_took(
    desk: Desk,
) -> None:
    lives(starts(a_loop("going", "s1")))
    ran(a_loop("ended", "s2"), after=75)
    ages = {one.loop_id: loops.seconds(one, None, epoch(AT) + 600) for one in desk.history()}
    assert ages == {"going": 600, "ended": 75}


def test_pauses_are_no_time_at_work(desk: Desk) -> None:
    desk.now = lambda: epoch(AT) + 600
    for loop_id, after in (("early", 1), ("later", 300)):
        loop = starts(a_loop(loop_id, f"s-{loop_id}"))
        loop.pause(lp.BY_BREAKER, epoch(AT) + after)
        lives(loop)
    ran(a_loop("ended", "s2"), after=200)
    found = loops.chosen(desk, state=loops.ALL, sort=loops.LONGEST).rows
    assert [(row["loop_id"], row["seconds"]) for row in found] == [
        ("later", 300), ("ended", 200), ("early", 1),
    ]  # fmt: skip
    assert found[0]["live"]["paused_since"] == "2026-11-20T15:05:00.000Z"


def _is_quiet(loop: Loop, after: int) -> None:
    """Its file was written last so many seconds after `AT`."""
    moment = epoch(AT) + after
    os.utime(loop_path(our_home(), loop.session_id), (moment, moment))


def test_time_without_a_client_and_waiting_for_the_limit_are_no_time_at_work(desk: Desk) -> None:
    desk.now = lambda: epoch(AT) + 600
    waits = starts(a_loop("waits", "s1"))
    waits.waiting = {"for": "usage limit", "since": int(epoch(AT)) + 90, "until": 0}
    left, works = starts(a_loop("left1", "s2")), starts(a_loop("works", "s3"))
    for loop in (waits, left, works):
        _is_quiet(lives(loop), 60)
    know_session(our_home(), "s2", pid=999_999_999, process_started="1")
    rows = loops.chosen(desk).rows
    assert {row["loop_id"]: row["seconds"] for row in rows} == {
        "waits": 90, "left1": 60, "works": 600,
    }  # fmt: skip


def test_of_a_loop_whose_end_nobody_saw_the_iterations_are_those_that_were_noted(
    desk: Desk,
) -> None:
    starts(a_loop("lost1"))
    for number in (1, 2):
        iterations.note(our_home(), "lost1", {"iteration": number, "tokens": 450}, "")
    starts(a_loop("lost2", "s2"))
    rows = {row["loop_id"]: row for row in loops.chosen(desk, state=loops.ARCHIVED).rows}
    assert [(rows[name]["iterations"], rows[name]["tokens"]) for name in ("lost1", "lost2")] == [
        (2, 900), (None, None),
    ]  # fmt: skip


def test_tokens_of_a_loop_that_goes_on_are_its_own_count(desk: Desk) -> None:
    loop = starts(a_loop())
    loop.tokens = 7_000
    lives(loop)
    [row] = loops.chosen(desk).rows
    assert row["tokens"] == 7_000


@pytest.mark.usefixtures("home")
def test_iterations_of_an_older_loop_of_the_same_id_are_not_counted(desk: Desk) -> None:
    for session, minute, tokens in (("s1", 0, 1_000), ("s2", 30, 7)):
        loop = a_loop("twice", session, minute=minute)
        row = {"iteration": 1, "ended_at": loop.started_at, "tokens": tokens}
        iterations.note(our_home(), "twice", row, "")
        ran(loop)

    found = loops.chosen(desk, state="all").rows

    assert [row["tokens"] for row in found] == [7, 1_000]
