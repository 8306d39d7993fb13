from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.upkeep.sent import NAME_CHARACTERS, label, texts

if TYPE_CHECKING:
    from sisyphus._types import Json

RULE = ".claude/rules/a, b.md"

TOLD = [
    pytest.param(
        {"sent": 9, "texts": [f"rules {RULE}", "loop"], "notes": ["sent x"]},
        [f"rules {RULE}", "loop"],
        id="as the line says",
    ),
    pytest.param(
        {"sent": 9, "notes": ["waiting for a later reply: x", "sent loop, AGENTS.md (2 parts)"]},
        ["loop", "agents AGENTS.md"],
        id="as an older version noted it",
    ),
    pytest.param(
        {"sent": 9, "notes": ["sent ~/.claude/rules/go/a.md, .github/copilot-instructions.md"]},
        ["rules ~/.claude/rules/go/a.md", "rules .github/copilot-instructions.md"],
        id="rules, by their place",
    ),
    pytest.param(
        {"sent": 9, "notes": ["sent .claude/PLAN.md, src/README.md, .claude/handoffs/h.md"]},
        ["boulder .claude/PLAN.md", "readme src/README.md", "checkpoint .claude/handoffs/h.md"],
        id="a plan, a document and a handoff, by theirs",
    ),
    pytest.param({"sent": 0, "notes": ["sent x"]}, [], id="nothing was sent"),
    pytest.param({"sent": 9, "notes": [3, "sentence"]}, [], id="other notes"),
    pytest.param({"sent": 9, "texts": [3, None], "notes": 4}, [], id="nonsense"),
]


@pytest.mark.parametrize(("entry", "names"), TOLD)
def test_what_was_sent(entry: Json, names: list[str]) -> None:
    assert texts(entry) == names


@given(st.text(), st.lists(st.text()), st.lists(st.text()))
def test_names_are_short_and_can_be_written(name: str, notes: list[str], told: list[str]) -> None:
    made: list[Any] = [label("rules", name), *texts({"sent": 1, "notes": notes})]
    for text in (*made, *texts({"texts": told})):
        assert text.encode()
    assert len(label("rules", name * 99)) <= len("rules ") + NAME_CHARACTERS
