"""The model's own todo list, mirrored into the `todos` of a plan's record. Pure.

A todo is {"id", "content", "status"}; what else it holds is somebody else's. It belongs to the
session that the `owners` name for its id, and to nobody where it was written by hand. Only the
todos of the session that speaks are changed.
"""

from __future__ import annotations

from sisyphus.boulder.kord.items import PENDING, content_of, is_finished
from sisyphus.boulder.kord.mirror import Mirror, forget_owners
from sisyphus.boulder.record import text
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json


def take(  # the list, the call, and whose it is
    todos: list[Json], owners: dict[str, str], tool: str, given: Json, answer: Json, session: str
) -> bool:
    """Brings `todos` and `owners` to what a call of `tool` made of the session's list.

    `given` is the tool's input, `answer` its response. Returns whether anything changed; a call
    that cannot be understood changes nothing.
    """
    if not session:
        return False
    before = list(todos), dict(owners)
    mirror = Mirror(todos, owners, session)
    if tool == "TaskCreate":
        mirror.create(given, answer)
    elif tool == "TaskUpdate":
        mirror.update(given, answer)
    elif tool == "TodoWrite":
        mirror.rewrite(given)
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
