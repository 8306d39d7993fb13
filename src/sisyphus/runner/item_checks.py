"""Judges the items that an iteration has ticked: a box alone proves nothing.

A check that the user trusts is run by us, before the work at an item begins and when its box is
ticked. Of another one we only read whether the agent ran it. An item whose check does not pass is
given to the agent again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from sisyphus.boulder import check_runs, checks, evidence, plans, progress, trust
from sisyphus.boulder import find as plan_files
from sisyphus.boulder.check_runs import NO_TEST, RUNNING, Step
from sisyphus.boulder.evidence import TickFacts
from sisyphus.boulder.ticks import Judgement
from sisyphus.boulder.trust import CheckResult
from sisyphus.clients.reports import Report
from sisyphus.clients.transcript_records import AGENT, TranscriptLine
from sisyphus.ground import git, worktree
from sisyphus.ground.masking import mask
from sisyphus.ground.record import Record
from sisyphus.loops import project_changes
from sisyphus.loops.runs import FailedCheck, Run
from sisyphus.runner import fix_plan, messages, project_files
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.iteration import ClientResult
from sisyphus.runner.runner import Runner


class ItemResult(Record, frozen=True):
    """What stands behind the tick of an item. word: see `boulder/evidence.py`. check: the check
    that did not pass; None = each one did, or did not run. changed: files of the check that have
    changed since it was trusted. lost: checks that were taken out of the plan during the run.
    is_flaky: the check failed before, and nothing has changed since."""

    word: str
    check: CheckResult | None = None
    changed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    is_flaky: bool = False


Results = dict[str, ItemResult]
"""Items → what stands behind their ticks."""


def read(runner: Runner, run: Run) -> FixPlan:
    """Reads the plan of a run as its file has it; one without items if it has none."""
    path = run.state.plan
    if not path:
        return FixPlan("")
    followed = plans.find(runner.store, path)
    return fix_plan.read(path, runner.project, followed.checkpoint if followed else None)


def choose(run: Run, plan: FixPlan, item: str, now: float) -> None:
    """Makes an item the current one, and remembers the checks that its plan names."""
    state = run.state
    if item != state.item:
        state.item_began_at = now
        if item not in state.failed:
            state.evidence.pop(item, None)
    state.item = item
    for each, named in plan.checks.items():
        state.checks.setdefault(each, list(named))


def passed_before(runner: Runner, run: Run, plan: FixPlan, item: str) -> bool:
    """Runs the checks of an item whose work is about to begin; tells whether they pass already. A
    check that somebody has to make first fails, as it should."""
    commands = _commands(plan, item)
    if not runner.settings["runner.check_before"] or not commands:
        return False
    results = _run(runner, run, commands)
    return len(results) == len(commands) and all(each.has_passed for each in results)


def judge(runner: Runner, run: Run, plan: FixPlan, result: ClientResult | None) -> Results:
    """Returns what stands behind the ticks that are new, and behind that of the current item if its
    check failed before. result: of the client; None = nobody has seen its end."""
    state = run.state
    known = {*state.done, *state.before, *state.failed} - {state.item}
    items = [item for item in plan.done if item not in known]
    if state.item in state.evidence and state.item not in state.failed:
        items = [item for item in items if item != state.item]
    work = _Work(runner, run, plan, result)
    return {item: work.judge(item) for item in items}


def failing(run: Run, results: Results) -> list[str]:
    """Returns the items whose box is ticked and whose check does not pass."""
    again = [item for item, each in results.items() if each.check]
    return [*(item for item in run.state.failed if item not in results), *again]


def note(runner: Runner, run: Run, results: Results) -> None:
    """Notes what stands behind ticks; sets an item aside whose check does not pass for the last
    time."""
    state = run.state
    for item, each in results.items():
        state.evidence[item] = each.word
        state.check_changed = list(dict.fromkeys([*state.check_changed, *each.changed]))
        if each.lost:
            state.lost_checks[item] = list(each.lost)
        if each.is_flaky:
            state.flaky = list(dict.fromkeys([*state.flaky, item]))
        if each.check is None:
            state.failed.pop(item, None)
            continue
        state.passed_before[item] = False  # whatever passes now has failed since
        tries = state.failed[item].tries + 1 if item in state.failed else 1
        check = each.check
        tail = mask(check.tail)
        state.failed[item] = FailedCheck(check.command, check.how, tail, tries, time.time())
        if tries >= runner.settings["runner.item_tries"]:
            state.blocked[item] = messages.check_of_item(check.command, check.how)
    if results and (record := plans.find(runner.store, state.plan)):
        file = plan_files.read(record.path, record.project)
        words = {item: Judgement(each.word, _output(each.check)) for item, each in results.items()}
        progress.update(runner.store, file, state.began_at, None, words)


def _output(check: CheckResult | None) -> str:
    """Says what a check printed that did not pass, for the row of its tick."""
    return f"{check.command} {check.how}\n{mask(check.tail)}".rstrip() if check else ""


def failed_since(run: Run, plan: FixPlan, result: ClientResult) -> bool:
    """Tells whether the check of the current item passed before its work, and the agent has made it
    fail since, so that it proves something."""
    item = run.state.item
    steps = check_runs.steps_of(result.report.records)
    return bool(run.state.passed_before.get(item)) and _has_failed(
        _commands(plan, item), steps, run.loop.project
    )


def _has_failed(commands: Sequence[str], steps: Sequence[Step], project: str) -> bool:
    ends = (check_runs.ended(command, step, project) for command in commands for step in steps)
    return check_runs.FAILED in ends


def of_plan(runner: Runner, run: Run, plan: FixPlan) -> list[CheckResult]:
    """Runs the checks of the items that were ticked before the run, which nobody has judged, and of
    the whole plan, each once, up to the first that does not pass."""
    before = [item for item in run.state.before if item in plan.done]
    named = [check for item in before for check in plan.checks.get(item, ())]
    return _run(runner, run, checks.split([*named, *plan.plan_checks]).commands)


def _commands(plan: FixPlan, item: str) -> tuple[str, ...]:
    return checks.split(plan.checks.get(item, ())).commands


def _run(runner: Runner, run: Run, commands: tuple[str, ...]) -> list[CheckResult]:
    seconds = runner.settings["ralph.verify_seconds"]
    new = [each for each in commands if each not in run.options.trusted]
    run.state.untrusted = list(dict.fromkeys([*run.state.untrusted, *new]))
    ours = [each for each in commands if each in run.options.trusted]
    if ours:
        report = Report()
        report.add_record(TranscriptLine(AGENT, time.time(), texts=(messages.checking(ours),)))
        runner.screen.show(run, report, time.time())
    return trust.run(ours, run.options.trusted, runner.project, seconds)


class _Work:
    """The work of an iteration, by which its ticks are judged. What is slow is found out once."""

    def __init__(
        self, runner: Runner, run: Run, plan: FixPlan, result: ClientResult | None
    ) -> None:
        self._runner, self._run, self._plan = runner, run, plan
        apart = {path for path in (run.state.plan, project_files.chosen_state()) if path}
        records = result.report.records if result else []
        self._steps = [s for s in check_runs.steps_of(records) if s.path not in apart]
        self._apart = apart
        self._now = time.time()
        self._last_change = -1.0

    def judge(self, item: str) -> ItemResult:
        state, commands = self._run.state, _commands(self._plan, item)
        checks = self._checks(commands)
        first = state.checks.get(item, [])
        lost = tuple(each for each in first if each not in self._plan.checks.get(item, ()))
        facts = TickFacts(
            runs=[each.ended for each in checks],
            has_changed=self._has_changed(),
            passed_before=state.passed_before.get(item, False)
            and not _has_failed(commands, self._steps, self._runner.project),
            is_lost=bool(lost),
        )
        failed = next((each for each in checks if each.ended in (check_runs.FAILED, NO_TEST)), None)
        changed = tuple(path for each in checks for path in each.changed)
        before = state.failed.get(item)
        is_flaky = not failed and before is not None and self._changed_at() <= before.at
        return ItemResult(evidence.judge(facts), failed, changed, lost, is_flaky)

    def _checks(self, commands: tuple[str, ...]) -> list[CheckResult]:
        """Returns how the checks of an item ended: those that we may run, up to the first that does
        not pass, and of the others what the agent's own run came to."""
        results = {each.command: each for each in _run(self._runner, self._run, commands)}
        trusted = self._run.options.trusted
        by_agent = {each: self._of_agent(each) for each in commands if each not in trusted}
        return [found for each in commands if (found := results.get(each) or by_agent.get(each))]

    def _of_agent(self, command: str) -> CheckResult:
        """Returns how the agent's own run of a check ended; see `check_runs.last_run`."""
        is_unchanged = lambda at: self._changed_at() <= at  # noqa: E731
        ended = check_runs.last_run(
            command, self._steps, self._now, self._runner.project, is_unchanged
        )
        how = "ran no test" if ended == NO_TEST else "failed when the agent ran it"
        return CheckResult(command, "" if ended == RUNNING else ended, how)

    def _changed_at(self) -> float:
        if self._last_change < 0:
            project = self._runner.project
            self._last_change = worktree.last_change(project, self._now, self._apart)
        return self._last_change

    def _has_changed(self) -> bool:
        """Tells whether a file has changed, or a commit has come, since the work at the item
        began."""
        since, project = self._run.state.item_began_at, self._runner.project
        if self._changed_at() > since or any(step.is_change for step in self._steps):
            return True
        if since < git.head_moved_at(project) <= self._now:
            return any(path not in self._apart for path in git.committed_since(project, since))
        return project_changes.has_changed_besides(project, since, self._now, self._apart)
