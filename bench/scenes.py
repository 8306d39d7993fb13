"""What is measured: what a scene needs, the command, the payload, the words that it must answer."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import transcript
from sandbox import PROJECT, Json, Sandbox, Told

if TYPE_CHECKING:
    from collections.abc import Callable

JSON, NODE, SECONDS = '`python -c "import json"`', "`node -e 0`", "seconds"

QUIET, ACTING, GIT = 1.25, 2.5, 3.5
"""What a hook may cost, in times of `python -c "import json"`: with nothing to say, with something,
where git must be asked."""
GROWN = 1.2
"""What it may cost, in times of itself, with ten times as much behind it."""
COMMAND, LARGE_COMMAND = 0.25, 0.4
"""Seconds of a command for people, and of one with 10,000 sessions in the memory."""


@dataclass(frozen=True)
class Scene:
    """`command`: the words behind `sisyphus`; `JSON` and `NODE` have none. `beside`: what its
    time is compared with, `JSON`, another scene's title, or `SECONDS`."""

    title: str
    command: str
    told: Told | None
    prepare: Callable[[Sandbox], object]
    says: str = ""  # words that the answer holds; "" = there is none
    target: float | None = QUIET
    beside: str = JSON
    is_large: bool = False  # its session's transcript has a gigabyte
    notes: str = ""  # words of the journal's last line


def _call(tool: str, answer: str, **given: str) -> Json:
    return {"tool_name": tool, "tool_input": given, "tool_response": answer, "tool_use_id": ""}


def _batch(*calls: Json, **fields: str) -> Told:
    return Told("payloads/PostToolBatch", {"tool_calls": [*calls], **fields})


_LINES = "\n".join(f"{number}\tvalue_{number} = {number}" for number in range(150))
READ = _call("Read", _LINES, file_path=f"{PROJECT}/src/app.py")
READS = _batch(READ)
SHELL = _batch(_call("Bash", "ok\n", command="make test"), _call("Bash", _LINES, command="cat a"))
_EDIT = _call("Edit", "updated", file_path=f"{PROJECT}/src/app.py", old_string="a", new_string="b")
LATEST = _batch({**_EDIT, "tool_use_id": transcript.LATEST})
"""The call that the transcript ends with: one that it does not hold yet is waited for."""
PROMPT = Told("payloads/UserPromptSubmit", {"prompt": "please go on"})
START = Told("payloads/SessionStart.startup")
END = Told("payloads/SessionEnd.other")
STOP = Told(
    "payloads/Stop.active",
    {"last_assistant_message": "One more step is done. I go on with the next one now."},
)
_USAGE = {"input": 40_000, "output": 200, "reasoning": 0, "cache": {"read": 9_000, "write": 0}}
_SAID = {"kind": "text", "at": 1, "id": "msg_1", "part": "prt_1", "text": "I read the file."}
_COST = {"kind": "usage", "at": 1, "id": "msg_1", "model": "fake", "tokens": _USAGE}
PLUGIN: Json = {"opencode": {"lines": [_SAID, _COST]}}
"""What happened since the plugin's last message."""
HELD = "[RALPH LOOP ENFORCEMENT]"


def _earlier(told: Told, session: str = "an-earlier-one") -> Told:
    return Told(told.recorded, {**told.fields, "session_id": session})


def _before(command: str, told: Told) -> Callable[[Sandbox], object]:
    """An empty project in which the same happened before."""
    return lambda sandbox: sandbox.run(command, told)


def _rules(count: int, sandbox: Sandbox) -> None:
    """Two of the rules cover `src/app.py`; the index is there, nothing was sent."""
    for number in range(count):
        glob = "src/**/*.py" if number < 2 else f"packages/p{number}/**/*.ts"  # noqa: PLR2004
        text = f"Rule {number}: " + "keep functions short and names long. " * 10
        sandbox.write(
            f".claude/rules/group{number % 10}/rule{number}.md",
            f'---\napplies_to:\n  - "{glob}"\npriority: {number % 7}\n---\n\n{text}\n',
        )
    sandbox.write("src/app.py", "pass\n")
    sandbox.run("hook post-tool-use", _earlier(READS))


def _sent_rules(sandbox: Sandbox) -> None:
    _rules(20, sandbox)
    sandbox.run("hook post-tool-use", READS)


def _plan(sandbox: Sandbox, done: int = 500) -> None:
    """A plan of 1,000 tasks and a README of 500 lines, known from an earlier session."""
    tasks = [f"- [{'x' if n < done else ' '}] task {n}: `do_{n}()` as agreed" for n in range(1_000)]
    sandbox.write(".claude/PLAN.md", "# A large plan\n\n## Wave 1\n\n" + "\n".join(tasks) + "\n")
    sandbox.write("README.md", "".join(f"Line {n} of what there is to say.\n" for n in range(500)))
    sandbox.run("hook session-start", _earlier(START))


