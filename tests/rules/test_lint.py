from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import a_space, put

from rules.rulefile import a_rule
from sisyphus.rules.lint import MAX_PROJECT_FILES, lint

if TYPE_CHECKING:
    from pathlib import Path

RULE = ".cursor/rules/a.mdc"


def _found(project: Path) -> list[str]:
    return [row["problem"] for row in lint(a_space(project))]


FINE = [
    pytest.param(RULE, "- x\n", id="no frontmatter"),
    pytest.param(RULE, a_rule("globs: src/*.py", "alwaysApply: false"), id="Cursor's"),
    pytest.param(RULE, a_rule("alwaysApply: false", "description: x"), id="on request"),
    pytest.param(".claude/rules/a.md", a_rule('paths: "src/**"'), id="the client's"),
    pytest.param(
        ".claude/rules/a.md", a_rule('paths: "src/**"', "globs: src/**"), id="for two clients"
    ),
    pytest.param(
        ".cursor/rules/a.mdc", a_rule('paths: "src/**"', "globs: *.py"), id="keys that are all ours"
    ),
    pytest.param(".claude/rules/a.md", a_rule("author: me", "title: x"), id="unrelated keys"),
    pytest.param("../home/.claude/rules/a.md", a_rule('paths: "*.rs"'), id="a home rule's globs"),
]


