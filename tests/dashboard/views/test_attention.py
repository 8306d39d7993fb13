from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from boulder.scene import PLAN, Scene
from enforce.desk import Desk as Enforced
from making import know_session, put
from ralph.past.log import a_loop, lives, starts

from dashboard.contexts import NOW, Sessions
from sisyphus.dashboard.desk import Desk
from sisyphus.dashboard.views import attention as view
from sisyphus.enforce import marks
from sisyphus.paths import our_home, project_id
from sisyphus.ralph import loop as lp
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json

DAY = 86_400
THEN = "; once it is resumed, it needs a prompt in its session"
BREAKER = {"state": "open", "why": "5 stops in a row without progress"}
ROW: Json = {
    "loop_id": "aaaaa",
    "session_id": "s1",
    "status": "active",
    "paused_by": "",
    "health": "alive",
    "waiting": {},
    "breaker": {},
    "options": {},
    "is_outer": False,
}
LIMIT = {"for": "5-hour limit", "since": int(NOW), "until": int(NOW) + 7_200}


def _row(**fields: object) -> Json:
    return {**ROW, **fields}


BROKEN = {"status": "paused", "paused_by": lp.BY_BREAKER, "breaker": BREAKER}


@pytest.mark.parametrize(
    ("fields", "kind", "why"),
    [
        pytest.param(
            BROKEN,
            "paused",
            f"paused (breaker): 5 stops in a row without progress{THEN}",
            id="paused by its breaker",
        ),
        pytest.param(
            {"status": "paused", "paused_by": lp.BY_BREAKER},
            "paused",
            f"paused (breaker){THEN}",
            id="by a breaker that gave no reason",
        ),
        pytest.param(
            {"status": "paused", "paused_by": lp.BY_HOST_CAP, "breaker": BREAKER},
            "paused",
            f"paused (before the client's cap of blocks){THEN}",
            id="paused before the cap",
        ),
        pytest.param(
            {"status": "paused", "paused_by": lp.BY_STALENESS},
            "paused",
            f"paused (its client had gone for hours){THEN}",
            id="paused as it was stale",
        ),
        pytest.param(
            {**BROKEN, "health": "gone"},
            "paused",
            "paused (breaker): 5 stops in a row without progress, and its client has gone",
            id="paused, and its client has gone",
        ),
        pytest.param(
            {"health": "gone"}, "left", "left behind: its client has gone", id="left behind"
        ),
        pytest.param({"health": "stale"}, "left", "stale: its client has gone", id="stale"),
        pytest.param(
            {"waiting": LIMIT},
            "limit",
            "waiting for the 5-hour limit to end, in 2 h; then it needs a prompt",
            id="at the account's limit",
        ),
        pytest.param(
            {"waiting": LIMIT, "options": {lp.WAKES: True}},
            "limit",
            "waiting for the 5-hour limit to end, in 2 h; it goes on by itself",
            id="and goes on by itself",
        ),
        pytest.param(
            {"waiting": LIMIT, "health": "gone", "options": {lp.WAKES: True}},
            "left",
            "waiting for the 5-hour limit to end, in 2 h; its client has gone",
            id="and its client has gone",
        ),
    ],
)
def test_a_loop_that_waits_says_why(fields: dict[str, Any], kind: str, why: str) -> None:
    row = _row(**fields)
    assert (view.kind_of(row), view.why_of(row, NOW)) == (kind, why)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="at work"),
        pytest.param({"status": "paused", "paused_by": "user"}, id="paused by its user"),
        pytest.param({"status": "paused", "paused_by": ""}, id="paused by nobody who is known"),
        pytest.param({"status": "paused", "paused_by": "user", "health": "gone"}, id="and left"),
        pytest.param({"is_outer": True, "health": "gone"}, id="around another one"),
    ],
)
def test_other_loops_wait_for_nobody(fields: dict[str, Any]) -> None:
    assert view.kind_of(_row(**fields)) == ""


def _item(kind: str = "lost", since: object = None, *texts: str) -> view.Item:
    what, why, command = texts or ("it", "it waits", "")
    return view.Item(kind, what, why, since, "/", lambda: command)


