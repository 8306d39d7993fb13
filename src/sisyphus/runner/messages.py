"""Every sentence about runs that the user reads, besides those of the report (`report.py`) and of
`ralph decide` (`foreign_loop.py`, `decide_command.py`). What the model reads is in `prompt.py` and
`audit_prompt.py`."""

from __future__ import annotations

import time

from sisyphus import clients
from sisyphus.clients.reports import Denied
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display
from sisyphus.ground.quoting import plain
from sisyphus.ground.text import one_line
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.runs import Run

RESUME = "sisyphus ralph run --resume"

INTERRUPTED = "you pressed Ctrl-C twice, or it was told to end"
AFTER_ITERATION = "you pressed Ctrl-C"
TERMINATED = "it was told to end, or its terminal was closed"
CANCELLED = "you cancelled it"
PAUSED = "you paused it"

STOPS_AFTER_ITERATION = "The run ends after this iteration. Ctrl-C again ends it now."

_TASK = 100
_FILES = 10


# ---------------------------------------------------------------- before a run


def started(run: Run) -> str:
    """Tells the user what the run does, what ends it, and how to end it now."""
    limits = loop_messages.limits(run.loop)
    when = f"It ends {_success(run)}{f', or after {limits}' if limits else ''}."
    return (
        f"Run {run.loop.id} started: {one_line(run.loop.task, _TASK)}\n{when} Ctrl-C ends it after "
        "an iteration, Ctrl-C twice at once."
    )


def _success(run: Run) -> str:
    ends = []
    if run.loop.options.promise:
        ends.append(f"the agent says <promise>{run.loop.options.promise}</promise>")
    if run.state.plan:
        ends.append(f"all of {display(run.state.plan, run.loop.project)} is done")
    if run.loop.options.verify:
        ends.append(f"`{one_line(run.loop.options.verify)}` exits 0")
    if run.options.audits:
        count = run.options.audits
        ends.append("an audit finds nothing" if count == 1 else f"{count} audits find nothing")
    return f"when {' and '.join(ends)}"


_ENDED_CLIENT = " Its client was still there and was ended."


def resumed(run: Run, *, has_ended_client: bool) -> str:
    state = run.state
    number = f"iteration {state.finished + 1}{_of(run)}"
    if state.is_auditing:
        number = audit_name(state.audits + 1)
    return f"Run {run.loop.id} goes on with {number}.{_ENDED_CLIENT * has_ended_client}"


def _of(run: Run) -> str:
    most = run.loop.options.max_iterations
    return f" of {most}" if most else ""


def cannot_go_on(run: Run, why: str, option: str, used: str, *, has_ended_client: bool) -> str:
    """Refuses to resume a run at a limit. why: which one. option: sets it. used: what the run has
    used, as the option counts."""
    return (
        f"Run {run.loop.id} cannot go on: {why}. Give more than {used} with {option}, or 0 for no "
        f"limit.{_ENDED_CLIENT * has_ended_client}"
    )


NOTHING_TO_RESUME = (
    "No run has begun in this project. Start one: `sisyphus ralph run -- TASK`, or with the boxes "
    "of fix_plan.md as its items."
)


def is_complete(run: Run) -> str:
    return f"Run {run.loop.id}, the last one of this project, is complete. Start another one."


def is_at_work(run: Run) -> str:
    if run.loop.ended_at is not None:
        return f"Run {run.loop.id} is over, and its process is about to end. Try again in a moment."
    return (
        f"Run {run.loop.id} is at work in this project ({loop_messages.iteration(run.loop)}). "
        f"`sisyphus ralph cancel {run.loop.id}` ends it."
    )


def replaced_by(run: Run) -> str:
    """Says why a run has ended, in its own row."""
    return f"replaced by {run.loop.id}"


def replaces(run: Run) -> str:
    reached = loop_messages.iteration(run.loop)
    return (
        f"Run {run.loop.id}, which had got to {reached}, is over: `{RESUME}` would have gone on "
        "with it."
    )


def task_of_plan(plan: str, title: str) -> str:
    """Returns the task of a run whose user has given none. title: what the plan calls itself."""
    heading = f"{plain(title, 200)}\n\n" if title else ""
    return f"{heading}Do the items of {plain(plan, 300)}, one after the other."


def no_task(project: str) -> str:
    return (
        f"There is nothing to do: no fix_plan.md is in {display(project, '')}, and it follows no "
        "plan. Write the items as boxes (`- [ ] text`) into that file, or give a task."
    )


def no_end(project: str) -> str:
    return (
        "Nothing would end the run but its limits: there is no fix_plan.md in "
        f"{display(project, '')}, and it follows no plan. Write the items as boxes into that file, "
        "give a --completion-promise, or a --verify command."
    )


PLAN_IS_GONE = "it is gone"
NO_BOXES, ALL_CANCELLED = "it has no boxes", "all its items are cancelled"
THROUGH_LINK, NOT_UTF_8 = "it is reached through a link", "it is not UTF-8"
"""Why a plan cannot be used."""

