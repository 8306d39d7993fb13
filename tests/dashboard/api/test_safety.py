"""Who may ask the API, and what may be asked of it in which way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ralph.past.log import known

from dashboard.api import stand
from dashboard.conftest import ADDRESS, TOKEN

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from sisyphus.dashboard.access import Access

GET = [("GET", "/api/sessions"), ("GET", "/api/overview"), ("GET", "/metrics")]
CHANGE = [
    ("POST", "/api/sessions/aaaaa/cancel"),
    ("DELETE", "/api/sessions/aaaaa"),
    ("DELETE", "/api/sessions"),
]
BEARER = {"authorization": f"Bearer {TOKEN}"}
FOREIGN = {"origin": "https://evil.example"}


def _cookie(access: Access) -> dict[str, str]:
    return {"cookie": f"{access.cookie_name}={access.cookie}"}


@pytest.mark.parametrize(("method", "path"), GET)
def test_who_brings_nothing_is_told_nothing(stranger: TestClient, method: str, path: str) -> None:
    reply = stranger.request(method, path)
    assert (reply.status_code, reply.json()["error"]) == (401, "UNAUTHORIZED")
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path"), CHANGE)
def test_who_brings_nothing_changes_nothing(stranger: TestClient, method: str, path: str) -> None:
    stand.active()
    stand.over("bbbbb")
    for headers in ({}, {"origin": ADDRESS}, {"authorization": "Bearer wrong"}):
        assert stranger.request(method, path, headers=headers).status_code in (401, 403)
    assert {one.result for one in known()} == {"active", "success"}


@pytest.mark.parametrize(("method", "path"), CHANGE)
def test_a_cookie_alone_changes_nothing(
    stranger: TestClient, access: Access, method: str, path: str
) -> None:
    """A browser says where it stands; a request that does not may be of any page."""
    stand.active()
    stand.over("bbbbb")
    reply = stranger.request(method, path, headers=_cookie(access))
    assert (reply.status_code, reply.json()["error"]) == (403, "FOREIGN_ORIGIN")
    assert {one.result for one in known()} == {"active", "success"}


def test_a_browser_and_a_program_may(stranger: TestClient, access: Access) -> None:
    stand.active("aaaaa", "s1")
    stand.active("bbbbb", "s2")
    browser = {**_cookie(access), "origin": ADDRESS}
    for loop_id, headers in (("aaaaa", browser), ("bbbbb", BEARER)):
        reply = stranger.post(f"/api/sessions/{loop_id}/cancel", headers=headers)
        assert reply.status_code == 200


@pytest.mark.parametrize(("method", "path"), [*GET, *CHANGE])
def test_a_foreign_page_is_refused_whatever_it_knows(
    stranger: TestClient, access: Access, method: str, path: str
) -> None:
    stand.active()
    reply = stranger.request(method, path, headers={**BEARER, **_cookie(access), **FOREIGN})
    assert (reply.status_code, reply.json()["error"]) == (403, "FOREIGN_ORIGIN")
    assert known()[0].is_active


@pytest.mark.parametrize("headers", [{}, BEARER, {**BEARER, "origin": ADDRESS}, FOREIGN])
@pytest.mark.parametrize("path", ["/api/sessions", "/api/sessions/aaaaa/cancel", "/metrics"])
def test_no_other_origin_is_let_in(
    stranger: TestClient, path: str, headers: dict[str, str]
) -> None:
    for method in ("OPTIONS", "GET", "HEAD", "POST"):
        asked = {"access-control-request-method": "POST", **headers}
        reply = stranger.request(method, path, headers=asked)
        assert not [name for name in reply.headers if name.startswith("access-control")]
        assert reply.status_code < 500


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/api/sessions", "DELETE, GET, HEAD"),
        ("POST", "/api/sessions/aaaaa", "DELETE, GET, HEAD"),
        ("GET", "/api/sessions/aaaaa/cancel", "POST"),
        ("DELETE", "/api/sessions/aaaaa/cancel", "POST"),
        ("OPTIONS", "/api/overview", "GET, HEAD"),
        ("PATCH", "/metrics", "GET, HEAD"),
        ("BREW", "/api/sessions", "DELETE, GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    program: TestClient, method: str, path: str, allow: str
) -> None:
    reply = program.request(method, path)
    assert (reply.status_code, reply.headers["allow"]) == (405, allow)
    assert reply.json()["error"] == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize("path", ["/api/sessions", "/api/nothing", "/metrics", "/", "/loops"])
def test_head_is_get_without_the_text(program: TestClient, path: str) -> None:
    got, asked = program.get(path), program.head(path)
    assert (asked.status_code, asked.content) == (got.status_code, b"")
    for name in ("content-type", "content-security-policy", "cache-control"):
        assert asked.headers[name] == got.headers[name]


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/%00", "/api/sessions/%ff%fe", "/api/%00",
        "/api/sessions?q=%00", "/api/sessions?q=%ff", "/api/sessions?limit=%00",
        "/api/sessions?q=%ed%a0%80", "/api/sessions?limit=1e999", "/api/sessions?&&==&limit",
        "/api/sessions?" + "&".join(["q=a"] * 2_000), "/api/transcript/..%2f..%2fetc%2fpasswd",
        "/api//sessions", "/api/sessions/", "/api/" + "a/" * 500, "/api/journal?before=-0",
        f"/api/journal?before={2**70}", "/api/context/%00", "/api/handoffs/%00/%ff",
        "/api/enforcement?project=%00", "/api/boulders?state=%ed%b0%80",
    ],
)  # fmt: skip
def test_odd_addresses_are_no_fault(program: TestClient, path: str) -> None:
    assert program.get(path).status_code < 500


@pytest.mark.parametrize("body", [b"", b"{", b"\x00\xff" * 1_000, b"[" * 100_000])
@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data", "\xe4"])
def test_bodies_do_not_matter(program: TestClient, body: bytes, kind: str) -> None:
    headers = {"content-type": kind.encode("latin-1")}
    for method, path in (("POST", "/api/sessions/zzzzz/cancel"), ("DELETE", "/api/sessions/zzzzz")):
        reply = program.request(method, path, content=body, headers=headers)  # type: ignore[arg-type]
        assert reply.status_code == 404
