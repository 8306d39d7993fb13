from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest
from ralph.past.log import AT, a_loop, lives, ran, starts

from sisyphus.ralph import loop as lp
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from starlette.testclient import TestClient

HOSTILE = "</a><script>alert(1)</script>"


def _links(text: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'href="([^"]*)"', text)]


def _some() -> None:
    lives(starts(a_loop("going", "s1", minute=2)))
    ran(a_loop("ended", "s2", minute=1), lp.STUCK, reason="nothing moved")
    starts(a_loop("lost1", "s3"))


@pytest.mark.parametrize("view", ["", "&view=cards"])
@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("active", {"going"}),
        ("archived", {"ended", "lost1"}),
        ("all", {"going", "ended", "lost1"}),
    ],
)
def test_each_tab_shows_its_loops(
    browser: TestClient, state: str, shown: set[str], view: str
) -> None:
    _some()
    text = browser.get(f"/loops?state={state}{view}").text
    links = {link.removeprefix("/loops/") for link in _links(text) if link.startswith("/loops/")}
    assert links == shown


def test_links_keep_what_is_chosen_and_begin_at_the_first_page(browser: TestClient) -> None:
    _some()
    asked = "/loops?state=archived&q=make&sort=longest&view=cards&page=7&outcome=stuck"
    links = _links(browser.get(asked).text)
    assert "/loops?state=archived&q=make&outcome=stuck&sort=longest" in links  # as a table
    assert "/loops?state=all&q=make&sort=longest&view=cards" in links  # another tab
    assert not any("page=" in link for link in links)


def test_pages_follow_each_other(browser: TestClient) -> None:
    for number in range(51):
        ran(a_loop(f"e{number:04}", f"s{number}", minute=number))
    first = browser.get("/loops?state=archived")
    assert "Page 1 of 2" in first.text
    assert ">Last<" not in first.text
    [after] = [link for link in _links(first.text) if "page=" in link]
    second = browser.get(after).text
    assert "e0000" in second
    assert "e0050" not in second
    assert "/loops?state=archived" in _links(second.partition('class="pager"')[2])


def test_the_first_and_the_last_page_are_a_click_away(browser: TestClient) -> None:
    for number in range(151):
        ran(a_loop(f"e{number:04}", f"s{number}", minute=number))
    pager = browser.get("/loops?state=archived&page=2").text.partition('class="pager"')[2]
    assert '?state=archived&amp;page=4">Last<' in pager
    assert ">First<" not in pager
    last = browser.get("/loops?state=archived&page=4").text.partition('class="pager"')[2]
    assert '?state=archived">First<' in last
    assert ">Last<" not in last


def _began_and_ended(loop_id: str, minute: int, after: int) -> None:
    ran(a_loop(loop_id, loop_id, minute=minute), after=after)


@pytest.mark.parametrize("view", ["", "cards"])
def test_loops_that_ended_say_when(browser: TestClient, view: str) -> None:
    _began_and_ended("early", 0, 600)
    asked = f"/loops?state=archived&sort=ended&view={view}"
    assert '<time datetime="2026-11-20T15:10:00.000Z">' in browser.get(asked).text
    assert 'data-label="Ended"' not in browser.get("/loops?state=all").text


def test_a_click_sorts_by_the_end(browser: TestClient) -> None:
    _began_and_ended("early", 0, 600)
    _began_and_ended("later", 5, 60)
    assert "/loops?state=archived&sort=ended" in _links(browser.get("/loops?state=archived").text)
    text = browser.get("/loops?state=archived&sort=ended").text
    assert text.index('"/loops/early"') < text.index('"/loops/later"')
    assert 'aria-sort="descending"><a href="/loops?state=archived&amp;sort=ended">Ended' in text


def test_a_loop_tells_when_it_moved_last_and_what_it_spent(browser: TestClient) -> None:
    loop = a_loop()
    loop.turned_at, loop.tokens = iso(epoch(AT) + 300), 12_000
    lives(starts(loop))
    lives(starts(a_loop("still", "s2")))
    for view in ("", "cards"):
        text = browser.get(f"/loops?view={view}").text
        assert 'last Stop <time datetime="2026-11-20T15:05:00.000Z">' in text
        assert "12 k" in text
    assert "no Stop yet" in browser.get("/loops").text


@pytest.mark.parametrize(("q", "is_said"), [("", False), ("make", True)])
def test_who_deletes_all_hears_that_a_search_does_not_matter(
    browser: TestClient, q: str, is_said: bool
) -> None:
    ran(a_loop())
    text = browser.get(f"/loops?state=archived&q={q}").text
    assert ("Also those that are not shown now." in text) is is_said


def test_the_form_shows_what_was_asked_for(browser: TestClient) -> None:
    _some()
    text = browser.get("/loops?state=archived&q=a%22b&outcome=stuck&sort=oldest").text
    assert 'name="q" value="a&#34;b"' in text
    assert '<option value="stuck" selected>' in text
    assert '<option value="oldest" selected>' in text
    assert '<input type="hidden" name="state" value="archived">' in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        pytest.param("", "No loop is active", id="none is active"),
        pytest.param("?state=archived", "No loop has ended", id="none has ended"),
        pytest.param("?q=cart", "No loop matches", id="none matches"),
    ],
)
def test_an_empty_list_says_what_to_do(browser: TestClient, asked: str, said: str) -> None:
    assert said in browser.get(f"/loops{asked}").text


@pytest.mark.parametrize("view", ["table", "cards"])
def test_texts_of_strangers_do_nothing(browser: TestClient, view: str) -> None:
    loop = a_loop()
    loop.prompt, loop.project = HOSTILE, f"/home/me/{HOSTILE}"
    ran(loop, HOSTILE, reason=HOSTILE)
    asked = {"state": "all", "q": "script", "view": view, "sort": HOSTILE, "outcome": HOSTILE}
    for params in (asked, {**asked, "outcome": ""}):
        assert "<script>alert" not in browser.get("/loops", params=params).text


def test_a_page_that_is_no_number_is_refused(browser: TestClient) -> None:
    assert browser.get("/loops?page=x").status_code == 400
