"""Addresses of the same page with something else chosen. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping


class Address:
    """`path` with the parameters that are chosen now; what is empty stands in no address."""

    def __init__(self, path: str, chosen: Mapping[str, object]) -> None:
        self._path = path
        self._chosen = chosen

    def __call__(self, **changes: object) -> str:
        asked = {**self._chosen, **changes}
        query = urlencode({name: value for name, value in asked.items() if value})
        return quote(self._path, safe="/") + (f"?{query}" if query else "")
