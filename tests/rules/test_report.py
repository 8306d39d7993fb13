from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import a_space, know_session, ours, put

from rules.rulefile import a_rule
from sisyphus.memory import open_memory
from sisyphus.rules.report import explain, list_rules
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


def _verdict(project: Path, file: str = "src/a.py", session: str = "") -> Json:
    """What becomes of the only rule."""
    (row,) = explain(a_space(project), file, session)["rules"]
    assert isinstance(row, dict)
    return row


def test_the_list_says_all_about_a_rule(project: Path) -> None:
    keys = ('applies_to: ["*.py", "!x"]', "priority: 10", "tags: [a]", "description: Python")
    path = put(project / ".claude/rules/python.md", a_rule(*keys))

    found = list_rules(a_space(project))

    assert (found["project"], found["enabled"]) == (str(project), True)
    (row,) = found["rules"]
    assert len(row.pop("hash")) == 16
    assert row == {
        "label": ".claude/rules/python.md",
        "path": str(path),
        "applies": "by globs",
        "globs": {"applies_to": ["*.py", "!x"]},
        "priority": 10,
        "tags": ["a"],
        "description": "Python",
        "characters": 10,
        "sent_by": "sisyphus",
    }


SENDERS = [
    pytest.param(".claude/rules/a.md", a_rule('paths: "*"'), "by globs", "client", id="paths"),
    pytest.param(".claude/rules/a.md", "- x", "always", "client", id="no keys"),
    pytest.param(".claude/rules/a.md", a_rule('globs: "*"'), "by globs", "sisyphus", id="globs"),
    pytest.param(
        ".claude/rules/a.md", a_rule('paths: "*.a"', "globs: *.b"), "by globs", "both", id="both"
    ),
    pytest.param(
        ".claude/rules/a.md", a_rule('paths: "*.a"', "globs: *.a"), "by globs", "client", id="same"
    ),
    pytest.param(".github/copilot-instructions.md", "- x", "always", "sisyphus", id="Copilot's"),
    pytest.param(
        ".cursor/rules/a.mdc", a_rule("alwaysApply: false"), "on request", "nobody", id="Cursor's"
    ),
    pytest.param(
        ".cursor/rules/a.mdc", a_rule(body=""), "always", "nobody", id="a rule without text"
    ),
]


@pytest.mark.parametrize(("name", "text", "applies", "sender"), SENDERS)
def test_the_list_says_when_a_rule_applies_and_who_sends_it(
    project: Path, name: str, text: str, applies: str, sender: str
) -> None:
    put(project / name, text)

    (row,) = list_rules(a_space(project))["rules"]

    assert (row["applies"], row["sent_by"]) == (applies, sender)


def test_the_list_names_what_is_wrong(project: Path) -> None:
    path = put(project / ".claude/rules/bad.md", "---\npaths: [\n---\n")

    (row,) = list_rules(a_space(project))["problems"]

    assert (row["label"], row["path"], row["line"]) == (".claude/rules/bad.md", str(path), 3)
    assert row["problem"].startswith("skipped: invalid frontmatter")


VERDICTS = [
    pytest.param('applies_to: ["**/*.py"]', True, "**/*.py", "matched by **/*.py", id="matched"),
    pytest.param("globs: **/*.{ts,py}", True, "**/*.{ts,py}", "matched by", id="as it is written"),
    pytest.param('globs: "*.py,!src/**"', False, "!src/**", "excluded by !src/**", id="excluded"),
    pytest.param('globs: "*.ts"', False, "", "none of its globs matches", id="not matched"),
    pytest.param("tags: [a]", True, "", "it applies to every file", id="always"),
    pytest.param("alwaysApply: false", False, "", "only its description asks", id="on request"),
]


@pytest.mark.parametrize(("key", "applies", "pattern", "why"), VERDICTS)
def test_it_is_explained_whether_a_rule_applies_and_by_which_glob(
    project: Path, key: str, *, applies: bool, pattern: str, why: str
) -> None:
    put(project / ".cursor/rules/a.mdc", a_rule(key))

    row = _verdict(project)

    assert (row["applies"], row["pattern"]) == (applies, pattern)
    assert why in row["why"]


