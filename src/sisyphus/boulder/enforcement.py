"""Plans that a session may not leave while there is something to do: who asked for that, and how
the plan stands. Reads only."""

from __future__ import annotations

from sisyphus.boulder.discover import standing_place
from sisyphus.boulder.record import number, strings, text
from sisyphus.boulder.store import read_plans
from sisyphus.paths import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.boulder.kord.notes import Notes
    from sisyphus.boulder.look import State
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace

KEY = "enforced"
"""In the metadata of a plan's record, in our book alone: no file of a project turns it on."""

RELEASED = "released"

MAX_ITERATIONS = 100
MAX_MINUTES = 1_440
"""A loop's own defaults, and the most that the model may ask for."""


class Enforced:
    """An enforced plan. `since` is an ISO time that no other enforcement has; of the limits 0 = a
    loop's own default. `released`: sessions that may stop, for they work on another plan."""

    __slots__ = (
        "max_iterations", "max_minutes", "max_tokens", "name", "path", "released", "root", "since",
    )  # fmt: skip

    def __init__(self, record: Json, raw: Json) -> None:
        self.path: str = record["active_plan"]
        self.root: str = record["project_root"]
        self.name: str = record["plan_name"]
        self.since = text(raw.get("since"))
        self.max_iterations = max(number(raw.get("max_iterations")) or MAX_ITERATIONS, 1)
        self.max_minutes = max(number(raw.get("max_minutes")) or 0, 0)
        self.max_tokens = max(number(raw.get("max_tokens")) or 0, 0)
        self.released = strings(raw.get(RELEASED))


class Standing:
    """What a plan file says now; `task` is the next one that can be worked on, "" = there is none,
    and `line` where it stands."""

    __slots__ = ("blocked", "done", "line", "name", "place", "state", "task", "total")

    def __init__(self, path: str, root: str, notes: Notes) -> None:
        from sisyphus.boulder.look import Look
        from sisyphus.boulder.parser.stories import next_task

        look = Look(path, root)
        self.state: State = look.state
        self.name = look.name
        self.place = look.place
        self.done = look.plan.counts.completed
        self.total = look.plan.counts.total
        self.blocked = look.plan.counts.blocked
        found = next_task(look.plan, notes.wave, notes.story)
        self.task = (found.text or f"line {found.line}") if found else ""
        self.line = found.line if found else 0


def asked_for(space: Workspace, session: str) -> Enforced | None:
    """The enforced plan that `session` is to finish; None where there is none."""
    if not session or not space.settings.get("boulder.enabled"):
        return None
    return asked(read_plans(space.home, standing_place(space)), session)


def asked(plans: Plans, session: str) -> Enforced | None:
    """The plan that the session is at, if it is enforced; else one that it worked on before and
    was not released from: whatever the model turns to leaves that as it is."""
    at = plans.own(session)
    if at and (found := enforced(plans.records[at])):
        return found
    worked_on = (r for r in plans.records.values() if session in r["session_ids"])
    found_here = (found for record in worked_on if (found := enforced(record)))
    return next((found for found in found_here if session not in found.released), None)


def is_released(found: Enforced, plans: Plans, session: str, before: str = "") -> bool:
    """Whether the user gave the session, or the one `before` it, another plan, at which it still
    is."""
    is_back = plans.sessions.get(session) == found.path
    return not is_back and not {session, before}.isdisjoint(found.released)


def held_sessions(sessions: list[str], raw: Json | None) -> list[str]:
    """Of those that worked on a plan, the ones that it holds, or will hold; `raw` as in its
    record."""
    released = strings(raw.get(RELEASED)) if raw else sessions
    return [session for session in sessions if session not in released]


def enforced(record: Json) -> Enforced | None:
    """What a record of our book says of it."""
    raw = record["metadata"].get(KEY)
    return Enforced(record, raw) if isinstance(raw, dict) and text(raw.get("since")) else None


def is_parked(plans: Plans, is_of: Callable[[Enforced], bool]) -> bool:
    """Whether the enforced plan that `is_of` means waits for its path, where another one lies."""
    entries = (entry for waiting in plans.parked.values() for entry in waiting)
    return any(found and is_of(found) for found in (enforced(e["record"]) for e in entries))


def away(path: str, root: str) -> Standing:
    """How such a plan stands: nothing can be done in it."""
    from sisyphus.boulder.kord.notes import Notes

    found = Standing("", root, Notes({}))
    found.place = display(path, root)
    return found


def standing(home: str, path: str, root: str) -> Standing:
    return Standing(path, root, read_plans(home, root).notes_of(path))
