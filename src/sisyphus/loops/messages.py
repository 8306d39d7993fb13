"""Every sentence about loops and runs that the model and the user read."""

from __future__ import annotations

import os

from sisyphus.ground.paths import display
from sisyphus.ground.text import (
    cut,
    fingerprint,
    iso,
    one_line,
    units,
    without_headings,
    without_tags,
)
from sisyphus.hook.outcome import Text
from sisyphus.loops.loop import (
    ACTIVE,
    BLOCKED,
    DEFAULT_ITERATIONS,
    DEFAULT_MINUTES,
    ENDED,
    HOLD,
    MAX_JOBS,
    PAUSED,
    RUN,
    STUCK,
    SUCCESS,
    UNBOUNDED_ITERATIONS,
    Options,
    Work,
)
from sisyphus.sessions.messages import WAY_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.loops.iterations import Iteration

MAX_UNITS = 9_000
"""The longest task that one reply carries; leaves room for a frame and a file name."""

BY_USER, SESSION_DELETED = "you cancelled it", "its session was deleted"
"""Why a loop ended, as `ralph log` shows it."""

_HEADING = "[RALPH LOOP ENFORCEMENT]"
_ASK_FOR_PROMISE = (
    "Continue working on the task. Output the promise only when the task is TRULY complete."
)

_TASK = 100
_SHORT_TASK = 35
_COMMAND = 60
_SHORT_HINT = 84
"""Parts of a repeated reason, which has at most 200 characters without the promise."""

_SHOWN_FILES = 5
_PATH = 200


def prompt(loop: Work) -> Text:
    """Returns the task, for a model that has not seen it: sent once, and again after a
    compaction."""
    task = loop.prompt
    if units(task) > MAX_UNITS:
        rest = getattr(loop, "file", "") or f"the output of `sisyphus ralph list {loop.id} --json`"
        task = f"{cut(task, MAX_UNITS)}\n[Cut here. The whole task is in {rest}.]"
    body = f"The task of Ralph loop {loop.id}:\n\n{task}"
    return Text("loop", body, fingerprint(f"prompt of loop {loop.id}: {loop.prompt}"))


def terms(loop: Work) -> Text:
    """Tells the model what ends the loop that has just started, and the way out."""
    success = _success(loop, "you say", " alone on a line")
    parts = [f"You work in Ralph loop {loop.id}. It ends {success or 'only at its limits'}."]
    if loop.options.promise:
        parts.append("Say the promise only when the task is TRULY complete.")
    body = f"{' '.join(parts)}\n{WAY_OUT}"
    return Text("loop", body, fingerprint(f"terms of loop {loop.id}"))


def _success(loop: Work, says: str, where: str = "") -> str:
    """Returns what has to happen for success; "" = only the limits end the loop.

    says: "you say" or "the agent says". where: the place of the promise in a message.
    """
    ends = []
    if loop.options.promise:
        ends.append(f"{says} <promise>{loop.options.promise}</promise>{where}")
    if loop.options.verify:
        ends.append(f"`{one_line(loop.options.verify)}` exits 0")
    if loop.options.verify_plan:
        ends.append("the plan is complete")
    return f"when {' and '.join(ends)}" if ends else ""


def started(loop: Work, cancel: str = "") -> str:
    """Tells the user what ends the loop, and how to end it now. cancel: the slash command that does
    so, if they are in its session."""
    ends_after = limits(loop)
    success = _success(loop, "the agent says")
    when = ", or ".join(part for part in (success, ends_after and f"after {ends_after}") if part)
    way = f"run `sisyphus ralph cancel {loop.id}`"
    return (
        f"Ralph loop {loop.id} started: {one_line(loop.task, _TASK)}\n"
        f"It ends {when or 'only when you cancel it'}. To end it now, "
        f"{f'type {cancel}, or {way} in a terminal' if cancel else way}."
    )


def limits(loop: Work) -> str:
    """Returns the limits of a loop, joined with "or"; "" = it has none."""
    options = loop.options
    parts = []
    if options.max_iterations:
        parts.append(iterations(options.max_iterations))
    if options.max_minutes:
        parts.append(duration(options.max_minutes))
    if options.max_tokens:
        parts.append(f"{options.max_tokens:,} tokens")
    return " or ".join(parts)