def test_the_most_urgent_comes_first_and_of_a_kind_the_newest() -> None:
    given = [("lost", 3), ("paused", 1), ("limit", 9), ("lost", None), ("paused", 2)]
    found = view.by_urgency(_item(kind, since) for kind, since in given)
    assert [(item.kind, item.at) for item in found] == [
        ("paused", 2), ("paused", 1), ("limit", 9), ("lost", 3), ("lost", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("since", "told"),
    [
        pytest.param(NOW, iso(NOW), id="seconds"),
        pytest.param(iso(NOW), iso(NOW), id="a time"),
        pytest.param("2026-11-20T16:00:00+01:00", "2026-11-20T15:00:00.000Z", id="elsewhere"),
        pytest.param(None, None, id="none"),
        pytest.param("noon", None, id="a word"),
        pytest.param(1e300, None, id="a time that no calendar has"),
        pytest.param(float("nan"), None, id="no number"),
    ],
)
def test_a_moment_is_told_as_times_are(since: object, told: str | None) -> None:
    assert _item("lost", since).as_json()["since"] == told


def test_texts_of_strangers_take_one_line() -> None:
    found = _item("lost", 0, "a\nb\ud800" * 500, "it\x1b[1m", "x\ud800").as_json()
    assert found["what"].startswith("a b?")
    assert (len(found["what"]), found["why"], found["command"]) == (300, "It [1m", "x?")


# --- from files ---------------------------------------------------------------------------------


def _items(desk: Desk) -> list[Json]:
    found: list[Json] = view.attention(desk)["items"]
    return found


def _one(desk: Desk) -> Json:
    (found,) = _items(desk)
    return found


def _loop(**fields: object) -> lp.Loop:
    loop = a_loop()
    loop.started_at, loop.turned_at = iso(time.time() - 7_200), iso(time.time() - 3_600)
    for name, value in fields.items():
        setattr(loop, name, value)
    return lives(starts(loop))


def _leave(session: str = "s1") -> None:
    """Its client's process is one that nobody is any more."""
    know_session(our_home(), session, pid=999_999_999, process_started="1")


def _with_transcript(home: Path, session: str = "s1") -> None:
    put(home / ".claude/projects/p" / f"{session}.jsonl", "{}\n")


AGAIN = "cd /home/me/shop && claude --resume s1"


def test_where_all_is_well_nothing_waits(desk: Desk) -> None:
    _loop()
    assert view.attention(desk) == {"items": [], "total": 0}


def test_a_paused_loop_is_told_with_what_resumes_it(desk: Desk, home: Path) -> None:
    loop = _loop(status="paused", paused_by=lp.BY_BREAKER, breaker=BREAKER)
    assert _one(desk) == {
        "kind": "paused",
        "what": "make the tests pass",
        "why": f"Paused (breaker): 5 stops in a row without progress{THEN}",
        "since": loop.turned_at,
        "href": "/loops/aaaaa",
        "command": "sisyphus ralph resume aaaaa",
    }
    _leave()
    _with_transcript(home)
    desk.forget()
    assert _one(desk)["command"] == f"sisyphus ralph resume aaaaa\n{AGAIN}"


def test_a_paused_loop_whose_session_cannot_be_taken_up_can_be_ended(desk: Desk) -> None:
    _loop(status="paused", paused_by=lp.BY_BREAKER, breaker=BREAKER)
    _leave()
    assert _one(desk)["command"] == "sisyphus ralph cancel aaaaa"


def test_a_loop_that_was_left_is_gone_on_with_in_its_session(desk: Desk, home: Path) -> None:
    _loop()
    _leave()
    assert (_one(desk)["kind"], _one(desk)["command"]) == ("left", "sisyphus ralph cancel aaaaa")
    _with_transcript(home)
    assert _one(desk)["command"] == AGAIN


def test_a_loop_that_no_stop_was_seen_of_waits_since_it_began(desk: Desk) -> None:
    loop = _loop(turned_at="")
    _leave()
    assert _one(desk)["since"] == loop.started_at


def test_a_loop_at_the_accounts_limit_needs_nothing_typed(desk: Desk) -> None:
    since = int(time.time()) - 60
    _loop(waiting={"for": "5-hour limit", "since": since, "until": since + 7_290})
    found = _one(desk)
    assert (found["kind"], found["since"], found["command"]) == ("limit", iso(since), "")
    assert "in 2 h" in found["why"]


@pytest.mark.parametrize(
    ("days", "told"), [pytest.param(6, 1, id="of this week"), pytest.param(8, 0, id="older")]
)
def test_a_lost_loop_is_told_for_a_week(desk: Desk, days: int, told: int) -> None:
    loop = a_loop()
    loop.started_at = iso(time.time() - days * DAY)
    starts(loop)
    found = _items(desk)
    assert len(found) == told
    assert [one["command"] for one in found] == ["sisyphus ralph archive aaaaa"] * told


def test_few_are_listed_and_all_are_counted(desk: Desk) -> None:
    for number in range(view.MOST + 3):
        loop = a_loop(f"l{number}", f"s{number}")
        loop.started_at = iso(time.time() - number)
        starts(loop)
    found = view.attention(desk)
    assert (len(found["items"]), found["total"]) == (view.MOST, view.MOST + 3)


def _is_gone(plan: Path) -> None:
    plan.unlink()


def _is_no_text(plan: Path) -> None:
    plan.write_bytes(b"\xff\xfe\x00" * 10)


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        pytest.param(_is_gone, "Its file is gone: restore it, or forget the plan", id="gone"),
        pytest.param(
            _is_no_text,
            "Its file cannot be read as a plan: mend it, or forget the plan",
            id="no text",
        ),
    ],
)
def test_a_plan_whose_file_does_not_serve_is_told(
    home: Path, project: Path, happens: Callable[[Path], None], why: str
) -> None:
    scene = Scene(home, project)
    plan = scene.write(PLAN)
    scene.start()
    desk = Desk(str(home / ".claude"), lambda: scene.now)
    assert _items(desk) == []
    happens(plan)
    found = _one(desk)
    assert (found["kind"], found["what"], found["why"]) == ("plan", "Ship it", why)
    assert found["command"] == f"cd {project} && sisyphus boulder clear .claude/PLAN.md"


