"""OpenCode as users have it before them: its terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from e2e import opencode
from e2e.desk import Desk
from e2e.install import OPENCODE
from e2e.model import serving
from e2e.script import Script, Turn
from e2e.terminal import SECONDS, Terminal, opened

_READS_KEYS = "Ask anything"
_DOWN = "\x1b[B"
_LEADER = "\x18"
"""Ctrl+X, with which the keys of most commands begin."""


class OpenCodeTerminal(Terminal):
    """The client at work. It does not say whether it is idle: look at its requests and hooks."""

    def clear(self) -> None:
        """Does what `/new` does: shows the page on which a session begins."""
        self.written.clear()
        self.press(f"{_LEADER}n")
        self.until_drawn(_READS_KEYS)

    def choose_other(self, text: str) -> None:
        """Chooses the other one of two sessions, as in `/sessions`. text: stands in it."""
        self.written.clear()
        self.press(f"{_LEADER}l")
        self.until_drawn("pin/unpin")
        self.press(_DOWN)
        self.press("\r")
        self.until_drawn(text)

    def ask(self, prompt: str) -> set[int]:
        """Gives the session a prompt, and waits until a process waits beside its end. Returns all
        that wait beside idle sessions then."""
        before, asked = self.waiting, len(self.requests)
        self.type(prompt)
        self.until(lambda: len(self.requests) > asked, "request")
        self.until(lambda: self.waiting - before, "end of the turn")
        return self.waiting

    @property
    def waiting(self) -> set[int]:
        """The processes that wait beside idle sessions."""
        hooks = opencode.hooks_of(self.process.pid)
        return {pid for pid, words in hooks.items() if " hook idle" in words}


@contextmanager
def opencode_terminal(desk: Desk, *, turns: Sequence[Turn]) -> Iterator[OpenCodeTerminal]:
    """Runs one terminal, and leaves it as a user does. Fails if it asked for more or fewer turns
    than the script has."""
    script = Script([*turns])
    with serving(script, desk.spell) as model:
        variables = {**desk.environment(), **desk.client.model_variables(model.url)}
        with opened(OpenCodeTerminal, desk, model, [str(OPENCODE.binary)], variables) as client:
            client.until_drawn(_READS_KEYS)
            yield client
            client.press(f"{_LEADER}q")
            client.process.wait(SECONDS)
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"
    desk.check_log()
