"""The model's todo list, as its own tools have left it. Pure."""

from __future__ import annotations

from itertools import count

from sisyphus.boulder.kord.items import PENDING, STATUSES, changed, content_of, name_of
from sisyphus.clients.tools import CREATED, LISTED, REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.tools import TodoChange

_KEPT = 200


class Todos:
    """Todos by the name that the client gives them, in their order."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[str, Json] = {}

    def take(self, change: TodoChange | None) -> None:
        """What one call made of them."""
        if change is None:
            return
        name, content = name_of(change.id), content_of(change.content)
        if change.kind == LISTED:
            self._rewrite(change.todos)
        elif change.kind == CREATED:
            self._put(name, content, PENDING)
        elif change.kind == REMOVED:
            self._found.pop(name, None)
        elif name in self._found:
            self._found[name] = changed(self._found[name], content, change.status)
        elif change.status in STATUSES:
            self._put(name, content or f"Task {name}", change.status)

    def all(self) -> list[Json]:
        """Content and status of each."""
        return [{**todo} for todo in self._found.values()]

    def _rewrite(self, todos: list[object]) -> None:
        self._found = {}
        names = (f"t{number}" for number in count(1))
        for todo in todos[:_KEPT]:
            if isinstance(todo, dict):
                self._put(next(names), content_of(todo.get("content")), todo.get("status"))

    def _put(self, name: str, content: str, status: object) -> None:
        if name and content and len(self._found) < _KEPT:
            known = status if status in STATUSES else PENDING
            self._found[name] = {"content": content, "status": known}
