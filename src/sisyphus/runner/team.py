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
from collections.abc import Collection
from contextlib import suppress
from subprocess import Popen

from sisyphus.boulder import find as plan_files
from sisyphus.boulder import follow, plans
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan import parse
from sisyphus.boulder.plans import Checkpoint
from sisyphus.clients.reports import Report
from sisyphus.ground import git, log, markdown, processes, repository
from sisyphus.ground.record import replace
from sisyphus.ground.text import one_line
from sisyphus.loops import iterations, loops
from sisyphus.loops.loop import (
    BLOCKED,
    FATAL_ERROR,
    LIMIT,
    MAX_ITERATIONS,
    MAX_JOBS,
    STUCK,
    SUCCESS,
    Counters,
    Options,
)
from sisyphus.loops.runs import Run, RunState, Worker
from sisyphus.runner import (
    commits,
    decide,
    fix_plan,
    item_checks,
    messages,
    schedule,
    worktrees,
)
from sisyphus.runner.decide import Decision
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.project_files import STATE_VARIABLE

_MODULE = "sisyphus.runner.worker"

_STEP_SECONDS = 0.2
"""How often we look how the workers are."""

_CRASHES = 3
"""How often the process of a worker may end without a word before the run stops."""

_OUTPUT_BYTES = 64_000
"""The most that is read at once of what a worker says."""

_STUCK_IN_A_ROW = 2
"""How many items in a row may get stuck, with nothing merged between, before the run stops: it is
not about the items then."""

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
        self._shown = iterations.count(drive.store, drive.run)
        self._stuck = 0
        self._end = Decision(decide.CONTINUE, "")
        self._signals_sent = 0
        self._plan = Branch(drive)

    def work(self) -> Decision:
        """Lets workers do items until none is left that may begin; returns how the run goes on."""
        drive = self._drive
        with drive.change():
            fix_plan.note_changes(self._plan.items(), drive.state)
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
            for process in self._processes.values():
                _end(process)

    def _how_on(self) -> Decision:
        """Returns how the run goes on when nobody is at work."""
        state = self._drive.state
        waits = self._end.goes_on and state.waits_until > time.time()
        return Decision(decide.WAIT, state.waits_for) if waits else self._end

    # ------------------------------------------------------------ what begins

    def _begin_items(self) -> None:
        """Starts workers at the items that may begin, and those again whose process is gone."""
        drive = self._drive
        if drive.state.waits_until > time.time():
            return
        for worker in loops.workers(drive.store, drive.run):
            if worker.id not in self._processes:
                self._start(worker)
        at_work = loops.workers(drive.store, drive.run)
        free = drive.run.setup.jobs - len(at_work)
        for item in self._plan.startable(at_work, free) if free > 0 else ():
            self._start(_new(drive, item, self._processes))

    def _start(self, worker: Worker) -> None:
        # By its own mark the next process finds what this one leaves if it is killed: a check, say.
        marks = (each.mark.partition("=") for each in (self._drive.run, worker))
        environment = {**os.environ, **{name: value for name, _, value in marks}}
        environment.pop(STATE_VARIABLE, None)  # that file is the run's
        asked = {"project": worker.project, "worker": worker.id}
        process = processes.spawn(_MODULE, asked, environment, subprocess.PIPE)
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
        drive, item = self._drive, worker.state.only
        if worker.is_active:  # it has not come to its end
            self._crashes[item] = self._crashes.get(item, 0) + 1
            log.write(f"worker {worker.id} has exited {process.returncode}")
            if self._crashes[item] >= _CRASHES and self._end.goes_on:
                why = f"the process of worker {worker.number} has exited {process.returncode}"
                self._end = Decision(decide.FATAL, why)
            return
        is_over = worker.result == SUCCESS or worker.status in (BLOCKED, STUCK)
        if is_over:
            with drive.change():
                take_over(drive.run, worker, iterations.count(drive.store, drive.run))
                drive.state.tip = git.head(drive.folder)
                drive.note_limits(worker.state.limits)
                fix_plan.note_changes(self._plan.items(), drive.state)
                loops.delete(drive.store, worker)
            drive.export()
        self._stuck = self._stuck + 1 if worker.status == STUCK else 0 if is_over else self._stuck
        if not self._end.goes_on:
            return
        if worker.status == STUCK and self._stuck >= _STUCK_IN_A_ROW:
            self._end = Decision(decide.STUCK, worker.why)
        elif kind := _ENDS.get(worker.result):
            self._end = Decision(kind, worker.why)

    # ------------------------------------------------------------ what is shown, and said

    def _say(self, id: str, process: Popen[bytes]) -> None:
        """Says what a worker says."""
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
        waiting = max(found, key=lambda each: each.state.waits_until, default=None)
        until = waiting.state.waits_until if waiting else 0.0
        if waiting and until > max(now + _SHARED_SECONDS, state.waits_until):
            with self._drive.change():
                state.waits_until = until
                state.waits_for = waiting.state.waits_for
            self._drive.screen.say(messages.waits(state.waits_for, state.waits_until))

    # ------------------------------------------------------------ their end

    def _ask_to_end(self) -> None:
        """Lets all workers end: after their iteration or, if the user wants it, at once."""
        is_at_once = self._drive.signals.ends_now or self._end.kind == decide.CANCELLED
        wanted = 2 if is_at_once else 1
        while self._signals_sent < wanted:
            self._signals_sent += 1
            if self._signals_sent == 1 and self._drive.signals.take_news() and self._processes:
                self._drive.screen.say(_ENDS_SOON)
            for process in self._processes.values():
                with suppress(OSError):
                    process.send_signal(signal.SIGINT)


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
    return bool(loops.workers(drive.store, drive.run) or Branch(drive).startable([], 1))


