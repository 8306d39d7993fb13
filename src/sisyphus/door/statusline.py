"""Prints one line for the client's status line: plan, loop and context of the session, and the run
of its project.

The client runs it every few seconds and gives it JSON on stdin. Only this JSON says how many tokens
the context has and how many fit, so we save these numbers here.
"""

from __future__ import annotations

import json
import os
import time

from sisyphus import clients
from sisyphus.ground import log, paths, settings
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.store import open_store
from sisyphus.sessions.usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO, TextIO

    from sisyphus.ground.settings import Values
    from sisyphus.ground.store import Store
    from sisyphus.hook.event import Status

USAGE = 2
"""The exit code if a person runs it in a terminal. A client always gets 0."""

_MAX_NAME = 30
"""The most characters of a plan's name: there is only one line."""


def run(words: list[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs `sisyphus statusline [--client NAME]`; returns the exit code. Prints nothing if it
    fails or gets no input. words: those after `statusline`."""
    if stdin.isatty():
        stderr.write(
            "error: the client runs this and gives it JSON on stdin; put "
            '{"type": "command", "command": "sisyphus statusline"} under "statusLine" in its '
            "settings, or run `sisyphus install`\n"
        )
        return USAGE
    if settings.is_disabled(os.environ):
        return 0
    try:
        client = clients.payload(clients.option(words))
        if data := stdin.read():
            stdout.write(_line(client.NAME, client.read_status(_parse(data))) + "\n")
    except SisyphusError as error:
        log.write(f"statusline: {error}")
    except (Exception, KeyboardInterrupt) as error:
        log.failure("statusline", error)
    return 0


def _parse(data: bytes) -> dict[str, Any]:
    """Raises `SisyphusError` if the data is not a JSON object."""
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SisyphusError(f"its input is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise SisyphusError("its input is not a JSON object")
    return raw


def _line(client: str, status: Status) -> str:
    project = paths.project_of(status.folder)
    store = open_store(paths.our_home(project))
    try:
        values, _ = settings.load(store, paths.our_home(project), project, os.environ)
        session = _save_context(store, client, status)
        parts = [
            *_plan(store, values, project, session, status.folder),
            *_loop(store, values, session),
            *_run(store, values, project),
            *_enforcement(store, values, project, session),
            *_hold(store, values, session),
        ]
        if status.tokens and status.window:
            level = Usage(status.tokens, status.window).level(values)
            parts.append(f"ctx {100 * status.tokens // status.window}%{f' L{level}' * bool(level)}")
        return " | ".join(parts)
    finally:
        store.close()


def _save_context(store: Store, client: str, status: Status) -> int:
    """Saves how full the session's context is; returns the number of the session's row, 0 = it has
    none."""
    row = store.one(
        "SELECT n, context_tokens, context_window FROM session "
        "WHERE client = ? AND id = ? AND agent = ''",
        client, status.session,
    )  # fmt: skip
    if row is None:
        return 0
    session, *saved = row
    if status.tokens and [status.tokens, status.window] != saved:
        store.run(
            "UPDATE session SET context_tokens = ?, context_window = ? WHERE n = ?",
            status.tokens, status.window, session,
        )  # fmt: skip
    return int(session)


def _plan(store: Store, values: Values, project: str, session: int, folder: str) -> Iterator[str]:
    if not values["boulder.enabled"]:
        return
    from sisyphus.boulder import follow, plan_status
    from sisyphus.ground.text import one_line

    plan = plan_status.of_project(store, project, session, time.time(), folder)
    if plan.record and plan.plan.total:
        wave, _ = follow.position(plan.record, plan.plan)
        suffix = f" wave {wave}" if wave is not None else ""
        name = one_line(plan.record.name, _MAX_NAME)
        yield f"{name} {plan.plan.completed}/{plan.plan.total}{suffix}"


def _hold(store: Store, values: Values, session: int) -> Iterator[str]:
    if not (session and values["boulder.enabled"]):
        return
    from sisyphus.boulder import holds
    from sisyphus.loops import loops
    from sisyphus.sessions import stops

    if hold := loops.hold_of(store, session):
        limit = f"/{hold.options.max_iterations}" if hold.options.max_iterations else ""
        has_no_work = holds.plan_facts(holds.plan_of(store, hold)).no_work
        waits = " waiting" if has_no_work else ""
        waits = " interrupted" if stops.is_interrupted(store, session) else waits
        waits = " blocked" if stops.why_rests(store, session) else waits
        status = waits if hold.is_active else f" {hold.status}"
        yield f"hold {hold.counters.iteration}{limit}{status}"


def _loop(store: Store, values: Values, session: int) -> Iterator[str]:
    if not (session and values["ralph.enabled"]):
        return
    from sisyphus.loops import loops
    from sisyphus.sessions import stops

    if loop := loops.current(store, session):
        limit = f"/{loop.options.max_iterations}" if loop.options.max_iterations else ""
        ended = " failed" if stops.failure_of(store, session) else ""
        ended = " interrupted" if stops.is_interrupted(store, session) else ended
        status = ended if loop.is_active else f" {loop.status}"
        yield f"loop {loop.counters.iteration}{limit}{status}"


def _run(store: Store, values: Values, project: str) -> Iterator[str]:
    """Yields the latest run of the project that has not ended: its own sessions have no status
    line."""
    running = "SELECT 1 FROM loop WHERE kind = 'run' AND ended_at IS NULL AND project = ? LIMIT 1"
    if not (values["ralph.enabled"] and store.one(running, project)):
        return
    from sisyphus.loops import loops, runs

    run = next(each for each in loops.runs(store) if each.project == project)
    own = runs.of(store, run)
    limit = f"/{run.options.max_iterations}" if run.options.max_iterations else ""
    items = f" {len(own.state.done)}/{own.state.total}" if own.state.total else ""
    left = "" if own.is_at_work else " left behind"
    yield f"run {run.counters.iteration}{limit}{items}{left if run.is_active else f' {run.status}'}"


def _enforcement(store: Store, values: Values, project: str, session: int) -> Iterator[str]:
    if not (session and values["enforce.enabled"]):
        return
    if store.one("SELECT 1 FROM enforced WHERE project = ?", project):
        from sisyphus.enforce import enforcements, state_file

        yield state_file.in_short(enforcements.load(store, session), values, time.time())
