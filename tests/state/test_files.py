from __future__ import annotations

import json
import multiprocessing
import os
import re
import stat
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import at_once, debug_log, put, stored

from sisyphus.errors import NewerVersionError
from sisyphus.state import files

if TYPE_CHECKING:
    from pathlib import Path

UNREADABLE = [
    pytest.param(b"", id="empty"),
    pytest.param(b'{"a": 1', id="cut short"),
    pytest.param(b"[1]", id="a list"),
    pytest.param(b"null", id="null"),
    pytest.param(b"\xff\xfe{}", id="no text"),
    pytest.param(b"\0" * 100, id="NUL bytes"),
    pytest.param(b"[" * 100_000, id="nested too deeply"),
    pytest.param(b'{"a": ' + b"1" * 5_000 + b"}", id="a number of 5,000 digits"),
]


@pytest.mark.parametrize("data", UNREADABLE)
def test_unreadable_state_says_nothing(tmp_path: Path, data: bytes) -> None:
    path = put(tmp_path / "state.json", data)
    assert files.read_json(str(path)) is None
    assert path.read_bytes() == data


@pytest.mark.parametrize("data", UNREADABLE)
def test_unreadable_state_is_set_aside_before_a_change(
    home: Path, tmp_path: Path, data: bytes
) -> None:
    path = put(tmp_path / "state.json", data)
    assert files.update_json(str(path), lambda found: {**found, "a": 1}) == {"a": 1}
    (kept,) = tmp_path.glob("state.json.corrupt-*")
    assert re.fullmatch(r"state\.json\.corrupt-\d{8}T\d{6}Z", kept.name)
    assert kept.read_bytes() == data
    assert str(kept) in debug_log(home)


def test_nothing_set_aside_is_overwritten(tmp_path: Path) -> None:
    for number in range(3):
        put(tmp_path / "state.json", f"corrupt {number}")
        assert files.load_json(str(tmp_path / "state.json")) == {}
    kept = {path.read_text() for path in tmp_path.glob("state.json.corrupt-*")}
    assert kept == {"corrupt 0", "corrupt 1", "corrupt 2"}


def test_a_folder_in_the_place_of_a_state_file_is_set_aside(tmp_path: Path) -> None:
    put(tmp_path / "state.json" / "inside", "kept")
    files.update_json(str(tmp_path / "state.json"), lambda _: {"a": 1})
    assert stored(tmp_path / "state.json")["a"] == 1
    assert [path.read_text() for path in tmp_path.glob("*.corrupt-*/inside")] == ["kept"]


def test_absent_state_is_empty(tmp_path: Path) -> None:
    assert files.read_json(str(tmp_path / "none.json")) is None
    assert files.load_json(str(tmp_path / "none.json")) == {}
    assert list(tmp_path.iterdir()) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
objects = st.dictionaries(
    st.text(st.characters()).filter(lambda key: key != "version"), json_values
)


@given(objects, st.sampled_from([None, 2]))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any], indent: int | None
) -> None:
    path = str(tmp_path_factory.getbasetemp() / "round.json")
    files.write_json(path, value, indent=indent)
    assert files.read_json(path) == {**value, "version": 1}
    files.write_json(path, value, version=None)
    assert files.read_json(path) == value


@given(objects, objects)
def test_fields_that_are_not_known_stay(
    tmp_path_factory: pytest.TempPathFactory, theirs: dict[str, Any], new: dict[str, Any]
) -> None:
    path = str(tmp_path_factory.getbasetemp() / "kept.json")
    files.write_json(path, theirs)
    files.update_json(path, lambda found: {**found, **new})
    assert files.read_json(path) == {**theirs, **new, "version": 1}


