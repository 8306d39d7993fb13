from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.errors import UnreadableError
from sisyphus.reading import read_bytes, read_head, read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 100


READABLE = [
    pytest.param(b"hello\n", "hello\n", id="plain text"),
    pytest.param(b"", "", id="nothing"),
    pytest.param(b"\xef\xbb\xbfhello", "hello", id="without its byte order mark"),
    pytest.param(b"a\r\nb\rc\n", "a\r\nb\rc\n", id="line ends as they are"),
    pytest.param("é😀".encode(), "é😀", id="UTF-8"),
    pytest.param(b"x" * LIMIT, "x" * LIMIT, id="exactly as large as allowed"),
]


@pytest.mark.parametrize(("data", "text"), READABLE)
def test_a_text_is_read(tmp_path: Path, data: bytes, text: str) -> None:
    assert read_text(str(put(tmp_path / "file", data)), LIMIT) == text


NO_TEXT = [
    pytest.param(b"x" * (LIMIT + 1), r"too large \(over 100 bytes\)", id="too large"),
    pytest.param(b"\x89PNG\r\n\x1a\n\0\0", "binary", id="binary"),
    pytest.param("é".encode("latin-1"), "not UTF-8", id="Latin-1"),
    pytest.param("text".encode("utf-16"), "binary", id="UTF-16"),
    pytest.param(b"\xed\xa0\x80", "not UTF-8", id="half of a surrogate pair"),
]


@pytest.mark.parametrize(("data", "reason"), NO_TEXT)
def test_what_is_no_text_is_named(tmp_path: Path, data: bytes, reason: str) -> None:
    path = str(put(tmp_path / "file", data))
    with pytest.raises(UnreadableError, match=f"^{path}: {reason}$"):
        read_text(path, LIMIT)


def _socket(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        os.chdir(os.path.dirname(path))  # a socket's name may have 108 bytes
        one.bind(os.path.basename(path))


NO_FILE = [
    pytest.param(lambda _: None, "No such file", id="nothing"),
    pytest.param(os.mkdir, "not a regular file", id="a folder"),
    pytest.param(os.mkfifo, "not a regular file", id="a FIFO, without waiting"),
    pytest.param(_socket, "No such device", id="a socket"),
    pytest.param(lambda path: os.symlink("/dev/zero", path), "not a regular file", id="a device"),
    pytest.param(lambda path: os.symlink(path, path), "symbolic links", id="a link to itself"),
    pytest.param(lambda path: os.symlink("gone", path), "No such file", id="a broken link"),
]


@pytest.mark.parametrize(("make", "reason"), NO_FILE)
def test_only_regular_files_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[str], None], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "file")
    make(path)
    with pytest.raises(UnreadableError, match=reason):
        read_bytes(path, LIMIT)


NO_NAME = [
    pytest.param("a\0b", "null", id="a NUL"),
    pytest.param("\ud800", "surrogates", id="half of a surrogate pair"),
    pytest.param("x" * 300, "too long", id="too long"),
    pytest.param("", "No such file", id="empty"),
]


@pytest.mark.parametrize(("name", "reason"), NO_NAME)
def test_an_impossible_name_is_unreadable(name: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_bytes(name, LIMIT)


def test_a_link_that_leaves_is_not_followed(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "secret", "secret")
    (project / "README.md").symlink_to(tmp_path / "secret")
    with pytest.raises(UnreadableError, match=r"README\.md: leaves "):
        read_text(str(project / "README.md"), LIMIT, str(project))


def test_a_link_that_stays_is_followed(project: Path) -> None:
    put(project / "docs" / "README", "inside")
    (project / "README.md").symlink_to("docs/README")
    assert read_text(str(project / "README.md"), LIMIT, str(project)) == "inside"


def test_a_link_of_the_users_own_may_lead_anywhere(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "dotfiles", "mine")
    (home / "config").symlink_to(tmp_path / "dotfiles")
    assert read_text(str(home / "config"), LIMIT) == "mine"


def test_the_head_of_a_file_of_any_size_is_read(tmp_path: Path) -> None:
    assert read_head(str(put(tmp_path / "file", "x" * 1_000)), LIMIT) == b"x" * LIMIT


def test_a_file_that_fails_in_the_middle_is_unreadable() -> None:
    with pytest.raises(UnreadableError, match=r"^/proc/self/mem: "):
        read_head("/proc/self/mem", LIMIT)


@given(st.binary(max_size=LIMIT + 20))
def test_any_bytes_are_a_text_or_unreadable(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = str(put(tmp_path_factory.getbasetemp() / "any", data))
    try:
        text = read_text(path, LIMIT)
    except UnreadableError:
        return
    assert text.encode() == data.removeprefix(b"\xef\xbb\xbf")
