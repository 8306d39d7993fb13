from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import pytest

from sisyphus.cli.output import faint, heading, is_unicode, json_text, say, styled


def test_a_terminal_gets_colour() -> None:
    assert heading("x") != "x"
    assert faint("x") != "x"
    assert styled("x", fg="red") != "x"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_none_gets_none(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert heading("x") == faint("x") == styled("x", fg="red") == "x"


def _latin(raw: io.BytesIO) -> redirect_stdout[io.TextIOWrapper]:
    return redirect_stdout(io.TextIOWrapper(raw, encoding="latin-1"))


def test_json_is_spelled_with_the_characters_there_are() -> None:
    assert json_text("é→\ud800") == '"é→?"'
    with _latin(io.BytesIO()):
        assert json_text("é→") == '"\\u00e9\\u2192"'


def test_a_number_that_json_has_not_is_null() -> None:
    odd = {"a": [float("inf"), 1.5], "b": {"c": float("nan")}}
    assert json.loads(json_text(odd), parse_constant=pytest.fail) == {
        "a": [None, 1.5], "b": {"c": None},
    }  # fmt: skip
    assert json_text(odd, indent=None) == '{"a": [null, 1.5], "b": {"c": null}}'


def test_what_cannot_be_spelled_is_a_question_mark() -> None:
    raw = io.BytesIO()
    with _latin(raw):
        assert not is_unicode()
        say("é→")
        assert raw.getvalue() == b"\xe9?\n"
