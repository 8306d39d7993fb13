"""The workers of a run in lists, `status`, the dashboard and the report, while they are at work and
when the run has ended before they were done."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from typing import Any

import pytest
from browser import Browser
from test_dashboard import HOSTILE
from test_dashboard_loops import ids
from test_purge import age
from test_run import Process, done
from test_run_jobs import Jobs, jobs
from world import World

from sisyphus.ground import processes
from sisyphus.ground.store import Store, open_store
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, loops
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import LIMIT, Counters, Options
from sisyphus.loops.runs import FailedCheck, ItemCommits, Run, RunOptions, RunState, Worker

__all__ = ["jobs"]

ID = "aB3xY"
FULL = {"tokens": 40_000, "cost": 0.5, "percent": 41}


def opened(world: World) -> closing[Store]:
    return closing(open_store(str(world.ours)))


def add_run(store: Store, world: World, runner: str, now: float) -> Run:
    project = str(world.project)
    run = Run(
        ID, project, "Build the shop.", Options(max_iterations=50), now - 3600,
        Counters(3, tokens=1_000_000), setup=RunOptions(jobs=2, commits=True), runner=runner,
        state=RunState(
            todo=["cart", "total", "receipt"], cost=2.0, worktree=f"{project}-sisyphus-{ID}"
        ),
    )  # fmt: skip
    loops.insert(store, run)
    return run


def add_worker(store: Store, run: Run, number: int, item: str, now: float, **fields: Any) -> Worker:
    """Adds a worker whose third iteration began 4 minutes ago. fields: those of `Worker`, and of
    its state."""
    names = set(RunState.FIELDS) - set(Worker.FIELDS)
    own = {name: fields.pop(name) for name in [*fields] if name in names}
    tree = f"{run.state.worktree}-{number}"
    worker = Worker(
        f"{run.id}-{number}", run.project, run.prompt, Options(max_iterations=0), now - 600,
        Counters(fields.pop("iteration", 1)), runner=run.runner, heard_at=now - 5, **fields,
        state=RunState(only=item, item=item, todo=[item], worktree=tree, is_working=True,
                       began_at=now - 245, **own),
    )  # fmt: skip
    loops.insert(store, worker)
    return worker


def at_work(world: World, runner: str = "", **second: Any) -> float:
    """Adds a run whose first two items two workers are at; returns when. second: what is different
    with the second one."""
    now = time.time()
    runner = runner or processes.key(os.getpid())
    with opened(world) as store, store.write():
        run = add_run(store, world, runner, now)
        session = Session.ensure(store, "claude-code", "s7", "", run.project, now)
        fields = {"action": f"Edit {run.state.worktree}-1/cart.py", "iteration": 2, **FULL}
        add_worker(store, run, 1, "cart", now, session=session.n, client=runner, **fields)
        add_worker(store, run, 2, **{"item": "total", "now": now, **second})
    return now


# ---------------------------------------------------------------- lists


def test_each_worker_is_a_line(world: World) -> None:
    at_work(world, is_merging=True, action="Bash make")

    lines = world.cli("ralph", "list").out.splitlines()
    assert lines[3:] == [
        "    Worker 1: cart, iteration 2, 4 min, context 41 %, Edit cart.py",
        "    Worker 2: total, 4 min, merges",
    ]
    assert world.cli("ralph", "list", ID).out.splitlines() == lines
    assert "\n    Worker 1: cart, iteration 2, 4 min" in world.cli("status").out
    assert "\n      Worker 2: total, 4 min, merges\n" in world.cli("status", "--all").out


def test_a_worker_that_waits_says_until_when(world: World) -> None:
    until = time.time() + 3600
    at_work(world, waits_until=until)

    clock = time.strftime("%H:%M", time.localtime(until))
    assert f"Worker 2: total, 4 min, waits until {clock}\n" in world.cli("ralph", "list").out


def test_what_a_run_has_used_is_what_its_workers_have_used_too(world: World) -> None:
    now = at_work(world)

    for row in (
        world.cli("ralph", "list", ID, "--json").json,
        world.cli("status", "--json").json["runs"][0],
        world.cli("status", "--all", "--json").json["projects"][0]["runs"][0],
    ):
        assert row["tokens"] == 1_040_000
        first, second = row["workers"]
        assert {name: first[name] for name in ("number", "item", "iteration", "action")} == {
            "number": 1, "item": "cart", "iteration": 2, "action": "Edit cart.py",
        }  # fmt: skip
        assert (first["session_id"], second["session_id"]) == ("s7", None)
        assert (first["percent"], first["tokens"], first["is_merging"]) == (41, 40_000, False)
        assert first["worktree"] == f"{world.project}-sisyphus-{ID}-1"
        assert first["since"] < second["heard_at"]
    assert abs(time.time() - now) < 60


def test_a_run_without_workers_has_none(world: World) -> None:
    with opened(world) as store, store.write():
        run = add_run(store, world, processes.key(os.getpid()), time.time())
        run.setup.jobs = 0
        loops.save(store, run)

    assert world.cli("ralph", "list", ID, "--json").json["workers"] == []
    assert "Worker" not in world.cli("ralph", "list").out


def test_the_workers_of_a_run_whose_process_is_gone_are_begun(world: World) -> None:
    """When they last worked is when the run did."""
    at_work(world, runner="1 1", is_merging=True)

    out = world.cli("ralph", "list").out
    assert "Worker 1: cart, iteration 2, begun, context 41 %\n" in out
    assert "Worker 2: total, begun\n" in out
    status = world.cli("status")
    assert "left behind" in status.out
    assert f"Run {ID}: left behind, iteration 3 of 50, 0 of 3 items, 59 min: " in status.out


def test_a_list_of_a_session_has_the_run_of_its_worker(world: World) -> None:
    at_work(world)

    (row,) = json.loads(world.cli("ralph", "list", "--session-id", "s7", "--json").out)
    assert row["loop_id"] == ID


def test_words_of_an_item_are_no_commands_of_the_terminal(world: World) -> None:
    at_work(world, item="a\x1b[31m [red]b[/red]\nc", action="Bash \x1b[2J")

    assert "Worker 2: a [31m [red]b[/red] c, 4 min, Bash [2J\n" in world.cli("ralph", "list").out


# ---------------------------------------------------------------- the dashboard


def test_the_page_of_a_run_has_its_workers(world: World) -> None:
    at_work(world, is_merging=True)
    browser = Browser(world)

    page = browser.page(f"/loops/{ID}")
    assert "Workers each at one item" in page
    assert "1 cart iteration 2 Edit cart.py 4 min ago s7 41 %" in page
    assert "2 total merges 4 min ago" in page
    assert 'href="/sessions/s7"' in browser.get(f"/loops/{ID}").text
    view = browser.json(f"/loops/{ID}")
    assert [each["item"] for each in view["row"]["workers"]] == ["cart", "total"]
    assert [item["state"] for item in view["items"]] == ["now", "now", "open"]
    used = {each["name"]: each["used"] for each in view["limits"]}
    assert (used["tokens"], used["dollars"]) == (1_040_000, 2.5)


def test_workers_are_no_loops_of_the_list(world: World) -> None:
    at_work(world)
    browser = Browser(world)

    assert ids(browser, "/loops") == [ID]
    assert "1 loop, hold or run" in browser.page("/loops")
    assert [row["id"] for row in browser.json("/")["live"]] == [ID]
    assert browser.get(f"/loops/{ID}-1").status_code == 404


def test_a_session_of_a_worker_links_to_its_run(world: World) -> None:
    at_work(world)
    browser = Browser(world)

    (row,) = browser.json("/sessions")["sessions"]
    assert [(each["id"], each["kind"]) for each in row["loops"]] == [(ID, "run")]
    assert (row["loop_count"], row["state"]) == (1, "working")
    assert row["title"] == f"Run {ID}: cart"
    (row,) = world.cli("sessions", "--json").json["sessions"]
    assert (row["run"], row["iteration"], row["item"]) == (ID, None, "cart")
    assert f"    Run {ID}: cart\n" in world.cli("sessions").out
    assert f'href="/loops/{ID}"' in browser.get("/sessions/s7").text


def test_a_session_of_a_worker_and_its_run_is_linked_once(world: World) -> None:
    at_work(world)
    with opened(world) as store, store.write():
        worker = loops.find_run(store, f"{ID}-1")
        assert worker
        iterations.record(store, worker, worker.session, Iteration(1, time.time(), "continue", ""))

    (row,) = Browser(world).json("/sessions")["sessions"]
    assert row["loop_count"] == 1


def test_words_of_workers_stay_words(world: World) -> None:
    at_work(world, item=HOSTILE, action=f"Bash {HOSTILE}")
    text = Browser(world).get(f"/loops/{ID}").text

    assert "<script>alert" not in text
    assert "<img" not in text.partition("<main")[2]
    assert "{{7*7}}" in text


# ---------------------------------------------------------------- how they go


def rows(world: World) -> list[str]:
    with opened(world) as store:
        return [id for (id,) in store.all("SELECT id FROM loop ORDER BY n")]


def test_purge_keeps_the_workers_of_a_run_that_can_go_on(world: World) -> None:
    at_work(world, runner="1 1")
    with opened(world) as store, store.write():
        worker = loops.find_run(store, f"{ID}-1")
        assert worker
        worker.end(LIMIT, "its tokens are used up", time.time())
        loops.save(store, worker)
    age(world, 40)
    world.cli("purge", "--yes")
    assert rows(world) == [ID, f"{ID}-1", f"{ID}-2"]

    with opened(world) as store, store.write():
        run = loops.find_run(store, ID)
        assert run
        run.end(LIMIT, "its tokens are used up", time.time() - 40 * 24 * 3600)
        loops.save(store, run)
        loops.note_logged(store, run, 2)
    assert "Removed: 1 ended run" in world.cli("purge", "--yes").out
    assert rows(world) == []


def test_a_run_that_is_deleted_takes_its_workers_along(world: World) -> None:
    at_work(world, runner="1 1")
    world.cli("ralph", "cancel", ID)
    assert rows(world) == [ID, f"{ID}-1", f"{ID}-2"]  # it can be resumed
    world.cli("ralph", "delete", ID)
    assert rows(world) == []


@pytest.mark.parametrize(("table", "column"), [("run", "state"), ("loop", "counters")])
def test_the_row_of_a_worker_that_cannot_be_read_goes(
    world: World, table: str, column: str
) -> None:
    at_work(world)
    with opened(world) as store, store.write():
        other = loops.find_run(store, f"{ID}-1")
        assert other
        other.state.commits = {"pay": ItemCommits("1a2b3c4", "5d6e7f8", ["make test"])}
        other.state.failed = {"ship": FailedCheck("make ship", "exited 1", "", 1)}
        loops.save(store, other)
        key = "n" if table == "loop" else "loop"
        (n,) = store.one("SELECT n FROM loop WHERE id = ?", f"{ID}-2") or (0,)
        store.run(f"UPDATE {table} SET {column} = '{{' WHERE {key} = ?", n)

    assert "A worker of a run has ended: its row in the database" in world.cli("status").err
    assert rows(world) == [ID, f"{ID}-1"]
    assert "Worker 1: cart" in world.cli("ralph", "list").out


# ---------------------------------------------------------------- handoffs


def test_the_handoff_of_a_worker_names_it_and_its_item(world: World) -> None:
    at_work(world)
    world.fill(40, session="s7")
    world.start("s7")
    with opened(world) as store, store.write():  # a start ends what an earlier process had
        store.run("UPDATE run SET client = ? WHERE session IS NOT NULL", processes.key(os.getpid()))

    context = world.cli("context", "--session-id", "s7", "--json").json
    assert context["item"] == "cart"
    answer = world.cli("handoff", "--session-id", "s7")
    assert answer.code == 0, answer
    (file,) = (world.project / ".claude/handoffs").glob(f"*-{ID}.md")
    assert f"- **Loop**: {ID}, worker 1, iteration 2\n" in file.read_text()


# ---------------------------------------------------------------- the report


HALF: Process = [["write", ["half.py", "half\n"]], ["say", "So far."]]


def test_the_report_names_what_is_begun(jobs: Jobs) -> None:
    answer = jobs.jobs(1, "--max-iterations", "1", items={"cart": [HALF]})

    assert answer.code == 3, answer
    assert "## Begun, and not done\n\n- cart: begun in `" in answer.out
    assert f"sisyphus-{jobs.run_id}-1`\n" in answer.out
    assert (jobs.tree(1) / "half.py").exists()
    assert "Worker 1: cart, begun" in jobs.world.cli("ralph", "list", jobs.run_id).out


def test_a_worktree_with_something_in_it_is_named_when_the_run_is_complete(jobs: Jobs) -> None:
    """A hook of git leaves a file there."""
    jobs.plan("cart")
    jobs.hook("post-commit", "case $PWD in *-1) touch late;; esac")
    answer = jobs.jobs(1, items={"cart": [done("cart")]})

    assert answer.code == 0, answer
    assert jobs.trees == ["-1"]
    assert "The worktree of a worker, `" in answer.out
    assert f"-sisyphus-{jobs.run_id}-1`, stays: something in it is not committed." in answer.out
    assert "Begun, and not done" not in answer.out