@pytest.mark.parametrize(("name", "text"), FINE)
def test_a_good_rule_is_not_remarked_on(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home/.claude"))
    put(project / "src/a.py", "")
    put(project / name, text)

    assert _found(project) == []


WRONG = [
    pytest.param("---\nglobs: [\n---\n- x", "skipped: invalid frontmatter", id="frontmatter"),
    pytest.param(a_rule("globs: {a, b}"), "skipped: globs: expected globs", id="a wrong type"),
    pytest.param(a_rule("apply_to: src"), "did you mean 'applyTo'?", id="a misspelled key"),
    pytest.param(a_rule("glob: src"), "did you mean 'globs'?", id="an unknown scoping key"),
    pytest.param(a_rule("priority: top"), "priority is no number", id="a priority"),
    pytest.param(a_rule(body="x\n" * 6_000), "cut: its 11,999 characters", id="a long text"),
    pytest.param(a_rule(body=""), "it has no text", id="no text"),
    pytest.param(a_rule("globs: lib/**"), "'lib/**' matches no file here", id="an idle glob"),
    pytest.param(a_rule('globs: "!src/**"'), "every glob excludes", id="exclusions alone"),
    pytest.param(a_rule(body="@no.md\n"), "include: @no.md: No such file", id="an include"),
    pytest.param(a_rule(body="@../../../x.md\n"), "it is outside", id="an include that leaves"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_what_is_wrong_with_a_rule_is_found(project: Path, text: str, problem: str) -> None:
    put(project / "src/a.py", "")
    put(project / RULE, text)

    (found,) = _found(project)

    assert problem in found


def test_a_finding_names_file_and_line(project: Path) -> None:
    path = put(project / RULE, "---\nok: 1\nglobs: [\n---\n- x")

    (row,) = lint(a_space(project))

    assert (row["label"], row["path"], row["line"]) == (RULE, str(path), 4)


def test_a_link_that_leaves_is_found(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "secret.md", "")
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/a.md").symlink_to(tmp_path / "secret.md")

    assert _found(project) == ["a link that leaves the project is not followed"]


@pytest.mark.parametrize("key", ["applies_to", "globs", "applyTo"])
def test_a_rule_that_the_client_also_loads_whole_is_found(project: Path, key: str) -> None:
    put(project / "a.py", "")
    put(project / ".claude/rules/web/a.md", a_rule(f'{key}: "*.py"'))

    (found,) = _found(project)

    assert found == (
        f"Claude Code does not know '{key}' and also loads this file whole at session start; "
        '"claudeMdExcludes": ["**/.claude/rules/web/a.md"] in the client\'s settings.json '
        "prevents that"
    )


PATTERNS = [
    pytest.param("a*.md", "a[*].md", id="a star"),
    pytest.param("a [b]?.md", "a [[]b][?].md", id="a class"),
    pytest.param("{a}(b|c).md", "[{]a}[(]b[|]c).md", id="a choice"),
    pytest.param("a\\b.md", "a[\\\\]b.md", id="a backslash"),
]


@pytest.mark.parametrize(("name", "pattern"), PATTERNS)
def test_the_line_for_the_settings_names_the_file_as_it_is(
    project: Path, home: Path, name: str, pattern: str
) -> None:
    put(project / "a.py", "")
    put(project / ".claude/rules" / name, a_rule("globs: *.py"))
    (found,) = _found(project)
    assert f"[{json.dumps(f'**/.claude/rules/{pattern}')}]" in found
    line = found[found.index('"claudeMd') : found.index("] in") + 1]
    put(home / ".claude/settings.json", f"{{{line}}}")
    assert _found(project) == []


def test_a_rule_of_the_users_own_is_named_by_its_path(project: Path, home: Path) -> None:
    rule = put(home / ".claude/rules/a.md", a_rule("globs: *.py"))
    (found,) = _found(project)
    assert f'"claudeMdExcludes": ["{rule}"]' in found


MIXED = [
    pytest.param('applies_to: "*.py"', "applies_to", "put all its globs under 'paths'", id="globs"),
    pytest.param("alwaysApply: true", "alwaysApply", "remove 'paths'", id="alwaysApply"),
]


@pytest.mark.parametrize(("key", "name", "remedy"), MIXED)
def test_a_rule_with_another_key_beside_paths_is_found(
    project: Path, key: str, name: str, remedy: str
) -> None:
    put(project / "a.py", "")
    put(project / "a.ts", "")
    put(project / ".claude/rules/a.md", a_rule('paths: "*.ts"', key))

    (found,) = _found(project)

    assert found == (
        f"Claude Code sends this file for its 'paths' alone, sisyphus for '{name}', so it can "
        f'arrive twice; {remedy}, or "claudeMdExcludes": ["**/.claude/rules/a.md"] in the '
        "client's settings.json leaves it to sisyphus"
    )


@pytest.mark.parametrize("name", ["home", "project", "local"])
@pytest.mark.parametrize("keys", [('applies_to: "*.md"',), ('paths: "a.*"', 'applies_to: "*.md"')])
@pytest.mark.parametrize("glob", ["**/.claude/rules/a.md", "**/.claude/rules/*.md", "absolute"])
def test_a_rule_that_the_client_is_told_to_leave_is_fine(
    project: Path, home: Path, name: str, glob: str, keys: tuple[str, ...]
) -> None:
    rule = put(project / ".claude/rules/a.md", a_rule(*keys))
    settings = {
        "home": home / ".claude/settings.json",
        "project": project / ".claude/settings.json",
        "local": project / ".claude/settings.local.json",
    }[name]
    excludes = [str(rule) if glob == "absolute" else glob]
    put(settings, json.dumps({"claudeMdExcludes": excludes}))

    assert _found(project) == []


@pytest.mark.parametrize(
    "text", ["", "[]", '{"claudeMdExcludes": "x"}', '{"claudeMdExcludes": [3, "a\\\\"]}']
)
def test_odd_settings_of_the_client_exclude_nothing(project: Path, home: Path, text: str) -> None:
    put(home / ".claude/settings.json", text)
    put(project / ".claude/rules/a.md", a_rule('applies_to: "*.md"'))

    assert len(_found(project)) == 1


def test_only_the_globs_that_match_nothing_are_named(project: Path) -> None:
    put(project / "src/deep/a.py", "")
    put(project / ".git/hooks/x.sh", "")
    put(project / RULE, a_rule('globs: ["*.py", "src/**", "deep/*.py", "*.sh", "!*.rs"]'))

    assert _found(project) == [
        "'deep/*.py' matches no file here",
        "'*.sh' matches no file here",
    ]


def test_braces_are_idle_only_if_no_alternative_matches(project: Path) -> None:
    put(project / "a.ts", "")
    put(project / RULE, a_rule("globs: *.{ts,tsx}"))

    assert _found(project) == []


def test_in_a_huge_project_no_glob_is_called_idle(project: Path) -> None:
    for number in range(MAX_PROJECT_FILES + 1):
        (project / f"{number}").touch()
    put(project / RULE, a_rule("globs: *.py"))

    assert _found(project) == []


def test_findings_stand_in_order_of_file_and_line(project: Path) -> None:
    put(project / ".cursor/rules/b.mdc", "---\na: [\n---\n")
    put(project / ".cursor/rules/a.mdc", a_rule("glob: x", "prio: 1"))

    assert [row["label"] for row in lint(a_space(project))] == [
        ".cursor/rules/a.mdc",
        ".cursor/rules/a.mdc",
        ".cursor/rules/b.mdc",
    ]
