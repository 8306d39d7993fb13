"""What is measured: for each scene the state it needs, the event, and the reply it must get."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from desk import Desk

Json = dict[str, Any]

QUIET = 1.15
"""What a hook that has nothing to say may cost, in times of `python -c "import json"`."""

STATUSLINE = "statusline"


@dataclass(frozen=True)
class Scene:
    name: str
    title: str
    target: float  # times `python -c "import json"`
    event: str
    fields: Json
    furnish: Callable[[Desk], object]
    says: str = ""  # words that the reply holds; "" = there is no reply
    large: bool = field(default=False, kw_only=True)  # reads the large transcript
    client: str = field(default="", kw_only=True)  # "" = Claude Code

    @property
    def words(self) -> tuple[str, ...]:
        """The command behind `sisyphus`."""
        named = ("--client", self.client) if self.client else ()
        return (self.event,) if self.event == STATUSLINE else ("hook", self.event, *named)


def _read(path: str) -> Json:
    """The particulars of a Read of a 150-line file."""
    lines = "\n".join(f"value_{number} = {number}" for number in range(150))
    shown = {"filePath": path, "content": lines, "numLines": 150, "startLine": 1}
    return {
        "tool_name": "Read",
        "tool_input": {"file_path": path},
        "tool_response": {"type": "text", "file": shown},
        "tool_use_id": "toolu_fake000000",
    }


OPENCODE = 1.3
"""The same through the plugin, which sends what happened since its last message along."""


def _through_plugin(**fields: Any) -> Json:
    """The particulars of a message of the plugin's, with two lines of a transcript in it."""
    usage = {"input": 40_000, "output": 200, "reasoning": 0, "cache": {"read": 9_000, "write": 0}}
    lines = [
        {"kind": "text", "at": 1, "id": "msg_1", "part": "prt_1", "text": "I read the file."},
        {"kind": "usage", "at": 1, "id": "msg_1", "model": "fake", "tokens": usage},
    ]
    own = {"agent": "build", "window": 200_000, "text": "I read the file.", "lines": lines}
    return {"transcript_path": None, "opencode": {**own, **fields}}


_OPENCODE_READ = _through_plugin(
    tool={"tool": "read", "call": "call_1", "args": {"filePath": "src/app.py"}, "output": "1: x"}
)

STOP: Json = {
    "stop_hook_active": True,
    "last_assistant_message": "One more step is done. I go on with the next one now.",
    "background_tasks": [],
    "session_crons": [],
}

BATCH: Json = {
    "tool_calls": [{"tool_name": "Edit", "tool_input": {}, "tool_use_id": "toolu_edit"}],
}

_EVENTS: dict[str, Json] = {
    "session-start": {"source": "startup"},
    "session-end": {"reason": "other"},
    "user-prompt-submit": {"prompt": "please go on"},
    "post-tool-use": _read("src/app.py"),
    "post-tool-use-failure": {"tool_name": "Bash", "error": "exit 3", "is_interrupt": False},
    "post-tool-batch": {"tool_calls": []},
    "stop": STOP,
    "stop-failure": {"error": "unknown"},
    "subagent-stop": {**STOP, "agent_id": "agent-1", "agent_type": "Explore"},
    "pre-compact": {"trigger": "auto"},
    "post-compact": {"trigger": "auto", "compact_summary": "what happened"},
    "notification": {"message": "waiting", "notification_type": "idle_prompt"},
    "idle": STOP,
}


def _once(event: str, fields: Json) -> Callable[[Desk], object]:
    """An empty project in which the same happened before."""
    return lambda desk: desk.hook(event, **fields)


def _before(event: str, fields: Json) -> Callable[[Desk], object]:
    """The same, told by OpenCode's plugin."""
    return lambda desk: desk.run("hook", event, "--client", "opencode", **fields)


def _rules(count: int) -> Callable[[Desk], object]:
    """`count` rules of which two cover `src/app.py`; the index is there, nothing was sent."""

    def furnish(desk: Desk) -> None:
        for number in range(count):
            glob = "src/**/*.py" if number < 2 else f"packages/p{number}/**/*.ts"  # noqa: PLR2004
            text = f"Rule {number}: " + "keep functions short and names long. " * 10
            desk.write(
                f".claude/rules/group{number % 10}/rule{number}.md",
                f'---\napplies_to:\n  - "{glob}"\npriority: {number % 7}\n---\n\n{text}\n',
            )
        desk.write("src/app.py", "pass\n")
        desk.hook("post-tool-use", **{**_read("src/app.py"), "session_id": "an-earlier-one"})

    return furnish


def _sent_rules(desk: Desk) -> None:
    _rules(20)(desk)
    desk.hook("post-tool-use", **_read("src/app.py"))


