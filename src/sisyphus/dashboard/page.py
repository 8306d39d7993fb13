"""What all pages of the dashboard work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sisyphus.dashboard.access import Access
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store


class NotThereError(SisyphusError):
    """What a page is about does not exist, or not any more."""


class Desk(Record):
    """settings: of the user, without those of any project. home: the client's own folder. changes:
    how many writes of ours the open pages have to hear of."""

    store: Store
    settings: Mapping[str, Any]
    home: str
    our_home: str
    access: Access
    changes: int = 0
    is_ending: bool = False


Params = Mapping[str, str]
"""What an address says: the parts of its path and its query."""


class Page(Record, frozen=True):
    """A page, which is one query and its template.

    path: of its address, with names in braces; below `/api` the same query is answered as JSON.
    name: in the navigation; "" = it is not there. query: returns a `Record`; raises
    `NotThereError`.
    """

    path: str
    name: str
    template: str
    query: Callable[[Desk, Params], object]
