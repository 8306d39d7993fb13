"""Claude Code as users have it before them: its interactive interface, in a pseudo terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from e2e import claude_code
from e2e.claude_code import Json, environment
from e2e.desk import Desk
from e2e.install import CLAUDE_CODE
from e2e.model import Model, Request, serving
from e2e.script import Script, Turn

_PASTE = "\x1b[200~{}\x1b[201~"
_READS_KEYS = b"\x1b[?2004h"
"""The client asks for pastes as soon as it reads the keyboard."""
_CONTROLS = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<=>]*[@-~]|\x1b[()].|\x1b.")

T = TypeVar("T", bound="Terminal")

SECONDS = 120.0
"""A limit of each wait, against a hang; a healthy client takes about one."""
_REDRAW = 10.0
"""Seconds without a text, after which it may have been drawn in parts."""
_PAUSE = 0.3
"""Seconds between keys. The client may take what comes faster for one text."""


@dataclass
class Terminal:
    """A client at work: send it keys, and wait for what it then does."""

    desk: Desk
    model: Model
    process: subprocess.Popen[bytes]
    keyboard: int
    written: bytearray = field(default_factory=bytearray)
    _last_key: float = 0.0  # seconds since the epoch, as the client counts

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    @property
    def session(self) -> str:
        return str(self._state.get("sessionId", ""))

    @property
    def screen(self) -> str:
        """All that was drawn until now, without blanks: the client moves over those."""
        return "".join(_CONTROLS.sub("", self.written.decode(errors="replace")).split())

    def note(self, data: bytes) -> None:
        """Takes what the client writes."""
        self.written += data

    def press(self, keys: str) -> None:
        time.sleep(max(0.0, self._last_key + _PAUSE - time.time()))
        self._last_key = time.time()
        os.write(self.keyboard, keys.encode())

    def enter(self, text: str) -> None:
        """Types a prompt or a command, and Enter; waits until the client has done it."""
        self.type(text)
        self.until_idle()

    def type(self, text: str) -> None:
        """Types a prompt or a command, and Enter."""
        self.press(_PASTE.format(text))
        self.press("\r")

    def leave(self) -> None:
        self.type("/exit")
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_REDRAW)
            return
        self.press("\r")  # it asks whether what runs in the background may end
        self.process.wait(SECONDS)

    def clear(self) -> None:
        before = self.session
        self.type("/clear")
        self.until(lambda: self.session != before, "new session")
        self.until(self._is_idle, "end of the clear")

    def until_asking(self) -> None:
        """Waits until a permission dialog is open and reads the keyboard."""
        self.until_drawn("Do you want to proceed?")
        self.until(lambda: self._state.get("status") == "waiting", "dialog")
        time.sleep(_PAUSE)

    def until_idle(self) -> None:
        self.until(self._is_idle, "end of the turn")

    def until_drawn(self, text: str) -> None:
        """Waits until a text was drawn, of one piece: the client redraws only what changes. If
        that leaves out letters which stood there already, a new width makes it draw them all."""
        next_redraw = time.monotonic() + _REDRAW

        def is_drawn() -> bool:
            nonlocal next_redraw
            if time.monotonic() > next_redraw:
                next_redraw += _REDRAW
                self._narrow()
            return "".join(text.split()) in self.screen

        self.until(is_drawn, text)

    def _narrow(self) -> None:
        """Takes a column from the terminal."""
        rows, columns = termios.tcgetwinsize(self.keyboard)
        termios.tcsetwinsize(self.keyboard, (rows, columns - 1))
        self.process.send_signal(signal.SIGWINCH)  # it has no terminal that would send it

    def until(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            assert self.process.poll() is None, f"the client ended, no {what}: {self.screen}"
            assert time.monotonic() < end, f"no {what}: {self.screen}"
            time.sleep(0.02)

    def _is_idle(self) -> bool:
        now = self._state
        is_later = now.get("statusUpdatedAt", 0) / 1000 > self._last_key
        return now.get("status") == "idle" and is_later

    @property
    def _state(self) -> Json:
        """What the client tells other processes about itself."""
        file = self.desk.home / ".claude" / "sessions" / f"{self.process.pid}.json"
        try:
            state: Json = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there yet, or half written
            return {}
        return state


@contextmanager
def terminal(desk: Desk, *, turns: Sequence[Turn], flags: Sequence[str] = ()) -> Iterator[Terminal]:
    """Runs one interactive client with the home, project and plugins of `desk`, and leaves it as
    a user does. Fails if a hook failed, or if it asked for more or fewer turns than the script.

    flags: more words of its command line.
    """
    script, words = Script([*turns]), [*_words(desk), *flags]
    _answer_first_questions(desk)
    with (
        serving(script, lambda tool: claude_code.spell(tool, desk.project)) as model,
        opened(Terminal, desk, model, words, {"ANTHROPIC_BASE_URL": model.url}) as client,
    ):
        client.until(lambda: _READS_KEYS in client.written, "input line")
        yield client
        client.leave()
    _check(desk, script)


def _answer_first_questions(desk: Desk) -> None:
    """Theme, key and trust: answered as a user did once, before."""
    file = desk.home / ".claude.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    answers = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [environment(desk.home)["ANTHROPIC_API_KEY"][-20:]]},
        "projects": {str(desk.project): {"hasTrustDialogAccepted": True}},
    }
    file.write_text(json.dumps(known | answers), encoding="utf-8")


def _words(desk: Desk) -> list[str]:
    plugins = [word for path in desk.plugins for word in ("--plugin-dir", str(path))]
    return [str(CLAUDE_CODE.binary), "--permission-mode", "acceptEdits", *plugins]


@contextmanager
def opened(
    kind: type[T], desk: Desk, model: Model, words: Sequence[str], variables: dict[str, str]
) -> Iterator[T]:
    """Runs a client in a pseudo terminal, with variables beside those of the desk."""
    keyboard, tty = pty.openpty()
    termios.tcsetwinsize(tty, (50, 160))  # rows, columns
    process = subprocess.Popen(
        words,
        cwd=desk.project,
        env={**desk.environment(), **variables, "TERM": "xterm-256color"},
        stdin=tty,
        stdout=tty,
        stderr=tty,
        start_new_session=True,  # so that keys pressed for pytest do not reach it
    )
    os.close(tty)
    client = kind(desk, model, process, keyboard)
    reader = threading.Thread(target=_read, args=(client,), daemon=True)
    reader.start()
    try:
        yield client
    finally:
        process.terminate()  # a kill would leave its hooks behind
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        reader.join(1)
        os.close(keyboard)


def _read(client: Terminal) -> None:
    """Keeps what the client writes, so that it can continue to write."""
    with suppress(OSError):  # how Linux says that nobody has the terminal open any more
        while data := os.read(client.keyboard, 65536):
            client.note(data)


def _check(desk: Desk, script: Script) -> None:
    kinds = ("hook_non_blocking_error", "hook_cancelled")
    failed = [note for note in notes(desk.home) if note["type"] in kinds]
    assert not failed, f"hooks failed: {failed}"
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"
    desk.check_log()


def notes(home: Path) -> list[Json]:
    """The attachments of all transcripts; what hooks did and said is among them."""
    files = sorted((home / ".claude" / "projects").rglob("*.jsonl"), key=os.path.getmtime)
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in lines if line]
    return [row["attachment"] for row in rows if row.get("type") == "attachment"]
