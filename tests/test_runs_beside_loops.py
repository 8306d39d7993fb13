"""A run among what knew loops alone: hooks in its sessions, lists, commands, what waits for the
user, and what is kept of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_statusline import line
from test_work import client
from world import World, agent, typed, user

from sisyphus import work
from sisyphus.ground import processes
from sisyphus.ground.store import Store, open_store
from sisyphus.ground.text import iso
from sisyphus.handoff import handoffs
from sisyphus.hook.session import Session
from sisyphus.loops import history, iterations, lifecycle, loops, transcripts
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import Counters, Options, Work
from sisyphus.loops.runs import Run, RunState
from sisyphus.sessions import retention

GONE = "999999999 1"
"""A process that does not exist."""

PLAN = "# Kiln\n\n- [ ] stack\n- [ ] fire\n"
TODO, DONE = ["glaze", "fire", "sell", "rest", "sweep"], ["wedge", "throw", "trim"]


@contextmanager
def opened(world: World) -> Iterator[Store]:
    store = open_store(str(world.ours))
    try:
        yield store
    finally:
        store.close()


def begin(
    world: World,
    session: str = "s1",
    *,
    id: str = "aB3xY",
    project: str = "",
    is_at_work: bool = True,
    ended: str = "",
    status: str = "active",
    why: str = "",
    **fields: Any,
) -> str:
    """A run in its fifth iteration, as the runner has left it in the store; returns its id.
    session: the id that the runner gave to the client; "" = none yet."""
    now = time.time()
    project = project or str(world.project)
    with opened(world) as store, store.write():
        stands = RunState(item="glaze", todo=TODO, done=DONE)
        runner = processes.key(os.getpid()) if is_at_work else GONE
        run = Run(
            id, project, "Fill the kiln.\nMore.", Options("DONE", 50), now - 720,
            Counters(5, tokens=900), state=stands, runner=runner, client=runner,
        )  # fmt: skip
        loops.insert(store, run)
        if session:
            run.session = Session.ensure(store, "claude-code", session, "", project, now).n
        if ended:
            run.end(ended, why, now)
        elif status != "active":
            run.pause(status, why, now)
        for name, value in fields.items():
            setattr(run.state, name, value)
        loops.save(store, run)
    return id


def change(world: World, id: str) -> Work:
    """The row of a run, as a runner reads it again."""
    with opened(world) as store:
        loop = loops.find(store, id)
        assert loop is not None
        return loop


def test_sessions_of_a_run_are_named_by_their_iterations(world: World) -> None:
    id = begin(world, "s4", finished=4)
    world.write_down(user("# Task: Fill the kiln."), session="s3")
    world.start("s3")
    with opened(world) as store, store.write():
        entry = Iteration(3, time.time(), "continue", "", item="trim")
        iterations.record(store, change(world, id), Session.find(store, "s3").n, entry)
    world.start("s9")

    rows = {each["session_id"]: each for each in world.cli("sessions", "--json").json["sessions"]}
    out = world.cli("sessions").out

    assert {name: (row["run"], row["iteration"], row["item"]) for name, row in rows.items()} == {
        "s3": (id, 3, "trim"), "s4": (id, 5, "glaze"), "s9": (None, None, None),
    }  # fmt: skip
    assert f"    Run {id}, iteration 3: trim\n" in out
    assert f"    Run {id}, iteration 5: glaze\n" in out


# ---------------------------------------------------------------- hooks in its sessions


def test_a_session_of_a_run_may_always_stop(world: World) -> None:
    world.write("PLAN.md", PLAN)
    begin(world)
    world.start()
    assert world.cli("enforce", "on").code == 0
    world.cli("boulder", "hold", "on")
    world.write_down(agent("So far."), typed("Fix it. --completion-promise DONE"))
    world.prompt(text="# Task: Fill the kiln.")

    assert world.stop("So far.").is_silent
    assert world.hook("idle", world.stop_payload("So far.")).is_silent
    assert world.loops()[-1]["loop_id"] == "aB3xY"


def test_enforcement_has_no_say_in_a_run(world: World) -> None:
    begin(world)
    world.cli("enforce", "on")

    assert "nforce" not in world.start().message
    assert "nforce" in world.start("s2").message
    gates = world.cli("enforce", "status", "--session-id", "s1", "--json").json["gates"]
    assert [each["is_open"] for each in gates if each["gate"] == "loop or hold"] == [False]


def test_when_the_run_has_ended_its_session_is_one_as_others(world: World) -> None:
    begin(world, ended="success", why="done")
    world.loop()

    assert world.stop("So far.").reason


def test_a_session_of_a_run_starts_without_plan_notices_and_news_of_loops(world: World) -> None:
    world.write("PLAN.md", PLAN)
    with client(world):
        world.loop(session="other")
    begin(world)
    with opened(world) as store:
        store.run("INSERT INTO notice VALUES ('look here')")

    reply = world.start()

    assert "Kiln" not in reply.text + reply.message
    assert "look here" not in reply.message
    assert "left behind" not in reply.message
    assert world.plan()["state"] != "complete"
    follows = "SELECT plan FROM session WHERE id = 's1'"
    with opened(world) as store:
        assert store.one(follows) == (None,)
    later = world.start("s2").message
    assert "look here" in later
    assert "left behind" in later


@pytest.mark.parametrize("source", ["compact", "resume"])
def test_nor_after_a_compaction(world: World, source: str) -> None:
    world.write("PLAN.md", PLAN)
    begin(world)
    world.start()

    assert "Kiln" not in world.start(source=source).text


def test_the_model_starts_no_loop_in_a_run(world: World) -> None:
    begin(world)
    world.start()

    reply = world.skill("sisyphus:ralph-loop", "Fix it. --completion-promise DONE")
    command = world.cli("ralph", "start", "--session-id", "s1", "--", "Fix it.")

    assert "No Ralph loop was started. This session works at a run" in reply.text
    assert command.code == 1
    assert "This session works at a run" in command.err
    assert [each["kind"] for each in world.loops()] == ["run"]


def test_a_failed_turn_and_a_dialog_of_a_run_wait_for_nobody(world: World) -> None:
    begin(world)
    world.start()
    world.cli("enforce", "on")
    values: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}
    for fields in ({}, {"agent_id": "a1", "agent_type": "Explore"}):
        world.hook(
            "permission-request", world.payload("PermissionRequest.Write", **values, **fields)
        )
    world.hook("stop-failure", world.stop_payload("API Error: 529 Overloaded"))
    with opened(world) as store:
        store.run("UPDATE session SET dialog_at = dialog_at - 60")

    assert world.cli("status", "--json").json["waiting"] == []


# ---------------------------------------------------------------- handoffs


def test_a_full_context_of_a_run_is_handed_over_and_the_session_ends(world: World) -> None:
    id = begin(world)
    world.start()
    begun = time.time()
    for name, at in (("earlier.py", begun - 300), ("now.py", begun + 0.001)):
        os.utime(world.write(name), (at, at))
    world.fill(72)
    assert "CCS_WARNING|L1|72" in world.work().text
    world.fill(87)

    reply = world.work()

    assert "CCS_CHECKPOINT_TRIGGERED|L2|87" in reply.text
    assert "and stop: a session with an empty context goes on from there." in reply.text
    assert world.stop("Handed over.").is_silent
    (file,) = (world.project / ".claude/handoffs").glob("*.md")
    assert id in file.name
    text = file.read_text()
    assert f"{id}, iteration 5 of 50" in text
    assert "Fill the kiln." in text
    assert "glaze" in text
    assert "now.py" in text
    assert "earlier.py" not in text


def test_a_commit_at_a_checkpoint_names_the_iteration_of_the_run(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\nwip_commit = true\n")
    begin(world)
    world.start()
    world.fill(87)

    assert "`ralph: checkpoint iter 5 (L2 at 87%)`" in world.work().text


def test_a_compaction_writes_a_handoff_which_its_own_session_gets(world: World) -> None:
    begin(world)
    world.start()
    world.fill(40)
    world.hook("pre-compact", world.payload("PreCompact.manual"))

    assert "This session goes on from the handoff" in world.start(source="compact").message


@pytest.mark.parametrize("is_run_over", [False, True])
def test_nobody_takes_the_handoff_of_a_run(world: World, is_run_over: bool) -> None:
    """The run itself goes on from it, and one that has ended has nothing to hand over."""
    id = begin(world)
    world.start()
    world.fill(87)
    world.work()
    world.hook("session-end", world.payload("SessionEnd.other"))
    if is_run_over:
        world.cli("ralph", "cancel", id)

    reply = world.start("s2")

    assert "This session goes on from the handoff" not in reply.message


def with_ended_run(world: World, session: str = "s1") -> None:
    """A run whose last iteration was this session, the last used of the project."""
    id = begin(world, session)
    world.start(session)
    world.fill(40, session=session)
    world.hook("session-end", world.payload("SessionEnd.other", session))
    world.cli("ralph", "cancel", id)


@pytest.mark.parametrize("is_over", [False, True])
def test_a_terminal_means_no_iteration_of_an_ended_run(world: World, is_over: bool) -> None:
    world.start("mine")
    world.fill(40, session="mine")
    if is_over:
        world.hook("session-end", world.payload("SessionEnd.other", "mine"))
    with_ended_run(world)

    assert "Session: mine\n" in world.cli("handoff").out
    assert world.cli("context", "--json").json["session_id"] == "mine"
    assert world.cli("why", "--json").json["session"] == "mine"


def test_a_run_that_has_ended_has_nothing_to_hand_over(world: World) -> None:
    with_ended_run(world)

    assert "All sessions here are of runs that have ended." in world.cli("handoff").err

    answer = world.cli("handoff", "--session-id", "s1")
    assert "No session gets it by itself: its work has ended." in answer.out
    assert "CONTEXT CHECKPOINT RESUME" not in world.start("s2").text


def test_a_session_of_a_run_that_somebody_goes_on_with_is_theirs(world: World) -> None:
    with_ended_run(world)
    world.start(source="resume")
    world.fill(41)

    assert "Session: s1\n" in world.cli("handoff").out
    world.hook("session-end", world.payload("SessionEnd.other"))
    assert "CONTEXT CHECKPOINT RESUME" in world.start("s2").text


def test_the_only_open_session_is_meant(world: World) -> None:
    world.start("open")
    world.start("later")
    world.hook("session-end", world.payload("SessionEnd.other", "later"))

    assert "Session: open\n" in world.cli("handoff").out


def test_a_session_of_a_run_takes_no_handoff_of_others(world: World) -> None:
    world.loop(session="other")
    world.fill(87, session="other")
    world.work("other")
    world.hook("session-end", world.payload("SessionEnd.other", "other"))
    begin(world)

    assert "handoff" not in world.start().message
    with opened(world) as store:
        assert handoffs.left_in(store, str(world.project), Session())


# ---------------------------------------------------------------- lists


def test_the_list_shows_runs(world: World) -> None:
    begin(world)
    waits = f"Run `sisyphus ralph run --resume` in {world.project} to continue."
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({}, "active, iteration 5 of 50, 3 of 8 items", ""),
        ({"is_at_work": False}, "left behind, iteration 5 of 50, 3 of 8 items",
         f"Its process is gone. {waits}"),
        ({"is_at_work": False, "status": "paused", "why": "you paused it"},
         "paused (you paused it), iteration 5 of 50, 3 of 8 items", waits),
        ({"status": "paused", "why": "you paused it"},
         "paused (you paused it), iteration 5 of 50, 3 of 8 items",
         "It stops after this iteration."),
        ({"is_at_work": False, "status": "blocked", "why": "the password"},
         "blocked (the password), iteration 5 of 50, 3 of 8 items", waits),
        ({"is_at_work": False, "status": "stuck", "why": "no progress"},
         "stuck (no progress), iteration 5 of 50, 3 of 8 items", waits),
        ({"todo": [], "done": []}, "active, iteration 5 of 50", ""),
    ]  # fmt: skip
    for number, (fields, how, what) in enumerate(cases):
        id = begin(world, f"s{number}", id=f"aaaa{number}", **fields)
        lines = world.cli("ralph", "list", id).out.splitlines()
        is_active = how.startswith("active")
        item = ", works at: glaze" if is_active else ""
        expected = [f"{id}  {how}", "    Fill the kiln.", f"    run in {world.project}{item}"]
        assert lines == expected + ([f"    {what}"] if what else []), fields
    assert len(world.cli("ralph", "list").out.split("Fill the kiln.")) == len(cases) + 2


def test_the_list_as_json(world: World) -> None:
    world.loop(session="other")
    begin(world)

    loop, run = world.loops()

    assert (loop["kind"], loop["session_id"]) == ("loop", "other")
    assert "items" not in loop
    shown = ("kind", "session_id", "iteration", "item", "is_at_work", "status", "items")
    assert [run[name] for name in shown] == [
        "run", "s1", 5, "glaze", True, "active", {"completed": 3, "total": 8},
    ]  # fmt: skip
    by_session = json.loads(world.cli("ralph", "list", "--session-id", "s1", "--json").out)
    assert [each["loop_id"] for each in by_session] == ["aB3xY"]


def test_log_shows_a_run_and_its_iterations(world: World) -> None:
    id = begin(world, ended="success", why="all is done")
    with opened(world) as store, store.write():
        run = loops.find_run(store, id)
        assert run is not None
        first = Iteration(
            1, time.time(), "continue", "the check failed", 151_000, seconds=11.4, files=2,
            percent=12, item="glaze", is_done=True, cost=0.305,
        )  # fmt: skip
        iterations.record(store, run, run.session, first)
        iterations.record(
            store,
            run,
            run.session,
            Iteration(2, time.time(), "completed", "the promise was said", seconds=0.2),
        )

    assert "aB3xY  run, complete, 2 iterations: Fill the kiln." in world.cli("ralph", "log").out
    (ended,) = world.ended()
    assert (ended["kind"], ended["session_id"], ended["outcome"]) == ("run", "s1", "success")
    shown = world.cli("ralph", "log", id).out.splitlines()
    assert shown[0].endswith("1: continue, the check failed")
    assert shown[1] == (
        "    glaze (done), 11 s, 151,000 tokens, 12 % of the context, 2 files changed, $0.30"
    )
    assert shown[2].endswith("2: completed, the promise was said")
    assert shown[3] == "    0 s"
    rows = json.loads(world.cli("ralph", "log", id, "--json").out)
    assert [(row["item"], row["is_done"], row["percent"]) for row in rows] == [
        ("glaze", True, 12), ("", False, 0),
    ]  # fmt: skip
    figures = world.cli("ralph", "log", "--stats", "--json").json
    assert (figures["loops"], figures["success_rate"], figures["tokens"]["most"]) == (1, 1, 900)


def test_a_run_without_iterations_says_so(world: World) -> None:
    id = begin(world, "")

    assert world.cli("ralph", "log", id).out == "No iteration has ended yet.\n"
    assert json.loads(world.cli("ralph", "list", "--json").out)[0]["session_id"] is None


def test_status_shows_the_runs_of_the_project(world: World) -> None:
    begin(world)
    begin(world, "s9", id="else1", project=str(world.new_project("elsewhere")))

    shown = world.cli("status").out
    (run,) = world.cli("status", "--json").json["runs"]

    assert "Run aB3xY: active, iteration 5 of 50, 3 of 8 items, 12 min: Fill the kiln.\n" in shown
    assert "else1:" not in shown
    assert "No loop is running" not in shown
    assert (run["loop_id"], run["item"], run["status"]) == ("aB3xY", "glaze", "active")


def test_what_a_client_has_used_so_far_counts_wherever_its_run_is_shown(world: World) -> None:
    id = begin(world, cost=1.5)
    with opened(world) as store, store.write():
        run = loops.find_run(store, id)
        assert run is not None
        run.tokens, run.cost = 600, 0.25
        loops.save_process(store, run)
        status = work.of(store, run, time.time())

    (shown,) = world.cli("status", "--json").json["runs"]

    assert (status.tokens, status.cost) == (1_500, 1.75)
    assert shown["tokens"] == 1_500


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "run 5/50 3/8"),
        ({"is_at_work": False}, "run 5/50 3/8 left behind"),
        ({"status": "stuck", "is_at_work": False}, "run 5/50 3/8 stuck"),
        ({"todo": [], "done": []}, "run 5/50"),
    ],
)
def test_the_status_line_shows_the_run_of_the_project(
    world: World, fields: dict[str, Any], shown: str
) -> None:
    world.start("s2")
    begin(world, **fields)

    assert shown in line(world, session="s2").strip().split(" | ")


def test_the_status_line_shows_no_run_of_another_project(world: World) -> None:
    world.start("s2")
    begin(world, project=str(world.new_project("elsewhere")))

    assert "run" not in line(world, session="s2")


# ---------------------------------------------------------------- what waits for the user


@pytest.mark.parametrize(
    ("fields", "kind", "text"),
    [
        ({}, "left", "Run aB3xY was left behind at iteration 5: Fill the kiln."),
        ({"status": "paused", "why": "you"}, "paused", "Run aB3xY is paused: you"),
        ({"status": "blocked", "why": "a key"}, "blocked", "Run aB3xY needs you: a key"),
        ({"status": "stuck", "why": "no way"}, "stuck", "Run aB3xY is paused: no way"),
        ({"ended": "fatal_error", "why": "no credit"}, "fatal_error",
         "Run aB3xY has ended: no credit"),
    ],
)  # fmt: skip
def test_a_run_that_does_not_work_waits_for_the_user(
    world: World, fields: dict[str, Any], kind: str, text: str
) -> None:
    begin(world, is_at_work=False, **fields)

    (each,) = world.cli("status", "--json").json["waiting"]

    assert (each["kind"], each["text"], each["loop_id"]) == (kind, text, "aB3xY")
    assert f"`sisyphus ralph run --resume` in {world.project}" in each["answer"]
    assert text in world.cli("status").out


@pytest.mark.parametrize(
    "what", ["started_at", "resumed_at", "began_at", "heard_at", "iteration", "session"]
)
def test_a_run_is_left_since_it_was_last_seen_at_work(world: World, what: str) -> None:
    began = time.time() - 720
    last = float(int(began) + 60)
    id = begin(world, is_at_work=False)
    with opened(world) as store, store.write():
        run = loops.find_run(store, id)
        assert run is not None
        run.started_at = last if what == "started_at" else began
        run.counters.resumed_at = last * (what == "resumed_at")
        run.state.began_at = last * (what == "began_at")
        run.heard_at = last * (what == "heard_at")
        ended_at = last if what == "iteration" else began + 1
        iterations.record(store, run, 0, Iteration(1, ended_at, "continue", ""))
        seen_at = last if what == "session" else began + 2
        store.run("UPDATE session SET seen_at = ? WHERE n = ?", seen_at, run.session)
        loops.save(store, run)

    (each,) = world.cli("status", "--json").json["waiting"]

    assert each["since"] == iso(last)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"status": "paused", "why": "you"},
        {"ended": "success", "is_at_work": False},
        {"ended": "cancelled", "is_at_work": False},
        {"ended": "limit", "is_at_work": False},
    ],
)
def test_a_run_that_works_or_is_over_does_not(world: World, fields: dict[str, Any]) -> None:
    begin(world, **fields)

    assert world.cli("status", "--json").json["waiting"] == []


def test_a_failed_run_waits_until_another_begins_or_it_is_deleted(world: World) -> None:
    id = begin(world, ended="fatal_error", why="no credit", is_at_work=False)
    begin(world, "s9", id="else1", project=str(world.new_project("elsewhere")))
    assert len(world.cli("status", "--json").json["waiting"]) == 1

    begin(world, "s2", id="later")
    assert world.cli("status", "--json").json["waiting"] == []

    world.cli("ralph", "cancel", "later")
    assert world.cli("ralph", "delete", "later").code == 0
    assert len(world.cli("status", "--json").json["waiting"]) == 1
    assert world.cli("ralph", "delete", id).out == f"Deleted run {id}.\n"
    assert world.cli("status", "--json").json["waiting"] == []


# ---------------------------------------------------------------- commands


def test_a_run_is_cancelled_paused_and_resumed_by_its_row(world: World) -> None:
    id = begin(world)
    world.loop(session="other")

    assert world.cli("ralph", "pause", id).out.splitlines() == [
        f"Run {id} is paused: you paused it. Run `sisyphus ralph run --resume` in {world.project} "
        "to continue.",
        "It stops after this iteration.",
    ]
    assert change(world, id).status == "paused"
    assert world.cli("ralph", "resume", id).out == f"Run {id} is running again.\n"
    assert change(world, id).status == "active"
    cancelled = world.cli("ralph", "cancel", id).out
    assert cancelled == f"Run {id} was cancelled at iteration 5: Fill the kiln.\n"
    assert change(world, id).result == "cancelled"
    assert [each["kind"] for each in world.loops()] == ["loop"]


def test_what_is_done_to_a_run_leaves_its_session_alone(world: World) -> None:
    world.start("other")
    world.stop(session="other")
    id = begin(world, "other", status="paused", why="you paused it")
    stops = "SELECT stops FROM session WHERE id = 'other'"
    with opened(world) as store, store.write():
        store.run("UPDATE session SET stops = json_object('blocks', 3, 'standstill', 'x')")
        before = store.one(stops)
    world.cli("ralph", "resume", id)

    with opened(world) as store:
        assert store.one(stops) == before


def test_a_run_whose_row_somebody_has_deleted_spoils_no_list(world: World) -> None:
    id = begin(world, ended="complete", why="all is done")
    with opened(world) as store, store.write():
        store.run("DELETE FROM run")

    assert id in world.cli("ralph", "log").out
    assert world.cli("status").code == 0
    assert id in world.cli("ralph", "list", id).out


def test_a_run_without_a_process_is_resumed_by_starting_one(world: World) -> None:
    id = begin(world, is_at_work=False, status="blocked", why="a key")

    answer = world.cli("ralph", "resume", id)

    assert answer.code == 1
    assert f"No process works at run {id} any more" in answer.err
    assert f"`sisyphus ralph run --resume` in {world.project}" in answer.err
    assert change(world, id).status == "blocked"


def test_a_run_that_was_left_behind_stops_after_no_iteration(world: World) -> None:
    id = begin(world, is_at_work=False)

    assert "after this iteration" not in world.cli("ralph", "pause", id).out
    assert change(world, id).status == "paused"


def test_a_run_is_not_moved_to_a_session(world: World) -> None:
    id = begin(world)
    world.start("s2")
    before = change(world, id).session

    answer = world.cli("ralph", "resume", id, "--session-id", "s2")

    assert (answer.code, change(world, id).session) == (1, before)
    assert f"Run {id} starts sessions of its own" in answer.err


def test_without_an_id_a_loop_goes_before_a_run_of_the_same_project(world: World) -> None:
    begin(world)
    world.loop(session="other")

    world.cli("ralph", "cancel")
    assert [each["kind"] for each in world.loops()] == ["run"]
    assert "Run aB3xY was cancelled" in world.cli("ralph", "cancel").out


def test_without_an_id_one_of_several_runs_is_asked_for(world: World) -> None:
    begin(world)
    begin(world, "s2", id="other")

    answer = world.cli("ralph", "cancel")

    assert answer.code == 1
    assert "Several are meant" in answer.err
    assert len(world.loops()) == 2


def test_the_model_cannot_cancel_its_run(world: World) -> None:
    id = begin(world)
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    world.setenv("CLAUDECODE", "1")

    for command in ("cancel", "pause"):
        assert world.cli("ralph", command, id).code == 1
    assert change(world, id).is_active


def test_a_run_that_has_not_ended_is_not_deleted(world: World) -> None:
    id = begin(world, is_at_work=False)

    assert world.cli("ralph", "delete", id).code == 1
    assert change(world, id).is_active


# ---------------------------------------------------------------- files and retention


def logged(world: World) -> list[tuple[str, str, str | None]]:
    """The lines of `sessions.jsonl`: session, status, outcome."""
    with opened(world) as store:
        lifecycle.export(store, Session())
    file = world.ours / "logs/sessions.jsonl"
    lines = [json.loads(each) for each in file.read_text().splitlines()]
    return [(each["session_id"], each["status"], each.get("outcome")) for each in lines]


def test_the_log_of_sessions_has_runs(world: World) -> None:
    id = begin(world, "")
    assert logged(world) == [("", "active", None)]
    with opened(world) as store, store.write():
        run = loops.find_run(store, id)
        assert run is not None
        run.session = Session.ensure(store, "claude-code", "s5", "", run.project, 1.0).n
        run.end("limit", "its 60 minutes are up", time.time())
        loops.save(store, run)

    assert logged(world)[1:] == [("s5", "completed", "limit")]
    assert len(logged(world)) == 2


def test_a_run_that_is_resumed_after_its_end_gets_a_new_start_line(world: World) -> None:
    id = begin(world, ended="limit", why="its time is up")
    assert len(logged(world)) == 2
    with opened(world) as store, store.write():
        loop = change(world, id)
        loop.status, loop.result, loop.ended_at = "active", "", None
        loops.save(store, loop)
        history.forget(store, loop)

    assert logged(world)[2:] == [("s1", "active", None)]
    assert len(logged(world)) == 3
    world.cli("ralph", "cancel", id)
    assert logged(world)[3:] == [("s1", "completed", "cancelled")]


def test_old_runs_that_have_ended_go_with_their_rows_and_transcripts(world: World) -> None:
    begin(world, is_at_work=False, id="still")
    id = begin(world, "s2", ended="fatal_error", why="no credit")
    with opened(world) as store:
        run = loops.find_run(store, id)
        assert run is not None
        iterations.record(store, run, run.session, Iteration(1, 1.0, "fatal", "no credit"))
        history.export(store)
    transcript = world.write(world.ours / "ralph/transcripts" / f"{id}_iter_1.txt")

    with opened(world) as store:
        retention.remove_old(store, 30, time.time() + 31 * 24 * 3600)
        counts = [store.one(f"SELECT count(*) FROM {name}") for name in ("run", "iteration")]
        assert counts == [(1,), (0,)]
        assert [each.id for each in loops.runs(store)] == ["still"]
    assert not transcript.exists()
    assert "left behind" in world.cli("ralph", "list", "still").out


@pytest.mark.parametrize(
    ("percents", "left"), [([30, 20], None), ([30, 0, 20], None), ([30, 20, 25], 2), ([90] * 4, 0)]
)
def test_context_says_how_many_iterations_are_left(
    world: World, percents: list[int], left: int | None
) -> None:
    id = begin(world)
    with opened(world) as store, store.write():
        run = loops.find_run(store, id)
        assert run
        for number, percent in enumerate(percents, 1):
            iterations.record(
                store,
                run,
                run.session,
                Iteration(number, 1.0, "continue", "", percent=percent),
            )
    world.start()
    world.fill(40)

    data = world.cli("context", "--json").json

    assert (data["item"], data["iterations_left"]) == ("glaze", left)
    assert ("Iterations Left" in world.cli("context").out) == (left is not None)


def test_status_shows_the_run_that_ended_last_for_a_day(world: World) -> None:
    id = begin(world, ended="max_iterations", why="iteration 5 was the last")

    answer = world.cli("status").out
    assert f"Run {id} has ended: iteration 5 was the last" in answer
    assert "Report:" not in answer  # its process was killed before it wrote one

    report = Path(transcripts.report_file(id))
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text("# Run\n")
    assert f"{id}_report.md" in world.cli("status").out

    begin(world, id="cD4zW")
    assert "has ended" not in world.cli("status").out


def test_the_prompt_of_a_run_is_no_word_of_the_user(world: World) -> None:
    begin(world)
    world.start()
    world.write_down(user("# Task: Fill the kiln.\n\nWe decided to glaze first instead of last."))
    world.fill(87)
    world.work()

    (document,) = (world.project / ".claude" / "handoffs").glob("*.md")
    text = document.read_text()
    assert "Later Instructions" not in text
    assert "glaze first" not in text
