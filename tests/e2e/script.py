"""What the scripted model says: turns, taken in order.

A turn names tools by what they do (`read`, `edit`, …); each client's module knows its own names for
them, so that one scenario serves all clients. Paths are relative to the project; one with `*` is
the first file that fits when the model calls the tool.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SURPLUS = "[the script has no more turns]"
_THINKS = 0.3
"""Seconds that the model thinks where it fills its context. Of answers that came within 0.1 s of
each other, Qwen Code has written two down only after the hooks of their tools."""


@dataclass(frozen=True)
class Tool:
    """A tool call of the model: what it does, and with what."""

    verb: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model: a text, tool calls (all of them in parallel), or both.

    tokens: the size of the context, as the API reports it; near the model's window the client
    compacts. meanwhile: is called just before the model answers, as if in another terminal.
    status: of the HTTP answer; above 200 the service refuses, and the client may ask again.
    refusal: what the service then says besides, or instead of what it says of this status.
    """

    text: str = ""
    tools: tuple[Tool, ...] = ()
    tokens: int = 100
    meanwhile: Callable[[], object] | None = None
    status: int = 200
    refusal: dict[str, Any] = field(default_factory=dict)


def say(text: str, **more: Any) -> Turn:
    return Turn(text, **more)


def use(*tools: Tool, **more: Any) -> Turn:
    return Turn(tools=tools, **more)


def fill(tokens: int) -> Turn:
    """The model reads a file with so much in its context. Before that it thinks, and the client
    writes its last answer down, by which a hook knows how full the context is."""
    return use(read("one.py"), tokens=tokens, meanwhile=lambda: time.sleep(_THINKS))


def read(path: str) -> Tool:
    return Tool("read", {"path": path})


def write(path: str, text: str) -> Tool:
    return Tool("write", {"path": path, "text": text})


def edit(path: str, old: str, new: str) -> Tool:
    return Tool("edit", {"path": path, "old": old, "new": new})


def shell(command: str, *, background: bool = False) -> Tool:
    return Tool("shell", {"command": command, "background": background})


def skill(name: str, arguments: str) -> Tool:
    return Tool("skill", {"name": name, "arguments": arguments})


def todos(*items: tuple[str, str]) -> Tool:
    """A whole list: each item with its status."""
    return Tool("todos", {"items": items})


def schedule(prompt: str) -> Tool:
    """Lets the client submit a prompt in a minute."""
    return Tool("schedule", {"prompt": prompt, "seconds": 60, "reason": "scripted"})


def enter_plan_mode() -> Tool:
    return Tool("plan", {})


def delegate(prompt: str) -> Tool:
    """Starts a subagent and waits for it."""
    return Tool("delegate", {"prompt": prompt})


@dataclass
class Script:
    """The turns of the main conversation, and those of its subagents.

    A request beyond the end of its list is answered by `SURPLUS`, which ends the turn.
    """

    main: list[Turn]
    agents: list[Turn] = field(default_factory=list)
    surplus: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, *, agent: bool) -> Turn:
        """Returns the next turn; the client asks on several connections at once."""
        with self._lock:
            turns = self.agents if agent else self.main
            if turns:
                return turns.pop(0)
            self.surplus += 1
            return Turn(SURPLUS)

    @property
    def is_over(self) -> bool:
        """Tells whether the client asked for exactly the turns of the script."""
        return not (self.main or self.agents or self.surplus)
