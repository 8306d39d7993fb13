from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put
from ralph.repositories import a_repository, git

from sisyphus import paths

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_clients_folder_is_the_one_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/etc/../opt/claude")
    assert paths.client_home() == "/opt/claude"
    assert paths.our_home() == "/opt/claude/.sisyphus"


def test_the_clients_folder_is_in_the_home_folder_otherwise(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "")
    assert paths.client_home() == str(home / ".claude")


IDS = ["a", "3f0c7d1e-0000-4000-8000-000000000001", "A.b_c-9", ".hidden", "-", "x" * 128]
NO_IDS = ["", ".", "..", "a..b", "a/b", "a\\b", "a b", "a\n", "é", "a\0", "a@b", "x" * 129]


@pytest.mark.parametrize("text", IDS)
def test_an_id_of_harmless_characters_names_a_file(text: str) -> None:
    assert paths.is_safe_id(text)


@pytest.mark.parametrize("text", NO_IDS)
def test_anything_else_names_none(text: str) -> None:
    assert not paths.is_safe_id(text)


@given(st.text(st.characters()))
def test_no_id_leads_out_of_a_folder(text: str) -> None:
    if paths.is_safe_id(text):
        assert (
            os.path.dirname(os.path.normpath(os.path.join("/folder", f"{text}.json"))) == "/folder"
        )


ROOTS = [
    pytest.param([".git/"], "a/b", "", id="the git top level"),
    pytest.param([".git"], "a/b", "", id="a linked worktree, whose .git is a file"),
    pytest.param([".git/", "a/.git/"], "a/b", "a", id="the nearest git top level"),
    pytest.param([".claude/"], "a/b", "", id="the nearest folder with .claude"),
    pytest.param([".claude/", "a/.claude/"], "a/b", "a", id="the nearest of two with .claude"),
    pytest.param([".git/", "a/.claude/"], "a/b", "", id="git before a nearer .claude"),
    pytest.param([".claude"], "a/b", "a/b", id="a file .claude makes no project"),
    pytest.param([], "a/b", "a/b", id="else the folder itself"),
    pytest.param([".git/"], "gone/away", "", id="a folder that does not exist"),
]


