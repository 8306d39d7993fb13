from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.views.enforcement_log import Line, by_day, reasons, sums
from sisyphus.enforce import log
from sisyphus.times import iso, local

if TYPE_CHECKING:
    from sisyphus._types import Json

NOW = 1_795_200_000.0
DAY = 86_400


def _line(
    what: str, why: str = "", *, at: float = NOW, session: str = "s1", layer: int = 0
) -> Line:
    return Line(log.row(at, session, what, why, layer=layer))


def _told(*whats: str, session: str = "s1") -> list[Line]:
    return [_line(what, at=NOW + 10 * n, session=session) for n, what in enumerate(whats)]


@pytest.mark.parametrize(
    ("lines", "rate", "row"),
    [
        pytest.param([], None, 0, id="nothing happened"),
        pytest.param(_told("enforced"), None, 0, id="not judged yet"),
        pytest.param(_told("enforced", "worked"), 1.0, 0, id="it worked"),
        pytest.param(_told("enforced", "failed"), 0.0, 1, id="it failed"),
        pytest.param(_told("failed", "failed", "worked", "failed"), 0.25, 2, id="work ends a row"),
        pytest.param(
            [*_told("failed", "failed"), *_told("failed", session="s2")], 0.0, 2,
            id="each session has a row of its own",
        ),
    ],
)  # fmt: skip
def test_the_success_rate_is_of_what_was_judged(
    lines: list[Line], rate: float | None, row: int
) -> None:
    found = sums(lines, NOW)
    assert (found["success_rate"], found["longest_row"]) == (rate, row)


@pytest.mark.parametrize(
    ("moments", "average", "median"),
    [
        pytest.param([("s1", 0)], None, None, id="once"),
        pytest.param([("s1", 0), ("s2", 50)], None, None, id="once in each session"),
        pytest.param([("s1", 0), ("s1", 40)], 40, 40, id="twice"),
        pytest.param([("s1", 0), ("s2", 5), ("s1", 30), ("s1", 150), ("s2", 35)], 60, 30,
                     id="two sessions"),
        pytest.param([("s1", 100), ("s1", 40)], 0, 0, id="the clock was set back"),
    ],
)  # fmt: skip
def test_it_is_told_how_long_it_takes_to_the_next_enforcement(
    moments: list[tuple[str, float]], average: int | None, median: int | None
) -> None:
    lines = [_line("enforced", at=NOW + at, session=session) for session, at in moments]
    assert sums(lines, NOW)["next_seconds"] == {"average": average, "median": median}


def test_what_came_of_an_enforcement_counts_for_its_layer() -> None:
    lines = [
        _line("enforced", layer=1), _line("worked"),
        _line("enforced", layer=2), _line("failed"),
        _line("held back", "no words", layer=1),
        _line("worked", session="s9"),
    ]  # fmt: skip
    found = sums(lines, NOW)["layers"]
    assert found["claim"] == {
        "enforced": 1, "worked": 1, "failed": 0, "held_back": 1, "success_rate": 1.0,
    }  # fmt: skip
    assert found["idle"]["failed"] == 1
    assert found["idle"]["success_rate"] == 0.0


@pytest.mark.parametrize(
    ("whys", "found"),
    [
        pytest.param(["no completion words"], {"no completion words": 1}, id="plain words"),
        pytest.param(
            ["cooldown: 20 s of 1 min are left", "cooldown: 3 s of 30 s are left"], {"cooldown": 2},
            id="a gate",
        ),
        pytest.param(
            ['"done" is asked about', '"finished" is asked about'], {"“…” is asked about": 2},
            id="what was quoted",
        ),
        pytest.param(
            ["a Stop that is blocked 7 times in a row", "a Stop that is blocked 8 times in a row"],
            {"a Stop that is blocked … times in a row": 2},
            id="numbers",
        ),
        pytest.param(["", ":"], {"no reason is noted": 2}, id="none"),
    ],
)  # fmt: skip
def test_reasons_that_differ_in_numbers_and_quotes_are_one(whys: list[str], found: Json) -> None:
    rows = reasons([_line("held back", why, layer=1) for why in whys])
    assert {row["reason"]: row["count"] for row in rows} == found
    assert rows[-1]["last"] == whys[-1]
    assert rows[-1]["layers"] == ["claim"]


def test_the_most_frequent_reason_comes_first() -> None:
    whys = ["rare", *["often"] * 3, *["sometimes"] * 2]
    rows = reasons([_line("held back", why) for why in whys])
    assert [row["reason"] for row in rows] == ["often", "sometimes", "rare"]


def test_days_are_those_of_the_last_fortnight() -> None:
    lines = [
        _line("worked", at=NOW - 20 * DAY), _line("worked", at=NOW - DAY), _line("failed"),
        _line("held back"), _line("held back"), _line("enforced"), _line("worked", at=NOW + DAY),
    ]  # fmt: skip
    days = dict(by_day(lines, NOW))
    assert len(days) == 14
    assert days[local(NOW, "%m-%d")] == {"bad": 1, "idle": 2}
    assert days[local(NOW - DAY, "%m-%d")] == {"good": 1}
    assert sum(map(len, days.values())) == 3


_ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
_NAMES = st.sampled_from(["at", "session_id", "what", "why", "layer", "claim", "x"])
_WHATS = st.sampled_from(["enforced", "worked", "failed", "held back"])
_ROWS = st.lists(
    st.builds(lambda row, what: {**row, "what": what}, st.dictionaries(_NAMES, _ANY), _WHATS | _ANY)
)


@given(_ROWS)
def test_a_line_may_hold_anything(rows: list[Json]) -> None:
    lines = [Line(row) for row in rows]
    found = sums(lines, NOW)
    assert sum(found["counts"].values()) <= len(rows)
    for one in lines:
        told = one.as_json()
        assert isinstance(told["why"], str)
        assert told["layer"] in (None, "claim", "idle")


def test_a_line_is_told_short_and_on_one_line() -> None:
    raw = {"at": iso(NOW), "what": "held back", "why": "a\nb" * 900, "claim": "\x1b[31m" * 900}
    told = Line(raw).as_json()
    assert told["at"] == NOW
    assert all(len(told[name]) <= 200 and told[name].isprintable() for name in ("why", "claim"))
