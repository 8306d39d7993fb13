from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from making import journal, ours

from sisyphus.dashboard.views import journal as view

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

EVIL = '<script>alert("x")</script>'


def _note(session: str, at: float, **fields: object) -> None:
    entry = {"at": 1_795_186_800 + at, "event": "stop", "ms": 4, "notes": [f"note {at:g}"]}
    journal(session, {**entry, **fields})


def test_lines_are_shown_with_their_session_and_project(browser: TestClient, project: Path) -> None:
    _note("session-one", 0, project=str(project), event="session-start")
    _note("session-one", 1, blocked=True, notes=["blocked: open tasks"])
    page = browser.get("/journal").text
    assert 'href="/journal?session=session-one"' in page
    assert f">{project.name}<" in page
    assert page.index("blocked: open tasks") < page.index("note 0")
    assert 'data-topics="journal"' in page
    assert "What hooks cost" in page


def test_older_lines_are_behind_a_link_that_keeps_the_filter(browser: TestClient) -> None:
    for at in range(60):
        _note("s1", at)
    page = browser.get("/journal?session=s1&event=stop&quiet=1").text
    (older,) = re.findall(r'rel="next" href="([^"]+)"', page)
    assert "note 9<" not in page
    second = browser.get(older.replace("&amp;", "&")).text
    assert "note 9<" in second
    assert "note 10<" not in second
    assert 'id="entries">' in second  # what is older does not change
    assert 'value="stop" selected' in second
    assert "checked" in second


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        pytest.param("session=x", 404, "No session with such an id", id="no such session"),
        pytest.param("event=x", 400, "There is no such event: x", id="no such event"),
        pytest.param("event=command", 200, "No line is like that", id="nothing is like that"),
    ],
)
def test_where_nothing_is_found_the_filter_stays(
    browser: TestClient, query: str, status: int, told: str
) -> None:
    _note("s1", 0)
    reply = browser.get(f"/journal?{query}")
    assert reply.status_code == status
    assert told in reply.text
    assert 'class="filters"' in reply.text


def test_what_is_older_than_what_is_looked_at_is_told(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "Older lines: choose a session."
    _note("s1", 0)
    assert told not in browser.get("/journal").text
    monkeypatch.setattr(view, "MOST_LINES_EACH", 1)
    _note("s1", 1)
    assert told in browser.get("/journal").text
    assert told not in browser.get("/journal?session=s1").text


def test_what_hooks_cost_is_of_the_journals_that_are_there(browser: TestClient, home: Path) -> None:
    _note("s1", 0, event="stop")
    _note("s2", 0, event="pre-compact")
    assert ">pre-compact</th>" in browser.get("/journal").text
    assert ">pre-compact</th>" not in browser.get("/journal?session=s1").text
    ours(home, "logs/journal-s2.jsonl").unlink()
    assert ">pre-compact</th>" not in browser.get("/journal").text


def test_without_a_journal_it_says_how_to_get_one(browser: TestClient) -> None:
    assert "No hook did anything yet" in browser.get("/journal").text


def test_what_a_journal_holds_is_text(browser: TestClient) -> None:
    _note("s1", 0, notes=[EVIL], event=EVIL, agent=EVIL, project=f"/{EVIL}")
    for address in ("/journal", "/journal?session=s1", f"/journal?session={EVIL}"):
        assert "<script>alert" not in browser.get(address).text
