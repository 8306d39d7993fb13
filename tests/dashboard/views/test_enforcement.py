from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from boulder.scene import PLAN, Scene
from enforce.desk import Desk as Enforced
from making import put

from sisyphus.boulder import actions as plans
from sisyphus.dashboard.desk import Desk
from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.views.enforcement import MOST_SESSIONS, STEPS, backoff, enforcement
from sisyphus.enforce import actions, log
from sisyphus.enforce.limits import Limits
from sisyphus.paths import project_id
from sisyphus.ralph import loop as lp
from sisyphus.ralph import statefile, store
from sisyphus.ralph.loop import Loop
from sisyphus.settings import SETTINGS
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json


@pytest.fixture
def world(home: Path, project: Path) -> Enforced:
    """A session "s1" at work in an enforced project, whose plan makes it known."""
    scene = Scene(home, project)
    found = Enforced(home, project)
    scene.now = found.now
    scene.write(PLAN)
    scene.start()
    found.on()
    found.says()
    return found


@pytest.fixture
def desk(world: Enforced) -> Desk:
    return Desk(str(world.home / ".claude"), lambda: world.now)


def _works(world: Enforced) -> None:
    world.now += 1


def _rests(world: Enforced) -> None:
    world.stop("Let me look at the parser next.")
    world.now += 3_600


def _is_told_to_go_on(world: Enforced) -> None:
    world.stop()


def _is_stopped(world: Enforced) -> None:
    world.stops_it()


def _fails_too_often(world: Enforced) -> None:
    for _ in range(5):
        world.stop()
        world.now += 500
    world.now -= 400
    world.stop()


@pytest.mark.parametrize(
    ("happens", "status", "shut"),
    [
        pytest.param(_works, "CONTINUOUS", ["idle"], id="at work"),
        pytest.param(_rests, "CONTINUOUS", [], id="it rests"),
        pytest.param(_is_told_to_go_on, "CONTINUOUS", ["idle", "cooldown"], id="told to go on"),
        pytest.param(_is_stopped, "STOPPED", ["idle", "user"], id="stopped by the user"),
        pytest.param(
            _fails_too_often, "RECOVERING", ["idle", "cooldown", "failures"], id="after failures"
        ),
    ],
)
def test_a_project_tells_how_it_stands(
    happens: Callable[[Enforced], None],
    status: str,
    shut: list[str],
    world: Enforced,
    desk: Desk,
) -> None:
    happens(world)
    [one] = enforcement(desk)["projects"]
    assert (one["on"], one["status"], one["problem"]) == (True, status, "")
    [session] = one["alive"]
    assert [gate["gate"] for gate in session["gates"] if not gate["passed"]] == shut
    told = actions.status(world.space())
    assert {name: one[name] for name in told if name != "sessions"} == {
        name: value for name, value in told.items() if name != "sessions"
    }


def test_where_it_is_off_its_log_stays(world: Enforced, desk: Desk) -> None:
    world.stop()
    world.off()
    found = enforcement(desk)
    assert [one["on"] for one in found["projects"]] == [False]
    assert found["counts"]["enforced"] == 1
    assert [row["what"] for row in found["latest"]] == ["off", "enforced", "on"]


def test_sessions_that_ended_are_counted_alone(world: Enforced, desk: Desk) -> None:
    world.says(session="s2")
    world.ends("s1")
    [one] = enforcement(desk)["projects"]
    assert [session["session_id"] for session in one["alive"]] == ["s2"]
    assert (one["open"], one["ended"]) == (1, 1)


def test_every_session_is_counted_of_many_that_wait(world: Enforced, desk: Desk) -> None:
    for number in range(2, 13):
        world.says(session=f"s{number}")
    found = enforcement(desk)
    [one] = found["projects"]
    assert (one["open"], len(one["alive"])) == (12, MOST_SESSIONS)
    assert found["backoff"][0]["sessions"] == 12


def _a_second(world: Enforced) -> str:
    """Another enforced project; its id."""
    other = world.project.parent / "other"
    (other / ".git").mkdir(parents=True)
    scene = Scene(world.home, other)
    scene.now = world.now
    scene.write("# Other\n- [ ] a\n")
    scene.start("s9")
    second = Enforced(world.home, other)
    second.on()
    second.says(session="s9")
    second.stop(session="s9")
    return project_id(str(other))


def test_one_project_can_be_asked_for(world: Enforced, desk: Desk) -> None:
    world.stop()
    named = _a_second(world)
    every, one = enforcement(desk), enforcement(desk, named)
    assert (every["counts"]["enforced"], one["counts"]["enforced"]) == (2, 1)
    assert len(every["projects"]) == 2
    assert [found["project_id"] for found in one["projects"]] == [named]
    assert every["names"] == one["names"]
    assert {row["project_id"] for row in one["latest"]} == {named}


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("nowhere-00000000", id="no such project"),
        pytest.param("../..", id="a path"),
        pytest.param("a\0b", id="no name of a file"),
    ],
)
def test_an_id_of_no_such_project_is_not_found(named: str, desk: Desk) -> None:
    with pytest.raises(FailedError, match="nothing was enforced") as raised:
        enforcement(desk, named)
    assert raised.value.status == 404