class Branch:
    """The plan as it is on the run's branch. Its file may be half written: a worker that merges
    moves the branch, and the files with it."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._head = ""
        self._file = PlanFile(drive.state.plan, drive.folder)

    def startable(self, at_work: list[Worker], free: int) -> list[str]:
        """Returns the items that may begin now. free: how many, at most."""
        plan = self._read().plan
        if plan is None:
            return []
        names = [worker.state.only for worker in at_work]
        plan = follow.at_checkpoint(plan, self._checkpoint())
        return schedule.startable(plan, (), names, self._drive.state.blocked, free).begin

    def items(self) -> FixPlan:
        return fix_plan.of_file(self._read(), self._checkpoint())

    def _read(self) -> PlanFile:
        drive, head = self._drive, git.head(self._drive.folder)
        if head != self._head:
            path = drive.state.plan
            data = repository.file_at(drive.folder, head, path)
            text = markdown.plain(data.decode("utf-8", "replace")) if data is not None else None
            plan = parse(text, plan_files.tool_of(path)) if text is not None else None
            self._head, self._file = head, PlanFile(path, drive.folder, head, plan)
        return self._file

    def _checkpoint(self) -> Checkpoint | None:
        followed = plans.find(self._drive.store, self._drive.state.plan)
        return followed.checkpoint if followed else None


def _new(drive: Drive, item: str, others: Collection[str]) -> Worker:
    """Makes the row of a worker at an item. others: the ids of those that have a process."""
    run, now = drive.run, time.time()
    taken = {*others, *(worker.id for worker in loops.workers(drive.store, run))}
    id = next(id for n in range(1, MAX_JOBS + 1) if (id := f"{run.id}-{n}") not in taken)
    verify = "" if run.setup.verifies_at_end else run.options.verify
    worker = Worker(
        id, run.project, run.prompt,
        Options(verify=verify, max_iterations=0, max_minutes=0), now,
        Counters(evidence=run.counters.evidence),
        setup=replace(run.setup, audits=0, jobs=0),
        state=RunState(
            only=item, todo=[item], head=git.head(drive.folder), client=run.state.client
        ),
    )  # fmt: skip
    worktrees.assign(worker)
    state = worker.state
    state.plan = os.path.join(state.worktree, os.path.relpath(run.state.plan, run.folder))
    for name in ("asides", "checks", "answers"):
        setattr(state, name, dict(getattr(run.state, name)))
    with drive.change():
        loops.insert(drive.store, worker)
        item_checks.forget(run.state, item)
    return worker


def take_over(run: Run, worker: Worker, finished: int) -> None:
    """Notes in a run what has come of a worker: what it has used, what it has merged, and what it
    has set aside. finished: how many iterations the run has now."""
    ours, theirs, item = run.state, worker.state, worker.state.only
    run.counters.tokens += worker.all_tokens
    ours.cost += worker.all_cost
    ours.finished = run.counters.iteration = finished
    ours.action = theirs.action or ours.action
    for name in ("evidence", "lost_checks", "passed_before", "commits", "asides"):
        getattr(ours, name).update(getattr(theirs, name))
    for name in ("check_changed", "untrusted", "flaky"):
        both = [*getattr(ours, name), *getattr(theirs, name)]
        setattr(ours, name, list(dict.fromkeys(both)))
    ours.passed_at.update(theirs.passed_at)
    if worker.result == SUCCESS:
        ours.blocked.pop(item, None)
    else:
        ours.blocked[item] = theirs.blocked.get(item) or one_line(worker.why)
        ours.evidence.pop(item, None)


def _end(process: Popen[bytes]) -> None:
    """Ends the process of a worker, with what it has started."""
    processes.end_group(process.pid, lambda: process.poll() is None)
    process.wait()
    _close(process)


def _close(process: Popen[bytes]) -> None:
    assert process.stdout
    process.stdout.close()
