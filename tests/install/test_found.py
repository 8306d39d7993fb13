from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from install.scene import MD, ours
from sisyphus import __version__
from sisyphus.install import found, marks

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN = [
    pytest.param(ours(), found.OURS, id="older"),
    pytest.param(ours(__version__), found.OURS, id="of this version"),
    pytest.param(ours().replace(b"\n", b"\r\n"), found.OURS, id="CRLF"),
    pytest.param(ours() + b"x", found.EDITED, id="edited"),
    pytest.param(ours("99.0") + b"x", found.EDITED, id="newer and edited"),
    pytest.param(ours("99.0"), found.NEWER, id="newer"),
    pytest.param(b"", found.FOREIGN, id="empty"),
    pytest.param(MD.encode(), found.FOREIGN, id="without the mark"),
    pytest.param(b"\xff\xfe\0", found.FOREIGN, id="binary"),
    pytest.param(marks.marked("x" * 1_000_001, "0.1.0"), found.FOREIGN, id="too large"),
]


@pytest.mark.parametrize(("data", "kind"), WRITTEN)
def test_a_file_is_known_by_its_mark(tmp_path: Path, data: bytes, kind: str) -> None:
    one = found.look(str(put(tmp_path / "a.md", data)))
    assert one.kind == kind
    assert (one.why == "") is (kind == found.OURS)
    assert one.data == (b"" if kind == found.FOREIGN else data)


def test_where_nothing_is_nothing_is_found(tmp_path: Path) -> None:
    assert found.look(str(tmp_path / "a.md")) == found.Found(found.ABSENT)


def test_what_is_no_file_is_not_ours(tmp_path: Path) -> None:
    put(tmp_path / "ours.md", ours())
    (tmp_path / "link.md").symlink_to("ours.md")
    (tmp_path / "broken.md").symlink_to("nothing")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("link", "broken"):
        one = found.look(str(tmp_path / f"{name}.md"))
        assert (one.kind, one.why) == (found.FOREIGN, "it is a link, not written by sisyphus")
    for name in ("folder", "pipe"):
        one = found.look(str(tmp_path / f"{name}.md"))
        assert (one.kind, one.why) == (found.FOREIGN, "it is no file, not written by sisyphus")


def test_all_of_ours_are_found_and_no_others(tmp_path: Path) -> None:
    for name, data in (("a.md", ours()), ("b.md", ours() + b"x"), ("c.md", b""), ("d.js", ours())):
        put(tmp_path / name, data)
    kinds = {os.path.basename(p): f.kind for p, f in found.of_ours([str(tmp_path)], ".md").items()}
    assert kinds == {"a.md": found.OURS, "b.md": found.EDITED}


def test_of_a_crowded_folder_so_many_files_are_looked_at(tmp_path: Path) -> None:
    for number in range(1_001):
        put(tmp_path / f"{number:04}.md", "")
    paths = found.files([str(tmp_path)], ".md")
    assert len(paths) == 1_000
    assert paths[-1] == str(tmp_path / "0999.md")
