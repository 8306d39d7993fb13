from __future__ import annotations

import json
import multiprocessing
import stat
import time
from itertools import count
from typing import TYPE_CHECKING

import pytest
from making import at_once, debug_log, ours, put

from ralph.past.log import AT, a_loop, ends, known, lives, ran, starts
from sisyphus.paths import our_home
from sisyphus.ralph.loop import ABANDONED, BY_BREAKER, CANCELLED, SUCCESS, Loop
from sisyphus.ralph.past import history
from sisyphus.state.files import ensure_folder
from sisyphus.state.lock import Lock
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

LOG, ARCHIVE = "logs/sessions.jsonl", "logs/sessions.archive.jsonl"


def _lines(home: Path, name: str = LOG) -> list[Json]:
    path = ours(home, name)
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def test_a_start_is_a_line_of_eleven_fields(home: Path) -> None:
    starts(a_loop())

    assert _lines(home) == [
        {
            "loop_id": "aaaaa",
            "session_id": "s1",
            "status": "active",
            "project": "/home/me/shop",
            "project_name": "shop",
            "state_file_path": "/state/s1.md",
            "task": "make the tests pass",
            "started_at": AT,
            "max_iterations": 50,
            "completion_promise": "DONE",
            "options": {"max_minutes": 1_440, "max_tokens": 0},
        }
    ]


def test_an_end_is_a_line_of_eight_fields(home: Path) -> None:
    loop = a_loop()
    loop.iteration = 7
    ends(loop, CANCELLED, after=90)

    assert _lines(home) == [
        {
            "loop_id": "aaaaa",
            "session_id": "s1",
            "status": "completed",
            "outcome": "cancelled",
            "ended_at": "2026-11-20T15:01:30.000Z",
            "duration_seconds": 90,
            "iterations": 7,
            "error_reason": None,
        }
    ]


def test_a_loop_without_a_promise_has_none(home: Path) -> None:
    loop = a_loop()
    loop.completion_promise = None
    starts(loop)

    assert _lines(home)[0]["completion_promise"] is None
    assert known()[0].completion_promise is None


OPTIONS = [
    pytest.param({"max_minutes": 0}, {"max_minutes": 0, "max_tokens": 0}, id="no limit"),
    pytest.param(
        {"max_minutes": 90, "max_tokens": 5_000, "verify": "make test", "verify_plan": True,
         "verify_checklist": True, "wait_for_user": True},
        {"max_minutes": 90, "max_tokens": 5_000, "verify_plan": True, "verify_checklist": True,
         "verify": "make test"},
        id="all that ends it or is asked of it",
    ),
    pytest.param(
        {"max_tokens": "9", "verify": 5, "verify_plan": False},
        {"max_minutes": 1_440, "max_tokens": 0},
        id="nothing usable",
    ),
    pytest.param(
        {"verify": "x" * 3_000},
        {"max_minutes": 1_440, "max_tokens": 0, "verify": "x" * 2_000},
        id="a long command",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "kept"), OPTIONS)
def test_limits_and_checks_are_known_after_its_end(options: Json, kept: Json) -> None:
    loop = a_loop()
    loop.options = options
    ran(loop)
    assert known()[0].options == known()[0].as_json()["options"] == kept


def test_the_models_own_loop_has_no_command() -> None:
    loop = a_loop()
    loop.by_model, loop.options = True, {"verify": "make test"}
    starts(loop)
    assert "verify" not in known()[0].options


def test_the_reason_of_an_end_is_kept(home: Path) -> None:
    ends(a_loop(), "limit", reason="the limit of 60 minutes is reached")
    assert _lines(home)[0]["error_reason"] == "the limit of 60 minutes is reached"


def test_a_line_holds_the_first_2000_characters_of_a_text(home: Path) -> None:
    loop = a_loop()
    loop.prompt = loop.completion_promise = "é" * 3_000
    ran(loop, reason="x" * 3_000)

    start, end = _lines(home)
    assert start["task"] == start["completion_promise"] == "é" * 2_000
    assert end["error_reason"] == "x" * 2_000


def test_half_a_surrogate_pair_is_no_obstacle() -> None:
    loop = a_loop()
    loop.prompt = "a\ud83d"
    starts(loop)
    assert known()[0].task == "a?"


DURATIONS = [
    pytest.param(AT, 59.9, 59, id="whole seconds"),
    pytest.param(AT, -5.0, 0, id="a clock that went back"),
    pytest.param("", 5.0, 0, id="nobody knows when it began"),
    pytest.param("yesterday", 5.0, 0, id="no time"),
]


@pytest.mark.parametrize(("began", "after", "seconds"), DURATIONS)
def test_a_loop_took_whole_seconds(home: Path, began: str, after: float, seconds: int) -> None:
    loop = a_loop()
    loop.started_at = began
    history.ended(our_home(), loop, SUCCESS, epoch(AT) + after)
    assert _lines(home)[0]["duration_seconds"] == seconds


def test_a_pause_is_no_time_that_a_loop_took(home: Path) -> None:
    loop = a_loop()
    loop.pause(BY_BREAKER, epoch(AT) + 30)
    loop.resume(epoch(AT) + 50)
    ends(loop, after=60)
    assert _lines(home)[0]["duration_seconds"] == 40


def test_a_loop_that_is_paused_at_its_end_took_as_long_as_it_was_at_work(home: Path) -> None:
    loop = a_loop()
    loop.pause(BY_BREAKER, epoch(AT) + 30)
    ends(loop, CANCELLED, after=600)
    assert _lines(home)[0]["duration_seconds"] == 30


