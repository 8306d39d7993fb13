from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ralph.lines import prompt, raw, result, said, used

from checkpoint.telling import answer
from sisyphus.checkpoint.size import points as pts
from sisyphus.checkpoint.size.points import Compaction, Point, Points, thin
from sisyphus.clients import claude_code_files
from sisyphus.times import iso

if TYPE_CHECKING:
    from sisyphus._types import Json

NOW = 1_795_200_000.0
MODEL = "claude-sonnet-4-5"


def told(tokens: int, name: str = "", *, at: float = NOW, calls: int = 0, **fields: Any) -> Json:
    """An answer with so many tool calls."""
    blocks = [
        {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}} for n in range(calls)
    ]
    record = answer(tokens, content=blocks)
    record["message"] |= {"model": MODEL, "id": name or f"m{tokens}"}
    return {**record, "timestamp": iso(at), **fields}


def boundary(tokens: object = 0, **fields: Any) -> Json:
    metadata = {"trigger": "auto", "preTokens": tokens, "postTokens": 2_666}
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "isSidechain": False,
        "timestamp": iso(NOW),
        "compactMetadata": metadata,
        **fields,
    }


SUMMARY = prompt("This session is being continued …", isCompactSummary=True)


def seen(*records: object) -> Points:
    found = Points()
    found.take(raw(*records).splitlines(keepends=True), claude_code_files)
    return found


def tokens(*records: object) -> list[int]:
    return [point.tokens for point in seen(*records).points]


REFUSED = told(0, model="<synthetic>", isApiErrorMessage=True)
SYNTHETIC = told(900, "m8")
SYNTHETIC["message"]["model"] = "<synthetic>"

ANSWERS = [
    pytest.param([], [], id="nothing"),
    pytest.param([prompt("do it"), result("ok")], [], id="no answer"),
    pytest.param([told(500), told(700)], [500, 700], id="two answers"),
    pytest.param([told(500), told(400)], [500, 400], id="one that holds less"),
    pytest.param([told(500, "a"), told(700, "a")], [700], id="two lines of one answer"),
    pytest.param(
        [told(500, "a"), result("ok"), told(600, "a"), told(700, "b")],
        [600, 700],
        id="with a result between them",
    ),
    pytest.param(
        [told(5, "a"), told(6, "b"), told(7, "a")], [5, 6, 7], id="a name that comes back"
    ),
    pytest.param([told(5, isSidechain=True), told(6)], [6], id="a subagent's answer is none"),
    pytest.param([told(5), REFUSED, SYNTHETIC], [5], id="nor what the client wrote"),
    pytest.param([told(5), said("no usage")], [5], id="nor one that tells nothing"),
    pytest.param([prompt('"usage" "compact_boundary" {"tokens": 9}')], [], id="nor a quotation"),
    pytest.param(
        [told(5, "a"), boundary(), told(7, "a")], [5, 7], id="behind a compaction all anew"
    ),
]


@pytest.mark.parametrize(("records", "expected"), ANSWERS)
def test_every_answer_of_the_main_thread_counts_once(
    records: list[object], expected: list[int]
) -> None:
    assert tokens(*records) == expected


def test_an_answer_without_a_name_is_one_of_its_own() -> None:
    nameless = [told(5, uuid="u1"), told(6, uuid="u2"), told(7, uuid="u2")]
    for record in nameless:
        del record["message"]["id"]
    assert tokens(*nameless) == [5, 7]


def test_a_point_has_its_time_its_model_and_the_calls_before_it() -> None:
    asked = told(700, "b", at=NOW + 60.25, requestedModel=f"{MODEL}[1m]")
    found = seen(told(500, "a", calls=2), asked)
    assert found.points == [
        Point(NOW, 500, MODEL, 0),
        Point(NOW + 60.25, 700, f"{MODEL}[1m]", 2),
    ]


def test_an_answer_that_goes_on_keeps_the_calls_before_it() -> None:
    """Its own calls, which stand between its lines, came with it."""
    found = seen(told(500, "a", calls=1), told(600, "b", calls=2), told(700, "b", calls=1))
    assert [(point.tokens, point.calls) for point in found.points] == [(500, 0), (700, 1)]


def test_calls_of_lines_without_a_count_are_calls_as_well() -> None:
    """Such lines are what OpenCode's transcript has."""
    assert seen(told(5, "a"), used("Read"), used("Bash"), told(6, "b")).points[-1].calls == 2


