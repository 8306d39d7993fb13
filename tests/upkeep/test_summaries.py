from __future__ import annotations

import json
import os
import tracemalloc
from typing import TYPE_CHECKING

from making import ours, put, stored

from sisyphus.paths import our_home
from sisyphus.state import journal, jsonl
from sisyphus.upkeep import summaries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pytest

AT = 1_795_186_800.0


def _note(session: str, at: float = AT, **fields: object) -> None:
    journal.append(session, {"at": at, "event": "stop", "ms": 4, **fields})


class Reads:
    """Which journals were read, in the order of their sessions' names."""

    def __init__(self) -> None:
        self.sessions: list[str] = []

    def each(
        self, files: Iterable[tuple[str, str, list[int]]]
    ) -> Iterator[tuple[str, str, list[int]]]:
        for file in files:
            self.sessions.append(file[0])
            yield file


def _read() -> tuple[dict[str, int], list[str]]:
    """Hooks by session, and the journals that were read for that."""
    reads = Reads()
    found = summaries.read(our_home(), reads.each)
    return {one.session: one.hooks for one in found}, sorted(reads.sessions)


def test_every_journal_is_summed_up_the_first_session_first(home: Path) -> None:
    _note("s2", AT)
    _note("s1", AT + 1)
    _note("s1", AT + 2)
    put(ours(home, "logs/journal-..jsonl"), "no session")
    put(ours(home, "logs/debug.log"), "no journal")
    put(ours(home, "logs/journal-s3.jsonl/x"), "a folder")
    found = summaries.read(our_home())
    assert [(one.session, one.hooks) for one in found] == [("s2", 1), ("s1", 2)]


def test_only_what_is_new_is_read() -> None:
    _note("s1")
    _note("s2")
    assert _read() == ({"s1": 1, "s2": 1}, ["s1", "s2"])
    assert _read() == ({"s1": 1, "s2": 1}, [])
    _note("s2")
    assert _read() == ({"s1": 1, "s2": 2}, ["s2"])


def test_of_a_journal_that_has_grown_the_new_lines_are_read(home: Path) -> None:
    _note("s1")
    _read()
    path = ours(home, "logs/journal-s1.jsonl")
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.write(b"x" * (size - 1))  # what was read is not looked at again
        file.seek(size)
        file.write(b'{"at": 1, "event": "stop"}\n{"event": "sto')
    assert _read()[0] == {"s1": 2}
    with open(path, "ab") as file:
        file.write(b'p"}\n')
    assert _read()[0] == {"s1": 3}


def test_a_huge_line_is_not_held(home: Path) -> None:
    path = put(ours(home, "logs/journal-s1.jsonl"), "")
    os.truncate(path, 60_000_000)
    with open(path, "ab") as file:
        file.write(b"\n")
    _note("s1")
    tracemalloc.start()
    assert _read()[0] == {"s1": 1}
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * jsonl.LINE_BYTES


def test_a_journal_that_was_begun_anew_is_read_anew(home: Path) -> None:
    _note("s1")
    _note("s1")
    _read()
    path = ours(home, "logs/journal-s1.jsonl")
    line = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(line)
    assert _read()[0] == {"s1": 1}
    path.rename(path.with_suffix(".old"))
    path.write_bytes(line * 3)
    assert _read()[0] == {"s1": 3}


def test_a_journal_that_has_gone_is_forgotten(home: Path) -> None:
    _note("s1")
    _note("s2")
    _read()
    ours(home, "logs/journal-s1.jsonl").unlink()
    assert _read() == ({"s2": 1}, [])
    assert list(stored(ours(home, "cache/sessions.json"))["sessions"]) == ["s2"]


def test_a_cache_that_is_nonsense_is_made_anew(home: Path) -> None:
    _note("s1")
    for content in ("torn{", "[]", '{"sessions": 3}', '{"sessions": {"s1": 4}}'):
        put(ours(home, "cache/sessions.json"), content)
        assert _read()[0] == {"s1": 1}


def test_what_an_older_version_kept_is_read_anew(home: Path) -> None:
    _note("s1")
    _read()
    path = ours(home, "cache/sessions.json")
    kept = stored(path)
    del kept["sessions"]["s1"]["texts"]
    put(path, json.dumps(kept))
    assert _read() == ({"s1": 1}, ["s1"])
    assert _read() == ({"s1": 1}, [])


def test_what_a_newer_version_kept_is_left_alone(home: Path) -> None:
    path = put(ours(home, "cache/sessions.json"), '{"version": 2, "sessions": {}}')
    _note("s1")
    assert _read() == ({"s1": 1}, ["s1"])
    assert stored(path) == {"version": 2, "sessions": {}}


def test_a_cache_that_grew_too_large_keeps_the_latest(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(8):
        _note(f"s{n}")
        os.utime(ours(home, f"logs/journal-s{n}.jsonl"), ns=(n, n))
    monkeypatch.setattr(summaries, "STATE_BYTES", 1_500)
    assert len(_read()[0]) == 8
    path = ours(home, "cache/sessions.json")
    assert path.stat().st_size <= 1_500
    assert list(stored(path)["sessions"])[-1] == "s7"
    assert 0 < len(_read()[1]) < 8


def test_a_reader_goes_on_where_it_was(home: Path) -> None:
    reader, reads = summaries.Reader(our_home()), Reads()
    _note("s1")
    _note("s2", sent=9, texts=["loop"])
    first = reader.read(reads.each)
    _note("s2", AT + 1, sent=9, texts=["loop"])
    ours(home, "logs/journal-s1.jsonl").unlink()
    second = reader.read(reads.each)
    assert [(one.session, one.hooks) for one in first] == [("s1", 1), ("s2", 1)]
    assert [(one.session, one.hooks) for one in second] == [("s2", 2)]
    assert [one.texts["loop"] for one in (first[1], second[0])] == [(1, AT), (2, AT + 1)]
    assert sorted(reads.sessions) == ["s1", "s2", "s2"]
    assert reader.read() == second


def test_a_reader_that_goes_on_seldom_writes_the_whole_cache(home: Path) -> None:
    reader, path = summaries.Reader(our_home()), ours(home, "cache/sessions.json")
    _note("s1")
    reader.read()
    kept = stored(path)
    _note("s1")
    reader.read()
    assert stored(path) == kept
    reader.read(worth=1)
    assert stored(path)["sessions"]["s1"]["hooks"] == 2


def test_without_room_for_a_cache_it_works_too(home: Path) -> None:
    _note("s1")
    put(ours(home, "cache"), "a file in its place")
    assert _read() == ({"s1": 1}, ["s1"])
    assert _read() == ({"s1": 1}, ["s1"])


def test_without_journals_there_is_nothing() -> None:
    assert _read() == ({}, [])
