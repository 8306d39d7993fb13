"""One path, two plans: what is known of a plan waits while another one lies where it lay.

`.claude/PLAN.md` is rewritten with the next plan, and git puts another branch's plan there.
"""

from __future__ import annotations

from sisyphus.boulder.discover import stamp_of
from sisyphus.boulder.milestones import checksums

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace

_NO_TITLES = ("", "plan", "the plan", "implementation plan", "todo", "tasks")

WAITING = 5
"""Plans that wait at one path; the oldest goes first."""


def is_another(book: Plans, look: Look) -> bool:
    """Whether the file holds another plan than the one that is followed there: not one task in
    common, and another name. One without a title of its own is told by its tasks, unless it is
    enforced: to put the same into other words ends no enforcement."""
    known, record = book.notes_of(look.path).tasks, book.records[look.path]
    if not known or not record["plan_name"] or not look.plan.has_tasks:
        return False
    is_untitled = look.plan.title.casefold() in _NO_TITLES and not record["metadata"].get(
        "enforced"
    )
    if look.name == record["plan_name"] and not is_untitled:
        return False
    return set(known).isdisjoint(checksums(look.plan))


def is_same(book: Plans, path: str, look: Look) -> bool:
    """Whether `look` shows the plan that is followed at `path`: its own title, and half of its
    first tasks."""
    known = book.notes_of(path).tasks
    is_named = look.plan.title and look.name == book.records[path]["plan_name"]
    return bool(is_named and known) and _in_common(known, look) * 2 >= len(known)


def find_same(space: Workspace, book: Plans, path: str) -> str:
    """Where the plan lies that was followed at `path` and was renamed and changed in one go: a plan
    file that nobody follows; "" for nowhere."""
    from sisyphus.boulder.discover import find_plans
    from sisyphus.boulder.look import affordable

    new = {found: stamp for found, stamp in find_plans(space).items() if found not in book.records}
    looks = affordable(new, book.root)
    return next((look.path for look in looks if is_same(book, path, look)), "")


def came_from(book: Plans, look: Look) -> str:
    """The path of a plan that is gone from there and lies where `look` sees it; "" for none."""
    gone = [path for path in book.records if stamp_of(path) is None]
    for path in gone:
        if (look.crc and book.notes_of(path).crc == look.crc) or is_same(book, path, look):
            return path
    return ""


def park(book: Plans, path: str) -> None:
    """Puts away what is known of the plan at `path`, for when it comes back."""
    entry = {"record": book.records[path], "notes": book.notes_of(path).as_json()}
    waiting = [*book.parked.get(path, []), entry]
    book.parked[path] = waiting[-WAITING:]


def take_back(book: Plans, look: Look) -> bool:
    """Goes on with what was known of the plan that is at its path again; whether there was any."""
    from sisyphus.boulder.kord.notes import Notes

    for entry in reversed(book.parked.get(look.path, [])):
        notes = Notes(entry["notes"])
        if entry["record"].get("plan_name") == look.name and _in_common(notes.tasks, look):
            book.parked[look.path].remove(entry)
            book.records[look.path] = entry["record"]
            book.set_notes(look.path, notes)
            return True
    return False


def valid(found: Json) -> dict[str, list[Json]]:
    """What of a hand-edited `parked` can be used."""
    from sisyphus.boulder.record import valid_record

    kept: dict[str, list[Json]] = {}
    for path, entries in found.items():
        for entry in entries if isinstance(entries, list) else []:
            raw = entry.get("record") if isinstance(entry, dict) else None
            record = valid_record({**raw, "active_plan": path}) if isinstance(raw, dict) else None
            if record and isinstance(entry.get("notes"), dict):
                kept.setdefault(path, []).append({**entry, "record": record})
    return kept


def _in_common(tasks: list[int], look: Look) -> int:
    return len(set(tasks) & set(checksums(look.plan)))
