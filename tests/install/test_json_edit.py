from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from install.json_samples import BEGINS, ENDS, TEXTS, VALUES, WRITERS, at, containers
from sisyphus.install.json_edit import append_item, remove, set_member
from sisyphus.install.json_text import BOM, JsonTextError, parse
from sisyphus.install.json_tree import find

if TYPE_CHECKING:
    from collections.abc import Callable

    Path = tuple[str | int, ...]
    Writer = Callable[[Any], str]

HOOK = {"hooks": [{"type": "command", "timeout": 5}]}

ADDED = [
    pytest.param("{}", '{\n  "k": 1\n}', id="an empty object"),
    pytest.param("{}\n", '{\n  "k": 1\n}\n', id="an empty object and a newline"),
    pytest.param("{ }", '{\n  "k": 1\n }', id="a space, which is kept"),
    pytest.param("{\n}", '{\n  "k": 1\n\n}', id="a newline, which is kept"),
    pytest.param("{}\r\n", '{\r\n  "k": 1\r\n}\r\n', id="line ends of Windows"),
    pytest.param('{"a":0}', '{"a":0,"k":1}', id="minified"),
    pytest.param('{"a":0}\n', '{"a":0,"k":1}\n', id="minified with a newline"),
    pytest.param('{"a": 0}', '{"a": 0, "k": 1}', id="on one line"),
    pytest.param('{ "a" : 0 }', '{ "a" : 0, "k" : 1 }', id="on one line with air"),
    pytest.param('{"a": 0,"b": 0}', '{"a": 0,"b": 0,"k": 1}', id="no space behind commas"),
    pytest.param('{\n  "a": 0\n}', '{\n  "a": 0,\n  "k": 1\n}', id="two spaces"),
    pytest.param('{\n    "a": 0\n}', '{\n    "a": 0,\n    "k": 1\n}', id="four spaces"),
    pytest.param('{\n\t"a":0\n}', '{\n\t"a":0,\n\t"k":1\n}', id="tabs and a narrow colon"),
    pytest.param('{\r\n "a": 0\r\n}', '{\r\n "a": 0,\r\n "k": 1\r\n}', id="CRLF"),
    pytest.param('{\n"a": 0\n}', '{\n"a": 0,\n"k": 1\n}', id="no indentation"),
    pytest.param('{\n  "a": 0  \n\n}', '{\n  "a": 0,\n  "k": 1  \n\n}', id="space before the end"),
    pytest.param('{\n\n  "a": 0\n}', '{\n\n  "a": 0,\n  "k": 1\n}', id="a blank line"),
    pytest.param('{"a": 0,\n "b": 0}', '{"a": 0,\n "b": 0,\n "k": 1}', id="hanging"),
    pytest.param('{"a"\n: 0}', '{"a"\n: 0, "k": 1}', id="a colon on the next line"),
    pytest.param(BOM + "{}", BOM + '{\n  "k": 1\n}', id="a byte order mark"),
    pytest.param(BOM + '  {"a": 0}', BOM + '  {"a": 0, "k": 1}', id="a mark and space"),
    pytest.param('{"k": 0, "k": 2}', '{"k": 0, "k": 1}', id="double keys: the one that counts"),
    pytest.param('{"k":  [0] }', '{"k":  1 }', id="another value"),
    pytest.param('{"k": 1 }', '{"k": 1 }', id="the same value"),
    pytest.param('{"k": 1.0}', '{"k": 1}', id="the same to Python alone"),
    pytest.param('{"k": true}', '{"k": 1}', id="one is not true"),
]


@pytest.mark.parametrize(("text", "expected"), ADDED)
def test_a_member_looks_like_those_around_it(text: str, expected: str) -> None:
    assert set_member(text, (), "k", 1) == expected