def test_a_project_that_was_never_enforced_is_none(home: Path, project: Path) -> None:
    scene = Scene(home, project)
    scene.write(PLAN)
    scene.start()
    found = enforcement(Desk(str(scene.home), lambda: scene.now))
    assert (found["projects"], found["names"], found["latest"]) == ([], {}, [])


def test_a_folder_that_is_gone_leaves_what_was_known(world: Enforced, desk: Desk) -> None:
    world.stop()
    shutil.rmtree(world.project)
    (world.project.parent / ".git").mkdir()
    found = enforcement(desk)
    [one] = found["projects"]
    assert (one["is_there"], one["project_root"]) == (False, str(world.project))
    assert found["counts"]["enforced"] == 1


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b""])
def test_a_state_that_cannot_be_read_is_left_as_it_is(
    content: bytes, world: Enforced, desk: Desk
) -> None:
    world.state_path.write_bytes(content)
    [one] = enforcement(desk)["projects"]
    assert (one["on"], one["alive"]) == (False, [])
    assert "cannot be read" in one["problem"]
    assert world.state_path.read_bytes() == content


def test_to_look_changes_no_file(world: Enforced, desk: Desk) -> None:
    world.stop()
    before = {path: path.read_bytes() for path in world.home.rglob("*") if path.is_file()}
    enforcement(desk)
    after = {path: path.read_bytes() for path in world.home.rglob("*") if path.is_file()}
    assert {path: after.get(path) for path in before} == before


def _limits(**settings: object) -> Limits:
    def get(key: str) -> object:
        return settings.get(key.partition(".")[2], SETTINGS[key].default)

    return Limits(get)


@pytest.mark.parametrize(
    ("settings", "seconds", "rests"),
    [
        pytest.param({}, [30, 60, 120, 240, 480, 300], True, id="as it comes"),
        pytest.param({"backoff": 1, "max_failures": 2}, [30, 30, 300], True, id="no growth"),
        pytest.param(
            {"max_failures": 0}, [30 * 2**n for n in range(STEPS)], False, id="no limit of failures"
        ),
        pytest.param(
            {"max_failures": 900}, [30 * 2**n for n in range(12)], False, id="a limit far away"
        ),
        pytest.param({"cooldown_seconds": 0}, [0, 0, 0, 0, 0, 300], True, id="no cooldown"),
    ],
)
def test_the_backoff_is_told_by_failures_in_a_row(
    settings: Json, seconds: list[int], rests: bool
) -> None:
    found = backoff(_limits(**settings), [])
    assert [row["seconds"] for row in found] == seconds
    assert [row["failures"] for row in found] == list(range(len(seconds)))
    assert [row["rests"] for row in found] == [False] * (len(seconds) - 1) + [rests]


def test_the_backoff_tells_where_sessions_are() -> None:
    found = backoff(_limits(), [{"failureCount": 0}, {"failureCount": 2}, {"failureCount": 2}])
    assert [row["sessions"] for row in found] == [1, 0, 2, 0, 0, 0]


def test_enforced_plans_name_the_loops_that_hold_their_sessions(
    world: Enforced, desk: Desk
) -> None:
    plans.enforce(world.space(), on=True, limits={"max_iterations": 50})
    path = str(world.project / ".claude/PLAN.md")
    _loop(world, lambda loop: loop.options.update({lp.PLAN: path}))
    [row] = enforcement(desk)["plans"]
    assert (row["plan_name"], row["limits"], row["held"]) == ("Ship it", {"max_iterations": 50}, 1)
    assert [loop["loop_id"] for loop in row["loops"]] == ["abcde"]
    assert row["iterations"] == 7


@pytest.mark.parametrize(
    ("state", "is_told"),
    [
        pytest.param("open", True, id="open"),
        pytest.param("half_open", True, id="cooling down"),
        pytest.param("closed", False, id="closed"),
    ],
)
def test_breakers_that_are_open_are_told(
    state: str, is_told: bool, world: Enforced, desk: Desk
) -> None:
    known = {"state": state, "why": "the same\nerror", "opened_at": world.now, "no_progress": 5}
    _loop(world, lambda loop: setattr(loop, "breaker", known))
    found = enforcement(desk)["breakers"]
    assert [row["why"] for row in found] == ["the same error"] * is_told


def _loop(world: Enforced, change: Callable[[Loop], None]) -> None:
    loop = Loop("s1", "abcde", "Ship it")
    loop.project, loop.iteration = str(world.project), 7
    loop.started_at = loop.turned_at = iso(world.now)
    change(loop)
    path = store.loop_path(world.ours, loop.session_id)
    put(world.home / path, statefile.render(loop))


def test_the_log_may_hold_anything(world: Enforced, desk: Desk) -> None:
    rows = [{}, {"what": 5, "at": [], "session_id": {}, "why": None}, {"at": "x", "layer": "1"}]
    path = world.home / log.log_path(world.space())
    path.write_text("\n".join([*map(json.dumps, rows), "no json", "[]", ""]))
    found = enforcement(desk)
    assert len(found["latest"]) == 3
    assert found["success_rate"] is None
