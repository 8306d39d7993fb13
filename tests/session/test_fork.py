from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.session.fork import find_parents

if TYPE_CHECKING:
    from pathlib import Path

FORKED_AT = 1_795_198_235.635  # 2026-11-20T18:10:35.635Z
BEFORE, AFTER = "2026-11-20T18:10:35.634Z", "2026-11-20T18:10:35.646Z"


def _line(uuid: str, timestamp: str = BEFORE, **fields: object) -> str:
    record = {"type": "user", "uuid": uuid, "timestamp": timestamp, **fields}
    return json.dumps(record, separators=(",", ":")) + "\n"


STEM = _line("u-1") + _line("u-2", type="assistant")
OWN = (
    '{"type":"mode"}\n'
    + _line("hook-early", type="attachment")
    + _line("hook-late", AFTER, type="attachment")
    + _line("u-own", AFTER, parentUuid="u-2")
)


@pytest.fixture
def fork(tmp_path: Path) -> str:
    """The transcript of a forked session: its parent's lines, then its own."""
    return str(put(tmp_path / "fork.jsonl", STEM + OWN))


def _find(transcript: str) -> list[str] | None:
    return find_parents(transcript, FORKED_AT)


def test_the_parent_is_the_neighbour_that_holds_the_last_copied_line(
    tmp_path: Path, fork: str
) -> None:
    put(tmp_path / "stranger.jsonl", _line("other"))
    put(tmp_path / "parent.jsonl", STEM + _line("later", AFTER))
    assert _find(fork) == ["parent"]


def test_a_sibling_that_began_at_an_earlier_line_is_no_parent(tmp_path: Path, fork: str) -> None:
    put(tmp_path / "sibling.jsonl", _line("u-1") + _line("its own"))
    os.utime(put(tmp_path / "parent.jsonl", STEM), (1, 1))
    assert _find(fork) == ["parent"]


def test_of_a_fork_of_a_fork_the_nearer_is_the_parent(tmp_path: Path) -> None:
    put(tmp_path / "grandparent.jsonl", STEM)
    put(tmp_path / "parent.jsonl", STEM + _line("u-3"))
    assert _find(str(put(tmp_path / "fork.jsonl", STEM + _line("u-3") + OWN))) == ["parent"]


def test_siblings_forked_at_the_same_line_cannot_be_told_from_the_parent(
    tmp_path: Path, fork: str
) -> None:
    for age, name in enumerate(("sibling", "parent")):
        os.utime(put(tmp_path / f"{name}.jsonl", STEM + _line(name)), (1_000, 1_000 - age))
    assert _find(fork) == ["sibling", "parent"]


def test_a_parent_may_be_longer_than_what_is_read_of_it(tmp_path: Path, fork: str) -> None:
    put(tmp_path / "parent.jsonl", "x" * 1_500_000 + "\n" + STEM)
    assert _find(fork) == ["parent"]


ORPHANS = [
    pytest.param("notes.txt", STEM, id="another kind of file"),
    pytest.param("other.jsonl", _line("u-1"), id="a conversation that lacks the last line"),
    pytest.param("quoting.jsonl", _line("q", text=STEM), id="a conversation about that line"),
    pytest.param("child.jsonl", _line("c", parentUuid="u-2"), id="a line that follows it"),
    pytest.param("empty.jsonl", "", id="an empty transcript"),
    pytest.param("far.jsonl", STEM + "x" * 1_500_000, id="one that went on for long"),
]


@pytest.mark.parametrize(("name", "text"), ORPHANS)
def test_a_fork_may_have_no_parent_here(tmp_path: Path, fork: str, name: str, text: str) -> None:
    put(tmp_path / name, text)
    assert _find(fork) == []


YOUNG = ["", '{"type":"mode"}\n', _line("hook", type="attachment"), '{"uuid":']


@pytest.mark.parametrize("text", YOUNG)
def test_a_transcript_that_is_too_young_names_nobody_yet(tmp_path: Path, text: str) -> None:
    assert _find(str(put(tmp_path / "fork.jsonl", text))) is None


@pytest.mark.parametrize("path", ["", "/nowhere/fork.jsonl", "/dev/zero", "/etc"])
def test_a_transcript_that_is_none_names_nobody(path: str) -> None:
    assert _find(path) is None


NOTHING_COPIED = [
    pytest.param(_line("u-own", AFTER), id="all is its own"),
    pytest.param('{"type":"user","uuid":"u-2"}\n', id="no timestamp"),
    pytest.param('{"type":"user","uuid":"u-2","timestamp":[]}\n', id="a strange timestamp"),
    pytest.param(_line("").replace('"uuid":"",', '"x":{"uuid":"u-2"},'), id="no uuid of its own"),
]


@pytest.mark.parametrize("text", NOTHING_COPIED)
def test_a_fork_that_copied_nothing_has_no_parent(tmp_path: Path, text: str) -> None:
    put(tmp_path / "parent.jsonl", STEM)
    assert _find(str(put(tmp_path / "fork.jsonl", text))) == []


@pytest.mark.parametrize(
    "moment", ["", "soon", None, [], float("nan"), float("inf"), 10**400, -1e18]
)
def test_a_fork_from_no_moment_has_no_parent(tmp_path: Path, fork: str, moment: object) -> None:
    put(tmp_path / "parent.jsonl", STEM)
    assert find_parents(fork, moment) == []


def test_odd_neighbours_are_passed_over(tmp_path: Path, fork: str) -> None:
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "broken.jsonl").symlink_to("nowhere")
    os.utime(put(tmp_path / "parent.jsonl", STEM), (1, 1))
    assert _find(fork) == ["parent"]
