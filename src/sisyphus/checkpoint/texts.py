"""What the model and the user are told about a filling context, to the letter. Pure."""

from __future__ import annotations

from sisyphus.clients import DEFAULT, client_named
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, PlanStatus

_EDIT_SECONDS = 60


def warning(percent: int, *, next_percent: int, is_held: bool) -> str:
    """L1, once. A session that nothing holds is not handed over at L2."""
    ahead = f" At {next_percent}% a handoff is written and a fresh context goes on."
    return f"""\
CCS_WARNING|L1|{percent}|Context at {percent}%

The context is {percent}% full. Finish what you have begun before you take up more, read no file \
whole where a part will do, and give exploration and reviews to subagents.\
{ahead if is_held else ""}"""


def informed(level: str, percent: int) -> str:
    """L2 of a session that nothing holds: it learns how full its context is."""
    return f"""\
CCS_WARNING|{level}|{percent}|Context at {percent}%

The context is {percent}% full. Bring what you are doing to an end, and tell the user where the \
work stands and what is left."""


def checkpoint(level: str, percent: int, entry: Checkpoint) -> str:
    """L2: the handoff is there, and the model is asked to finish and to add what it alone knows."""
    file = line(entry.get("handoff_file", ""))
    return f"""\
CCS_CHECKPOINT_TRIGGERED|{level}|{percent}|{file}

The context is {percent}% full. A handoff with the facts of this session was written to {file}.

1. Complete the edit that you are in, in at most {_EDIT_SECONDS} seconds. Begin nothing new.
2. Add to the sections under `## Notes` of the handoff what the facts do not tell: decisions, what \
was tried and rejected, open questions, what the next session must know. Keep it short.
3. Stop. Output no completion promise unless all work is truly complete. The work goes on from the \
handoff with a fresh context."""


def written(level: str, percent: int, entry: Checkpoint) -> str:
    """L2 of a session that does not stop for it."""
    file = line(entry.get("handoff_file", ""))
    return f"""\
CCS_CHECKPOINT_TRIGGERED|{level}|{percent}|{file}

The context is {percent}% full. A handoff with the facts of this session was written to {file}. \
Add to the sections under `## Notes` of it what the facts do not tell, then go on with your work: \
whoever goes on behind a compaction, or in a new session, is given it."""


def emergency(percent: int, entry: Checkpoint) -> str:
    """L3: no more work in this context."""
    file = line(entry.get("handoff_file", ""))
    return f"""\
CCS_CHECKPOINT_TRIGGERED|L3|{percent}|{file}

The context is {percent}% full: stop now. A handoff with the facts of this session was written to \
{file}. Call no more tools, unless an edit is half done. The work goes on from the handoff with a \
fresh context."""


def nearly_full(percent: int, entry: Checkpoint) -> str:
    """L3 of a session that nothing holds."""
    file = line(entry.get("handoff_file", ""))
    return f"""\
CCS_CHECKPOINT_TRIGGERED|L3|{percent}|{file}

The context is {percent}% full. A handoff with the facts of this session was written to {file}. \
Bring what you are doing to an end, and tell the user where the work stands and what is left."""


def no_handoff(percent: int, why: str) -> str:
    return f"Context at {percent}%. No handoff could be written: {line(why)}"


def user_checkpoint(level: str, percent: int, entry: Checkpoint, *, stops: bool) -> str:
    file = line(entry.get("handoff_file", ""))
    told = f"Context at {percent}% ({level}). Handoff: {file}"
    return f"{told}\nThe session stops soon; /clear or a new one goes on." if stops else told


def checkpointed(entry: Checkpoint | None, percent: int, client: str = DEFAULT) -> str:
    """To the user, where a loop lets its session stop for the sake of a fresh context. A loop
    follows its session behind a /clear; some clients have /compact alone."""
    empty = "/clear" if client_named(client).CLEARS else "/compact"
    file = line(entry.get("handoff_file", "")) if entry else ""
    full = f" at {percent}% of its context" if percent else ""
    if not file:
        return f"""\
[CHECKPOINTED]

The work stops here{full}. No handoff could be written: see `sisyphus why`.
To go on with a fresh context: {empty}, then a prompt that says where to go on."""
    return f"""\
[CHECKPOINTED]

The work stops here{full}; nothing is lost.
Its handoff: {file}
To go on with a fresh context: {empty}, then any prompt. The loop goes on from the handoff."""


def keep(plan: PlanStatus | None, entry: Checkpoint, loop: str) -> list[str]:
    """What the client's summariser is asked to keep, one item each."""
    step, file = line(entry.get("next_step", "")), line(entry.get("handoff_file", ""))
    facts = [
        f"the task of the loop: {loop}" if loop else "",
        _plan(plan),
        f"where the work goes on: {step}" if step else "",
        f"that the handoff {file} holds the facts of this session" if file else "",
        "paths and lines of the files that are being changed, and why",
        "decisions that were taken, and what was tried and rejected",
        "the last failing command, its error, and what was verified",
    ]
    return [fact for fact in facts if fact]


def _plan(plan: PlanStatus | None) -> str:
    if plan is None or not plan["active_plan"]:
        return ""
    task = f", next task: {line(plan['next_task'])}" if plan["next_task"] else ""
    done = plan["progress"]
    counted = f"{done['completed']} of {done['total']} tasks complete"
    name = f"{line(plan['plan_name'] or '')} ({line(plan['active_plan'])})"
    return f"the plan {name}: {counted}{task}"
