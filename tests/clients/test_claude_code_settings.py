"""What excludes a file and what does not was measured on Claude Code 2.1.329."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.clients.claude_code import settings_paths
from sisyphus.clients.claude_code_setup import (
    MAX_CHARACTERS,
    MAX_EXCLUDES,
    MAX_STARS,
    excludes,
    is_excluded,
    settings,
)

if TYPE_CHECKING:
    from pathlib import Path

RULES = "/home/me/code/.claude/rules"

EXCLUDED = [
    pytest.param("**/rules/*.md", "a.md", id="any folder, any name"),
    pytest.param(f"{RULES}/a.md", "a.md", id="the whole path"),
    pytest.param("**/rules/**", "deep/er/a.md", id="all below"),
    pytest.param("**/rules/**/a.md", "deep/er/a.md", id="at any depth"),
    pytest.param("**/rules/**/a.md", "a.md", id="at no depth"),
    pytest.param("**/rules/?.md", "a.md", id="one character"),
    pytest.param("**/rules/[ab].md", "a.md", id="one of some characters"),
    pytest.param("**", ".hidden/a.md", id="everything"),
]
LOADED = [
    pytest.param("**/rules/*.md", "deep/a.md", id="a star within a name"),
    pytest.param("**/r*/a.md", "deep/a.md", id="a star that would have to hold a slash"),
    pytest.param("a.md", "a.md", id="a name alone"),
    pytest.param(".claude/rules/a.md", "a.md", id="a path from the project"),
    pytest.param("~/code/.claude/rules/a.md", "a.md", id="a path from the home folder"),
    pytest.param("**/rules", "a.md", id="a folder above it"),
    pytest.param("**/rules/", "a.md", id="a folder above it, with a slash"),
    pytest.param("**/RULES/a.md", "a.md", id="upper case"),
    pytest.param("", "a.md", id="nothing"),
]


@pytest.mark.parametrize(("glob", "name"), EXCLUDED)
def test_a_glob_that_matches_the_whole_path_excludes_it(glob: str, name: str) -> None:
    assert is_excluded(f"{RULES}/{name}", ["other", glob])


@pytest.mark.parametrize(("glob", "name"), LOADED)
def test_any_other_glob_excludes_nothing(glob: str, name: str) -> None:
    assert not is_excluded(f"{RULES}/{name}", [glob])


@pytest.mark.parametrize("glob", ["**/a/" * 4 + "x", "*a" * 245, "**/" + "*/" * 245 + "x"])
def test_no_glob_takes_exponential_time(glob: str) -> None:
    assert not is_excluded("/a" * 1_000 + "/" + "a" * 200, [glob])


def test_three_files_speak_for_a_session_at_the_top_and_four_below(tmp_path: Path) -> None:
    home, root = str(tmp_path / "home"), str(tmp_path / "root")

    assert settings_paths(home, root, root) == [
        f"{home}/settings.json",
        f"{root}/.claude/settings.json",
        f"{root}/.claude/settings.local.json",
    ]
    assert settings_paths(home, f"{root}/sub", root) == [
        f"{home}/settings.json",
        f"{root}/sub/.claude/settings.json",
        f"{root}/.claude/settings.local.json",
        f"{root}/sub/.claude/settings.local.json",
    ]


def test_the_excludes_of_all_files_count(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    put(home / "settings.json", json.dumps({"claudeMdExcludes": ["a", "b"]}))
    put(root / ".claude/settings.local.json", json.dumps({"claudeMdExcludes": ["c"]}))

    assert excludes(settings(str(home), str(root), str(root))) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"claudeMdExcludes": "x"}', "\0"])
def test_odd_settings_exclude_nothing(tmp_path: Path, text: str) -> None:
    put(tmp_path / "settings.json", text)

    assert excludes(settings(str(tmp_path), str(tmp_path), str(tmp_path))) == []


def test_of_a_list_only_so_many_texts_of_a_usual_form_count() -> None:
    odd = [3, None, "x" * (MAX_CHARACTERS + 1), "**/" * (MAX_STARS + 1)]
    assert excludes([{"claudeMdExcludes": [*odd, "a"]}]) == ["a"]
    assert len(excludes([{"claudeMdExcludes": ["a"] * (MAX_EXCLUDES + 1)}])) == MAX_EXCLUDES
