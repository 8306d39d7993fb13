"""What the dashboard does while something happens: it follows, and it lets people act."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest
from past import Past

from e2e.browser import until, visitor
from e2e.dashboards import PATIENCE, dashboard
from e2e.script import Turn, say
from e2e.terminal import terminal
from sisyphus.ralph.loop import BY_BREAKER, SUCCESS, Loop
from sisyphus.ralph.past import history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, Route

    from e2e.browser import Visitor
    from e2e.desk import Desk

TYPED = '/sisyphus:ralph-loop "Light the tower" --completion-promise "DONE"'
NOT_YET, PROMISE = say("Not yet."), say("<promise>DONE</promise>")
ENDED, ACTIVE = 3, 2


@pytest.fixture
def past(desk: Desk) -> Past:
    """Three loops that ended, two that have not, one that got lost."""
    past = Past(str(desk.home / ".claude/.sisyphus"), time.time(), [str(desk.project)])
    past.write(ENDED, ACTIVE)
    lost = Loop("5e551017-lost", "l0001", "Find the way back")
    lost.project, lost.started_at = str(desk.project), "2026-01-02T03:04:05.000Z"
    history.started(past.ours, lost, "gone")
    return past


@pytest.fixture
def user(browser: Browser, desk: Desk) -> Iterator[Visitor]:
    with dashboard(desk.home) as served, visitor(browser, served) as user:
        yield user


def _stays(page: Page) -> None:
    """Marks the document: one that is loaded again has no mark."""
    page.evaluate("() => { window.stays = true; }")


def _has_stayed(page: Page) -> bool:
    return bool(page.evaluate("() => window.stays === true"))


def _confirm(page: Page, action: str) -> None:
    """Asks for an action as it is offered on the page, and says that it is meant."""
    page.get_by_role("link", name=action).click()
    page.get_by_role("dialog").get_by_role("button", name=action).click()
    page.get_by_role("dialog").wait_for(state="hidden")


def _of(desk: Desk, loop_id: str) -> list[str]:
    """The files that tell of a loop."""
    ours = desk.home / ".claude/.sisyphus"
    return sorted(path.name for path in ours.rglob("*") if loop_id in path.name)


def test_a_session_of_the_client_is_seen_while_it_runs(desk: Desk, user: Visitor) -> None:
    page = user.open("/journal")
    page.get_by_text("live", exact=True).wait_for()
    _stays(page)
    assert page.locator("#entries tbody tr").count() == 0

    desk.write("README.md", "# Lighthouse\n")
    desk.run("hello", turns=[say("hi")])

    page.get_by_text("sent README.md").wait_for()
    assert _has_stayed(page)


def test_a_loop_is_followed_and_what_has_the_focus_keeps_it(
    desk: Desk, past: Past, browser: Browser
) -> None:
    loop = Loop("5e551017-follow", "f0001", "Follow me")
    loop.project, loop.started_at = str(desk.project), "2026-11-01T00:00:00.000Z"
    past.go_on(loop)
    with dashboard(desk.home) as served, visitor(browser, served) as user:
        page = user.open("/loops?view=cards")
        page.get_by_text("live", exact=True).wait_for()
        _stays(page)
        page.get_by_role("link", name="Follow me").focus()
        for iteration in (3, 4, 5):
            past.go_on(loop)
            card = page.locator("li.card", has_text="Follow me")
            card.get_by_text(f"iteration {iteration}").wait_for()
            assert user.focused() == "a Follow me"

        assert _has_stayed(page)


def test_what_changes_while_a_page_is_on_its_way_is_not_missed(
    past: Past, desk: Desk, browser: Browser
) -> None:
    loop = Loop("5e551017-between", "b0001", "Fall between")
    loop.project, loop.started_at = str(desk.project), "2026-11-01T00:00:00.000Z"
    past.go_on(loop)
    with dashboard(desk.home) as served, visitor(browser, served) as user:

        def meanwhile(route: Route) -> None:
            past.go_on(loop)
            route.continue_()

        user.context.route("**/events*", meanwhile)
        page = user.open("/loops?view=cards")

        card = page.locator("li.card", has_text="Fall between")
        card.get_by_text("iteration 3").wait_for()


def test_the_buttons_of_a_loop_and_new_parts_follow_it(
    desk: Desk, past: Past, user: Visitor
) -> None:
    loop = Loop("5e551017-buttons", "b0002", "Press me")
    loop.project, loop.started_at = str(desk.project), "2026-11-01T00:00:00.000Z"
    past.go_on(loop)
    page = user.open("/loops/b0002")
    page.get_by_text("live", exact=True).wait_for()
    _stays(page)

    desk.sisyphus("ralph", "pause", "b0002")
    page.get_by_role("link", name="Resume").wait_for()
    assert page.get_by_role("link", name="Pause").count() == 0

    desk.sisyphus("ralph", "checklist", "add", "--loop", "b0002", "Dig the hole")
    page.locator("#checklist", has_text="Dig the hole").wait_for()
    assert _has_stayed(page)


def test_what_waits_for_the_user_is_counted_in_the_title_as_it_comes_and_goes(
    past: Past, desk: Desk, user: Visitor
) -> None:
    loop = Loop("5e551017-waits", "b0004", "Wait for me")
    loop.project, loop.started_at = str(desk.project), "2026-11-01T00:00:00.000Z"
    past.go_on(loop)
    page = user.open()
    page.get_by_text("live", exact=True).wait_for()
    page.get_by_text("Nothing waits for you.").wait_for()
    _stays(page)

    loop.pause(BY_BREAKER, time.time())
    past.go_on(loop)
    page.locator("#attention").get_by_role("link", name="Wait for me").wait_for()
    until(page, lambda: page.title() == "(1) Overview · sisyphus", "the title counts it")
    page.get_by_role("link", name="Overview 1 waits for you").wait_for()

    desk.sisyphus("ralph", "resume", "b0004")
    page.get_by_text("Nothing waits for you.").wait_for()
    until(page, lambda: page.title() == "Overview · sisyphus", "the title counts nothing")
    assert _has_stayed(page)


def test_a_look_that_failed_is_taken_again(past: Past, desk: Desk, user: Visitor) -> None:
    loop = Loop("5e551017-again", "b0003", "Look again")
    loop.project, loop.started_at = str(desk.project), "2026-11-01T00:00:00.000Z"
    past.go_on(loop)
    page = user.open("/loops?view=cards")
    page.get_by_text("live", exact=True).wait_for()
    failed: list[str] = []

    def fail(route: Route) -> None:
        failed.append(route.request.url)
        route.abort()

    page.route("**/loops*", fail)
    past.go_on(loop)
    until(page, lambda: bool(failed), "the page looks")
    page.unroute("**/loops*")

    page.locator("li.card", has_text="Look again").get_by_text("iteration 3").wait_for()
    assert all("ERR_FAILED" in fault for fault in user.faults)
    user.faults.clear()


def test_a_loop_of_the_client_is_cancelled_on_its_page(desk: Desk, user: Visitor) -> None:
    cancelled = threading.Event()
    held = Turn("Still not.", meanwhile=lambda: cancelled.wait(PATIENCE))

    with terminal(desk, turns=[NOT_YET, held]) as client:
        page = user.open("/loops")
        client.enter(TYPED)
        client.until_asked(2)
        page.get_by_role("link", name="Light the tower").click()
        page.locator("#timeline li").first.wait_for()
        _confirm(page, "Cancel")
        page.locator("#state", has_text="cancelled").wait_for()
        cancelled.set()
        client.until_idle()
        assert page.get_by_role("link", name="Cancel").count() == 0

    assert len(client.requests) == 2
    assert "cancelled" in desk.sisyphus("ralph", "log")


def test_a_loop_of_the_client_is_paused_and_goes_on(desk: Desk, user: Visitor) -> None:
    paused = threading.Event()
    held = Turn("Still not.", meanwhile=lambda: paused.wait(PATIENCE))

    with terminal(desk, turns=[NOT_YET, held, NOT_YET, PROMISE]) as client:
        page = user.open("/loops")
        client.enter(TYPED)
        client.until_asked(2)
        page.get_by_role("link", name="Light the tower").click()
        _confirm(page, "Pause")
        page.locator("#state", has_text="paused").wait_for()
        paused.set()
        client.until_idle()
        assert len(client.requests) == 2

        _confirm(page, "Resume")
        page.locator("#state", has_text="active").wait_for()
        client.enter("go on")
        client.until_asked(4)
        page.locator("#state", has_text="success").wait_for()

    assert "[RALPH LOOP COMPLETE]" in client.told


def test_a_loop_is_deleted_once_that_is_meant(desk: Desk, past: Past, user: Visitor) -> None:
    page = user.open("/loops/e0001")
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("dialog").get_by_role("link", name="Back").click()
    assert _of(desk, "e0001") != []

    _confirm(page, "Delete")

    page.wait_for_url("**/loops?state=archived")
    assert page.get_by_text("e0001", exact=True).count() == 0
    assert page.get_by_text("e0002", exact=True).count() == 1
    assert [name for name in _of(desk, "e0001") if "journal" not in name] == []
    assert "e0001" not in {record.loop_id for record in history.read(past.ours)}


def test_all_archived_loops_are_deleted_and_no_other(desk: Desk, past: Past, user: Visitor) -> None:
    page = user.open("/loops?state=archived")
    page.get_by_role("link", name="Delete all archived loops").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Delete {ENDED + 1} loops").click()

    page.get_by_text("No loop has ended yet.").wait_for()
    left = {record.loop_id for record in history.read(past.ours)}
    assert left == {"a0000", "a0001"}
    assert _of(desk, "a0000") != []


@pytest.mark.usefixtures("past")
def test_a_lost_loop_is_archived(desk: Desk, user: Visitor) -> None:
    page = user.open("/loops/l0001")
    _confirm(page, "Archive")

    page.locator("#state", has_text="archived").wait_for()
    assert "archived" in desk.sisyphus("ralph", "log")


@pytest.mark.usefixtures("past")
def test_an_action_that_came_too_late_says_so(desk: Desk, user: Visitor) -> None:
    page = user.open("/loops/a0000")
    page.get_by_role("link", name="Pause").click()
    page.get_by_role("dialog").wait_for()
    desk.sisyphus("ralph", "cancel", "a0000")
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="Pause").click()

    assert "a0000" in page.locator("main").inner_text()
    user.faults.clear()  # the browser tells of a 4xx in its console
    page.get_by_role("link", name="Loop a0000").click()
    page.locator("#state", has_text="cancelled").wait_for()


@pytest.mark.usefixtures("past")
def test_what_was_done_is_told_once_and_has_the_focus(user: Visitor) -> None:
    page = user.open("/loops/a0000")
    _confirm(page, "Pause")

    page.locator(".told", has_text="Loop a0000 paused: ").wait_for()
    until(page, lambda: user.focused().startswith("p Loop a0000 paused"), "it has the focus")
    assert page.url.endswith("/loops/a0000")
    page.reload()
    assert page.locator(".told").count() == 0


def test_a_dashboard_that_ended_says_so_on_its_pages(desk: Desk, browser: Browser) -> None:
    with dashboard(desk.home) as first:
        pass
    with dashboard(desk.home) as served:
        assert served.token != first.token
        with visitor(browser, served) as user:
            page = user.open("/loops")
            page.get_by_text("live", exact=True).wait_for()
            os.kill(served.pid, signal.SIGTERM)
            page.get_by_text("not connected").wait_for()
            user.faults.clear()  # refused connections are in the console


def test_a_page_says_that_the_dashboard_was_started_anew(user: Visitor) -> None:
    page = user.open("/loops")
    page.get_by_text("live", exact=True).wait_for()
    _stays(page)
    page.context.clear_cookies()  # as those of another start
    page.evaluate("() => dispatchEvent(new Event('pagehide'))")
    page.evaluate("() => dispatchEvent(new Event('pageshow'))")
    page.get_by_text("Started anew: open the address it printed").wait_for()
    assert page.locator("#live").is_hidden()

    other = user.context.new_page()
    other.goto(user.dashboard.url)
    other.close()
    page.evaluate("() => dispatchEvent(new Event('pageshow'))")
    page.get_by_text("live", exact=True).wait_for()
    assert page.locator("#lost").inner_text() == ""
    assert _has_stayed(page)
    user.faults.clear()  # the browser tells of each 401 in its console


def test_a_page_asks_no_more_than_once_a_second(past: Past, user: Visitor) -> None:
    loops = past.write(0, 20)
    page = user.open("/loops")
    page.get_by_text("live", exact=True).wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    began = time.monotonic()
    while time.monotonic() - began < 4:
        for loop in loops:
            past.go_on(loop)
        page.wait_for_timeout(50)
    seconds = time.monotonic() - began

    assert 1 <= len(asked) <= seconds + 1


def test_success_is_counted(past: Past, user: Visitor) -> None:
    page = user.open("/")
    page.get_by_text("live", exact=True).wait_for()
    ended = history.read(past.ours)
    good = Loop("5e551017-good", "g0001", "Be good")
    good.started_at = "2026-11-01T00:00:00.000Z"

    history.started(past.ours, good, "")
    history.ended(past.ours, good, SUCCESS, time.time())

    page.locator("#ended").get_by_text("Be good").wait_for()
    known = sum(record.outcome != "" for record in ended) + 1
    until(page, lambda: f"{known} loops ended" in page.locator("#numbers").inner_text(), "the sum")
