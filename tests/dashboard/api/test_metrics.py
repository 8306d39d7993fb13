from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import journal, ours
from ralph.past.log import a_loop, lives, starts

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

    from sisyphus.dashboard.desk import Desk


def _note(session: str) -> None:
    journal(session, {"at": 1, "event": "stop", "ms": 4})


def test_numbers_are_answered_as_prometheus_reads_them(program: TestClient) -> None:
    program.get("/metrics")
    _note("s1")
    reply = program.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'sisyphus_hooks_total{event="stop"} 1\n' in reply.text
    assert reply.text.endswith("\n")


def test_a_counter_does_not_fall_with_a_purge(home: Path, program: TestClient) -> None:
    program.get("/metrics")
    _note("s1")
    program.get("/metrics")
    ours(home, "logs/journal-s1.jsonl").unlink()
    _note("s2")
    text = program.get("/metrics").text
    assert 'sisyphus_hooks_total{event="stop"} 2\n' in text
    assert "sisyphus_sessions 1\n" in text


def test_counters_begin_when_the_dashboard_does(desk: Desk, program: TestClient) -> None:
    _note("s1")
    desk.warm()
    _note("s1")
    text = program.get("/metrics").text
    assert 'sisyphus_hooks_total{event="stop"} 1\n' in text
    assert 'sisyphus_hook_duration_seconds_count{event="stop"} 1\n' in text


@pytest.mark.parametrize("place", ["/api/sessions/aaaaa", "/api/sessions"])
def test_what_ends_and_is_deleted_between_two_looks_is_counted(
    program: TestClient, place: str
) -> None:
    lives(starts(a_loop()))
    program.get("/metrics")
    assert program.post("/api/sessions/aaaaa/cancel").status_code == 200
    assert program.delete(place).status_code == 200
    told = 'sisyphus_loops_ended_total{outcome="cancelled"} 1\n'
    assert told in program.get("/metrics").text
    assert told in program.get("/metrics").text


def test_a_stranger_is_told_no_number(stranger: TestClient) -> None:
    reply = stranger.get("/metrics")
    assert (reply.status_code, reply.json()["error"]) == (401, "UNAUTHORIZED")
