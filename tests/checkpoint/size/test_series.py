from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put
from ralph.lines import add, prompt, raw

from checkpoint.size.test_points import SUMMARY, boundary, told
from sisyphus.checkpoint.size.series import Series

if TYPE_CHECKING:
    from sisyphus.checkpoint.size.points import Points

RECORDED = Path(__file__).parents[2] / "data" / "transcripts"

SESSION = raw(
    prompt("do it"), told(5, "a", calls=1), told(6, "a", calls=2), boundary(6), SUMMARY,
    told(2, "b", calls=1), told(9, isSidechain=True), told(3, "c"),
)  # fmt: skip


def _same(one: Points, other: Points) -> bool:
    return (one.points, one.compactions, one.is_cut) == (
        other.points,
        other.compactions,
        other.is_cut,
    )


def _at_once(path: Path) -> Points:
    series = Series(str(path))
    series.update()
    return series.told


def _tokens(series: Series) -> list[int]:
    return [point.tokens for point in series.told.points]


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.glob("*.jsonl")))
@given(data=st.data())
def test_a_transcript_read_as_it_grows_tells_the_same(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    whole = (RECORDED / name).read_bytes()
    _grows(tmp_path_factory.mktemp("grows") / name, whole, data)


@given(data=st.data())
def test_so_does_one_with_a_compaction(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    _grows(tmp_path_factory.mktemp("grows") / "t.jsonl", SESSION, data)


def _grows(path: Path, whole: bytes, data: st.DataObject) -> None:
    series = Series(str(path))
    ends = data.draw(st.lists(st.integers(0, len(whole)), max_size=5).map(sorted))
    for start, end in zip([0, *ends], [*ends, len(whole)], strict=True):
        with path.open("ab") as file:
            file.write(whole[start:end])
        series.update()
    assert _same(series.told, _at_once(path))
    assert not series.told.is_cut


def test_a_recorded_transcript_has_its_answers() -> None:
    found = _at_once(RECORDED / "tokens.jsonl")
    assert found.points[0].tokens == 30_000
    assert {point.model for point in found.points} == {"claude-sonnet-4-5"}
    assert [p.tokens for p in found.points] == sorted(p.tokens for p in found.points)
    assert found.points[-1].calls > found.points[0].calls == 0


def test_what_is_there_already_is_not_read_again(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", SESSION)
    series = Series(str(path))
    assert series.update()
    assert not series.update()
    add(path, told(4, "d"))
    assert series.update()
    assert _tokens(series) == [6, 2, 3, 4]


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(told(5)) + raw(told(6))[:-20])
    series = Series(str(path))
    series.update()
    assert _tokens(series) == [5]
    assert not series.update()


def test_a_shorter_file_begins_anew(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(told(5), boundary(), told(6)))
    series = Series(str(path))
    series.update()
    put(path, raw(told(7)))
    assert series.update()
    assert (_tokens(series), series.told.compactions) == ([7], [])


def test_so_does_another_one_in_its_place(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(told(5)))
    series = Series(str(path))
    series.update()
    os.replace(put(tmp_path / "new.jsonl", raw(told(7), told(8))), path)
    assert series.update()
    assert _tokens(series) == [7, 8]


def test_of_one_that_is_gone_what_was_told_stays(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(told(5)))
    series = Series(str(path))
    series.update()
    path.unlink()
    assert not series.update()
    assert _tokens(series) == [5]


@pytest.mark.parametrize("kind", ["folder", "fifo", "none"])
def test_what_is_no_file_tells_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    series = Series(str(path))
    assert not series.update()
    assert series.told.points == []


def test_of_a_long_one_the_end_is_read_and_that_is_said(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(told(5), told(6), told(7)))
    series = Series(str(path), most=len(raw(told(7))) + 10)
    series.update()
    assert (_tokens(series), series.told.is_cut) == ([7], True)


def test_so_it_is_where_much_was_written_between_two_looks(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(told(5)))
    series = Series(str(path), most=len(raw(told(7))) + 10)
    series.update()
    assert not series.told.is_cut
    add(path, told(6), told(7))
    series.update()
    assert (_tokens(series), series.told.is_cut) == ([5, 7], True)
