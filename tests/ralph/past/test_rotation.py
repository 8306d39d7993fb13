from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.errors import UnreadableError
from sisyphus.ralph.past import records, rotation
from sisyphus.state import jsonl

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


def _line(loop_id: str, status: str, filler: int = 0) -> bytes:
    line: Json = {"loop_id": loop_id, "session_id": "s1", "status": status, "task": "x" * filler}
    if status == "completed":
        line["outcome"] = f"after {filler}"
    return json.dumps(line).encode()


ids = st.sampled_from("abcdef")
line_bytes = st.builds(_line, ids, st.sampled_from(["active", "completed"]), st.integers(0, 200))
garbage = st.binary(min_size=1, max_size=30).map(lambda data: data.replace(b"\n", b"?"))
histories = st.lists(line_bytes | garbage, max_size=30)
living_ids = st.frozensets(ids)
rooms = st.integers(0, 3_000)


def _whole(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _split(data: bytes) -> list[bytes]:
    return data.split(b"\n")[:-1]


def _ids(data: bytes) -> set[str]:
    found = (jsonl.parse(line) for line in _split(data))
    return {line["loop_id"] for line in found if line}


@given(histories, living_ids, rooms)
def test_every_line_goes_or_stays(lines: list[bytes], living: frozenset[str], room: int) -> None:
    going, staying = rotation.divide(_whole(lines), living, room)
    assert sorted(_split(going) + _split(staying)) == sorted(lines)


@given(histories, living_ids, rooms)
def test_loops_go_whole_and_only_when_they_have_ended(
    lines: list[bytes], living: frozenset[str], room: int
) -> None:
    going, staying = rotation.divide(_whole(lines), living, room)
    assert _ids(going) & (_ids(staying) | living) == set()


@given(histories, living_ids, rooms)
def test_as_much_goes_as_must(lines: list[bytes], living: frozenset[str], room: int) -> None:
    going, staying = rotation.divide(_whole(lines), living, room)
    assert len(staying) <= room or all(_ids(line + b"\n") & living for line in _split(staying))
    if len(_whole(lines)) <= room:
        assert going == b""


@given(histories, living_ids, rooms)
def test_lines_keep_their_order(lines: list[bytes], living: frozenset[str], room: int) -> None:
    for part in rotation.divide(_whole(lines), living, room):
        rest = iter(lines)
        assert all(line in rest for line in _split(part))


def test_what_ended_longest_ago_goes_first() -> None:
    lines = [
        _line("a", "active"), _line("b", "active"), _line("b", "completed"),
        _line("a", "completed"),
    ]  # fmt: skip
    going, _ = rotation.divide(_whole(lines), (), len(_whole(lines)) - 1)
    assert _ids(going) == {"b"}


def test_a_log_that_just_fits_stays_as_it_is() -> None:
    data = _whole([_line("a", "active"), _line("a", "completed")])
    assert rotation.divide(data, (), len(data)) == (b"", data)


def test_an_unfinished_line_and_empty_ones_are_no_obstacle() -> None:
    data = b"\n" + _line("a", "active") + b"\n\n" + _line("b", "active")
    going, staying = rotation.divide(data, ("b",), 0)
    assert (_ids(going), _ids(staying)) == ({"a"}, {"b"})


def _seen(archive: Path, log: Path) -> list[Json]:
    found = records.Merge()
    for path in (archive, log):
        for line in jsonl.read(str(path)):
            found.take(line)
    return sorted((r.as_json() for r in found.settle(())), key=lambda row: str(row["loop_id"]))


@given(histories, histories, living_ids, rooms)
def test_a_history_reads_the_same_after_every_step(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[bytes],
    lines: list[bytes],
    living: frozenset[str],
    room: int,
) -> None:
    folder = tmp_path_factory.mktemp("steps")
    archive, log = put(folder / "archive", _whole(before)), put(folder / "log", _whole(lines))
    seen = _seen(archive, log)

    going, _ = rotation.divide(log.read_bytes(), living, room)
    rotation.append(str(archive), going)
    assert _seen(archive, log) == seen

    rotation.rotate(str(log), str(archive), living, room)
    assert _seen(archive, log) == seen


@given(histories, living_ids, st.integers(0, 5_000))
def test_a_writer_killed_while_it_fills_the_archive_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    living: frozenset[str],
    written: int,
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    archive, log = folder / "archive", put(folder / "log", _whole(lines))
    seen = _seen(archive, log)

    going, _ = rotation.divide(log.read_bytes(), living, 0)
    put(archive, going[:written])
    assert _seen(archive, log) == seen

    rotation.rotate(str(log), str(archive), living, 0)
    assert _seen(archive, log) == seen


def test_where_nothing_may_go_nothing_is_written(tmp_path: Path) -> None:
    log = put(tmp_path / "log", _line("a", "active") + b"\n")
    rotation.rotate(str(log), str(tmp_path / "archive"), ("a",), 0)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_an_archive_that_cannot_be_written_keeps_the_log_whole(tmp_path: Path) -> None:
    log = put(tmp_path / "log", _line("a", "active") + b"\n")
    put(tmp_path / "archive" / "x", "in the way")
    with pytest.raises(OSError, match="directory"):
        rotation.rotate(str(log), str(tmp_path / "archive"), (), 0)
    assert _ids(log.read_bytes()) == {"a"}


def test_a_log_that_is_no_file_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path / "log" / "x", "")
    with pytest.raises(UnreadableError):
        rotation.rotate(str(tmp_path / "log"), str(tmp_path / "archive"), (), 0)


ENDS = [
    pytest.param(None, True, id="no file"),
    pytest.param(b"", True, id="empty"),
    pytest.param(b"a\n", True, id="whole"),
    pytest.param(b"a\nb", False, id="torn"),
]


@pytest.mark.parametrize(("data", "is_whole"), ENDS)
def test_a_torn_line_is_noticed(tmp_path: Path, data: bytes | None, is_whole: bool) -> None:
    path = tmp_path / "log"
    if data is not None:
        put(path, data)
    assert rotation.ends_with_line(str(path)) is is_whole