ITEM_IS_GONE = "the item is not in it any more"
"""Why an answer cannot be written into a plan."""


def answer(text: str) -> str:
    """Returns the line of a plan with the user's answer. text: on one line."""
    return f"Answer of the user: {text}"


def plan_not_changed(plan: str, why: str) -> str:
    return f"The answer could not be written into {plan}: {why}. Write it there yourself."


def answered(run: Run, item: str) -> str:
    plan = display(run.state.plan, run.loop.project)
    return (
        f"The answer stands below “{one_line(item, _TASK)}” in {plan}. "
        f"{loop_messages.what_continues(run.loop)}"
    )


def not_to_answer(run: Run) -> str:
    """Refuses an answer that has no place: the run has no plan, or nothing in it waits for one."""
    return (
        f"Nothing in the plan of run {run.loop.id} waits for an answer. Do what it needs. "
        f"{loop_messages.what_continues(run.loop)}"
    )


NEW_PLAN = "# Fix Plan"
"""The first line of a plan that an audit begins."""


def bad_plan(plan: str, problem: str) -> str:
    return f"{plan} cannot be used: {problem}. Write the items as boxes, `- [ ] …`, one a line."


def no_client(client: str, project: str) -> str:
    """Says that the program of a client is missing, and which could do it that is here."""
    text = f"There is no `{client}` on the PATH (one inside the project does not count)."
    here = [name for name in clients.HEADLESS if clients.headless(name).program(project)]
    if here:
        return f"{text} Give `--client {here[0]}`, which is here, or install it."
    others = ", ".join(clients.HEADLESS)
    return f"{text} Install it, or give another client with --client ({others})."


def no_mode(modes: list[str], about: str) -> str:
    """about: what the agent may do in one of the modes."""
    return (
        "Nobody is there to answer the client's questions, so the run needs a permission mode. "
        f"Give --permission-mode: {', '.join(modes)}. {about}"
    )


def unfit_mode(mode: str, modes: list[str]) -> str:
    return (
        f"Permission mode {mode} does not fit a run, in which nobody answers the client. Give one "
        f"of {', '.join(modes)}."
    )


def refused_plan(plan: str, mode: str, free: str) -> str:
    return (
        f"The agent could not tick a box: the client refuses to edit {plan} in permission mode "
        f"{mode}. Move it to fix_plan.md, or give --permission-mode {free}."
    )


def only_reads(plan: str, mode: str, edits: str) -> str:
    return (
        f"The agent could not tick a box of {plan}: permission mode {mode} lets it change nothing. "
        f"Give --permission-mode {edits}."
    )


def locked_plan(plan: str) -> str:
    return f"{plan} cannot be written, so the agent could not tick a box. Make it writable."


def bad_amount(text: str) -> str:
    return f"--max-usd must be an amount such as 5 or 2.50, not {text!r}."


def dirty(files: list[str]) -> str:
    shown = "".join(f"\n  {one_line(file)}" for file in files[:_FILES])
    rest = len(files) - _FILES
    more = f"\n  and {rest:,} more" if rest > 0 else ""
    return f"The work tree has changes that are not committed:{shown}{more}"


def unfinished(command: str) -> str:
    """command: of git, such as "merge"."""
    return (
        f"A `git {command}` is not finished here. Finish it, or take it back with "
        f"`git {command} --abort`: the run's work would be mixed with it."
    )


def no_status(*, has_git: bool) -> str:
    what = "git does not say" if has_git else "There is no `git` on the PATH to say"
    mend = "Mend that" if has_git else "Install it"
    return (
        f"{what} which files are committed. {mend}, or give --allow-dirty: the run's work would be "
        "mixed with what is not committed."
    )


def commit_first(waiting: str) -> str:
    """Says what to do about changes that are not committed. waiting: the id of the run that waits
    in the project; "" = none."""
    go_on = f" To go on with run {waiting}, whose work this may be: `{RESUME}`." if waiting else ""
    return f"{_DIRTY_WAY}{go_on}"


_DIRTY_WAY = "Commit or stash them, or give --allow-dirty."
NOT_STARTED = "No run was started."
DIRTY_QUESTION = "The run's work would be mixed with them. Go on?"
NO_AUDIT = (
    "--audit needs a client that can be kept from writing, and --client-command may be any. Leave "
    "out one of them."
)
NO_DOLLARS = (
    "--max-usd cannot end this run: the client does not say what it costs. Give --max-tokens "
    "instead; --max-usd 0 takes the limit away."
)
NO_COMMAND = "--client-command is empty. Give a shell command, or leave it out."
TASK_AT_RESUME = (
    "--resume goes on with the last run of the project, which has its task: it takes no task and "
    "no id. Leave out what follows it, or --resume."
)


# ---------------------------------------------------------------- while it works


def not_started(error: OSError) -> str:
    return f"the client cannot be started: {error.strerror or error}"


