from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from rules.rulefile import a_rule
from sisyphus.rules.survey import Survey, survey

if TYPE_CHECKING:
    from pathlib import Path


def _survey(project: Path, home: Path) -> Survey:
    return survey(str(project), str(home / ".claude"))


def test_rules_stand_in_the_order_in_which_they_go_out(project: Path, home: Path) -> None:
    put(home / ".claude/rules/urgent.md", a_rule("priority: 5"))
    put(project / ".cursor/rules/c.mdc", a_rule("priority: 1"))
    put(project / ".claude/rules/b.md", a_rule("priority: 1"))
    put(project / ".claude/rules/a.md", a_rule("priority: 1"))
    put(project / ".github/copilot-instructions.md", "- x\n")
    put(project / ".claude/rules/last.md", a_rule("priority: -1"))

    assert [rule.label for rule in _survey(project, home).rules] == [
        "~/.claude/rules/urgent.md",
        ".claude/rules/a.md",
        ".claude/rules/b.md",
        ".cursor/rules/c.mdc",
        ".github/copilot-instructions.md",
        ".claude/rules/last.md",
    ]


def test_a_bad_rule_is_skipped_and_reported_and_the_others_stand(project: Path, home: Path) -> None:
    put(project / ".claude/rules/bad.md", "---\npaths: [\n---\n- x")
    put(project / ".claude/rules/good.md", "- x\n")

    found = _survey(project, home)

    assert [rule.label for rule in found.rules] == [".claude/rules/good.md"]
    (problem,) = found.problems
    assert (problem.label, problem.line) == (".claude/rules/bad.md", 3)
    assert problem.text.startswith("skipped: invalid frontmatter: ")


def test_included_files_are_watched_also_those_that_are_missing(project: Path, home: Path) -> None:
    put(project / ".claude/rules/a.md", "@b.txt\n@missing.md\n")
    put(project / ".claude/rules/b.txt", "- b\n")

    watched = _survey(project, home).watched

    assert str(project / ".claude/rules/b.txt") in watched
    assert str(project / ".claude/rules/missing.md") in watched


def test_a_project_of_endless_rules_does_not_displace_the_users_own(
    project: Path, home: Path
) -> None:
    put(home / ".claude/rules/mine.md", "- mine\n")
    for number in range(30):
        put(project / f".claude/rules/{number:02}.md", "x" * 999_000)

    found = _survey(project, home)

    assert len(found.rules) < 30
    assert found.rules[-1].label == "~/.claude/rules/mine.md"
    assert found.problems[-1].text == "skipped: those before it are too large or too many"


def test_bad_rules_are_charged_too(project: Path, home: Path) -> None:
    for number in range(90):
        put(project / f".claude/rules/{number:02}.md", "---\na: [\n" + "#\n" * 8_000 + "---\n")
    for number in range(25):
        put(project / f".cursor/rules/{number:02}.mdc", b"\xff" * 999_000)

    texts = {problem.text for problem in _survey(project, home).problems}

    assert "skipped: those before it are too large or too many" in texts


def test_globs_of_all_rules_together_are_bounded(project: Path, home: Path) -> None:
    globs = ", ".join(f"a{number}/*.py" for number in range(450))
    for number in range(10):
        put(project / f".claude/rules/{number:02}.md", a_rule(f'globs: "{globs}"'))

    assert 5 < len(_survey(project, home).rules) < 10


def test_a_thousand_ordinary_rules_are_all_used(project: Path, home: Path) -> None:
    for number in range(1_000):
        keys = (f'globs: "src/{number}/**, *.{{ts,tsx,js,jsx}}"', f"priority: {number % 7}")
        put(project / f".claude/rules/{number:04}.md", a_rule(*keys, body="- a rule\n" * 100))

    found = _survey(project, home)

    assert len(found.rules) == 1_000
    assert not found.problems


def test_it_tells_how_far_it_is(project: Path, home: Path) -> None:
    for name in ("a", "b", "c"):
        put(project / f".claude/rules/{name}.md", "Text.\n")
    told: list[tuple[int, int]] = []

    survey(str(project), str(home / ".claude"), lambda *counts: told.append(counts))

    assert told == [(0, 3), (1, 3), (2, 3)]