def test_the_files_are_their_users_alone(home: Path) -> None:
    _fill(2)
    paths = [ours(home, "logs"), ours(home, LOG), ours(home, ARCHIVE)]
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o700, 0o600, 0o600]


OBSTACLES = [
    pytest.param("logs", id="a file in the place of the folder"),
    pytest.param(f"{LOG}/x", id="a folder in the place of the log"),
    pytest.param(f"{LOG}.lock/x", id="a folder in the place of the lock"),
]


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_where_nothing_can_be_written_nothing_is_raised(home: Path, obstacle: str) -> None:
    put(ours(home, obstacle), "in the way")
    ran(a_loop())
    assert known() == []
    assert ours(home, obstacle).read_text() == "in the way"


def test_a_failure_is_in_the_debug_log(home: Path) -> None:
    put(ours(home, f"{LOG}/x"), "in the way")
    starts(a_loop())
    assert "history of loops: IsADirectoryError" in debug_log(home)


def test_a_lock_that_stays_held_costs_a_line_and_no_more(home: Path) -> None:
    from sisyphus import state

    ensure_folder(str(ours(home, "logs")))
    with Lock(history.log_path(our_home())):
        state.lock_deadline = time.monotonic()
        try:
            starts(a_loop())
        finally:
            state.lock_deadline = None
    assert "history of loops: LockedError" in debug_log(home)


def test_a_torn_line_swallows_no_other(home: Path) -> None:
    put(ours(home, LOG), b'{"loop_id": "aaa')
    ran(a_loop("bbbbb"))
    assert [record.loop_id for record in known()] == ["bbbbb"]
    assert ours(home, LOG).read_bytes().startswith(b'{"loop_id": "aaa\n{"loop_id": "bbbbb"')


def _fill(megabytes: int) -> list[str]:
    """So much history of loops that have ended; their ids."""
    ids = [f"f{number:04}" for number in range(42 * megabytes)]
    for number, loop_id in enumerate(ids):
        loop = a_loop(loop_id, f"s-{loop_id}", minute=number)
        loop.prompt = "😀" * 2_000  # 24 KB on a line
        ran(loop)
    return ids


def test_a_log_of_over_a_megabyte_moves_to_the_archive(home: Path) -> None:
    ids = _fill(3)

    assert [record.loop_id for record in known()] == ids[::-1]
    assert history.LOG_BYTES // 3 < ours(home, LOG).stat().st_size <= history.LOG_BYTES
    kept = [line["loop_id"] for line in _lines(home)]
    archived = [line["loop_id"] for line in _lines(home, ARCHIVE)]
    assert archived + kept == [loop_id for loop_id in ids for _ in range(2)]


def test_a_loop_that_has_a_state_file_stays_in_the_log(home: Path) -> None:
    starts(lives(a_loop("alive")))
    starts(a_loop("lost-", "s2"))
    _fill(3)

    assert "alive" in {line["loop_id"] for line in _lines(home)}
    assert "lost-" in {line["loop_id"] for line in _lines(home, ARCHIVE)}
    assert {record.status for record in known()} == {"active", "lost", "completed"}


def test_a_loop_that_is_taken_up_again_is_active_again(home: Path) -> None:
    loop = ran(a_loop(), ABANDONED)
    _fill(2)
    assert "aaaaa" in {line["loop_id"] for line in _lines(home, ARCHIVE)}

    starts(lives(loop))
    assert known()[-1].status == "active"

    lives(a_loop("other"))
    ends(loop, SUCCESS)
    assert [(r.status, r.outcome) for r in known() if r.loop_id == "aaaaa"] == [
        ("completed", "success")
    ]


def _play(name: str) -> None:
    for number in range(25):
        loop = Loop(f"s-{name}", f"{name}{number:04}", "😀" * 2_000)
        loop.started_at = iso(epoch(AT) + number)
        ran(loop)


def test_many_writers_lose_nothing_while_the_log_moves_on(home: Path) -> None:
    at_once(_play, list("abcdefgh"))

    wanted = {f"{name}{number:04}" for name in "abcdefgh" for number in range(25)}
    records = known()
    assert {record.loop_id for record in records} == wanted
    assert len(records) == len(wanted)
    assert {record.outcome for record in records} == {"success"}
    assert len(_lines(home)) + len(_lines(home, ARCHIVE)) == 2 * len(wanted)
    assert _lines(home, ARCHIVE)


def _play_for_ever(name: str) -> None:
    for number in count():
        loop = Loop("s1", f"{name}{number:05}", "😀" * 2_000)
        loop.started_at = iso(epoch(AT) + number)
        ran(loop)


def test_a_writer_killed_at_any_moment_loses_nothing(home: Path) -> None:
    for name in "abcdefgh":
        before = ours(home, ARCHIVE).stat().st_size if ours(home, ARCHIVE).exists() else 0
        writer = multiprocessing.get_context("fork").Process(target=_play_for_ever, args=[name])
        writer.start()
        while not ours(home, ARCHIVE).exists() or ours(home, ARCHIVE).stat().st_size == before:
            pass
        writer.kill()  # while or shortly after lines move
        writer.join()

        mine = sorted(record.loop_id for record in known() if record.loop_id[0] == name)
        assert mine == [f"{name}{number:05}" for number in range(len(mine))]
        states = [record.status for record in known() if record.loop_id[0] == name]
        assert set(states[1:]) <= {"completed"}  # it died within the newest one at most