def _plan(desk: Desk) -> None:
    """A plan of 1,000 tasks and a README of 500 lines, known from an earlier session."""
    tasks = [f"- [{'x' if n % 2 else ' '}] task {n}: `do_{n}()` as agreed" for n in range(1_000)]
    desk.write(".claude/PLAN.md", "# A large plan\n\n## Wave 1\n\n" + "\n".join(tasks) + "\n")
    desk.write("README.md", "".join(f"Line {n} of what there is to say.\n" for n in range(500)))
    desk.hook("session-start", source="startup", session_id="an-earlier-one")


def _known_plan(desk: Desk) -> None:
    _plan(desk)
    for _ in range(5):  # until nothing waits any more
        desk.hook("session-start", source="resume")
        desk.hook("user-prompt-submit", prompt="begin")


def _loop(desk: Desk) -> None:
    start = '/sisyphus:ralph-loop "build the thing" --completion-promise "ALL DONE"'
    desk.hook("user-prompt-submit", prompt=start)
    desk.hook("stop", **STOP)


def _talking_loop(desk: Desk) -> None:
    """A loop in a git repository of 300 files in which nothing has changed since the last stop."""
    subprocess.run(["git", "init", "--quiet", desk.project], check=True)  # noqa: S607
    for number in range(300):
        desk.write(f"src/part{number % 10}/file{number}.py", "pass\n")
    subprocess.run(["git", "-C", desk.project, "add", "."], check=True)  # noqa: S607
    _loop(desk)


_CONTEXT: Json = {
    "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
    "context_window": {
        "context_window_size": 1_000_000,
        "current_usage": {
            "input_tokens": 50_000,
            "output_tokens": 500,
            "cache_creation_input_tokens": 20_000,
            "cache_read_input_tokens": 650_000,
        },
    },
}


def _line(desk: Desk) -> None:
    """A plan, a loop, and a line that was drawn before."""
    _plan(desk)
    desk.hook("session-start", source="startup")
    _loop(desk)
    desk.run(STATUSLINE, **_CONTEXT)


SCENES = [
    *(
        Scene(
            f"quiet-{event}", f"{event}, nothing to say", QUIET, event, fields, _once(event, fields)
        )
        for event, fields in _EVENTS.items()
    ),
    Scene(
        "quiet-rules", "post-tool-use, 20 rules, all sent already", QUIET,
        "post-tool-use", _read("src/app.py"), _sent_rules,
    ),
    Scene(
        "quiet-plan", "user-prompt-submit, plan of 1,000 tasks, no news", QUIET,
        "user-prompt-submit", {"prompt": "please go on"}, _known_plan,
    ),
    Scene(
        "quiet-transcript", "stop, no loop, transcript of 1 GB", QUIET,
        "stop", STOP, _once("stop", STOP), large=True,
    ),
    Scene(
        "quiet-context", "post-tool-batch, context at 45 %, transcript of 1 GB", QUIET,
        "post-tool-batch", BATCH, _once("post-tool-batch", BATCH), large=True,
    ),
    Scene(
        "quiet-context-tool", "post-tool-use, context at 45 %, transcript of 1 GB", QUIET,
        "post-tool-use", _read("src/app.py"), _once("post-tool-use", _read("src/app.py")),
        large=True,
    ),
    Scene(
        "quiet-context-prompt", "user-prompt-submit, context at 45 %, transcript of 1 GB", QUIET,
        "user-prompt-submit", {"prompt": "please go on"},
        _once("user-prompt-submit", {"prompt": "please go on"}), large=True,
    ),
    Scene(
        "opencode-tool", "post-tool-use by OpenCode's plugin, nothing to say", OPENCODE,
        "post-tool-use", _OPENCODE_READ, _before("post-tool-use", _OPENCODE_READ),
        client="opencode",
    ),
    Scene(
        "opencode-stop", "stop by OpenCode's plugin, nothing to say", OPENCODE,
        "stop", _through_plugin(), _before("stop", _through_plugin()), client="opencode",
    ),
    Scene(
        "rules-20", "post-tool-use, 20 rules, two match and are sent", 1.3,
        "post-tool-use", _read("src/app.py"), _rules(20), "keep functions short",
    ),
    Scene(
        "rules-1000", "post-tool-use, 1,000 rules, two match and are sent", 2.0,
        "post-tool-use", _read("src/app.py"), _rules(1_000), "keep functions short",
    ),
    Scene(
        "loop", "stop in a loop, transcript of 1 GB, second stop", 1.5,
        "stop", STOP, _loop, "[RALPH LOOP ENFORCEMENT]", large=True,
    ),
    Scene(
        "loop-git", "stop in a loop, git asked about 300 files", 2.5,
        "stop", STOP, _talking_loop, "[RALPH LOOP ENFORCEMENT]",
    ),
    Scene(
        "start", "session-start, 500-line README, plan of 1,000 tasks", 2.0,
        "session-start", {"source": "startup"}, _plan, "Progress: 500/1000",
    ),
    Scene(
        "statusline", "statusline, plan of 1,000 tasks, loop, context at L1", 2.0,
        STATUSLINE, _CONTEXT, _line, "500/1000 wave 1 W1.1 | loop 2/100 | \x1b[33mctx 72% L1",
    ),
]  # fmt: skip
