from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import pytest
from making import at_once, ours, put, stored

from sisyphus.checkpoint import store
from sisyphus.checkpoint.size.levels import Thresholds, step
from sisyphus.errors import NewerVersionError

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


@pytest.fixture
def folder(home: Path) -> str:
    return str(ours(home, "")).rstrip("/")


def _file(folder: str) -> str:
    return store.path(folder, "s1")


def test_nothing_is_known_of_a_new_session(folder: str) -> None:
    assert store.glance(folder, "s1") == {}
    assert store.number({}, "told") == 0
    assert store.cut({}) == ""
    assert not os.path.exists(folder)


@pytest.mark.parametrize("value", [None, True, -1, 0, "3", 2.5, [3]])
def test_a_number_that_is_none_is_nothing(value: object) -> None:
    assert store.number({"told": value}, "told") == 0


@pytest.mark.parametrize("value", [None, 7, ["2026"], {}])
def test_a_time_that_is_no_text_is_never(value: object) -> None:
    assert store.cut({"cut": value}) == ""


def test_what_is_noted_joins_what_is_known(folder: str) -> None:
    store.note(folder, "s1", {"looked": True})
    store.note(folder, "s1", {"cut": "2026-11-20T15:00:00.000Z"})
    known = store.glance(folder, "s1")
    assert known["looked"] is True
    assert store.cut(known) == "2026-11-20T15:00:00.000Z"
    assert os.stat(_file(folder)).st_mode & 0o777 == 0o600


def test_a_level_is_turned_to_once(folder: str) -> None:
    decide = partial(step, percent=87, thresholds=Thresholds())
    assert [store.turn(folder, "s1", decide) for _ in range(3)] == [True, False, False]
    assert store.number(store.glance(folder, "s1"), "told") == 2


def _turn(number: int, folder: str) -> bool:
    assert number >= 0
    return store.turn(folder, "s1", partial(step, percent=87, thresholds=Thresholds()))


def test_of_many_at_once_one_turns_to_it(folder: str) -> None:
    assert sum(at_once(partial(_turn, folder=folder), range(16))) == 1


def test_an_empty_context_is_told_of_every_level_anew(folder: str) -> None:
    store.turn(folder, "s1", lambda _: (2, True))
    store.note(folder, "s1", {"window": 200_000})
    store.forget(folder, "s1")
    assert store.number(store.glance(folder, "s1"), "told") == 0
    assert store.number(store.glance(folder, "s1"), "window") == 200_000


def test_there_is_nothing_to_forget_of_a_session_that_was_told_nothing(folder: str) -> None:
    store.forget(folder, "s1")
    assert not os.path.exists(folder)


def test_the_window_that_the_client_names_is_kept(folder: str) -> None:
    store.note_reported(folder, "s1", 200_000)
    store.turn(folder, "s1", lambda _: (1, True))
    store.note_reported(folder, "s1", 1_000_000)
    known = store.glance(folder, "s1")
    assert (known["window"], known["told"]) == (1_000_000, 1)


def test_a_window_of_another_client_says_whose_it_is(folder: str) -> None:
    store.note_reported(folder, "s1", 200_000)
    assert "client" not in store.glance(folder, "s1")
    store.note_reported(folder, "s1", 128_000, client="opencode")
    known = store.glance(folder, "s1")
    assert (known["window"], known["client"]) == (128_000, "opencode")


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_that_is_none_is_not_kept(folder: str, window: int) -> None:
    store.note_reported(folder, "s1", window)
    assert not os.path.exists(folder)


def test_the_same_window_is_not_written_again(folder: str) -> None:
    store.note_reported(folder, "s1", 200_000)
    before = os.stat(_file(folder)).st_ino
    store.note_reported(folder, "s1", 200_000)
    assert os.stat(_file(folder)).st_ino == before


