"""Streams that Claude Code 2.1.329 wrote, their paths made neutral and `init` cut down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sisyphus.runner.client.follow import catch_up
from sisyphus.runner.client.stream import Seen

if TYPE_CHECKING:
    from sisyphus._types import Json

FOLDER = Path(__file__).parents[1] / "data" / "streams"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def recorded(name: str) -> Seen:
    seen = Seen()
    catch_up(seen, str(FOLDER / f"{name}.jsonl"))
    return seen


def fed(*events: Json | str) -> Seen:
    """What was seen of these events and lines."""
    seen = Seen()
    for event in events:
        line = event if isinstance(event, str) else json.dumps(event)
        seen.feed(line.encode() + b"\n")
    return seen
