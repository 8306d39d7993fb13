"""Words on the command line that are none of those that it takes."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence


def no_such_event(name: str, known: Sequence[str]) -> typer.BadParameter:
    meant = next(iter(get_close_matches(name.lower(), known, 1)), "")
    question = f" Did you mean {meant}?" if meant else ""
    return typer.BadParameter(f"no such event: {name!r}.{question} Events: {', '.join(known)}")
