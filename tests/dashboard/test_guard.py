"""What a browser, a program and a stranger are answered by the whole application."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dashboard.conftest import ADDRESS, TOKEN
from sisyphus.dashboard import changes as ch
from sisyphus.dashboard.app import build
from sisyphus.dashboard.guard import HEADERS

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from sisyphus.dashboard.access import Access
    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.past.records import Record

LINK = {
    "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document",
}  # fmt: skip
"""What a browser says of a link on another site."""

KNOWN = {"authorization": f"Bearer {TOKEN}"}


def test_the_printed_address_opens_the_overview(stranger: TestClient, access: Access) -> None:
    opened = stranger.get(access.url)
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    page = stranger.get("/")
    assert (page.status_code, "<h1>Overview</h1>" in page.text) == (200, True)
    assert TOKEN not in page.text


def test_its_cookie_is_for_this_server_and_no_script(stranger: TestClient, access: Access) -> None:
    cookie = stranger.get(access.url).headers["set-cookie"]
    name, *flags = cookie.split("; ")
    assert name == f"{access.cookie_name}={access.cookie}"
    assert {flag.casefold() for flag in flags} == {"httponly", "path=/", "samesite=strict"}
    assert TOKEN not in cookie


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        pytest.param("/loops?token={}", "/loops", id="a page"),
        pytest.param("/loops?q=a%20b&token={}&q=c", "/loops?q=a+b&q=c", id="with a query"),
        pytest.param("/?token=another&token={}", "/", id="the last one counts"),
        pytest.param("//evil.example?token={}", "/evil.example", id="another server"),
        pytest.param("/%2F%2Fevil.example?token={}", "/evil.example", id="in disguise"),
        pytest.param("/%5Cevil.example?token={}", "/%5Cevil.example", id="a backslash"),
        pytest.param("/%0d%0aX-Evil:1?token={}", "/%0D%0AX-Evil%3A1", id="a header"),
        pytest.param("/?token={}&a=%0d%0aX:1", "/?a=%0D%0AX%3A1", id="a header in the query"),
        pytest.param("/a%3Fb?token={}", "/a%3Fb", id="a question mark"),
    ],
)
def test_opening_leads_to_the_same_place_here(stranger: TestClient, asked: str, place: str) -> None:
    reply = stranger.get(ADDRESS + asked.format(TOKEN))
    assert (reply.status_code, reply.headers["location"]) == (303, place)
    assert "x-evil" not in reply.headers


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param("/", id="nothing"),
        pytest.param("/?token=another", id="another token"),
        pytest.param(f"/?token={TOKEN}&token=", id="an empty one after it"),
        pytest.param("/?token=%ff%C3%A4", id="other letters"),
        pytest.param("/static", id="beside what is public"),
        pytest.param("/nothing-here", id="a page that is not there"),
        pytest.param("/events", id="the events"),
    ],
)
def test_a_stranger_is_told_nothing(stranger: TestClient, asked: str) -> None:
    reply = stranger.get(asked)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert "<nav" not in reply.text
    assert TOKEN not in reply.text
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "cookie",
    [
        pytest.param('a={"x":1, "y z"}; {}', id="after one that is malformed"),
        pytest.param("a=b; =; ;;{}; c", id="among bits"),
        pytest.param('"{}', id="after a quote"),
    ],
)
def test_cookies_of_other_servers_do_no_harm(
    stranger: TestClient, access: Access, cookie: str
) -> None:
    ours = f"{access.cookie_name}={access.cookie}"
    found = stranger.get("/", headers={"cookie": cookie.replace("{}", f"; {ours}")})
    assert found.status_code == 200


def test_letters_that_are_not_ascii_are_no_fault(stranger: TestClient, access: Access) -> None:
    for headers in (
        {"cookie": f"{access.cookie_name}=\xe4".encode("latin-1")},
        {"authorization": b"Bearer \xff\xfe"},
        {"origin": b"\xff"},
        {"host": b"\xffx"},
    ):
        assert stranger.get("/", headers=headers).status_code in (401, 403)  # type: ignore[arg-type]


def test_a_program_brings_the_token_itself(stranger: TestClient) -> None:
    assert stranger.get("/api/openapi.json", headers=KNOWN).status_code == 200
    lower = {"authorization": f"bearer {TOKEN}"}
    assert stranger.get("/api/openapi.json", headers=lower).status_code == 200
    basic = {"authorization": f"Basic {TOKEN}"}
    assert stranger.get("/api/openapi.json", headers=basic).status_code == 401


def test_a_program_is_told_in_json(stranger: TestClient) -> None:
    reply = stranger.get("/api/openapi.json")
    assert (reply.status_code, reply.json()["error"]) == (401, "UNAUTHORIZED")
    foreign = stranger.get("/api/openapi.json", headers={"host": "evil.example"})
    assert (foreign.status_code, foreign.json()["error"]) == (403, "FOREIGN_HOST")


def test_the_address_of_our_own_browser_opens_the_overview_once(
    stranger: TestClient, access: Access
) -> None:
    address = access.url_for_once()
    opened, again = stranger.get(address), stranger.get(address, headers={"cookie": ""})
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    assert opened.headers["set-cookie"].startswith(f"{access.cookie_name}={access.cookie};")
    stranger.cookies.clear()
    again = stranger.get(address)
    assert (again.status_code, "set-cookie" in again.headers) == (401, False)


def test_a_foreign_page_does_not_use_the_code_up(stranger: TestClient, access: Access) -> None:
    address = access.url_for_once()
    image = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert stranger.get(address, headers=image).status_code == 403
    assert stranger.get(address, headers={"host": "evil.example"}).status_code == 403
    assert stranger.get(address).status_code == 303


def test_neither_token_nor_code_is_led_on_with(stranger: TestClient) -> None:
    page = stranger.get("/loops?open=x&q=1&token=y", headers=LINK).text
    assert 'content="0; url=/loops?q=1"' in page


def test_a_foreign_name_is_refused_whatever_it_knows(stranger: TestClient) -> None:
    reply = stranger.get(f"/?token={TOKEN}", headers={**KNOWN, "host": "evil.example:3847"})
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers


def test_two_names_are_none(desk: Desk, access: Access) -> None:
    hosts = [(b"host", b"127.0.0.1:3847"), (b"host", b"evil.example")]
    sent = _answer(desk, access, {"type": "http", "headers": hosts})
    assert sent[0]["status"] == 403


def test_a_foreign_form_is_refused(browser: TestClient) -> None:
    reply = browser.post("/", headers={"origin": "http://evil.example"})
    assert (reply.status_code, "Nothing was done" in reply.text) == (403, True)
    assert browser.post("/").status_code == 405  # ours gets as far as the page


def test_a_token_in_the_address_does_nothing(stranger: TestClient) -> None:
    assert stranger.post(f"/?token={TOKEN}", headers={"origin": ADDRESS}).status_code == 401


def test_a_link_of_another_site_gets_in_on_the_second_way(browser: TestClient) -> None:
    """A browser does not send a strict cookie with it, but does from the page it then shows."""
    cookies, browser.cookies = browser.cookies, None  # type: ignore[assignment]
    del browser.headers["origin"]
    first = browser.get("/loops?q=1", headers=LINK)
    assert first.status_code == 401
    assert '<meta http-equiv="refresh" content="0; url=/loops?q=1">' in first.text
    again = browser.get("/loops?q=1", headers={"sec-fetch-site": "same-origin"})
    assert (again.status_code, "http-equiv" in again.text) == (401, False)
    browser.cookies = cookies
    assert browser.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_what_another_port_fetches_is_refused_though_the_cookie_comes_along(
    browser: TestClient,
) -> None:
    del browser.headers["origin"]
    said = {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    for path in ("/events", "/", "/api/sessions", "/static/style.css"):
        assert browser.get(path, headers=said).status_code == 403
    led = {**LINK, "sec-fetch-site": "same-site"}
    assert browser.get("/", headers=led).status_code == 200


def test_what_is_public_is_only_looked_at(browser: TestClient) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert browser.request(method, "/static/style.css").status_code == 405


def test_a_change_while_a_page_is_drawn_is_none_that_it_shows(
    browser: TestClient, desk: Desk
) -> None:
    desk.changes.note([ch.LOOPS, ch.RULES])
    read = desk.history

    def reading() -> list[Record]:
        desk.changes.note([ch.LOOPS])
        return read()

    desk.history = reading  # type: ignore[method-assign]
    page = browser.get("/loops").text
    assert desk.changes.total > 2
    assert '<body data-changes="2">' in page


def test_where_it_leads_on_is_here_and_escaped(stranger: TestClient) -> None:
    page = stranger.get(f"{ADDRESS}//evil.example/%22%3E%3Cscript%3E?a=%22%3E", headers=LINK).text
    assert "url=/evil.example/%22%3E%3Cscript%3E?a=%22%3E" in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/", 200, id="a page"),
        pytest.param("/static/style.css", 200, id="a file"),
        pytest.param("/nothing-here", 404, id="nothing"),
        pytest.param("/api/openapi.json", 200, id="the API"),
    ],
)
def test_every_answer_tells_the_browser_what_it_may(
    browser: TestClient, path: str, status: int
) -> None:
    reply = browser.get(path)
    assert reply.status_code == status
    assert {name: reply.headers[name] for name in HEADERS} == HEADERS
    kept = "no-cache" if path.startswith("/static/") else "no-store"
    assert reply.headers["cache-control"] == kept
    assert "access-control-allow-origin" not in reply.headers


def test_a_refusal_tells_it_too(stranger: TestClient) -> None:
    for reply in (stranger.get("/"), stranger.get("/", headers={"host": "evil.example"})):
        assert {name: reply.headers[name] for name in HEADERS} == HEADERS


def test_nothing_inline_is_let_run() -> None:
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "data:" not in policy


def test_a_form_tells_where_it_comes_from() -> None:
    """By the fetch standard the Origin of a form is `null` where no referrer is sent at all."""
    assert HEADERS["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/static/../app.py", id="up"),
        pytest.param("/static/%2e%2e/app.py", id="up in disguise"),
        pytest.param("/static/..%2fapp.py", id="up by a slash in disguise"),
        pytest.param("/static/..%5capp.py", id="up by a backslash"),
        pytest.param("/static//etc/passwd", id="the root"),
        pytest.param("/static/%00", id="a zero"),
        pytest.param("/static/", id="the folder"),
        pytest.param(f"/static/{'a' * 5000}", id="a long name"),
        pytest.param("/static/../api/openapi.json", id="what is not public"),
    ],
)
def test_only_the_files_that_pages_need_are_public(desk: Desk, access: Access, path: str) -> None:
    raw = path.encode()
    hosts = [(b"host", b"127.0.0.1:3847")]
    plain = path.replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\").replace("%00", "\0")
    sent = _answer(desk, access, {"type": "http", "path": plain, "raw_path": raw, "headers": hosts})
    assert sent[0]["status"] == 404


def test_what_is_not_http_is_refused(desk: Desk, access: Access) -> None:
    sent = _answer(desk, access, {"type": "websocket", "headers": []})
    assert sent == [{"type": "websocket.close", "code": 1008}]


def _answer(desk: Desk, access: Access, scope: dict[str, Any]) -> list[dict[str, Any]]:
    """What is sent for a request that no client would make."""
    sent: list[dict[str, Any]] = []
    plain = {
        "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "root_path": "",
        "scheme": "http", "http_version": "1.1", "server": ("127.0.0.1", 3847),
        "client": ("127.0.0.1", 50000), "extensions": {}, "state": {},
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    app = build(desk, access, watches=False)
    asyncio.run(app({**plain, **scope}, receive, send))
    return sent
