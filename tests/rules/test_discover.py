from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.rules.discover import MAX_DEPTH, MAX_FILES, MAX_FOLDERS, Discovery, discover
from sisyphus.rules.sources import CLAUDE, COPILOT, CURSOR, GITHUB, HOME

if TYPE_CHECKING:
    from pathlib import Path

LEFT = "a link that leaves the project is not followed"


def _walk(project: Path, home: Path) -> Discovery:
    return discover(str(project), str(home / ".claude"))


def _labels(project: Path, home: Path) -> list[str]:
    return [found.label for found in _walk(project, home).files]


def _problems(project: Path, home: Path) -> list[tuple[str, str]]:
    return [(problem.label, problem.text) for problem in _walk(project, home).problems]


def test_five_sources_are_read_in_their_order(project: Path, home: Path) -> None:
    put(home / ".claude/rules/mine.md", "")
    put(project / ".cursor/rules/c.mdc", "")
    put(project / ".claude/rules/b.md", "")
    put(project / ".github/instructions/a.instructions.md", "")
    put(project / ".github/copilot-instructions.md", "")

    assert [(found.source, found.label) for found in _walk(project, home).files] == [
        (COPILOT, ".github/copilot-instructions.md"),
        (GITHUB, ".github/instructions/a.instructions.md"),
        (CLAUDE, ".claude/rules/b.md"),
        (CURSOR, ".cursor/rules/c.mdc"),
        (HOME, "~/.claude/rules/mine.md"),
    ]


def test_subfolders_are_read_in_order_of_name(project: Path, home: Path) -> None:
    for name in ("z.md", "web/a.md", "web/deep/er.md", "b.md"):
        put(project / ".claude/rules" / name, "")

    assert _labels(project, home) == [
        ".claude/rules/b.md",
        ".claude/rules/web/a.md",
        ".claude/rules/web/deep/er.md",
        ".claude/rules/z.md",
    ]


OTHERS = [
    pytest.param(".claude/rules/a.txt", id="another ending"),
    pytest.param(".claude/rules/a.mdc", id="Cursor's ending in the client's folder"),
    pytest.param(".cursor/rules/a.md", id="the client's ending in Cursor's folder"),
    pytest.param(".github/instructions/a.md", id="no instructions"),
    pytest.param("packages/web/.claude/rules/a.md", id="a nested folder of rules"),
    pytest.param("rules/a.md", id="rules that are nobody's"),
]


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_no_rules(project: Path, home: Path, name: str) -> None:
    put(project / name, "")

    assert _labels(project, home) == []


def test_nothing_is_found_where_nothing_is(project: Path, home: Path) -> None:
    walk = _walk(project, home)

    assert (walk.files, walk.problems) == ([], [])
    assert str(project / ".claude/rules") in walk.watched
    assert str(project / ".github/copilot-instructions.md") in walk.watched


def test_everything_that_can_change_the_result_is_watched(project: Path, home: Path) -> None:
    put(project / ".claude/rules/web/a.md", "")

    watched = _walk(project, home).watched

    for name in (".claude/rules", ".claude/rules/web", ".claude/rules/web/a.md"):
        assert str(project / name) in watched


def test_a_link_within_the_project_is_followed(project: Path, home: Path) -> None:
    put(project / "docs/style.md", "")
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/style.md").symlink_to(project / "docs/style.md")
    (project / ".claude/rules/more").symlink_to(project / "docs")

    assert _labels(project, home) == [".claude/rules/more/style.md"]


@pytest.mark.parametrize("name", [".claude/rules/a.md", ".github/copilot-instructions.md"])
def test_a_file_that_is_a_link_out_of_the_project_is_not_followed(
    project: Path, home: Path, name: str
) -> None:
    put(project.parent / "secret.md", "")
    (project / name).parent.mkdir(parents=True)
    (project / name).symlink_to(project.parent / "secret.md")

    assert _labels(project, home) == []
    assert _problems(project, home) == [(name, LEFT)]


@pytest.mark.parametrize("name", [".claude/rules", ".cursor", ".claude/rules/sub"])
def test_a_folder_that_is_a_link_out_of_the_project_is_not_followed(
    project: Path, home: Path, name: str
) -> None:
    put(project.parent / "elsewhere/rules/a.mdc", "")
    put(project.parent / "elsewhere/a.md", "")
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).symlink_to(project.parent / "elsewhere")

    assert _labels(project, home) == []
    assert [text for _, text in _problems(project, home)] == [LEFT]


