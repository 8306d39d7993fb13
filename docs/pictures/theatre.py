"""A home, a project and the real binary, and the screen on which a picture shows them."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import termios
import textwrap
from contextlib import suppress
from itertools import cycle
from typing import TYPE_CHECKING

from rich.text import Text

from sisyphus.clients.claude_code import heard
from sisyphus.demo.stage import HANG_SECONDS, Stage, binary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json

SESSION = "4f2a9c71"
LOOP = "xK9mZ"

_DURATION = re.compile(r"( *)(\x1b\[\d+m)?( *\d+(?:\.\d)? ms)\b")
_HOOKS = ("14.8 ms", "16.1 ms", "37.0 ms", "15.2 ms", "12.9 ms")
"""Of a hook each, in turn, as measured once."""


class Theatre(Stage):
    """A stage whose scenes are written down. What differs from one play to the next is replaced:
    paths of the temporary folder by `~`, the loop's id by `LOOP`, days by one day and the clock by
    one that goes on a second each time that it is shown; durations by some of that kind.
    The sign that makes a picture of the character before it is left out: its width is anybody's."""

    def __init__(self, folder: Path, columns: int) -> None:
        super().__init__(folder)
        self.transcript = self.home / f".claude/projects/shop/{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.lines: list[Text] = []
        self._columns = columns
        self._seconds = 0
        self._durations = cycle(_HOOKS)

    def happens(
        self, what: str, event: str, payload: Json, *, shown: str = "model user", most: int = 99
    ) -> None:
        """An event of the session, and what its hook says to those that are `shown`, of that the
        first lines."""
        reply = self.hook(event, {"session_id": SESSION, **payload})
        if self.lines:
            self.lines.append(Text())
        self.lines.append(Text.assemble((f"● {what}", "bold"), (f"  (hook {event})", "dim")))
        told = dict(zip(("model", "user"), heard(reply), strict=True))
        for name, text in told.items():
            if text and name in shown:
                self._say(f"to the {name}", text, "cyan" if name == "model" else "green", most)
        if not any(told.values()):
            self.lines.append(Text("  nothing is said", style="dim"))

    def type(self, command: str, keep: Callable[[str], bool] = lambda _: True) -> None:
        """A command on a terminal, and the lines of what it writes that are kept."""
        if self.lines:
            self.lines.append(Text())
        self.lines.append(Text("$ ", style="green").append(command, style="bold"))
        for line in self._stable(self._on_a_terminal(shlex.split(command))).splitlines():
            if keep(line):
                self.lines.append(Text.from_ansi(line, no_wrap=True))

    def _say(self, label: str, text: str, colour: str, most: int) -> None:
        self.lines.append(Text(f"  {label}", style=colour))
        lines = self._stable(text).rstrip().splitlines()
        for line in [*lines[:most], *(["…"] if len(lines) > most else [])]:
            for part in textwrap.wrap(line, self._columns - 4) or [""]:
                self.lines.append(Text("  │ ", style=colour).append(part, style="default"))

    def _on_a_terminal(self, words: list[str]) -> str:
        keyboard, tty = pty.openpty()
        termios.tcsetwinsize(tty, (50, self._columns))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "SISYPHUS"))}
        kept.pop("NO_COLOR", None)
        ours = {"HOME": str(self.home), "TERM": "xterm-256color", "LANG": "C.UTF-8", "TZ": "UTC"}
        process = subprocess.Popen(  # our own binary with words of ours
            [*binary(), *words[1:]], stdin=tty, stdout=tty, stderr=tty, cwd=self.project,
            env={**kept, **ours, "CLAUDE_CONFIG_DIR": str(self.home / ".claude")},
        )  # fmt: skip
        os.close(tty)
        written = b""
        with suppress(OSError):  # how Linux says that nobody has it open any more
            while data := os.read(keyboard, 65_536):
                written += data
        os.close(keyboard)
        process.wait(HANG_SECONDS)
        return written.decode().replace("\r\n", "\n")

    def _stable(self, text: str) -> str:
        for found, put in (
            (re.escape(str(self.project)), "~/shop"),
            (re.escape(str(self.home)), "~"),
            *((re.escape(name), LOOP) for name in self._loops()),
            (r"\d{4}-\d\d-\d\d-\d{4}", "2026-11-20-0941"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d\b", "2026-11-20 09:41"),
            (r"\d{4}-\d\d-\d\d", "2026-11-20"),
            (r"(?<!\d)\d+ s\b", "1 s"),
            ("\ufe0f", ""),
        ):
            text = re.sub(found, put, text)
        text = _DURATION.sub(self._usual, text)
        return re.sub(r"(?<!\d)\d\d:\d\d:\d\d\b", self._next_second, text)

    def _next_second(self, _: re.Match[str]) -> str:
        self._seconds += 1
        return f"09:41:{self._seconds:02}"

    def _usual(self, found: re.Match[str]) -> str:
        """A usual duration in the place of another one, its column as wide as before."""
        blanks, colour, duration = found.groups(default="")
        usual = next(self._durations)
        return f"{' ' * (len(blanks) + len(duration) - len(usual))}{colour}{usual}"

    def _loops(self) -> list[str]:
        return [row["loop_id"] for row in json.loads(self.run(["ralph", "log", "--json"]))]
