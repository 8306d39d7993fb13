from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ralph.lines import read

from checkpoint.telling import ROOT, called, edited, failed, hunk, wrote
from sisyphus.checkpoint.seen import work
from sisyphus.checkpoint.seen.edits import Edits
from sisyphus.clients.base import EDIT
from sisyphus.transcript import Call

A, B = f"{ROOT}/a.py", f"{ROOT}/b.py"


def _ranges(*calls: list[dict[str, object]], path: str = A) -> list[tuple[int, int]]:
    found = work.read(read(*(record for call in calls for record in call))).edits
    return [(edit.start, edit.end) for edit in found if edit.path == path]


HUNKS = [
    pytest.param([hunk(3, " c", "-x", "+y", " c")], [(4, 4)], id="a line that was replaced"),
    pytest.param([hunk(3, " c", "+y", "+z", " c")], [(4, 5)], id="lines that were added"),
    pytest.param([hunk(3, " c", "-x", " c")], [(3, 3)], id="a line that was removed"),
    pytest.param([hunk(1, "-x", " c")], [(1, 1)], id="the first line removed"),
    pytest.param([hunk(1, "-x", "+y", "\\ No newline at end of file")], [(1, 1)], id="no newline"),
    pytest.param([hunk(3, "-x", "+y", " c", " c", "+z")], [(3, 3), (6, 6)], id="two in a hunk"),
    pytest.param([hunk(3, "-x", "+y"), hunk(9, "-x", "+y")], [(3, 3), (9, 9)], id="two hunks"),
    pytest.param([], [], id="nothing changed"),
    pytest.param([7, {}, {"lines": 7}, {"lines": [7, None]}], [], id="no hunks at all"),
    pytest.param([{"lines": ["+a"], "newStart": -4, "oldStart": "x"}], [(1, 1)], id="no lines"),
]


@pytest.mark.parametrize(("hunks", "ranges"), HUNKS)
def test_the_changed_lines_of_a_patch_are_told(
    hunks: list[dict[str, object]], ranges: list[tuple[int, int]]
) -> None:
    assert _ranges(edited(A, *hunks)) == ranges


FIRST = edited(A, hunk(10, "-x", "+y", "+z"))
MOVED = [
    pytest.param(hunk(2, "+n", "+n"), (12, 13), id="lines added above"),
    pytest.param(hunk(2, "-n", "-n", "+m"), (9, 10), id="lines removed above"),
    pytest.param(hunk(20, "+n"), (10, 11), id="a change below"),
    pytest.param(hunk(10, "-y", "+n"), (10, 11), id="a change within"),
    pytest.param(hunk(10, "-y", "-z"), (10, 10), id="removed altogether"),
    pytest.param(hunk(9, "-w", "-y", "-z", "-v", "+n"), (9, 9), id="replaced altogether"),
    pytest.param(hunk(11, "+n"), (10, 12), id="lines added in the middle"),
]


@pytest.mark.parametrize(("later", "now"), MOVED)
def test_a_later_edit_moves_the_earlier_ones(
    later: dict[str, object], now: tuple[int, int]
) -> None:
    assert _ranges(FIRST, edited(A, later))[0] == now


def test_of_the_same_file_only() -> None:
    assert _ranges(FIRST, edited(B, hunk(1, "+n"))) == [(10, 11)]


def test_a_new_file_is_one_edit_and_ends_those_before_it() -> None:
    assert _ranges(wrote(A, "1\n2\n3\n")) == [(1, 3)]
    assert _ranges(FIRST, wrote(A, "")) == [(1, 1)]


def test_one_that_was_written_anew_tells_what_changed() -> None:
    given = {"file_path": A, "content": "1\n2\n"}
    answer = {"type": "update", "structuredPatch": [hunk(2, "-x", "+2")]}
    assert _ranges(FIRST, called("Write", given, answer)) == [(10, 11), (2, 2)]


OTHERS = [
    pytest.param("Write", {"file_path": A, "content": "1\n2"}, None, [(1, 2)], id="a write"),
    pytest.param(
        "MultiEdit", {"file_path": A, "edits": []},
        {"structuredPatch": [hunk(4, "-x", "+y")]}, [(4, 4)], id="several edits",
    ),
    pytest.param(
        "NotebookEdit", {"notebook_path": A, "new_source": "x"}, {"cell_id": "a"}, [(0, 0)],
        id="a notebook",
    ),
    pytest.param("Edit", {"file_path": A}, None, [(0, 0)], id="no word of where"),
    pytest.param("Edit", {"file_path": A}, "done", [(0, 0)], id="a note that is a text"),
    pytest.param(
        "Edit", {"file_path": A, "old_string": "c", "new_string": "d\ne"},
        {"originalFile": "a\nb\nc\n"}, [(3, 4)], id="where the old text stood",
    ),
    pytest.param(
        "Edit", {"file_path": A, "old_string": "q", "new_string": "d"},
        {"originalFile": "a\n"}, [(0, 0)], id="where it did not",
    ),
    pytest.param("Edit", {}, {"filePath": A, "structuredPatch": [hunk(2, "+y")]}, [(2, 2)],
        id="a path in the note alone"),
    pytest.param("Edit", {"file_path": 7}, {"filePath": None}, [], id="no path"),
    pytest.param("Read", {"file_path": A}, {"type": "text"}, [], id="reading"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "answer", "ranges"), OTHERS)
def test_other_tools_and_clients_tell_what_they_can(
    tool: str, given: dict[str, object], answer: object, ranges: list[tuple[int, int]]
) -> None:
    assert _ranges(called(tool, given, answer)) == ranges


def test_a_failed_edit_counts_for_nothing() -> None:
    assert _ranges(failed("Edit", {"file_path": A}, "String to replace not found in file.")) == []


def test_an_edit_whose_result_is_not_there_yet_counts_for_nothing() -> None:
    assert _ranges(edited(A, hunk(1, "+n"))[:1]) == []


def test_edits_of_several_files_stand_in_the_order_they_were_made() -> None:
    calls = [edited(path, hunk(5, "+n")) for path in (A, B, A)]
    found = work.read(read(*(record for call in calls for record in call))).edits
    assert [(edit.path, edit.start) for edit in found] == [(A, 6), (B, 5), (A, 5)]


EDIT_OF_A = Call("c", "Edit", EDIT, {"file_path": A}, A, A)


def test_of_very_many_the_last_ones_are_kept() -> None:
    found = Edits()
    for number in range(100):
        found.take(EDIT_OF_A, {"structuredPatch": [hunk(number + 1, "-x", "+y")]})
    assert [edit.start for edit in found.all()] == list(range(51, 101))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.data())
def test_every_edit_is_where_its_line_is(starts: list[int], data: st.DataObject) -> None:
    """Lines that edits have written are found again at the ranges that are told."""
    text = [f"line {number}" for number in range(60)]
    edits = Edits()
    for name, wanted in enumerate(starts):
        start = min(wanted, len(text) + 1)
        removed = data.draw(st.integers(0, 3))
        added = [f"edit {name} {i}" for i in range(data.draw(st.integers(1, 3)))]
        old = text[start - 1 : start - 1 + removed]
        text[start - 1 : start - 1 + removed] = added
        patch = hunk(start, *(f"-{x}" for x in old), *(f"+{x}" for x in added))
        edits.take(EDIT_OF_A, {"structuredPatch": [patch]})
    for name, edit in enumerate(edits.all()):
        own = [number for number, line in enumerate(text, 1) if line.startswith(f"edit {name} ")]
        assert all(edit.start <= number <= edit.end for number in own)
