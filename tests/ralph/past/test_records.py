from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.past.log import AT, a_loop
from sisyphus.ralph.past.records import Merge, Record

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop


def _start(loop_id: str = "aaaaa", session: str = "s1", **fields: object) -> Json:
    return {"loop_id": loop_id, "session_id": session, "status": "active", **fields}


def _end(loop_id: str = "aaaaa", session: str = "s1", **fields: object) -> Json:
    line = {"loop_id": loop_id, "session_id": session, "status": "completed"}
    return {**line, "outcome": "success", **fields}


def _merged(*lines: Json, living: tuple[Loop, ...] = ()) -> list[Record]:
    found = Merge()
    for line in lines:
        found.take(line)
    return found.settle([(loop, f"/state/{loop.loop_id}") for loop in living])


def _states(*lines: Json, living: tuple[Loop, ...] = ()) -> list[str]:
    return [record.result for record in _merged(*lines, living=living)]


STATES = [
    pytest.param([_start(), _end()], (), ["success"], id="ended"),
    pytest.param([_start()], (), ["lost"], id="no end and no state file"),
    pytest.param([_start()], (a_loop(),), ["active"], id="no end and a state file"),
    pytest.param([], (a_loop(),), ["active"], id="a state file alone"),
    pytest.param([_end()], (), ["success"], id="an end alone"),
    pytest.param([_start(), _end(), _start()], (a_loop(),), ["active"], id="taken up again"),
    pytest.param([_start(), _end(), _start()], (), ["lost"], id="taken up again, then lost"),
    pytest.param([_start(), _end()], (a_loop(),), ["active"], id="its file was never removed"),
    pytest.param([_start(), _end(), _start(), _end()], (), ["success"], id="in both files"),
    pytest.param([_end(outcome="stuck"), _end()], (), ["success"], id="the last end counts"),
    pytest.param([_end(outcome="")], (), ["completed"], id="an end without an outcome"),
]


@pytest.mark.parametrize(("lines", "living", "states"), STATES)
def test_what_became_of_a_loop(
    lines: list[Json], living: tuple[Loop, ...], states: list[str]
) -> None:
    assert _states(*lines, living=living) == states


def test_a_paused_loop_has_not_ended() -> None:
    loop = a_loop()
    loop.pause("user", 0)
    [record] = _merged(_start(), living=(loop,))
    assert (record.status, record.is_active) == ("paused", True)


def test_the_state_file_tells_where_an_active_loop_is() -> None:
    loop = a_loop()
    loop.iteration = 4
    [record] = _merged(_start(state_file_path="/old"), _end(iterations=9), living=(loop,))
    assert (record.iterations, record.duration_seconds, record.ended_at) == (4, None, "")
    assert record.state_file_path == "/state/aaaaa"


def test_what_no_line_tells_is_taken_from_the_state_file() -> None:
    [record] = _merged(living=(a_loop(),))
    assert (record.task, record.project_name, record.max_iterations) == (
        "make the tests pass", "shop", 50,
    )  # fmt: skip
    assert (record.completion_promise, record.started_at) == ("DONE", AT)


def test_what_the_lines_tell_of_an_active_loop_stays() -> None:
    [record] = _merged(_start(task="as it was typed", started_at=AT), living=(a_loop(),))
    assert (record.task, record.status) == ("as it was typed", "active")


SAME = [
    pytest.param(
        [_start(started_at=AT), _end(session="s2")], [("s2", "success")], id="an end there"
    ),
    pytest.param(
        [_start(started_at=AT), _start(session="s2", started_at=AT)],
        [("s2", "lost")],
        id="a second start there",
    ),
]


@pytest.mark.parametrize(("lines", "records"), SAME)
def test_a_loop_that_moves_to_another_session_stays_one_loop(
    lines: list[Json], records: list[tuple[str, str]]
) -> None:
    assert [(record.session_id, record.result) for record in _merged(*lines)] == records


def test_a_loop_that_moved_to_another_session_is_active_there() -> None:
    [record] = _merged(_start(started_at=AT), living=(a_loop(session="s2"),))
    assert (record.session_id, record.status) == ("s2", "active")


