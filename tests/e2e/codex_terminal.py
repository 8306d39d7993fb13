"""Codex as users have it before them: its terminal, with hooks that the user has trusted."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from e2e import codex
from e2e.desk import Desk
from e2e.install import CODEX
from e2e.model import serving
from e2e.script import Script, Turn
from e2e.terminal import SECONDS, Terminal, opened

MODEL = codex.Codex.model

_CONFIG = """
[tui]
show_tooltips = false

[notice.model_migrations]
"{model}" = "gpt-6-sol"

[projects.{project}]
trust_level = "trusted"
"""
"""First questions, answered as a user did once, before."""

_WHERE = b"\x1b[6n"
"""The client asks where the cursor is, and does not start before it knows."""
_READS_KEYS = "Ask Codex to do anything"
_ENDS = ('"task_complete"', '"turn_aborted"')


class CodexTerminal(Terminal):
    """The client at work. It ends a turn for a blocked prompt, too."""

    _ended = 0

    def note(self, data: bytes) -> None:
        super().note(data)
        if _WHERE in data:
            os.write(self.keyboard, b"\x1b[1;1R")

    def type(self, text: str) -> None:
        self._ended = self.ends
        super().type(text)

    def clear(self) -> None:
        """Begins anew. The new session is there with the next prompt."""
        self.written.clear()
        self.type("/clear")
        self.until_drawn("OpenAI Codex")

    def until_idle(self) -> None:
        self.until(lambda: self.ends > self._ended, "end of the turn")

    @property
    def session(self) -> str:
        """The session that went on last."""
        return max(self._rollouts, key=os.path.getmtime).stem[-36:]

    @property
    def ends(self) -> int:
        """How many turns have ended, in all sessions."""
        lines = [line for file in self._rollouts for line in file.read_text("utf-8").splitlines()]
        return sum(end in line for line in lines for end in _ENDS)

    @property
    def _rollouts(self) -> list[Path]:
        return [*(self.desk.home / ".codex" / "sessions").rglob("rollout-*.jsonl")]


@contextmanager
def codex_terminal(
    desk: Desk, *, turns: Sequence[Turn], has_server: bool = False
) -> Iterator[CodexTerminal]:
    """Runs one terminal, and leaves it as a user does. Fails if it asked for more or fewer turns
    than the script has.

    has_server: the client starts a server for its terminals, as it does by default. It lives on
    until `end_server`.
    """
    script = Script([*turns])
    _answer_first_questions(desk)
    with serving(script, desk.spell) as model:
        variables = {**desk.environment(), **desk.client.model_variables(model.url)}
        with codex.serving(desk.project, variables, MODEL):
            pass  # it trusts the hooks
        command = [str(CODEX.binary), "--no-daemon", *codex.model_words(variables, MODEL)]
        if has_server:
            codex.set_model(desk.home, model.url, MODEL)
            command = [str(CODEX.binary)]
        with opened(CodexTerminal, desk, model, command, variables) as client:
            client.until_drawn(_READS_KEYS)
            yield client
            client.type("/quit")
            client.process.wait(SECONDS)
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"
    desk.check_log()


def end_server(desk: Desk) -> None:
    """Ends the server of a home, which the client leaves behind."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            variables = (folder / "environ").read_bytes().split(b"\0")
            if b"app-server" in words and f"HOME={desk.home}".encode() in variables:
                os.kill(int(folder.name), signal.SIGTERM)


def _answer_first_questions(desk: Desk) -> None:
    file = desk.home / ".codex" / "config.toml"
    more = _CONFIG.format(model=MODEL, project=json.dumps(str(desk.project)))
    if more not in (text := file.read_text("utf-8")):
        file.write_text(text + more, encoding="utf-8")
