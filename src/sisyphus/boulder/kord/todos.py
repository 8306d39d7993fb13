"""The model's own todo list, mirrored into the `todos` of a plan's record. Pure.

A todo is {"id", "content", "status"}; what else it holds is somebody else's. It belongs to the
session that the `owners` name for its id, and to nobody where it was written by hand. Only the
todos of the session that speaks are changed.
"""

from __future__ import annotations

from sisyphus.boulder.kord.items import PENDING, content_of, is_finished
from sisyphus.boulder.kord.mirror import Mirror, forget_owners
from sisyphus.boulder.record import text
from sisyphus.clients.tools import CREATED, LISTED
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.clients.tools import TodoChange


def take(
    todos: list[Json], owners: dict[str, str], change: TodoChange | None, session: str
) -> bool:
    """Brings `todos` and `owners` to what a call made of the session's list; whether anything
    changed."""
    if not session or change is None:
        return False
    before = list(todos), dict(owners)
    mirror = Mirror(todos, owners, session)
    if change.kind == LISTED:
        mirror.rewrite(change.todos)
    elif change.kind == CREATED:
        mirror.create(change)
    else:
        mirror.update(change)
    if (todos, owners) != before:
        mirror.settle()
    return (todos, owners) != before


def drop_finished(todos: list[Json], owners: dict[str, str]) -> bool:
    """Removes what is completed or cancelled, whoever's it is; whether there was any."""
    left = [todo for todo in todos if not is_finished(todo)]
    if len(left) == len(todos):
        return False
    todos[:] = left
    forget_owners(todos, owners)
    return True


def open_todos(todos: Sequence[Json]) -> list[Json]:
    """Id, content and status of what is left to do, fit to be shown."""
    return [todo for todo in shown(todos) if not is_finished(todo)]


def shown(todos: Sequence[Json]) -> list[Json]:
    """Id, content and status of all that say anything, fit to be shown."""
    return [
        {
            "id": line(text(todo.get("id"))),
            "content": content,
            "status": line(text(todo.get("status"))) or PENDING,
        }
        for todo in todos
        if (content := content_of(todo.get("content")))
    ]
