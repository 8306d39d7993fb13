from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.errors import SisyphusError
from sisyphus.install import folders
from sisyphus.paths import client_home

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_missing_is_told_outermost_first(tmp_path: Path) -> None:
    wanted = [str(tmp_path / name) for name in ("a/b", "a/c", "")]
    expected = [str(tmp_path / name) for name in ("a", "a/b", "a/c")]
    assert list(folders.missing(wanted)) == expected


def test_the_folder_around_our_own_is_nobodys_to_make() -> None:
    """It is there before anything is written, and stays."""
    assert folders.missing([client_home()]) == ()
    commands = os.path.join(client_home(), "commands")
    assert folders.missing([commands]) == (commands,)


def test_what_will_be_empty_goes_and_what_is_not_is_told(tmp_path: Path) -> None:
    kept = put(tmp_path / "a/kept", "")
    gone = put(tmp_path / "a/b/gone", "")
    made = [str(kept.parent), str(gone.parent), str(tmp_path / "never made")]
    drop, left = folders.emptied(made, {str(gone)})
    assert drop == (str(gone.parent),)
    assert left == ((str(kept.parent), ("kept",)),)


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    put(tmp_path / "file", "")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/link").symlink_to(tmp_path)
    base = str(tmp_path / "project")
    folders.check(os.path.join(base, "new/folder"), base)
    with pytest.raises(SisyphusError, match=r"file is no folder\. Move it away"):
        folders.check(str(tmp_path / "file/x"), str(tmp_path))
    with pytest.raises(SisyphusError, match=r"link leads to .*, which is not in .*project"):
        folders.check(os.path.join(base, "link/x"), base)
