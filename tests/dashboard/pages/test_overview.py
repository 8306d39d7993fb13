from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from making import ours, put
from past import Past

from dashboard.api import stand
from sisyphus.dashboard import changes as ch
from sisyphus.dashboard.pages.show import PLACES, is_below
from sisyphus.ralph.loop import BY_BREAKER
from sisyphus.ralph.past import history
from sisyphus.times import iso

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.loop import Loop

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}'


def test_a_new_home_says_how_to_begin(browser: TestClient) -> None:
    page = browser.get("/").text
    assert "No loop is active. Start one in a session: /ralph-loop" in page
    assert "sisyphus install" in page


def test_what_goes_on_is_shown(browser: TestClient, desk: Desk) -> None:
    loops = Past(desk.ours, time.time(), ["/home/ann/shop"]).write(20, 8)
    page = browser.get("/").text
    assert "All 8 active loops" in page
    assert sum(f"/loops/{loop.loop_id}" in page for loop in loops) == 6
    assert "<svg" in page


def test_a_page_has_one_heading_and_says_where_it_is(browser: TestClient) -> None:
    page = browser.get("/").text
    assert len(re.findall(r"<h1[ >]", page)) == 1
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', page) == ["/"]
    for landmark in ("<main", "<nav", "<header", "<footer", 'lang="en"', 'class="skip"'):
        assert landmark in page
    assert [place.name for place in PLACES if f">{place.name}<" not in page] == []


def test_nothing_is_announced_but_that_it_is_lost(browser: TestClient) -> None:
    page = browser.get("/").text
    assert page.count('role="status"') == 1
    assert '<span id="lost" class="lost" role="status"></span>' in page


def test_every_part_that_changes_is_about_known_topics(browser: TestClient) -> None:
    page = browser.get("/").text
    parts = re.findall(r'<(?:section|span)[^>]* id="([^"]+)"[^>]* data-topics="([^"]+)"', page)
    assert len(parts) == len(set(dict(parts))) == page.count("data-topics=")
    assert {topic for _, topics in parts for topic in topics.split()} <= set(ch.TOPICS)


def test_a_page_tells_how_much_had_changed_when_it_was_drawn(
    browser: TestClient, desk: Desk
) -> None:
    desk.changes.note([ch.LOOPS, ch.HISTORY])
    assert '<body data-changes="2">' in browser.get("/").text


def test_what_strangers_wrote_does_nothing(browser: TestClient, desk: Desk, home: Path) -> None:
    loop = Past(desk.ours, time.time(), [f"/home/ann/{HOSTILE}"])._loop("a0001", time.time())  # noqa: SLF001
    loop.prompt = loop.completion_promise = HOSTILE
    Past(desk.ours, time.time(), [])._save(loop)  # noqa: SLF001
    put(
        ours(home, "logs/sessions.jsonl"),
        '{"loop_id": "<script>y", "session_id": "s", "status": "completed",'
        '"outcome": "<script>x", "iterations": NaN, "ended_at": "2026-01-01T00:00:00Z"}\n',
    )
    page = browser.get("/").text
    assert "<script>" not in page.replace("<script src=", "")
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert", "")
    assert "49" not in re.findall(r"script&gt;([^<]*)<", page)
    assert "style=" not in page


def _is_paused(desk: Desk, **fields: object) -> Loop:
    """A loop whose breaker paused it."""
    past = Past(desk.ours, time.time(), ["/home/ann/shop"])
    loop = past._loop("a0001", time.time() - 7_300)  # noqa: SLF001
    loop.pause(BY_BREAKER, time.time())
    loop.turned_at = iso(time.time() - 7_300)
    for name, value in fields.items():
        setattr(loop, name, value)
    past._save(loop)  # noqa: SLF001
    return loop


def test_where_nothing_waits_the_page_says_so(browser: TestClient) -> None:
    page = browser.get("/").text
    assert "Nothing waits for you." in page
    assert "<title>Overview · sisyphus</title>" in page
    assert re.search(r'<span class="count" id="waits" data-topics="[^"]*"></span>', page)


def test_what_waits_comes_first_and_the_title_counts_it(browser: TestClient, desk: Desk) -> None:
    _is_paused(desk, breaker={"state": "open", "why": "2 <b>tests</b> fail"})
    page = browser.get("/").text
    assert page.index('id="attention"') < page.index('id="numbers"')
    for text in (
        "<title>(1) Overview · sisyphus</title>",
        '1<span class="sr"> waits for you</span>',
        "Paused (breaker): 2 &lt;b&gt;tests&lt;/b&gt; fail; once it is resumed",
        "<code>sisyphus ralph resume a0001</code>",
        "2 h 1 min ago",
    ):
        assert text in page


@pytest.mark.parametrize("part", ["attention", "active", "waits"])
def test_what_tells_an_age_or_of_clients_follows_the_time(browser: TestClient, part: str) -> None:
    found = re.search(rf' id="{part}" data-topics="([^"]+)"', browser.get("/").text)
    assert found
    assert ch.TIME in found[1].split()


def test_what_is_not_shown_of_it_is_counted(browser: TestClient, desk: Desk) -> None:
    past = Past(desk.ours, time.time(), ["/home/ann/shop"])
    for number in range(15):
        loop = past._loop(f"l{number}", time.time() - number)  # noqa: SLF001
        history.started(desk.ours, loop, "")
    page = browser.get("/").text
    assert "and 3 more" in page
    assert "(15) Overview" in page


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        pytest.param({}, "last Stop 2 h 1 min ago", id="it came to a Stop"),
        pytest.param({"turned_at": ""}, "no Stop yet, began 2 h 1 min ago", id="to none yet"),
        pytest.param({"tokens": 1_234_000}, "1.23 M tokens", id="its tokens"),
        pytest.param({}, "shop · ", id="its project"),
        pytest.param({}, ">paused (breaker)<", id="its state"),
    ],
)
def test_an_active_loop_is_told_of(
    browser: TestClient, desk: Desk, fields: dict[str, object], shown: str
) -> None:
    _is_paused(desk, **fields)
    assert shown in browser.get("/").text


def test_a_loop_around_another_is_counted_and_shown(browser: TestClient) -> None:
    stand.nested()
    page = browser.get("/").text
    assert '<a href="/loops">2</a>' in page
    assert page.count('<li class="card">') == 2


@pytest.mark.parametrize(
    ("count", "told"),
    [pytest.param(1, ">1 loop ended<", id="one"), pytest.param(2, ">2 loops ended<", id="two")],
)
def test_what_ended_is_counted_in_words(browser: TestClient, count: int, told: str) -> None:
    for number in range(count):
        stand.over(f"l{number}")
    assert told in browser.get("/").text


@pytest.mark.parametrize(("count", "leads"), [(8, False), (9, True)])
def test_what_ended_before_the_latest_is_a_click_away(
    browser: TestClient, count: int, leads: bool
) -> None:
    for number in range(count):
        stand.over(f"l{number}")
    link = f'href="/loops?state=archived&amp;sort=ended">All {count} loops that ended</a>'
    assert (link in browser.get("/").text) is leads


@pytest.mark.parametrize(
    ("path", "place", "below"),
    [
        pytest.param("/", "/", True, id="the first one"),
        pytest.param("/loops", "/", False, id="not all"),
        pytest.param("/loops", "/loops", True, id="itself"),
        pytest.param("/loops/l1", "/loops", True, id="below it"),
        pytest.param("/loopsy", "/loops", False, id="beside it"),
    ],
)
def test_a_page_is_below_a_place(path: str, place: str, below: bool) -> None:
    assert is_below(path, place) is below
