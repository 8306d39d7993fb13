"""The model's todo list, as its own tools have left it. Pure."""

from __future__ import annotations

from itertools import count

from sisyphus.boulder.kord.items import PENDING, STATUSES, changed, content_of, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_KEPT = 200


class Todos:
    """Todos by the name that the client gives them, in their order."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[str, Json] = {}

    def take(self, tool: str, given: Json, answer: Json) -> None:
        """One call that succeeded; one that cannot be understood changes nothing."""
        if tool == "TodoWrite":
            self._rewrite(given.get("todos"))
        elif tool == "TaskCreate":
            task = answer.get("task")
            name = name_of(task.get("id")) if isinstance(task, dict) else ""
            self._put(name, content_of(given.get("subject")), PENDING)
        elif answer.get("success") is not False:
            self._update(name_of(given.get("taskId")), given)

    def all(self) -> list[Json]:
        """Content and status of each."""
        return [{**todo} for todo in self._found.values()]

    def _rewrite(self, todos: object) -> None:
        if not isinstance(todos, list):
            return
        self._found = {}
        names = (f"t{number}" for number in count(1))
        for todo in todos[:_KEPT]:
            if isinstance(todo, dict):
                self._put(next(names), content_of(todo.get("content")), todo.get("status"))

    def _update(self, name: str, given: Json) -> None:
        content, status = content_of(given.get("subject")), given.get("status")
        if status == "deleted":
            self._found.pop(name, None)
        elif name in self._found:
            self._found[name] = changed(self._found[name], content, status)
        elif status in STATUSES:
            self._put(name, content or f"Task {name}", status)

    def _put(self, name: str, content: str, status: object) -> None:
        if name and content and len(self._found) < _KEPT:
            known = status if status in STATUSES else PENDING
            self._found[name] = {"content": content, "status": known}
