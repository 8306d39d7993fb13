"""`quick_json` gives what `json` gives: values, texts, and errors."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sisyphus.quick_json import dumps, loads

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner)
)


@given(VALUES)
@example({"a": ["\ud800", float("inf"), {}, []], "\x7f\u2028": "é😀"})
def test_a_value_is_written_and_read_as_json_does(value: object) -> None:
    text = json.dumps(value)

    assert dumps(value) == text
    assert dumps(value, ensure_ascii=False) == json.dumps(value, ensure_ascii=False)
    assert dumps(value, is_dense=True) == json.dumps(value, separators=(",", ":"))
    assert loads(text) == loads(f" \n{text}\r\n\t") == loads(text.encode()) == json.loads(text)


@given(st.text(alphabet='[]{}",:\\ \n0123456789.-+eEtrufalsn\ufeff\x00', max_size=20))
@example("")
@example("{a}")
@example("[1,]")
@example('{"a" 1}')
@example('"\\ud83d"')
@example('"\n"')
@example("1 2")
@example("\xa01")
def test_what_is_no_json_is_refused_in_the_same_words(text: str) -> None:
    assert _read(loads, text) == _read(json.loads, text)
    assert _read(loads, text.encode()) == _read(json.loads, text.encode())


@pytest.mark.parametrize("raw", [b"\xff", b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"), b"\x00"])
def test_bytes_are_read_in_any_encoding_of_json(raw: bytes) -> None:
    assert _read(loads, raw) == _read(json.loads, raw)


def test_what_is_nested_too_deep_and_what_json_has_no_word_for_are_refused() -> None:
    with pytest.raises(RecursionError):
        loads("[" * 100_000)
    with pytest.raises(TypeError, match="type set is not JSON"):
        dumps({"a": {1}})


def _read(read: object, text: str | bytes) -> tuple[str, str]:
    """The value or the error, spelled out: `nan` is not equal to itself."""
    assert callable(read)
    try:
        return "value", repr(read(text))
    except ValueError as error:
        return type(error).__name__, str(error)
