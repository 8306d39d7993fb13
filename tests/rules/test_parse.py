from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from rules.rulefile import a_rule, found
from sisyphus.rules.match import covers
from sisyphus.rules.parse import BadRule, Rule, load
from sisyphus.rules.sources import COPILOT, HOME

if TYPE_CHECKING:
    from pathlib import Path


def _load(project: Path, text: str | bytes, source: int = 2) -> Rule:
    path = put(project / ".claude/rules/a.md", text)
    return load(found(path, project, source), str(project))


def _covers(rule: Rule, path: str) -> bool:
    patterns = rule.patterns
    return covers(patterns if patterns is None else [one for _, one in patterns], path)


def _notes(rule: Rule) -> list[str]:
    return [problem.text for problem in rule.problems]


def test_a_rule_file_becomes_a_rule(project: Path) -> None:
    keys = (
        'applies_to:\n  - "**/*.tsx"\n  - "**/*.jsx"',
        "priority: 10",
        "tags: [frontend, react]",
    )

    rule = _load(project, a_rule(*keys, "description: How we write React", body="# React\n\n- x\n"))

    assert rule.label == ".claude/rules/a.md"
    assert rule.path == str(project / ".claude/rules/a.md")
    assert rule.scope == {"applies_to": ["**/*.tsx", "**/*.jsx"]}
    assert (rule.always, rule.asked) == (False, False)
    assert (rule.priority, rule.tags) == (10, ["frontend", "react"])
    assert rule.description == "How we write React"
    assert rule.body == "# React\n\n- x"
    assert _covers(rule, "src/App.tsx")
    assert not _covers(rule, "src/app.ts")
    assert not rule.problems


SCOPES = [
    pytest.param((), True, False, id="no keys: every file"),
    pytest.param(("alwaysApply: true",), True, False, id="always"),
    pytest.param(('globs: "*.py"', "alwaysApply: true"), True, False, id="always, despite globs"),
    pytest.param(('globs: "*.py"', "alwaysApply: false"), False, False, id="globs alone"),
    pytest.param(('globs: "*.py"',), False, False, id="globs and no word about always"),
    pytest.param(("alwaysApply: false",), False, True, id="neither: on request"),
    pytest.param(("globs:", "alwaysApply: false"), False, True, id="as Cursor writes that"),
    pytest.param(("globs:",), True, False, id="an empty key is no key"),
    pytest.param(("description: x", "tags: [a]"), True, False, id="keys that scope nothing"),
]


@pytest.mark.parametrize(("keys", "always", "asked"), SCOPES)
def test_what_a_rule_covers(
    project: Path, keys: tuple[str, ...], *, always: bool, asked: bool
) -> None:
    rule = _load(project, a_rule(*keys))

    assert (rule.always, rule.asked) == (always, asked)
    assert _covers(rule, "any.txt") is always


@pytest.mark.parametrize("key", ["applies_to", "paths", "globs", "applyTo"])
@pytest.mark.parametrize("value", ['["**/*.py"]', '"**/*.py"', "'a/*.py, **/*.py'", "**/*.py"])
def test_four_keys_scope_a_rule_in_every_spelling(project: Path, key: str, value: str) -> None:
    rule = _load(project, a_rule(f"{key}: {value}"))

    assert _covers(rule, "src/a.py")
    assert not _covers(rule, "src/a.ts")


def test_globs_of_several_keys_count_together(project: Path) -> None:
    rule = _load(project, a_rule('applyTo: "!x/**"', 'paths: "*.py"', 'applies_to: "*.ts"'))

    assert _covers(rule, "a.py")
    assert _covers(rule, "a.ts")
    assert not _covers(rule, "x/a.py")


def test_copilots_instructions_always_apply(project: Path) -> None:
    path = put(project / ".github/copilot-instructions.md", a_rule('applyTo: "*.py"'))

    rule = load(found(path, project, COPILOT), "")

    assert rule.always
    assert _covers(rule, "a.txt")
    assert rule.scope == {}


BODIES = [
    pytest.param("- x\n", "- x", id="no frontmatter"),
    pytest.param("\n\n- x\n\n\n", "- x", id="blank lines around it"),
    pytest.param("  - x", "  - x", id="indentation stays"),
    pytest.param("- x\r\n- y\r\n", "- x\n- y", id="Windows line ends"),
    pytest.param("\ufeff- x", "- x", id="a byte order mark"),
    pytest.param("\ufeff---\r\nglobs: '*'\r\n---\r\n- x\r\n", "- x", id="all of these"),
    pytest.param("- é 😀 語", "- é 😀 語", id="characters of all sizes"),
]


@pytest.mark.parametrize(("text", "body"), BODIES)
def test_the_text_of_a_rule(project: Path, text: str, body: str) -> None:
    assert _load(project, text).body == body


def test_the_hash_is_that_of_the_text_alone(project: Path) -> None:
    one = _load(project, a_rule("priority: 1"))
    same = _load(project, a_rule("priority: 2"))
    other = _load(project, a_rule("priority: 1", body="- Be quick.\n"))

    assert one.hash == same.hash
    assert one.hash != other.hash