def not_noted(error: Exception) -> str:
    return (
        f"The run had to stop, because nothing can be noted: {error}. `{RESUME}` goes on with it."
    )


def denied(call: Denied, run: Run, mode: str) -> str:
    """Says why a run ends at an edit that was not allowed, and what to do. mode: the permission
    mode that allows it."""
    file = one_line(display(call.target, run.loop.project))
    way = f": --permission-mode {mode} allows it" if run.options.permission_mode != mode else ""
    return f"the client did not let the agent edit {file}{way}"


def silent(seconds: int) -> str:
    return f"the client reported nothing for {seconds:,} s"


def waits(why: str, until: float) -> str:
    return f"Waiting until {time.strftime('%H:%M', time.localtime(until))}: {one_line(why)}"


def check_failed(how: str) -> str:
    return f"the check {how}"


def checking(commands: list[str]) -> str:
    """Says in place of what the agent does that its work is checked."""
    return f"checks the item: {one_line(', '.join(commands), 200)}"


def check_of_item(command: str, how: str) -> str:
    """Says why a ticked item does not count. how: its check ended."""
    what = "its check ran no test" if "no test" in how else "its check fails"
    return f"{what}: {masked_line(command, 200)}"


def check_of_plan(command: str, how: str) -> str:
    """Says why a run is not complete though all items are done. how: a check of its plan ended."""
    return f"the check {masked_line(command, 200)} {how}"


def unclear_item(line: str) -> str:
    """Makes an item of a line that looks like one and is none."""
    return f"Make a box `- [ ]` of this line of the list, do it, and tick it: {line}"


def open_items(count: int, plan: str) -> str:
    items = "an item" if count == 1 else f"{count} items"
    return f"the promise was said, but {items} of {plan} {'is' if count == 1 else 'are'} open"


def tokens_used_up(most: int) -> str:
    return f"its {most:,} tokens are used up"


def dollars_used_up(most: float) -> str:
    return f"its ${most:,.2f} are used up"


def minutes_used_up(most: int) -> str:
    return f"its {most:,} {'minute is' if most == 1 else 'minutes are'} up"


def last_iteration(number: int) -> str:
    return f"iteration {number} was the last"


NOT_DONE = "the work is not done yet"
ITEM_NOT_DONE = "the item is not done yet"
ITEM_DONE = "the item is done"
MAKE_CHECK_PASS = "make the check pass"
"""The item of an iteration whose list is done and whose check fails."""

KEPT = "the promise was said"
ALL_DONE = "all items are done"
CHECK_PASSED = "the check passed"
AND_AUDIT = ", and an audit follows"


def needs_you(why: str) -> str:
    return f"the agent needs you: {masked_line(why, 300)}"


def all_blocked(blocked: dict[str, str], marked: list[str]) -> str:
    items = [f"{one_line(item, 60)} ({one_line(why, 100)})" for item, why in blocked.items()]
    items += [one_line(item, 60) for item in marked if item not in blocked]
    return f"all that is left is blocked: {'; '.join(items)}"


def plan_is_gone(plan: str, problem: str) -> str:
    return f"{plan} cannot be used any more: {problem}"


def handed_over(percent: int) -> str:
    """Says why an iteration ended before its item was done. percent: of its context; 0 =
    unknown."""
    return f"it handed its work over{f', with its context {percent} % full' if percent else ''}"


def audit_found(number: int, count: int) -> str:
    return f"audit {number} found {count} thing{'' if count == 1 else 's'}"


def audit_is_clean(number: int) -> str:
    return f"audit {number} found nothing"


def audit_is_unclear(number: int) -> str:
    return f"audit {number} gave no answer"


def not_added(run: Run, error: Exception) -> str:
    """Says why a run ends whose auditor has found something that cannot be put into the plan."""
    plan = display(run.state.plan, run.loop.project)
    return f"an audit found something, but {plan} cannot be written: {one_line(str(error))}"


def audits_used_up(most: int) -> str:
    return f"after {most} audits the auditor still finds something, or gives no answer"


def audit_name(number: int) -> str:
    """Says in place of an item that an audit is at work."""
    return f"audit {number}"


def audit_heading(number: int) -> str:
    return f"Found by audit {number}"


# ---------------------------------------------------------------- at its end


def ended(report: str) -> str:
    """Names the file of the report."""
    return f"Report: {display(report, '')}"


_TITLES = {
    "completion": "Run completed", "ended": "Run ended", "paused": "Run paused",
    "blocked": "The agent needs you", "failure": "Run failed", "checkpoint": "Run at a checkpoint",
}  # fmt: skip


def notice_title(kind: str) -> str:
    return _TITLES[kind]


def what_happened(run: Run, why: str) -> str:
    """Returns the text of a notice. It starts with our own words."""
    return (
        f"Run {run.loop.id}, {loop_messages.iteration(run.loop)}: {one_line(why)}. "
        f"Task: {one_line(run.loop.task, _TASK)}"
    )
