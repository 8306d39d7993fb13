from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import a_space, put

from sisyphus.dashboard.views.rules import LATEST, usage
from sisyphus.upkeep.summary import Summary

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

AT = 1_795_186_800.0
GLOBS = "---\napplies_to: ['*.py']\n---\nUse types."


def _session(name: str, project: Path | str, *texts: str, at: float = AT) -> Summary:
    one = Summary(name)
    for number, text in enumerate(texts):
        one.take({"at": at + number, "sent": 9, "project": str(project), "texts": [text]})
    return one


@pytest.fixture
def rule(project: Path) -> None:
    put(project / ".github/instructions/py.instructions.md", GLOBS)


RULE = "rules .github/instructions/py.instructions.md"


def _use(project: Path, *sums: Summary) -> Json:
    return usage(a_space(project), sums)


@pytest.mark.usefixtures("rule")
def test_a_rule_is_told_with_where_it_was_sent(project: Path) -> None:
    found = _use(
        project,
        _session("s1", project, RULE, RULE),
        _session("s2", project, RULE, at=AT + 60),
        _session("s3", "/home/ann/other", RULE),
    )
    (row,) = found["rules"]
    assert {name: row[name] for name in ("label", "times", "sessions", "last", "latest")} == {
        "label": ".github/instructions/py.instructions.md", "times": 3, "sessions": 2,
        "last": AT + 60, "latest": ["s2", "s1"],
    }  # fmt: skip
    assert (row["sent_by"], row["applies"], row["characters"]) == ("sisyphus", "by globs", 10)
    assert (found["sessions"], found["never"], found["gone"]) == (2, 0, [])


@pytest.mark.usefixtures("rule")
def test_the_latest_sessions_are_named(project: Path) -> None:
    sums = [_session(f"s{n}", project, RULE, at=AT + n) for n in range(LATEST + 2)]
    (row,) = _use(project, *sums)["rules"]
    assert row["sessions"] == LATEST + 2
    assert row["latest"] == [f"s{n}" for n in range(LATEST + 1, 1, -1)]


@pytest.mark.usefixtures("rule")
def test_a_rule_that_was_never_sent_says_so(project: Path) -> None:
    found = _use(project, _session("s1", project, "loop"))
    (row,) = found["rules"]
    assert (row["times"], row["last"], row["latest"]) == (0, None, [])
    assert found["never"] == 1


def test_what_the_client_sends_itself_is_not_called_never(project: Path) -> None:
    put(project / ".claude/rules/all.md", "Be brief.")
    found = _use(project)
    assert [row["sent_by"] for row in found["rules"]] == ["client"]
    assert found["never"] == 0


@pytest.mark.usefixtures("rule")
def test_what_else_was_sent_is_told(project: Path) -> None:
    put(project / "README.md", "# Ours")
    texts = (
        "readme README.md", "readme src/README.md", "agents AGENTS.md", "rules old, gone.md",
        "boulder .claude/PLAN.md", "loop", "checkpoint", "checkpoint .claude/handoffs/a.md",
    )  # fmt: skip
    found = _use(project, _session("s1", project, *texts))
    told = {
        row["name"]: (row["times"], row["is_sent"], row["reason"]) for row in found["documents"]
    }
    assert told == {
        "README.md": (1, True, "whole"),
        "AGENTS.md": (1, False, "absent"),
        "src/README.md": (1, False, "context.directory_readme is false"),
    }
    assert [row["name"] for row in found["gone"]] == ["old, gone.md"]
    assert [(row["kind"], row["name"]) for row in found["others"]] == [
        ("checkpoint", ".claude/handoffs/a.md"), ("level", ""), ("loop", ""),
        ("boulder", ".claude/PLAN.md"),
    ]  # fmt: skip


def test_problems_of_rules_are_told(project: Path) -> None:
    put(project / ".claude/rules/bad.md", "---\npriority: [\n---\nx")
    (problem,) = _use(project)["problems"]
    assert problem["label"] == ".claude/rules/bad.md"


def test_a_project_that_is_gone_has_nothing(tmp_path: Path) -> None:
    found = usage(a_space(tmp_path / "gone"), [])
    assert (found["rules"], found["gone"], found["sessions"]) == ([], [], 0)


def test_sessions_that_were_sent_more_than_is_remembered_are_told(project: Path) -> None:
    texts = [f"rules {'x' * 280}{n}" for n in range(99)]
    sums = [_session("s1", project, *texts), _session("s2", project, *texts[:9])]
    assert _use(project, *sums)["forgetting"] == 1
