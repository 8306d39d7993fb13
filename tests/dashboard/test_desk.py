from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import debug_log, ours, put
from past import Past

from sisyphus.dashboard import changes as ch
from sisyphus.dashboard.desk import Desk
from sisyphus.errors import SisyphusError
from sisyphus.paths import project_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.ralph.loop import Loop

NOW = 1_700_000_000.0
ROOT = "/home/ann/shop"


class Clock:
    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(home: Path, clock: Clock) -> Desk:
    return Desk(str(home / ".claude"), clock)


@pytest.fixture
def loop(desk: Desk) -> Loop:
    """One that is active, after two that have ended."""
    return Past(desk.ours, NOW, [ROOT]).write(2, 1)[0]


def _finish(desk: Desk, loop_id: str) -> None:
    line = {"loop_id": loop_id, "session_id": "s9", "status": "completed", "outcome": "success"}
    path = put_line(desk, json.dumps(line))
    assert path


def put_line(desk: Desk, line: str) -> str:
    path = f"{desk.ours}/logs/sessions.jsonl"
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
    return path


def test_a_new_home_has_nothing(desk: Desk) -> None:
    assert (desk.history(), desk.loops(), desk.sessions(), desk.boulders()) == ([], [], [], [])
    assert desk.projects() == {}


def test_everything_that_is_there_is_found(desk: Desk, loop: Loop) -> None:
    assert [record.is_active for record in desk.history()] == [True, False, False]
    assert [row["loop_id"] for row in desk.loops()] == [loop.loop_id]
    assert len(desk.sessions()) == 3
    assert desk.projects() == {project_id(ROOT): ROOT}


def test_a_project_is_known_by_its_id_alone(desk: Desk, loop: Loop) -> None:
    assert desk.project(project_id(loop.project)).root == ROOT
    for other in (ROOT, "..", "", "/"):
        with pytest.raises(SisyphusError, match="no such project"):
            desk.project(other)


def test_the_history_is_read_again_when_it_grew(desk: Desk, loop: Loop) -> None:
    before = desk.history()
    assert desk.history() is before
    _finish(desk, "another")
    assert {record.loop_id for record in desk.history()} >= {"another", loop.loop_id}


def test_what_nobody_watches_is_read_every_time(desk: Desk, loop: Loop) -> None:
    before = desk.loops()
    Past(desk.ours, NOW, [ROOT]).go_on(loop)
    assert desk.loops()[0]["iteration"] == before[0]["iteration"] + 1


@pytest.mark.parametrize("topic", [ch.LOOPS, ch.HISTORY])
def test_what_is_watched_is_read_when_a_change_is_told(desk: Desk, loop: Loop, topic: str) -> None:
    desk.changes.are_seen = True
    before = desk.loops()
    Past(desk.ours, NOW, [ROOT]).go_on(loop)
    desk.changes.note([ch.RULES])
    assert desk.loops() is before
    desk.changes.note([topic])
    assert desk.loops()[0]["iteration"] == before[0]["iteration"] + 1


def test_what_is_not_told_yet_is_read_a_moment_later(desk: Desk, loop: Loop, clock: Clock) -> None:
    desk.changes.are_seen = True
    before = desk.loops()
    Past(desk.ours, NOW, [ROOT]).go_on(loop)
    assert desk.loops() is before
    clock.at += 0.25
    assert desk.loops()[0]["iteration"] == before[0]["iteration"] + 1


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("are_seen", [False, True])
def test_what_is_as_it_was_is_not_read_again(desk: Desk, clock: Clock, are_seen: bool) -> None:
    desk.changes.are_seen = are_seen
    before = desk.known()
    desk.changes.note([ch.LOOPS])
    clock.at += 0.25
    assert desk.known() is before


def _pairs(desk: Desk) -> tuple[set[str], set[str]]:
    """The loops that have not ended, as the history and as the list has them."""
    history = {record.loop_id for record in desk.history() if record.is_active}
    return history, {row["loop_id"] for row in desk.loops()}


@pytest.mark.parametrize("are_seen", [False, True])
@pytest.mark.parametrize("topic", [ch.LOOPS, ch.HISTORY])
def test_history_and_loops_are_of_one_age(desk: Desk, are_seen: bool, topic: str) -> None:
    """Of two files that change one is told first."""
    past = Past(desk.ours, NOW, [ROOT])
    desk.changes.are_seen = are_seen
    assert _pairs(desk) == (set(), set())
    [one] = past.write(0, 1)
    desk.changes.note([topic])
    assert _pairs(desk) == ({one.loop_id}, {one.loop_id})


@pytest.mark.usefixtures("loop")
def test_what_time_alone_changes_is_read_now_and_then(desk: Desk, clock: Clock) -> None:
    desk.changes.are_seen = True
    kept: list[Callable[[], object]] = [desk.loops, desk.sessions, desk.boulders]
    before = [read() for read in kept]
    assert [read() for read in kept] == before
    assert all(read() is value for read, value in zip(kept, before, strict=True))
    clock.at += 20
    assert not any(read() is value for read, value in zip(kept, before, strict=True))


@pytest.mark.usefixtures("loop")
def test_what_we_changed_ourselves_is_read_at_once(desk: Desk) -> None:
    desk.changes.are_seen = True
    before = (desk.history(), desk.loops(), desk.boulders())
    desk.forget()
    after = (desk.history(), desk.loops(), desk.boulders())
    assert not any(old is new for old, new in zip(before, after, strict=True))


HOSTILE = [
    pytest.param("ralph/loops/s1.local.md", b"\xff\xfe\0---", id="a loop of bytes"),
    pytest.param("ralph/loops/s1.local.md", b"---\niteration: [NaN\n---\n", id="a loop cut off"),
    pytest.param(
        "ralph/loops/s1.local.md",
        b"---\nactive: true\niteration: -1\nmax_iterations: 99999999999999999999\n"
        b"started_at: never\nsession_id: ../../x\n---\ngo\n",
        id="a loop of odd values",
    ),
    pytest.param("logs/sessions.jsonl", b"[]\nnull\n{\n1e999\n", id="lines that are no records"),
    pytest.param(
        "logs/sessions.jsonl",
        b'{"loop_id":"a","session_id":"s","status":"completed","iterations":NaN,'
        b'"duration_seconds":Infinity,"ended_at":[],"project":{},"task":1}\n',
        id="a record of odd values",
    ),
    pytest.param("logs/sessions.jsonl/x", b"", id="a folder in the place of the history"),
    pytest.param("logs/journal-s1.jsonl", b'{"at":NaN}\n[1]\n"', id="a journal of odd lines"),
    pytest.param("projects/p1/boulders.json", b'{"plans":[1],"current":{}}', id="a book"),
    pytest.param("projects/p1/boulders.json", b"[" * 5000, id="a book without an end"),
]


@pytest.mark.parametrize(("name", "content"), HOSTILE)
def test_what_strangers_wrote_is_no_fault(
    desk: Desk, home: Path, name: str, content: bytes
) -> None:
    put(ours(home, name), content)
    for read in (desk.history, desk.loops, desk.sessions, desk.boulders):
        assert isinstance(read(), list)


def test_what_cannot_be_read_at_the_start_is_no_end(desk: Desk, home: Path) -> None:
    desk.ours = "a\0b"
    desk.warm()
    assert "dashboard: ValueError" in debug_log(home)
