"""The client as users have it before them: its terminal interface, in a pseudo terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import termios
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from e2e.client import CLIENT, environment
from e2e.model import Model, serving
from e2e.script import Script, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from e2e.desk import Desk
    from e2e.wire import Request

ESCAPE = "\x1b"
PASTE = "\x1b[200~{}\x1b[201~"
READS_KEYS = b"\x1b[?2004h"  # the client asks for pastes as soon as it reads the keyboard
CONTROLS = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<=>]*[@-~]|\x1b[()].|\x1b.")
PATIENCE = 60.0  # seconds a wait; against a hang alone, a healthy client takes about one
PAUSE = 0.3  # seconds between keys; the client may take what comes faster for one text


@dataclass
class Terminal:
    """A client at work: keys go in, and what it then does is waited for."""

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
        return str(self._status.get("sessionId", ""))

    @property
    def told(self) -> str:
        """What the hooks told the user (`systemMessage`), session by session."""
        return "\n\n".join(note["content"] for note in self.notes("hook_system_message"))

    def enter(self, text: str) -> None:
        """A prompt or a command, and Enter."""
        self.press(PASTE.format(text))
        self.press("\r")

    def press(self, keys: str) -> None:
        time.sleep(max(0.0, self._last_key + PAUSE - time.time()))
        self._last_key = time.time()
        os.write(self.keyboard, keys.encode())

    def clear(self) -> None:
        before = self.session
        self.enter("/clear")
        self.until(lambda: self.session != before, "new session")
        self.until_idle()

    def quit(self) -> None:
        """Leaves as a user does, after the end of the turn."""
        self.until_idle()
        self.enter("/exit")
        self.process.wait(PATIENCE)

    def until_asked(self, times: int) -> None:
        """Until the model got that many requests, counted from the start of the client."""
        self.until(lambda: len(self.requests) >= times, f"request {times}")

    def until_idle(self) -> None:
        """Until the client has done what was entered last and waits for the user."""
        self.until(self._is_idle, "end of the turn")

    def until(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"the client ended, no {what}: {self._screen}"
            assert time.monotonic() < end, f"no {what} in {PATIENCE} seconds: {self._screen}"
            time.sleep(0.02)

    def notes(self, *kinds: str) -> list[dict[str, Any]]:
        """The attachments of these types in the transcripts; complete after the end."""
        files = (self.desk.home / ".claude/projects").rglob("*.jsonl")
        texts = [path.read_text(encoding="utf-8") for path in sorted(files, key=os.path.getmtime)]
        rows = [json.loads(line) for text in texts for line in text.split("\n") if line]
        notes = [row["attachment"] for row in rows if row["type"] == "attachment"]
        return [note for note in notes if note["type"] in kinds]

    def _is_idle(self) -> bool:
        now = self._status
        return now.get("status") == "idle" and now["statusUpdatedAt"] / 1000 > self._last_key

    @property
    def _status(self) -> dict[str, Any]:
        """What the client tells other processes about itself."""
        return self.desk.state(f"sessions/{self.process.pid}.json") or {}

    @property
    def _screen(self) -> str:
        """Roughly what was shown last; the client sends changes, not lines."""
        return " ".join(CONTROLS.sub(" ", self.written.decode(errors="replace")).split())[-1000:]


@contextmanager
def terminal(
    desk: Desk,
    *,
    turns: Sequence[Turn],
    flags: Sequence[str] = (),
    env: dict[str, str] | None = None,
) -> Iterator[Terminal]:
    """One process of the client with the home, project and plugins of `desk`.

    Quits at the end where the scenario did not, and fails as `Desk.run` does.
    """
    script = Script([*turns])
    with serving(script) as model, _faults_told(desk):
        variables = {**environment(desk.home), "ANTHROPIC_BASE_URL": model.url, **(env or {})}
        _answer_first_questions(desk, variables["ANTHROPIC_API_KEY"])
        with _opened(desk, model, {**variables, "TERM": "xterm-256color"}, flags) as client:
            client.until(lambda: READS_KEYS in client.written, "input line")
            yield client
            if client.process.poll() is None:
                client.quit()
    failed = client.notes("hook_non_blocking_error", "hook_cancelled")
    assert not failed, f"hooks failed: {failed}"
    assert script.told, f"unsaid: {script.main}; beyond: {script.surplus}"


@contextmanager
def _faults_told(desk: Desk) -> Iterator[None]:
    """Looks into our log even where a wait failed: that is what it may have failed for."""
    try:
        yield
    finally:
        desk.check_log()


def _answer_first_questions(desk: Desk, key: str) -> None:
    answers = {
        "hasCompletedOnboarding": True,
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [key[-20:]]},
        "projects": {str(desk.project): {"hasTrustDialogAccepted": True}},
    }
    desk.write_home(".claude.json", json.dumps((desk.state(".claude.json") or {}) | answers))


@contextmanager
def _opened(
    desk: Desk, model: Model, variables: dict[str, str], flags: Sequence[str]
) -> Iterator[Terminal]:
    keyboard, tty = pty.openpty()
    termios.tcsetwinsize(tty, (50, 160))  # rows, columns
    plugins = [word for path in desk.plugins for word in ("--plugin-dir", str(path))]
    process = subprocess.Popen(
        [CLIENT, "--permission-mode", "acceptEdits", *plugins, *flags],
        cwd=desk.project,
        env=variables,
        stdin=tty,
        stdout=tty,
        stderr=tty,
        start_new_session=True,  # so that it is out of reach of the keys pressed for pytest
    )
    os.close(tty)
    client = Terminal(desk, model, process, keyboard)
    reader = threading.Thread(target=_read, args=(client,), daemon=True)
    try:
        reader.start()
        yield client
    finally:
        process.terminate()  # unlike a kill this ends the hooks, too
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        reader.join(1)
        os.close(keyboard)


def _read(client: Terminal) -> None:
    """Keeps what the client writes, so that it can go on writing."""
    with suppress(OSError):  # how Linux says that nobody has the terminal open any more
        while data := os.read(client.keyboard, 65536):
            client.written += data