def _known_plan(sandbox: Sandbox) -> None:
    _plan(sandbox)
    resumed = Told("payloads/SessionStart.resume")
    for _ in range(5):  # until nothing waits any more
        sandbox.run("hook session-start", resumed)
        sandbox.run("hook user-prompt-submit", PROMPT)


def _edited_plan(sandbox: Sandbox) -> None:
    _known_plan(sandbox)
    plan = sandbox.project / ".claude/PLAN.md"
    sandbox.write(".claude/PLAN.md", plan.read_text("utf-8").replace("- [ ]", "- [x]", 1))


EDITED = _batch(
    _call(
        "Edit", "The file has been updated successfully.", file_path=f"{PROJECT}/.claude/PLAN.md",
        old_string="- [ ] task 500", new_string="- [x] task 500",
    )
)  # fmt: skip


def _loop(sandbox: Sandbox) -> None:
    prompt = '/sisyphus:ralph-loop "build it" --completion-promise "ALL DONE" --max-iterations 900'
    sandbox.run("hook user-prompt-submit", Told(PROMPT.recorded, {"prompt": prompt}))
    sandbox.run("hook stop", STOP)


def _loop_in_git(sandbox: Sandbox) -> None:
    """A loop in a repository of 300 files in which nothing has changed since the last stop."""
    subprocess.run(["git", "init", "--quiet", sandbox.project], check=True)  # noqa: S607
    for number in range(300):
        sandbox.write(f"src/part{number % 10}/file{number}.py", "pass\n")
    subprocess.run(["git", "-C", sandbox.project, "add", "."], check=True)  # noqa: S607
    _loop(sandbox)


CONTEXT = Told(
    "statusline/after-response",
    {
        "workspace": {"project_dir": PROJECT},
        "context_window": {
            "context_window_size": 1_000_000,
            "current_usage": {
                "input_tokens": 50_000,
                "output_tokens": 500,
                "cache_creation_input_tokens": 20_000,
                "cache_read_input_tokens": 650_000,
            },
        },
    },
)


def _line(sandbox: Sandbox) -> None:
    """A plan, a loop, and a line that was drawn before."""
    _plan(sandbox)
    sandbox.run("hook session-start", START)
    _loop(sandbox)
    sandbox.run("statusline", CONTEXT)


def _long_transcript(times: int, sandbox: Sandbox) -> None:
    transcript.create(sandbox.transcript, 10_000_000 * times)
    _loop(sandbox)
    transcript.append(sandbox.transcript, turns=3)


def _long_history(times: int, sandbox: Sandbox) -> None:
    """Stops of one loop, with an edit before each: without progress the loop would pause."""
    transcript.create(sandbox.transcript, 1_000)
    _loop(sandbox)
    for number in range(10 * times):
        transcript.append(sandbox.transcript, turns=1)
        said = {"last_assistant_message": f"Step {number} is done."}
        sandbox.run("hook stop", Told(STOP.recorded, said))
    transcript.append(sandbox.transcript, turns=1)


def _sessions(count: int, sandbox: Sandbox) -> None:
    for command, told in (
        ("hook session-start", START), ("hook user-prompt-submit", PROMPT),
        ("hook post-tool-use", SHELL), ("hook stop", STOP), ("hook session-end", END),
    ):  # fmt: skip
        sandbox.run(command, _earlier(told))
    sandbox.multiply(count - 1)


def _used(sandbox: Sandbox) -> None:
    """What people ask about: a plan, rules, a loop, some sessions."""
    _rules(20, sandbox)
    _plan(sandbox)
    _loop(sandbox)


def _quiet(event: str, told: Told, about: str = "nothing to say", options: str = "") -> Scene:
    command = f"hook {event}{options}"
    return Scene(f"{event}, {about}", command, told, _before(command, told))


def _acting(title: str, command: str, told: Told, prepare: Callable[[Sandbox], object], says: str,
            target: float = ACTING, *, is_large: bool = False) -> Scene:  # fmt: skip
    return Scene(title, command, told, prepare, says, target, is_large=is_large)


def _growing(titles: tuple[str, str], command: str, told: Told,
             prepare: tuple[Callable[[Sandbox], object], Callable[[Sandbox], object]],
             says: str) -> list[Scene]:  # fmt: skip
    """The same twice, the second time with ten times as much."""
    (small, large), (little, much) = titles, prepare
    return [
        Scene(small, command, told, little, says, target=None),
        Scene(large, command, told, much, says, GROWN, small),
    ]


