"""What several modules say about runs to the user. What only one says stands there: errors at their
`raise`, the report in `report.py`. What the model reads is in `prompt.py` and `audit.py`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sisyphus import clients
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.runs import Run

RESUME = "sisyphus ralph run --resume"

CTRL_C, CTRL_C_TWICE = "you pressed Ctrl-C", "you pressed Ctrl-C twice"
HUNG_UP, TOLD_TO_END = "its terminal was closed", "it was told to end"
"""Why a run is paused by a signal: SIGINT, SIGHUP or SIGTERM."""

CANCELLED = "you cancelled it"

COMMIT = "git commit"
"""The command of a failed check where git did not take the work of an item."""

MERGE = "git rebase"
"""The same where the work could not be merged with what others have merged meanwhile."""

NO_CHECK = (COMMIT, MERGE)
"""Where one of these failed, no check of the item did."""

_TASK = 100


# ---------------------------------------------------------------- before a run


def started(run: Run) -> str:
    """Tells the user what the run does, what ends it, and how to end it now."""
    limits = loop_messages.limits(run)
    when = f"It ends {_success(run)}{f', or after {limits}' if limits else ''}."
    return (
        f"Run {run.id} started: {one_line(run.task, _TASK)}\n{when} Ctrl-C ends it after "
        f"an iteration, Ctrl-C twice at once.{_who_works(run)}"
    )


def _who_works(run: Run) -> str:
    """Says in which order the clients of a run work; "" = it has one."""
    first, *others = run.setup.clients
    return f"\n{first} works, and at its limit {', then '.join(others)}." if others else ""


def works_in(run: Run, setup: str) -> str:
    """Tells the user where a run works that has a worktree. setup: the command that prepares a new
    one; "" = none."""
    jobs, branch, folder = run.setup.jobs, run.state.branch, display(run.folder, "")
    first = f" `{one_line(setup, _TASK)}` prepares it." if setup and not run.state.tip else ""
    if not jobs:
        return f"It works in {folder}, on the branch {branch}.{first}"
    who = f"{jobs} workers do its items" if jobs > 1 else "A worker does its items"
    return f"{who} beside {folder}, and what passes is merged onto {branch}.{first}"


def _success(run: Run) -> str:
    options, plan, count = run.options, run.state.plan, run.setup.audits
    audits = "an audit finds nothing" if count == 1 else f"{count} audits find nothing"
    ends = (
        f"the agent says <promise>{options.promise}</promise>" if options.promise else "",
        f"all of {display(plan, run.folder)} is done" if plan else "",
        f"`{one_line(options.verify)}` exits 0" if options.verify else "",
        audits if count else "",
    )
    return f"when {' and '.join(filter(None, ends))}"


def next_iteration(run: Run) -> str:
    """Names the iteration with which a run goes on."""
    if run.state.is_auditing:
        return f"audit {run.state.audits + 1}"
    most = run.options.max_iterations
    return f"iteration {run.state.finished + 1}{f' of {most}' if most else ''}"


def answer(text: str) -> str:
    """Returns the line of a plan with the user's answer. text: on one line."""
    return f"Answer of the user: {text}"


def plan_not_changed(plan: str, why: str) -> str:
    return f"The answer could not be written into {plan}: {why}. Write it there yourself."


def answered(run: Run, item: str) -> str:
    plan = display(run.state.plan, run.folder)
    return (
        f"The answer stands below “{one_line(item, _TASK)}” in {plan}. "
        f"{loop_messages.what_continues(run)}"
    )


def not_to_answer(run: Run) -> str:
    """Refuses an answer that has no place: the run has no plan, or nothing in it waits for one."""
    return (
        f"Nothing in the plan of run {run.id} waits for an answer. Do what it needs. "
        f"{loop_messages.what_continues(run)}"
    )


def no_client(client: str, project: str) -> str:
    """Says that the program of a client is missing, and which could do it that is here."""
    text = f"There is no `{client}` on the PATH (one inside the project does not count)."
    here = [name for name in clients.HEADLESS if clients.headless(name).program(project)]
    if here:
        return f"{text} Give `--client {here[0]}`, which is here, or install it."
    others = ", ".join(clients.HEADLESS)
    return f"{text} Install it, or give another client with --client ({others})."


# ---------------------------------------------------------------- while it works


def waits(why: str, until: float) -> str:
    return f"Waiting until {time.strftime('%H:%M', time.localtime(until))}: {one_line(why)}"


def goes_on_with(client: str, before: str, until: float) -> str:
    """Says that another client goes on. before: the one that has worked so far. until: when its
    limit ends; 0 = it has none, and only took the place of the other one."""
    if not until:
        return f"The run goes on with {client} again."
    end = time.strftime("%H:%M", time.localtime(until))
    return f"{before} has reached its limit until {end}. The run goes on with {client}."


def all_at_limit(names: Sequence[str]) -> str:
    """Says why a run waits that has several clients."""
    return f"{' and '.join(names)} have reached their limits"


def check_of_item(command: str, how: str) -> str:
    """Says why a ticked item does not count. how: its check ended."""
    if command in NO_CHECK:
        return f"`{command}` {how}"
    what = "its check ran no test" if "no test" in how else "its check fails"
    return f"{what}: {masked_line(command, 200)}"


def trailer(run: str) -> str:
    """Returns the line by which a commit says whose it is. run: its id."""
    return f"Sisyphus-Run: {run}"


def with_half_work(run: Run, why: str) -> str:
    """Adds to why an item is left where its half work lies."""
    branch = run.state.aside_of(run.state.item)
    return f"{why}. Its half work is on the branch {branch}" if branch else why


def refused_again(how: str) -> str:
    """Says why the run stops: its agent could not mend what keeps git from a commit."""
    return f"for the second time in a row, `git commit` {how}"


def last_iteration(number: int) -> str:
    return f"iteration {number} was the last"


NOT_DONE = "the work is not done yet"
ITEM_NOT_DONE = "the item is not done yet"
ITEM_DONE = "the item is done"
WENT_BACK = "items that were done went back with the work that was set aside"

CHECK_PASSED = "the check passed"


def needs_you(why: str) -> str:
    return f"the agent needs you: {masked_line(why, 300)}"


def plan_is_gone(plan: str, problem: str) -> str:
    return f"{plan} cannot be used any more: {problem}"
