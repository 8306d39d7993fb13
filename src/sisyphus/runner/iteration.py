"""One iteration: runs the client on a prompt, and follows it until it ends or has to be ended."""

from __future__ import annotations

import errno
import os
import time
from functools import partial

from sisyphus import clients
from sisyphus.clients.reports import CLIENT, Denied, Failure, Report
from sisyphus.ground import log, processes
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import is_id
from sisyphus.ground.record import Record
from sisyphus.ground.worktree import is_ours
from sisyphus.hook.event import EDIT, WRITE
from sisyphus.hook.session import Session
from sisyphus.loops import loops, runs
from sisyphus.loops.runs import Run
from sisyphus.runner import decide, messages
from sisyphus.runner.process import ClientProcess
from sisyphus.runner.runner import Runner
from sisyphus.sessions import sessions

_NOTED_SECONDS = 5.0
"""How often it is noted what the agent does."""

ACTION_CHARACTERS = 200

_STEP_SECONDS = 0.2
"""How often the screen is drawn, and how often we look whether the user has cancelled the run."""


class End(Record, frozen=True):
    """Why we have ended a client. denied: the edit for which we did. is_cut: the run has to end, so
    the iteration is to be made again."""

    why: str
    denied: Denied | None = None
    is_cut: bool = False


class ClientResult(Record, frozen=True):
    """What one client process came to. failure: None = it did not fail, or we have ended it.
    seconds: how long it ran. end: None = it ended by itself, or had nothing more to say."""

    report: Report
    failure: Failure | None
    seconds: float
    end: End | None = None

    @property
    def is_cut(self) -> bool:
        return self.end is not None and self.end.is_cut

    @property
    def why_ended(self) -> str:
        return self.end.why if self.end else ""


NOTHING = Report()
"""The report of a client that does not run."""


def run_client(runner: Runner, run: Run, prompt: str, *, is_audit: bool = False) -> ClientResult:
    """Runs the client on a prompt."""
    began = time.monotonic()
    report, known = Report(), sessions.newest(runner.store)
    try:
        process = _start(runner, run, prompt, is_audit=is_audit)
    except OSError as error:
        return ClientResult(report, Failure(CLIENT, messages.not_started(error)), 0.0)
    if run.options.client_command:
        report.accepts = partial(_is_own, runner, run, process.pid, known)
    try:
        run.client, run.action, run.percent, run.heard_at = process.name, "", 0, time.time()
        _save(runner, run)
        process.go()
        end = _follow(runner, run, process, report)
    finally:
        code, errors = process.close()
    run.client = ""
    headless = clients.headless(run.options.client)
    failure = None if end else headless.failure(report, code, errors, time.time())
    return ClientResult(report, failure, time.monotonic() - began, end)


def _follow(runner: Runner, run: Run, process: ClientProcess, report: Report) -> End | None:
    """Reads what a client reports until it ends, or until we have to end it; says why."""
    headless = clients.headless(run.options.client)
    heard_at = time.monotonic()
    end = None
    while not (process.is_over or end):
        for line in process.lines(_STEP_SECONDS):
            headless.feed(report, line)
            heard_at = time.monotonic()
            _note_session(runner, run, report)
        _note_action(runner, run, report)
        runner.screen.show(run, report, time.time())
        if runner.signals.take_news():
            runner.screen.say(messages.STOPS_AFTER_ITERATION)
        silence = time.monotonic() - heard_at
        is_late = silence > runner.settings["runner.background_seconds"] or _why_over(runner, run)
        if report.has_ended and is_late:
            break  # it waits for what its agent left in the background, for ever for a server
        end = _why_end(runner, run, report, silence)
    process.end()
    for line in process.lines(_STEP_SECONDS):
        headless.feed(report, line)
    return end


def _why_end(runner: Runner, run: Run, report: Report, silence: float) -> End | None:
    """Returns why a client has to be ended; None = it may go on. silence: since when it has
    reported nothing, in seconds."""
    if denied := refused_edit(report, run):
        return End(why_denied(denied, run), denied)
    limit = int(runner.settings["runner.silence_seconds"])
    if 0 < limit <= silence:
        log.write(f"the client was silent for {limit} s and was ended")
        return End(messages.silent(limit))
    why = _why_over(runner, run)
    return End(why, is_cut=True) if why else None


