"""Keeps what happens in a session of OpenCode as a transcript that the features can read."""

from __future__ import annotations

import json

from sisyphus.state.files import append_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json


def append(path: str, records: Sequence[Json]) -> None:
    """Adds the records in one write, so that two hooks never mix their lines. Raises `OSError`."""
    if not records or not path:
        return
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    append_text(path, text)
