from __future__ import annotations

import pytest

from sisyphus.enforce.words import prose
from sisyphus.enforce.words.prose import HEADING, ITEM, PARAGRAPH

BLOCKS = [
    pytest.param("one\ntwo\n\nthree", [(PARAGRAPH, "one\ntwo\n\n"), (PARAGRAPH, "three")], id="2"),
    pytest.param("# a\nb", [(HEADING, "# a\n"), (PARAGRAPH, "b")], id="a heading"),
    pytest.param("- a\n- b", [(ITEM, "a\n- "), (ITEM, "b")], id="items"),
    pytest.param("1. a", [(ITEM, "a")], id="a numbered item"),
    pytest.param("- [x] a", [(ITEM, " a")], id="a ticked box"),
    pytest.param("[X] a", [(ITEM, " a")], id="a box without a bullet"),
    pytest.param("", [], id="nothing"),
    pytest.param("```\na\n```", [], id="code alone"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "blocks"), BLOCKS)
def test_a_message_falls_into_blocks(message: str, blocks: list[tuple[str, str]]) -> None:
    read = prose.read(message, 1_000)

    assert [(b.kind, read.source[b.start : b.end]) for b in read.blocks] == blocks
    assert len(read.text) == len(read.source)


BOXES = [
    pytest.param("- [ ] a", True, id="open"),
    pytest.param("- [x] a", False, id="ticked"),
    pytest.param("[ ] a", True, id="open, without a bullet"),
    pytest.param("\u2610 a", True, id="open, as a sign"),
    pytest.param("- a [ ]", False, id="behind the text"),
]


@pytest.mark.parametrize(("message", "is_open"), BOXES)
def test_an_open_box_is_known(message: str, is_open: bool) -> None:
    assert [block.has_open_box for block in prose.read(message, 100).blocks] == [is_open]


ENDS = [
    pytest.param("short", 10, "short", id="all of a short message"),
    pytest.param("one\n" + "x" * 8, 10, "x" * 8, id="from the start of a line"),
    pytest.param("one two three four", 8, "four", id="from a word, where lines are long"),
    pytest.param("a\n" + "long " * 3 + "\nb", 12, "long \nb", id="from a word before a late line"),
    pytest.param("x" * 20, 10, "", id="nothing of a word without an end"),
    pytest.param("```\n" + "code\n" * 5 + "```\nend", 13, "end", id="not from within a fence"),
    pytest.param("```\n" + "code\n" * 9, 12, "", id="nor from one that is open"),
    pytest.param("```\na\n```\n" + "line\n" * 9, 12, "line\nline\n", id="a fence before is over"),
    pytest.param(
        "  ~~~\n" + "code\n" * 5 + "~~~\nend", 13, "end", id="a fence of tildes, indented"
    ),
]


@pytest.mark.parametrize(("message", "most", "end"), ENDS)
def test_the_end_of_a_message(message: str, most: int, end: str) -> None:
    assert prose.end_of(message, most) == end
