from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import journal
from ralph.past.log import a_loop, ran

from sisyphus.dashboard.views import fresh_run
from sisyphus.dashboard.views import loop as views
from sisyphus.paths import our_home
from sisyphus.state.files import ensure_folder, write_text

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from sisyphus.dashboard.desk import Desk

HOSTILE = "<script>alert(1)</script>"


def _run(run_id: str, name: str, **more: object) -> None:
    folder = os.path.join(our_home(), "ralph", "runs")
    ensure_folder(folder)
    raw = {"loop_id": run_id, "task_name": "Shop", "status": "completed", "judged": 2, **more}
    write_text(os.path.join(folder, f"{name}.json"), json.dumps(raw))


def _session(session: str, run_id: str, at: int) -> None:
    line = {"at": at, "event": "session-start", "ms": 1, "sent": 0, "blocked": False, "notes": []}
    journal(session, {**line, "project": "/home/me/shop", "client": "claude", "run": run_id})


def test_a_run_is_found_by_its_id_wherever_it_lies(desk: Desk) -> None:
    _run("first", "first", task_name="Older")
    _run("later", "shop-00000000", reason="all items are done")
    _session("s1", "later", 1_795_000_000)
    _session("s2", "later", 1_795_000_900)
    older, later = fresh_run.find(desk, "first"), fresh_run.find(desk, "later")
    assert older is not None
    assert later is not None
    assert (older["task"], later["state"]) == ("Older", "Completed: all items are done.")
    assert [one["session_id"] for one in later["sessions"]] == ["s2", "s1"]
    assert later["counts"].startswith("2 iterations")


def test_a_loop_names_the_run_that_its_session_is_of(desk: Desk) -> None:
    ran(a_loop())
    _session("s1", "later", 1_795_000_000)
    assert views.loop(desk, "aaaaa")["run"] == "later"


@pytest.mark.parametrize("run_id", ["zzzzz", "../first", "", "shop-00000000"])
def test_nothing_else_is_a_run(desk: Desk, run_id: str) -> None:
    _run("first", "shop-00000000")
    assert fresh_run.find(desk, run_id) is None


def test_its_page_stands_where_a_loop_of_its_id_would(browser: TestClient) -> None:
    _run("first", "first", prompt=HOSTILE, task_name=HOSTILE, todo_items=[HOSTILE], reason=HOSTILE)
    reply = browser.get("/loops/first")
    assert (reply.status_code, "<script>alert" in reply.text) == (200, False)
    assert "alert(1)" in reply.text
