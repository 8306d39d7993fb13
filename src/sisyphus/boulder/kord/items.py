"""What one todo says, whoever wrote it. Pure."""

from __future__ import annotations

from sisyphus.boulder.record import text
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

PENDING = "pending"
STATUSES = (PENDING, "in_progress", "completed")
"""What a client's tools call them."""

_FINISHED = ("completed", "cancelled")
_ID_CHARACTERS = 64


def is_finished(todo: Json) -> bool:
    return todo.get("status") in _FINISHED


def name_of(value: object) -> str:
    """An id as the client gives it; "" for what could be none."""
    name = text(value)
    return name if len(name) <= _ID_CHARACTERS and name.isprintable() else ""


def content_of(value: object) -> str:
    return line(text(value)).strip()


def changed(todo: Json, content: str, status: object) -> Json:
    """The todo with another content ("" = its own) and status (an unknown one = its own)."""
    fields: Json = {"content": content} if content else {}
    if status in STATUSES:
        fields["status"] = status
    return {**todo, **fields}
