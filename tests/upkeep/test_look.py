from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.upkeep import kept, look
from upkeep import attic
from upkeep.attic import NOW, aged, below, lay

if TYPE_CHECKING:
    from pathlib import Path


def _found(home: Path) -> set[str]:
    folder = str(ours(home, ""))
    return {os.path.relpath(file.path, folder) for file in look.every_file(folder)}


def test_everything_that_ever_goes_is_found_and_nothing_else(home: Path) -> None:
    lay(home, attic.OF_SESSION, 1, "s1")
    lay(home, attic.OF_LOOP, 1, "loop1")
    lay(home, attic.OF_NOBODY, 1)
    lay(home, attic.ON_REQUEST, 1, "x1")
    aged(ours(home, "ralph/sessions/ppid_12.id"), 1, "s1\n")
    wanted = below(home)
    lay(home, attic.FOR_EVER, 1)
    assert _found(home) == wanted


def test_without_a_folder_there_is_nothing(home: Path) -> None:
    assert _found(home) == set()
    put(ours(home, "logs"), "a file in its place")
    assert _found(home) == set()


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "logs" / "journal-s1.jsonl", "x")
    put(tmp_path / "sub" / "subagents" / "agent-a1.jsonl", "x")
    put(tmp_path / "s2.json", "x")
    ours(home, "sessions").mkdir(parents=True)
    ours(home, "opencode").mkdir()
    ours(home, "logs").symlink_to(tmp_path / "logs")
    ours(home, "opencode/s1").symlink_to(tmp_path / "sub")
    ours(home, "sessions/s2.json").symlink_to(tmp_path / "s2.json")
    os.mkfifo(ours(home, "sessions/s3.json"))
    put(ours(home, "sessions/s4.json/inside"), "a folder")
    assert _found(home) == set()


def test_a_cache_is_as_old_as_its_last_use(home: Path) -> None:
    path = aged(ours(home, "cache/rules-p-1.jsonl"), 90)
    os.utime(path, (NOW, NOW - 90 * attic.DAY))
    [file] = look.every_file(str(ours(home, "")))
    assert (file.kind, file.changed) == (kept.CACHES, NOW)


def test_it_says_how_far_it_is_and_may_be_stopped(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "TELL_EVERY", 2)
    lay(home, attic.OF_SESSION[:5], 1, "s1")
    heard: list[int] = []
    look.every_file(str(ours(home, "")), heard.append)
    assert heard == [2, 4]

    def stop(_: int) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        look.every_file(str(ours(home, "")), stop)
