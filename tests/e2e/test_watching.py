"""What the real client's hooks leave, as `why`, `sessions` and `purge` show it."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from e2e.script import say

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk

DAYS = 40 * 86_400


def _old(path: Path) -> Path:
    at = time.time() - DAYS
    os.utime(path, (at, at))
    return path


def test_what_hooks_did_is_shown_by_session(desk: Desk) -> None:
    desk.write("README.md", "# Lighthouse\n")
    run = desk.run("hello", turns=[say("hi")])

    why = desk.sisyphus("why", "--session", run.session[:8])
    assert f"Session {run.session}" in why
    assert "sent README.md (" in why
    found = json.loads(desk.sisyphus("sessions", "--json"))
    [row] = found["sessions"]
    assert (row["session_id"], row["client"]) == (run.session, "claude")
    assert row["project"] == os.path.realpath(desk.project)
    assert row["hooks"] >= 3
    assert row["sent"] > 0


def test_clear_removes_what_is_old_and_nothing_of_the_session(desk: Desk) -> None:
    old = _old(desk.write_home(".sisyphus/opencode/old1.jsonl", "{}\n"))
    run = desk.run("hello", "/clear", "more", turns=[say("hi"), say("yes")])

    assert not old.exists()
    told = [desk.sisyphus("why", "--session", s) for s in _sessions(desk)]
    assert any("removed what was not used for 30 days: 1 file" in text for text in told)
    assert len(told) == 2
    assert run.session in _sessions(desk)


def _sessions(desk: Desk) -> list[str]:
    found = json.loads(desk.sisyphus("sessions", "--json"))
    return [row["session_id"] for row in found["sessions"]]