def _start(runner: Runner, run: Run, prompt: str, *, is_audit: bool) -> ClientProcess:
    """Starts the client. Its session is known before its first hook asks, unless the client makes
    the id itself."""
    headless = clients.headless(run.options.client)
    command: str | list[str] = run.options.client_command
    if not command:
        session = headless.new_session()
        program = headless.program(runner.project)
        if not program:
            raise FileNotFoundError(
                errno.ENOENT, messages.no_client(headless.PROGRAM, runner.project)
            )
        if session:
            _name_session(runner, run, session)
        else:
            run.session = 0
        if is_audit:
            command = headless.audit_command(program, session)
        else:
            command = headless.command(program, session, run.options.permission_mode)
    data = prompt.encode("utf-8", "replace")
    return ClientProcess(command, runner.project, data, headless.environment(), run.mark)


def _is_own(runner: Runner, run: Run, client: int, known: int, id: str) -> bool:
    """Tells whether a session can be that of the user's own command, which may be any program: one
    that passes on what an agent says must not name the session of somebody else, because no loop
    or hold keeps the sessions of a run from stopping.

    client: the process of the command, which leads a session of processes. known: the number of the
    last session that was known when it began.
    """
    store = runner.store
    session = Session.find(store, id)
    if session.n in (0, run.session):
        return True
    if processes.is_alive(session.process):
        return processes.is_below(session.process, client, run.mark)
    if session.n <= known and (loops.hold_of(store, session) or not session.is_over):
        return False
    return not loops.live(store, session)


def _note_session(runner: Runner, run: Run, report: Report) -> None:
    """Notes a session whose id we did not choose."""
    if is_id(report.session):
        known = Session.load(runner.store, run.session).id
        if known != report.session:
            _name_session(runner, run, report.session)


def _note_action(runner: Runner, run: Run, report: Report) -> None:
    """Notes what the agent did last, for those who watch from elsewhere."""
    now = time.time()
    if 0 <= now - run.heard_at < _NOTED_SECONDS:
        return
    lines = report.last_action.splitlines()
    run.action = masked_line(lines[-1], ACTION_CHARACTERS) if lines else ""
    run.percent, run.heard_at = report.peak, now
    _save(runner, run)


def _name_session(runner: Runner, run: Run, id: str) -> None:
    with runner.store.write():
        run.session = Session.ensure(
            runner.store, run.options.client, id, "", runner.project, time.time()
        ).n
        runs.save_process(runner.store, run)


def _save(runner: Runner, run: Run) -> None:
    """Notes the processes. The row of the loop stays as it is: the user may have changed it."""
    with runner.store.write():
        runs.save_process(runner.store, run)


def _why_over(runner: Runner, run: Run) -> str:
    """Returns why the client has to end now; "" = it may go on."""
    if runner.signals.ends_now:
        return messages.INTERRUPTED
    loop = loops.find(runner.store, run.loop.id)
    if loop is None or loop.ended_at is not None:
        return messages.CANCELLED
    return decide.minutes(loop, time.time())


def first_edit(report: Report) -> Denied | None:
    """Returns the first edit that the client did not allow, wherever it was."""
    return next((each for each in report.denied if each.action in (EDIT, WRITE)), None)


def why_denied(call: Denied, run: Run) -> str:
    """Says why a run ends at an edit that was not allowed, and what allows it."""
    return messages.denied(call, run, _allowing_mode(call, run))


def _allowing_mode(call: Denied, run: Run) -> str:
    """Returns the strictest permission mode that would have allowed an edit."""
    headless, project = clients.headless(run.options.client), run.loop.project
    is_inside = call.target.startswith(f"{project}/")
    edits = headless.EDITING_MODE
    if is_inside and not headless.is_refused(call.target, project, edits):
        return edits
    return headless.FREE_MODE


def refused_edit(report: Report, run: Run) -> Denied | None:
    """Returns the first edit of the project that the client did not allow. Our own files do not
    count: a run goes on without them."""
    project = run.loop.project
    edits = (each for each in report.denied if each.action in (EDIT, WRITE))
    inside = (each for each in edits if each.target.startswith(f"{project}{os.sep}"))
    return next((each for each in inside if not is_ours(each.target, project)), None)
