"""Every page of the dashboard in a real browser: by mouse and by keyboard, in light and in dark, on
a desk and on a phone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from e2e.browser import DESKTOP, PHONE, visitor
from e2e.dashboards import dashboard
from e2e.lived_in import ENDED, furnish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from e2e.browser import Visitor
    from e2e.dashboards import Dashboard

NAV = {
    "Overview": "/", "Loops": "/loops", "Boulders": "/boulders", "Context": "/context",
    "Rules": "/rules", "Enforcement": "/enforcement", "Journal": "/journal",
}  # fmt: skip
PLACES = {
    **{name.lower(): path for name, path in NAV.items()},
    "loops-as-cards": "/loops?view=cards",
    "loops-archived": "/loops?state=archived",
    "loop": "/loops/e0001",
    "loop-active": "/loops/a0003",
    "transcript": "/loops/e0001/transcript",
    "delete-a-loop": "/loops/e0001/delete",
}
LINKED = {"boulder": ("/boulders", "#open h3 a"), "session": ("/context", "#contexts th a"),
          "handoff": ("/context", "#handoffs th a")}  # fmt: skip
"""Pages whose addresses only other pages tell: where, and which link."""


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """The dashboard of somebody who has worked for weeks; these tests change nothing there."""
    desk = furnish(tmp_path_factory.mktemp("lived-in"))
    with dashboard(desk.home) as served:
        yield served


@pytest.fixture
def user(browser: Browser, lived_in: Dashboard) -> Iterator[Visitor]:
    with visitor(browser, lived_in) as user:
        yield user


def test_every_page_is_reached_by_its_name_and_says_it(user: Visitor) -> None:
    page = user.open()

    for name, path in NAV.items():
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        page.wait_for_url(f"**{path}")
        assert page.get_by_role("heading", level=1).inner_text() == name
        assert re.fullmatch(rf"(\(\d+\) )?{name} · sisyphus", page.title())
        assert page.locator("nav [aria-current=page]").first.inner_text().startswith(name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("size", "name"),
    [pytest.param(DESKTOP, "desktop", id="desktop"), pytest.param(PHONE, "phone", id="phone")],
)
def test_every_page_can_be_read_by_everybody(
    browser: Browser, lived_in: Dashboard, size: tuple[int, int], name: str, scheme: str
) -> None:
    with visitor(browser, lived_in, size, color_scheme=scheme) as user:
        for place, path in {**PLACES, **_linked(user)}.items():
            user.open(path)
            user.shoot(f"{place}-{name}-{scheme}")
            assert (place, user.overflow()) == (place, [])
            assert (place, user.barriers()) == (place, [])


def _linked(user: Visitor) -> dict[str, str]:
    found = {}
    for name, (path, selector) in LINKED.items():
        address = user.open(path).locator(selector).first.get_attribute("href")
        assert address, name
        found[name] = address
    return found


def test_the_first_tab_stop_leads_past_the_navigation(user: Visitor) -> None:
    page = user.open("/loops")

    page.keyboard.press("Tab")
    assert user.focused() == "a Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    assert page.evaluate("() => document.activeElement.closest('main') !== null")


def test_a_loop_is_cancelled_by_the_keyboard_alone_up_to_the_last_key(user: Visitor) -> None:
    page = user.open("/loops/a0003")

    _tab_to(user, "a Cancel")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    assert dialog.get_by_role("heading").inner_text() == "Cancel the loop a0003?"
    assert page.evaluate("() => document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")

    dialog.wait_for(state="hidden")
    assert user.focused() == "a Cancel"
    assert page.url.endswith("/loops/a0003")


def _tab_to(user: Visitor, wanted: str) -> None:
    seen = []
    for _ in range(60):
        user.page.keyboard.press("Tab")
        seen.append(user.focused())
        if seen[-1] == wanted:
            return
    raise AssertionError(f"{wanted} is not reached: {seen}")


def test_loops_are_searched_filtered_and_sorted_in_the_address(user: Visitor) -> None:
    page = user.open("/loops?state=archived")
    page.get_by_role("searchbox").fill("importer of prices")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=importer*")
    tasks = page.locator("#loops tbody th").all_inner_texts()
    assert 0 < len(tasks) < ENDED
    assert all("importer of prices" in task for task in tasks)

    page.get_by_label("Result").select_option("success")
    page.wait_for_url("**outcome=success*")
    assert set(page.locator("#loops tbody td[data-label=State]").all_inner_texts()) == {"success"}

    page.goto(f"{user.dashboard.address}loops?state=archived&sort=longest")
    assert page.locator("#loops th[aria-sort=descending]").inner_text() == "Duration"
    page.go_back()
    assert page.get_by_role("searchbox").input_value() == "importer of prices"


def test_a_loop_tells_what_happened_in_it(user: Visitor) -> None:
    page = user.open("/loops?state=all&q=discount")
    page.locator("#loops tbody th a").first.click()

    text = page.locator("main").inner_text()
    assert "Add the discount rule" in text
    assert "DONE" in page.locator("#state").inner_text()
    assert page.locator("#timeline li").count() >= 1


def test_a_transcript_is_searched_and_taken_away(user: Visitor) -> None:
    page = user.open("/loops/e0001/transcript")
    page.get_by_role("searchbox").fill("rounding")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=rounding*")
    assert page.locator("#text mark").first.inner_text() == "rounding"

    page.goto(f"{user.dashboard.address}loops/e0001")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()

    assert download.value.suggested_filename == "loop-e0001.md"
    exported = download.value.path().read_text("utf-8")
    assert exported.startswith("# ")
    assert "The rest is" in exported


def test_the_theme_that_was_chosen_stays(user: Visitor) -> None:
    page = user.open("/rules")
    before = page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("button", name="Theme: dark").wait_for()
    page.reload()

    assert page.get_by_role("button", name="Theme: dark").is_visible()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != before


def test_everything_can_be_read_without_scripts(browser: Browser, lived_in: Dashboard) -> None:
    with visitor(browser, lived_in, java_script_enabled=False) as user:
        for path in PLACES.values():
            assert user.open(path).get_by_role("heading", level=1).is_visible()

        page = user.open("/loops/a0004")
        page.get_by_role("link", name="Pause").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Pause the loop a0004?"
        page.get_by_role("link", name="Back").click()

        assert page.url.endswith("/loops/a0004")


def test_what_is_not_there_is_said_in_words(browser: Browser, lived_in: Dashboard) -> None:
    with visitor(browser, lived_in) as user:
        for path in ("/loops/zzzzz", "/no-such-page", "/boulders/0", "/context/nobody"):
            reply = user.page.goto(user.dashboard.address.rstrip("/") + path)
            assert reply
            assert (path, reply.status) == (path, 404)
            assert user.page.locator("main").inner_text().strip()
        user.faults.clear()  # the browser tells of each 404 in its console
