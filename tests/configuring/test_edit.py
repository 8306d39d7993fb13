from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.configuring.edit import HEAD, edit
from sisyphus.configuring.sources import read
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

APPEND = f"{sys.executable} -c \"import sys; open(sys.argv[-1], 'a').write('# {{}}')\""
"""An editor that adds a word."""


@pytest.fixture
def own(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return ours(home, "config.toml")


def _edit(path: Path) -> None:
    edit(str(path.parent), read(str(path), ""))


def test_a_file_that_is_not_there_is_made_with_a_head(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", APPEND.format("edited"))

    _edit(own)

    assert own.read_text() == f"{HEAD}# edited"


def test_visual_comes_before_editor_and_a_file_is_edited_as_it_is(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(own, "[rules\n")
    monkeypatch.setenv("EDITOR", APPEND.format("editor"))
    monkeypatch.setenv("VISUAL", APPEND.format("visual"))

    _edit(own)

    assert own.read_text() == "[rules\n# visual"


FAILING = [
    pytest.param("", "no editor is named. Set VISUAL or EDITOR", id="none"),
    pytest.param("   ", "no editor is named", id="blanks"),
    pytest.param("vi 'x", "EDITOR cannot be read: No closing quotation", id="an open quote"),
    pytest.param("/none/such", "/none/such cannot be run: No such file", id="no such command"),
    pytest.param("false", "false ended with exit code 1", id="one that fails"),
]


@pytest.mark.parametrize(("editor", "why"), FAILING)
def test_an_editor_that_fails_is_told(
    own: Path, monkeypatch: pytest.MonkeyPatch, editor: str, why: str
) -> None:
    monkeypatch.setenv("EDITOR", editor)

    with pytest.raises(SisyphusError, match=why):
        _edit(own)


def test_a_projects_file_that_leaves_it_is_not_edited(
    own: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", APPEND.format("edited"))
    (tmp_path / "outside").mkdir()
    (project / ".claude").symlink_to(tmp_path / "outside")

    with pytest.raises(SisyphusError, match="leaves"):
        edit(str(own.parent), read(str(project / ".claude/sisyphus.toml"), str(project)))

    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a FIFO", "a folder"])
def test_what_is_no_file_is_given_to_no_editor(
    own: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    seen = own.with_name("seen")
    monkeypatch.setenv("EDITOR", f"touch {seen}")
    own.parent.mkdir(parents=True)
    make(own)

    with pytest.raises(SisyphusError, match="is not a regular file"):
        _edit(own)

    assert not seen.exists()


def test_without_an_editor_no_file_is_made(own: Path) -> None:
    with pytest.raises(SisyphusError, match="no editor"):
        _edit(own)

    assert not own.exists()