def _asked(words: str, says: str, prepare: Callable[[Sandbox], object] = _used, about: str = "",
           target: float = COMMAND) -> Scene:  # fmt: skip
    return Scene(f"`sisyphus {words}`{about}", words, None, prepare, says, target, SECONDS)


_OPENCODE = " --client opencode"
_OPENCODE_READ = Told("opencode/post-tool-use.read", PLUGIN)
_OF_OPENCODE = "by OpenCode's plugin, nothing to say"
_MANY = ", 10,000 sessions"

SECTIONS: dict[str, list[Scene]] = {
    "What they stand beside": [
        Scene(JSON, "", SHELL, _before("hook post-tool-use", SHELL), target=None),
        Scene(NODE, "", SHELL, _before("hook post-tool-use", SHELL), target=None),
    ],
    "Hooks that have nothing to say": [
        _quiet("session-start", START),
        _quiet("user-prompt-submit", PROMPT),
        _quiet("post-tool-use", SHELL, "a batch of two Bash calls"),
        _quiet("post-tool-use", READS, "a batch of a Read, no rules"),
        _quiet("post-tool-use", Told("payloads/PostToolUse.Read"), "a single call"),
        _quiet("pre-compact", Told("payloads/PreCompact.manual")),
        _quiet("stop", STOP),
        _quiet("idle", STOP),
        _quiet("stop-failure", Told("payloads/StopFailure")),
        _quiet("session-end", END),
        Scene("post-tool-use, 20 rules, all sent already", "hook post-tool-use", READS,
              _sent_rules),
        Scene("user-prompt-submit, plan of 1,000 tasks, no news", "hook user-prompt-submit", PROMPT,
              _known_plan),
        Scene("stop, no loop, transcript of 1 GB", "hook stop", STOP, _before("hook stop", STOP),
              is_large=True),
        Scene("post-tool-use, transcript of 1 GB", "hook post-tool-use", LATEST,
              _before("hook post-tool-use", READS), is_large=True),
        _quiet("post-tool-use", _OPENCODE_READ, _OF_OPENCODE, _OPENCODE),
        _quiet("stop", Told("opencode/stop.first", PLUGIN), _OF_OPENCODE, _OPENCODE),
    ],
    "Hooks that act": [
        _acting("post-tool-use, 20 rules, two match and are sent", "hook post-tool-use", READS,
                partial(_rules, 20), "keep functions short"),
        _acting("post-tool-use, 1,000 rules, two match and are sent", "hook post-tool-use", READS,
                partial(_rules, 1_000), "keep functions short"),
        _acting("stop in a loop, transcript of 1 GB, second stop", "hook stop", STOP, _loop, HELD,
                is_large=True),
        _acting("session-start, 500-line README, plan of 1,000 tasks", "hook session-start", START,
                _plan, "Progress: 500/1000"),
        Scene("post-tool-use, an edit of a plan of 1,000 tasks", "hook post-tool-use", EDITED,
              _edited_plan, target=ACTING, notes="500/1000 -> 501/1000"),
        _acting("statusline, plan of 1,000 tasks, loop, context at L1", "statusline", CONTEXT,
                _line, "500/1000 wave 1 W1.501 | loop 2/900 | \x1b[33mctx 72% L1"),
        _acting("stop in a loop, git asked about 300 files", "hook stop", STOP, _loop_in_git, HELD,
                GIT),
    ],
    "Ten times as much": [
        *_growing(
            ("stop in a loop, transcript of 10 MB", "stop in a loop, transcript of 100 MB"),
            "hook stop", STOP, (partial(_long_transcript, 1), partial(_long_transcript, 10)), HELD,
        ),
        *_growing(
            ("two rules of 100 sent", "two rules of 1,000 sent"), "hook post-tool-use", READS,
            (partial(_rules, 100), partial(_rules, 1_000)), "keep functions short",
        ),
        *_growing(
            ("stop in a loop after 10 stops", "stop in a loop after 100 stops"),
            "hook stop", STOP, (partial(_long_history, 1), partial(_long_history, 10)), HELD,
        ),
        *_growing(
            ("session-start after 1,000 sessions", "session-start after 10,000 sessions"),
            "hook session-start", START, (partial(_sessions, 1_000), partial(_sessions, 10_000)),
            "",
        ),
    ],
    "Commands for people": [
        _asked("boulder status", "500/1000"),
        _asked("ralph list", "build it"),
        _asked("rules list", "rule0"),
        _asked("config show", "boulder"),
        _asked("why", "stop"),
        _asked("sessions", "project"),
        _asked("why", "stop", partial(_sessions, 10_000), _MANY, LARGE_COMMAND),
        _asked("sessions", "project", partial(_sessions, 10_000), _MANY, LARGE_COMMAND),
    ],
}  # fmt: skip
