"""What the shell offers at the Tab key. A failure offers nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sisyphus import journal
from sisyphus.clients.base import EVENTS
from sisyphus.memory import open_memory
from sisyphus.paths import is_safe_id, our_home
from sisyphus.settings import SETTINGS
from sisyphus.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Offer = tuple[str, str]
"""What is typed, and what it is; typer looks at the annotations."""

_HELP = 60
_MOST = 50


def settings(incomplete: str) -> list[Offer]:
    return _offered(incomplete, lambda: ((key, one.doc) for key, one in SETTINGS.items()))


def settings_and_sections(incomplete: str) -> list[Offer]:
    from sisyphus.configuring.keys import SECTIONS

    return _offered(incomplete, SECTIONS.items) + settings(incomplete)


def events(incomplete: str) -> list[Offer]:
    return _offered(incomplete, lambda: ((event, "") for event in EVENTS))


def loops(incomplete: str) -> list[Offer]:
    """Those that have not ended."""
    return _offered(incomplete, _loops)


def past_loops(incomplete: str) -> list[Offer]:
    """Those that were started, newest first."""
    return _offered(incomplete, _past_loops)


def sessions(incomplete: str) -> list[Offer]:
    """Those that hooks decided something in, newest first."""
    return _offered(incomplete, _sessions)


def _loops() -> Iterable[Offer]:
    from sisyphus.ralph import actions

    for row in actions.list_loops(our_home(), time.time()):
        yield row["loop_id"], f"session {row['session_id']}"


def _past_loops() -> Iterable[Offer]:
    from sisyphus.ralph.past import history

    return ((record.loop_id, record.task) for record in history.read(our_home()))


def _sessions() -> Iterable[Offer]:
    found = journal.sessions(open_memory(our_home()))
    return ((one.session, one.project) for one in reversed(found))


def _offered(incomplete: str, find: Callable[[], Iterable[Offer]]) -> list[Offer]:
    try:
        matching = (offer for offer in find() if offer[0].startswith(incomplete))
        found = {value: what for value, what in matching if is_safe_id(value)}
    except Exception:  # noqa: BLE001  # who types is not disturbed
        return []
    return [(value, one_line(what, _HELP)) for value, what in list(found.items())[:_MOST]]
