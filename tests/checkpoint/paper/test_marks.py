from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.paper.marks import cell, code, fence, quote, table, text

TEXTS = [
    pytest.param("a\n b\x1b[2J", "a b [2J", id="one line"),
    pytest.param("run `make` now", "run `make` now", id="a code span"),
    pytest.param("run `make now", "run 'make now", id="an open one"),
    pytest.param("``a` b", "''a' b", id="odd ones"),
    pytest.param("a <!-- b", "a (!-- b", id="a comment"),
    pytest.param("a | b", "a | b", id="a bar"),
    pytest.param("\ud800", "?", id="half a character"),
    pytest.param("x" * 400, "x" * 297 + "...", id="a long one"),
]


@pytest.mark.parametrize(("said", "shown"), TEXTS)
def test_a_text_stays_in_its_line(said: str, shown: str) -> None:
    assert text(said) == shown


def test_a_cell_holds_no_bar() -> None:
    assert cell("a | `b | c`") == "a \\| `b \\| c`"


CODES = [
    pytest.param("a.py", "`a.py`", id="a path"),
    pytest.param("a`b", "``a`b``", id="with a backtick"),
    pytest.param("`a`", "`` `a` ``", id="at its ends"),
    pytest.param("a\nb", "`a b`", id="two lines"),
    pytest.param("a````b", "`a''''b`", id="too many"),
    pytest.param("", "", id="nothing"),
    pytest.param(" \n", "", id="nothing to see"),
]


@pytest.mark.parametrize(("said", "shown"), CODES)
def test_code_stays_in_its_span(said: str, shown: str) -> None:
    assert code(said) == shown


FENCES = [
    pytest.param("a\nb", "```text\na\nb\n```", id="lines"),
    pytest.param("```\na", "````text\n```\na\n````", id="a fence"),
    pytest.param("# a\n\tb", "```text\n # a\n    b\n```", id="a heading, a tab"),
    pytest.param("\x1b[1m\r", "```text\n [1m \n```", id="control characters"),
]


@pytest.mark.parametrize(("said", "shown"), FENCES)
def test_a_fence_holds_what_is_in_it(said: str, shown: str) -> None:
    assert fence(said) == shown


@given(st.text(alphabet="`~#\n ab"))
def test_nothing_closes_a_fence(said: str) -> None:
    first, *lines, last = fence(said).split("\n")
    assert first == last + "text"
    assert not any(line.strip().startswith(last) for line in lines)
    assert not any(line.startswith("#") for line in lines)


@given(st.text(alphabet="`a |\n"))
def test_nothing_closes_a_code_span(said: str) -> None:
    shown = code(said)
    runs = re.findall("`+", shown)
    assert not shown or (runs[0] == runs[-1] and runs[0] not in runs[1:-1])


def test_a_quote_keeps_its_lines() -> None:
    assert quote("a\n\n# b\x1b") == "> a\n>\n> # b"


def test_a_table_has_a_row_a_line() -> None:
    assert table(("A", "Long"), [("1", "2")]) == "| A | Long |\n| --- | ---- |\n| 1 | 2 |"
