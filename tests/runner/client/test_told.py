from __future__ import annotations

import pytest

from sisyphus.runner.client import told

COUNTS = [
    pytest.param(7, 7, id="a number"),
    pytest.param(7.9, 7, id="a broken number"),
    pytest.param(0, 0, id="nothing"),
    pytest.param(-1, 0, id="less than nothing"),
    pytest.param(True, 0, id="a truth"),
    pytest.param("7", 0, id="a text"),
    pytest.param(10**13, 0, id="too much"),
    pytest.param(float("nan"), 0, id="no number"),
    pytest.param(float("inf"), 0, id="without end"),
]


@pytest.mark.parametrize(("value", "expected"), COUNTS)
def test_a_count_is_a_number_above_zero(value: object, expected: int) -> None:
    assert told.count(value) == expected


LINES = [
    pytest.param(b' {"a": 1}\r\n', [{"a": 1}], id="an object"),
    pytest.param(b'[{"a": 1}, 7, {"b": 2}]', [{"a": 1}, {"b": 2}], id="a list"),
    pytest.param(b"[7", [], id="half a list"),
    pytest.param(b'{"a": ', [], id="half an object"),
    pytest.param(b"words", [], id="a text"),
    pytest.param(b'] , "x": [', [], id="what would close our own brackets"),
    pytest.param(b'["x"], "list": {"a": 1}, "y": [7]', [], id="what would say more"),
    pytest.param(b"", [], id="nothing"),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_the_objects_in_a_line(line: bytes, expected: list[object]) -> None:
    assert told.events_in(line) == expected


def test_what_is_kept_is_the_latest() -> None:
    kept = [1, 2]
    told.keep(kept, 3, most=2)
    assert kept == [2, 3]


def test_what_is_remembered_is_the_latest() -> None:
    known = {"a": 1, "b": 2}
    told.remember(known, "c", 3, most=2)
    assert known == {"b": 2, "c": 3}


def test_only_texts_are_texts() -> None:
    assert told.texts(["a", 7, None, "b"]) == ["a", "b"]
    assert told.texts("ab") == []