def duration(minutes: int) -> str:
    whole = minutes % 60 == 0
    number, unit = (minutes // 60, "hour") if whole and minutes else (minutes, "minute")
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


HELP = f"""/ralph-loop TASK [OPTIONS] starts a loop: the agent works until the task is done.

  --completion-promise WORDS  end it when the agent says these words in a promise tag
  --verify COMMAND            end it only if this command exits 0
  --verify-plan               end it only if the session's plan is complete
  --max-iterations N          end it after N iterations; default: {DEFAULT_ITERATIONS}, or \
{UNBOUNDED_ITERATIONS} if nothing else ends it
  --max-minutes N             end it after N minutes, 90m or 8h; default: {DEFAULT_MINUTES:,}, a day
  --max-tokens N              end it after N tokens of all its agents; default: no limit
  --wait-for-user             let the agent stop to ask you a question
  --prompt-file FILE          read the task from a file

A limit of 0 is no limit. All after a bare -- is the task. Example:

  /ralph-loop "Make the tests pass" --completion-promise "ALL GREEN" --verify "make test"
"""
"""The answer to `/ralph-loop --help`."""


def refused(problem: str) -> str:
    return f"No Ralph loop was started. {problem}"


def too_deep(depth: int) -> str:
    return f"At most {depth} loops can be nested in a session. Finish one of them first."


def continuation(loop: Work, problem: str, hint: str, *, whole: bool, next_task: str = "") -> str:
    """Returns the reason of a blocked Stop.

    problem: why the loop does not end, as a sentence; "" = the hint says it, or nothing is to say.
    hint: why the promise does not count, or how the check failed.
    next_task: the next task of the session's plan; "" = none.

    The context keeps all of them, so only the first one is written in full (`whole`).
    """
    if not whole:
        expected = _expected(loop) or ("" if hint else _ends(loop))
        short = one_line(hint, _SHORT_HINT) or _task_line(loop, _SHORT_TASK)
        return "\n".join(line for line in (_HEADING, expected, short, WAY_OUT) if line)
    parts = [
        _HEADING,
        f"{problem or hint} The loop must continue.".lstrip(),
        _expected(loop) or f"{_ends(loop)} The user can cancel it with `sisyphus ralph cancel`.",
        _ASK_FOR_PROMISE if loop.options.promise else "",
        hint if problem else "",
        "\n".join(line for line in (_task_line(loop), _next(next_task), WAY_OUT) if line),
    ]
    return "\n\n".join(part for part in parts if part)


def _next(task: str) -> str:
    return f"Next task of the plan: {one_line(task, _TASK)}" if task else ""


def plan_open(name: str, completed: int, total: int, next_task: str) -> str:
    """Tells why a loop that needs the plan complete does not end."""
    rest = f", next: {one_line(next_task, _TASK)}" if next_task else ""
    return f"The plan {one_line(name)} is not complete: {completed} of {total} tasks{rest}."


def plan_unreadable(name: str, problem: str) -> str:
    return f"The plan {one_line(name)} cannot be read: {problem}."


NO_PLAN = (
    "The session follows no plan, so the plan is not complete. Start one with /start-work, or with "
    "`sisyphus boulder start` in a terminal."
)

NO_ARGUMENTS = (
    "/cancel-ralph takes no arguments: it cancels all loops of this session. To cancel one, run "
    "`sisyphus ralph cancel LOOP` in a terminal."
)

NEEDS_PLAN = (
    "--verify-plan needs an open plan: the one that this session follows, or else the only one of "
    "its project. Start one first with /start-work, or with `sisyphus boulder start` in a terminal."
)

ASKS = "It asked you a question with a dialog."
"""The question of an agent that asked with the client's tool."""

NOT_OUTPUT = "The completion promise was not output."
"""The problem of a Stop without the promise, and without one that comes near."""


def not_done(what: str, *, is_said: bool) -> str:
    """Returns the problem of a Stop at which the check failed or the plan is open. is_said: the
    promise was output."""
    return f"The promise was output, but the {what}." if is_said else f"The {what}."


def _expected(loop: Work) -> str:
    promise = loop.options.promise
    return f"Expected promise: <promise>{promise}</promise>" if promise else ""


def _ends(loop: Work) -> str:
    """Says what ends a loop without a promise."""
    check = "its check exits 0" if loop.options.verify else ""
    plan = "the plan is complete" if loop.options.verify_plan else ""
    when = " and ".join(part for part in (check, plan) if part)
    return (
        f"The loop ends when {when}, or at its limits." if when else "The loop ends at its limits."
    )


def _task_line(loop: Work, length: int = _TASK) -> str:
    return f"Task: {one_line(loop.task, length)} ({iteration(loop)})"


YOU_PAUSED = "you paused it"


def unknown_loop(id: str) -> str:
    return (
        f"No loop {id}. `sisyphus ralph list` lists the loops that have not ended, "
        "`sisyphus ralph log` the others."
    )


def has_ended(loop: Work) -> str:
    return f"{loop.kind.title()} {loop.id} has ended: {loop.why}."


def not_to_delete(loop: Work) -> str:
    return (
        f"{loop.kind.title()} {loop.id} is still {loop.status}. "
        f"`sisyphus ralph cancel {loop.id}` ends it."
    )


def iteration(loop: Work) -> str:
    """Returns which iteration a loop is in, of how many."""
    last = f" of {loop.options.max_iterations}" if loop.options.max_iterations else ""
    return f"iteration {loop.counters.iteration}{last}"


def action(tool: str, target: str, folder: str) -> str:
    """Says on a line what an agent did. target: what the tool worked on, a path as people write it.
    folder: where the agent works."""
    return one_line(f"{tool} {short_target(target, folder)}", _PATH)


def short_target(target: str, folder: str) -> str:
    """Returns a path as people write it. A text with blanks may be a command, and stays as it
    is."""
    return target if " " in target else display(target, folder)


def last_action(noted: str, folder: str) -> str:
    """Says the same as a run notes it: the tool, and then what it worked on; "" = nothing yet."""
    tool, _, target = noted.partition(" ")
    return action(tool, target, folder)


def iterations(number: int) -> str:
    return f"{number:,} iteration{'' if number == 1 else 's'}"


def state(loop: Work) -> str:
    """Says how a loop is by its row alone."""
    why = f" ({one_line(loop.why)})" if loop.why else ""
    return f"{loop.status}{why}, {iteration(loop)}"


def outcome(result: str) -> str:
    """Says how a loop or run ended, for lists."""
    return {SUCCESS: "complete"}.get(result, result)


def run_ended(run: Work, made: int, report: str) -> str:
    """Says how a run ended. made: its iterations. report: the path of its report, for people; "" =
    it has none."""
    where = f"\nReport: {report}" if report else ""
    return (
        f"Run {run.id} has ended: {one_line(run.why)}, {iterations(made)}: "
        f"{one_line(run.task, _TASK)}{where}"
    )


def iteration_facts(each: Iteration, client: str = "") -> str:
    """Returns what an iteration of a run did and used, as far as it is known, for `ralph log RUN`;
    "" = nothing is. client: of a run with several, the one that made it."""
    item = one_line(each.item, _TASK)
    word = f", {each.evidence}" if each.evidence else ""
    is_done = f" (done{word})" if item and each.is_done else f" (not done{word})" if word else ""
    parts = [
        f"{item}{is_done}",
        client,
        f"{each.seconds:,.0f} s" if each.seconds else "",
        f"{each.tokens:,} tokens" if each.tokens else "",
        f"{each.percent} % of the context" if each.percent else "",
        f"{each.files} file{'' if each.files == 1 else 's'} changed" if each.files else "",
        f"${each.cost:,.2f}" if each.cost else "",
    ]
    return ", ".join(part for part in parts if part)


def blocked_stop(loop: Work) -> str:
    """Tells the user the one thing that has changed at a blocked Stop."""
    return f"Ralph loop: {iteration(loop)}"


def check_failed(command: str, how: str) -> str:
    return f"The check `{one_line(command, _COMMAND)}` {how}."


def check_output(loop: Work, how: str, tail: str) -> Text:
    """Returns what a failed check printed, for the model. The same output is sent once."""
    output = without_headings(without_tags(tail)) or "(no output)"
    body = f"The check `{one_line(loop.options.verify)}` {how}:\n{output}"
    return Text("loop", body, fingerprint(f"check of loop {loop.id}: {body}"))


def complete(loop: Work, changed: list[str], ticks: str = "") -> str:
    """Tells the user that the loop is complete. changed: files of the check that have changed.
    ticks: what stands behind the ticks of its plan."""
    if loop.options.promise:
        what = f"Completion promise detected: <promise>{loop.options.promise}</promise>"
    else:
        passed = loop.options.verify and f"The check passed: {one_line(loop.options.verify)}"
        what = passed or f"The plan is complete{f' ({ticks})' if ticks else ''}."
    parts = ["[RALPH LOOP COMPLETE]", f"{what}\nRalph loop has ended."]
    if changed:
        parts.append(check_changed(changed))
    if loop.options.promise and (loop.options.verify or loop.options.verify_plan):
        checked = why_complete(loop, [], ticks)
        parts.append(f"{checked[:1].upper()}{checked[1:]}.")
    return "\n\n".join(parts)


def why_complete(loop: Work, changed: list[str], ticks: str = "") -> str:
    """Says what was checked when a loop was completed, for lists. changed: files of the check that
    have changed, which are to be looked at first. ticks: what stands behind the ticks of its
    plan."""
    looked_at = [
        f"files of its check changed ({_some(changed)})" if changed else "",
        "the promise was said" if loop.options.promise else "",
        check_passed(loop.options.verify) if loop.options.verify else "",
        f"the plan is complete{f' ({ticks})' if ticks else ''}" if loop.options.verify_plan else "",
    ]
    return ", ".join(part for part in looked_at if part)


def check_passed(command: str) -> str:
    return f"{one_line(command)} passed"


def _some(files: list[str]) -> str:
    """Names the first ones of some files."""
    shown = ", ".join(one_line(display(path, ""), _PATH) for path in files[:_SHOWN_FILES])
    rest = len(files) - _SHOWN_FILES
    return f"{shown} and {rest} more" if rest > 0 else shown


def check_changed(changed: list[str]) -> str:
    return f"Files that the check depends on changed during the loop: {_some(changed)}."


def ended(loop: Work) -> str:
    return f"[RALPH LOOP ENDED]\n\n{loop.name} has ended: {loop.why}."


def outer_ended(loop: Work) -> str:
    """Says why a nested loop ended, for `ralph log`."""
    return f"the loop around it, {loop.id}, has ended"


def paused(loop: Work) -> str:
    end = "\n" if loop.status == BLOCKED else ". "
    return f"{why_waits(loop)}{end}{what_resumes(loop)}"


def why_waits(loop: Work) -> str:
    """Says why a loop that is not active waits."""
    how = "needs you" if loop.status == BLOCKED else "is paused"
    return f"{loop.name} {how}: {one_line(loop.why)}"


def waits_at_checkpoint(loop: Work, file: str) -> str:
    """file: the handoff of the session that has ended there."""
    name = "The hold" if loop.kind == HOLD else loop.name
    return f"{name} waits at a checkpoint, with the handoff {display(file, loop.project)}."


WHAT_FOLLOWS_CHECKPOINT = "It goes on when you type /clear in its session, or resume the session."


def what_resumes(loop: Work) -> str:
    """Tells the user how a loop that is not active continues; "" = it is active, or has ended."""
    if loop.kind == RUN:
        return what_continues(loop) if loop.status in (PAUSED, BLOCKED, STUCK) else ""
    if loop.status in (BLOCKED, STUCK):
        return "Your next prompt resumes it."
    return f"Run `sisyphus ralph resume {loop.id}` to continue." if loop.status == PAUSED else ""


def what_continues(run: Work) -> str:
    """Tells the user how a run goes on that does not work now."""
    return f"Run `sisyphus ralph run --resume` in {display(run.project, '')} to continue."


STOPS_SOON = "It stops after this iteration."
"""What a run does that the user has paused while it works."""


def nobody_works(run: Work) -> str:
    """Refuses to resume a run whose process has ended."""
    return f"No process works at run {run.id} any more. {what_continues(run)}"


def run_failed(run: Work) -> str:
    """Tells the user that a run has ended with an error that no iteration could mend."""
    return f"{run.name} has ended: {one_line(run.why)}"


def what_follows_failure(run: Work) -> str:
    return f"{what_continues(run)} `sisyphus ralph delete {run.id}` forgets it."


IN_RUN = (
    "This session works at a run (`sisyphus ralph run`), which decides by itself how it goes on. "
    "Do what its prompt says, then stop."
)
"""Why no loop starts in a session of a run."""


def begins(loop: Work) -> str:
    """Says what a loop or hold waits for that is started or resumed outside of its session; "" = a
    run goes on by itself."""
    if loop.kind == RUN:
        return ""
    is_hold = loop.kind == HOLD
    who = "A session at the plan that is idle" if is_hold else "If its session is idle, it"
    return f"{who} begins with your next prompt there."


LEFT_BEHIND = "its session is over"


def left_behind(loop: Work, way: str) -> str:
    """Tells the user that a loop waits in a session that is over. way: the command of its client
    that resumes the session."""
    return f"{where_left(loop)}\n{what_takes_up(loop, way)}"


def still_left(loop: Work, way: str, others: int) -> str:
    """Tells the user of a new session, on one line, of the last loop that was left behind in its
    project. others: how many more there are."""
    more = f" {others} more: `sisyphus status`." if others else ""
    return f"{where_left(loop)} To go on with it, run `{way}`.{more}"


def where_left(loop: Work) -> str:
    """Says how far a loop is whose session is over, or a run whose process is gone."""
    needs = f" It needs: {one_line(loop.why, _TASK)}" if loop.status == BLOCKED else ""
    is_paused = f" It is paused: {one_line(loop.why, _TASK)}" if loop.status == PAUSED else ""
    return (
        f"{loop.name} was left behind at iteration {loop.counters.iteration}: "
        f"{one_line(loop.task, _TASK)}{needs}{is_paused}"
    )


def what_takes_up(loop: Work, way: str) -> str:
    """way: the command of its client that resumes the session."""
    resume = f"sisyphus ralph resume {loop.id}"
    first = "Resume its session"
    if loop.status == PAUSED:
        first = f"Run `{resume}` and resume its session"
    return f"{first} (`{way}`), or move the loop to another one with `{resume} --session-id ID`."


def needs_prompt(loop: Work) -> str:
    return (
        f"{loop.name} may go on, but its session is idle and does nothing before your next "
        f"prompt: {one_line(loop.task, _TASK)}"
    )


def interrupted(loop: Work) -> str:
    return (
        f"{loop.name} waits for your next prompt, because you interrupted its agent: "
        f"{one_line(loop.task, _TASK)}"
    )


def what_goes_on(owner: str) -> str:
    return f'Type "go on" in session {owner}.'


def taken_up(loop: Work) -> str:
    state = "continues" if loop.is_active else f"is still {loop.status}"
    how = f"Ralph loop {loop.id} {state}: {iteration(loop)}, {one_line(loop.task, _TASK)}"
    return "\n".join(filter(None, (how, what_resumes(loop))))


def which(loops: Sequence[Work]) -> str:
    """Asks which of several loops a command means."""
    lines = [f"\n  {loop.id}  {state(loop)}: {one_line(loop.task, _TASK)}" for loop in loops]
    return f"Several are meant. Give the id of one:{''.join(lines)}"


def still_running(loop: Work) -> str:
    """Refuses to give a session another loop."""
    return f"Loop {loop.id} is still running. Use --force to replace it."


def waits_for(inner: Work) -> str:
    return f"waits for loop {inner.id}"


def only_elsewhere(verb: str, loops: Sequence[Work], project: str) -> str:
    """Says that nothing runs in a project, and what to type for that which does in others."""
    shown = loops[:_MOST_ELSEWHERE]
    rows = [
        f"\n  {display(loop.project, '')}: `sisyphus ralph {verb} {loop.id}`, {state(loop)}: "
        f"{one_line(loop.task, _TASK)}"
        for loop in shown
    ]
    rows += [f"\n  {len(loops) - len(shown)} more: `sisyphus ralph list`"] * (loops != shown)
    return f"Nothing runs in {display(project, '')}, but elsewhere:{''.join(rows)}"


_MOST_ELSEWHERE = 5


def elsewhere(project: str) -> str:
    """Names the project of a loop that a command has picked in another one. project: for people."""
    return f"It is in another project: {one_line(project)}"


def not_to_move(loop: Work) -> str:
    """Refuses to move a hold or a run to a session."""
    if loop.kind == RUN:
        return f"{loop.name} starts sessions of its own, so it cannot be moved to one."
    return (
        f"{loop.name} belongs to a plan, so it cannot be moved to a session. "
        "`sisyphus boulder start` makes a session follow the plan."
    )


def deleted(loops: Sequence[Work]) -> str:
    ids = ", ".join(loop.id for loop in loops)
    kind = "run" if all(loop.kind == RUN for loop in loops) else "loop"
    stays = "".join(map(worktree_stays, loops))
    return f"Deleted {kind}{'' if len(loops) == 1 else 's'} {ids}.{stays}"


def worktree_stays(loop: Work) -> str:
    """Says that the worktree of a run, and those of its workers, are still there; "" = they are
    not, or it had none."""
    tree = loop.worktree
    trees = [tree, *(f"{tree}-{number}" for number in range(1, MAX_JOBS + 1))] if tree else []
    here = [display(each, "") for each in trees if os.path.isdir(each)]
    if len(here) > 1:
        return f" Its worktrees stay: {', '.join(here)}. `git worktree remove` removes them."
    return f" Its worktree stays: `git worktree remove {here[0]}` removes it." if here else ""


def not_adopted(problem: str) -> str:
    """Tells the user that a command in the transcript started no loop."""
    return (
        f"The transcript contains the command of a Ralph loop, but no loop was started. {problem} "
        "To start it, type the command again."
    )


def unusable(loop: Work, values: list[str]) -> str:
    """Tells the user which values of an edit of the state file have no effect; "" = none.

    values: each as `key: value`.
    """
    shown = ", ".join(one_line(value, _TASK) for value in values)
    return (
        f"The state file of Ralph loop {loop.id} was edited, but this cannot be used and has no "
        f"effect: {shown}."
        if values
        else ""
    )


def transcript_heading(loop: Work, number: int, session: str, at: float) -> str:
    """Returns the first line of a Stop in a transcript. number: the iteration that it ended."""
    return f"{TRANSCRIPT_MARK}{loop.name}, iteration {number}, session {session}, {iso(at)} ===="


def transcript_decision(decision: str) -> str:
    return f"{DECISION_MARK}{one_line(decision)}"


TRANSCRIPT_MARK, DECISION_MARK, CHECK_MARK = "==== ", "Decision: ", "The check `"
"""How our lines of a transcript begin. The last one is that of `check_output`."""


def answer(loop: Work, text: str, now: float) -> Text:
    """Returns what the user answers to a loop that needs them, for the model. The same answer can
    be given again, so each is a text of its own."""
    need = without_tags(one_line(loop.why, _TASK))
    frame = (
        f"You said in Ralph loop {loop.id} that you need: {need}\nThe user answers:\n\n",
        "\n\n",
        "",
    )
    return Text("answer", without_tags(text), fingerprint(f"{loop.id} {now} {text}"), frame=frame)


def no_answer_needed(loop: Work) -> str:
    return f"{loop.name} waits for no answer: it is {loop.status}."


EMPTY_ANSWER = "The answer is empty. Write what the agent needs to know, and send it again."


def long_answer(most: int) -> str:
    return f"The answer is too long. Give at most {most:,} characters, or name a file that has it."


def answered(owner: str) -> str:
    """Tells the user when their answer goes out. owner: the session's id."""
    return (
        f"The answer goes out with the next prompt or tool call of session {owner}. If it is idle, "
        "type “go on” there."
    )


def answered_left(loop: Work, owner: str) -> str:
    """The same where the session is over."""
    return (
        f"The answer waits for session {owner}, which is over. Resume that session in "
        f"{display(loop.project, '')}; the answer goes out with your first prompt there."
    )


def transcripts(path: str) -> str:
    """Tells where the transcripts of a loop are. path: of the whole one."""
    return f"What the agent did: {path}, and of one iteration: {path.replace('_full', '_iter_N')}"


def edited(loop: Work, status: str, options: Options) -> str:
    """Tells the user what an edit of the state file ended, paused or raised; "" = nothing.

    status, options: of the loop before the edit.
    """
    if loop.status != status:
        return {ACTIVE: resumed, ENDED: ended}.get(loop.status, paused)(loop)
    names = ("max_iterations", "max_minutes", "max_tokens")
    changes = [(name, getattr(options, name), getattr(loop.options, name)) for name in names]
    raised = [
        f"{name} is now {now or 'unlimited'}"
        for name, before, now in changes
        if before and (not now or now > before)
    ]
    return (
        f"The state file of Ralph loop {loop.id} was edited: {', '.join(raised)}." if raised else ""
    )


def resumed(loop: Work) -> str:
    return f"{loop.name} is running again."


def resumed_left(loop: Work, way: str) -> str:
    """Says the same of a loop whose session is over. way: see `what_takes_up`."""
    return f"{loop.name} is no longer paused. {what_takes_up(loop, way)}"


def not_paused(loop: Work) -> str:
    """Tells the user that there was nothing to resume."""
    return f"{loop.name} was not paused: {iteration(loop)}."


def cancelled(loops: Sequence[Work]) -> str:
    if not loops:
        return "No Ralph loop is running in this session."
    return "\n".join(
        f"{loop.name} was cancelled at iteration {loop.counters.iteration}: "
        f"{one_line(loop.task, _TASK)}{'.' * bool(stays)}{stays}"
        for loop, stays in zip(loops, map(worktree_stays, loops), strict=True)
    )