def test_it_is_explained_whether_a_rule_was_sent(project: Path, home: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('applies_to: "*.py"'))
    digest = list_rules(a_space(project))["rules"][0]["hash"]
    know_session(ours(home, ""))
    memory = open_memory(str(ours(home, "")))
    memory.write("INSERT INTO sent VALUES (1, ?, 'rules', '', 0)", digest)

    sent, unsent, unknown = (_verdict(project, session=name) for name in ("s1", "s2", ""))

    assert (sent["sent"], sent["sending"]) == (True, "sent in this session")
    assert (unsent["sent"], unsent["sending"]) == (False, "not sent yet: on the next touch")
    assert (unknown["sent"], unknown["sending"]) == (None, "sent when a tool touches the file")


SENDINGS = [
    pytest.param('paths: "*.py"', "Claude Code sends it itself, on its first match", id="paths"),
    pytest.param("tags: [a]", "Claude Code sends it itself, at session start", id="no keys"),
    pytest.param('globs: "*.ts"', "not sent for this file", id="another file's"),
]


@pytest.mark.parametrize(("key", "sending"), SENDINGS)
def test_it_is_explained_who_sends_a_rule(project: Path, key: str, sending: str) -> None:
    put(project / ".claude/rules/a.md", a_rule(key))

    assert _verdict(project)["sending"] == sending


MIXED = [
    pytest.param("a.py", True, "sisyphus", "sent when a tool touches the file", id="applies_to"),
    pytest.param(
        "a.ts", True, "client",
        "Claude Code sends it itself, on the first match of its 'paths'", id="paths",
    ),
    pytest.param("a.rs", False, "sisyphus", "not sent for this file", id="neither"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "applies", "sender", "sending"), MIXED)
def test_beside_paths_the_key_that_matched_decides_who_sends_a_rule(
    project: Path, file: str, sender: str, sending: str, *, applies: bool
) -> None:
    put(project / ".claude/rules/a.md", a_rule('paths: "*.ts"', 'applies_to: "*.py"'))

    row = _verdict(project, file)

    assert (row["applies"], row["sent_by"], row["sending"]) == (applies, sender, sending)


@pytest.mark.parametrize("key", ['paths: "*.py"', "tags: [a]", "alwaysApply: true"])
def test_a_rule_that_the_client_is_told_not_to_load_is_ours(
    project: Path, home: Path, key: str
) -> None:
    put(project / ".claude/rules/py.md", a_rule(key))
    put(home / ".claude/settings.json", '{"claudeMdExcludes": ["**/.claude/rules/py.md"]}')

    row = _verdict(project)

    assert (row["sent_by"], row["sending"]) == ("sisyphus", "sent when a tool touches the file")
    assert list_rules(a_space(project))["rules"][0]["sent_by"] == "sisyphus"


def test_it_is_explained_that_nobody_sends_a_rule(project: Path) -> None:
    rule = put(project / ".cursor/rules/a.mdc", a_rule("alwaysApply: false"))
    assert _verdict(project)["sending"] == "never sent by itself"

    rule.write_text(a_rule(body=""))
    assert _verdict(project)["sending"] == "never sent: it has no text"


def test_it_is_explained_that_rules_are_switched_off(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project / ".cursor/rules/a.mdc", "- x")
    monkeypatch.setenv("SISYPHUS_RULES_ENABLED", "0")

    assert _verdict(project)["sending"] == "not sent: rules.enabled is false"


def test_another_client_sends_nothing_itself(project: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('paths: "*.py"'))
    space = Workspace(str(project), client="opencode")

    (row,) = explain(space, "a.py", "")["rules"]

    assert row["sent_by"] == "sisyphus"


def test_a_file_outside_gets_home_rules_alone(project: Path, home: Path) -> None:
    put(project / ".cursor/rules/a.mdc", "- x")
    put(home / ".claude/rules/b.md", a_rule("globs: *.py"))

    found = explain(a_space(project), "/elsewhere/a.py", "")

    assert [(row["applies"], row["label"]) for row in found["rules"]] == [
        (False, ".cursor/rules/a.mdc"),
        (True, "~/.claude/rules/b.md"),
    ]
    assert found["rules"][0]["why"] == "the file is outside the project: home rules alone reach it"


def test_a_file_is_named_from_the_folder_one_stands_in(project: Path) -> None:
    (project / "src").mkdir()

    assert explain(a_space(project / "src"), "a.py", "")["file"] == "src/a.py"
