from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from ralph.past.log import known

from dashboard.api import stand
from sisyphus.paths import our_home, project_id
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import history, records
from sisyphus.ralph.store import folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.testclient import TestClient

HERE = "/api/sessions/aaaaa"
ACTIONS = ("cancel", "pause", "resume", "archive")
SHOP = project_id("/home/me/shop")


def _results() -> dict[str, str]:
    return {record.loop_id: record.result for record in known()}


def test_all_loops_are_listed(program: TestClient) -> None:
    stand.over("old", minute=1)
    stand.active("new", "s2")
    found = program.get("/api/sessions").json()
    counts = [found[name] for name in ("total", "active_count", "page", "pages")]
    assert counts == [2, 1, 1, 1]
    assert {one["loop_id"] for one in found["sessions"]} == {"old", "new"}


def test_a_row_says_what_the_history_knows(program: TestClient) -> None:
    stand.over()
    [row] = program.get("/api/sessions").json()["sessions"]
    [record] = known()
    assert {name: row[name] for name in record.as_json()} == record.as_json()
    assert (row["has_checklist"], row["checklist_progress"]) == (False, None)


@pytest.mark.parametrize(
    ("make", "status", "merged"),
    [
        pytest.param(stand.active, "active", "active", id="active"),
        pytest.param(stand.paused, "paused", "active", id="paused"),
        pytest.param(stand.lost, "lost", "orphaned", id="lost"),
        pytest.param(stand.over, "completed", "success", id="ended"),
    ],
)
def test_states_have_the_words_of_other_dashboards_too(
    program: TestClient, make: Callable[[], lp.Loop], status: str, merged: str
) -> None:
    make()
    row = program.get(HERE).json()
    assert (row["status"], row["merged_status"]) == (status, merged)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        pytest.param("", ["ccccc", "bbbbb", "aaaaa"], id="all, the newest first"),
        pytest.param("state=active", ["ccccc"], id="active"),
        pytest.param("state=archived", ["bbbbb", "aaaaa"], id="archived"),
        pytest.param("outcome=cancelled", ["bbbbb"], id="an outcome"),
        pytest.param("sort=oldest", ["aaaaa", "bbbbb", "ccccc"], id="the oldest first"),
        pytest.param(f"project={SHOP}", ["ccccc", "bbbbb", "aaaaa"], id="a project"),
        pytest.param("q=tests+PASS", ["ccccc", "bbbbb", "aaaaa"], id="words"),
        pytest.param("q=bbbbb", ["bbbbb"], id="an id"),
        pytest.param("limit=2", ["ccccc", "bbbbb"], id="a page"),
        pytest.param("limit=2&page=2", ["aaaaa"], id="the page after it"),
        pytest.param("limit=2&page=9", [], id="behind the last page"),
    ],
)
def test_loops_can_be_chosen(program: TestClient, query: str, ids: list[str]) -> None:
    stand.over("aaaaa")
    stand.over("bbbbb", lp.CANCELLED, minute=1)
    stand.active("ccccc", "s2", minute=2)
    found = program.get(f"/api/sessions?{query}").json()["sessions"]
    assert [one["loop_id"] for one in found] == ids


def test_who_reads_page_by_page_comes_to_an_end(program: TestClient) -> None:
    stand.over("aaaaa")
    found = program.get("/api/sessions?page=99").json()
    assert (found["sessions"], found["page"], found["pages"], found["total"]) == ([], 99, 1, 1)


def test_the_list_tells_how_active_loops_stand(program: TestClient) -> None:
    stand.over("aaaaa")
    stand.active("ccccc", "s2", minute=2)
    rows = {row["loop_id"]: row for row in program.get("/api/sessions").json()["sessions"]}
    names = ("health", "paused_by", "paused_since", "waiting", "last_stop_at")
    assert [rows["aaaaa"][name] for name in names] == [None] * 5
    assert [rows["ccccc"][name] for name in names] == ["alive", "", None, {}, None]
    assert rows["ccccc"]["options"]["max_minutes"] == 1_440


@pytest.mark.parametrize(
    "query",
    ["state=no", "sort=no", "limit=0", "limit=501", "limit=x", "page=0", f"page={'9' * 5_000}",
     f"q={'x' * 501}", "limit="],
)  # fmt: skip
def test_what_cannot_be_chosen_is_refused(program: TestClient, query: str) -> None:
    reply = program.get(f"/api/sessions?{query}")
    assert (reply.status_code, reply.json()["error"]) == (400, "INVALID_REQUEST")


def test_a_loop_that_has_not_ended_says_how_it_stands(program: TestClient) -> None:
    loop = stand.paused()
    current = program.get(HERE).json()["current"]
    assert (current["paused_by"], current["iteration"]) == (lp.BY_USER, 1)
    assert (current["prompt"], current["waiting"]) == (loop.prompt, {})


def test_one_that_has_ended_does_not(program: TestClient) -> None:
    stand.over()
    assert program.get(HERE).json()["current"] is None


def test_the_checklist_is_summed_up(program: TestClient) -> None:
    stand.must(stand.active(), "tests pass", "it is told", "it is fast", done=2)
    row = program.get(HERE).json()
    assert (row["has_checklist"], row["checklist_progress"]) == (True, "2/3 criteria")


