"""A run in the terminal: one line that moves, or a line an event where there is no terminal."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sisyphus.cli.terminal import is_terminal, let_go
from sisyphus.masking import masked
from sisyphus.runner import decide
from sisyphus.runner.desk import Screen
from sisyphus.runner.task import fix_plan
from sisyphus.text import one_line
from sisyphus.times import duration, local

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from sisyphus.runner.client.stream import Seen
    from sisyphus.runner.decide import Decision
    from sisyphus.runner.handed import Filled
    from sisyphus.runner.keep.state import Run

EVERY_SECONDS = 0.2
ITEM_CHARACTERS = 40
REASON_CHARACTERS = 200

_ERASE = "\r\x1b[K"
_WORDS = {
    decide.COMPLETE: "completed",
    decide.FATAL: "fatal error",
    decide.WAIT: "to be done again",
    decide.LIMIT: "ended",
    decide.BREAKER: "stuck",
    decide.GO_ON: "goes on",
}


@contextmanager
def screen(*, to_stderr: bool) -> Iterator[Screen]:
    """Leaves the terminal as it found it; one that is gone is no failure."""
    stream = sys.stderr if to_stderr else sys.stdout
    if stream is None or stream.closed:
        yield Screen()
        return
    shown = Moving(stream) if is_terminal(stream) else Lines(stream)
    try:
        yield shown
    finally:
        shown.clear()


class Lines(Screen):
    """A line an event."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waits_until = 0.0

    def clear(self) -> None:
        """Nothing of a line that moves is left."""

    def say(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        self._write(text.encode(encoding, "replace").decode(encoding) + "\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a run does not end with who watches it
            let_go(self._stream)

    def note(self, text: str) -> None:
        self.say(f"note: {one_line(text)}")

    def started(self, run: Run, *, is_resumed: bool) -> None:
        self.say(f"{head(run)}: {'followed on' if is_resumed else 'started'}{item(run)}")

    def ended(self, run: Run, decision: Decision) -> None:
        word = _WORDS.get(decision.kind, "")
        why = (
            ""
            if decision.why == decide.NOT_DONE
            else one_line(masked(decision.why), REASON_CHARACTERS)
        )
        told = [": ".join(part for part in (word, why) if part)]
        percent = run.context_history[-1].get("peak_percent") if run.context_history else 0
        if decision.kind == decide.GO_ON and percent:
            told.append(f"context {percent}%")
        if run.todo_items:
            told.append(f"{len(run.todo_items)} left")
        if blocked := fix_plan.blocked_in(run):
            told.append(f"{blocked} blocked")
        self.say(f"{head(run)}: {', '.join(told)}")

    def waits(self, run: Run, left: float) -> None:
        until = run.waiting.get("until", 0.0)
        if until != self._waits_until:
            self._waits_until = until
            self.say(f"{head(run)}: {waiting(run, left)}")


class Moving(Lines):
    """The same, with one line below that is kept up to date."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._drawn_at = 0.0
        self._drawn = ""

    def clear(self) -> None:
        if self._drawn:
            self._drawn = ""
            self._write(_ERASE)

    def say(self, text: str) -> None:
        self.clear()
        super().say(text)

    def moved(self, run: Run, seen: Seen, full: Filled) -> None:
        context = f"context {full.percent}% {full.level}" if seen.context else ""
        at_work = time.time() - (run.began or time.time())
        what = "asks again" if seen.retrying else one_line(seen.last_action, 120)
        parts = (head(run), item(run, "")[:ITEM_CHARACTERS], context, duration(at_work), what)
        self._draw(" · ".join(part for part in parts if part))

    def waits(self, run: Run, left: float) -> None:
        super().waits(run, left)
        self._draw(f"{head(run)} · {duration(left)} left")

    def _draw(self, text: str) -> None:
        now = time.monotonic()
        if text == self._drawn or now - self._drawn_at < EVERY_SECONDS:
            return
        self._drawn, self._drawn_at = text, now
        columns = shutil.get_terminal_size().columns
        encoding = self._stream.encoding or "utf-8"
        self._write(
            _ERASE + text[: max(columns - 1, 1)].encode(encoding, "replace").decode(encoding)
        )


def head(run: Run) -> str:
    limit = f" of {run.max_iterations:,}" if run.max_iterations else ""
    return f"iteration {run.iteration:,}{limit}"


def item(run: Run, before: str = ": ") -> str:
    return f"{before}{one_line(run.item, 80)}" if run.item else ""


def waiting(run: Run, left: float) -> str:
    until = run.waiting.get("until")
    why = one_line(str(run.waiting.get("for") or "a failure"), REASON_CHARACTERS)
    return f"waits {duration(left)}, until {local(until, '%H:%M:%S')}: {why}"