@given(st.binary())
def test_no_bytes_in_a_state_file_raise(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = put(tmp_path_factory.getbasetemp() / "any.json", data)
    value = files.read_json(str(path))
    assert value is None or isinstance(value, dict)


def test_a_change_of_none_leaves_the_file_alone(tmp_path: Path) -> None:
    path = put(tmp_path / "state.json", '{"a":1}')
    assert files.update_json(str(path), lambda _: None) == {"a": 1}
    assert path.read_text() == '{"a":1}'


@pytest.mark.parametrize("change", [lambda found: {**found, "a": 2}, lambda _: {"a": 2}])
def test_state_of_a_newer_version_is_never_overwritten(tmp_path: Path, change: Any) -> None:
    path = put(tmp_path / "state.json", '{"version": 2, "a": 1}')
    with pytest.raises(NewerVersionError, match="written by a newer sisyphus; upgrade"):
        files.update_json(str(path), change)
    assert stored(path) == {"version": 2, "a": 1}


def test_state_of_a_newer_version_can_be_read(tmp_path: Path) -> None:
    path = put(tmp_path / "state.json", '{"version": 2, "a": 1}')
    assert files.update_json(str(path), lambda _: None) == {"version": 2, "a": 1}


@pytest.mark.parametrize("version", ["2", None, [], 0, 1])
def test_a_version_that_is_none_or_ours_becomes_ours(tmp_path: Path, version: object) -> None:
    path = put(tmp_path / "state.json", json.dumps({"version": version}))
    files.update_json(str(path), lambda found: {**found, "a": 1})
    assert stored(path) == {"version": 1, "a": 1}


def test_a_foreign_shape_carries_no_version(tmp_path: Path) -> None:
    path = put(tmp_path / "kord.json", '{"version": "theirs"}')
    files.update_json(str(path), lambda found: {**found, "a": 1}, version=None, indent=2)
    assert path.read_text() == '{\n  "version": "theirs",\n  "a": 1\n}\n'


def test_state_is_for_its_user_alone(home: Path) -> None:
    path = home / "deep" / "below" / "state.json"
    files.update_json(str(path), lambda _: {"a": 1})
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (path.parent.parent, path.parent, path)]
    assert modes == [0o700, 0o700, 0o600]


def test_a_leftover_of_a_killed_writer_is_in_nobodys_way(tmp_path: Path) -> None:
    put(tmp_path / "state.json.tmp", "half a fi" * 1_000)
    files.write_json(str(tmp_path / "state.json"), {"a": 1})
    assert stored(tmp_path / "state.json") == {"a": 1, "version": 1}
    assert not (tmp_path / "state.json.tmp").exists()


def test_nothing_counts_before_its_commit(tmp_path: Path) -> None:
    path = put(tmp_path / "state.json", '{"a": 1}')
    staged = files.stage_json(str(path), {"a": 2})
    assert stored(path) == {"a": 1}
    staged.commit()
    assert stored(path)["a"] == 2


def test_a_removal_happens_at_its_commit(tmp_path: Path) -> None:
    path = put(tmp_path / "queue.json", "{}")
    removal = files.Removal(str(path))
    assert path.exists()
    removal.commit()
    assert not path.exists()


@given(st.text(st.characters()))
def test_a_text_is_written_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "text"
    files.write_text(str(path), text)
    assert path.read_bytes().decode("utf-8", "surrogatepass") == text


def test_folders_are_made_where_others_make_them_too(tmp_path: Path) -> None:
    folder = str(tmp_path / "a" / "b" / "c")
    files.ensure_folder(folder)
    files.ensure_folder(folder)
    assert os.path.isdir(folder)


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "a", "")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        files.ensure_folder(str(tmp_path / "a"))
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        files.ensure_folder(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a").read_text() == ""


def test_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "log.jsonl"
    for number in range(3):
        files.append_line(str(path), {"n": number, "text": "a\nb"})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [{"n": number, "text": "a\nb"} for number in range(3)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def _count_up(path: str) -> None:
    for _ in range(25):
        files.update_json(path, lambda found: {**found, "n": found.get("n", 0) + 1})


def test_no_update_of_many_writers_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    at_once(_count_up, [str(path)] * 8)
    assert stored(path)["n"] == 200


def _write_for_ever(path: str) -> None:
    for number in count(1):
        files.update_json(path, partial(dict, n=number, filler="x" * 50_000, also=number))


def test_a_writer_killed_at_any_moment_leaves_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for _ in range(20):
        writer = multiprocessing.get_context("fork").Process(
            target=_write_for_ever, args=[str(path)]
        )
        writer.start()
        while not path.exists() or stored(path)["n"] < 3:
            pass
        writer.kill()
        writer.join()
        assert stored(path)["n"] == stored(path)["also"]
        path.unlink()
