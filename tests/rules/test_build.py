from __future__ import annotations

import json
from typing import TYPE_CHECKING

from making import put

from rules.rulefile import a_rule
from sisyphus.rules.build import build
from sisyphus.rules.index import MAKER, VERSION, stamp

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.rules.index import Head


def _build(project: Path, home: Path) -> tuple[Head, bytes]:
    return build(str(project), str(home / ".claude"))


def test_the_head_says_who_made_it_and_for_whom(project: Path, home: Path) -> None:
    head, _ = _build(project, home)

    assert (head["version"], head["made_by"]) == (VERSION, MAKER)
    assert (head["root"], head["home"]) == (str(project), str(home / ".claude"))


def test_each_rule_says_where_its_text_stands(project: Path, home: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('globs: "*.py"', body="- é\n"))
    put(project / ".claude/rules/b.md", a_rule('globs: "*.py"', body="- two\n\n- lines\n"))

    head, bodies = _build(project, home)

    spans = [(entry["at"], entry["at"] + entry["size"]) for entry in head["rules"]]
    assert [json.loads(bodies[a:b]) for a, b in spans] == ["- é", "- two\n\n- lines"]


def test_the_newest_of_all_stamps_is_known(project: Path, home: Path) -> None:
    rule = put(project / ".claude/rules/a.md", "- x\n")

    head, _ = _build(project, home)

    assert head["stamps"][str(rule)] == stamp(str(rule))
    assert head["newest"] == max(known[0] for known in head["stamps"].values() if known)
    assert head["made"] >= head["newest"]


def test_problems_are_handed_on(project: Path, home: Path) -> None:
    put(project / ".claude/rules/bad.md", "---\npaths: [\n---\n- x")

    ((label, line, text),) = _build(project, home)[0]["problems"]

    assert (label, line) == (".claude/rules/bad.md", 3)
    assert text.startswith("skipped: ")


def test_the_settings_of_the_client_are_watched(project: Path, home: Path) -> None:
    head, _ = _build(project, home)

    assert {
        str(home / ".claude/settings.json"),
        str(project / ".claude/settings.json"),
        str(project / ".claude/settings.local.json"),
    } <= head["stamps"].keys()
