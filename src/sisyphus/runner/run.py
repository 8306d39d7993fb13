"""A run from its beginning to its end: begins it, or the last one of the project again, makes one
iteration after the other, and reports.

Before and after each iteration the run's row is read again: the user may have cancelled or paused
it from another terminal.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Sequence
from functools import partial

from sisyphus import clients
from sisyphus.boulder import plan_status, which
from sisyphus.boulder.plans import ACTIVE
from sisyphus.clients.reports import Report
from sisyphus.ground import exports, git, processes, store, worktree
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.paths import display
from sisyphus.ground.record import replace
from sisyphus.ground.text import one_line
from sisyphus.handoff import handoffs, writing
from sisyphus.hook.session import Session
from sisyphus.loops import history, iterations, lifecycle, loops, transcripts, workers
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.loop import (
    BLOCKED,
    CANCELLED,
    FATAL_ERROR,
    LIMIT,
    MAX_ITERATIONS,
    PAUSED,
    STUCK,
    SUCCESS,
    new_id,
)
from sisyphus.loops.runs import Run, RunState, Worker
from sisyphus.ralph.arguments import Arguments
from sisyphus.runner import (
    commits,
    decide,
    fix_plan,
    item_checks,
    landing,
    merges,
    messages,
    project_files,
    report,
    team,
    worker_rows,
    worktrees,
)
from sisyphus.runner.audit import audit
from sisyphus.runner.decide import Decision
from sisyphus.runner.drive import Drive
from sisyphus.runner.iteration import iterate, set_aside
from sisyphus.runner.report import Merge
from sisyphus.terminal.show import Place

_STEP_SECONDS = 0.2
_ENDED_CLIENT = " Its client was still there and was ended."

_ENDS = {
    decide.COMPLETED: (0, "completion", SUCCESS),
    decide.FATAL: (1, "failure", FATAL_ERROR),
    decide.LIMIT: (3, "ended", LIMIT),
    decide.MAX_ITERATIONS: (3, "ended", MAX_ITERATIONS),
    decide.STUCK: (3, "paused", STUCK),
    decide.BLOCKED: (4, "blocked", BLOCKED),
    decide.STOP: (130, "", PAUSED),
    decide.CANCELLED: (130, "", ""),
}
"""The last decision → the exit code, the kind of the notice ("" = none is sent), and the result of
the loop or, if it waits to be resumed, its status."""

_NOT_PROVEN = 5
"""The exit code of a run that is complete, though nothing but the plan changed for an item, its
check proves nothing, or that was taken out of the plan."""

_NOTHING_TO_RESUME = (
    "No run has begun in this project. Start one: `sisyphus ralph run -- TASK`, or with the boxes "
    "of fix_plan.md as its items."
)


# ---------------------------------------------------------------- before it begins


def new(place: Place, arguments: Arguments, plan: str) -> Run:
    """Returns a run that has not begun. plan: the file with its items; "" = none. Raises
    `SisyphusError` if one is at work in the project."""
    _need_no_worktree(place)
    _need_rest(loops.latest_run(place.store, place.project))
    counters = lifecycle.new_counters(place.project, arguments.options)
    done = fix_plan.read(plan, place.project).done if plan else []
    state = RunState(plan=plan, before=done, head=git.head(place.project))
    return Run(
        new_id(), place.project, arguments.prompt, arguments.options, time.time(), counters,
        state=state,
    )  # fmt: skip


def find_plan(place: Place) -> str:
    """Returns the file with the items: `fix_plan.md`, else the plan that the next session would
    follow; "" = none."""
    plan = which.of_project(place.store, place.project, Session(), time.time(), place.folder)
    is_open = plan.record and plan.state in (ACTIVE, plan_status.STALE)
    return fix_plan.find(place.project, plan.record.path if plan.record and is_open else "")


def find(place: Place) -> Run:
    """Returns the last run of the project. Raises `SisyphusError` if it cannot be resumed."""
    _need_no_worktree(place)
    run = loops.latest_run(place.store, place.project)
    if run is None:
        raise SisyphusError(_NOTHING_TO_RESUME)
    _need_rest(run)
    if run.result == SUCCESS:
        _leave(run, [])  # it may have been killed before it did that
        raise SisyphusError(
            f"Run {run.id}, the last one of this project, is complete. Start another one."
        )
    return run


def check_limits(place: Place, run: Run) -> None:
    """Raises `SisyphusError` if a run that is to be resumed has used up one of its limits. Ends a
    client of it that is still there: it would use more."""
    now, again = time.time(), copy.deepcopy(run)
    _reopen(place, again, now)
    state = again.state
    limits = (
        ("--max-iterations", decide.max_iterations(again), str(state.finished - state.audits)),
        ("--max-minutes", decide.minutes(again, now), str(int(again.seconds(now) // 60))),
        ("--max-tokens", decide.tokens(again), str(again.counters.tokens)),
        ("--max-usd", decide.dollars(again), f"{state.cost:.2f}"),
    )
    for option, why, used in limits:
        if why:
            has_ended_client = workers.end_clients(place.store, run)
            raise SisyphusError(
                f"Run {run.id} cannot go on: {why}. Give more than {used} with {option}, or 0 for "
                f"no limit.{_ENDED_CLIENT * has_ended_client}"
            )


# ---------------------------------------------------------------- its beginning


def begin(drive: Drive, *, is_again: bool) -> None:
    """Begins the run, or makes it active again, and tells the user. Raises `SisyphusError` if
    somebody else was quicker."""
    place, run, screen = drive.place, drive.run, drive.screen
    if is_again:
        has_ended_client = take_up(place, run)
        _enter(drive, has_ended_client=has_ended_client)
        ended_client = _ENDED_CLIENT * has_ended_client
        screen.say(f"Run {run.id} goes on with {messages.next_iteration(run)}.{ended_client}")
        return
    if replaced := _insert(place, run):
        reached = loop_messages.iteration(replaced)
        screen.say(
            f"Run {replaced.id}, which had got to {reached}, is over: `{messages.RESUME}` "
            f"would have gone on with it.{loop_messages.worktree_stays(replaced)}"
        )
    _enter(drive)
    screen.say(messages.started(run))


def _enter(drive: Drive, *, has_ended_client: bool = False) -> None:
    """Prepares the place where the clients work, and the branch that they work on, or finds them as
    they were. A run that cannot begin so has failed, and can be resumed. has_ended_client: a client
    of it was at work till now."""
    run, plan = drive.run, drive.state.plan
    try:
        if run.state.worktree:
            drive.screen.say(messages.works_in(run, drive.settings["runner.setup"]))
            worktrees.make(run)
            if not run.state.tip:
                worktrees.bring_plan(run)
            worktrees.make_ready(run, drive.settings)
        if run.setup.commits and run.state.tip:
            landing.take_back_move(drive)
            commits.resume(drive, has_ended_client=has_ended_client)
        elif run.setup.commits and (about_plan := commits.begin(run)):
            drive.screen.say(about_plan)
    except SisyphusError as error:
        with drive.change():
            run.end(FATAL_ERROR, one_line(str(error)), time.time())
            run.runner, run.state.plan = "", plan
        raise
    except SystemExit:  # a signal, while the worktree was set up
        with drive.change():
            run.pause(PAUSED, drive.signals.why, time.time())
            run.runner, run.state.plan = "", plan
        drive.screen.say(f"Run {run.id} is paused. `{messages.RESUME}` goes on with it.")
        raise SystemExit(_ENDS[decide.STOP][0]) from None
    drive.save()


def _insert(place: Place, run: Run) -> Run | None:
    """Inserts a run; returns the one that it replaces, which is cancelled; None = there is none."""
    run.runner = processes.key(os.getpid())
    with place.store.write():
        before = loops.latest_run(place.store, place.project)
        _need_rest(before)
        replaced = before if before and before.ended_at is None else None
        if replaced:
            loops.cancel(place.store, replaced, f"replaced by {run.id}", time.time())
        loops.insert(place.store, run)
    if before:
        workers.end_clients(place.store, before)
        with place.store.write():  # nobody can resume it any more
            workers.forget(place.store, before)
    exports.run([partial(history.export, place.store)])
    return replaced


def take_up(place: Place, run: Run) -> bool:
    """Makes a run, or a worker, active again; tells whether a client of it was still there and was
    ended. An iteration that had no end is made again, from its handoff."""
    now = time.time()
    has_ended_client = workers.end_clients(place.store, run)
    handoff = None
    if run.state.is_working:
        session = Session.load(place.store, run.session)
        handoff = writing.of_cut_session(place.store, place.settings, session, now)
    with place.store.write():
        fresh = loops.find_run(place.store, run.id)
        if fresh is None:
            raise SisyphusError(_NOTHING_TO_RESUME)
        _need_rest(fresh)
        fresh.setup, fresh.options = run.setup, run.options
        if fresh.ended_at is not None and fresh.owner == fresh.id:
            history.forget(place.store, fresh)
        _reopen(place, fresh, now)
        if handoff:
            handoffs.give(place.store, handoff)
            fresh.state.resume = handoff.resume
            fresh.state.checkpoint = project_files.checkpoint(handoff, fresh.state.item)
        loops.save(place.store, fresh)
    for name in Run.FIELDS:
        setattr(run, name, getattr(fresh, name))
    exports.run([partial(history.export, place.store)])
    return has_ended_client


def _reopen(place: Place, run: Run, now: float) -> None:
    """Makes a run active as from now: what was blocked is tried again, and all counts begin anew.
    The time since its process was killed is a pause."""
    state = run.state
    if run.client:
        _count_killed(place, run)
    rests_since = None if run.runner else run.counters.paused_at or run.ended_at
    run.counters.paused_at = rests_since or workers.worked_at(place.store, run)
    run.ended_at, run.result = None, ""
    run.resume(now)
    run.runner, run.client = processes.key(os.getpid()), ""
    run.tokens, run.cost = 0, 0.0
    state.blocked, state.stops = {}, {}
    state.waits_until, state.waits_for, state.tries = 0.0, "", 0
    state.failed = {item: replace(each, tries=0) for item, each in state.failed.items()}
    state.first_audit, state.clean_audits = state.audits, 0
    state.is_auditing = state.is_auditing and run.setup.audits > 0
    if not state.plan:
        state.plan = fix_plan.find(run.folder, "") if state.worktree else find_plan(place)


def _count_killed(place: Place, run: Run) -> None:
    """Adds what a client used whose run was killed: tokens as far as its transcript says, dollars
    as far as they were noted."""
    state = run.state
    state.cost += run.cost
    state.spent_cost += run.cost
    session = Session.load(place.store, run.session)
    if session.transcript:
        transcript = clients.transcript(session.client)
        records = transcript.read(session.transcript, since=state.began_at).records
        tokens = sum(record.tokens for record in records)
        tokens += transcript.subagent_tokens(session.transcript, state.began_at)
        run.counters.tokens += tokens
        state.spent_tokens += tokens
        run.heard_at = max(run.heard_at, *(record.at for record in records), 0.0)
    state.spent_seconds += max(0.0, run.heard_at - state.began_at)


def _need_no_worktree(place: Place) -> None:
    """Raises `SisyphusError` if the project is the worktree of a run that is at work, or can be
    resumed: two of them would work on one branch."""
    ends = place.project.split("-")[-2:]
    ids = ("-".join(ends), ends[-1])  # as of a worker, and of a run
    found = (loops.find_run(place.store, id) for id in ids)
    run = next((each for each in found if each and each.state.worktree == place.project), None)
    if run is None or run.result in (SUCCESS, CANCELLED):
        return
    raise SisyphusError(
        f"This is a worktree of run {run.owner}. `{messages.RESUME}` in {display(run.project, '')} "
        f"goes on with it, `sisyphus ralph cancel {run.owner}` ends it."
    )


def _need_rest(run: Run | None) -> None:
    """Raises `SisyphusError` if a process of ours works at the run, even if it has been cancelled:
    it still ends its client."""
    if run is None or not run.is_at_work:
        return
    id = run.id
    if run.ended_at is not None:
        raise SisyphusError(
            f"Run {id} is over, and its process is about to end. Try again in a moment."
        )
    raise SisyphusError(
        f"Run {id} is at work in this project ({loop_messages.iteration(run)}). "
        f"`sisyphus ralph cancel {id}` ends it."
    )


# ---------------------------------------------------------------- its iterations


def work(drive: Drive) -> int:
    """Works at a run until it is over or has to stop; returns the exit code. Raises `SisyphusError`
    if nothing can be noted any more: the run can be resumed then."""
    try:
        return _finish(drive, go_on(drive))
    except store.Error as error:
        raise SisyphusError(
            f"The run had to stop, because nothing can be noted: {error}. `{messages.RESUME}` goes "
            "on with it."
        ) from error


def go_on(drive: Drive) -> Decision:
    """Makes one iteration after the other; returns why the run has to stop."""
    try:
        if drive.state.sets_aside:  # the run was killed meanwhile, or could not do it
            decision = set_aside(drive, Decision(decide.CONTINUE, ""))
            if not decision.goes_on:
                return decision
        while (decision := drive.before_iteration()).goes_on:
            worktrees.restore(drive)
            decision = _step(drive)
            if decision.kind == decide.WAIT:
                decision = _wait(drive)
            if not decision.goes_on:
                break
    except SystemExit as error:
        if error.code != processes.TERMINATED:
            raise
        why = drive.signals.why or messages.TOLD_TO_END  # a worker whose run is over
        return Decision(decide.STOP, why)  # in the check, or in git
    except SisyphusError as error:
        return Decision(decide.FATAL, one_line(str(error)))
    return decision


def _step(drive: Drive) -> Decision:
    """Makes an iteration, or lets workers make theirs."""
    if drive.share_wait() or not drive.take_turn():
        return Decision(decide.WAIT, drive.state.waits_for)
    if team.is_needed(drive):
        return team.work(drive)
    return audit(drive) if drive.state.is_auditing else iterate(drive)


def _wait(drive: Drive) -> Decision:
    """Waits; ends early if the run has to. A clock that is set back does not make it longer."""
    until, why = drive.state.waits_until, drive.state.waits_for
    if not until:  # another client goes on
        return Decision(decide.CONTINUE, why)
    deadline = time.monotonic() + until - time.time()
    drive.screen.say(messages.waits(why, until))
    while time.time() < until and time.monotonic() < deadline:
        decision = drive.may_go_on()
        if not decision.goes_on:
            return decision
        at_items = workers.of(drive.store, drive.run)
        drive.screen.show(drive.run, Report(), time.time(), at_items)
        time.sleep(_STEP_SECONDS)
    limits = drive.state.limits
    drive.state.limits = {client: at for client, at in limits.items() if at > until}
    return Decision(decide.CONTINUE, why)


# ---------------------------------------------------------------- its end


def _finish(drive: Drive, decision: Decision) -> int:
    """Ends or pauses the run, and reports; returns the exit code."""
    now, run, kind = time.time(), drive.run, decision.kind
    code, notice, _ = _ENDS[kind]
    plan, why = item_checks.plan_of(drive), decision.why
    if not plan.problem:
        fix_plan.note(plan, run.state)
    if kind == decide.COMPLETED:
        why = f"{why}{report.how_proven(run)}"
    begun = workers.of(drive.store, run)
    close(drive, decision, why)
    drive.export()
    text = _report(drive, plan.problem, now, begun)  # leaves the worktree
    file = transcripts.report_file(run.id)
    exports.run([partial(exports.replace, file, text.encode("utf-8", "replace"))])
    if notice:
        drive.send(notice, messages.with_half_work(run, why) if kind == decide.STUCK else why)
    for line in [*text.splitlines(), "", f"Report: {display(file, '')}"]:
        drive.screen.say(line)
    return _NOT_PROVEN if kind == decide.COMPLETED and report.not_proven(run) else code


def close(drive: Drive, decision: Decision, why: str) -> None:
    """Ends or pauses the row of a run, or of a worker. why: in words."""
    now, run, kind = time.time(), drive.run, decision.kind
    status = _ENDS[kind][2]
    with drive.change() as is_live:
        if is_live and kind in (decide.BLOCKED, decide.STUCK, decide.STOP):
            run.pause(status, why, now)
        elif is_live:
            run.end(status, why, now)
        run.runner = run.client = ""
        run.state.is_counted = False


def _report(drive: Drive, problem: str, now: float, begun: Sequence[Worker]) -> str:
    """Returns the report. begun: the workers that were at an item when the run ended."""
    run = drive.run
    state, rows = run.state, iterations.of(drive.store, run)
    commits = git.commits_since(drive.folder, state.head)
    if state.tip:  # in a new worktree all files are new
        found = git.changed_since(drive.folder, state.head)
        changed = [path for path in found if not worktree.is_ours(path, drive.folder)]
    else:
        changed = [*worktree.changed(drive.folder, run.started_at, now)]
    changed = [path for path in changed if path != state.plan]
    merge = _leave(run, begun)
    whole = worker_rows.as_reported(run, workers.of(drive.store, run))
    return report.render(whole, rows, problem, commits, changed, merge)


def _leave(run: Run, begun: Sequence[Worker]) -> Merge | None:
    """Leaves the worktree of a run that has come to rest; None = it has none. begun: as `_report`
    has them."""
    if not run.state.worktree:
        return None
    if run.setup.jobs and run.result == SUCCESS:
        merges.forget(run.project, run.state.branch)
    return worktrees.leave(run, begun)
