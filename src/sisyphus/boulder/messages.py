"""What is said about a plan: to the model in blocks, to the user in a sentence. Pure."""

from __future__ import annotations

from sisyphus.clients.base import Text
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.kord.notes import Notes
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.parser.plan import Plan

_TODOS = 10

OUR_EVENTS = ("progress", "session-end", "pre-compact")
"""What makes a checkpoint by itself."""


def continuation(look: Look, notes: Notes) -> str:
    """For the model at session start: where the plan stands and what comes next."""
    plan = look.plan
    head = (
        "[BOULDER STATE DETECTED]\n\n"
        f"Active plan: {line(look.name)}\n"
        f"Progress: {plan.counts.completed}/{plan.counts.total} tasks complete\n"
        f"Plan location: {line(look.place)}\n\n"
        "Continuing from where you left off."
    )
    known = [*_known(plan, notes), *_todos(notes)]
    return head + ("\n\n" + "\n".join(known) if known else "")


def brief(look: Look, notes: Notes) -> str:
    """For the model after a compaction, whose summary knows what this is about."""
    plan = look.plan
    where = f"{plan.counts.completed}/{plan.counts.total} tasks complete, {line(look.place)}"
    head = f"[BOULDER STATE DETECTED]\n\nActive plan: {line(look.name)} ({where})"
    return "\n".join([head, *_known(plan, notes)])


def _known(plan: Plan, notes: Notes) -> list[str]:
    from sisyphus.boulder.parser.stories import current_parts, next_task

    task = next_task(plan, notes.wave, notes.story)
    wave, story, title = current_parts(plan, notes.wave, notes.story)
    name = next((w.name for w in plan.waves if w.number == wave), "")
    checkpoint = notes.checkpoint or {}
    rows = {
        "Next task": (task.text or f"line {task.line}") if task else "",
        "Current wave": "" if wave is None else f"{wave} — {name}".removesuffix(" — "),
        "Current story": f"{story}: {title}".removesuffix(": ") if story else "",
        "Last checkpoint": checkpoint.get("message", ""),
        "Blocked": str(plan.counts.blocked or ""),
    }
    return [f"{name}: {line(value)}" for name, value in rows.items() if value]


def _todos(notes: Notes) -> list[str]:
    if not notes.todos:
        return []
    from sisyphus.boulder.kord.todos import open_todos

    found = open_todos(notes.todos)
    rows = [
        f"- {line(str(todo.get('content')))}"
        + (" (in progress)" if todo.get("status") == "in_progress" else "")
        for todo in found[:_TODOS]
    ]
    more = [f"- and {len(found) - _TODOS} more"] if len(found) > _TODOS else []
    return ["Open todos:", *rows, *more] if rows else []


def moved_file(look: Look, before: str) -> str:
    return f"Boulder: the plan {line(before)} is {line(look.place)} now; it is followed there."


def missing(name: str, place: str) -> str:
    return (
        "[BOULDER PLAN MISSING]\n\n"
        f"Active plan: {line(name)}\n"
        f"Plan location: {line(place)} (deleted)\n\n"
        "The plan file is gone, so there is nothing to continue. Restore it, or run "
        "`sisyphus boulder clear` to forget the plan."
    )


def completed(look: Look) -> str:
    return (
        "[BOULDER COMPLETE]\n\n"
        f"Plan: {line(look.name)}\n"
        f"Progress: {_progress(look)}\n\n"
        "All tasks are done; the boulder is cleared."
    )


def enabled(look: Look) -> str:
    return f"Boulder state tracking enabled for this plan: {_plan(look)}"


def changed(look: Look, before: Json) -> str:
    return (
        f"Boulder: {line(look.place)} holds another plan now: {_plan(look)}. What is known of "
        f"{_record(before)}, waits until it is back."
    )


def resumed(look: Look) -> str:
    return f"Boulder: {_plan(look)}"


def moved(other: Json) -> str:
    return f"The boulder was moved here from {line(other['project_root'])} ({_record(other)})."


def ask_to_switch(other: Json) -> str:
    return (
        f"The plan in use is still {_record(other)} in {line(other['project_root'])}. "
        "To use this one instead: sisyphus boulder switch"
    )


def left_open(record: Json) -> str:
    return (
        f"The plan before it, {_record(record)}, is no longer the current one. "
        "To go back to it: sisyphus boulder switch NAME"
    )


def stale(look: Look, since: str) -> str:
    return (
        f"Boulder: {_plan(look)} was not touched since {line(since)[:10]} and is not resumed by "
        "itself. `sisyphus boulder start` takes it up again, `sisyphus boulder clear` drops it."
    )


def unreadable(look: Look) -> str:
    return f"Boulder: {line(look.problem)}. The plan is not followed until that changes."


def gist(notes: Notes, text: str) -> str:
    """What makes `text` news: a checkpoint that we made ourselves tells nobody anything new."""
    message = (notes.checkpoint or {}).get("message", "")
    is_ours = notes.by in OUR_EVENTS
    return text.replace(f"\nLast checkpoint: {line(message)}", "") if is_ours else text


def piece(path: str, text: str, remark: str = "", gist: str = "") -> Text:
    """`text` about the plan at `path`, for the model, once a session; `remark` only goes along.
    Of texts with one `gist` one is sent."""
    from binascii import crc32

    return Text(
        "boulder",
        f"{text}\n\n{remark}" if remark else text,
        hash=f"boulder-{crc32((gist or text).encode('utf-8', 'surrogatepass')):08x}",
        path=path,
    )


def _plan(look: Look) -> str:
    return f"{line(look.name)}, {_progress(look)} ({line(look.place)})"


def _progress(look: Look) -> str:
    return f"{look.plan.counts.completed}/{look.plan.counts.total} tasks complete"


def _record(record: Json) -> str:
    progress = record["progress"]
    return f"{line(record['plan_name'])}, {progress['completed']}/{progress['total']}"