QUIET = {"quiet_below": 140_000, "near_below": 90_000, "quiet_for": ["m"]}
LOOKS = [
    pytest.param(QUIET, 139_999, ["m"], False, True, id="below"),
    pytest.param(QUIET, 140_000, ["m"], False, False, id="at it"),
    pytest.param(QUIET, 89_999, ["m"], True, True, id="far below"),
    pytest.param(QUIET, 90_000, ["m"], True, False, id="near it, and the answer is late"),
    pytest.param(QUIET, 1, ["other"], False, False, id="another model"),
    pytest.param({}, 1, [], False, False, id="nothing is known"),
    pytest.param({**QUIET, "quiet_below": "x"}, 1, ["m"], False, False, id="no number"),
]


@pytest.mark.parametrize(("known", "tokens", "stamp", "is_late", "expected"), LOOKS)
def test_what_was_found_quiet_is_so(
    known: Json, tokens: int, stamp: list[object], *, is_late: bool, expected: bool
) -> None:
    assert store.is_quiet(known, tokens, stamp, is_late=is_late) is expected


def test_in_another_window_nothing_is_quiet(folder: str) -> None:
    store.note(folder, "s1", QUIET)
    store.note_reported(folder, "s1", 200_000)
    known = store.glance(folder, "s1")
    assert not store.is_quiet(known, 1, ["m"])
    assert not store.is_quiet(known, 1, ["m"], is_late=True)


def test_what_a_newer_version_wrote_stays(home: Path, folder: str) -> None:
    path = put(ours(home, "checkpoint/s1.json"), '{"version": 2, "told": 1, "else": 7}')
    with pytest.raises(NewerVersionError):
        store.turn(folder, "s1", lambda _: (3, True))
    assert stored(path) == {"version": 2, "told": 1, "else": 7}


def test_what_is_unreadable_is_set_aside(home: Path, folder: str) -> None:
    path = put(ours(home, "checkpoint/s1.json"), "{")
    assert store.turn(folder, "s1", lambda told: (told + 2, True))
    assert stored(path)["told"] == 2
    assert len(list(path.parent.glob("s1.json.corrupt-*"))) == 1


# --- what a hook was killed at ------------------------------------------------------------------


def _rise(folder: str, now: float, percent: float = 87) -> bool:
    decide = partial(step, percent=percent, thresholds=Thresholds())
    return store.turn(folder, "s1", decide, now)


def test_a_level_that_was_never_told_is_told_by_a_later_hook(folder: str) -> None:
    late = 1_000 + store.OVERDUE_SECONDS + 1
    assert [_rise(folder, now) for now in (1_000, 1_001, late, late + 1)] == [
        True,
        False,
        True,
        False,
    ]


def test_one_that_was_told_is_told_no_more(folder: str) -> None:
    _rise(folder, 1_000)
    store.settle(folder, "s1")
    assert not _rise(folder, 9_000)
    known = store.glance(folder, "s1")
    assert (known["told"], "pending" in known) == (2, False)


def test_what_usage_has_left_is_overdue_no_more(folder: str) -> None:
    _rise(folder, 1_000)
    assert not _rise(folder, 9_000, percent=3)
    assert "pending" not in store.glance(folder, "s1")


def test_nothing_is_overdue_behind_a_compaction(folder: str) -> None:
    _rise(folder, 1_000)
    store.note(folder, "s1", {"told": 0})
    assert not _rise(folder, 9_000, percent=40)


OVERDUE = [
    pytest.param({"told": 2, "pending": 100.0}, True, id="long ago"),
    pytest.param({"told": 2, "pending": 990}, False, id="just now"),
    pytest.param({"told": 2}, False, id="nothing is pending"),
    pytest.param({"pending": 100.0}, False, id="no level was reached"),
    pytest.param({"told": 2, "pending": "100"}, False, id="a text"),
    pytest.param({"told": 2, "pending": None}, False, id="null"),
    pytest.param({"told": 2, "pending": 2_000}, False, id="a clock that was set back"),
]


@pytest.mark.parametrize(("known", "expected"), OVERDUE)
def test_it_is_known_whether_a_level_is_overdue(known: Json, *, expected: bool) -> None:
    assert store.is_overdue(known, 1_000) is expected
