from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus import paths

if TYPE_CHECKING:
    from pathlib import Path


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
