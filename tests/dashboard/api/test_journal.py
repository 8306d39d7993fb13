from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import journal

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def _note(session: str, at: float) -> None:
    journal(session, {"at": at, "event": "stop", "ms": 4, "notes": [f"note {at:g}"]})


def test_the_journal_is_answered_page_by_page(program: TestClient) -> None:
    for at in (1, 2, 3):
        _note("s1", at)
    first = program.get("/api/journal?count=2&session=s1").json()
    assert [row["said"] for row in first["entries"]] == [["note 3"], ["note 2"]]
    second = program.get(f"/api/journal?count=2&session=s1&before={first['older']}").json()
    assert [row["said"] for row in second["entries"]] == [["note 1"]]
    assert (second["session_id"], second["older"]) == ("s1", None)


REFUSED = [
    pytest.param("session=x", 404, "NOT_FOUND", id="a session that is not there"),
    pytest.param("session=..%2Fx", 404, "NOT_FOUND", id="a path"),
    pytest.param("event=nope", 400, "INVALID_REQUEST", id="an event that is none"),
    pytest.param("count=0", 400, "INVALID_REQUEST", id="no line"),
    pytest.param("count=501", 400, "INVALID_REQUEST", id="too many lines"),
    pytest.param("before=-1", 400, "INVALID_REQUEST", id="before everything"),
]


@pytest.mark.parametrize(("query", "status", "code"), REFUSED)
def test_what_cannot_be_answered_is_refused(
    program: TestClient, query: str, status: int, code: str
) -> None:
    reply = program.get(f"/api/journal?{query}")
    assert (reply.status_code, reply.json()["error"]) == (status, code)
    assert reply.json()["message"].endswith(".")
