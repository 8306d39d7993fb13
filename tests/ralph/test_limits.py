from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.lines import read, said
from sisyphus.ralph import limits
from sisyphus.ralph.limits import LONGEST, reset_time

if TYPE_CHECKING:
    from collections.abc import Iterator

BERLIN = "Europe/Berlin"
DAY = 86_400


def _at(text: str, zone: str = "UTC", fold: int = 0) -> float:
    moment = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=ZoneInfo(zone), fold=fold)
    return moment.timestamp()


NOW = _at("2026-11-20 22:30", BERLIN)


def _clock_of(zone: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def _in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from _clock_of("America/New_York", monkeypatch)


@pytest.fixture
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from _clock_of(BERLIN, monkeypatch)


NAMED = [
    pytest.param(
        "You've hit your 5-hour limit · resets 11:24pm (UTC)", _at("2026-11-20 23:24"), id="in UTC"
    ),
    pytest.param(
        "You've hit your 5-hour limit · resets 3am (Europe/Berlin)",
        _at("2026-11-21 03:00", BERLIN),
        id="tomorrow",
    ),
    pytest.param(
        "You've hit your 5-hour limit · resets 11:24pm (Europe/Berlin)",
        _at("2026-11-20 23:24", BERLIN),
        id="today",
    ),
    pytest.param(
        "You've hit your weekly limit · resets Nov 23, 10:26pm (Europe/Berlin)",
        _at("2026-11-23 22:26", BERLIN),
        id="with a date",
    ),
    pytest.param(
        "resets Nov 23 at 10:26\u202fpm (Europe/Berlin)",
        _at("2026-11-23 22:26", BERLIN),
        id="as other languages' libraries spell it",
    ),
    pytest.param("resets 12am (UTC)", _at("2026-11-21 00:00"), id="midnight"),
    pytest.param("resets 12:30pm (UTC)", _at("2026-11-21 12:30"), id="behind noon"),
    pytest.param(
        "Paused · usage limit resets at 3am (Asia/Kathmandu)",
        _at("2026-11-22 03:00", "Asia/Kathmandu"),
        id="a zone of three quarters of an hour",
    ),
    pytest.param("resets 3am (Etc/GMT+2)", _at("2026-11-21 05:00"), id="a zone with a sign"),
    pytest.param(
        "API Error: Request rejected (429) · Claude AI usage limit reached|1795217028",
        1_795_217_028,
        id="in seconds",
    ),
]


@pytest.mark.parametrize(("message", "moment"), NAMED)
def test_the_moment_that_a_message_names(message: str, moment: float) -> None:
    assert reset_time(message, NOW) == moment


NONE = [
    pytest.param("API Error: Request rejected (429) · limit", id="no moment"),
    pytest.param("", id="nothing"),
    pytest.param("resets 13pm (UTC)", id="an hour that is none"),
    pytest.param("resets 0am (UTC)", id="another one"),
    pytest.param("resets 3:75am (UTC)", id="a minute that is none"),
    pytest.param("resets 23:24 (UTC)", id="half of the day not said"),
    pytest.param("resets Feb 30, 3am (UTC)", id="a day that is none"),
    pytest.param("resets Foo 23, 3am (UTC)", id="a month that is none"),
    pytest.param("resets Nov 23, 0000, 3am (UTC)", id="a year that is none"),
    pytest.param("resets 3am (../../etc/passwd)", id="a path for a zone"),
    pytest.param("resets 3am (Europe/Atlantis)", id="a zone that is none"),
    pytest.param("resets 3am (Europe)", id="a folder of zones"),
    pytest.param("resets 3am (in 5 hours)", id="no zone at all"),
    pytest.param("resets Nov 20, 3am (Europe/Berlin)", id="this morning"),
    pytest.param("resets Nov 29, 3am (Europe/Berlin)", id="in more than eight days"),
    pytest.param("resets Nov 19, 3am (Europe/Berlin)", id="yesterday"),
    pytest.param("resets Nov 23, 2025, 3am (UTC)", id="a year ago"),
    pytest.param("usage limit reached|1795127028", id="seconds that are over"),
    pytest.param("usage limit reached|9999999999", id="seconds in a far future"),
    pytest.param("usage limit reached|1795217028000", id="thousandths of seconds"),
]


@pytest.mark.parametrize("message", NONE)
def test_a_moment_that_cannot_be_is_none(message: str) -> None:
    assert reset_time(message, NOW) == 0


BOUNDS = [
    pytest.param(0, False, id="now"),
    pytest.param(1, True, id="in a second"),
    pytest.param(8 * DAY, True, id="in eight days"),
    pytest.param(8 * DAY + 1, False, id="a second later"),
]


@pytest.mark.parametrize(("seconds", "can_be"), BOUNDS)
def test_a_reset_lies_ahead_by_eight_days_at_most(seconds: int, can_be: bool) -> None:
    moment = int(NOW) + seconds

    assert reset_time(f"usage limit reached|{moment}", NOW) == (moment if can_be else 0)


YEARS = [
    pytest.param(
        "2026-12-30 12:00", "resets Jan 2, 2027, 3am (UTC)", "2027-01-02 03:00", id="said"
    ),
    pytest.param("2026-12-30 12:00", "resets Jan 2, 3am (UTC)", "2027-01-02 03:00", id="next year"),
    pytest.param("2027-01-01 12:00", "resets Jan 2, 3am (UTC)", "2027-01-02 03:00", id="this year"),
    pytest.param("2028-02-27 12:00", "resets Feb 29, 3am (UTC)", "2028-02-29 03:00", id="leap day"),
]


@pytest.mark.parametrize(("now", "message", "moment"), YEARS)
def test_around_the_end_of_a_year(now: str, message: str, moment: str) -> None:
    assert reset_time(message, _at(now)) == _at(moment)


@pytest.mark.usefixtures("_in_new_york")
def test_a_time_without_a_zone_is_this_machines() -> None:
    assert reset_time("resets 3am", NOW) == _at("2026-11-21 03:00", "America/New_York")
    assert reset_time("resets Nov 23, 10pm", NOW) == _at("2026-11-23 22:00", "America/New_York")


FIRST, SECOND = 0, 1  # where an hour comes twice
SUMMER = [
    pytest.param(
        _at("2026-10-24 22:00", BERLIN),
        "3:30am",
        _at("2026-10-25 03:30", BERLIN),
        id="a long night",
    ),
    pytest.param(
        _at("2026-10-25 02:10", BERLIN, FIRST),
        "2:30am",
        _at("2026-10-25 02:30", BERLIN, FIRST),
        id="half past two the first time",
    ),
    pytest.param(
        _at("2026-10-25 02:40", BERLIN, FIRST),
        "2:30am",
        _at("2026-10-25 02:30", BERLIN, SECOND),
        id="the second time",
    ),
    pytest.param(
        _at("2026-10-25 02:40", BERLIN, SECOND),
        "2:30am",
        _at("2026-10-26 02:30", BERLIN),
        id="both are over",
    ),
    pytest.param(
        _at("2026-03-28 22:00", BERLIN), "3:30am", _at("2026-03-29 03:30", BERLIN), id="a short one"
    ),
    pytest.param(
        _at("2026-03-29 03:10", BERLIN),
        "2:15am",
        _at("2026-03-30 02:15", BERLIN),
        id="today had no quarter past two",
    ),
]


@pytest.mark.usefixtures("_in_berlin")
@pytest.mark.parametrize(("now", "named", "moment"), SUMMER)
@pytest.mark.parametrize("zone", [f" ({BERLIN})", ""], ids=["named", "of this machine"])
def test_where_clocks_are_changed(now: float, named: str, moment: float, zone: str) -> None:
    assert reset_time(f"resets {named}{zone}", now) == moment


words = st.sampled_from(
    ["resets ", "at ", "Nov 23", ", ", "2027", "3", "12", ":30", "am", "pm", " (", ")", "UTC", "|",
     "Europe/Berlin", "1795217028", "Feb 29", "Europe", "..", "/"]
)  # fmt: skip
messages = st.lists(words | st.text(max_size=3), max_size=12).map("".join)


@given(messages | st.text(), st.floats(0, 4e9))
def test_whatever_a_message_says_the_moment_is_near_or_none(message: str, now: float) -> None:
    moment = reset_time(message, now)

    assert moment == 0 or now < moment <= now + LONGEST


@given(st.text(max_size=64), st.integers(0, 4_000_000_000))
def test_whatever_stands_for_a_zone(zone: str, now: int) -> None:
    moment = reset_time(f"resets 3am ({zone})", now)

    assert moment == 0 or now < moment <= now + 2 * DAY


HIT = "You've hit your 5-hour limit · resets 11:24pm (UTC)"
RESETS_AT = int(NOW) + 3_600
WAITS = [
    pytest.param("rate_limit", HIT, "usage limit", _at("2026-11-20 23:24"), id="a usage limit"),
    pytest.param("rate_limit", "You've hit your limit", "usage limit", 0, id="until nobody knows"),
    pytest.param("rate_limit", "Request rejected (429)", "rate limit", 0, id="a rate limit"),
    pytest.param("overloaded", "API Error: 529", "server's trouble", 0, id="overload"),
    pytest.param("server_error", HIT, "server's trouble", 0, id="whatever its message names"),
]


@pytest.mark.parametrize(("error", "message", "what", "until"), WAITS)
def test_what_goes_away_is_waited_for(error: str, message: str, what: str, until: float) -> None:
    waiting = limits.waiting(error, message, [], NOW + 0.7)

    assert waiting == {"for": what, "since": int(NOW), "until": until}


@pytest.mark.parametrize("error", ["", "unknown", "authentication_failed", "invalid_request"])
def test_what_does_not_go_away_is_not_waited_for(error: str) -> None:
    assert limits.waiting(error, HIT, [], NOW) == {}


def _limited(resets_at: object) -> dict[str, object]:
    return said("x", isApiErrorMessage=True, quotaLimits={"resetsAt": resets_at})


RECORDS = [
    pytest.param([said("x"), _limited(RESETS_AT)], RESETS_AT, id="the last one says it"),
    pytest.param([_limited(RESETS_AT), said("x")], 0, id="one of an earlier turn is over"),
    pytest.param([_limited(RESETS_AT + 0.5)], RESETS_AT, id="with a fraction"),
    pytest.param([_limited(int(NOW) - 5)], 0, id="a moment that is over"),
    pytest.param([_limited(int(NOW) + LONGEST + 5)], 0, id="one too far ahead"),
    pytest.param([_limited(RESETS_AT * 1_000)], 0, id="thousandths of seconds"),
    pytest.param([_limited("soon")], 0, id="no number"),
    pytest.param([_limited(float("nan"))], 0, id="no number at all"),
    pytest.param([_limited(float("inf"))], 0, id="for ever"),
    pytest.param([_limited(10**400)], 0, id="a number of many digits"),
    pytest.param([said("x", quotaLimits=7)], 0, id="no limits"),
]


@pytest.mark.parametrize(("records", "until"), RECORDS)
def test_the_transcript_knows_the_moment_too(
    records: list[dict[str, object]], until: float
) -> None:
    assert limits.waiting("rate_limit", "", read(*records), NOW)["until"] == until


def test_the_transcript_of_another_trouble_names_none() -> None:
    assert limits.waiting("overloaded", "", read(_limited(RESETS_AT)), NOW)["until"] == 0
