"""What was run in a shell, and how it ended. Pure."""

from __future__ import annotations

from collections import deque

from sisyphus.checkpoint.seen.segments import same
from sisyphus.checkpoint.seen.verification import checks, hides_its_end, only_looks, verdict
from sisyphus.clients import tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sisyphus.transcript import Call, Result

KEPT = 200
VERIFIED = 10

_COMMAND = 2_000
_OUTPUT = 4_000
_SHOWN = 1_500


class Command:
    """`output`: its last lines. `at`: ISO time. `is_sure`: whether it is told how it ended.

    `is_judged`: whether that is settled; of a check that succeeded its output may deny it.
    """

    __slots__ = ("at", "command", "is_check", "is_judged", "is_sure", "ok", "output")

    def __init__(self, command: str, *, ok: bool, output: str = "", at: str = "") -> None:
        self.command = command[:_COMMAND]
        self.ok = ok
        self.output = output[-_OUTPUT:]
        self.at = at
        self.is_check = False
        self.is_sure = True
        self.is_judged = False


class Shell:
    """The commands so far, oldest first.

    Outputs are judged when they are asked for: that takes longer than all the rest, and of
    thousands only the last are kept.
    """

    __slots__ = ("_checks", "_found", "_running", "_verdict")

    def __init__(self, verdict: Callable[[str], bool | None] = verdict) -> None:
        self._verdict = verdict
        self._found: deque[Command] = deque(maxlen=KEPT)
        self._checks: dict[str, Command] = {}
        self._running: dict[str, Command] = {}  # in the background, by call

    def take(self, call: Call, result: Result, at: str) -> None:
        """One call that succeeded."""
        if tools.was_interrupted(result):
            return
        ran = Command(tools.command(call), ok=True, output=tools.printed(result), at=at)
        if tools.is_in_background(result):
            self._running[call.id] = ran
        else:
            self._end(ran)

    def fail(self, call: Call, error: str, at: str) -> None:
        if tools.was_run(error):
            self._end(Command(tools.command(call), ok=False, output=error, at=at))

    def notice(self, text: str) -> None:
        """A message of the client's that a command in the background has ended."""
        call, code = tools.ended_behind(text) or ("", 0)
        if command := self._running.pop(call, None):
            command.ok = code == 0
            command.output = ""
            self._end(command)

    @property
    def is_waiting(self) -> bool:
        """Whether a command runs in the background, as far as is known."""
        return bool(self._running)

    def commands(self) -> list[Command]:
        return [_shown(command) for command in self._judged(self._found)]

    def verified(self) -> list[Command]:
        """The checks and how their last run ended, the newest last."""
        return [_shown(command) for command in self._judged(self._checks.values())]

    def failed(self) -> Command | None:
        """The last command that failed and did not succeed afterwards. One that only looks counts
        where no other failed."""
        failed = _still_failing(self._judged(self._found))
        working = [command for command in failed if not only_looks(command.command)]
        return _shown((working or failed)[-1]) if failed else None

    def _end(self, command: Command) -> None:
        if not command.command.strip():
            return
        command.is_check = checks(command.command)
        self._found.append(command)
        if command.is_check:
            self._keep(same(command.command), command)

    def _keep(self, key: str, check: Command) -> None:
        self._checks.pop(key, None)
        self._checks[key] = check
        if len(self._checks) > VERIFIED:
            del self._checks[next(iter(self._checks))]

    def _judged(self, commands: Iterable[Command]) -> list[Command]:
        found = list(commands)
        for command in found:
            if not command.is_judged:
                self._judge(command)
        return found

    def _judge(self, command: Command) -> None:
        command.is_judged = True
        if command.is_check and command.ok and hides_its_end(command.command):
            said = self._verdict(command.output)
            command.ok, command.is_sure = said is not False, said is not None


def _still_failing(commands: Sequence[Command]) -> list[Command]:
    failing: dict[str, Command] = {}
    for command in commands:
        key = same(command.command)
        if not command.ok:
            failing.pop(key, None)
            failing[key] = command
        elif command.is_sure:
            failing.pop(key, None)
    return list(failing.values())


def _shown(command: Command) -> Command:
    """The command with an output that is fit to be shown."""
    from sisyphus.processes import last_lines, plain

    text = plain(command.output.encode("utf-8", "replace"))
    command.output = last_lines(text, _SHOWN)
    return command
