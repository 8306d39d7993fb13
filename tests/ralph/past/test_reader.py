from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import ours

from ralph.past.log import a_loop, ends, known, lives, ran, starts
from sisyphus.paths import our_home
from sisyphus.ralph.loop import CANCELLED
from sisyphus.ralph.past import history
from sisyphus.ralph.past.reader import Reader
from sisyphus.ralph.store import LoopStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json


def _dies(loop_id: str, session: str) -> None:
    with LoopStore(our_home(), session) as held:
        held.save([loop for loop in held.loops if loop.loop_id != loop_id])


def _moves_to_the_archive(home: Path) -> None:
    log, archive = ours(home, "logs/sessions.jsonl"), ours(home, "logs/sessions.archive.jsonl")
    archive.write_bytes(log.read_bytes())
    log.write_bytes(b"")


def _told(reader: Reader) -> list[Json]:
    return [record.as_json() for record in reader.read()]


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda _: ran(a_loop("bbbbb", minute=9)), id="another loop runs"),
        pytest.param(lambda _: ends(a_loop(), CANCELLED), id="a loop that was known ends"),
        pytest.param(lambda _: lives(a_loop()), id="a loop that was lost has a state file again"),
        pytest.param(lambda _: _dies("ccccc", "s3"), id="a state file goes"),
        pytest.param(_moves_to_the_archive, id="all lines move to the archive"),
        pytest.param(
            lambda home: ours(home, "logs/sessions.jsonl").unlink(), id="the log is removed"
        ),
    ],
)
def test_what_is_read_again_is_what_is_there_then(
    home: Path, happens: Callable[[Path], object]
) -> None:
    ran(a_loop("eeeee", "s9", minute=1))
    _moves_to_the_archive(home)
    starts(a_loop())
    lives(starts(a_loop("ccccc", "s3", minute=2)))
    reader = Reader(our_home())
    before = _told(reader)

    happens(home)

    assert _told(reader) == [record.as_json() for record in known()] != before


@pytest.mark.usefixtures("home")
def test_a_loop_that_goes_on_does_not_change_what_was_read_before() -> None:
    ran(a_loop("eeeee", "s9"))
    lives(starts(a_loop("ccccc", "s3")))
    reader = Reader(our_home())
    before = reader.read()
    told = [record.as_json() for record in before]

    _dies("ccccc", "s3")
    reader.read()

    assert [record.as_json() for record in before] == told


def test_files_that_stayed_as_they_are_are_not_read_again(home: Path) -> None:
    """Their time and size are the same, so nobody looks at their lines."""
    ran(a_loop("aaaaa"))
    reader = Reader(our_home())
    reader.read()
    log = ours(home, "logs/sessions.jsonl")
    found = log.stat()

    log.write_bytes(log.read_bytes().replace(b"aaaaa", b"zzzzz"))
    os.utime(log, ns=(found.st_atime_ns, found.st_mtime_ns))

    assert [record.loop_id for record in reader.read()] == ["aaaaa"]
    assert [record.loop_id for record in history.read(our_home())] == ["zzzzz"]
