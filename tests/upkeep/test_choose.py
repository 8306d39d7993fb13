from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sisyphus.upkeep import choose, kept
from sisyphus.upkeep.kept import File
from upkeep.attic import DAY, NOW

if TYPE_CHECKING:
    from collections.abc import Sequence


def _file(
    name: str, age: float, kind: str = kept.JOURNALS, owner: str = "s1", guarded: str = ""
) -> File:
    """`age` in days."""
    changed = NOW - age * DAY
    found = os.stat_result((0, 0, 0, 0, 0, 0, 5, 0, changed, 0))
    return File(name, kind, ("session", owner) if owner else ("", ""), guarded, found)


AGES = [
    pytest.param([("a", 31, kept.JOURNALS, "s1")], 30, ["a"], id="older than that"),
    pytest.param([("a", 29, kept.JOURNALS, "s1")], 30, [], id="younger than that"),
    pytest.param(
        [("a", 31, kept.JOURNALS, "s1"), ("b", 1, kept.QUEUES, "s1")], 30, [],
        id="its session wrote something else since",
    ),
    pytest.param(
        [("a", 31, kept.JOURNALS, "s1"), ("b", 1, kept.QUEUES, "s2")], 30, ["a"],
        id="another session wrote since",
    ),
    pytest.param(
        [("a", 31, kept.JOURNALS, "s1"), ("b", 1, kept.LOCKS, "s1")], 30, ["a", "b"],
        id="a lock is no sign of life",
    ),
    pytest.param([("b", 1, kept.LOCKS, "s1")], 30, [], id="a young lock alone"),
    pytest.param([("b", 31, kept.LOCKS, "s1")], 30, ["b"], id="an old lock alone"),
    pytest.param(
        [("a", 31, kept.LOGS, ""), ("b", 1, kept.CACHES, "")], 30, ["a"], id="nobody's, each alone"
    ),
    pytest.param([("a", 0.5, kept.JOURNALS, "s1")], 0, ["a"], id="whatever is not in use"),
    pytest.param([("a", 0.02, kept.JOURNALS, "s1")], 0, [], id="written within the hour"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "days", "going"), AGES)
def test_what_is_old(
    files: Sequence[tuple[str, float, str, str]], days: int, going: list[str]
) -> None:
    found = choose.old([_file(*one) for one in files], NOW, days)
    assert [file.path for file in found] == going


def test_a_lock_stays_with_what_it_guards() -> None:
    free = _file("a.lock", 40, kept.LOCKS, "s1", "a")
    follows = _file("b.lock", 40, kept.LOCKS, "s1", "b")
    stays = _file("c.lock", 40, kept.LOCKS, "s1", "c")
    b, c = _file("b", 40), _file("c", 40)
    found = choose.without_held([b, free, follows, stays], [b, c, free, follows, stays])
    assert [file.path for file in found] == ["b", "a.lock", "b.lock"]
