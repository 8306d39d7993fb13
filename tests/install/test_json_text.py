from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from install.json_samples import BEGINS, ENDS, VALUES, WRITERS
from sisyphus.install.json_text import BOM, MAX_DEPTH, JsonTextError, parse, position
from sisyphus.install.json_tree import doubled, find, member

if TYPE_CHECKING:
    from collections.abc import Callable

    Writer = Callable[[Any], str]

COMMENT = "a comment: the client reads no comments here"
REFUSED = [
    pytest.param("", 1, 1, "nothing but space", id="an empty file"),
    pytest.param(" \n ", 2, 2, "nothing but space", id="white space alone"),
    pytest.param('{"a": 1,\n  // why\n  "b": 2}', 2, 3, COMMENT, id="a comment to the line's end"),
    pytest.param('{"a": 1 /* why */}', 1, 9, COMMENT, id="a comment in brackets"),
    pytest.param("# settings\n{}", 1, 1, COMMENT, id="a comment of another language"),
    pytest.param('{\n"a": [\n1,\n]}', 3, 2, "a trailing comma", id="a trailing comma in a list"),
    pytest.param('{"a": 1,}', 1, 8, "a trailing comma", id="a trailing comma in an object"),
    pytest.param("{} {}", 1, 4, "text behind the end", id="two objects"),
    pytest.param("{}}", 1, 3, "text behind the end", id="a bracket too many"),
    pytest.param("[1,, 2]", 1, 4, "a comma too many", id="two commas"),
    pytest.param("[1 2]", 1, 4, "a comma or `]` is missing before this", id="no comma"),
    pytest.param("[1}", 1, 3, "a comma or `]` is missing before this", id="the wrong bracket"),
    pytest.param("[01]", 1, 3, "a comma or `]` is missing before this", id="a leading zero"),
    pytest.param("[1.]", 1, 3, "a comma or `]` is missing before this", id="no digit at a point"),
    pytest.param('{"a" 1}', 1, 6, "a colon is missing before this", id="no colon"),
    pytest.param("{a: 1}", 1, 2, "a key without double quotes", id="a bare key"),
    pytest.param("{1: 1}", 1, 2, "a key without double quotes", id="a number for a key"),
    pytest.param("['a']", 1, 2, "a single quote: JSON has double quotes alone", id="quotes"),
    pytest.param("[NaN]", 1, 2, "NaN: JSON has no such number", id="NaN"),
    pytest.param("[-Infinity]", 1, 2, "Infinity: JSON has no such number", id="-Infinity"),
    pytest.param("Infinity", 1, 1, "Infinity: JSON has no such number", id="Infinity"),
    pytest.param("[+1]", 1, 2, "no value", id="a plus"),
    pytest.param("[True]", 1, 2, "no value", id="a literal of another language"),
    pytest.param("[nullx]", 1, 2, "no value", id="more than a literal"),
    pytest.param(
        '["\t"]', 1, 3, "a line break, a tab or another control character in a text", id="t"
    ),
    pytest.param(
        '["a\n"]', 1, 4, "a line break, a tab or another control character in a text", id="n"
    ),
    pytest.param('["\\x"]', 1, 3, "a backslash and behind it what JSON does not know", id="\\x"),
    pytest.param('["\\u12g"]', 1, 3, "a backslash and behind it what JSON does not know", id="\\u"),
    pytest.param('{"a": "b}', 1, 7, "a text that is never closed", id="no closing quote"),
    pytest.param('{"a": [1', 1, 9, "the end comes too early", id="cut in a list"),
    pytest.param('{"a":\n', 2, 1, "the end comes too early", id="cut before a value"),
    pytest.param('{"a"', 1, 5, "the end comes too early", id="cut before a colon"),
    pytest.param("{", 1, 2, "the end comes too early", id="cut before a key"),
    pytest.param("<<<<<<< HEAD\n{}", 1, 1, "a merge conflict", id="a merge conflict"),
    pytest.param('{"a": 1\n=======', 2, 1, "a merge conflict", id="a merge conflict's middle"),
    pytest.param(BOM + BOM + "{}", 1, 1, "a second byte order mark", id="two byte order marks"),
    pytest.param("[" * 10_000, 1, 101, "nested more than 100 deep", id="nested too deeply"),
    pytest.param('{"a":' * 10_000, 1, 501, "nested more than 100 deep", id="objects, too deeply"),
    pytest.param("{}\u00a0", 1, 3, "text behind the end", id="a space that JSON does not know"),
    pytest.param("{}\0", 1, 3, "text behind the end", id="a NUL"),
]


