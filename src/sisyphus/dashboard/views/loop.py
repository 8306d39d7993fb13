"""One loop: what it was to do, how it stands, and what happened in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.dashboard.failures import INVALID_LOOP_ID, FailedError, not_found
from sisyphus.dashboard.views import going_on, handoffs, loops, plan_rows, stops
from sisyphus.errors import UnreadableError
from sisyphus.paths import is_safe_id
from sisyphus.processes import last_lines, plain
from sisyphus.ralph import iterations, report, stale
from sisyphus.ralph import loop as lp
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.ralph.past import records, timeline
from sisyphus.ralph.past.history import TEXT_CHARACTERS
from sisyphus.reading import read_bytes
from sisyphus.session.client_process import is_held
from sisyphus.text import harmless, one_line
from sisyphus.times import epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.past.records import Record

CANCEL, PAUSE, RESUME, ARCHIVE, DELETE = "cancel", "pause", "resume", "archive", "delete"

_PROMPT_CHARACTERS = 100_000
_VERIFY_CHARACTERS = 20_000
_VERIFY_BYTES = 1_000_000

_BESIDES = {
    "wait_for_user": "it waits for answers to the model's questions",
    "resume_after_limit": "it goes on when the account's limit resets",
}


def find(desk: Desk, loop_id: str) -> Record:
    """The newest loop of exactly this id. Raises `FailedError`."""
    return same(desk, loop_id)[0]


def checked(loop_id: str) -> str:
    """The id itself. Raises `FailedError` for what cannot be one."""
    if not is_safe_id(loop_id):
        text = (
            "this is no loop's id: up to 128 letters, digits, and `.`, `_`, `-`. The list of loops "
            "names them all."
        )
        raise FailedError(400, INVALID_LOOP_ID, text)
    return loop_id


def same(desk: Desk, loop_id: str) -> list[Record]:
    """The loops of this id, the newest first: ids of five letters may meet again."""
    checked(loop_id)
    found = [one for one in desk.history() if one.loop_id == loop_id]
    if not found:
        raise not_found(f"no loop {loop_id} is known. The list of loops names them all.")
    return found


def is_known(desk: Desk, loop_id: str) -> bool:
    return any(one.loop_id == loop_id for one in desk.history())


def living(desk: Desk, record: Record) -> Json | None:
    """Its row of `ralph list --json`; None where it has ended."""
    if not record.is_active:
        return None
    return loops.by_name(desk.loops()).get((record.loop_id, record.session_id))


def loop(desk: Desk, loop_id: str) -> Json:
    """What a row of the list has, `live` in full, and more:

    `prompt`, and whether it `is_cut`; `state` and `limits` in words; `stops` (see there); `verify`:
    the end of what its command printed last; `criteria`; `actions` that its state allows; `inside`
    and `outside`: other loops of its session, that run in it and that wait for it; `others`: when
    older loops of the same id began; `resume`: the commands that go on with its session, one a
    line, "" while a client is in it; `has_journal`: whether that has one still; `plan` and
    `handoffs` that it leads to. Raises `FailedError`.
    """
    record, *older = same(desk, loop_id)
    live = living(desk, record)
    [row] = loops.rows(desk, [record])
    return {
        **row,
        "live": live,
        **_prompt(record, live),
        "state": _state(desk, record, live),
        "limits": _limits(record, live),
        "last_check": " ".join(report.last_check(live)) if live else "",
        "breaker": _breaker(live["breaker"]) if live else "",
        "stops": stops.of_loop(desk.ours, loop_id, epoch(record.started_at) if older else 0),
        "verify": verify_output(desk.ours, loop_id),
        "criteria": _criteria(desk.ours, loop_id),
        "actions": actions(record, live),
        **_around(desk, live),
        "others": [one.started_at for one in older],
        "resume": _resume(desk, record, live),
        "plan": _plan(desk, record),
        "handoffs": handoffs.of_loop(desk, record.project, loop_id) if record.project else [],
        "has_journal": any(one.session == record.session_id for one in desk.sessions()),
        "run": _run(desk, record),
    }


def actions(record: Record, live: Json | None) -> tuple[str, ...]:
    """What may be done with it. A loop that waits for a nested one is neither paused nor resumed
    by itself."""
    if not record.is_active:
        return (ARCHIVE, DELETE) if record.status == records.LOST else (DELETE,)
    if live is None:
        return ()
    if live["is_outer"]:
        return (CANCEL,)
    is_still = live["status"] == records.PAUSED or bool(live["waiting"])
    return (RESUME if is_still else PAUSE, CANCEL)


def verify_output(ours: str, loop_id: str) -> str:
    """The end of what the loop's command printed last; "" where there is none."""
    try:
        data = read_bytes(iterations.verify_path(ours, loop_id), _VERIFY_BYTES)
    except UnreadableError:
        return ""
    return last_lines(plain(data), _VERIFY_CHARACTERS)


