"""Documents as pieces for the model: whole where they fit into a reply, else in parts. Pure."""

from __future__ import annotations

from sisyphus.measure import cut_units, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Kind, Piece
    from sisyphus.context.collect import Document

HEAD = "<system-reminder>\nThe following project documentation is available:\n\n"
TAIL = "\n\n</system-reminder>"

PART_UNITS = 9_000
"""Leaves a reply room for the frame, the title, and a plan's state beside it."""


def pieces(document: Document, digest: str) -> list[Piece]:
    """The document in one piece, or in parts that end at line ends and say `part k of n`.

    `digest` stands for the text in the session's ledger.
    """
    kind: Kind = "agents" if document.name == "AGENTS.md" else "readme"
    parts = split(document.text)
    made: list[Piece] = []
    for number, text in enumerate(parts, 1):
        counted = len(parts) > 1
        title = f"{document.name} (part {number} of {len(parts)})" if counted else document.name
        made.append(
            {
                "kind": kind,
                "head": HEAD,
                "body": f"# {title}\n\n{text}",
                "tail": TAIL,
                "late_head": "",
                "ledger": "context-injector",
                "hash": f"{digest}/{number}" if counted else digest,
                "path": document.path,
            }
        )
    return made


def split(text: str) -> list[str]:
    """`text` in runs of at most `PART_UNITS`, cut at line ends where there are any."""
    parts = []
    while units(text) > PART_UNITS:
        part = cut_units(text, PART_UNITS)
        parts.append(part.rstrip("\n"))
        text = text[len(part) :]
    return [*parts, text] if text.strip() or not parts else parts
