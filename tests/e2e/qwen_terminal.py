"""Qwen Code as users have it before them: its terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from e2e.desk import Desk
from e2e.install import QWEN
from e2e.model import serving
from e2e.script import Script, Turn
from e2e.terminal import SECONDS, Terminal, opened

_READS_KEYS = "Type your message"


class QwenTerminal(Terminal):
    """The client at work. It does not say whether it is idle: look at its requests."""

    def type(self, text: str) -> None:
        super().type(text)
        if text.startswith("/"):
            self.press("\r")  # the first one takes the command from the list of those that fit


@contextmanager
def qwen_terminal(desk: Desk, *, turns: Sequence[Turn]) -> Iterator[QwenTerminal]:
    """Runs one terminal, and leaves it as a user does. Fails if it asked for more or fewer turns
    than the script has."""
    script = Script([*turns])
    words = [str(QWEN.binary), "--approval-mode", "auto-edit"]
    with serving(script, desk.spell) as model:
        variables = {**desk.environment(), **desk.client.model_variables(model.url)}
        with opened(QwenTerminal, desk, model, words, variables) as client:
            client.until_drawn(_READS_KEYS)
            yield client
            client.type("/quit")
            client.process.wait(SECONDS)
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"
    desk.check_log()
