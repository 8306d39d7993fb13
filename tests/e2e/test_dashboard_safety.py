"""Who should not reach the dashboard does not; what strangers wrote is shown, not obeyed."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from past import Past

from e2e import hostile
from e2e.browser import visitor
from e2e.dashboards import dashboard
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.past import history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from e2e.browser import Visitor
    from e2e.dashboards import Dashboard
    from e2e.desk import Desk

BAIT, QUOTED, NAME = hostile.BAIT, hostile.QUOTED, hostile.NAME
NAV = ("/", "/loops", "/boulders", "/context", "/rules", "/enforcement", "/journal")
MOST_PAGES = 100
FILES = ("/api/", "/metrics", "/static/")
ORDER = "sort="
"""In the address of a list: what is on the page is on another one as well."""
REFUSED = {
    "another host": {"host": "evil.example"},
    "another host with our port": {"host": "evil.example:{port}"},
    "no host": {"host": ""},
    "another origin": {"origin": "http://evil.example"},
    "another port of this machine": {"origin": "http://127.0.0.1:9"},
    "a page without an origin": {"origin": "null"},
    "another site's form": {"sec_fetch_site": "cross-site"},
    "another port's form": {"sec_fetch_site": "same-site"},
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    desk = hostile.furnish(tmp_path_factory.mktemp("attacked"))
    with dashboard(desk.home) as served:
        yield served


@pytest.fixture
def past(desk: Desk) -> Past:
    past = Past(str(desk.home / ".claude/.sisyphus"), time.time(), [str(desk.project)])
    past.write(2, 1)
    return past


@pytest.fixture
def served(desk: Desk, past: Past) -> Iterator[Dashboard]:
    assert past.roots
    with dashboard(desk.home) as served:
        yield served


def test_nothing_that_is_shown_is_obeyed(browser: Browser, attacked: Dashboard) -> None:
    with visitor(browser, attacked) as user:
        seen = _crawled(user)

    assert set(NAV) < seen.keys()
    texts = "\n".join(seen.values())
    for path in (f"/loops/{hostile.LOOP}", f"/loops/{hostile.ENDED}"):
        assert seen[path].count(BAIT) >= 3, path
    for text in (BAIT, NAME, QUOTED.split(" autofocus")[0]):
        assert texts.count(text) >= 5, text
    for path in ("/boulders", "/rules", "/journal", "/enforcement", "/context"):
        assert BAIT in seen[path] or NAME in seen[path], path


def _crawled(user: Visitor) -> dict[str, str]:
    """Every page that links lead to, and what is read on it."""
    waiting, seen = list(NAV), dict[str, str]()
    while waiting:
        path = waiting.pop(0)
        if path in seen or path.startswith(FILES) or path.endswith(".md") or ORDER in path:
            continue
        assert len(seen) < MOST_PAGES, sorted(seen)
        page = _opened(user, path)
        assert page.evaluate(f"() => window.{hostile.FLAG}") is None, path
        assert page.locator("img[src=x], svg[onload], [onerror], [onfocus]").count() == 0, path
        seen[path] = page.locator("main").inner_text()
        waiting += _links(user, path)
    return seen


def _opened(user: Visitor, path: str) -> Page:
    """A page that a link leads to. Of a session nothing may be left but its loops."""
    if not path.startswith(("/context/", "/journal?")):
        return user.open(path)
    before = len(user.faults)
    user.page.goto(user.dashboard.address.rstrip("/") + path)
    told = [text for text in user.faults[before:] if "404 (Not Found)" not in text]
    user.faults[before:] = told
    return user.page


def _links(user: Visitor, path: str) -> list[str]:
    found: list[str] = user.page.evaluate("() => [...document.links].map((link) => link.href)")
    for address in found:
        assert address.startswith(user.dashboard.address), f"{path} leads to {address}"
    parts = [urlsplit(address) for address in found]
    return [f"{one.path}?{one.query}" if one.query else one.path for one in parts]


def test_a_question_about_a_hostile_loop_is_harmless(browser: Browser, attacked: Dashboard) -> None:
    with visitor(browser, attacked) as user:
        page = user.open(f"/loops/{hostile.LOOP}")
        page.get_by_role("link", name="Pause").click()
        page.get_by_role("dialog").get_by_text(BAIT[:30]).wait_for()

        assert page.evaluate(f"() => window.{hostile.FLAG}") is None


def test_what_arrives_live_is_harmless(browser: Browser, past: Past, served: Dashboard) -> None:
    with visitor(browser, served) as user:
        page = user.open("/loops?view=cards")
        page.get_by_text("live", exact=True).wait_for()
        loop = Loop("live-bait", "live1", BAIT + QUOTED)
        loop.started_at = "2026-11-01T00:00:00.000Z"
        past.go_on(loop)
        page.get_by_text(BAIT[:30]).first.wait_for()

        assert page.evaluate(f"() => window.{hostile.FLAG}") is None
        assert page.locator("img[src=x], svg[onload]").count() == 0


def test_the_token_becomes_a_cookie_and_leaves_the_address_bar(
    browser: Browser, served: Dashboard
) -> None:
    with visitor(browser, served) as user:
        assert user.page.url == served.address
        (cookie,) = user.context.cookies()

    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert served.token not in cookie["value"]


def test_who_has_no_token_is_told_how_to_come_by_it(browser: Browser, served: Dashboard) -> None:
    with visitor(browser, served, enters=False) as user:
        for path in (*NAV, "/loops/e0001", "/?token=wrong"):
            reply = user.page.goto(served.address.rstrip("/") + path)
            assert reply
            assert reply.status == 401
            text = user.page.locator("body").inner_text()
            assert "sisyphus dashboard" in text
            assert "e0001" not in text
        user.shoot("refused")
        assert user.overflow() == []
        assert user.barriers() == []
        user.faults.clear()  # the browser tells of each 401 in its console


def test_a_program_without_the_token_gets_nothing(served: Dashboard) -> None:
    for path in ("/api/sessions", "/api/openapi.json", "/metrics", "/events", "/loops/e0001"):
        answer = served.ask(path, knows_token=False)
        assert (path, answer.status) == (path, 401)
    assert served.ask("/api/sessions").status == 200


@pytest.mark.parametrize("headers", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("path", ["/loops/a0000/cancel", "/api/sessions/a0000/cancel"])
def test_a_stranger_changes_nothing_with_the_users_own_cookie(
    served: Dashboard, past: Past, path: str, headers: dict[str, str]
) -> None:
    port = served.host.partition(":")[2]
    sent = {name: value.format(port=port) for name, value in headers.items()}
    came = served.ask(f"/?token={served.token}", knows_token=False)
    cookie = came.headers["set-cookie"].partition(";")[0]

    answer = served.ask(path, "POST", knows_token=False, cookie=cookie, **sent)

    assert answer.status in (400, 403)
    assert _active(past) == {"a0000"}


def test_no_answer_can_be_read_or_framed_by_others(served: Dashboard) -> None:
    for path in (*NAV, "/api/sessions", "/metrics", "/static/live.js", "/no-such-page"):
        headers = served.ask(path, origin="").headers
        assert "access-control-allow-origin" not in headers, path
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "unsafe" not in headers["content-security-policy"], path
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] in ("no-referrer", "same-origin"), path


def test_a_page_of_another_server_reaches_nothing_in_the_users_browser(
    browser: Browser, served: Dashboard, past: Past
) -> None:
    """A page on another port of the same machine is the same site: the cookie comes along."""
    with _another_server(served) as elsewhere, visitor(browser, served) as user:
        page = user.page
        page.goto(elsewhere)
        read = "(address) => fetch(address, {credentials: 'include'}).then(() => 'read', String)"
        assert "TypeError" in page.evaluate(read, f"{served.address}api/sessions")
        with page.expect_navigation():
            page.get_by_role("button").click()

        assert "Another site's page asked for this" in page.locator("body").inner_text()
        assert page.frame_locator("iframe").locator("h1").count() == 0
        user.faults.clear()  # it is another server's page, and it is refused
    assert _active(past) == {"a0000"}


@contextmanager
def _another_server(served: Dashboard) -> Iterator[str]:
    """Shows a page with a form that cancels a loop, and the dashboard in a frame."""
    text = (
        f"<form method=post action={served.address}loops/a0000/cancel><button>Win</button></form>"
        f"<iframe src={served.address}></iframe>"
    )

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def _active(past: Past) -> set[str]:
    return {record.loop_id for record in history.read(past.ours) if record.is_active}
