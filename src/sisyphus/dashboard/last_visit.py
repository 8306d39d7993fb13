"""Visits of the user: since when things are new to them."""

from __future__ import annotations

from typing import Any

from sisyphus.ground import log
from sisyphus.ground import store as stores
from sisyphus.ground.store import Store

_REST_SECONDS = 30 * 60
"""A visit ends so long after its last page."""

_NOTED_SECONDS = 60
"""How exactly the last page is noted: a page that follows what happens is asked for often."""

_LOOKED, _LOOKED_BEFORE = "looked", "looked before"
"""Rows of the table `chore`: the last page, and the last one of the visit before."""


def note(store: Store, now: float) -> None:
    """Notes that the user looks at a page."""
    last, _ = _known(store)
    if last is not None and now - last < _NOTED_SECONDS:
        return
    before = since(store, now)
    try:
        with store.write():
            for name, moment in ((_LOOKED, now), (_LOOKED_BEFORE, before)):
                if moment is not None:
                    store.run("INSERT OR REPLACE INTO chore VALUES (?, ?)", name, moment)
    except stores.Error as error:  # the page does not need it
        log.failure("dashboard: the visit was not noted", error)


def since(store: Store, now: float) -> float | None:
    """Returns when the visit before this one ended; None = this is the first."""
    last, before = _known(store)
    return last if last is not None and now - last > _REST_SECONDS else before


def _known(store: Store) -> tuple[float | None, float | None]:
    rows = store.all("SELECT name, at FROM chore WHERE name IN (?, ?)", _LOOKED, _LOOKED_BEFORE)
    at: dict[Any, float] = dict(rows)
    return at.get(_LOOKED), at.get(_LOOKED_BEFORE)
