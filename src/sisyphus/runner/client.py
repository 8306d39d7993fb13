"""Runs the client on a prompt, and follows it until it ends or has to be ended."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from functools import partial

from sisyphus import clients
from sisyphus.clients.reports import CLIENT, Denied, Failure, Report
from sisyphus.ground import log, processes
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display, is_id
from sisyphus.ground.record import Record
from sisyphus.ground.text import iso, one_line
from sisyphus.ground.worktree import is_ours
from sisyphus.handoff import handoffs
from sisyphus.hook.event import EDIT, WRITE
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.loops.runs import Run
from sisyphus.runner import decide, messages, project_files, worktrees
from sisyphus.runner.drive import Drive
from sisyphus.runner.process import ClientProcess
from sisyphus.runner.telemetry import labels
from sisyphus.sessions import sessions

_NOTED_SECONDS = 5.0
"""How often it is noted what the agent does."""

_ACTION_CHARACTERS = 200
_ENDS_SOON = "The run ends after this iteration. Ctrl-C again ends it now."

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
    def passing(self) -> Failure | None:
        """Returns the failure if it passes by itself; None = there is none, or it does not."""
        return self.failure if self.failure and self.failure.passes else None

    @property
    def error(self) -> str:
        """Says why it did not end by itself; "" = it did."""
        if self.failure:
            return self.failure.text
        return self.end.why if self.end else ""


def run_client(drive: Drive, prompt: str, *, is_audit: bool = False) -> ClientResult:
    """Runs the client on a prompt."""
    run, began = drive.run, time.monotonic()
    report, known = Report(), sessions.newest(drive.store)
    try:
        process = _start(drive, prompt, report, is_audit=is_audit)
    except OSError as error:
        why = f"the client cannot be started: {error.strerror or error}"
        return ClientResult(report, Failure(CLIENT, why), 0.0)
    if run.setup.client_command:
        report.accepts = partial(_is_own, drive, process.pid, known)
    try:
        run.client, run.action, run.percent, run.heard_at = process.name, "", 0, time.time()
        run.tokens, run.cost = 0, 0.0
        _save(drive)
        process.go()
        end = _follow(drive, process, report)
    finally:
        code, errors = process.close()
    run.client = ""
    worktrees.restore(drive)
    headless = clients.headless(run.seat.client)
    failure = None if end else headless.failure(report, code, errors, time.time())
    return ClientResult(report, failure, time.monotonic() - began, end)


def _start(drive: Drive, prompt: str, report: Report, *, is_audit: bool) -> ClientProcess:
    """Starts the client. Its session is known before its first hook asks, unless the client makes
    the id itself."""
    run, project = drive.run, drive.run.project
    headless = clients.headless(run.seat.client)
    command: str | list[str] = run.setup.client_command
    if not command:
        session = report.chosen = headless.new_session()
        program = headless.program(project)
        if not program:
            raise FileNotFoundError(errno.ENOENT, messages.no_client(headless.PROGRAM, project))
        if session:
            _name_session(drive, session)
        else:
            run.session = 0
        if is_audit:
            command = headless.audit_command(program, session)
        else:
            command = headless.command(program, session, run.seat.mode)
    data = prompt.encode("utf-8", "replace")
    environ = headless.environment()
    return ClientProcess(command, run.folder, data, environ | labels(run, environ), run.mark)


def _follow(drive: Drive, process: ClientProcess, report: Report) -> End | None:
    """Reads what a client reports until it ends, or until we have to end it; says why."""
    headless = clients.headless(drive.run.seat.client)
    heard_at = time.monotonic()
    end = None
    while not (process.is_over or end):
        for line in process.lines(_STEP_SECONDS):
            headless.feed(report, line)
            heard_at = time.monotonic()
            _note_session(drive, report)
        _note_action(drive, report)
        _note_handoff(drive)
        drive.screen.show(drive.run, report, time.time())
        if drive.signals.take_news() and not drive.state.only:
            drive.screen.say(_ENDS_SOON)
        silence = time.monotonic() - heard_at
        is_late = silence > drive.settings["runner.background_seconds"] or _why_over(drive)
        if report.has_ended and is_late:
            break  # it waits for what its agent left in the background, for ever for a server
        end = _why_end(drive, report, silence)
    process.end()
    for line in process.lines(_STEP_SECONDS):
        headless.feed(report, line)
    return end


def _why_end(drive: Drive, report: Report, silence: float) -> End | None:
    """Returns why a client has to be ended; None = it may go on. silence: since when it has
    reported nothing, in seconds."""
    if denied := _refused_edit(report, drive.folder):
        return End(why_denied(denied, drive.run), denied)
    limit = int(drive.settings["runner.silence_seconds"])
    if 0 < limit <= silence:
        log.write(f"the client was silent for {limit} s and was ended")
        return End(f"the client reported nothing for {limit:,} s")
    why = _why_over(drive)
    return End(why, is_cut=True) if why else None


def _why_over(drive: Drive) -> str:
    """Returns why the client has to end now; "" = it may go on."""
    if drive.signals.ends_now:
        return drive.signals.why
    whole = loops.find_run(drive.store, drive.run.owner)
    if whole is None or whole.ended_at is not None:
        return messages.CANCELLED
    return decide.minutes(whole, time.time())


# ---------------------------------------------------------------- its session


def _is_own(drive: Drive, client: int, known: int, id: str) -> bool:
    """Tells whether a session can be that of the user's own command, which may be any program: one
    that passes on what an agent says must not name the session of somebody else, because no loop
    or hold keeps the sessions of a run from stopping.

    client: the process of the command, which leads a session of processes. known: the number of the
    last session that was known when it began.
    """
    store = drive.store
    session = Session.find(store, id)
    if session.n in (0, drive.run.session):
        return True
    if processes.is_alive(session.process):
        return processes.is_below(session.process, client, drive.run.mark)
    if session.n <= known and (loops.hold_of(store, session) or not session.is_over):
        return False
    return not loops.live(store, session)


def _note_session(drive: Drive, report: Report) -> None:
    """Notes a session whose id we did not choose."""
    if is_id(report.session):
        known = Session.load(drive.store, drive.run.session).id
        if known != report.session:
            _name_session(drive, report.session)


def _note_action(drive: Drive, report: Report) -> None:
    """Notes what the agent did last, for those who watch from elsewhere."""
    run, now = drive.run, time.time()
    if 0 <= now - run.heard_at < _NOTED_SECONDS:
        return
    lines = report.last_action.splitlines()
    run.action = masked_line(lines[-1], _ACTION_CHARACTERS) if lines else ""
    run.percent, run.heard_at = report.peak, now
    run.tokens, run.cost = report.tokens, report.cost
    _save(drive)


def _note_handoff(drive: Drive) -> None:
    """Notes that the session has handed its work over, for programs that read `ralph-state.json`
    before the iteration has ended."""
    run, known = drive.run, drive.state.checkpoint.get("timestamp")
    handoff = handoffs.open_of(drive.store, Session.load(drive.store, run.session))
    if handoff is None or drive.state.is_auditing or known == iso(handoff.at):
        return
    with drive.change():
        drive.state.checkpoint = project_files.checkpoint(handoff, drive.state.item)
    drive.export()


def _name_session(drive: Drive, id: str) -> None:
    with drive.store.write():
        drive.run.session = Session.ensure(
            drive.store, drive.run.seat.client, id, "", drive.folder, time.time()
        ).n
        loops.save_process(drive.store, drive.run)


def _save(drive: Drive) -> None:
    """Notes the processes. The row of the loop stays as it is: the user may have changed it."""
    with drive.store.write():
        loops.save_process(drive.store, drive.run)


# ---------------------------------------------------------------- edits that were not allowed


def first_edit(report: Report) -> Denied | None:
    """Returns the first edit that the client did not allow, wherever it was."""
    return next(_edits(report), None)


def why_denied(call: Denied, run: Run) -> str:
    """Says why a run ends at an edit that was not allowed, and the strictest permission mode that
    would have allowed it."""
    seat, project = run.seat, run.folder
    headless = clients.headless(seat.client)
    mode, is_inside = headless.EDITING_MODE, call.target.startswith(f"{project}/")
    if not is_inside or headless.is_refused(call.target, project, mode):
        mode = headless.FREE_MODE
    option = f"--permission-mode {run.setup.with_mode(seat.client, mode)}"
    way = f": {option} allows it" if seat.mode != mode else ""
    return f"the client did not let the agent edit {one_line(display(call.target, project))}{way}"


def _refused_edit(report: Report, project: str) -> Denied | None:
    """Returns the first edit of the project that the client did not allow. Our own files do not
    count: a run goes on without them."""
    inside = (each for each in _edits(report) if each.target.startswith(f"{project}{os.sep}"))
    return next((each for each in inside if not is_ours(each.target, project)), None)


def _edits(report: Report) -> Iterator[Denied]:
    return (each for each in report.denied if each.action in (EDIT, WRITE))
