from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ralph.past.log import a_loop, starts

from dashboard.api import stand
from sisyphus.times import iso

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def test_nothing_has_happened_yet(program: TestClient) -> None:
    found = program.get("/api/overview").json()
    assert (found["active"], found["ended"], found["boulders"]) == ([], [], [])
    assert found["loops"]["success_rate"] is None
    assert found["sessions"]["sessions"] == 0


def test_loops_are_told_as_the_list_tells_them(program: TestClient) -> None:
    stand.over("old")
    stand.active("new", "s2")
    found = program.get("/api/overview").json()
    listed = {one["loop_id"]: one for one in program.get("/api/sessions").json()["sessions"]}
    [active], [ended] = found["active"], found["ended"]
    assert ended == listed["old"]
    assert {**active, "seconds": 0} == {**listed["new"], "seconds": 0}
    assert (found["loops"]["active"], found["loops"]["success_rate"]) == (1, 1.0)


def test_what_waits_for_the_user_is_told(program: TestClient) -> None:
    loop = a_loop()
    loop.started_at = iso(time.time() - 60)
    starts(loop)
    found = program.get("/api/overview").json()["attention"]
    [item] = found["items"]
    assert (found["total"], item["kind"], item["href"]) == (1, "lost", "/loops/aaaaa")
    assert item["command"] == "sisyphus ralph archive aaaaa"
    assert item["since"] == loop.started_at


def test_the_last_fortnight_has_a_row_a_day(program: TestClient) -> None:
    days = program.get("/api/overview").json()["days"]
    assert len(days) == 14
    assert days[0] == {"day": days[0]["day"], "good": 0, "warn": 0, "idle": 0}
