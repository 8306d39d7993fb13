"""Judges the items that an iteration has ticked: a box alone proves nothing.

A check that the user trusts is run by us, before the work at an item begins and when its box is
ticked. Of another one we only read whether the agent ran it. An item whose check does not pass is
given to the agent again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from sisyphus.boulder import checks, evidence, plans, progress, trust
from sisyphus.boulder import find as plan_files
from sisyphus.boulder.evidence import FAILED, NO_TEST, RUNNING, TickFacts
from sisyphus.boulder.tick_work import TickWork
from sisyphus.boulder.ticks import Judgement
from sisyphus.boulder.trust import CheckResult
from sisyphus.clients.reports import Report
from sisyphus.clients.transcript_records import AGENT, TranscriptLine
from sisyphus.ground.masking import mask
from sisyphus.ground.record import Record, replace
from sisyphus.ground.text import one_line
from sisyphus.loops import verify
from sisyphus.loops.runs import FailedCheck, RunState
from sisyphus.loops.verify import Check
from sisyphus.runner import fix_plan, messages, project_files
from sisyphus.runner.client import ClientResult
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan


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


def read(drive: Drive) -> FixPlan:
    """Reads the plan of a run as its file has it; one without path and items if it has none."""
    path = drive.state.plan
    if not path:
        return FixPlan("")
    followed = plans.find(drive.store, path)
    plan = fix_plan.read(path, drive.folder, followed.checkpoint if followed else None)
    item = drive.state.only
    if not item:
        return plan
    failed = drive.state.failed.get(item)  # a rebase that has stopped has the plan of the others
    return fix_plan.of_item(plan, item, is_done=bool(failed and failed.command == messages.MERGE))


def plan_of(drive: Drive) -> FixPlan:
    """Does the same, with the items as open whose check fails."""
    return fix_plan.with_failed(read(drive), drive.state.failed)


def choose(drive: Drive, item: str, now: float) -> None:
    """Makes an item the current one."""
    state = drive.state
    if item != state.item:
        state.item_began_at = now
    if item not in state.failed:  # else it is ticked
        forget(state, item)
    state.item = item


def forget(state: RunState, item: str) -> None:
    """Forgets that an item was done: it may have been, and was opened again."""
    state.evidence.pop(item, None)
    state.commits.pop(item, None)
    state.before = [each for each in state.before if each != item]
    state.others = [each for each in state.others if each != item]


def passed_before(drive: Drive, plan: FixPlan, item: str) -> bool:
    """Runs the checks of an item whose work is about to begin; tells whether they pass already. A
    check that somebody has to make first fails, as it should."""
    commands = _commands(plan, item)
    if not drive.settings["runner.check_before"] or not commands:
        return False
    results = _run(drive, commands)
    return len(results) == len(commands) and all(each.has_passed for each in results)


def judge(drive: Drive, plan: FixPlan, result: ClientResult | None) -> Results:
    """Returns what stands behind the ticks that nobody has judged, and behind that of the current
    item if its check failed before. result: of the client; None = nobody has seen its end."""
    state = drive.state
    known = {*state.evidence, *state.before}
    if state.item in state.failed:
        known.discard(state.item)
    items = [item for item in plan.done if item not in known]
    work = _work(drive, result) if items else None
    results = {item: _judge(drive, plan, item, work) for item in items if work}
    passed = [item for item, each in results.items() if each.check is None]
    if passed and (failed := _verify(drive)):
        item = state.item if state.item in passed else passed[-1]
        results[item] = replace(results[item], word=FAILED, check=failed)
    return results


def passed(drive: Drive, plan: FixPlan, items: Iterable[str], since: float) -> list[str]:
    """Returns the commands that we have seen to pass since a moment, in seconds since 1970, and
    that prove these items, or all the work."""
    named = [command for item in items for command in _commands(plan, item)]
    verify_command = drive.run.options.verify
    every = [*named, *([verify_command] if verify_command else [])]
    at = drive.state.passed_at
    return [each for each in dict.fromkeys(every) if at.get(each, 0.0) >= since]


def first_failure(drive: Drive, plan: FixPlan, items: Iterable[str]) -> CheckResult | None:
    """Runs the checks of these items again, because files have changed since; returns the first
    that does not pass, None = each one does."""
    commands = [command for item in items for command in _commands(plan, item)]
    failed = next((each for each in _run(drive, commands) if not each.has_passed), None)
    return failed or _verify(drive)


def _verify(drive: Drive) -> CheckResult | None:
    """Runs the check of the run, where it has to pass before each commit; returns its result if it
    does not, else None."""
    command, setup = drive.run.options.verify, drive.run.setup
    if not command or not setup.commits or setup.verifies_at_end:
        return None
    _show(drive, command)
    check = run_verify(drive)
    return None if check.has_passed else CheckResult(command, FAILED, check.how, check.tail)


def run_verify(drive: Drive) -> Check:
    """Runs the check of the run, and notes when it passed."""
    command = drive.run.options.verify
    check = verify.run(command, drive.folder, drive.settings["ralph.verify_seconds"])
    if check.has_passed:
        drive.state.passed_at[command] = time.time()
    return check


def failing(drive: Drive, results: Results) -> list[str]:
    """Returns the items whose box is ticked and whose check does not pass."""
    again = [item for item, each in results.items() if each.check]
    return [*(item for item in drive.state.failed if item not in results), *again]


def note(drive: Drive, results: Results) -> None:
    """Notes what stands behind ticks; sets an item aside whose check does not pass for the last
    time."""
    state, now = drive.state, time.time()
    for item, each in results.items():
        state.evidence[item] = each.word
        state.check_changed = list(dict.fromkeys([*state.check_changed, *each.changed]))
        state.lost_checks.pop(item, None)
        if each.lost:
            state.lost_checks[item] = list(each.lost)
        if each.is_flaky:
            state.flaky = list(dict.fromkeys([*state.flaky, item]))
        if each.check is None:
            state.failed.pop(item, None)
            continue
        state.passed_before[item] = False  # whatever passes now has failed since
        tries = state.failed[item].tries + 1 if item in state.failed else 1
        command, how, tail = each.check.command, each.check.how, mask(each.check.tail)
        state.failed[item] = FailedCheck(command, how, tail, tries, now)
        if tries >= drive.settings["runner.item_tries"]:
            state.blocked[item] = messages.check_of_item(command, how)
    if results and (record := plans.find(drive.store, state.plan)):
        file = plan_files.read(record.path, record.project)
        words = {item: _judgement(each) for item, each in results.items()}
        progress.update(drive.store, file, now, None, words)


def _judgement(result: ItemResult) -> Judgement:
    """Returns the same for the row of a tick. The next prompt tells the agent what is wrong."""
    check = result.check
    output = f"{check.command} {check.how}\n{mask(check.tail)}".rstrip() if check else ""
    return Judgement(result.word, output, is_open=True)


def failed_since(drive: Drive, plan: FixPlan, result: ClientResult) -> bool:
    """Tells whether the check of the current item passed before its work, and the agent has made it
    fail since, so that it proves something."""
    item = drive.state.item
    if not drive.state.passed_before.get(item):
        return False
    work = _work(drive, result)
    return any(work.has_failed(command) for command in _commands(plan, item))


def of_plan(drive: Drive, plan: FixPlan, since: float) -> list[CheckResult]:
    """Runs the checks of all items that are done and of the whole plan, each once, up to the first
    that does not pass: a later item may have broken an earlier one. since: when the last client
    ended, in seconds since 1970; those that have passed since then are left out."""
    named = [check for item in plan.done for check in plan.checks.get(item, ())]
    commands = checks.split([*named, *plan.plan_checks]).commands
    passed_at = drive.state.passed_at
    return _run(drive, [c for c in commands if passed_at.get(c, 0.0) < since])


def _commands(plan: FixPlan, item: str) -> tuple[str, ...]:
    return checks.split(plan.checks.get(item, ())).commands


def _work(drive: Drive, result: ClientResult | None) -> TickWork:
    records = result.report.records if result else []
    no_work = {path for path in (drive.state.plan, project_files.chosen_state()) if path}
    return TickWork(records, drive.folder, no_work, drive.state.item_began_at, time.time())


def _judge(drive: Drive, plan: FixPlan, item: str, work: TickWork) -> ItemResult:
    state, commands = drive.state, _commands(plan, item)
    before = state.failed.get(item)
    results = [_or_before(each, before) for each in _check(drive, commands, work)]
    failed = next((each for each in results if each.ended in (FAILED, NO_TEST)), None)
    first = checks.split(state.checks.get(item, ())).commands
    lost = tuple(each for each in first if each not in commands)
    has_failed = any(work.has_failed(command) for command in commands)
    facts = TickFacts(
        runs=[each.ended for each in results],
        has_changed=work.has_changed,
        passed_before=state.passed_before.get(item, False) and not has_failed,
        is_lost=bool(lost),
    )
    has_passed = bool(results) and all(each.has_passed for each in results)
    if before and before.command in messages.NO_CHECK:
        before = None
    is_flaky = has_passed and before is not None and work.last_change <= before.at
    changed = tuple(path for each in results for path in each.changed)
    return ItemResult(evidence.judge(facts), failed, changed, lost, is_flaky)


def _or_before(result: CheckResult, before: FailedCheck | None) -> CheckResult:
    """Returns a result, or that of the time before if the check failed then and did not run
    since."""
    if result.ended or before is None or before.command != result.command:
        return result
    return CheckResult(result.command, FAILED, before.how, before.tail)


def _check(drive: Drive, commands: tuple[str, ...], work: TickWork) -> list[CheckResult]:
    """Returns how the checks of an item ended: those that we may run, up to the first that does not
    pass, and of the others what the agent's own run came to."""
    results = {each.command: each for each in _run(drive, commands)}
    trusted = drive.run.setup.trusted
    by_agent = {each: _of_agent(each, work) for each in commands if each not in trusted}
    return [found for each in commands if (found := results.get(each) or by_agent.get(each))]


def _of_agent(command: str, work: TickWork) -> CheckResult:
    ended = work.run_of(command, work.now)
    how = "ran no test" if ended == NO_TEST else "failed when the agent ran it"
    return CheckResult(command, "" if ended == RUNNING else ended, how)


def _run(drive: Drive, commands: tuple[str, ...] | list[str]) -> list[CheckResult]:
    """Runs those of these commands that the run may run, up to the first that does not pass."""
    state, ours = drive.state, [each for each in commands if each in drive.run.setup.trusted]
    new = [each for each in commands if each not in ours]
    state.untrusted = list(dict.fromkeys([*state.untrusted, *new]))
    if not ours:
        return []
    _show(drive, ", ".join(ours))
    seconds = drive.settings["ralph.verify_seconds"]
    run = drive.run
    results = trust.run(drive.store, ours, run.project, seconds, run.owner, drive.folder)
    state.passed_at |= {each.command: time.time() for each in results if each.has_passed}
    return results


def _show(drive: Drive, commands: str) -> None:
    """Shows on the screen which checks run."""
    report = Report()
    words = f"checks the item: {one_line(commands, 200)}"
    report.add_record(TranscriptLine(AGENT, time.time(), texts=(words,)))
    drive.screen.show(drive.run, report, time.time())
