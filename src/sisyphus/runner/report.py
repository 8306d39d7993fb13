"""Writes the report of a run, for the morning after it, and the line that an iteration leaves on
the screen."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from sisyphus.boulder.checks import split
from sisyphus.boulder.evidence import FAILED, UNCHANGED, UNPROVEN
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display
from sisyphus.ground.quoting import block, bullets, code, plain
from sisyphus.ground.record import Record
from sisyphus.loops import transcripts
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import (
    ACTIVE,
    BLOCKED,
    CANCELLED,
    FATAL_ERROR,
    LIMIT,
    MAX_ITERATIONS,
    PAUSED,
    STUCK,
    SUCCESS,
)
from sisyphus.loops.runs import Run
from sisyphus.runner import decide, fix_plan, messages

DONE, CHECKPOINT, NOT_DONE, NEEDS_USER, FOUND = "✓", "↻", "✗", "!", "+"
"""Marks of an iteration. FOUND: of an audit that was not clean."""

_WORDS = {
    DONE: "done", CHECKPOINT: "handed over", NOT_DONE: "not done", NEEDS_USER: "needs you",
    FOUND: "not clean",
}  # fmt: skip

_BARE, _PASSED_BEFORE, _LOST = (
    "ticked without any change",
    "ticked, and its check passed before the work began",
    "ticked, and its check was taken out of the plan",
)
_GONE = "gone from the plan"

_SHOWN = 20
"""The most entries of a list: the report is read before the first coffee."""

_ROWS = 200
"""The most iterations in the table, the last ones."""

_TAIL_LINES, _TAIL_CHARACTERS = 15, 160
_ITEM = 100
_THOUSAND = 1_000
_CENT = 0.01
_MINUTE = 60


# ---------------------------------------------------------------- the report


class Merge(Record, frozen=True):
    """How the work of a run comes to its user. branch: to be merged. base: the branch that they
    have checked out; "" = none. conflicts: the files in which the two conflict now; None = unknown.
    in_the_way: files of the user that are not committed, and that the branch changes, too. tree:
    the worktree, if it is still there; "" = it is gone. is_complete: nobody goes on in it. workers:
    the worktrees of workers that stay → the items that are begun there; "" = none is."""

    branch: str
    base: str
    conflicts: list[str] | None
    in_the_way: list[str]
    tree: str
    is_complete: bool
    workers: dict[str, str]


def render(
    run: Run,
    iterations: Sequence[Iteration],
    problem: str,
    commits: Sequence[str],
    changed: Sequence[str],
    merge: Merge | None = None,
) -> str:
    """Returns the report, in Markdown. problem: why the plan cannot be used; "" = it can. commits:
    a line each. changed: the absolute paths of the files that changed since the run began. merge:
    how the work comes to its user; None = it was done in their own checkout."""
    words = {item: run.state.evidence.get(item, "") for item in _items_done(run)}
    done = (f"{plain(item, _ITEM)}{f': {word}' if word else ''}" for item, word in words.items())
    file = code(display(transcripts.full_file(run.id), ""))
    names = [display(path, run.folder) for path in changed]
    points = _points(run, iterations, problem)
    parts = (
        f"# Run {run.id}: {masked_line(run.task, _ITEM)}",
        _first_line(run, _left_to_do(len(points), len(commits), len(changed))),
        _no_check(run),
        _numbers(run, iterations, commits, changed),
        _merge(merge, len(commits)),
        _section("Look at first", _look_at(run, points)),
        _section("Begun, and not done", _begun(merge) if merge else ""),
        _section("Items done", bullets(done, _SHOWN)),
        _section("Iterations", _table(iterations, names_client=run.setup.has_several)),
        f"What was said and done in them: {file}" if iterations else "",
        _section("Commits", bullets((_commit(run, each) for each in commits), _SHOWN)),
        _section("Changed files", bullets(map(code, names), _SHOWN)),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def look_at(run: Run, iterations: Sequence[Iteration], problem: str) -> str:
    """Returns what a person has to look at first, in Markdown; "" = nothing. problem: as for
    `render`."""
    return _look_at(run, _points(run, iterations, problem))


def not_proven(run: Run) -> dict[str, list[str]]:
    """Returns the items that a run has done and that nothing proves: why, in words → items."""
    state, done = run.state, _items_done(run)
    found = {
        _BARE: [item for item in done if state.evidence.get(item) == UNCHANGED],
        _PASSED_BEFORE: [item for item in done if state.evidence.get(item) == UNPROVEN],
        _LOST: [item for item in done if state.lost_checks.get(item)],
        _GONE: list(_checks_of_removals(run)),
    }
    return {why: items for why, items in found.items() if items}


def _items_done(run: Run) -> list[str]:
    return [item for item in run.state.done if item not in run.state.before]


def how_proven(run: Run) -> str:
    """Says after why a run is complete how many ticks prove nothing; "" = each proves something, or
    nobody knows."""
    total = len(_items_done(run))
    found = not_proven(run)
    gone = found.pop(_GONE, [])
    parts = [
        f". {len(items)} of {total} {'is' if len(items) == 1 else 'are'} {why}"
        for why, items in found.items()
    ]
    parts += [f". {_count(len(gone), 'item')} left the plan with a check"] if gone else []
    return "".join(parts)


def _left_to_do(points: int, commits: int, changed: int) -> str:
    """Says what a person does after a run that is complete. Each is a number of things."""
    ways = [
        f"look at {_count(points, 'point')} below" if points else "",
        f"review {_count(commits, 'commit')}" if commits else "",
        f"review {_count(changed, 'changed file')} and commit" if changed and not commits else "",
    ]
    what = ", ".join(way for way in ways if way)
    return f"{what[:1].upper()}{what[1:]}." if what else "There is nothing to do."


def _first_line(run: Run, rest: str) -> str:
    """Says how the run ended and what to do. rest: after a run that is complete."""
    why = f": {plain(run.why, 300).rstrip('.')}." if run.why else "."
    done, total = len(run.state.done), run.state.total
    are = "is" if done == 1 else "are"
    of_plan = f" {done} of {_count(total, 'item')} {are} done." if total else ""
    go_on = f"To go on: `{messages.RESUME}`"
    ways = {
        ACTIVE: ("has not ended", f"If it does not work any more: `{messages.RESUME}`."),
        PAUSED: ("is paused", f"{go_on}."),
        BLOCKED: ("needs you", f"Give it what it needs. {go_on}."),
        STUCK: ("is stuck", f"See below what it is stuck on. {go_on}."),
        SUCCESS: ("is complete", rest),
        CANCELLED: ("was cancelled", f"{go_on}."),
        MAX_ITERATIONS: ("has ended at a limit", f"{go_on}, with a higher limit."),
        LIMIT: ("has ended at a limit", f"{go_on}, with a higher limit."),
        FATAL_ERROR: ("has failed", f"Mend that. {go_on}."),
    }
    how, way = ways[run.result or run.status]
    return f"**It {how}**{why}{of_plan} {way}"


def _commit(run: Run, line: str) -> str:
    """Returns a commit with the checks that passed before it. line: "1a2b3c4 Subject"."""
    short = line.partition(" ")[0]
    made = (each for each in run.state.commits.values() if each.tip.startswith(short))
    checks = next((each.checks for each in made), [])
    passed = f": {', '.join(code(check, 100) for check in checks)} passed" if checks else ""
    return f"{plain(line, _ITEM)}{passed}"


def _merge(merge: Merge | None, commits: int) -> str:
    """Says how the commits of a worktree come to the user; "" = there is nothing to bring."""
    if merge is None:
        return ""
    into = f"into {code(merge.base, 100)}" if merge.base else "into what you have checked out"
    them = "its commit" if commits == 1 else f"its {commits:,} commits"
    parts = [f"{code(f'git merge {merge.branch}')} brings {them} {into}."] if commits else []
    if commits and merge.conflicts:
        parts.append(f"They conflict in {', '.join(map(code, merge.conflicts[:_SHOWN]))}.")
    elif commits and merge.conflicts is not None and not merge.in_the_way:
        parts.append("Nothing conflicts now.")
    if commits and merge.in_the_way:
        files = ", ".join(map(code, merge.in_the_way[:_SHOWN]))
        parts.append(f"First commit or stash what you have changed in {files}.")
    if merge.tree:
        parts.append(_worktree(merge))
    parts += [
        _stays(tree, "The worktree of a worker") for tree, item in merge.workers.items() if not item
    ]
    return " ".join(parts)


def _worktree(merge: Merge) -> str:
    """Says that the worktree is still there, and what for."""
    if merge.is_complete:
        return _stays(merge.tree, "Its worktree")
    tree = code(display(merge.tree, ""), 300)
    return f"Its worktree, {tree}, stays for `--resume`. Write what it needs there."


def _stays(tree: str, what: str) -> str:
    """Says why a worktree in which nobody goes on is still there."""
    shown = display(tree, "")
    return (
        f"{what}, {code(shown, 300)}, stays: something in it is not committed. "
        f"{code(f'git worktree remove {shown}', 300)} removes it."
    )


def _begun(merge: Merge) -> str:
    """Returns the items that workers have begun, and where the half work is."""
    return bullets(
        f"{plain(item, _ITEM)}: begun in {code(display(tree, ''), 300)}"
        for tree, item in merge.workers.items()
        if item
    )


def _no_check(run: Run) -> str:
    """Says of a run that is not complete that its check has proved nothing; "" = it has no check,
    or the check failed, which is said elsewhere."""
    command, state = run.options.verify, run.state
    if not command or run.result == SUCCESS or state.refused:
        return ""
    return f"{code(command)} has not passed: it runs when nothing else is missing."


def _numbers(
    run: Run, iterations: Sequence[Iteration], commits: Sequence[str], changed: Sequence[str]
) -> str:
    last = iterations[-1].at if iterations else run.started_at
    parts = (
        _count(len(iterations), "iteration"),
        short_time(run.seconds(last)),
        f"{short_count(run.counters.tokens)} tokens" if run.counters.tokens else "",
        short_cost(run.state.cost),
        _count(len(commits), "commit"),
        _count(len(changed), "changed file"),
    )
    return " · ".join(part for part in parts if part)


def _points(run: Run, iterations: Sequence[Iteration], problem: str) -> list[str]:
    """Returns what a person should see to."""
    state = run.state
    marked = [item for item in state.marked if item not in state.blocked]
    denied = Counter(call for each in iterations for call in each.denied)
    half_work = {item: _half_work(run, state.aside_of(item)) for item in state.blocked}
    rows = [
        *_about_ticks(run),
        *(
            f"Blocked: {plain(item, _ITEM)}: {plain(why, 300)}{half_work[item]}"
            for item, why in state.blocked.items()
        ),
        *(f"Marked as blocked in the plan: {plain(item, _ITEM)}" for item in marked),
        *(f"Left the plan before it was done: {plain(item, _ITEM)}" for item in state.removals),
        *(f"File of the check that changed: {code(file)}" for file in state.check_changed),
        *(
            f"The client did not allow: {code(call)}{f' ({count} times)' if count > 1 else ''}"
            for call, count in denied.items()
        ),
    ]
    rows += [
        f"Set aside: {plain(item, _ITEM)}{_half_work(run, branch)}"
        for branch, item in state.asides.items()
        if not (branch == state.aside_of(item) and _is_named(run, item))
    ]
    if problem and state.plan:
        file = code(display(state.plan, run.folder))
        rows.append(f"The plan {file} cannot be used: {plain(problem, _ITEM)}")
    if run.status == STUCK and iterations:
        said = plain(iterations[-1].said, 300)
        rows.append(f"The agent's last words: {said}" if said else "The agent has said nothing")
        if state.item:
            where = _half_work(run, state.aside_of(state.item))
            rows.append(f"Stuck on: {plain(state.item, _ITEM)}{where}")
    if state.refused:
        rows.append(f"The work did not count as done: {plain(state.refused, 300)}")
    return rows


def _is_named(run: Run, item: str) -> bool:
    """Tells whether another line names the half work of an item."""
    return item in run.state.blocked or (run.status == STUCK and item == run.state.item)


def _half_work(run: Run, branch: str) -> str:
    """Says where half work lies. branch: "" = nowhere but in the work tree."""
    return f" ({code(run.state.diff_of(branch), 200)} shows its half work)" if branch else ""


def _about_ticks(run: Run) -> list[str]:
    """Returns what a person should see to of the items that are ticked."""
    state = run.state
    return [
        *(
            f"{why.capitalize()}: {plain(item, _ITEM)}"
            for why, items in not_proven(run).items()
            if why not in (_LOST, _GONE)  # below, with the check
            for item in items
        ),
        *(f"Its check failed, and passed without a change: {plain(i, _ITEM)}" for i in state.flaky),
        *(
            f"Ticked, but {code(each.command)} {each.how}: {plain(item, _ITEM)}"
            for item, each in state.failed.items()
            if item not in state.blocked
        ),
        *(
            f"Check that was taken out of the plan: {code(check.strip('`'))}, of {plain(i, _ITEM)}"
            for i, lost in (state.lost_checks | _checks_of_removals(run)).items()
            for check in lost
        ),
        *(
            f"Not checked: {code(check)} is not trusted ({fix_plan.to_trust(run)})"
            for check in state.untrusted
            if check not in run.setup.trusted
        ),
    ]


def _checks_of_removals(run: Run) -> dict[str, list[str]]:
    """Returns the commands of the items that left the plan before they were done, without those
    that another item has: perhaps it has another name now."""
    state = run.state
    still = (*state.done, *state.todo, *state.marked)
    named = {each for item in still for each in split(state.checks.get(item, ())).commands}
    found = {
        item: [each for each in split(state.checks.get(item, ())).commands if each not in named]
        for item in state.removals
    }
    return {item: lost for item, lost in found.items() if lost}


def _look_at(run: Run, points: list[str]) -> str:
    """Returns these points as a list, with what the check printed; "" = there is nothing."""
    tails = [run.state.tail, *(each.tail for each in run.state.failed.values())]
    last = next((tail for tail in reversed(tails) if tail.strip()), "")
    parts = (bullets(points, _SHOWN), block(last, _TAIL_LINES, _TAIL_CHARACTERS))
    return "\n\n".join(part for part in parts if part)


def _table(iterations: Sequence[Iteration], *, names_client: bool) -> str:
    rows = [
        f"| {each.number} | {plain(_item(each), _ITEM).replace('|', '/')} | "
        f"{f'{each.client} | ' if names_client else ''}{_result(each)} | "
        f"{short_time(each.seconds) if each.seconds else ''} | "
        f"{short_count(each.tokens) if each.tokens else ''} | "
        f"{each.files} | {f'{each.percent} %' if each.percent else ''} |"
        for each in iterations[-_ROWS:]
    ]
    names = ["#", "Item", *(["Client"] if names_client else []), "Result", "Time", "Tokens"]
    head = f"| {' | '.join([*names, 'Files', 'Context'])} |"
    return "\n".join((head, f"|{'---|' * (len(names) + 2)}", *rows)) if rows else ""


# ---------------------------------------------------------------- a line of the screen


def iteration_line(
    iteration: Iteration, done: int, total: int, commit: str = "", client: str = ""
) -> str:
    """Returns an iteration on a line: `08:14 ✓ item 3 · 11 s · 151 k · 2 files (3/8)`, and why the
    run goes on after the last item. Time and tokens that are not known are left out.

    done, total: the items of the plan; 0 = it has none. commit: what its item has become; "" = it
    was not committed. client: of a run with several, the one that made it.
    """
    clock = time.strftime("%H:%M", time.localtime(iteration.at))
    parts = (
        f"{clock} {_mark(iteration)} {masked_line(_item(iteration), 60)}",
        client,
        iteration.evidence,
        commit,
        short_time(iteration.seconds) if iteration.seconds else "",
        short_count(iteration.tokens) if iteration.tokens else "",
        _count(iteration.files, "file"),
    )
    but = f", but {masked_line(why, 120)}" if (why := _refusal(iteration)) else ""
    of_plan = f" ({done}/{total})" if total else ""
    return " · ".join(part for part in parts if part) + of_plan + but


def short_count(number: int) -> str:
    """Returns a large number for people: 950, `151 k`, `1.2 M`."""
    if number < _THOUSAND:
        return str(number)
    thousands = round(number / _THOUSAND)
    return f"{thousands} k" if thousands < _THOUSAND else f"{thousands / _THOUSAND:.1f} M"


def short_cost(dollars: float) -> str:
    """Returns an amount for people: `$1.20`, `under $0.01`; "" = nothing."""
    if not dollars:
        return ""
    return f"${dollars:,.2f}" if dollars >= _CENT else f"under ${_CENT:.2f}"


def short_time(seconds: float) -> str:
    """Returns a duration for people: `11 s`, `4 min`, `1 h 12 min`."""
    if round(seconds) < _MINUTE:
        return f"{round(seconds)} s"
    hours, minutes = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _mark(iteration: Iteration) -> str:
    if iteration.is_done:
        return DONE
    if iteration.decision == decide.AUDIT:
        return FOUND
    if iteration.decision == decide.BLOCKED or iteration.denied:
        return NEEDS_USER
    return CHECKPOINT if iteration.decision == decide.CHECKPOINT else NOT_DONE


def _result(iteration: Iteration) -> str:
    but = f", but {plain(why, _ITEM).replace('|', '/')}" if (why := _refusal(iteration)) else ""
    word = f", {iteration.evidence}" if iteration.evidence else ""
    return f"{_WORDS[_mark(iteration)]}{word}{but}"


def _refusal(iteration: Iteration) -> str:
    """Returns why the run did not end with an iteration that did the last item: its check failed,
    say; or why its item could not be merged; "" = nothing was missing but items."""
    if iteration.evidence == FAILED and iteration.why.startswith(f"`{messages.MERGE}`"):
        return iteration.why
    is_over = not iteration.is_done or iteration.decision != decide.CONTINUE
    return "" if is_over or iteration.why == messages.ITEM_DONE else iteration.why


def _item(iteration: Iteration) -> str:
    return iteration.item or f"iteration {iteration.number}"


def _section(heading: str, text: str) -> str:
    return f"## {heading}\n\n{text}" if text else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
