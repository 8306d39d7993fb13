from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.configuring import values
from sisyphus.settings import SETTINGS

KINDS = [
    pytest.param("rules.enabled", "true or false", id="a switch"),
    pytest.param("ralph.verify_seconds", "a whole number from 1 to 600", id="bounds"),
    pytest.param("checkpoint.l1", "a whole number from 1 to 100", id="percent"),
    pytest.param("ralph.no_progress", "a whole number, 0 or more", id="no upper bound"),
    pytest.param("enforce.idle_seconds", "a number, 0 or more", id="fractions"),
    pytest.param("enforce.backoff", "a number from 1 to 1,000", id="fractions in bounds"),
    pytest.param("context.agents_md", "one of auto, always, never", id="words"),
    pytest.param("notify.command", "a text", id="a text"),
    pytest.param("enforce.claims", "a list of texts", id="a list"),
]


@pytest.mark.parametrize(("key", "kind"), KINDS)
def test_it_is_said_what_a_setting_takes(key: str, kind: str) -> None:
    assert values.kind(SETTINGS[key]) == kind


WORDS = [
    pytest.param("rules.enabled", ["off"], False, id="off"),
    pytest.param("rules.enabled", ["TRUE"], True, id="in capitals"),
    pytest.param("ralph.no_progress", ["0"], 0, id="a number"),
    pytest.param("enforce.backoff", ["1.5"], 1.5, id="a fraction"),
    pytest.param("enforce.backoff", ["3"], 3, id="a whole number for one"),
    pytest.param("notify.command", ["true"], "true", id="a text that looks like a switch"),
    pytest.param("notify.command", [""], "", id="an empty text"),
    pytest.param("enforce.claims", ["done", "all set"], ["done", "all set"], id="a list"),
    pytest.param("enforce.claims", ['["done", "all set"]'], ["done", "all set"], id="as TOML"),
    pytest.param("enforce.claims", ["[]"], [], id="an empty list"),
    pytest.param("enforce.claims", ["done, all set,"], ["done", "all set"], id="with commas"),
    pytest.param("enforce.claims", ['["a, b"]'], ["a, b"], id="a comma in a phrase, as TOML"),
]


@pytest.mark.parametrize(("key", "words", "value"), WORDS)
def test_words_mean_a_value(key: str, words: list[str], value: Any) -> None:
    found = values.typed(SETTINGS[key], words)

    assert (found, type(found)) == (value, type(value))


NONE = [
    pytest.param("rules.enabled", ["maybe"], id="neither on nor off"),
    pytest.param("rules.enabled", ["on", "off"], id="two values"),
    pytest.param("ralph.no_progress", ["1.5"], id="a fraction of a whole number"),
    pytest.param("ralph.no_progress", ["-1"], id="less than none"),
    pytest.param("ralph.verify_seconds", ["601"], id="too much"),
    pytest.param("enforce.backoff", ["nan"], id="not a number"),
    pytest.param("enforce.backoff", ["inf"], id="more than all"),
    pytest.param("ralph.no_progress", ["1_0"], id="a line between digits"),
    pytest.param("ralph.no_progress", [" 7 "], id="blanks around it"),
    pytest.param("ralph.no_progress", ["٣"], id="digits of another script"),
    pytest.param("enforce.backoff", ["1_0.5"], id="a line in a fraction"),
    pytest.param("context.agents_md", ["Never"], id="none of the words"),
    pytest.param("notify.command", ["sisyphus", "notify"], id="a text without its quotes"),
    pytest.param("enforce.claims", ["[1]"], id="a list of numbers"),
    pytest.param("enforce.claims", ["[x"], id="a list without an end"),
    pytest.param("enforce.claims", ["[" * 5_000], id="lists without end"),
]


@pytest.mark.parametrize(("key", "words"), NONE)
def test_words_that_mean_nothing_are_told_what_is_taken(key: str, words: list[str]) -> None:
    with pytest.raises(ValueError, match="is not ") as failed:
        values.typed(SETTINGS[key], words)

    assert str(failed.value).endswith(values.kind(SETTINGS[key]))


@pytest.mark.parametrize(
    ("key", "word"), [("notify.command", "a\udcff"), ("enforce.claims", "\ud800")]
)
def test_what_is_no_utf_8_is_no_value(key: str, word: str) -> None:
    with pytest.raises(ValueError, match="is not UTF-8") as failed:
        values.typed(SETTINGS[key], [word])

    assert str(failed.value).isprintable()


@pytest.mark.parametrize("key", SETTINGS)
def test_the_example_of_a_setting_is_taken(key: str) -> None:
    found = values.example(SETTINGS[key])
    words = found if isinstance(found, list) else [values.spelled(found).strip('"')]

    assert values.typed(SETTINGS[key], words) == found
    assert found != SETTINGS[key].default


@given(st.recursive(st.text() | st.booleans() | st.integers(-(2**62), 2**62), st.lists))
def test_a_value_is_spelled_as_toml_reads_it(value: object) -> None:
    assert tomllib.loads(f"x = {values.spelled(value)}") == {"x": value}


def test_a_wrong_value_is_shown_on_one_line_and_cut() -> None:
    told = values.objection(SETTINGS["context.agents_md"], "a\n\x1b[31m" + "b" * 500)

    assert told.isprintable()
    assert len(told) < 120


@pytest.mark.parametrize("value", [True, False])
def test_a_right_value_finds_no_objection(*, value: bool) -> None:
    assert values.objection(SETTINGS["rules.enabled"], value) == ""