@pytest.mark.parametrize(("text", "line", "column", "what"), REFUSED)
def test_what_is_no_json_is_named_with_its_place(
    text: str, line: int, column: int, what: str
) -> None:
    with pytest.raises(JsonTextError) as refused:
        parse(text)
    error = refused.value
    assert (error.line, error.column, error.what) == (line, column, what)
    assert str(error) == f"line {line}, column {column}: {what}"


def test_a_byte_order_mark_is_no_column() -> None:
    with pytest.raises(JsonTextError, match="line 1, column 2"):
        parse(BOM + "{a: 1}")
    assert position(BOM + "{}\n{}", 4) == (2, 1)


def test_settings_may_nest_as_deep_as_is_said() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse(text).value == json.loads(text)


@pytest.mark.parametrize("text", ["-" + "9" * 5_000, "1e999", "9" * 3_999], ids=len)
def test_numbers_of_any_size_are_numbers(text: str) -> None:
    assert parse(text).kind == "number"


SOUP = st.text('{}[]",:\\ntrue01.eE+-/*\r \t\x00\ufeff"u', max_size=12)


def _no_such_number(name: str) -> None:
    raise ValueError(name)


@given(SOUP | st.text())
@example("[NaN]")
@example("-Infinity")
@example('"\x7f\u2028"')
@example("[1,]")
def test_what_pythons_parser_refuses_is_refused_and_nothing_else(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=_no_such_number)
    except ValueError:
        if not text.startswith(BOM):
            with pytest.raises(JsonTextError):
                parse(text)
    else:
        assert json.dumps(parse(text).value) == json.dumps(expected)


@given(VALUES, WRITERS, BEGINS, ENDS)
def test_every_way_to_write_a_value_is_read(
    value: Any, write: Writer, begin: str, end: str
) -> None:
    text = begin + write(value) + end
    node = parse(text)
    assert json.dumps(node.value) == json.dumps(value)
    assert json.dumps(json.loads(text[node.start : node.end])) == json.dumps(value)
    assert text[: node.start].strip() in ("", BOM)


@given(VALUES, WRITERS)
def test_every_part_stands_where_its_node_says(value: Any, write: Writer) -> None:
    text = write(value)
    waiting = [parse(text)]
    while waiting:
        node = waiting.pop()
        assert json.dumps(json.loads(text[node.start : node.end])) == json.dumps(node.value)
        for held in node.members:
            assert json.loads(text[held.start : held.key_end]) == held.key
            assert text[held.key_end : held.node.start].strip() == ":"
            assert held.end == held.node.end
        waiting += [*node.items, *(held.node for held in node.members)]


def test_of_double_keys_the_last_counts_and_the_second_is_shown() -> None:
    text = '{"hooks": 1,\n "x": {"hooks": 2},\n "hooks": 3, "hooks": 4}'
    node = parse(text)
    second = doubled(node, "hooks")
    assert second is not None
    assert position(text, second.start) == (3, 2)
    assert node.value == {"hooks": 4, "x": {"hooks": 2}}
    assert [held.key for held in node.members] == ["hooks", "x", "hooks", "hooks"]
    found = find(node, ["hooks"])
    assert found is not None
    assert found.value == 4
    assert doubled(node, "x") is None
    assert doubled(node, "y") is None


FOUND = [
    pytest.param((), {"a": [1, {"b": None}], "c": ""}, id="the whole"),
    pytest.param(("a", 1), {"b": None}, id="an item"),
    pytest.param(("a", 1, "b"), None, id="a null"),
    pytest.param(("c",), "", id="an empty text"),
]
MISSING = [
    ("b",),
    ("a", 2),
    ("a", -1),
    ("a", "b"),
    ("c", 0),
    (0,),
    ("b", "c", "d"),
    ("a", 1, "b", 0),
]


@pytest.mark.parametrize(("path", "value"), FOUND)
def test_a_path_leads_to_a_value(path: tuple[str | int, ...], value: object) -> None:
    node = find(parse('{"a": [1, {"b": null}], "c": ""}'), path)
    assert node is not None
    assert node.value == value


@pytest.mark.parametrize("path", MISSING, ids=str)
def test_a_path_to_nothing_finds_nothing(path: tuple[str | int, ...]) -> None:
    assert find(parse('{"a": [1, {"b": null}], "c": ""}'), path) is None


def test_a_list_has_no_members() -> None:
    assert member(parse('["a"]'), "a") is None
