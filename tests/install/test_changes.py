from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from making import ours as of_ours
from making import put

from install.scene import in_project, ours, tree
from sisyphus.install import changes, found
from sisyphus.install.plan import EDIT, INSTALL, REMOVE, REPLACE, UPDATE, WRITE, Plan, Step

if TYPE_CHECKING:
    from pathlib import Path


def _make(plan: Plan) -> None:
    with changes.Undo() as undo:
        changes.make(plan, undo)
        undo.pop_all()


def _write(path: Path, data: bytes = b"new") -> Step:
    return Step(str(path), WRITE, found.Found(found.ABSENT), data)


def _change(path: Path, action: str, after: bytes | None) -> Step:
    before = found.look(str(path))
    return Step(str(path), action, before, after, keep=(before.data,) * (action == REPLACE))


@pytest.fixture
def folder(project: Path) -> Path:
    """A folder with three files of ours in it, of different rights."""
    for name, mode in (("updated.md", 0o640), ("replaced.md", 0o600), ("removed.md", 0o755)):
        put(project / ".opencode/commands" / name, ours()).chmod(mode)
    (project / ".opencode/empty").mkdir(mode=0o750)
    return project / ".opencode"


def _plan(folder: Path, project: Path, *more: Step, drop: tuple[Path, ...] = ()) -> Plan:
    commands, made = folder / "commands", (folder / "plugins", folder / "plugins/deeper")
    steps = (
        _write(made[1] / "written.js"),
        _change(commands / "updated.md", UPDATE, b"updated"),
        _change(commands / "replaced.md", REPLACE, b"replaced"),
        _change(commands / "removed.md", REMOVE, None),
        *more,
    )
    return Plan(
        INSTALL,
        in_project(project),
        steps,
        make=tuple(str(path) for path in made),
        drop=tuple(str(path) for path in (folder / "empty", *drop)),
    )


def test_everything_is_changed(folder: Path, project: Path, home: Path) -> None:
    _make(_plan(folder, project))
    seen = {name: one for name, one in tree(folder).items() if one[0] == "file"}
    assert {name: content for name, (_, _, content) in seen.items()} == {
        "plugins/deeper/written.js": b"new",
        "commands/updated.md": b"updated",
        "commands/replaced.md": b"replaced",
    }
    assert seen["commands/updated.md"][1] == 0o640
    assert not (folder / "empty").exists()
    (kept,) = of_ours(home, "replaced").iterdir()
    assert kept.name.endswith("-replaced.md")
    assert kept.read_bytes() == ours()


def test_new_files_have_the_usual_rights(project: Path) -> None:
    before = os.umask(0o027)
    try:
        _make(Plan(INSTALL, in_project(project), (_write(project / "a.md"),)))
    finally:
        os.umask(before)
    assert (project / "a.md").stat().st_mode & 0o777 == 0o640


def test_what_fails_in_the_end_leaves_everything_as_it_was(folder: Path, project: Path) -> None:
    before = tree(project)
    put(folder / "commands/full/file.md", "")
    full = tree(project)
    with pytest.raises(OSError, match="not empty"):
        _make(_plan(folder, project, drop=(folder / "commands/full",)))
    assert tree(project) == full
    assert set(full) - set(before) == {
        ".opencode/commands/full",
        ".opencode/commands/full/file.md",
    }


FAILS = [
    pytest.param("no/such/folder/a.md", id="while it is prepared"),
    pytest.param("folder", id="because a folder came to be there"),
]


@pytest.mark.parametrize("name", FAILS)
def test_what_fails_on_the_way_leaves_everything_as_it_was(
    folder: Path, project: Path, name: str
) -> None:
    put(folder / "folder/file.md", "")
    before = tree(project)
    with pytest.raises(OSError, match=r"directory|written it meanwhile"):
        _make(_plan(folder, project, _write(folder / name)))
    assert tree(project) == before