@pytest.mark.parametrize(
    ("make", "action", "result"),
    [
        pytest.param(stand.active, "cancel", lp.CANCELLED, id="cancel"),
        pytest.param(stand.paused, "cancel", lp.CANCELLED, id="cancel a paused one"),
        pytest.param(stand.active, "pause", records.PAUSED, id="pause"),
        pytest.param(stand.paused, "resume", records.ACTIVE, id="resume"),
        pytest.param(stand.lost, "archive", lp.ARCHIVED, id="archive"),
    ],
)
def test_what_is_done_is_done_on_disk(
    program: TestClient, make: Callable[[], lp.Loop], action: str, result: str
) -> None:
    make()
    found = program.post(f"{HERE}/{action}")
    assert (found.status_code, found.json()["success"]) == (200, True)
    assert (found.json()["loop_id"], found.json()["loop_ids"]) == ("aaaaa", ["aaaaa"])
    assert _results() == {"aaaaa": result}
    assert program.get(HERE).json()["status"] == known()[0].status


@pytest.mark.parametrize(
    ("make", "action"),
    [
        *[pytest.param(stand.over, action, id=f"{action} one that ended") for action in ACTIONS],
        pytest.param(stand.lost, "cancel", id="cancel a lost one"),
        pytest.param(stand.lost, "pause", id="pause a lost one"),
        pytest.param(stand.lost, "resume", id="resume a lost one"),
        pytest.param(stand.active, "resume", id="resume an active one"),
        pytest.param(stand.active, "archive", id="archive an active one"),
        pytest.param(stand.paused, "pause", id="pause a paused one"),
    ],
)
def test_what_the_state_does_not_allow_is_refused(
    program: TestClient, make: Callable[[], lp.Loop], action: str
) -> None:
    make()
    before = _results()
    reply = program.post(f"{HERE}/{action}")
    assert (reply.status_code, reply.json()["error"]) == (400, "INVALID_STATE")
    assert _results() == before


def test_nested_loops_end_together(program: TestClient) -> None:
    stand.nested()
    found = program.post("/api/sessions/inner/cancel").json()
    assert set(found["loop_ids"]) == {"inner", "outer"}
    assert "outer" in found["message"]


@pytest.mark.parametrize("make", [stand.over, stand.lost])
def test_a_loop_is_deleted_with_what_it_left(
    program: TestClient, make: Callable[[], lp.Loop]
) -> None:
    loop = make()
    stand.speaks(loop, "hello")
    assert program.delete(HERE).json()["success"] is True
    assert known() == []
    assert os.listdir(iterations.folder(our_home())) == []
    assert program.delete(HERE).status_code == 404


def test_an_active_loop_is_not_deleted(program: TestClient) -> None:
    stand.active()
    reply = program.delete(HERE)
    assert (reply.status_code, reply.json()["error"]) == (400, "INVALID_STATE")
    assert _results() == {"aaaaa": records.ACTIVE}


def test_all_archived_ones_are_deleted(program: TestClient) -> None:
    stand.over("bbbbb")
    stand.over("ccccc")
    stand.active("aaaaa", "s2")
    found = program.delete("/api/sessions").json()
    assert (found["success"], found["deleted_count"]) == (True, 2)
    assert _results() == {"aaaaa": records.ACTIVE}
    assert program.delete("/api/sessions").json()["deleted_count"] == 0


@pytest.mark.parametrize("path", ["/api/sessions/", "/api/sessions//", "/api/sessions/%20"])
def test_an_id_that_was_left_out_is_not_all_of_them(program: TestClient, path: str) -> None:
    stand.over()
    reply = program.delete(path, follow_redirects=True)
    assert reply.status_code in (400, 404)
    assert _results() == {"aaaaa": lp.SUCCESS}


@pytest.mark.parametrize("action", ["", *(f"/{action}" for action in ACTIONS)])
def test_no_such_loop(program: TestClient, action: str) -> None:
    reply = program.request("POST" if action else "DELETE", f"/api/sessions/zzzzz{action}")
    assert (reply.status_code, reply.json()["error"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    "named", ["a%00b", "%ff", "a%20b", "a..b", "%2e%2e%2fa", "x" * 129, "%c3%a9", "a%0Ab"]
)
@pytest.mark.parametrize("rest", ["", "/cancel"])
def test_what_is_no_id_is_no_loop(program: TestClient, named: str, rest: str) -> None:
    reply = program.request("POST" if rest else "GET", f"/api/sessions/{named}{rest}")
    codes = {(400, "INVALID_LOOP_ID"), (404, "NOT_FOUND")}  # %2f parts a path like any slash
    assert (reply.status_code, reply.json()["error"]) in codes
    assert "%2f" in named or reply.status_code == 400


def test_a_failure_of_ours_is_no_matter_of_the_state(program: TestClient) -> None:
    stand.over()
    lock = history.log_path(our_home()) + ".lock"
    if os.path.lexists(lock):
        os.unlink(lock)
    os.makedirs(lock)
    reply = program.delete(HERE)
    assert (reply.status_code, reply.json()["error"]) == (500, "DELETE_FAILED")
    assert _results() == {"aaaaa": lp.SUCCESS}


def test_a_transcript_that_stays_is_told(program: TestClient) -> None:
    stand.over()
    os.makedirs(iterations.full_path(our_home(), "aaaaa"))
    reply = program.delete(HERE)
    assert (reply.status_code, reply.json()["error"]) == (500, "DELETE_FAILED")
    assert "aaaaa_full.txt" in reply.json()["message"]


def test_an_unreadable_state_file_is_no_fault(program: TestClient) -> None:
    stand.lost()
    os.makedirs(folder(our_home()), exist_ok=True)
    os.mkfifo(os.path.join(folder(our_home()), "ralph-loop.s1.local.md"))
    assert program.get(HERE).json()["status"] == "lost"
    reply = program.delete(HERE)
    assert (reply.status_code, reply.json()["error"]) == (400, "INVALID_STATE")
