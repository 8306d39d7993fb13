from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put
from ralph.repositories import a_repository, commit, git

from sisyphus.git import git_folders, head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _detach(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def _pack(root: Path) -> None:
    git(root, "pack-refs", "--all")


def _pack_the_last(root: Path) -> None:
    put(root / ".git" / "refs" / "heads" / "main", f"{COMMIT}\n")
    git(root, "update-ref", "-d", "refs/heads/main")
    put(root / ".git" / "packed-refs", f"# pack-refs\n{COMMIT} refs/heads/main")


def _tag(root: Path) -> None:
    git(root, "tag", "-a", "-m", "x", "main")
    _pack(root)


def _alias(root: Path) -> None:
    git(root, "symbolic-ref", "refs/heads/other", "refs/heads/main")
    git(root, "symbolic-ref", "HEAD", "refs/heads/other")


def _name_it_oddly(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "wählen/ä-b")


STANDING = [
    pytest.param(lambda _: None, id="on a branch"),
    pytest.param(_detach, id="on no branch"),
    pytest.param(_pack, id="on a branch that is packed"),
    pytest.param(_tag, id="on a packed branch that a tag shares its name with"),
    pytest.param(_alias, id="on a branch that is another one's second name"),
    pytest.param(_name_it_oddly, id="on a branch with a name beyond ASCII"),
]


@pytest.mark.parametrize("arrange", STANDING)
def test_the_commit_is_the_one_that_git_names(
    tmp_path: Path, arrange: Callable[[Path], None]
) -> None:
    root = a_repository(tmp_path / "project")
    arrange(root)
    assert head(str(root)) == git(root, "rev-parse", "HEAD")


def test_a_packed_branch_may_stand_on_a_last_line_without_an_end(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    _pack_the_last(root)
    assert head(str(root)) == COMMIT


def test_a_commit_is_seen(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    before = head(str(root))
    made = commit(root)
    assert before != made == head(str(root))


def test_commits_may_have_longer_names(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project", "--object-format=sha256")
    assert head(str(root)) == git(root, "rev-parse", "HEAD")
    assert len(head(str(root))) == 64


@pytest.mark.parametrize("packed", [False, True])
def test_a_linked_worktree_stands_at_its_own_commit(tmp_path: Path, packed: bool) -> None:
    root = a_repository(tmp_path / "project")
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "-q", str(linked))
    made = commit(linked)
    if packed:
        _pack(root)
    assert head(str(linked)) == made != head(str(root))


def test_a_submodule_stands_at_its_own_commit(tmp_path: Path) -> None:
    part = a_repository(tmp_path / "part")
    root = a_repository(tmp_path / "project")
    git(root, "submodule", "--quiet", "add", str(part), "part")
    assert head(str(root / "part")) == git(part, "rev-parse", "HEAD")


def test_a_link_leads_to_the_same_commit(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    (tmp_path / "link").symlink_to(root)
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / ".git").symlink_to(root / ".git")
    assert head(str(tmp_path / "link")) == head(str(moved)) == head(str(root)) != ""


def test_a_name_that_is_no_unicode_is_followed(tmp_path: Path) -> None:
    root = a_repository(tmp_path / os.fsdecode(b"caf\xe9\n"))
    linked = tmp_path / os.fsdecode(b"\xff")
    git(root, "worktree", "add", "-q", str(linked))
    assert head(str(linked)) == head(str(root)) != ""


def test_tables_of_refs_change_with_every_ref(tmp_path: Path) -> None:
    put(tmp_path / ".git" / "HEAD", "ref: refs/heads/.invalid\n")
    seen = []
    for tables in ("0x1-0x1-aaaa.ref\n", "0x1-0x1-aaaa.ref\n0x2-0x2-bbbb.ref\n"):
        put(tmp_path / ".git" / "reftable" / "tables.list", tables)
        seen.append(head(str(tmp_path)))
    assert seen == ["0x1-0x1-aaaa.ref", "0x2-0x2-bbbb.ref"]


def test_tables_of_a_linked_worktree_are_its_own_and_the_shared_ones(tmp_path: Path) -> None:
    put(tmp_path / ".git", "gitdir: common/worktrees/linked\n")
    own = tmp_path / "common" / "worktrees" / "linked"
    put(own / "HEAD", "ref: refs/heads/.invalid\n")
    put(own / "commondir", "../..\n")
    put(own / "reftable" / "tables.list", "own\n")
    put(tmp_path / "common" / "reftable" / "tables.list", "shared\n")
    assert head(str(tmp_path)) == "own shared"


def _write(name: str, content: str | bytes) -> Callable[[Path], object]:
    return lambda root: put(root / ".git" / name, content)


def _link(name: str, target: str) -> Callable[[Path], object]:
    def make(root: Path) -> None:
        path = root / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    return make


def _fifo(name: str) -> Callable[[Path], object]:
    def make(root: Path) -> None:
        (root / ".git").mkdir()
        os.mkfifo(root / ".git" / name)

    return make


def _behind(ref: str) -> Callable[[Path], object]:
    """A commit lies where `ref` leads, and it must not be read."""

    def make(root: Path) -> None:
        put(root / "outside", f"{COMMIT}\n")
        put(root / ".git" / "inside", f"{COMMIT}\n")
        (root / ".git" / "refs").mkdir(parents=True)
        put(root / ".git" / "HEAD", f"ref: {ref}\n")

    return make


NONE = [
    pytest.param(lambda _: None, id="no repository"),
    pytest.param(lambda root: git(root, "init", "-q"), id="no commit yet"),
    pytest.param(lambda root: (root / ".git").mkdir(), id="an empty git folder"),
    pytest.param(lambda root: put(root / ".git", "gitdir: nowhere\n"), id="a folder that is gone"),
    pytest.param(lambda root: put(root / ".git", "something\n"), id="a file that names none"),
    pytest.param(lambda root: put(root / ".git", b"gitdir: a\0b\n"), id="a name that is none"),
    pytest.param(lambda root: os.mkfifo(root / ".git"), id="a FIFO for the git folder"),
    pytest.param(_write("HEAD", "what\n"), id="a head that says something else"),
    pytest.param(_write("HEAD", b"\xff\xfe\0"), id="a binary head"),
    pytest.param(_write("HEAD", COMMIT[:39]), id="a name that is too short"),
    pytest.param(_write("HEAD", COMMIT.upper()), id="a name in upper case"),
    pytest.param(_write("HEAD", "ref: HEAD\n"), id="a head that refers to itself"),
    pytest.param(_write("HEAD", "x" * 1_000_000), id="a head that is too long"),
    pytest.param(_fifo("HEAD"), id="a FIFO for the head"),
    pytest.param(_link("HEAD", "HEAD"), id="a link to itself"),
    pytest.param(_link("HEAD", "/dev/zero"), id="a link to a device"),
    pytest.param(_behind("refs/../../outside"), id="a ref that leaves the git folder"),
    pytest.param(_behind("../outside"), id="a path that leaves it"),
    pytest.param(_behind("inside"), id="a file of it that is no ref"),
]


@pytest.mark.parametrize("arrange", NONE)
def test_otherwise_there_is_none(tmp_path: Path, arrange: Callable[[Path], object]) -> None:
    arrange(tmp_path)
    assert head(str(tmp_path)) == ""


def test_refs_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    put(tmp_path / ".git" / "HEAD", "ref: refs/heads/a\n")
    put(tmp_path / ".git" / "refs" / "heads" / "a", "ref: refs/heads/b\n")
    put(tmp_path / ".git" / "refs" / "heads" / "b", "ref: refs/heads/a\n")
    assert head(str(tmp_path)) == ""


def test_a_project_is_named_by_its_full_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert git_folders("") is None
    assert git_folders(".") is None


@given(st.binary(max_size=200), st.binary(max_size=200), st.binary(max_size=200))
def test_whatever_the_files_hold_there_is_no_commit_in_it_by_chance(
    tmp_path_factory: pytest.TempPathFactory, first: bytes, second: bytes, packed: bytes
) -> None:
    root = tmp_path_factory.mktemp("any")
    put(root / ".git" / "HEAD", b"ref: refs/heads/" + first)
    put(root / ".git" / "refs" / "heads" / "main", second)
    put(root / ".git" / "packed-refs", packed)
    assert head(str(root)) == ""