@pytest.mark.parametrize(("marks", "cwd", "root"), ROOTS)
def test_a_folder_belongs_to_a_project(
    tmp_path: Path, marks: list[str], cwd: str, root: str
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for mark in marks:
        if mark.endswith("/"):
            (tmp_path / mark).mkdir(parents=True)
        else:
            put(tmp_path / mark, "")
    assert paths.project_root(str(tmp_path / cwd)) == str((tmp_path / root).resolve())


def test_links_to_a_project_are_resolved(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    assert paths.project_root(str(link)) == str(project.resolve())


@pytest.mark.parametrize("config", [".claude", "elsewhere"])
def test_the_clients_own_folder_makes_the_home_folder_no_project(
    home: Path, monkeypatch: pytest.MonkeyPatch, config: str
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / config))
    (home / ".claude").mkdir()
    (home / "notes").mkdir()
    assert paths.project_root(str(home / "notes")) == str((home / "notes").resolve())


def test_a_project_id_can_be_read_and_names_one_root() -> None:
    assert paths.project_id("/home/me/my app").startswith("home-me-my-app-")
    assert paths.project_id("/a/b") != paths.project_id("/a-b")
    assert paths.project_id("/").startswith("root-")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_project_id_is_a_short_safe_name_and_always_the_same(text: str) -> None:
    name = paths.project_id("/" + text)
    assert paths.is_safe_id(name.replace("..", "."))
    assert len(name) <= 100
    assert name == paths.project_id("/" + text)


INSIDE = [
    pytest.param("a.md", True, id="a file in it"),
    pytest.param(".", True, id="the folder itself"),
    pytest.param("sub/../a.md", True, id="a detour that comes back"),
    pytest.param("inward", True, id="a link that stays"),
    pytest.param("missing.md", True, id="a file that does not exist"),
    pytest.param("..", False, id="the folder above"),
    pytest.param("../project-2/a.md", False, id="a neighbour with the same beginning"),
    pytest.param("outward", False, id="a link that leaves"),
    pytest.param("outward/passwd", False, id="a file by way of a link that leaves"),
]


@pytest.mark.parametrize(("name", "inside"), INSIDE)
def test_links_decide_what_is_inside(project: Path, name: str, inside: bool) -> None:
    put(project / "a.md", "")
    (project / "inward").symlink_to("a.md")
    (project / "outward").symlink_to("/etc")
    assert paths.is_inside(str(project / name), str(project)) is inside


def test_everything_is_inside_the_root_folder() -> None:
    assert paths.is_inside("/etc/passwd", "/")


def test_paths_are_shown_short(home: Path) -> None:
    assert paths.display("/p/docs/a.md", "/p") == "docs/a.md"
    assert paths.display("/p", "/p") == "/p"
    assert paths.display(f"{home}/.claude/rules/x.md", "/p") == "~/.claude/rules/x.md"
    assert paths.display("/pq/a.md", "/p") == "/pq/a.md"
    assert paths.display("", "/p") == ""


def link(path: Path, target: Path) -> Path:
    path.symlink_to(target)
    return path


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A checkout with a commit."""
    return a_repository(tmp_path / "main").resolve()


@pytest.fixture
def linked(main: Path) -> Path:
    """A linked worktree of it, beside it."""
    git(main, "worktree", "add", "../linked")
    return main.parent / "linked"


def admin(main: Path) -> Path:
    return main / ".git/worktrees/linked"


PLACES = [
    pytest.param("../linked", id="beside it"),
    pytest.param(".claude/worktrees/one", id="in it"),
    pytest.param("../a b/ä", id="with a space and other letters"),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_linked_worktree_belongs_to_its_main_checkout(main: Path, place: str) -> None:
    git(main, "worktree", "add", "-b", "b", place)
    assert paths.main_checkout(paths.project_root(str(main / place))) == str(main)


def test_git_may_be_told_of_paths_by_way_of_links(main: Path) -> None:
    (main.parent / "way").symlink_to(main.parent)
    git(main.parent / "way/main", "worktree", "add", str(main.parent / "way/linked"))
    assert paths.main_checkout(str(main.parent / "linked")) == str(main)
    assert paths.main_checkout(str(main.parent / "way/linked")) == str(main)


def test_git_may_tell_relative_paths(main: Path, linked: Path) -> None:
    put(linked / ".git", "gitdir: ../main/.git/worktrees/linked\n")
    put(admin(main) / "gitdir", "../../../../linked/.git\n")
    assert paths.main_checkout(str(linked)) == str(main)


def test_git_for_windows_may_end_its_lines_as_others_do_there(main: Path, linked: Path) -> None:
    for path in (linked / ".git", admin(main) / "gitdir", admin(main) / "commondir"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert paths.main_checkout(str(linked)) == str(main)


def test_a_worktree_that_git_moved_still_belongs_to_it(main: Path, linked: Path) -> None:
    git(main, "worktree", "move", "../linked", "../moved")
    assert paths.main_checkout(str(main.parent / "moved")) == str(main)
    assert not linked.exists()


def test_a_main_checkout_and_a_plain_folder_belong_to_none(main: Path) -> None:
    (main / "folder").mkdir()
    for root in (main, main / "folder", main / "gone"):
        assert paths.main_checkout(str(root)) == ""
    assert paths.main_checkout("\0") == ""


def test_a_submodule_and_a_worktree_of_one_belong_to_none(main: Path, tmp_path: Path) -> None:
    a_repository(tmp_path / "library")
    git(main, "submodule", "add", "../library", "inner")
    git(main / "inner", "worktree", "add", "../../of-inner")
    assert paths.main_checkout(str(main / "inner")) == ""
    assert paths.main_checkout(str(tmp_path / "of-inner")) == ""


def test_a_checkout_whose_git_folder_is_elsewhere_is_not_known(tmp_path: Path) -> None:
    main = a_repository(tmp_path / "main")
    git(main, "init", "--separate-git-dir", "../store.git")
    git(main, "worktree", "add", "../linked")
    assert paths.main_checkout(str(main)) == ""
    assert paths.main_checkout(str(tmp_path / "linked")) == ""


@pytest.mark.parametrize("place", ["store.git", "all/.git"])
def test_a_worktree_of_a_bare_repository_belongs_to_none(
    main: Path, tmp_path: Path, place: str
) -> None:
    git(tmp_path, "clone", "--bare", str(main), place)
    git(tmp_path / place, "worktree", "add", str(tmp_path / "linked"))
    assert paths.main_checkout(str(tmp_path / "linked")) == ""


CONFIGS = [
    pytest.param("[core]\n\tbare = true\n", "", id="bare"),
    pytest.param("[core] bare = yes\n", "", id="bare, in one line"),
    pytest.param("[core]\nBARE ; sure\n", "", id="bare without a value"),
    pytest.param('[core]\r\n\tbare = "true"\r\n', "", id="bare in quotes, CRLF"),
    pytest.param("[core]\n\tworktree = ../../other\n", "", id="files in another place"),
    pytest.param("[core]\n\tbare = false\n", "main", id="not bare"),
    pytest.param("[extensions]\n\tworktreeConfig = true\n", "main", id="an extension"),
    pytest.param("[core]\n\t# bare = true\n", "main", id="a comment"),
    pytest.param('[branch "x"]\n\tdescription = bare = true\n', "main", id="another value"),
]


@pytest.mark.parametrize("file", ["config", "config.worktree"])
@pytest.mark.parametrize(("text", "expected"), CONFIGS)
def test_the_configuration_says_whether_there_is_a_main_checkout(
    main: Path, linked: Path, file: str, text: str, expected: str
) -> None:
    put(main / ".git" / file, text)
    assert paths.main_checkout(str(linked)) == (str(main) if expected else "")


SPOILT: dict[str, Callable[[Path, Path], object]] = {
    "the main checkout is gone": lambda main, _: main.rename(main.parent / "away"),
    "git forgot the worktree": lambda main, _: shutil.rmtree(admin(main)),
    "no way back": lambda main, _: (admin(main) / "gitdir").unlink(),
    "no common folder": lambda main, _: (admin(main) / "commondir").unlink(),
    "no configuration": lambda main, _: (main / ".git/config").unlink(),
    "another common folder": lambda main, _: put(admin(main) / "commondir", "..\n"),
    "the way back leads to another": lambda main, _: put(admin(main) / "gitdir", "/x/.git\n"),
    "the way back leads to no marker": lambda main, linked: put(
        admin(main) / "gitdir", f"{linked}/.git2\n"
    ),
    "an empty marker": lambda _, linked: put(linked / ".git", ""),
    "a marker without its word": lambda main, linked: put(linked / ".git", f"{admin(main)}\n"),
    "a word without a path": lambda _, linked: put(linked / ".git", "gitdir: \n"),
    "two lines": lambda main, linked: put(linked / ".git", f"gitdir: {admin(main)}\nmore\n"),
    "no text": lambda _, linked: put(linked / ".git", b"gitdir: \0\xff\n"),
    "a long line": lambda main, linked: put(
        linked / ".git", f"gitdir: {'/.' * 5_000}{admin(main)}\n"
    ),
    "a marker that is a link": lambda main, linked: (
        (linked / ".git").rename(main / "x"),
        link(linked / ".git", main / "x"),
    ),
    "no marker": lambda _, linked: (linked / ".git").unlink(),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_worktree_that_git_would_have_to_repair_belongs_to_none(
    main: Path, linked: Path, kind: str
) -> None:
    assert paths.main_checkout(str(linked)) == str(main)
    SPOILT[kind](main, linked)
    assert paths.main_checkout(str(linked)) == ""


STRANGERS: dict[str, Callable[[Path, Path, Path], object]] = {
    "names a worktree's folder": lambda main, _, stranger: put(
        stranger / ".git", f"gitdir: {admin(main)}\n"
    ),
    "has a link to a worktree's marker": lambda _, linked, stranger: (stranger / ".git").symlink_to(
        linked / ".git"
    ),
    "names a folder that it made there by a link": lambda main, _, stranger: (
        put(stranger / ".git", "gitdir: fake/.git/worktrees/linked\n"),
        link(stranger / "fake", main),
    ),
    "names a folder of its own that names yours": lambda main, _, stranger: (
        put(stranger / ".git", "gitdir: fake/.git/worktrees/x\n"),
        put(stranger / "fake/.git/worktrees/x/gitdir", f"{stranger}/.git\n"),
        put(stranger / "fake/.git/worktrees/x/commondir", f"{main}/.git\n"),
    ),
    "names a git folder that is a link to yours": lambda main, _, stranger: (
        put(stranger / ".git", "gitdir: fake/worktrees/x\n"),
        put(stranger / "fake/worktrees/x/gitdir", f"{stranger}/.git\n"),
        put(stranger / "fake/worktrees/x/commondir", "../../.git\n"),
        link(stranger / "fake/.git", main / ".git"),
    ),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_stranger_cannot_claim_to_be_a_worktree_of_yours(
    main: Path, linked: Path, kind: str
) -> None:
    stranger = main.parent / "stranger"
    stranger.mkdir()
    STRANGERS[kind](main, linked, stranger)
    assert paths.main_checkout(str(stranger)) == ""


ANY_PATHS = st.one_of(st.binary(max_size=60), st.text("./\\\0\n git", max_size=30).map(str.encode))


@given(ANY_PATHS, ANY_PATHS)
def test_whatever_a_marker_says_it_is_read_in_peace(told: bytes, back: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        put(root / ".git", b"gitdir: " + told)
        put(root / ".x/.git/worktrees/a/gitdir", back)
        assert paths.main_checkout(name) == ""
        put(root / ".git", b"gitdir: .x/.git/worktrees/a")
        assert paths.main_checkout(name) == ""
