"""What a new session in this project would be sent, and why."""

from __future__ import annotations

import os

from sisyphus.context.blocks import texts
from sisyphus.context.collect import collect
from sisyphus.session.waiting import arrange, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.base import Text
    from sisyphus.context.collect import Document
    from sisyphus.workspace import Workspace


def report(space: Workspace) -> Json:
    """`project`, `enabled`, `documents`, and `texts`: those of the replies that carry them.

    A document has `name`, `path`, `sent`, `reason` and, where it is sent, `characters` and `parts`.
    """
    documents, skipped = collect(space)
    enabled = space.settings.get("context.enabled")
    if not enabled:
        skipped |= {document.name: "context.enabled is false" for document in documents}
        documents = []
    waiting: list[Text] = []
    rows = [_left_out(space, name, why) for name, why in skipped.items()]
    for document in documents:
        made = texts(document, document.name)
        waiting += made
        rows.append(_shown(document, len(made)))
    return {
        "project": space.root,
        "enabled": enabled,
        "documents": sorted(rows, key=lambda row: str(row["name"])),
        "texts": replies(waiting),
    }


def _left_out(space: Workspace, name: str, why: str) -> Json:
    path = os.path.join(space.root, name)
    return {"name": name, "path": path, "sent": False, "reason": why}


def _shown(document: Document, parts: int) -> Json:
    return {
        "name": document.name,
        "path": document.path,
        "sent": True,
        "reason": document.shown or "whole",
        "characters": len(document.text),
        "parts": parts,
    }


def replies(waiting: list[Text]) -> list[str]:
    """The texts of the replies in which these pieces go out, if nothing else does."""
    found = []
    left = arrange([], waiting)
    while left:
        text, _, left = fit(left)
        found.append(text)
    return found