NESTED = [
    pytest.param(
        '{\n  "hooks": {}\n}\n',
        '{\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": [\n          {\n            '
        '"type": "command",\n            "timeout": 5\n          }\n        ]\n      }\n    ]\n'
        "  }\n}\n",
        id="on lines",
    ),
    pytest.param(
        '{"model":"x","hooks":{}}',
        '{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","timeout":5}]}]}}',
        id="minified",
    ),
    pytest.param(
        '{"hooks": {}, "x": 1}',
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "timeout": 5}]}]}, "x": 1}',
        id="on one line",
    ),
    pytest.param(
        '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}',
        '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n\t\t\t\t\t{\r\n'
        '\t\t\t\t\t\t"type": "command",\r\n\t\t\t\t\t\t"timeout": 5\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n'
        "\t\t\t}\r\n\t\t]\r\n\t}\r\n}",
        id="tabs and CRLF",
    ),
    pytest.param(
        '{\n  "hooks": {"Stop": [{\n    "a": 1\n  }]}\n}',
        '{\n  "hooks": {"Stop": [{\n    "a": 1\n  }, {\n    "hooks": [\n      {\n        '
        '"type": "command",\n        "timeout": 5\n      }\n    ]\n  }]}\n}',
        id="brackets together",
    ),
]


@pytest.mark.parametrize(("text", "expected"), NESTED)
def test_what_is_new_is_written_as_the_file_is(text: str, expected: str) -> None:
    stop = find(parse(text), ("hooks", "Stop"))
    if stop is None:
        written = set_member(text, ("hooks",), "Stop", [HOOK])
        assert remove(written, ("hooks", "Stop")) == text
    else:
        written = append_item(text, ("hooks", "Stop"), HOOK)
        assert remove(written, ("hooks", "Stop", len(stop.items))) == text
    assert written == expected


REMOVED = [
    pytest.param('{"a": 1, "b": 2}', ("a",), '{"b": 2}', id="the first"),
    pytest.param('{"a": 1, "b": 2}', ("b",), '{"a": 1}', id="the last"),
    pytest.param("[1, 2, 3]", (1,), "[1, 3]", id="in the middle"),
    pytest.param("[1,\n 2, 3,\n 4]", (1,), "[1, 3,\n 4]", id="the first of a line"),
    pytest.param('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}', id="the first line"),
    pytest.param('{\n  "a": 1\n}', ("a",), "{}", id="the only line"),
    pytest.param('{ "a": 1 }', ("a",), "{}", id="the only one, with air"),
    pytest.param('{"a": 1}', ("a",), "{}", id="the only one"),
    pytest.param('{"a": 1 , "b": 2}', ("b",), '{"a": 1}', id="space before a comma"),
    pytest.param('{"a": {"x": 1}}', ("a", "x"), '{"a": {}}', id="below"),
    pytest.param('{"a": 1, "b": 2, "a": 3}', ("a",), '{"a": 1, "b": 2}', id="the key that counts"),
]


@pytest.mark.parametrize(("text", "path", "expected"), REMOVED)
def test_what_is_removed_takes_its_comma_along(text: str, path: Path, expected: str) -> None:
    assert remove(text, path) == expected


UNUSUAL = '{"a": 1e2, "b": "\\u00e9\\/", "c": -0.0, "d": 1.50, "__proto__": [ ] }'


def test_numbers_and_escapes_of_others_are_not_rewritten() -> None:
    written = set_member(UNUSUAL, (), "é", "ü\ud800")
    assert written == UNUSUAL[:-2] + ', "é": "\\u00fc\\ud800" }'
    assert written.encode()
    assert remove(written, ("é",)) == UNUSUAL


def test_several_insertions_are_undone_in_any_order() -> None:
    text = '{\n  "hooks": {\n  },\n  "x": [ ]\n}'
    added = set_member(set_member(text, ("hooks",), "A", [HOOK]), ("hooks",), "B", {"c": {}})
    for first, second in ("AB", "BA"):
        assert remove(remove(added, ("hooks", first)), ("hooks", second)) == text


