from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint.telling import hunk
from sisyphus.checkpoint.seen.edits import moved
from sisyphus.clients.tools import Change, changes

CHANGES = [
    pytest.param([hunk(3, " a", "-b", "+c", "+d", " e")], [(4, 1, 4, 2)], id="lines around it"),
    pytest.param([hunk(3, "-b", " a", "+c")], [(3, 1, 3, 0), (5, 0, 4, 1)], id="two in a hunk"),
    pytest.param([hunk(1, "+b"), hunk(9, "-c", new_start=10)], [(1, 0, 1, 1), (9, 1, 10, 0)],
        id="two hunks"),
    pytest.param("no patch", [], id="no patch"),
]  # fmt: skip


@pytest.mark.parametrize(("patch", "found"), CHANGES)
def test_a_patch_is_taken_apart(patch: object, found: list[tuple[int, int, int, int]]) -> None:
    told = [(c.old, c.removed, c.new, c.added) for c in changes(patch)]
    assert told == found


def _change(old: int, removed: int, added: int) -> Change:
    change = Change(old, old)
    change.removed, change.added = removed, added
    return change


MOVED = [
    pytest.param(4, 4, id="before it"),
    pytest.param(5, 5, id="its first line"),
    pytest.param(7, 6, id="beyond what came for it"),
    pytest.param(8, 7, id="behind it"),
]


@pytest.mark.parametrize(("line", "now"), MOVED)
def test_a_line_is_found_where_it_is_now(line: int, now: int) -> None:
    assert moved(line, [_change(5, 3, 2)]) == now


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(
    st.sampled_from(["lines", "oldStart", "newStart", "x"]), x)))  # fmt: skip
def test_any_patch_is_read(patch: object) -> None:
    assert all(change.new >= 1 for change in changes(patch))
