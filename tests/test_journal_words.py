from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.journal_words import Words, day
from sisyphus.times import local

if TYPE_CHECKING:
    from sisyphus._types import Json

AT = 1_795_186_800.5


def _entry(*notes: str, event: str = "stop", **fields: object) -> Json:
    return {
        "at": AT, "event": event, "ms": 3.1, "sent": 0, "blocked": False, "notes": list(notes),
        **fields,
    }  # fmt: skip


SAID = [
    pytest.param(_entry("blocked: no tag"), ["blocked: no tag"], id="a note"),
    pytest.param(_entry("one", "two\nlines"), ["one", "two lines"], id="several notes"),
    pytest.param(_entry(blocked=True), ["blocked"], id="blocked without a word"),
    pytest.param(_entry("a", blocked=True), ["blocked", "a"], id="blocked, and said otherwise"),
    pytest.param(_entry("blocked: a", blocked=True), ["blocked: a"], id="blocked, and said"),
    pytest.param(
        _entry("woken: b", blocked=True, event="idle"), ["woken: b"], id="woken is no block"
    ),
    pytest.param(
        _entry("answered /enforce", blocked=True, event="user-prompt-submit"),
        ["answered /enforce"],
        id="an answer is no block",
    ),
    pytest.param(_entry(), ["nothing to say"], id="quiet"),
    pytest.param(_entry(sent=1_234), ["1,234 characters sent"], id="sent"),
    pytest.param(
        _entry("rules for a", "sent b.md", sent=7),
        ["rules for a", "sent b.md (7 characters)"],
        id="sent, and said what",
    ),
    pytest.param(_entry("a", sent=7), ["a", "7 characters sent"], id="sent, and said otherwise"),
    pytest.param(_entry(sent="x"), ["nothing to say"], id="sent in words"),
    pytest.param(_entry("a", "b", agent="b1"), ["(subagent b1) a", "b"], id="a subagent"),
    pytest.param(_entry("\x1b[31mred"), ["[31mred"], id="what a terminal obeys"),
    pytest.param({"at": AT, "notes": "x"}, ["nothing to say"], id="hardly any"),
    pytest.param(
        _entry("a", verdict={"by": ["a newer version"]}, notes=["a", {"text": "b"}]),
        ["a", "{'text': 'b'}"],
        id="of a newer version",
    ),
]


@pytest.mark.parametrize(("entry", "said"), SAID)
def test_what_a_hook_did(entry: Json, said: list[str]) -> None:
    assert Words(entry).said == said


TOOK = [
    pytest.param(3.14, "3.1 ms", id="short"),
    pytest.param(123.4, "123 ms", id="long"),
    pytest.param(4_000_000.0, "4,000,000 ms", id="a wait"),
    pytest.param(0, "", id="a command"),
    pytest.param(None, "", id="unknown"),
    pytest.param("fast", "", id="in words"),
    pytest.param(True, "", id="no number"),
    pytest.param(1e300, "", id="for ever"),
]


@pytest.mark.parametrize(("took", "told"), TOOK)
def test_how_long_a_hook_took(took: object, told: str) -> None:
    assert Words(_entry(ms=took)).took == told


@given(
    st.dictionaries(
        st.sampled_from(("at", "event", "ms", "sent", "blocked", "notes", "agent", "new")),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=4,
        ),
    )
)
def test_any_line_has_words(entry: Json) -> None:
    words = Words(entry)
    assert words.said
    assert all(text.isprintable() for text in (words.clock, words.event, words.took, *words.said))


def test_an_entry_without_a_time() -> None:
    words = Words({"event": "stop", "at": "x"})
    assert (words.clock, words.event) == ("--:--:--", "stop")
    assert day({}) == ""


def test_the_day_of_an_entry() -> None:
    assert day(_entry()) == local(AT, "%Y-%m-%d")
