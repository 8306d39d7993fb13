"""What became of tool calls. Pure."""

from __future__ import annotations

from sisyphus import transcript
from sisyphus.checkpoint.seen import edits, shell, todos_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_REFUSED = ("<tool_use_error>", "</tool_use_error>")


class Results:
    """The results of the calls that are expected."""

    __slots__ = ("_calls", "_known", "edits", "failed_tool", "shell", "todos")

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, Json]] = {}  # those that are not answered
        self._known: set[str] = set()
        self.edits = edits.Edits()
        self.shell = shell.Shell()
        self.todos = todos_seen.Todos()
        self.failed_tool = ""

    def expect(self, call: str, name: str, given: Json) -> None:
        self._calls[call] = name, given
        self._known.add(call)

    def is_known(self, call: str) -> bool:
        return call in self._known

    def is_answered(self, call: str) -> bool:
        return call in self._known and call not in self._calls

    def take(self, record: Json) -> None:
        """A user record: the results in it, or what the client says in the user's place."""
        found = [b for b in transcript.blocks(record) if b.get("type") == "tool_result"]
        noted = record.get("toolUseResult") if len(found) == 1 else None
        for block in found:
            call = str(block.get("tool_use_id"))
            name, given = self._calls.pop(call, ("", {}))
            if block.get("is_error") is True:
                self._failed(name, given, block, _time(record))
            else:
                self._done(name, given, noted, (call, transcript.result_text(block), _time(record)))
        if not found and self.shell.is_waiting:
            for text in transcript.texts(record):
                self.shell.notice(text)

    def _done(self, name: str, given: Json, noted: object, told: tuple[str, str, str]) -> None:
        call, said, at = told
        if name in edits.TOOLS:
            self.edits.take(given, noted)
        elif name in shell.TOOLS:
            self.shell.take(call, given, noted, said, at)
        elif name in todos_seen.TOOLS:
            self.todos.take(name, given, noted if isinstance(noted, dict) else {})
        if self.failed_tool.startswith(f"{name}: "):
            self.failed_tool = ""

    def _failed(self, name: str, given: Json, block: Json, at: str) -> None:
        error = transcript.result_text(block)
        if name in shell.TOOLS:
            self.shell.fail(given, error, at)
        elif name:
            from sisyphus.ralph.fingerprint import first_line

            said = error.removeprefix(_REFUSED[0]).removesuffix(_REFUSED[1])
            self.failed_tool = f"{name}: {first_line(said)}"


def _time(record: Json) -> str:
    at = record.get("timestamp")
    return at if isinstance(at, str) else ""
