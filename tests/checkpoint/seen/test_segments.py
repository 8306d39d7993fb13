from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.seen.segments import same, segments

SEGMENTS = [
    pytest.param("pytest -q", [(["pytest", "-q"], "")], id="one command"),
    pytest.param("cd a && b | c", [(["cd", "a"], "&&"), (["b"], "|"), (["c"], "")], id="several"),
    pytest.param("a; b\nc", [(["a"], ";"), (["b"], ";"), (["c"], "")], id="one behind the other"),
    pytest.param("a || b &", [(["a"], "||"), (["b"], "&")], id="alternatives, in the background"),
    pytest.param("a '; b' \"&& c\"", [(["a", "; b", "&& c"], "")], id="operators in quotes"),
    pytest.param('a "x\\" ; y" z', [(["a", 'x\\" ; y', "z"], "")], id="a quote in quotes"),
    pytest.param("a \\; b", [(["a", "\\;", "b"], "")], id="an escaped operator"),
    pytest.param("a 2>&1 |& b", [(["a", "2>&1"], "|"), (["b"], "")], id="redirections"),
    pytest.param("a &> x", [(["a", "&>", "x"], "")], id="of both outputs"),
    pytest.param("a 'b", [(["a", "b"], "")], id="an open quote"),
    pytest.param("(a && b)", [(["(a"], "&&"), (["b)"], "")], id="a group"),
    pytest.param("cat > x <<'E'\nmake test\nE", [(["cat", ">", "x"], "")], id="a document"),
    pytest.param(
        "cat <<E && b\nx\nE\nc", [(["cat"], "&&"), (["b"], ";"), (["c"], "")], id="and behind it"
    ),
    pytest.param("cat <<E; b\nx", [(["cat"], ";"), (["b"], "")], id="one without an end"),
    pytest.param(" \n; ", [], id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "found"), SEGMENTS)
def test_a_command_is_taken_apart(command: str, found: list[tuple[list[str], str]]) -> None:
    assert [(segment.words, segment.operator) for segment in segments(command)] == found


SAME = [
    pytest.param("pytest  -q\n", "pytest -q", id="white space"),
    pytest.param("pytest -q 2>&1 | tail -5", "pytest -q", id="the end of its output"),
    pytest.param("pytest -q | grep -v x | head", "pytest -q", id="parts of it"),
    pytest.param("pytest -q | wc -l", "pytest -q | wc -l", id="another result"),
    pytest.param("tail -5 x", "tail -5 x", id="a command of its own"),
]


@pytest.mark.parametrize(("command", "alike"), SAME)
def test_how_much_of_the_output_is_shown_makes_no_other_command(command: str, alike: str) -> None:
    assert same(command) == alike


@given(st.text())
def test_any_text_is_taken_apart(command: str) -> None:
    assert all(segment.words for segment in segments(command))
    assert same(same(command)) == same(command)


@pytest.mark.parametrize(
    "command", ["| tail " * 99_999, "'" * 99_999, "<<a\n" * 99_999, "a" * 10**6]
)
def test_a_hostile_command_takes_no_longer(command: str) -> None:
    assert len(segments(command)) < 1_000
    assert len(same(command)) <= 1_000
