"""The workers of a run, by its own process: which items begin, what comes back from them, and that
all of them end when the run has to.

Each worker is a process (`worker.py`) with a row and a worktree of its own. The row is there as
long as somebody has to work at its item, so whoever resumes the run knows what was begun. Only this
process writes the row of the run, and only the worker its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from subprocess import Popen

from sisyphus.clients.reports import Report
from sisyphus.ground import git, log, processes
from sisyphus.ground.errors import SisyphusError
from sisyphus.loops import iterations, loops
from sisyphus.loops.loop import BLOCKED, FATAL_ERROR, LIMIT, MAX_ITERATIONS, STUCK, SUCCESS
from sisyphus.loops.runs import Worker
from sisyphus.runner import commits, decide, fix_plan, messages, worker_rows
from sisyphus.runner.branch_plan import BranchPlan
from sisyphus.runner.decide import Decision
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.project_files import STATE_VARIABLE

_MODULE = "sisyphus.runner.worker"

_STEP_SECONDS = 0.2
"""How often we look how the workers are."""

_CRASHES = 3
"""How often the process of a worker may end without a word before its item is set aside."""

_OUTPUT_BYTES = 64_000
"""The most that is read at once of what a worker says."""

_STUCK_IN_A_ROW = 2
"""How many items in a row may get stuck before the run stops: it is not about the items then."""

_SHARED_SECONDS = 60.0
"""What makes one worker wait longer than this, in seconds, makes all of them wait: an account's
limit does, and what passes sooner need not."""

_ENDS = {FATAL_ERROR: decide.FATAL, LIMIT: decide.LIMIT, MAX_ITERATIONS: decide.MAX_ITERATIONS}
"""Results of a worker with which the run ends, too → its decision."""


class Team:
    """The workers of a run that our process drives, from `work()` until it returns."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._processes: dict[str, Popen[bytes]] = {}
        self._crashes: dict[str, int] = {}
        self._shown = min(drive.state.finished, iterations.count(drive.store, drive.run))
        self._stuck = 0
        self._end = Decision(decide.CONTINUE, "")
        self._asked_by: signal.Signals | None = None
        self._plan = BranchPlan(drive)

    def work(self) -> Decision:
        """Lets workers do items until none is left that may begin; returns how the run goes on."""
        drive, items = self._drive, self._plan.items()
        with drive.change():
            self._note_items(items)
        try:
            while True:
                self._reap()
                if self._end.goes_on:
                    self._end = drive.before_iteration()
                if self._end.goes_on:
                    self._begin_items()
                else:
                    self._ask_to_end()
                self._show()
                if not self._processes:
                    return self._how_on()
                time.sleep(_STEP_SECONDS)
        finally:
            if self._processes:
                self._end_all()

    def _how_on(self) -> Decision:
        """Returns how the run goes on when nobody is at work."""
        drive, state = self._drive, self._drive.state
        with drive.change():
            state.finished = drive.run.counters.iteration = iterations.count(drive.store, drive.run)
        waits = self._end.goes_on and state.waits_until > time.time()
        return Decision(decide.WAIT, state.waits_for) if waits else self._end

    # ------------------------------------------------------------ what begins

    def _begin_items(self) -> None:
        """Starts workers at the items that may begin, and those again whose process is gone."""
        drive = self._drive
        if drive.state.waits_until > time.time():
            return
        found = loops.workers(drive.store, drive.run)
        waiting = [worker for worker in found if worker.id not in self._processes]
        free = drive.run.setup.jobs - len(self._processes)
        for worker in waiting[: max(free, 0)]:
            self._start(worker)
        free = drive.run.setup.jobs - len(found)
        for item in self._plan.startable(found, free) if free > 0 else ():
            self._start(worker_rows.add(drive, item, self._processes))

    def _start(self, worker: Worker) -> None:
        """Starts the process of a worker. Raises `SisyphusError` if none can be started and nobody
        is at work."""
        # By its own mark the next process finds what this one leaves if it is killed: a check, say.
        marks = (each.mark.partition("=") for each in (self._drive.run, worker))
        environment = {**os.environ, **{name: value for name, _, value in marks}}
        environment.pop(STATE_VARIABLE, None)  # that file is the run's
        asked = {"project": worker.project, "worker": worker.id}
        try:
            process = processes.spawn(_MODULE, asked, environment, subprocess.PIPE)
        except OSError as error:
            if self._processes:
                return  # the system may be out of processes: the next step tries again
            raise SisyphusError(f"no worker can be started: {error.strerror or error}") from error
        assert process.stdout
        os.set_blocking(process.stdout.fileno(), False)
        self._processes[worker.id] = process

    # ------------------------------------------------------------ what comes back

    def _reap(self) -> None:
        """Takes over what has come of workers whose process has ended."""
        drive = self._drive
        for id, process in [*self._processes.items()]:
            has_ended = process.poll() is not None
            self._say(id, process)
            if not has_ended:
                continue
            _close(self._processes.pop(id))
            worker = loops.find_run(drive.store, id)
            if isinstance(worker, Worker):
                self._take_over(worker, process)

    def _take_over(self, worker: Worker, process: Popen[bytes]) -> None:
        """Takes over what has come of a worker, and ends the run if that has to."""
        if worker.is_active:  # it has not come to its end
            self._note_crash(worker, f"exited {process.returncode}")
        elif worker.result == SUCCESS or worker.status in (BLOCKED, STUCK):
            self._settle(worker)
        elif self._end.goes_on and (kind := _ENDS.get(worker.result)):
            self._end = Decision(kind, worker.why)

    def _note_crash(self, worker: Worker, how: str) -> None:
        """Notes that the process of a worker has ended without a word. The last time, its item is
        set aside; the next worker in that worktree keeps what is there. how: as the end of a
        sentence."""
        worker.end_client()
        item = worker.state.only
        self._crashes[item] = self._crashes.get(item, 0) + 1
        log.write(f"the process of worker {worker.id} {how}")
        if self._crashes[item] >= _CRASHES and self._end.goes_on:
            why = f"the process of its worker {how}, {_CRASHES} times"
            worker.pause(STUCK, why, time.time())
            self._settle(worker)

    def _settle(self, worker: Worker) -> None:
        """Notes that nobody has to work at the item of a worker any more."""
        drive = self._drive
        items, tip = self._plan.items(), git.head(drive.folder)
        with drive.change():
            worker_rows.take_over(drive.run, worker)
            drive.state.tip = tip
            drive.note_limits(worker.state.limits)
            self._note_items(items)
            loops.delete(drive.store, worker)
        drive.export()
        self._stuck = self._stuck + 1 if worker.status == STUCK else 0
        if self._end.goes_on and self._stuck >= _STUCK_IN_A_ROW:
            self._end = Decision(decide.STUCK, worker.why)

    def _note_items(self, plan: FixPlan) -> None:
        """Notes the items, unless they could not be read: then all that is known of them stays."""
        if not plan.problem:
            fix_plan.note_changes(plan, self._drive.state)

    # ------------------------------------------------------------ what is shown, and said

    def _say(self, id: str, process: Popen[bytes]) -> None:
        """Shows what a worker has printed."""
        assert process.stdout
        text = process.stdout.read(_OUTPUT_BYTES) or b""
        for line in text.decode("utf-8", "replace").splitlines():
            if line.strip():
                self._drive.screen.say(f"Worker {id.rpartition('-')[2]}: {line}")

    def _show(self) -> None:
        """Shows the workers, and the iterations that have ended since."""
        drive = self._drive
        found = loops.workers(drive.store, drive.run)
        self._note_limits(found)
        self._note_wait(found)
        at_work = {worker.state.only for worker in found}
        for row in iterations.of(drive.store, drive.run)[self._shown :]:
            if row.is_done and row.item in at_work:
                break  # its commit is not taken over yet
            drive.screen.end(drive.run, row)
            self._shown += 1
        if self._shown > drive.state.finished:
            with drive.change():
                drive.state.finished = drive.run.counters.iteration = self._shown
        drive.screen.show(drive.run, Report(), time.time(), found)

    def _note_limits(self, found: list[Worker]) -> None:
        """Notes the limits of clients that workers have met, for all of them, and says how the run
        goes on."""
        drive, state = self._drive, self._drive.state
        if [each for each in found if drive.note_limits(each.state.limits)]:
            drive.save()
        before = state.waits_until
        if not drive.take_turn() and state.waits_until != before:
            drive.screen.say(messages.waits(state.waits_for, state.waits_until))

    def _note_wait(self, found: list[Worker]) -> None:
        """Notes that an account's limit is reached: what one worker waits for, all do."""
        state, now = self._drive.state, time.time()
        at_work = [each for each in found if each.is_at_work]  # else it waited before a kill
        waiting = max(at_work, key=lambda each: each.state.waits_until, default=None)
        until = waiting.state.waits_until if waiting else 0.0
        if waiting and until > max(now + _SHARED_SECONDS, state.waits_until):
            with self._drive.change():
                state.waits_until = until
                state.waits_for = waiting.state.waits_for
            self._drive.screen.say(messages.waits(state.waits_for, state.waits_until))

    # ------------------------------------------------------------ their end

    def _end_all(self) -> None:
        """Ends all workers, with what they have started, because the run cannot go on."""
        for process in self._processes.values():
            _send(process, signal.SIGTERM)
        deadline = time.monotonic() + processes.GRACE_SECONDS
        for process in self._processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
        for process in self._processes.values():
            _end(process)
        processes.end_marked(self._drive.run.mark)  # the clients of those that were killed

    def _ask_to_end(self) -> None:
        """Lets all workers end: after their iteration or, if the user wants it, at once."""
        is_at_once = self._drive.signals.ends_now or self._end.kind == decide.CANCELLED
        # Not SIGINT twice: two that come in a moment count as one.
        wanted = signal.SIGTERM if is_at_once else signal.SIGINT
        if self._asked_by in (signal.SIGTERM, wanted):
            return
        self._asked_by = wanted
        if self._drive.signals.take_news() and self._processes:
            self._drive.screen.say(_ENDS_SOON)
        for process in self._processes.values():
            _send(process, wanted)


_ENDS_SOON = "The run ends when its workers have ended their iterations. Ctrl-C again ends it now."


def work(drive: Drive) -> Decision:
    """Lets workers do the items of a run until none is left that may begin."""
    return Team(drive).work()


def is_needed(drive: Drive) -> bool:
    """Tells whether there is something to do for workers. What the user has changed in the plan on
    the run's branch is committed: nobody is at work now. Raises `SisyphusError`."""
    if not drive.run.setup.jobs or drive.state.is_auditing:
        return False
    if commits.keep_plan(drive.run):
        drive.state.tip = git.head(drive.folder)
    return bool(loops.workers(drive.store, drive.run) or BranchPlan(drive).startable([], 1))


def _end(process: Popen[bytes]) -> None:
    """Ends the process of a worker, with what it has started."""
    processes.end_group(process.pid, lambda: process.poll() is None)
    process.wait()
    _close(process)


def _send(process: Popen[bytes], number: signal.Signals) -> None:
    with suppress(OSError):
        process.send_signal(number)


def _close(process: Popen[bytes]) -> None:
    assert process.stdout
    process.stdout.close()
