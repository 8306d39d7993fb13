"""Texts on which a careless parser works for ever. The bound of a hook fails a quadratic one."""

from __future__ import annotations

import pytest

from integration.desk import PLAN, Desk, assert_polite

SIZE = 900_000


def _full(text: str) -> str:
    return (text * (SIZE // len(text) + 1))[:SIZE]


TEXTS = [
    pytest.param(_full("`"), id="backticks"),
    pytest.param(_full("<!--"), id="comments that never end"),
    pytest.param(_full("<promise>"), id="promises that never end"),
    pytest.param(_full("not <promise>DONE</promise> yet "), id="promises in mid-sentence"),
    pytest.param(_full("> - * 1. "), id="containers in containers"),
    pytest.param(_full("".join("  " * n + "- [ ] x\n" for n in range(300))), id="deep lists"),
    pytest.param(_full("- [ ] x\n## Wave 1\n### S1: a\n"), id="many headings"),
    pytest.param(_full(" "), id="blanks"),
    pytest.param(_full("@a\n"), id="many includes"),
    pytest.param("---\napplies_to: '" + _full("*a") + "b'\n---\nx", id="a glob of stars"),
    pytest.param("---\na: " + _full("[") + "\n---\nx", id="frontmatter of brackets"),
    pytest.param(
        "---\nx0: &x0 [a, a]\n"
        + "".join(f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}]\n" for n in range(1, 60))
        + "applies_to: *x59\n---\nx",
        id="frontmatter that grows when read",
    ),
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_project_of_slow_texts_stops_no_hook(desk: Desk, text: str) -> None:
    names = (PLAN, "README.md", "AGENTS.md", "CLAUDE.md", ".claude/rules/slow.md")
    for name in (*names, ".github/copilot-instructions.md", ".cursor/rules/slow.mdc"):
        desk.write(name, text)
    for event in ("session-start", "post-tool-use", "post-tool-use:plan"):
        assert_polite(desk.hook(event))
    assert desk.failures == []


@pytest.mark.parametrize("text", TEXTS)
def test_a_slow_text_in_a_message_stops_no_hook(desk: Desk, text: str) -> None:
    start = '/sisyphus:ralph-loop "x" --completion-promise DONE'
    assert_polite(desk.hook("user-prompt-submit", prompt=start))
    assert_polite(desk.hook("stop", last_assistant_message=text))
    assert_polite(desk.hook("user-prompt-submit", prompt=f"/sisyphus:ralph-loop {text}"))
    assert desk.failures == []