def _prompt(record: Record, live: Json | None) -> Json:
    """The history keeps the start of a prompt, the state file all of it."""
    text, most = (live["prompt"], _PROMPT_CHARACTERS) if live else (record.task, TEXT_CHARACTERS)
    return {"prompt": harmless(text[:most]), "is_cut": len(text) >= most}


def _state(desk: Desk, record: Record, live: Json | None) -> str:
    if live is None:
        return timeline.how_it_ended(record)
    text = report.state(live, desk.now())
    why = live["breaker"].get("why") if live["paused_by"] == "breaker" else ""
    return f"{text[:1].upper()}{text[1:]}{f': {one_line(str(why))}' if why else ''}."


def _limits(record: Record, live: Json | None) -> list[str]:
    """Each in words. The history keeps the start of a command, the state file all of it."""
    if live is None:
        return report.bounds(record.options)
    options = live["options"]
    besides = [text for name, text in _BESIDES.items() if options.get(name)]
    return report.bounds({**record.options, **options}, live["tokens"]) + besides


def _breaker(state: Json) -> str:
    """In words; "" while it counts nothing."""
    counts = [
        f"{count} iteration{'s' * (count != 1)} {what}"
        for name, what in (("no_progress", "without progress"), ("same_error", "with one error"))
        if type(count := state.get(name)) is int and count > 0
    ]
    name = str(state.get("state") or "closed").replace("_", " ")
    return ", ".join([name, *counts]) if counts or name != "closed" else ""


def _criteria(ours: str, loop_id: str) -> list[Json]:
    found = criteria.listed(checklist_store.read(ours, loop_id) or {})
    return [{"id": c.id, "text": c.text, "status": c.status} for c in found]


def _around(desk: Desk, live: Json | None) -> Json:
    """A session's rows come with the current loop first, the outermost last."""
    if live is None:
        return {"inside": [], "outside": []}
    mine = [row for row in desk.loops() if row["session_id"] == live["session_id"]]
    ids = [row["loop_id"] for row in mine]
    if live["loop_id"] not in ids:  # it has just ended
        return {"inside": [], "outside": []}
    place = ids.index(live["loop_id"])
    return {"inside": _named(mine[:place]), "outside": _named(mine[place + 1 :])}


def _named(rows: Sequence[Json]) -> list[Json]:
    return [{"loop_id": row["loop_id"], "description": row["description"]} for row in rows]


def _resume(desk: Desk, record: Record, live: Json | None) -> str:
    if live:
        return "" if live["health"] == stale.ALIVE else going_on.with_loop(desk, live)
    if is_safe_id(record.session_id) and is_held(desk.ours, record.session_id):
        return ""
    return going_on.resume(desk, record.project, record.session_id)


def _plan(desk: Desk, record: Record) -> Json | None:
    """The plan that it holds its session to, else, while it has not ended, the one that its promise
    must pass; None = none, or it is not known."""
    path, is_checked = record.options.get(lp.PLAN), record.options.get("verify_plan")
    rows = [*plan_rows.followed(desk), *plan_rows.ended(desk)]
    named = (row for row in rows if row["active_plan"] == path)
    current = (
        row
        for row in rows
        if record.is_active and row["project_root"] == record.project and row.get("is_current")
    )
    return next(named, None) or (next(current, None) if is_checked else None)


def _run(desk: Desk, record: Record) -> str:
    """The id of the run in fresh contexts that its session is of; "" = of none."""
    found = (one.run for one in desk.sessions() if one.session == record.session_id)
    return next(found, "")
