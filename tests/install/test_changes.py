from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import ours as of_ours
from making import put

from install.scene import in_project, ours, tree
from sisyphus.install import changes, found
from sisyphus.install.plan import INSTALL, REMOVE, REPLACE, UPDATE, WRITE, Plan, Step

if TYPE_CHECKING:
    from pathlib import Path


def _make(plan: Plan) -> None:
    with changes.Undo() as undo:
        changes.make(plan, undo)
        undo.pop_all()


def _write(path: Path, data: bytes = b"new") -> Step:
    return Step(str(path), WRITE, found.Found(found.ABSENT), data)


def _change(path: Path, action: str, after: bytes | None) -> Step:
    return Step(str(path), action, found.look(str(path)), after)


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
    pytest.param("folder", id="while it is renamed"),
]


@pytest.mark.parametrize("name", FAILS)
def test_what_fails_on_the_way_leaves_everything_as_it_was(
    folder: Path, project: Path, name: str
) -> None:
    put(folder / "folder/file.md", "")
    before = tree(project)
    with pytest.raises(OSError, match="directory"):
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
