from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from install.claude.scene import install, values, write
from install.scene import uninstalled
from sisyphus.clients import claude_code_setup
from sisyphus.install import actions
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.install.place import Place


RULE = "---\napplies_to: '*.py'\n---\nBe brief.\n"


def test_rules_that_the_client_would_load_whole_are_excluded(
    place: Place, home: Path, project: Path
) -> None:
    folders = {"user": home / ".claude/rules", "project": project / ".claude/rules"}
    for scope, folder in folders.items():
        put(folder / f"{scope}.md", RULE)
        put(folder / "paths.md", "---\npaths: '*.py'\n---\nx\n")
    kind = "user" if place.scope == "user" else "project"
    shared, own = f"**/.claude/rules/{kind}.md", str(folders[kind] / f"{kind}.md")
    pattern = shared if place.scope == "project" else own
    write(place, {"claudeMdExcludes": ["**/mine.md"]})

    assert "excludes" in actions.plan_install(place, Wish()).offers
    install(place)

    assert values(place)["claudeMdExcludes"] == ["**/mine.md", pattern]
    assert not install(place).changes
    write(place, {**values(place), "z": 1})
    uninstalled(place)
    assert values(place) == {"claudeMdExcludes": ["**/mine.md"], "z": 1}


def test_a_pattern_that_was_the_users_is_not_taken_out(project: Path) -> None:
    place = claude.of_project(str(project))
    put(project / ".claude/rules/a.md", RULE)
    write(place, {"claudeMdExcludes": ["**/.claude/rules/a.md"]})
    done = install(place)
    assert "claudeMdExcludes" not in done.steps[0].why
    write(place, {**values(place), "z": 1})
    uninstalled(place)
    assert values(place) == {"claudeMdExcludes": ["**/.claude/rules/a.md"], "z": 1}


ODD = ["a*.md", "a?.md", "a [b].md", "a{b,c}.md", "a(b).md", "a|b.md", "a\\b.md", "a!b+@~.md"]


@pytest.mark.parametrize("name", ODD)
def test_a_pattern_names_one_rule_whatever_it_is_called(
    place: Place, home: Path, project: Path, name: str
) -> None:
    folder = {"user": home}.get(place.scope, project) / ".claude/rules"
    rule, others = put(folder / name, RULE), [folder / other for other in TWINS]

    install(place)

    patterns = values(place)["claudeMdExcludes"]
    assert claude_code_setup.is_excluded(str(rule), patterns)
    assert [one for one in others if claude_code_setup.is_excluded(str(one), patterns)] == []
    assert not install(place).changes


TWINS = ["ax.md", "a b.md", "ab.md", "ac.md", "a", "b.md", "a\\x.md"]


def test_a_rule_of_the_users_excludes_no_projects_rule_of_that_name(
    home: Path, project: Path
) -> None:
    put(home / ".claude/rules/python.md", RULE)
    install(claude.of_user())
    patterns = values(claude.of_user())["claudeMdExcludes"]
    assert not claude_code_setup.is_excluded(str(project / ".claude/rules/python.md"), patterns)


def test_who_shares_a_projects_settings_is_thought_of(project: Path) -> None:
    put(project / ".claude/rules/a.md", RULE)
    place = claude.of_project(str(project))
    needs = f"Who shares {claude.settings(place)} needs `sisyphus` on the PATH."
    (hooks,) = [n for n in install(place, Wish()).notes if n.startswith(needs)]
    assert hooks.endswith("which Claude Code says and passes over.")
    (rules,) = [n for n in install(place).notes if n.startswith(needs)]
    assert rules.endswith(", and nothing sends the rules in `claudeMdExcludes`.")


def test_who_shares_a_path_of_this_machine_is_not_told_of_the_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    told = install(claude.of_project(str(project)), Wish()).notes
    assert [n for n in told if "a path of this machine" in n]
    assert not [n for n in told if n.startswith("Who shares")]


def test_patterns_that_cannot_be_told_from_the_users_are_named(project: Path) -> None:
    put(project / ".claude/rules/a.md", RULE)
    install(claude.of_local(str(project)))
    moved = claude.of_local(str(project.rename(project.parent / "moved")))
    told = (
        f"`claudeMdExcludes` in {claude.settings(moved)} stays: which of it is ours is not known."
    )
    assert told in uninstalled(moved).notes
    assert told not in uninstalled(moved).notes


def test_patterns_are_known_where_the_file_is_a_link_by_now(home: Path) -> None:
    put(home / ".claude/rules/a.md", RULE)
    place = claude.of_user()
    write(place, {"a": 1})
    install(place)
    moved = (home / ".claude/settings.json").rename(home / "claude.json")
    (home / ".claude/settings.json").symlink_to(moved)
    write(place, {**values(place), "z": 1})
    uninstalled(place)
    assert values(place) == {"a": 1, "z": 1}
