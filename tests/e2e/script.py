"""What the scripted model says: turns, handed out in order to the main conversation or an agent."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SURPLUS = "[the script has no more turns]"


@dataclass(frozen=True)
class Tool:
    """A tool call of the model, by the client's names."""

    name: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model: a text, tool calls (all of them in parallel), or both.

    `tokens` is how much context the API says it took; near the model's window the client compacts.
    `meanwhile` happens in another terminal just before the model answers. With a `status` other
    than 200 the API refuses, and `text` says why; `headers` go along with that.
    """

    text: str = ""
    tools: tuple[Tool, ...] = ()
    tokens: int = 100
    meanwhile: Callable[[], object] | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def usage_limit(resets_at: float) -> Turn:
    """The limit of an account is used up; who is logged in is told until when."""
    at = str(int(resets_at))
    unified = {"status": "rejected", "reset": at, "representative-claim": "five_hour"}
    unified |= {"5h-utilization": "1.0", "5h-reset": at, "5h-status": "rejected"}
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}
    return Turn("x", status=429, headers=headers)


def say(text: str) -> Turn:
    return Turn(text)


def use(*tools: Tool) -> Turn:
    return Turn(tools=tools)


def slowly(turn: Turn) -> Turn:
    """The same from a model that takes its time, as real ones do: the client writes an answer down
    about 100 ms late, and has done so before this one."""
    return replace(turn, meanwhile=lambda: time.sleep(0.2))


def read(path: object) -> Tool:
    return Tool("Read", {"file_path": str(path)})


def write(path: object, text: str) -> Tool:
    return Tool("Write", {"file_path": str(path), "content": text})


def edit(path: object, old: str, new: str) -> Tool:
    return Tool("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


def skill(name: str, args: str) -> Tool:
    return Tool("Skill", {"skill": name, "args": args})


def background(command: str) -> Tool:
    """A shell command that the model does not wait for; its end starts a turn."""
    return Tool("Bash", {"command": command, "run_in_background": True})


def agent(prompt: str) -> Tool:
    """A subagent that the model waits for."""
    asked = {"description": "scripted", "prompt": prompt, "subagent_type": "general-purpose"}
    return Tool("Agent", {**asked, "run_in_background": False})


@dataclass
class Script:
    """Two lists of turns, one for the main conversation, one for subagents.

    A request beyond the end of its list is answered by `SURPLUS`, which ends the turn.
    """

    main: list[Turn]
    agents: list[Turn] = field(default_factory=list)
    surplus: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, *, agent: bool) -> Turn:
        """The next turn for who asks; the client asks from several connections at once."""
        with self._lock:
            turns = self.agents if agent else self.main
            if turns:
                return turns.pop(0)
            self.surplus += 1
            return Turn(SURPLUS)

    @property
    def told(self) -> bool:
        """Whether the client asked for exactly the turns of the script."""
        return not (self.main or self.agents or self.surplus)
