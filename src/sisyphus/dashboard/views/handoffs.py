"""Work that was handed over: what of it, when, and to whom."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sisyphus.checkpoint import handoffs as book
from sisyphus.checkpoint.paper.handoff_file import FOLDER
from sisyphus.clients.base import as_text
from sisyphus.dashboard.failures import not_found
from sisyphus.errors import UnreadableError
from sisyphus.paths import is_inside, project_id
from sisyphus.reading import read_text
from sisyphus.text import fingerprint, sound
from sisyphus.times import epoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Checkpoint, Json
    from sisyphus.dashboard.desk import Desk

TEXT_BYTES = 200_000
"""Ten times what we write; the model may add to it."""

MOST = 200

WAITING = "waiting"
_CLOSED = (book.DELIVERED, book.SUPERSEDED, book.DONE)
_TEXTS = (
    "session_id", "loop_id", "level", "occasion", "task", "next_step", "handoff_file", "given_to",
)  # fmt: skip
_CHARACTERS = 2_000


def handoffs(desk: Desk, session: str = "", *, texts: int = 0) -> list[Json]:
    """Of all projects, or those that one session made or was given, at most `MOST`, the newest
    first; so many of them as `handoff` has them."""
    found = [(root, entry, _row(root, entry)) for root, entry in _entries(desk)]
    wanted = [one for one in found if session in ("", one[2]["session_id"], one[2]["given_to"])]
    latest = sorted(wanted, key=lambda one: one[2]["at"] or 0, reverse=True)[:MOST]
    return [
        {**row, **_text(desk, root, entry)} if number < texts else row
        for number, (root, entry, row) in enumerate(latest)
    ]


def of_loop(desk: Desk, project: str, loop_id: str) -> list[Json]:
    """Those of a loop of the project in this folder, the newest first."""
    rows = (_row(project, entry) for entry in book.read(desk.ours, project))
    mine = [row for row in rows if row["loop_id"] == loop_id]
    return sorted(mine, key=lambda row: row["at"] or 0, reverse=True)


def handoff(desk: Desk, project: str, named: str) -> Json:
    """The one of this id, and its `text`; where its file cannot be read, `problem` says why.
    Raises `FailedError`."""
    root = desk.projects().get(project, "")
    for entry in book.read(desk.ours, root) if root else ():
        row = _row(root, entry)
        if row["id"] == named:
            return {**row, **_text(desk, root, entry)}
    raise not_found("no such handoff is known: only the latest are kept. The list names them.")


def _entries(desk: Desk) -> Iterator[tuple[str, Checkpoint]]:
    for root in desk.projects().values():
        yield from ((root, entry) for entry in book.read(desk.ours, root))


def _row(root: str, entry: Checkpoint) -> Json:
    """What is not of the right kind is "" or null. Times in epoch seconds."""
    found: Json = {**entry}
    texts = {name: sound(as_text(found.get(name))[:_CHARACTERS]) for name in _TEXTS}
    names = (as_text(found.get("timestamp")), texts["session_id"], texts["handoff_file"])
    return {
        **texts,
        "id": fingerprint("\n".join(names)),
        "project": sound(root),
        "project_id": project_id(root),
        "at": epoch(found.get("timestamp")) or None,
        "percent": _count(found.get("percent_at_checkpoint")),
        "iteration": _count(found.get("iteration")),
        "state": _state(found),
        "given_at": epoch(found.get("given_at")) or None,
        "is_used": found.get("is_used") is True,
        "in_run": found.get("in_run") is True,
    }


def _state(found: Json) -> str:
    """One that was given back waits again, whatever it was closed for."""
    if found.get("active"):
        return WAITING
    closed = as_text(found.get("closed"))
    return closed if closed in _CLOSED else book.DONE


def _text(desk: Desk, root: str, entry: Checkpoint) -> Json:
    try:
        text = sound(_read(desk.ours, root, as_text(entry.get("handoff_file"))))
    except UnreadableError as error:
        return {"text": "", "problem": sound(str(error))}
    return {"text": text, "problem": ""}


def _read(ours: str, root: str, file: str) -> str:
    """A handoff's text. Whatever lies elsewhere than handoffs do is `UnreadableError`."""
    if "\0" in file or sound(file) != file or not file.endswith(".md"):
        raise UnreadableError("no handoff file is named")
    path = os.path.join(root, file)
    own = os.path.join(ours, "projects", project_id(root), "handoffs")
    if is_inside(path, own):
        return read_text(path, TEXT_BYTES, own)
    if not is_inside(path, root):
        raise UnreadableError(f"{path}: leaves the project")
    return read_text(path, TEXT_BYTES, os.path.join(root, *FOLDER))


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
