"""What is said about a plan: to the model in blocks, to the user in a sentence. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json, Piece, PlanStatus
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.parser.plan import Plan

_LIMIT = 300
"""Code points of a name or a task in a text: a hostile plan must not fill the reply."""


_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " ")


def continuation(look: Look) -> str:
    """For the model at session start: where the plan stands and what comes next."""
    plan = look.plan
    head = (
        "[BOULDER STATE DETECTED]\n\n"
        f"Active plan: {line(look.name)}\n"
        f"Progress: {plan.counts.completed}/{plan.counts.total} tasks complete\n"
        f"Plan location: {line(look.place)}\n\n"
        "Continuing from where you left off."
    )
    known = _known(plan)
    return head + ("\n\n" + "\n".join(known) if known else "")


def _known(plan: Plan) -> list[str]:
    known = []
    if plan.next:
        known.append(f"Next task: {line(plan.next.text) or f'line {plan.next.line}'}")
    if plan.current_wave:
        wave = plan.current_wave
        known.append(f"Current wave: {line(f'{wave.number} — {wave.name}'.removesuffix(' — '))}")
    if plan.current_story:
        story = plan.current_story
        known.append(f"Current story: {line(f'{story.id}: {story.title}'.removesuffix(': '))}")
    if plan.counts.blocked:
        known.append(f"Blocked: {plan.counts.blocked}")
    return known


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


def cleared(status: PlanStatus) -> str:
    """The answer to `boulder clear`, from the status before it."""
    place = f"{line(status['plan_name'] or '')} ({line(status['active_plan'] or '')})"
    if status["state"] == "active":
        return f"Boulder cleared: {place}. It comes back by `sisyphus boulder start`."
    return f"Boulder cleared: {place}."


def started(status: PlanStatus) -> str:
    """The answer to `boulder start` and `boulder switch`."""
    return "Boulder state tracking enabled for this plan.\n\n" + status_text(status)


def status_text(status: PlanStatus) -> str:
    """`boulder status` for people."""
    if status["state"] == "none":
        return "No plan is followed here. `sisyphus boulder start` begins with one."
    progress = status["progress"]
    rows = {
        "Plan": f"{line(status['plan_name'] or '')} ({status['state'].replace('_', ' ')})",
        "Progress": f"{progress['completed']}/{progress['total']} tasks complete{_extra(status)}",
        "Next task": line(status["next_task"] or ""),
        "File": line(status["active_plan"] or ""),
        "Started": line(status["started_at"] or ""),
        "Sessions": str(len(status["session_ids"]) or ""),
    }
    lines = [f"{name}: {value}" for name, value in rows.items() if value]
    return "\n".join([*lines, *_parts(status)])


def _extra(status: PlanStatus) -> str:
    progress = status["progress"]
    counts = {
        "in progress": progress["in_progress"],
        "blocked": progress["blocked"],
        "cancelled": progress["cancelled"],
    }
    parts = [f", {count} {name}" for name, count in counts.items() if count]
    if progress["steps_total"]:
        parts.append(f"; steps {progress['steps_completed']}/{progress['steps_total']}")
    return "".join(parts)


def _parts(status: PlanStatus) -> list[str]:
    waves = [
        f"Wave {wave['number']}{' — ' if wave['name'] else ''}{line(wave['name'])}: "
        f"{wave['completed']}/{wave['total']}"
        for wave in status["waves"]
    ]
    stories = [
        f"{story['id']}: {line(story['title'])} ({story['status'].replace('_', ' ')}, "
        f"{story['completed']}/{story['total']})"
        for story in status["stories"]
    ]
    return [*waves, *stories]


def piece(path: str, text: str, remark: str = "") -> Piece:
    """`text` about the plan at `path`, for the model, once a session; `remark` only goes along."""
    from binascii import crc32

    return {
        "kind": "boulder",
        "head": "",
        "body": f"{text}\n\n{remark}" if remark else text,
        "tail": "",
        "late_head": "",
        "ledger": "",
        "hash": f"boulder-{crc32(text.encode('utf-8', 'surrogatepass')):08x}",
        "path": path,
    }


def line(text: str) -> str:
    """One printable line of at most 300 code points."""
    shown = text[: _LIMIT + 1].encode("utf-8", "replace").decode().translate(_CONTROLS)
    return shown if len(shown) <= _LIMIT else shown[: _LIMIT - 1] + "…"


def _plan(look: Look) -> str:
    return f"{line(look.name)}, {_progress(look)} ({line(look.place)})"


def _progress(look: Look) -> str:
    return f"{look.plan.counts.completed}/{look.plan.counts.total} tasks complete"


def _record(record: Json) -> str:
    progress = record["progress"]
    return f"{line(record['plan_name'])}, {progress['completed']}/{progress['total']}"
