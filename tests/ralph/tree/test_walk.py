from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, put

from sisyphus.ralph.tree.bounds import Budget, TooMuchError
from sisyphus.ralph.tree.walk import PASSED_OVER, walk

if TYPE_CHECKING:
    from pathlib import Path


def _names(folder: Path, entries: int = 1_000) -> list[bytes]:
    return sorted(name for name, _ in walk(str(folder), Budget(HANG_SECONDS, entries)))


def test_files_are_named_from_the_folder_on(tmp_path: Path) -> None:
    put(tmp_path / "a", "")
    put(tmp_path / "sub" / "deep" / "b", "")
    (tmp_path / "empty").mkdir()
    assert _names(tmp_path) == [b"a", b"sub/deep/b"]


def test_with_the_time_of_their_last_change(tmp_path: Path) -> None:
    path = put(tmp_path / "a", "")
    os.utime(path, (0, 0))
    found = dict(walk(str(tmp_path), Budget(HANG_SECONDS, 9)))
    assert found == {b"a": path.stat().st_ctime_ns}


def test_links_are_seen_but_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "other" / "x", "")
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "other")
    (top / "loop").symlink_to(top)
    (top / "broken").symlink_to("gone")
    os.mkfifo(top / "fifo")
    assert _names(top) == [b"broken", b"fifo", b"link", b"loop"]


def test_what_is_made_from_the_work_is_passed_over(tmp_path: Path) -> None:
    for name in PASSED_OVER:
        put(tmp_path / "sub" / os.fsdecode(name) / "x", "")
    put(tmp_path / "build", "a file of that name")
    assert _names(tmp_path) == [b"build"]


def test_names_may_hold_anything(tmp_path: Path) -> None:
    names = [b"\xff\xfe", b"a\nb", b" "]
    for name in names:
        put(tmp_path / os.fsdecode(name), "")
    assert _names(tmp_path) == sorted(names)


def test_what_is_gone_has_no_files(tmp_path: Path) -> None:
    assert _names(tmp_path / "gone") == []


def test_what_goes_in_between_is_passed_over(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path / name, "")
    found = walk(str(tmp_path), Budget(HANG_SECONDS, 9))
    first, _ = next(found)
    for path in tmp_path.iterdir():
        path.unlink()
    assert (first in (b"a", b"b", b"c"), list(found)) == (True, [])


def test_more_than_there_may_be_is_too_much(tmp_path: Path) -> None:
    put(tmp_path / "sub" / "a", "")
    put(tmp_path / "sub" / "b", "")
    assert len(_names(tmp_path, entries=3)) == 2
    with pytest.raises(TooMuchError):
        _names(tmp_path, entries=2)
