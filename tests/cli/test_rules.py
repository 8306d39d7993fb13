from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import know_session
from typer.testing import CliRunner, Result

from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = (
    '---\napplies_to: "*.py"\npriority: 10\ntags: [a, b]\ndescription: Ours\n---\n- Annotate.\n'
)


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a rule of ours and one of the client's."""
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/python.md").write_text(PYTHON)
    (project / ".claude/rules/all.md").write_text("- Be kind.\n")
    monkeypatch.chdir(project)
    return project


def _invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["rules", *words], catch_exceptions=False)


@pytest.mark.usefixtures("shop")
def test_the_list_is_in_the_order_in_which_rules_go_out() -> None:
    lines = _invoke("list").stdout.splitlines()

    assert lines[1:] == [
        "  .claude/rules/python.md: *.py, sent by sisyphus (priority 10; tags a, b; Ours)",
        "  .claude/rules/all.md: always, sent by Claude Code",
    ]


def test_the_list_names_both_senders_of_a_rule(shop: Path) -> None:
    (shop / ".claude/rules/all.md").write_text('---\npaths: "*.ts"\nglobs: "*.py"\n---\n- x\n')

    line = "  .claude/rules/all.md: *.ts, *.py, sent by Claude Code and sisyphus"
    assert line in _invoke("list").stdout.splitlines()


def test_an_empty_list_says_how_to_begin(project: Path) -> None:
    assert "Put one into .claude/rules/" in _invoke("list", "--project", str(project)).stdout


@pytest.mark.usefixtures("shop")
def test_the_list_says_that_rules_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_RULES_ENABLED", "false")

    assert "None is sent: rules.enabled is false." in _invoke("list").stdout


def test_the_list_and_the_explanation_name_problems(shop: Path) -> None:
    (shop / ".claude/rules/bad.md").write_text("---\npaths: [\n---\n")

    for words in (("list",), ("explain", "a.py")):
        out = _invoke(*words).stdout
        assert "Problems\n  .claude/rules/bad.md:3: skipped: invalid frontmatter" in out


@pytest.mark.usefixtures("shop")
def test_an_explanation_says_for_each_rule_what_becomes_of_it() -> None:
    assert _invoke("explain", "src/a.ts").stdout.splitlines() == [
        "Rules for src/a.ts",
        "- .claude/rules/python.md: none of its globs matches",
        "    not sent for this file",
        "+ .claude/rules/all.md: it applies to every file",
        "    Claude Code sends it itself, at session start",
    ]


@pytest.mark.usefixtures("shop")
def test_an_explanation_knows_the_session(home: Path) -> None:
    rows = json.loads(_invoke("list", "--json").stdout)["rules"]
    ledger = home / ".claude/.sisyphus/rules-injector/session-s1.json"
    ledger.parent.mkdir(parents=True)
    know_session(home / ".claude/.sisyphus")
    memory = open_memory(str(home / ".claude/.sisyphus"))
    memory.write("INSERT INTO sent VALUES (1, ?, 'rules', '', 0)", rows[0]["hash"])

    assert "sent in this session" in _invoke("explain", "a.py", "--session-id", "s1").stdout
    assert "not sent yet" in _invoke("explain", "a.py", "--session-id", "s2@agent").stdout


@pytest.mark.usefixtures("shop")
def test_the_session_of_the_client_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s3")

    assert json.loads(_invoke("explain", "a.py", "--json").stdout)["session"] == "s3"


@pytest.mark.usefixtures("shop")
def test_a_session_id_that_is_none_is_an_error() -> None:
    with pytest.raises(SisyphusError, match=r"'\.\./x' is no session id"):
        _invoke("explain", "a.py", "--session-id", "../x")


def test_without_rules_the_explanation_says_so(project: Path) -> None:
    out = _invoke("explain", "a.py", "--project", str(project)).stdout

    assert "there are none." in out


def test_a_project_without_problems_passes(project: Path) -> None:
    done = _invoke("lint", "--project", str(project))

    assert (done.exit_code, done.stdout) == (0, "No problem found.\n")


def test_problems_are_printed_and_fail(shop: Path) -> None:
    (shop / ".claude/rules/bad.md").write_text("---\npaths: [\n---\n")

    done = _invoke("lint")
    *found, count = done.stdout.splitlines()

    assert done.exit_code == 1
    assert found[0].startswith(".claude/rules/bad.md:3: skipped: invalid frontmatter")
    assert any("claudeMdExcludes" in line for line in found)
    assert count == "3 found."


@pytest.mark.usefixtures("shop")
def test_everything_can_be_had_as_json() -> None:
    assert json.loads(_invoke("list", "--json").stdout)["enabled"] is True
    assert json.loads(_invoke("explain", "a.py", "--json").stdout)["file"] == "a.py"
    found = _invoke("lint", "--json")
    assert {row["label"] for row in json.loads(found.stdout)} == {".claude/rules/python.md"}
    assert found.exit_code == 1