def test_rules_of_the_home_folder_may_be_links(project: Path, home: Path, tmp_path: Path) -> None:
    put(tmp_path / "dotfiles/rules/a.md", "")
    put(tmp_path / "dotfiles/b.md", "")
    (home / ".claude/rules").mkdir(parents=True)
    (home / ".claude/rules/all").symlink_to(tmp_path / "dotfiles/rules")
    (home / ".claude/rules/b.md").symlink_to(tmp_path / "dotfiles/b.md")

    assert _labels(project, home) == ["~/.claude/rules/all/a.md", "~/.claude/rules/b.md"]


def test_the_whole_home_folder_may_be_a_link(project: Path, home: Path, tmp_path: Path) -> None:
    put(tmp_path / "dotfiles/rules/a.md", "")
    (home / ".claude").symlink_to(tmp_path / "dotfiles")

    assert _labels(project, home) == ["~/.claude/rules/a.md"]


def test_links_that_lead_back_are_read_once(project: Path, home: Path) -> None:
    put(project / ".claude/rules/a.md", "")
    (project / ".claude/rules/back").symlink_to(project / ".claude/rules")
    (project / ".claude/rules/up").symlink_to(project / ".claude")
    (project / ".claude/rules/self.md").symlink_to(project / ".claude/rules/self.md")
    (project / ".claude/rules/one").symlink_to(project / ".claude/rules/two")
    (project / ".claude/rules/two").symlink_to(project / ".claude/rules/one")

    labels = _labels(project, home)

    assert ".claude/rules/a.md" in labels
    assert len([label for label in labels if label.endswith("a.md")]) == 1


def test_two_names_of_one_file_are_one_rule(project: Path, home: Path) -> None:
    put(project / ".github/copilot-instructions.md", "")
    put(project / ".claude/rules/a.md", "")
    (project / ".claude/rules/b.md").symlink_to("a.md")
    (project / ".claude/rules/c.md").symlink_to("../../.github/copilot-instructions.md")

    assert _labels(project, home) == [".github/copilot-instructions.md", ".claude/rules/a.md"]


def test_a_link_of_the_project_to_a_home_rule_does_not_hide_it(project: Path, home: Path) -> None:
    put(home / ".claude/rules/mine.md", "")
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/mine.md").symlink_to(home / ".claude/rules/mine.md")

    assert _labels(project, home) == ["~/.claude/rules/mine.md"]


def test_a_home_folder_that_is_the_project_gives_its_rules_once(home: Path) -> None:
    put(home / ".claude/rules/mine.md", "")

    assert _labels(home, home) == [".claude/rules/mine.md"]


def test_a_project_below_a_link_is_in_bounds(project: Path, home: Path, tmp_path: Path) -> None:
    put(project / ".claude/rules/a.md", "")
    (tmp_path / "alias").symlink_to(project)

    assert _labels(tmp_path / "alias", home) == [".claude/rules/a.md"]


def test_folders_are_read_ten_deep(project: Path, home: Path) -> None:
    deep = project / ".claude/rules"
    for depth in range(MAX_DEPTH + 3):
        put(deep / f"{depth}.md", "")
        deep /= "x"

    assert len(_labels(project, home)) == MAX_DEPTH + 1
    assert [text for _, text in _problems(project, home)] == ["folders are read 10 deep"]


def test_too_many_rules_of_a_project_do_not_displace_the_users_own(
    project: Path, home: Path
) -> None:
    put(home / ".claude/rules/mine.md", "")
    for number in range(MAX_FILES + 5):
        put(project / f".claude/rules/{number:05}.md", "")

    labels = _labels(project, home)

    assert len(labels) == MAX_FILES + 1
    assert labels[-1] == "~/.claude/rules/mine.md"
    ((label, text),) = _problems(project, home)
    assert label == f".claude/rules/{MAX_FILES:05}.md"
    assert "from here on nothing is read" in text


def test_too_many_folders_are_not_walked(project: Path, home: Path) -> None:
    for number in range(MAX_FOLDERS + 5):
        put(project / f".claude/rules/{number:05}/a.md", "")

    assert len(_labels(project, home)) == MAX_FOLDERS - 1
    assert len(_problems(project, home)) == 1