def test_includes_are_part_of_the_text(project: Path) -> None:
    put(project / ".claude/common/style.md", "---\npaths: x\n---\n- Be brief.\n")

    rule = _load(project, "- Be kind.\n@../common/style.md\n")

    assert rule.body == "- Be kind.\n- Be brief."
    assert rule.included == [str(project / ".claude/common/style.md")]


def test_an_include_never_leaves_the_project(project: Path) -> None:
    put(project.parent / "secret.md", "secret")

    rule = _load(project, "- x\n@../../../secret.md\n")

    assert rule.body.startswith("- x\n[not included: @../../../secret.md: it is outside")
    assert _notes(rule)[0].startswith("include: @../../../secret.md")


def test_an_include_of_a_home_rule_stays_in_the_clients_folder(home: Path, project: Path) -> None:
    client = home / ".claude"
    put(client / "common.md", "- shared\n")
    put(home / "notes.md", "private")
    path = put(client / "rules/mine.md", "@../common.md\n@../../notes.md\n")

    rule = load(found(path, project, HOME, ""), str(client))

    assert rule.body.startswith("- shared\n[not included: @../../notes.md: it is outside")
    assert rule.label == "~/.claude/rules/mine.md"


def test_a_rule_of_over_ten_thousand_characters_is_cut_with_a_note(project: Path) -> None:
    rule = _load(project, a_rule('paths: "*"', body="- one more rule\n" * 1_000))

    assert len(rule.body) < 10_000
    assert rule.body.startswith("- one more rule\n- one more rule\n")
    number = int(rule.body.rpartition("from line ")[2].removesuffix(".]"))
    lines = (project / ".claude/rules/a.md").read_text().splitlines()
    assert rule.body.count("- one more rule\n") == len(lines[4 : number - 1])
    assert "[Cut here: " in rule.body
    assert rule.length == 15_999
    assert _notes(rule) == ["cut: its 15,999 characters are more than one reply can carry"]


def test_a_cut_rule_with_includes_names_no_line(project: Path) -> None:
    put(project / ".claude/rules/b.md", "- from b\n")

    rule = _load(project, "@b.md\n" + "- one more rule\n" * 1_000)

    assert rule.body.endswith(f"Read on in {rule.path}.]")


def test_a_cut_never_falls_inside_a_character(project: Path) -> None:
    rule = _load(project, "😀" * 9_000)

    assert rule.body.encode("utf-8").decode() == rule.body


EMPTY = [
    pytest.param("", id="nothing"),
    pytest.param("---\nglobs: '*'\n---\n", id="a frontmatter alone"),
    pytest.param(" \n\t\n", id="blanks"),
]


@pytest.mark.parametrize("text", EMPTY)
def test_a_rule_without_text_says_so(project: Path, text: str) -> None:
    rule = _load(project, text)

    assert rule.body == ""
    assert _notes(rule) == ["it has no text"]


SURPRISES = [
    pytest.param("apply_to: x", "'apply_to' has no meaning; did you mean 'applyTo'", id="key"),
    pytest.param("priority: high", "priority is no number: 'high'", id="a priority"),
    pytest.param('globs: "!*.py"', "every glob excludes", id="exclusions alone"),
]


@pytest.mark.parametrize(("key", "note"), SURPRISES)
def test_what_will_surprise_the_author_is_noted(project: Path, key: str, note: str) -> None:
    (text,) = _notes(_load(project, a_rule(key)))

    assert note in text


SKIPPED = [
    pytest.param("---\napplies_to: [\n---\n- x", "invalid frontmatter", 3, id="invalid YAML"),
    pytest.param(
        "---\nglobs: {a, b}\n---\n- x", "globs: expected globs, found a dict", 0, id="map"
    ),
    pytest.param("---\nglobs: ['#']\n---\n- x", "no glob that could match", 0, id="no glob"),
    pytest.param(b"\xff\xfe", "not UTF-8", 0, id="another encoding"),
    pytest.param(b"- x\0", "binary", 0, id="a binary file"),
    pytest.param(b"x" * 1_000_001, "too large", 0, id="over 1 MB"),
]


@pytest.mark.parametrize(("text", "reason", "line"), SKIPPED)
def test_a_rule_that_cannot_be_read_is_skipped(
    project: Path, text: str | bytes, reason: str, line: int
) -> None:
    with pytest.raises(BadRule) as caught:
        _load(project, text)

    assert reason in caught.value.reason
    assert str(project) not in caught.value.reason
    assert caught.value.line == line


def test_a_pipe_a_folder_and_a_missing_file_are_skipped_at_once(project: Path) -> None:
    os.mkfifo(project / "pipe.md")
    (project / "folder.md").mkdir()

    for name in ("pipe.md", "folder.md", "missing.md"):
        with pytest.raises(BadRule):
            load(found(project / name, project), "")