def test_two_loops_of_one_id_are_two_loops() -> None:
    lines = [
        _start(started_at=AT), _end(), _start(session="s2", started_at="2026-11-21T00:00:00Z"),
        _end(session="s2", outcome="stuck"), _end(session="s3", outcome="error"),
    ]  # fmt: skip
    assert sorted(_states(*lines)) == ["error", "stuck", "success"]


def test_the_newest_comes_first() -> None:
    lines = [
        _start("late", started_at="2026-11-21T00:00:00Z"),
        _start("never"),
        _start("early", started_at=AT),
        _end("end", ended_at="2026-11-20T23:00:00Z"),
        _start("odd", started_at="zzz"),
    ]
    assert [record.loop_id for record in _merged(*lines)] == [
        "late",
        "end",
        "early",
        "odd",
        "never",
    ]


PASSED_OVER = [
    pytest.param({}, id="empty"),
    pytest.param({"status": "active"}, id="no loop"),
    pytest.param({"loop_id": 7, "status": "active"}, id="a number for an id"),
    pytest.param({"loop_id": "a"}, id="no status"),
    pytest.param({"loop_id": "a", "status": []}, id="a list for a status"),
    pytest.param({"loop_id": "a", "status": "archived"}, id="a status of a later version"),
]


@pytest.mark.parametrize("line", PASSED_OVER)
def test_a_line_of_no_loop_is_passed_over(line: Json) -> None:
    assert _merged(line) == []


values: st.SearchStrategy[object] = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=3), st.just([{}])
)
fields = st.sampled_from([*Record("", "").as_json(), "unknown"])
odd_lines = st.builds(
    lambda line, odd: {**line, **odd},
    st.sampled_from([_start(), _end()]),
    st.dictionaries(fields, values),
)


@given(st.lists(odd_lines, max_size=5))
def test_whatever_a_field_holds_a_record_has_its_types(lines: list[Json]) -> None:
    for record in _merged(*lines):
        shown = record.as_json()
        texts = ("task", "project", "started_at", "outcome", "ended_at", "state_file_path")
        assert {type(shown[name]) for name in texts} == {str}
        counts = (shown["iterations"], shown["duration_seconds"], shown["max_iterations"])
        assert all(count is None or count >= 0 for count in counts)
        assert shown["completion_promise"] is None or isinstance(shown["completion_promise"], str)


def test_a_record_tells_everything_in_json() -> None:
    [record] = _merged(_start(task="do it", started_at=AT), _end(duration_seconds=3, iterations=1))
    assert record.as_json() == {
        "loop_id": "aaaaa",
        "session_id": "s1",
        "status": "completed",
        "outcome": "success",
        "project": "",
        "project_name": "",
        "task": "do it",
        "started_at": AT,
        "ended_at": "",
        "duration_seconds": 3,
        "iterations": 1,
        "max_iterations": 0,
        "completion_promise": None,
        "error_reason": None,
        "state_file_path": "",
        "options": {},
    }


OPTIONS = [
    pytest.param(None, {}, id="an older line"),
    pytest.param(["verify"], {}, id="no object"),
    pytest.param({"verify": 5, "max_minutes": "9", "max_tokens": -1}, {}, id="no values"),
    pytest.param({"verify_plan": "yes", "verify_checklist": 1}, {}, id="no yes"),
    pytest.param({"max_minutes": True, "max_tokens": 10**40}, {}, id="no counts"),
    pytest.param(
        {"max_minutes": 0, "verify": "a\ud83d", "verify_plan": True, "other": 1},
        {"max_minutes": 0, "verify": "a?", "verify_plan": True},
        id="what is known",
    ),
    pytest.param({"verify": "x" * 3_000}, {"verify": "x" * 2_000}, id="a long text"),
]


@pytest.mark.parametrize(("options", "kept"), OPTIONS)
def test_of_limits_and_checks_that_count_which_make_sense(options: object, kept: Json) -> None:
    [record] = _merged(_start(options=options), _end())
    assert record.options == kept