REFUSED: list[Any] = [
    pytest.param(lambda: set_member("[]", (), "k", 1), LookupError, id="a member of a list"),
    pytest.param(lambda: append_item("{}", (), 1), LookupError, id="an item of an object"),
    pytest.param(lambda: append_item("{}", ("a",), 1), LookupError, id="of nothing"),
    pytest.param(lambda: set_member('{"a": 1}', ("a", "b"), "k", 1), LookupError, id="of a number"),
    pytest.param(lambda: remove("{}", ("a",)), LookupError, id="remove what is not there"),
    pytest.param(lambda: remove("[1]", (1,)), LookupError, id="remove beyond the end"),
    pytest.param(lambda: remove("[1]", (-1,)), LookupError, id="remove from the end"),
    pytest.param(lambda: remove("[1]", ("a",)), LookupError, id="remove a key of a list"),
    pytest.param(lambda: remove("{}", ()), LookupError, id="remove everything"),
    pytest.param(lambda: set_member("{,}", (), "k", 1), JsonTextError, id="no JSON"),
    pytest.param(lambda: set_member("{}", (), "k", float("nan")), ValueError, id="NaN"),
]


@pytest.mark.parametrize(("edit", "error"), REFUSED)
def test_what_cannot_be_done_is_refused(edit: Callable[[], str], error: type[Exception]) -> None:
    with pytest.raises(error):
        edit()


@st.composite
def documents(draw: st.DrawFn, kind: type) -> tuple[str, Any, Path]:
    """A text, its value and the path of a container of this kind in it."""
    value = draw(VALUES.filter(lambda value: any(_of(value, kind))))
    path = draw(st.sampled_from(list(_of(value, kind))))
    text = draw(BEGINS) + draw(WRITERS)(value) + draw(ENDS)
    return text, value, path


def _of(value: Any, kind: type) -> list[Path]:
    return [path for path in containers(value) if isinstance(at(value, path), kind)]


def _means(text: str, value: Any) -> bool:
    return json.dumps(json.loads(text.removeprefix(BOM))) == json.dumps(value)


def _is_insertion(text: str, written: str) -> bool:
    """Whether all of `text` stands around one piece that is new."""
    common = next((n for n, (a, b) in enumerate(zip(text, written, strict=False)) if a != b), None)
    common = min(len(text), len(written)) if common is None else common
    return any(
        written.endswith(text[cut:]) and len(written) >= len(text) for cut in range(common + 1)
    )


@given(documents(dict), TEXTS, VALUES)
def test_a_member_is_set_and_nothing_else(
    document: tuple[str, Any, Path], key: str, new: Any
) -> None:
    text, value, path = document
    written = set_member(text, path, key, new)
    expected = copy.deepcopy(value)
    is_new = key not in at(expected, path)
    at(expected, path)[key] = new
    assert _means(written, expected)
    assert set_member(written, path, key, new) == written
    if is_new:
        assert _is_insertion(text, written)
        assert remove(written, (*path, key)) == text


@given(documents(list), VALUES)
def test_an_item_is_added_and_nothing_else(document: tuple[str, Any, Path], new: Any) -> None:
    text, value, path = document
    written = append_item(text, path, new)
    expected = copy.deepcopy(value)
    at(expected, path).append(new)
    assert _means(written, expected)
    assert _is_insertion(text, written)
    assert remove(written, (*path, len(at(value, path)))) == text


@given(documents(dict) | documents(list), st.data())
def test_anything_can_be_removed(document: tuple[str, Any, Path], data: st.DataObject) -> None:
    text, value, path = document
    place = at(value, path)
    if not place:
        return
    step = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
    expected = copy.deepcopy(value)
    del at(expected, path)[step]
    written = remove(text, (*path, step))
    assert _means(written, expected)
    assert _is_insertion(written, text)


@given(documents(dict), st.lists(TEXTS, min_size=1, max_size=4, unique=True), VALUES, st.randoms())
def test_members_put_in_are_taken_out_in_any_order(
    document: tuple[str, Any, Path], keys: list[str], new: Any, chance: Any
) -> None:
    text, value, path = document
    fresh = [key for key in keys if key not in at(value, path)]
    written = text
    for key in fresh:
        written = set_member(written, path, key, new)
    chance.shuffle(fresh)
    for key in fresh:
        written = remove(written, (*path, key))
    assert written == text
