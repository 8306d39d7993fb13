"""Documents as pieces for the model: whole where they fit into a reply, else in parts. Pure."""

from __future__ import annotations

from sisyphus.clients.base import Text
from sisyphus.text import cut_units, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Kind
    from sisyphus.context.collect import Document

HEAD = "<system-reminder>\nThe following project documentation is available:\n\n"
TAIL = "\n\n</system-reminder>"

PART_UNITS = 9_000
"""Leaves a reply room for the frame, the title, and a plan's state beside it."""


def texts(document: Document, digest: str) -> list[Text]:
    """The document whole, or in parts that end at line ends and say `part k of n`.

    `digest` stands for the text in the session's ledger.
    """
    kind: Kind = "agents" if document.name == "AGENTS.md" else "readme"
    parts = split(document.text)
    made: list[Text] = []
    for number, text in enumerate(parts, 1):
        counted = len(parts) > 1
        title = f"{document.name} (part {number} of {len(parts)})" if counted else document.name
        name = f"{digest}/{number}" if counted else digest
        body = f"# {title}\n\n{text}"
        made.append(Text(kind, body, head=HEAD, tail=TAIL, hash=name, path=document.path))
    return made


def split(text: str) -> list[str]:
    """`text` in runs of at most `PART_UNITS`, cut at line ends where there are any."""
    parts = []
    while units(text) > PART_UNITS:
        part = cut_units(text, PART_UNITS)
        parts.append(part.rstrip("\n"))
        text = text[len(part) :]
    return [*parts, text] if text.strip() or not parts else parts
