from __future__ import annotations

import pytest

from sisyphus import markdown

H = markdown.HIDDEN


def _shown(text: str) -> str:
    """The message with `.` for each hidden character."""
    return markdown.read(text).text.replace(H, ".")


HIDDEN = [
    pytest.param("a `b` c", "a ... c", id="inline code"),
    pytest.param("a ``b ` c`` d", "a ......... d", id="inline code with a backtick in it"),
    pytest.param("a ` b", "a ` b", id="a lone backtick"),
    pytest.param("a ` b\n\n` c", "a ` b\n\n` c", id="code spans end with their paragraph"),
    pytest.param("a `b\nc` d", "a ..... d", id="inline code over two lines"),
    pytest.param("\\`a` b`", "\\`a....", id="an escaped backtick opens nothing"),
    pytest.param("`<!--` a -->", "...... a -->", id="a comment mark in code"),
    pytest.param("a <!-- ` --> b `", "a .......... b `", id="a backtick in a comment"),
    pytest.param("a <!-- b", "a <!-- b", id="an inline comment that is never closed"),
    pytest.param("a <!-- b\n\nc -->", "a <!-- b\n\nc -->", id="nor within its paragraph"),
    pytest.param("<!-- a\n\nb --> c", "............. c", id="a block comment"),
    pytest.param("<!-- a\nb", "........", id="a block comment that is never closed"),
    pytest.param("<!-- a\n<!-- b -->\nc", ".................\nc", id="comments do not nest"),
    pytest.param("a\n```\nb\n```\nc", "a\n...\n.\n...\nc", id="a fence interrupts a paragraph"),
    pytest.param("```a`b\nc", "```a`b\nc", id="backticks in the first line: no fence"),
    pytest.param("~~~a`b\nc", "......\n.", id="not so with tildes"),
    pytest.param("~~~\n```\n~~~\na", "...\n...\n...\na", id="a fence is closed by its own kind"),
    pytest.param("    a\n\nb", ".....\n\nb", id="indented code at the start"),
    pytest.param("a\n\n    b\n    c\nd", "a\n\n.....\n.....\nd", id="indented code in the middle"),
    pytest.param("a\n    b", "a\n    b", id="indentation goes on with a paragraph"),
    pytest.param("# a\n    b", "# a\n.....", id="but not with a heading"),
    pytest.param("- a\n\n      b", "- a\n\n......." , id="indented code in an item"),
    pytest.param("- a\n\n  b", "- a\n\n  b", id="a second paragraph of an item"),
    pytest.param("-\n  a", "-\n  a", id="an item that begins on the next line"),
    pytest.param("- - a\n\n    b", "- - a\n\n    b", id="items in items"),
    pytest.param("- a\nb\n\n    c", "- a\nb\n\n    c", id="a lazy line leaves the item open"),
    pytest.param("- a\n\nb\n\n    c", "- a\n\nb\n\n.....", id="another paragraph closes it"),
    pytest.param("- a\n  - b\n\n  c\n\n      d", "- a\n  - b\n\n  c\n\n.......", id="outer"),
    pytest.param("- - ```\n    a\n  b", "- - ...\n.....\n  b", id="a fence ends with its item"),
    pytest.param("a\n    > b", "a\n    > b", id="no quotation so far in"),
    pytest.param("a\n\n`b\nc` d", "a\n\n..... d", id="inline code in a later paragraph"),
    pytest.param("> a\nb\n\nc", "...\n.\n\nc", id="a quotation with a lazy line"),
    pytest.param("> a\n- b", "...\n- b", id="an item ends a quotation"),
    pytest.param(">\na", ".\na", id="an empty quotation takes in no line"),
    pytest.param("a\r\n```\rb", "a\n...\n.", id="line ends of every kind"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_what_is_only_shown_is_blotted_out(text: str, shown: str) -> None:
    assert _shown(text) == shown


def test_paragraphs_items_and_headings_begin_somewhere() -> None:
    text = "one\ntwo\n\nthree\n- four\n- > five\n  six\n# seven\neight"

    begins = markdown.read(text).begins

    assert [text[at:].split("\n", maxsplit=1)[0] for at in begins] == [
        "one",
        "three",
        "four",
        "# seven",
        "eight",
    ]
