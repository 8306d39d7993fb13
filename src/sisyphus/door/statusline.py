"""Prints one line for the client's status line: plan, loop and context of the session, and the run
of its project.

The client runs it every half minute and gives it JSON on stdin. Only this JSON says how many tokens
the context has and how many fit, so we save these numbers here.
"""

from __future__ import annotations

import os
import time

from sisyphus import clients
from sisyphus.door import kept_line
from sisyphus.ground import log, paths, quick_json, settings
from sisyphus.ground.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO, TextIO

    from sisyphus.boulder.plan_status import PlanStatus
    from sisyphus.ground.settings import Values
    from sisyphus.ground.store import Store
    from sisyphus.hook.event import StatusLineInput
    from sisyphus.hook.session import Session

    Leave = Callable[[Store], None]

USAGE = 2
"""The exit code if a person runs it in a terminal. A client always gets 0."""

_MAX_NAME = 30
"""The most characters of a plan's name: there is only one line."""


def run(
    words: list[str],
    stdin: BinaryIO,
    stdout: TextIO,
    stderr: TextIO,
    leave: Leave = lambda store: store.close(),
) -> int:
    """Runs `sisyphus statusline [--client NAME]`; returns the exit code. Prints nothing if it
    fails or gets no input. words: those after `statusline`. leave: gets the store at the end, to
    close it or to keep it open."""
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
            stdout.write(_line(client.NAME, client.read_status(_parse(data)), leave) + "\n")
            stdout.flush()
    except SisyphusError as error:
        log.write(f"statusline: {error}")
    except (Exception, KeyboardInterrupt) as error:
        log.failure("statusline", error)
    return 0


def _parse(data: bytes) -> dict[str, Any]:
    """Raises `SisyphusError` if the data is not a JSON object."""
    try:
        raw = quick_json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SisyphusError(f"its input is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise SisyphusError("its input is not a JSON object")
    return raw


def _line(client: str, status: StatusLineInput, leave: Leave) -> str:
    """Returns the line that was kept, if nothing has changed since, or a new one."""
    project = paths.project_of(status.folder)
    our_home, now = paths.our_home(project), time.time()
    file = kept_line.path(our_home, client, status.session)
    before = kept_line.key(our_home, project, status, os.environ)
    if file and (kept := kept_line.load(file, before, now)) is not None:
        return kept
    line, plan, is_lasting = _new_line(our_home, client, project, status, leave)
    if file and before == kept_line.key(our_home, project, status, os.environ):
        seconds = kept_line.LASTING if is_lasting else kept_line.BRIEF
        kept_line.save(file, before, plan, line, (now, seconds))
    return line


def _new_line(
    our_home: str, client: str, project: str, status: StatusLineInput, leave: Leave
) -> tuple[str, str, bool]:
    """Returns the line; the file of the plan in it, or ""; and whether the line stays the same as
    long as that file and the database do: another plan may take the place of one that the session
    does not follow."""
    from sisyphus.boulder import which  # imported late: a kept line needs none of it
    from sisyphus.ground.store import open_store
    from sisyphus.sessions.usage import Usage

    store = open_store(our_home)
    try:
        values, _ = settings.load(store, our_home, project, os.environ)
        session = _save_context(store, client, status)
        plan = _plan_of(store, values, project, session, status.folder)
        brief = [*_run(store, values, project), *_enforcement(store, values, project, session)]
        parts = [
            *_plan(plan),
            *_loop(store, values, session),
            *brief,
            *_hold(store, values, session),
        ]
        if status.tokens and status.window:
            used = Usage(status.tokens, status.window)
            level = used.level(values)
            parts.append(f"ctx {used.percent}% L{level}" if level else f"ctx {used.percent}%")
        file = plan.record.path if plan and plan.record else ""
        is_own = bool(file) and which.of_session(store, project, session) is not None
        return " | ".join(parts), file, is_own and not brief
    finally:
        leave(store)


def _save_context(store: Store, client: str, status: StatusLineInput) -> Session:
    """Saves how full the session's context is; returns the session."""
    from sisyphus.hook.session import Session

    session = Session.of_client(store, client, status.session)
    if status.tokens:
        session.context_tokens, session.context_window = status.tokens, status.window
        session.save(store)
    return session


def _plan_of(
    store: Store, values: Values, project: str, session: Session, folder: str
) -> PlanStatus | None:
    if not values["boulder.enabled"]:
        return None
    from sisyphus.boulder import which

    return which.of_project(store, project, session, time.time(), folder)


def _plan(plan: PlanStatus | None) -> Iterator[str]:
    if plan is None or not plan.record or not plan.plan.total:
        return
    from sisyphus.boulder import follow
    from sisyphus.ground.text import one_line

    wave, _ = follow.position(plan.record, plan.plan)
    suffix = f" wave {wave}" if wave is not None else ""
    name = one_line(plan.record.name, _MAX_NAME)
    yield f"{name} {plan.plan.completed}/{plan.plan.total} {plan.percent}%{suffix}"


def _hold(store: Store, values: Values, session: Session) -> Iterator[str]:
    if not (session.n and values["boulder.enabled"]):
        return
    from sisyphus.boulder import holds
    from sisyphus.loops import loops

    if hold := loops.hold_of(store, session):
        limit = f"/{hold.options.max_iterations}" if hold.options.max_iterations else ""
        has_no_work = holds.plan_facts(holds.plan_of(store, hold)).no_work
        waits = " waiting" if has_no_work else ""
        waits = " interrupted" if session.interrupted else waits
        waits = " blocked" if session.rests else waits
        status = waits if hold.is_active else f" {hold.status}"
        yield f"hold {hold.counters.iteration}{limit}{status}"


def _loop(store: Store, values: Values, session: Session) -> Iterator[str]:
    if not (session.n and values["ralph.enabled"]):
        return
    from sisyphus.loops import loops

    if loop := loops.current(store, session):
        limit = f"/{loop.options.max_iterations}" if loop.options.max_iterations else ""
        ended = " failed" if session.failed else ""
        ended = " interrupted" if session.interrupted else ended
        status = ended if loop.is_active else f" {loop.status}"
        yield f"loop {loop.counters.iteration}{limit}{status}"


def _run(store: Store, values: Values, project: str) -> Iterator[str]:
    """Yields the latest run of the project that has not ended: its own sessions have no status
    line."""
    if not values["ralph.enabled"]:
        return
    from sisyphus.loops import loops

    run = next((each for each in loops.runs(store) if each.project == project), None)
    if run is None:
        return
    limit = f"/{run.options.max_iterations}" if run.options.max_iterations else ""
    items = f" {len(run.state.done)}/{run.state.total}" if run.state.total else ""
    left = "" if run.is_at_work else " left behind"
    yield f"run {run.counters.iteration}{limit}{items}{left if run.is_active else f' {run.status}'}"


def _enforcement(store: Store, values: Values, project: str, session: Session) -> Iterator[str]:
    if not (session.n and values["enforce.enabled"]):
        return
    if store.one("SELECT 1 FROM enforced WHERE project = ?", project):
        from sisyphus.enforce import enforcements, state_file

        yield state_file.in_short(enforcements.load(store, session), values, time.time())
