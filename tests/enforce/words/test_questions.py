from __future__ import annotations

import pytest

from enforce.words.reading import read
from sisyphus.enforce.words import questions

ASKING = [
    *("Go on?", "It works. Go on?", "Go on? Thanks.", "Go on? Let me know.", "Which?\n- a\n- b"),
    *("- Keep it?\n- Drop it?", "Please confirm.", "Tell me which one.", "I need your decision."),
    *("Let me know whether I may.", "\u597d\u5417\uff1f", "Go on? \U0001f642"),
]
TELLING = [
    *("", "It works.", "Why? It was stale.", "## Why?\n\n- a", "Let me know if it fails.", "- a"),
    *("I checked your input.", "Please restart it.", "`why?`", "I need your help. It works."),
]


@pytest.mark.parametrize("text", ASKING)
def test_these_ask_the_user(text: str) -> None:
    assert questions.asks(reversed(read(text)))


@pytest.mark.parametrize("text", TELLING)
def test_these_do_not(text: str) -> None:
    assert not questions.asks(reversed(read(text)))
