"""How the work of an iteration lands: as commits and, that of a worker, on the branch of its run.

A worker merges its item itself, as soon as it is committed. What is in the way is given back to its
agent as a check that has failed: the files in conflict, or what a check printed on top of what the
others have merged. As with any check, the item is set aside at the last of its tries.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sisyphus.boulder.evidence import FAILED
from sisyphus.boulder.find import tool_of
from sisyphus.boulder.trust import CheckResult
from sisyphus.ground import exports, git, processes, rebasing, repository
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import replace
from sisyphus.loops import loops, workers
from sisyphus.loops.runs import ItemCommits, Run
from sisyphus.runner import asides, commits, item_checks, merges, messages, worktrees
from sisyphus.runner.commits import Attempt
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.item_checks import Results
from sisyphus.runner.merges import Conflict, Failed, Merged, Refused, Work
from sisyphus.runner.plan_merge import merge_plans

_SHOWN = 10
"""The most files in conflict that are named."""

_ON_TOP = "on top of what the others have merged"

_WAITS = "waits for its turn to merge"

_STEP_SECONDS = 0.1
"""How often a worker looks whether it is its turn to merge."""


def attempt(
    drive: Drive,
    plan: FixPlan,
    results: Results,
    since: float,
    said: str = "",
    completed: str = "",
) -> Attempt | None:
    """Commits what is done, and merges it if a worker has done it. See `commits.attempt`."""
    if not drive.state.only:
        return commits.attempt(drive, plan, results, since, said, completed)
    if rebasing.is_under_way(drive.folder):  # its agent has resolved a conflict
        is_done = not set(plan.done).issubset(item_checks.failing(drive, results))
        made = _as_it_is(drive, plan, since) if is_done else None
    else:
        made = commits.attempt(drive, plan, results, since, said, completed)
    return _merge(drive, plan, made) if made and not made.refused else made


def take_back(run: Run) -> None:
    """Takes back a merge of a worker that has stopped, before its work is set aside. Raises
    `SisyphusError`."""
    if run.state.only:
        merges.take_back(_work(run))


def hand_over_words(drive: Drive) -> None:
    """Brings what a worker has written into its plan onto the run's branch, when its work has been
    set aside: notes below its item, and new items. Then its worktree is as it was when it began.
    Raises `SisyphusError`."""
    run, plan = drive.run, asides.plan_of(drive.run)
    lead = loops.find_run(drive.store, run.owner)
    if not (run.state.only and plan and lead and os.path.isdir(lead.folder)):
        return
    base = repository.file_at(run.folder, run.state.tip, plan)
    theirs = asides.content(plan, run.folder)
    home = os.path.join(lead.folder, os.path.relpath(plan, run.folder))
    if base is not None and theirs not in (None, base):
        with _turn(drive):
            _prepare(drive)
            _merge_words(home, lead, base, theirs or b"", run.state.only)
    repository.run(run.folder, "checkout", "--quiet", "HEAD", "--", plan)


def _merge_words(plan: str, lead: Run, base: bytes, theirs: bytes, item: str) -> None:
    """plan: its path on the run's branch. base, theirs: the worker's, when it began and now."""
    ours = asides.content(plan, lead.folder)
    if ours is None or os.path.realpath(plan) != plan:
        return
    before, worker, run = (each.decode("utf-8", "surrogateescape") for each in (base, theirs, ours))
    text = merge_plans(before, worker, run, item, tool_of(plan), is_done=False)
    if text != run:
        exports.replace(plan, text.encode("utf-8", "surrogateescape"), is_shared=True)
        commits.keep_plan(lead)


def take_back_move(drive: Drive) -> None:
    """Takes back half a move of the run's branch, when the run goes on after a kill. What is
    neither as before nor as the item has it is set aside. Raises `SisyphusError`."""
    run, state, home = drive.run, drive.state, drive.folder
    if not run.setup.jobs or merges.take_back_move(home, state.branch):
        return
    state.tip = git.head(home)  # nobody else commits there
    asides.begin(state, _LEFT)
    asides.finish(drive)
    merges.forget_moves(home, state.branch)


_LEFT = "What was left in the run's worktree"
"""What is set aside then."""


def _as_it_is(drive: Drive, plan: FixPlan, since: float) -> Attempt:
    state = drive.state
    checks = item_checks.passed(drive, plan, [state.only], since)
    return Attempt([state.only], ItemCommits(state.tip, git.head(drive.folder), checks))


def _work(run: Run) -> Work:
    plan = asides.plan_of(run)
    name = os.path.relpath(plan, run.folder) if plan else ""
    home = worktrees.place(run.project, run.owner)
    return Work(run.folder, run.state.branch, worktrees.run_branch(run), run.state.only, name, home)


def _merge(drive: Drive, plan: FixPlan, made: Attempt) -> Attempt:
    """Merges the item when it is its turn."""
    folder, item = drive.folder, drive.state.only
    found: list[CheckResult] = []
    passed = "" if rebasing.is_under_way(folder) else repository.tree_of(folder, "HEAD")

    def check() -> str | None:
        if passed and repository.tree_of(folder, "HEAD") == passed:
            return None  # nobody has merged anything meanwhile
        failed = item_checks.first_failure(drive, plan, [item])
        found[:] = [replace(failed, how=f"{failed.how} {_ON_TOP}")] if failed else []
        if failed is None:
            _prepare(drive)  # the checks may have taken minutes
        return failed.how if failed else None

    with _turn(drive):
        _prepare(drive)
        before = repository.commit_of(folder, worktrees.run_branch(drive.run))
        outcome = merges.attempt(_work(drive.run), check)
    if isinstance(outcome, Refused) and outcome.needs_user:
        raise SisyphusError(outcome.why)
    if isinstance(outcome, Merged):
        return replace(
            made, items=[item], commits=replace(made.commits, since=before, tip=outcome.commit)
        )
    refused = found[0] if isinstance(outcome, Failed) and found else _refusal(outcome)
    return replace(made, items=[item], refused=refused)


def _prepare(drive: Drive) -> None:
    """Commits what the user has changed in the plan on the run's branch meanwhile: an answer, or a
    new item. A worker that was killed when it merged may have left half of that there."""
    lead = loops.find_run(drive.store, drive.run.owner)
    if not (lead and os.path.isdir(lead.folder)):
        return
    if merges.take_back_move(lead.folder, lead.state.branch):
        commits.keep_plan(lead)


def _refusal(outcome: merges.Outcome) -> CheckResult:
    if isinstance(outcome, Conflict):
        names = outcome.files
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        how = f"stopped at conflicts in {', '.join(names[:_SHOWN])}{more}"
        return CheckResult(messages.MERGE, FAILED, how)
    why = outcome.why if isinstance(outcome, Failed | Refused) else ""
    return CheckResult(messages.MERGE, FAILED, "did not bring it onto the run's branch", why)


@contextmanager
def _turn(drive: Drive) -> Iterator[None]:
    """Waits until no other worker of the run merges, and keeps them waiting meanwhile. Raises
    `SystemExit` if the run is over: the item is merged when it goes on."""
    store, state = drive.store, drive.state
    while True:
        if drive.signals.ends_now or drive.whole() is None:
            raise SystemExit(processes.TERMINATED)
        if workers.may_merge(store, drive.run):  # to wait needs no lock
            with drive.change():
                state.is_merging = workers.may_merge(store, drive.run)
            if state.is_merging:
                break
        drive.run.action = _WAITS
        time.sleep(_STEP_SECONDS)
    try:
        yield
    finally:
        state.is_merging = False
        drive.save()