def test_a_line_without_a_time_is_as_late_as_the_one_before_it() -> None:
    found = seen(told(5), told(6, timestamp="noon"))
    assert [point.at for point in found.points] == [NOW, NOW]


CUTS = [
    pytest.param([boundary(970_135)], [Compaction(NOW, 970_135, 0)], id="told how much there was"),
    pytest.param([boundary("many")], [Compaction(NOW, 0, 0)], id="told nonsense"),
    pytest.param([boundary(True)], [Compaction(NOW, 0, 0)], id="told a truth"),
    pytest.param([boundary(9), SUMMARY], [Compaction(NOW, 9, 0)], id="its summary is the same one"),
    pytest.param(
        [boundary(9), told(5), boundary(8)],
        [Compaction(NOW, 9, 0), Compaction(NOW, 8, 1)],
        id="two of them",
    ),
    pytest.param([boundary(9, isSidechain=True)], [], id="a subagent's is none"),
    pytest.param([boundary(9, subtype="microcompact_boundary")], [], id="nor is a smaller one"),
]


@pytest.mark.parametrize(("records", "expected"), CUTS)
def test_compactions_are_told_once(records: list[object], expected: list[Compaction]) -> None:
    assert seen(*records).compactions == expected


def test_a_summary_alone_is_a_compaction() -> None:
    """OpenCode's transcript has no more."""
    found = seen(told(5), {**SUMMARY, "timestamp": iso(NOW + 9)}, told(2, "b"))
    assert found.compactions == [Compaction(NOW + 9, 0, 1)]
    assert [point.tokens for point in found.since_compaction()] == [2]


def test_without_a_compaction_all_answers_are_in_the_context() -> None:
    assert len(seen(told(5), told(6)).since_compaction()) == 2


def test_of_very_many_answers_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pts, "MOST_POINTS", 3)
    found = seen(told(1), boundary(1), told(2), told(3), boundary(3), told(4), told(5))
    assert [point.tokens for point in found.points] == [3, 4, 5]
    assert found.compactions == [Compaction(NOW, 3, 1)]
    assert found.is_cut


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
fields = st.sampled_from(
    ["type", "message", "subtype", "usage", "timestamp", "compactMetadata", "uuid", "content"]
)
kinds = st.sampled_from(["assistant", "compact_boundary", iso(NOW)])
strangers = st.dictionaries(fields, kinds | json_values, max_size=5).map(
    lambda record: json.dumps(record).encode()
)
lines = st.lists(strangers | st.binary(max_size=20), max_size=6)


@given(lines)
def test_whatever_the_lines_hold_nothing_is_raised(found: list[bytes]) -> None:
    told_of = Points()
    odd = (b'"usage"' * bool(n % 2) + line for n, line in enumerate(found))
    told_of.take(odd, claude_code_files)
    told_of.take(found, claude_code_files)
    assert all(point.tokens > 0 for point in told_of.points)


amounts = st.lists(st.integers(1, 1_000_000), max_size=300)


def _curve(heights: list[int]) -> list[Point]:
    return [Point(NOW + n, height, MODEL, n) for n, height in enumerate(heights)]


@given(amounts, st.integers(8, 60))
def test_what_is_drawn_keeps_the_ends_the_extremes_and_the_deepest_fall(
    heights: list[int], most: int
) -> None:
    points = _curve(heights)
    drawn = thin(points, most)
    assert len(drawn) <= most
    assert drawn == sorted(set(drawn))
    assert set(drawn) <= set(points)
    if points:
        assert (drawn[0], drawn[-1]) == (points[0], points[-1])
        assert max(p.tokens for p in drawn) == max(heights)
        assert min(p.tokens for p in drawn) == min(heights)
        assert _deepest(drawn) == _deepest(points)


def _deepest(points: list[Point]) -> int:
    falls = [a.tokens - b.tokens for a, b in pairwise(points) if b.calls - a.calls == 1]
    return max([0, *falls])


@given(amounts)
def test_few_points_are_drawn_as_they_are(heights: list[int]) -> None:
    assert thin(_curve(heights), 300) == _curve(heights)


def test_of_a_saw_every_tooth_is_drawn() -> None:
    points = _curve([10 * (n % 1_000) + 1 for n in range(20_000)])
    drawn = thin(points)
    assert len(drawn) <= pts.DRAWN
    assert sum(point.tokens == 9_991 for point in drawn) == 20
    assert sum(point.tokens == 1 for point in drawn) == 20


def test_a_chart_has_room_for_a_few_at_least() -> None:
    assert len(thin(_curve(list(range(1, 100))), 1)) <= 8