def test_what_a_killed_run_left_is_in_nobodys_way(project: Path) -> None:
    other = put(project / "other.md", "other")
    (project / f"a.md{found.TEMPORARY}").symlink_to(other)
    put(project / f"b.md{found.TEMPORARY}", "half")
    steps = (_write(project / "a.md"), _write(project / "b.md"))
    _make(Plan(INSTALL, in_project(project), steps))
    assert (project / "a.md").read_bytes() == (project / "b.md").read_bytes() == b"new"
    assert other.read_text() == "other"
    assert not (project / f"a.md{found.TEMPORARY}").is_symlink()


def test_what_cannot_be_put_back_is_named(project: Path) -> None:
    undo = changes.Undo()
    changes.make(Plan(INSTALL, in_project(project), (_write(project / "a.md"),)), undo)
    (project / "a.md").unlink()
    undo.close()
    assert undo.stuck == [str(project / "a.md")]


def test_nobody_else_reads_a_private_file_before_it_is_in_place(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project / "a.md", "secret").chmod(0o600)
    opened, modes = os.open, []

    def noting(path: str, *given: Any) -> int:
        fd = opened(path, *given)
        modes.append((os.path.basename(path), stat.S_IMODE(os.fstat(fd).st_mode)))
        return fd

    monkeypatch.setattr(os, "open", noting)
    _make(Plan(INSTALL, in_project(project), (_edit(project / "a.md", b"new"),)))
    assert dict(modes)[f"a.md{found.TEMPORARY}"] == 0o600


def test_it_is_on_the_disk_before_it_takes_its_place(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that fails then has the old file or the new one, and what was kept of the old."""
    done: list[tuple[str, int]] = []
    sync, replace = os.fsync, os.replace

    def syncing(fd: int) -> None:
        done.append(("on disk", os.fstat(fd).st_ino))
        sync(fd)

    def replacing(path: str, target: str) -> None:
        done.append(("in place", os.stat(path).st_ino))
        replace(path, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", replacing)
    put(project / "a.md", "mine")
    _make(Plan(INSTALL, in_project(project), (_edit(project / "a.md", b"new"),)))
    placed = [inode for what, inode in done if what == "in place"]
    assert len(placed) == 2
    assert all(done.index(("on disk", one)) < done.index(("in place", one)) for one in placed)


def _edit(path: Path, after: bytes | None) -> Step:
    """Of a file of somebody else's, whose content is kept."""
    data = path.read_bytes()
    before = found.Found(found.SHARED, "", data, stat.S_IMODE(path.stat().st_mode))
    return Step(str(path), EDIT if after is not None else REMOVE, before, after, keep=(data,))


AFTER = [
    pytest.param(b"new", id="edited"),
    pytest.param(None, id="removed"),
]


@pytest.mark.parametrize("after", AFTER)
def test_what_the_client_has_just_written_is_not_lost(project: Path, after: bytes | None) -> None:
    path = put(project / "a.md", "mine")
    step = _edit(path, after)
    path.write_text("the client's")
    before = tree(project)
    with pytest.raises(OSError, match="somebody else has written it meanwhile"):
        _make(Plan(INSTALL, in_project(project), (_write(project / "b.md"), step)))
    assert tree(project) == before


def test_a_link_that_came_to_be_there_stays(project: Path) -> None:
    path = put(project / "a.md", "mine")
    step = _edit(path, b"new")
    path.rename(project / "moved.md")
    path.symlink_to("moved.md")
    before = tree(project)
    with pytest.raises(OSError, match="somebody else has written it meanwhile"):
        _make(Plan(INSTALL, in_project(project), (step,)))
    assert tree(project) == before


@pytest.mark.parametrize("mine", ["mine", ""])
def test_what_somebody_wrote_after_us_is_not_put_back(project: Path, mine: str) -> None:
    path = project / "a.md"
    step = _edit(put(path, mine), b"new") if mine else _write(path)
    undo = changes.Undo()
    changes.make(Plan(INSTALL, in_project(project), (step,)), undo)
    path.write_text("the client's")
    undo.close()
    assert undo.stuck == [str(path)]
    assert path.read_text() == "the client's"
