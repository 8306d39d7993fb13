from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import know_session, put
from ralph.past.log import a_loop, lives, starts

from dashboard.contexts import NOW, Sessions
from sisyphus.paths import project_id
from sisyphus.times import iso

if TYPE_CHECKING:
    from starlette.testclient import TestClient

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} \"'&"


class Tags(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture
def world(home: Path, project: Path) -> Sessions:
    return Sessions(home, project)


def _page(browser: TestClient, path: str) -> str:
    reply = browser.get(path)
    assert reply.status_code == 200, reply.text
    return str(reply.text)


def _is_harmless(page: str) -> bool:
    tags = Tags(page)
    handlers = [name for _, attributes in tags.found for name in attributes if name[:2] == "on"]
    styles = [1 for _, attributes in tags.found if "style" in attributes]
    scripts = [attributes.get("src") for attributes in tags.of("script")]
    own = all(src and src.startswith("/static/") for src in scripts)
    return own and not (handlers or styles) and not [i for i in tags.of("img") if i["src"] == "x"]


def test_where_nothing_was_seen_the_page_says_what_to_do(browser: TestClient) -> None:
    page = _page(browser, "/context")
    assert "No session was seen yet" in page
    assert "Nothing was handed over yet" in page


def test_each_session_has_a_meter_and_its_level(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.fill(10, 88)
    page = _page(browser, "/context")
    (meter,) = Tags(page).of("progress")
    assert meter == {
        "class": "level-2",
        "max": "100",
        "value": "88",
        "aria-label": "Context of session s1",
    }
    assert "L2 Checkpoint" in page
    assert 'href="/context/s1"' in page


def test_more_than_there_can_be_is_a_full_meter(browser: TestClient, world: Sessions) -> None:
    put(world.home / ".claude/.sisyphus/config.toml", "[checkpoint]\nwindow = 10000\n")
    world.seen()
    world.fill(90)
    page = _page(browser, "/context")
    assert Tags(page).of("progress")[0]["value"] == "100"
    assert "1800 %" in page


def test_sessions_without_a_transcript_are_said_to_be_there(
    browser: TestClient, world: Sessions
) -> None:
    for session in ("s1", "s2", "s3"):
        world.seen(session)
    assert "no transcript any more of the sessions" in _page(browser, "/context")
    world.fill(10)
    assert "no transcript any more of 2 other sessions" in _page(browser, "/context")


def test_a_session_is_drawn_over_time_with_its_levels(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.fill(40, 80, 10, 20)
    page = _page(browser, "/context/s1")
    tags = Tags(page)
    assert [re.sub(r"\D+$", "", text) for text in re.findall(r"L\d [\d.]+ %", page)] == [
        "L1 70",
        "L2 85",
        "L3 95",
    ]
    assert len([line for line in tags.of("line") if line["class"] == "mark"]) == 1
    assert "<title>Compacted at 80 %</title>" in page
    assert page.count("<circle") == 4
    assert "4 values from 10 % to 80 %, the last one 20 %" in page


def test_the_curve_can_be_read_as_a_table(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.fill(40, 80, 10)
    page = _page(browser, "/context/s1")
    assert re.findall(r'<td class="num">(.*?)</td>', page) == [
        "80,000", "40.0", "160,000", "80.0", "20,000", "10.0",
    ]  # fmt: skip
    assert "at 160,000 tokens (80.0 %)" in page


def test_a_session_shows_what_it_handed_over(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.fill(40)
    world.hand_over(task="Ship it")
    world.hand_over("s2", next_step="Another's")
    put(world.project / ".claude/handoffs/a.md", "# Handoff: ship it\n")
    page = _page(browser, "/context/s1")
    assert '<pre class="text" tabindex="0"># Handoff: ship it\n</pre>' in page
    assert "Write the tests" in page
    assert "Another&#39;s" not in page


def test_a_session_without_a_transcript_has_a_page(browser: TestClient, world: Sessions) -> None:
    world.seen()
    page = _page(browser, "/context/s1")
    assert "The client has no transcript of this session any more" in page
    assert "<svg" not in page


def test_a_session_that_has_not_answered_has_a_page(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.ask()
    assert "The model has not answered in this session yet" in _page(browser, "/context/s1")


UNKNOWN = [
    "/context/s9",
    "/context/..%2fs1",
    "/context/%00",
    "/context/" + "a" * 300,
    "/context/%ed%a0%80",
    "/handoffs/shop-12345678/0000000000000000",
    "/handoffs/..%2f..%2fetc/passwd",
]


@pytest.mark.parametrize("path", UNKNOWN)
def test_what_is_not_known_is_not_found(browser: TestClient, world: Sessions, path: str) -> None:
    world.seen()
    world.fill(10)
    reply = browser.get(path)
    assert reply.status_code == 404
    assert reply.headers["content-type"].startswith("text/html")


def test_a_handoff_has_a_page(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.hand_over(given_to="s2", active=False, closed="delivered", given_at=iso(NOW + 60))
    put(world.project / ".claude/handoffs/a.md", "# Handoff: ship it\n")
    listed = _page(browser, "/context")
    (address,) = re.findall(r'href="(/handoffs/[^"]+)"', listed)
    page = _page(browser, address)
    assert "# Handoff: ship it" in page
    assert 'href="/context/s2"' in page
    assert "delivered" in page


def test_one_whose_file_is_gone_says_so(browser: TestClient, world: Sessions) -> None:
    world.seen()
    world.hand_over()
    (address,) = re.findall(r'href="(/handoffs/[^"]+)"', _page(browser, "/context"))
    assert "The text cannot be shown" in _page(browser, address)


def test_what_others_wrote_is_text_and_no_more(
    browser: TestClient, home: Path, tmp_path: Path
) -> None:
    """In the texts of a handoff, a project's name, a model's, a client's, and a loop's."""
    root = tmp_path / "<script>alert(1)<" / "img src=x onerror=alert(2)>"
    root.mkdir(parents=True)
    world = Sessions(home, root)
    world.seen(client=HOSTILE)
    world.fill(10, 20)
    for number, field in enumerate(
        ("next_step", "task", "level", "given_to", "loop_id", "occasion")
    ):
        world.hand_over("s1", timestamp=iso(NOW - number - 1), **{field: HOSTILE})
    world.hand_over(HOSTILE, handoff_file=f".claude/handoffs/{'x'.join(HOSTILE.split('/'))}.md")
    world.hand_over()
    put(root / ".claude/handoffs/a.md", HOSTILE)
    listed = _page(browser, "/context")
    addresses = set(re.findall(r'href="(/handoffs/[^"]+)"', listed))
    assert len(addresses) == 8
    pages = [listed, *(_page(browser, path) for path in [*sorted(addresses), "/context/s1"])]
    assert all("alert(1)" in page for page in pages)
    assert all(map(_is_harmless, pages))
    assert "{{ 7 * 7 }}" in pages[-1]


def test_the_api_tells_the_same(program: TestClient, world: Sessions) -> None:
    world.seen()
    world.fill(40, 80)
    world.hand_over()
    put(world.project / ".claude/handoffs/a.md", "# Handoff\n")
    every = program.get("/api/context").json()
    (row,), (handed,) = every["sessions"], every["handoffs"]
    one = program.get("/api/context/s1").json()
    assert (row["percent"], one["percent"], len(one["points"])) == (80, 80, 2)
    assert one["handoffs"] == [handed]
    address = f"/api/handoffs/{project_id(str(world.project))}/{handed['id']}"
    assert program.get(address).json() == {**handed, "text": "# Handoff\n", "problem": ""}


@pytest.mark.parametrize("path", ["/api/context/s9", "/api/handoffs/x/y", "/api/context/%00"])
def test_the_api_says_what_it_does_not_know(program: TestClient, path: str) -> None:
    reply = program.get(path)
    assert (reply.status_code, reply.json()["error"]) == (404, "NOT_FOUND")


def test_a_loop_of_the_session_stands_there_as_on_its_own_page(
    world: Sessions, browser: TestClient
) -> None:
    world.seen()
    lives(starts(a_loop()))
    know_session(world.ours, "s1", pid=999_999_999, process_started="1")
    badge = '<span class="badge badge-paused">left behind</span>'
    assert badge in browser.get("/loops/aaaaa").text
    assert badge in browser.get("/context/s1").text
