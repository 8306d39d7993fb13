"""A session's own todos among those of a plan, and what its tools make of them. Pure."""

from __future__ import annotations

from itertools import count, islice

from sisyphus.boulder.kord.items import PENDING, STATUSES, changed, content_of, is_finished, name_of
from sisyphus.boulder.kord.notes import objects
from sisyphus.boulder.record import text
from sisyphus.clients.tools import REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sisyphus._types import Json
    from sisyphus.clients.tools import TodoChange

MAX_TODOS = 200
"""A record stays light enough to be read at each hook."""

_SESSION_CHARACTERS = 8


class Mirror:
    """The todos as one session sees them."""

    __slots__ = ("owners", "session", "todos")

    def __init__(self, todos: list[Json], owners: dict[str, str], session: str) -> None:
        self.todos = todos
        self.owners = owners
        self.session = session

    def create(self, change: TodoChange) -> None:
        name, content = name_of(change.id), content_of(change.content)
        if not name or not content:
            return
        position = self._find(name)
        if position is None:
            self._add(name, content, PENDING)
        else:
            self.todos[position] = changed(self.todos[position], content, PENDING)

    def update(self, change: TodoChange) -> None:
        name, content = name_of(change.id), content_of(change.content)
        if not name:
            return
        position = self._find(name)
        if position is None:
            if change.status in STATUSES:
                self._add(name, content or f"Task {name}", change.status)
        elif change.kind == REMOVED:
            del self.todos[position]
        else:
            self.todos[position] = changed(self.todos[position], content, change.status)

    def rewrite(self, todos: list[object]) -> None:
        """Puts a whole list in the place of the session's todos. Completed ones that the list
        no longer names stay: the model drops them when it plans anew."""
        wanted = _wanted(todos)
        if wanted is None:
            return
        own = [todo for todo in self.todos if self._is_own(todo)]
        pairs = _paired(own, [content for content, _ in wanted])
        kept = [t for i, t in enumerate(own) if i not in pairs and is_finished(t)]
        names = self._free_names()
        for position, (content, status) in zip(pairs, wanted, strict=True):
            if position is None:
                kept.append(self._owned(next(names), content, status))
            else:
                kept.append(changed(own[position], content, status))
        self._lay_out(kept)

    def settle(self) -> None:
        """Holds the limit: mirrored ones that are completed go first, then our oldest."""
        finished = [t for t in self.todos if self._owner(t) and is_finished(t)]
        own = [t for t in self.todos if self._is_own(t) and not is_finished(t)]
        excess = max(len(self.todos) - MAX_TODOS, 0)
        gone = {id(todo) for todo in [*finished, *own][:excess]}
        self.todos[:] = [todo for todo in self.todos if id(todo) not in gone]
        forget_owners(self.todos, self.owners)

    def _owner(self, todo: Json) -> str:
        return self.owners.get(text(todo.get("id")), "")

    def _is_own(self, todo: Json) -> bool:
        return self._owner(todo) == self.session

    def _find(self, name: str) -> int | None:
        """The position of our todo that the client calls `name`."""
        for form in self._forms(name):
            for position, todo in enumerate(self.todos):
                if todo.get("id") == form and self._is_own(todo):
                    return position
        return None

    def _forms(self, name: str) -> tuple[str, ...]:
        """What a todo may be called here: each session of the client counts from 1."""
        return name, f"{name}@{self.session[:_SESSION_CHARACTERS]}", f"{name}@{self.session}"

    def _add(self, name: str, content: str, status: object) -> None:
        used = {text(todo.get("id")) for todo in self.todos}
        free = next((form for form in self._forms(name) if form not in used), "")
        if free:
            self.todos.append(self._owned(free, content, status))

    def _free_names(self) -> Iterator[str]:
        used = {text(todo.get("id")) for todo in self.todos}
        return (name for number in count(1) if (name := f"t{number}") not in used)

    def _owned(self, name: str, content: str, status: object) -> Json:
        self.owners[name] = self.session
        return {"id": name, "content": content, "status": status}

    def _lay_out(self, own: list[Json]) -> None:
        """Fills our places in their order; those of others stay where they are."""
        waiting = iter(own)
        laid: list[Json] = []
        for todo in self.todos:
            laid += [*islice(waiting, 1)] if self._is_own(todo) else [todo]
        self.todos[:] = [*laid, *waiting]


def forget_owners(todos: Sequence[Json], owners: dict[str, str]) -> None:
    known = {text(todo.get("id")) for todo in todos}
    for name in [name for name in owners if name not in known]:
        del owners[name]


def _wanted(found: list[object]) -> list[tuple[str, str]] | None:
    """Content and status of the list that a client gave; None where it gave none."""
    given = found[:MAX_TODOS]
    wanted = [
        (content, todo["status"] if todo.get("status") in STATUSES else PENDING)
        for todo in objects(given)
        if (content := content_of(todo.get("content")))
    ]
    return wanted if wanted or not given else None


def _paired(own: Sequence[Json], contents: Sequence[str]) -> list[int | None]:
    """For each content the position of the todo that it is: the one that says the same, else the
    next of the unfinished ones that are left, whose words were changed; None for a new one."""
    left = dict(enumerate(own))
    pairs: list[int | None] = []
    for content in contents:
        same = next((i for i, todo in left.items() if todo.get("content") == content), None)
        left.pop(-1 if same is None else same, None)
        pairs.append(same)
    reworded = (i for i, todo in left.items() if not is_finished(todo))
    return [next(reworded, None) if position is None else position for position in pairs]
