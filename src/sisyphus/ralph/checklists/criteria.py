"""The criteria of a checklist: what must be true before a loop may end. Pure.

`found` is what a checklist's file holds, whoever wrote it; what makes no sense in it is passed over
and stays.
"""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sisyphus._types import Json

PENDING, IN_PROGRESS, COMPLETED = "pending", "in_progress", "completed"

TEXT_CHARACTERS = 500
MOST = 100

_FIELD = "completion_criteria"
_DIGITS = 9


class Criterion:
    """One criterion as it counts. A status that nobody knows is none of the known ones."""

    __slots__ = ("id", "status", "text")

    def __init__(self, raw: Json) -> None:
        status = raw.get("status")
        self.id = str(raw["id"])
        self.text = one_line(str(raw["text"]), TEXT_CHARACTERS)
        self.status = status if status in (IN_PROGRESS, COMPLETED) else PENDING

    @property
    def is_done(self) -> bool:
        return self.status == COMPLETED


def listed(found: Json) -> list[Criterion]:
    return [Criterion(raw) for raw in _items(found) if _id(raw)]


def added(found: Json, texts: Sequence[str], at: str) -> Json:
    """With new criteria, but none twice; raises `SisyphusError`. `at`: the time, as files have it.

    An id is never given again, not even that of a criterion that was removed.
    """
    known = {criterion.text for criterion in listed(found)}
    new = dict.fromkeys(one_line(text, TEXT_CHARACTERS) for text in texts)
    if "" in new:
        raise SisyphusError("the text of a criterion is empty. Say what must be true.")
    fresh = [text for text in new if text not in known]
    if len(known) + len(fresh) > MOST:
        raise SisyphusError(f"a checklist has at most {MOST} criteria. Say more in each of them.")
    last = _last_id(found)
    items = [_criterion(last + n, text, at) for n, text in enumerate(fresh, 1)]
    return {**found, "last_id": last + len(items), _FIELD: [*_items(found), *items]}


def marked(found: Json, ids: Collection[str], status: str, at: str, iteration: int) -> Json:
    """With a new status of the criteria `ids`; one that has it already keeps its times."""
    _check(found, ids)
    is_done = status == COMPLETED
    change = {
        "status": status,
        "completed_at": at if is_done else None,
        "completed_iteration": iteration if is_done else None,
    }
    return {
        **found,
        _FIELD: [
            {**raw, **change} if _id(raw) in ids and raw.get("status") != status else raw
            for raw in _items(found)
        ],
    }


def removed(found: Json, ids: Collection[str]) -> Json:
    _check(found, ids)
    left = [raw for raw in _items(found) if _id(raw) not in ids]
    return {**found, "last_id": _last_id(found), _FIELD: left}


def _criterion(number: int, text: str, at: str) -> Json:
    return {
        "id": str(number),
        "text": text,
        "status": PENDING,
        "created_at": at,
        "completed_at": None,
        "completed_iteration": None,
    }


def _check(found: Json, ids: Collection[str]) -> None:
    known = [criterion.id for criterion in listed(found)]
    unknown = [named for named in ids if named not in known]
    if unknown:
        there = f"there are {', '.join(known)}" if known else "the checklist is empty"
        raise SisyphusError(f"no criterion is called {one_line(unknown[0], 40)!r}; {there}.")


def _last_id(found: Json) -> int:
    last = found.get("last_id")
    numbers = [int(criterion.id) for criterion in listed(found)]
    return max(0, *numbers, last if type(last) is int and last < 10**_DIGITS else 0)


def _items(found: Json) -> list[Json]:
    items = found.get(_FIELD)
    return items if isinstance(items, list) else []


def _id(raw: object) -> str:
    """ "" for what is no criterion."""
    if not isinstance(raw, dict) or not isinstance(raw.get("text"), str):
        return ""
    named = str(raw.get("id"))
    return named if named.isascii() and named.isdigit() and len(named) <= _DIGITS else ""
