from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from sisyphus.dashboard import rendering as rd

if TYPE_CHECKING:
    from pathlib import Path

NONE = "\N{EN DASH}"

SHOWN = [
    pytest.param("number", 12345, "12,345", id="a number"),
    pytest.param("number", 12345.0, "12,345", id="a whole one"),
    pytest.param("number", 0.25, "0.2", id="a part"),
    pytest.param("number", None, NONE, id="no number"),
    pytest.param("number", True, NONE, id="a truth is no number"),
    pytest.param("number", "12", NONE, id="a text is no number"),
    pytest.param("short", 9999, "9,999", id="a small count"),
    pytest.param("short", 12345, "12.3 k", id="thousands"),
    pytest.param("short", 4_500_000, "4.5 M", id="millions"),
    pytest.param("short", 999_999, "1 M", id="nearly a million"),
    pytest.param("short", 9999.4, "9,999", id="a part of a count"),
    pytest.param("short", 9999.6, "10 k", id="nearly ten thousand"),
    pytest.param("short", 999_499, "999 k", id="not quite a million"),
    pytest.param("short", 999_600_000, "1 G", id="nearly a thousand millions"),
    pytest.param("short", 1e9, "1 G", id="thousands of millions"),
    pytest.param("short", 999_999_999_999_999, "1,000,000 G", id="the most"),
    pytest.param("short", None, NONE, id="no count"),
    pytest.param("percent", 0.5, "50%", id="a part of one"),
    pytest.param("percent", None, NONE, id="no part"),
    pytest.param("milliseconds", 12.345, "12.3 ms", id="milliseconds"),
    pytest.param("milliseconds", 0.25, "0.25 ms", id="part of one"),
    pytest.param("milliseconds", 0.00001, "0 ms", id="next to nothing"),
    pytest.param("milliseconds", 999.4, "999 ms", id="not quite a second"),
    pytest.param("milliseconds", 999.6, "1 s", id="nearly a second"),
    pytest.param("milliseconds", 59_960, "1 min", id="nearly a minute"),
    pytest.param("milliseconds", 1500, "1.5 s", id="seconds"),
    pytest.param("milliseconds", 120_000, "2 min", id="minutes"),
    pytest.param("milliseconds", None, NONE, id="no duration"),
    pytest.param("seconds", None, NONE, id="no seconds"),
    pytest.param("clock", "", "", id="no time"),
    pytest.param("clock", None, "", id="nothing as a time"),
    pytest.param("clock", "yesterday", "", id="a word is no time"),
    pytest.param("utc", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z", id="an ISO time"),
    pytest.param("utc", 1e30, "", id="a time that no calendar has"),
    pytest.param("segment", "a/b?c#d", "a%2Fb%3Fc%23d", id="a part of a path"),
    pytest.param("segment", "..", "..", id="dots"),
    pytest.param("place", "/srv/shop", "/srv/shop", id="a path"),
    pytest.param("place", None, "", id="no path"),
    pytest.param("coded", "Run `a b`.", "Run <code>a b</code>.", id="a command"),
    pytest.param("coded", "`<b>` <i>", "<code>&lt;b&gt;</code> &lt;i&gt;", id="marks in it"),
    pytest.param("coded", "it`s", "it`s", id="one backtick is no code"),
    pytest.param("coded", "`a` or `b`", "<code>a</code> or <code>b</code>", id="two commands"),
]


def _shown(template: str, **values: object) -> str:
    return rd.TEMPLATES.from_string(template).render(**values)


@pytest.mark.parametrize(("name", "value", "text"), SHOWN)
def test_values_are_spelled_for_people(name: str, value: object, text: str) -> None:
    assert _shown("{{ value|" + name + " }}", value=value) == text


@pytest.mark.parametrize(
    ("count", "told"),
    [
        pytest.param(0, "0 loops", id="none"),
        pytest.param(1, "1 loop", id="one"),
        pytest.param(12_345, "12.3 k loops", id="many"),
        pytest.param(None, f"{NONE} loops", id="nobody knows how many"),
    ],
)
def test_a_count_agrees_with_its_noun(count: object, told: str) -> None:
    assert _shown("{{ count|counted('loop') }}", count=count) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        pytest.param(1_000_000 - 7_270, "2 h 1 min ago", id="hours"),
        pytest.param(1_000_000 - 119, "1 min ago", id="a minute that is nearly two"),
        pytest.param(1_000_000 - 59, "just now", id="seconds"),
        pytest.param(1_000_060, "just now", id="ahead"),
        pytest.param("1970-01-12T13:36:40Z", "10 min ago", id="an ISO time"),
        pytest.param("noon", NONE, id="no time"),
        pytest.param(None, NONE, id="nothing"),
        pytest.param(math.nan, NONE, id="no number"),
    ],
)
def test_an_age_is_told_to_the_minute(value: object, told: str) -> None:
    assert _shown("{{ value|ago(1000000.0) }}", value=value) == told


def test_a_path_in_the_home_folder_is_told_from_there(home: Path) -> None:
    assert _shown("{{ value|place }}", value=str(home / "projects" / "shop")) == "~/projects/shop"


NUMBERS = ("number", "short", "percent", "milliseconds", "seconds", "clock", "utc")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1, 10**400, [], {}, "x" * 99])
def test_what_stands_in_a_file_is_never_a_fault(name: str, value: object) -> None:
    assert isinstance(_shown("{{ value|" + name + " }}", value=value), str)


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    shown = _shown('<p title="{{ text }}">{{ text }}</p>', text=text)
    inside = shown.removeprefix('<p title="').removesuffix("</p>")
    assert not set("<'") & set(inside.replace('">', "", 1))
    assert inside.count('"') == 1


def test_half_a_letter_is_a_question_mark() -> None:
    assert _shown("{{ text }} {{ text|segment }}", text="a\ud800") == "a? a%3F"


def test_a_value_that_is_missing_is_a_fault() -> None:
    with pytest.raises(UndefinedError):
        _shown("{{ nothing }}")


@pytest.mark.parametrize(
    ("state", "badge"),
    [
        pytest.param("active", "badge-active", id="active"),
        pytest.param("max_iterations", "badge-warn", id="a limit"),
        pytest.param('"><script>', "badge-idle", id="a word of a stranger"),
    ],
)
def test_a_state_has_a_badge(state: str, badge: str) -> None:
    template = '{% import "macros.html" as ui with context %}{{ ui.badge(state) }}'
    shown = _shown(template, state=state)
    assert f'class="badge {badge}"' in shown
    assert "<script>" not in shown
