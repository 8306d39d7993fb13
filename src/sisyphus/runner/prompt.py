"""Writes the prompt of an iteration, `PROMPT.md`, with every sentence that it says to the agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sisyphus.boulder import checks, size
from sisyphus.ground.paths import display
from sisyphus.ground.quoting import block, bullets, code, plain
from sisyphus.ground.text import cut, iso, one_line
from sisyphus.ground.worktree import PROGRESS
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.runs import Run
from sisyphus.runner import decide, messages, project_files
from sisyphus.runner.fix_plan import ITEM_CHARACTERS, FixPlan

OBJECTIVE_CHARACTERS = 4_000
"""The longest objective that stands at the top. A longer one goes whole to the end of the prompt,
so that the agent does not have to look for its instructions."""

TITLE_CHARACTERS = 100
_SAID = 400
_WHOLE_TASK = "The Whole Task"


def build(run: Run, plan: FixPlan, before: Sequence[Iteration]) -> str:
    """Returns the prompt of the next iteration. before: the iterations so far, oldest first."""
    state = run.state
    objective = cut(run.prompt, OBJECTIVE_CHARACTERS)
    is_cut = objective != run.prompt
    note = f'\n\n[Cut here. All of it is at the end, under "{_WHOLE_TASK}".]' * is_cut
    resume = f"---\n\n{state.resume.strip()}\n\n---" if state.resume else ""
    parts = (
        f"# Task: {one_line(run.task, TITLE_CHARACTERS)}",
        f"## Objective\n\n{objective}{note}",
        f"## Current State\n\n{_current_state(run)}",
        _before(run, before[-2:]),
        resume,
        _refused(run),
        _failed(run),
        f"## Instructions\n\n{_instructions(run, plan)}",
        f"## {_WHOLE_TASK}\n\n{run.prompt}" if is_cut else "",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _current_state(run: Run) -> str:
    state, number = run.state, run.counters.iteration
    most, is_worker = run.options.max_iterations, bool(state.only)
    has_items = state.total > 0 and not is_worker
    rows = (
        (
            "Attempt" if is_worker else "Iteration",
            f"{number:,} of {most:,}" if most else f"{number:,}",
        ),
        ("Last action", plain(state.action, 200)),
        ("Remaining items", f"{state.left:,} of {state.total:,}" * has_items),
        ("Others", "They work at the other items, each in a worktree of their own" * is_worker),
        ("Plan", _plan_file(run) if state.plan else ""),
        ("Started", iso(run.started_at)),
    )
    return "\n".join(f"- **{name}**: {text}" for name, text in rows if text)


def _before(run: Run, entries: Sequence[Iteration]) -> str:
    if not entries:
        return ""
    lines = [f"- **Iteration {each.number}** {_entry(each)}" for each in entries]
    file = display(project_files.path_of(run.folder, PROGRESS), run.folder)
    lines.append(f"- All iterations are in {code(file)}. Read it only if you need more than this.")
    return "## What Was Done Before\n\n" + "\n".join(lines)


def _entry(each: Iteration) -> str:
    """Says in a line what an iteration came to."""
    if each.is_done:
        result = "done"
    elif each.decision == decide.CHECKPOINT:
        result = "not finished, its context was full"
    else:
        result = f"not done: {plain(each.why or each.decision, 150)}"
    item = f": {plain(each.item, 150)}" if each.item else ""
    said = f" The agent said: “{plain(each.said, _SAID)}”" if each.said else ""
    return f"({result}){item}.{said}"


def _refused(run: Run) -> str:
    """Says why the work did not count as done."""
    state = run.state
    if not state.refused:
        return ""
    text = f"The work was said to be done. It did not count: {plain(state.refused, 300)}."
    printed = _printed("The last lines that the check printed", state.tail)
    return f"## Why It Did Not Count\n\n{text}{printed}"


def _failed(run: Run) -> str:
    """Says why an item whose box is ticked is given again."""
    failed = run.state.failed.get(run.state.item)
    if not failed:
        return ""
    if failed.command == messages.COMMIT:
        what = "The box is ticked, and the run could not commit the work"
    elif failed.command == messages.MERGE:
        what = "The box is ticked, and the run could not merge the work with that of others"
    else:
        what = "The box is ticked, and its check fails"
    text = f"{what}: {code(failed.command, 300)} {failed.how}."
    printed = _printed("The last lines that it printed", failed.tail)
    return f"## Why The Item Is Not Done\n\n{text}{printed}"


def _printed(heading: str, tail: str) -> str:
    return f"\n\n{heading}:\n\n{block(tail, 30, 200)}" if tail.strip() else ""


def _check(run: Run, plan: FixPlan) -> str:
    """Says how the item is checked, and where an earlier attempt at it lies; "" = neither."""
    named = checks.split(plan.checks.get(run.state.item, ()))
    parts = [f"It is done when: {plain(each, 300)}." for each in named.criteria]
    if named.commands:
        ours = all(each in run.setup.trusted for each in named.commands)
        who = "The run executes it when the box is ticked." if ours else "Run it before you tick."
        listed = ", ".join(code(each, 300) for each in named.commands)
        parts.append(f"Its check: {listed}. {who}")
    if run.state.passed_before.get(run.state.item):
        parts.append(
            "Its check passes already: it proves nothing. Make it fail first, or say why it cannot."
        )
    if branch := run.state.aside_of(run.state.item):
        shown = code(run.state.diff_of(branch), 200)
        parts.append(f"{shown} shows an earlier attempt at it. Take from it what is right.")
    return f"\n\n{' '.join(parts)}" if parts else ""


def _instructions(run: Run, plan: FixPlan) -> str:
    return "\n\n".join(
        (
            f"### Step 1: Check If You Are Resuming\n\n{_resuming(run)}",
            f"### Step 2: Do ONE Item\n\n{_task(run, plan)}",
            f"### Step 3: Save Your Context\n\n{_SAVING}",
            f"### Step 4: End\n\n{bullets(_ending(run))}",
        )
    )


_SAVING = (
    "Give subagents what would fill your context: exploring files, reviewing code, analysing test "
    "output, writing documentation. Read a file only when you need it."
)


def _resuming(run: Run) -> str:
    if run.state.resume:
        return (
            "You are resuming. Follow the Resume Instructions of the block above first: they say "
            "where to go on. Do not read again what you are told there."
        )
    if run.counters.iteration > 1:
        return (
            "You are not resuming. What the iterations before you did is in the files: look there, "
            "rather than trust what was said of it."
        )
    return "You are not resuming: this is the first iteration."


def _task(run: Run, plan: FixPlan) -> str:
    """Says what to do in this iteration. Only one of these is said, so that none contradicts
    another; the resume block goes first."""
    state = run.state
    file = _plan_file(run)
    if not state.item:
        return _task_without_item(run, plan)
    item = f"> {plain(state.item, ITEM_CHARACTERS)}"
    first = _MEND_FIRST if state.refused and state.tail.strip() else ""
    kind = size.of(state.item)
    if state.resume:
        return (
            f"Finish the item that was in progress, from where the block says:\n\n{item}\n\n"
            "Do not begin with another one."
        )
    if kind.must_be_split:
        return (
            f"The next item of {file} does not fit into one context:\n\n{item}\n\n"
            f"{first}Do not begin with this item. Put smaller items in place of its box, each "
            "with a box of its own (`- [ ] …`) at the margin, in the order in which they can be "
            "done, and stop."
        )
    text = (
        f"{first}{'Then do' if first else 'Do'} this item of {file}, and no other one:\n\n{item}"
        f"\n\nIts size: {kind.name}, about {kind.least} to {kind.most} % of a context."
    )
    if kind == size.COMPLEX:
        text += " It fills most of yours, so read only what it needs, and give away the rest."
    text += _check(run, plan)
    if failed := state.failed.get(state.item):
        return f"{text}\n\n{_mend(failed.command)}"
    return f"{text} If it is done already, check that it is right, and end as Step 4 says."


def _mend(command: str) -> str:
    """Says what to do about an item whose box is ticked."""
    if command == messages.MERGE:
        return (
            "The rebase is under way, with marks of the conflict in those files. Make of each what "
            "both sides want, without the marks, and leave the box ticked. You need not go on with "
            "the rebase: the run does. Do not abort it."
        )
    if command != messages.COMMIT:
        return "Mend what its check says, and leave the box ticked."
    return (
        "Mend what git says, and leave the box ticked. If that is about the message of the commit, "
        "commit the work yourself, with the plan."
    )


def _task_without_item(run: Run, plan: FixPlan) -> str:
    state, file = run.state, _plan_file(run)
    first = _MEND_FIRST if state.refused else ""
    if state.resume:
        return "Finish what was in progress, from where the block says."
    if state.plan and plan.problem:
        problem = plain(plan.problem, 200)
        return (
            f"{first}The run's plan, {file}, cannot be used: {problem}. Write into it what is left "
            "to do, each item with a box (`- [ ] …`) at the margin, and stop."
        )
    if first:
        return f"{first}Do nothing else."
    if state.plan and state.total and not plan.todo:
        return (
            f"No item of {file} is open. Hold what is there against the objective. If something is "
            "missing, add it as an item (`- [ ] …`) and stop; change nothing else."
        )
    return "Find the next thing that the objective needs, do that, and leave the rest."


_MEND_FIRST = 'First mend what is said above, under "Why It Did Not Count". '


def _ending(run: Run) -> Iterable[str]:
    """Yields how to end. No untrusted text shares a line with a tag, so that nothing can open or
    close the code span around it."""
    options = run.options
    if run.state.item and run.state.item not in run.state.failed:
        yield (
            "Only when the item is done and you have checked it, tick its box in "
            f"{_plan_file(run)}: `[x]`. Tick no other box."
        )
    if options.verify:
        yield f"The run itself checks the work with {code(options.verify, 300)}."
    is_open = bool(run.state.item) and run.state.item not in run.state.failed
    yield (
        f"If you cannot go on without the user, {'leave the box open and ' * is_open}"
        "write `<blocked>what you need</blocked>`, alone on a line and without the backticks."
    )
    if run.setup.commits:
        yield "The run commits your work when the item is done. You need not."
    if options.promise:
        yield (
            "Only when the WHOLE task is complete, not just this item, write "
            f"{_tag(options.promise)}, alone on a line and without the backticks."
        )
    yield (
        "Stop after this one item. In your last message, say in two sentences what you did and "
        "what the next iteration must know."
    )
    yield f"These files are the run's, do not edit them: {_own_files(run)}."


def _tag(promise: str) -> str:
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", promise)), default=0))
    return f"{ticks}<promise>{promise}</promise>{ticks}"


def _own_files(run: Run) -> str:
    project = run.folder
    files = (project_files.path_of(project, name) for name in project_files.NAMES)
    return ", ".join(code(display(file, project)) for file in files)


def _plan_file(run: Run) -> str:
    return code(display(run.state.plan, run.folder), 300)
