from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING

import pytest
from making import at_once, put

from sisyphus.clients import opencode_files

if TYPE_CHECKING:
    from pathlib import Path


def _lines(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_records_are_added_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "opencode" / "s1.jsonl"
    opencode_files.append(str(path), [{"a": 1}, {"b": "zwei\n"}])
    opencode_files.append(str(path), [{"c": "\ud800"}])

    assert _lines(path) == [{"a": 1}, {"b": "zwei\n"}, {"c": "\ud800"}]
    assert path.read_bytes().startswith(b'{"a":1}\n')


def test_they_are_for_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "opencode" / "s1" / "subagents" / "agent-a1.jsonl"
    opencode_files.append(str(path), [{"a": 1}])

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("name", "records"), [("s1.jsonl", []), ("", [{"a": 1}])])
def test_where_there_is_nothing_to_add_nothing_is_made(
    tmp_path: Path, name: str, records: list[dict[str, object]]
) -> None:
    opencode_files.append(str(tmp_path / "opencode" / name) if name else "", records)
    assert not (tmp_path / "opencode").exists()


def _add(number: int, path: str) -> None:
    opencode_files.append(
        path, [{"number": number, "part": part, "text": "x" * 9_000} for part in range(3)]
    )


def test_of_many_at_once_none_mixes_its_lines_with_anothers(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    at_once(partial(_add, path=str(path)), range(16))

    found = [(row["number"], row["part"]) for row in _lines(path) if isinstance(row, dict)]
    assert sorted(found) == [(number, part) for number in range(16) for part in range(3)]
    assert [part for _, part in found] == [0, 1, 2] * 16


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [_fifo, _folder])
def test_something_else_in_its_place_is_an_error_at_once(tmp_path: Path, make: object) -> None:
    path = tmp_path / "s1.jsonl"
    assert callable(make)
    make(path)
    with pytest.raises(OSError, match="s1"):
        opencode_files.append(str(path), [{"a": 1}])


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "opencode", "somebody's")
    with pytest.raises(OSError, match="opencode"):
        opencode_files.append(str(tmp_path / "opencode" / "s1.jsonl"), [{"a": 1}])