# --- handoffs -----------------------------------------------------------------------------------


@pytest.fixture
def world(home: Path, project: Path, desk: Desk) -> Sessions:
    desk.now = lambda: NOW
    made = Sessions(home, project)
    made.seen()
    return made


def test_a_handoff_waits_for_a_new_session(world: Sessions, desk: Desk) -> None:
    world.hand_over()
    found = _one(desk)
    assert (found["kind"], found["what"], found["since"]) == (
        "handoff", "Write the tests", iso(NOW),
    )  # fmt: skip
    assert found["href"].startswith(f"/handoffs/{project_id(str(world.project))}/")
    assert found["command"] == f"cd {world.project} && claude"


def test_of_a_project_the_latest_one_waits(world: Sessions, desk: Desk) -> None:
    world.hand_over("s1", next_step="old", timestamp=iso(NOW - 60))
    world.hand_over("s2", next_step="new")
    assert _one(desk)["what"] == "new"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"active": False, "closed": "delivered"}, id="somebody was given it"),
        pytest.param({"in_run": True}, id="a run goes on from it"),
        pytest.param({"timestamp": iso(NOW - 15 * DAY)}, id="it is too old for a new session"),
        pytest.param({"timestamp": "noon"}, id="nobody knows how old it is"),
    ],
)
def test_other_handoffs_wait_for_nobody(
    world: Sessions, desk: Desk, fields: dict[str, Any]
) -> None:
    world.hand_over(**fields)
    assert _items(desk) == []


def test_a_session_that_has_a_loop_goes_on_with_its_own(world: Sessions, desk: Desk) -> None:
    world.hand_over()
    _loop()
    desk.now = time.time
    assert [item["kind"] for item in _items(desk)] == []


# --- enforcement --------------------------------------------------------------------------------


def test_enforcement_at_its_limit_is_told_until_its_session_ends(home: Path, project: Path) -> None:
    enforced = Enforced(home, project)
    desk = Desk(str(home / ".claude"), lambda: enforced.now)
    enforced.set(max_iterations=1)
    scene = Scene(home, project)
    scene.now = enforced.now
    scene.write(PLAN)
    scene.start()
    enforced.on()
    enforced.says()
    assert _items(desk) == []
    enforced.stop()
    enforced.now += 60
    found = _one(desk)
    assert (found["kind"], found["what"]) == ("enforcement", f"Enforcement of {project.name}")
    assert found["command"] == f"cd {project} && sisyphus enforce on"
    enforced.ends()
    assert _items(desk) == []


def test_a_state_of_enforcement_that_cannot_be_read_is_not_waited_for(
    world: Sessions, desk: Desk
) -> None:
    root = str(world.project)
    assert root in desk.projects().values()
    put(Path(marks.state_path(desk.space(root))), "[")
    assert _items(desk) == []
