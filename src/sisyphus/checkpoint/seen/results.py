"""What became of tool calls. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.seen import edits, shell, todos_seen
from sisyphus.clients.base import EDIT, SHELL, TODO, WRITE
from sisyphus.clients.tools import error_words, todo_change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.transcript import Call, Record, Result


class Results:
    """The results of the calls that are expected."""

    __slots__ = ("_calls", "_known", "edits", "failed_tool", "shell", "todos")

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}  # those that are not answered
        self._known: set[str] = set()
        self.edits = edits.Edits()
        self.shell = shell.Shell()
        self.todos = todos_seen.Todos()
        self.failed_tool = ""

    def expect(self, call: Call) -> None:
        self._calls[call.id] = call
        self._known.add(call.id)

    def is_known(self, call: str) -> bool:
        return call in self._known

    def is_answered(self, call: str) -> bool:
        return call in self._known and call not in self._calls

    def take(self, record: Record) -> None:
        """A user record: the results in it, or what the client says in the user's place."""
        for result in record.results:
            call = self._calls.pop(result.id, None)
            if call and result.failed:
                self._failed(call, result, record.at)
            elif call:
                self._done(call, result, record.at)
        if not record.results and self.shell.is_waiting:
            for text in record.texts:
                self.shell.notice(text)

    def _done(self, call: Call, result: Result, at: str) -> None:
        if call.kind in (EDIT, WRITE):
            self.edits.take(call, result.answer)
        elif call.kind == SHELL:
            self.shell.take(call, result, at)
        elif call.kind == TODO:
            self.todos.take(todo_change(call.tool, call.input, result.answer))
        if self.failed_tool.startswith(f"{call.tool}: "):
            self.failed_tool = ""

    def _failed(self, call: Call, result: Result, at: str) -> None:
        if call.kind == SHELL:
            self.shell.fail(call, result.text, at)
            return
        from sisyphus.ralph.fingerprint import first_line

        self.failed_tool = f"{call.tool}: {first_line(error_words(result.text))}"
