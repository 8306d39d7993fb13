"""A user's world for tests through the door: a home, projects, sessions of a client, and what runs.

    answer = world.hook("stop", said="all done")      # in process, on real files
    answer = world.tool("Read", file_path="a.py")     # one PostToolUse
    answer = world.batch([call("Read", file_path="a.py"), call("Read", file_path="b.py")])
    other = world.session("s2"), world.project("other"), world.client("opencode")
    world.sisyphus("ralph", "list").stdout
    world.browse("/loops").text
    world.process("hook", "stop", stdin=world.payload("stop"))

Payloads are those that were recorded from the clients (`tests/data`), with this world's ids and
folders. Nothing of the inside is named here but the doors: `hook.run.run`, `hook.statusline.run`,
`cli.app.run_app` and the dashboard's application.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making import COMMAND, HANG_SECONDS, put

from sisyphus.hook.run import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from httpx2 import Response

Json = dict[str, Any]

DATA = Path(__file__).parent / "data"
RECORDED_FOLDER = "/home/user/project"
PATHS = ("file_path", "notebook_path", "filePath")

RECORDED = {
    "session-end": "SessionEnd.other",
    "user-prompt-submit": "UserPromptSubmit",
    "permission-request": "PermissionRequest.Edit",
    "post-tool-use": "PostToolUse.Read",
    "post-tool-use-failure": "PostToolUseFailure.Read",
    "post-tool-batch": "PostToolBatch",
    "stop": "Stop.first",
    "idle": "Stop.first",
    "stop-failure": "StopFailure",
    "subagent-stop": "SubagentStop.first",
    "pre-compact": "PreCompact.manual",
    "post-compact": "PostCompact.manual",
    "notification": "Notification.permission_prompt",
}
"""Our event -> the payload of Claude Code that stands for it; a start has one for each source."""

RECORDED_OPENCODE = {
    "session-end": "session-end",
    "user-prompt-submit": "user-prompt-submit",
    "stop": "stop.first",
    "stop-failure": "stop-failure",
    "pre-compact": "pre-compact",
}

RESPONSES = {
    "Read": "1\thello\n2\t",
    "Edit": "The file has been updated successfully.",
    "Write": "File created successfully.",
    "TodoWrite": "Todos have been modified successfully.",
    "Skill": "Launching skill",
}
"""Tool -> the text that the model gets, which is a batch's only `tool_response`."""

ALLOWED = {
    "hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"},
    }
}
"""The whole reply by which the client lets a tool call through."""

_NUMBERS = count(1)
"""No two tool calls of a session have one id."""

EITHER = pytest.mark.parametrize("form", ["call", "batch"], indirect=True)
"""Marks a scenario whose `world.use` is once a PostToolUse and once a PostToolBatch of one call."""


def call(tool: str, response: str = "", **given: Any) -> Json:
    """One call of a batch, with the text that the model got for it."""
    told = response or RESPONSES.get(tool, "ok")
    if tool == "TaskCreate" and not response:
        told = f"Task #1 created successfully: {given['subject']}"
    return {"tool_name": tool, "tool_input": given, "tool_response": told}


@dataclass(frozen=True)
class Answer:
    """What one run of a door left behind; a hook's `reply` is None where it said nothing."""

    exit: int
    stdout: str
    stderr: str

    @property
    def reply(self) -> Json | None:
        value = json.loads(self.stdout) if self.stdout.strip() else None
        assert value is None or isinstance(value, dict)
        return value

    @property
    def text(self) -> str:
        """What the model is given besides a reason."""
        specific = (self.reply or {}).get("hookSpecificOutput", {})
        return str(specific.get("additionalContext", ""))

    @property
    def message(self) -> str:
        """What the user is told."""
        return str((self.reply or {}).get("systemMessage", ""))

    @property
    def reason(self) -> str:
        return str((self.reply or {}).get("reason", ""))

    @property
    def blocked(self) -> bool:
        return (self.reply or {}).get("decision") == "block"

    @property
    def json(self) -> Any:
        """What a command printed with `--json`."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class World:
    """One session in one project. `session`, `project`, `client`, `subagent` and `wired` give the
    same home seen from another one."""

    home: Path
    folder: Path
    patch: pytest.MonkeyPatch
    form: str = "call"
    id: str = "s1"
    client_name: str = "claude"
    agent: str = ""
    options: tuple[str, ...] = ()
    prompts: dict[str, int] = field(default_factory=dict)

    def session(self, name: str) -> World:
        return replace(self, id=name, agent="")

    def project(self, name: str) -> World:
        folder = self.folder.parent / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        return replace(self, folder=folder)

    def client(self, name: str) -> World:
        return replace(self, client_name=name)

    def subagent(self, name: str) -> World:
        return replace(self, agent=name)

    def wired(self, scope: str) -> World:
        """As hooks in this scope's settings are called: "user", "project", "local", "plugin"."""
        return replace(self, options=("--scope", scope))

    @property
    def ours(self) -> Path:
        return self.home / ".claude" / ".sisyphus"

    @property
    def transcript(self) -> Path:
        return self.home / ".claude" / "projects" / self.folder.name / f"{self.id}.jsonl"

    def write(self, path: str | Path, text: str | bytes) -> Path:
        """Writes a file of the project, or of wherever an absolute path or `~/` leads."""
        place = str(path)
        home = self.home / place.removeprefix("~/")
        return put(home if place.startswith("~/") else self.folder / place, text)

    def read(self, path: str) -> str:
        return (self.folder / path).read_text("utf-8")

    def remember(self, *records: Json) -> None:
        """Adds lines to the session's transcript."""
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(r, separators=(",", ":")) + "\n" for r in records)

    def fill(self, tokens: int, model: str = "claude-opus-5-5", **fields: Any) -> None:
        """The newest answer of the transcript was made from a context of so many tokens."""
        usage = {"input_tokens": tokens, "output_tokens": 0}
        number = self.transcript.stat().st_size if self.transcript.exists() else 0
        message = {"id": f"m{number}", "role": "assistant", "model": model, "usage": usage}
        content = [{"type": "text", "text": "still at it"}]
        record = {"type": "assistant", "uuid": f"u{number}", "timestamp": "2026-01-01T00:00:00Z"}
        self.remember({**record, "message": {**message, "content": content}, **fields})

    def start(self, source: str = "startup", **fields: Any) -> Answer:
        return self.hook("session-start", source=source, **fields)

    def hook(self, event: str, *, said: str | None = None, **fields: Any) -> Answer:
        """Answers an event in this process. `said`: the last message of the agent."""
        if said is not None:
            fields["text" if self.client_name == "opencode" else "last_assistant_message"] = said
        return self.raw(event, json.dumps(self.payload(event, **fields)).encode())

    def tool(self, name: str, *, response: Any = None, **given: Any) -> Answer:
        """One tool call that ended well."""
        given = self._placed(given)
        if self.client_name == "opencode":
            recorded = _recorded("opencode", f"post-tool-use.{name}")["opencode"]["tool"]
            called = {**recorded, "tool": name, "args": given, "call": f"call_{next(_NUMBERS)}"}
            return self.hook("post-tool-use", tool=called)
        answer = self._response(name, given) if response is None else response
        return self.hook(
            "post-tool-use", tool_name=name, tool_input=given, tool_response=answer,
            tool_use_id=f"toolu_{next(_NUMBERS)}",
        )  # fmt: skip

    def asks(self, name: str, path: str, mode: str = "acceptEdits", **fields: Any) -> bool:
        """Whether a tool may write a file without the user being asked."""
        given = {"file_path": str(self.folder / path), "content": "x"}
        fields = {"tool_input": given, **fields}
        reply = self.hook(
            "permission-request", tool_name=name, permission_mode=mode, **fields
        ).reply
        assert reply in (None, ALLOWED)
        return reply is not None

    def batch(self, calls: Sequence[Json], *, event: str = "post-tool-use") -> Answer:
        """The tool calls of one answer, as one PostToolBatch."""
        made = [
            {
                **one,
                "tool_input": self._placed(one["tool_input"]),
                "tool_use_id": f"toolu_{next(_NUMBERS)}",
            }
            for one in calls
        ]
        payload = {**self.payload("post-tool-batch"), "tool_calls": made}
        return self.raw(event, json.dumps(payload).encode())

    def use(self, name: str, **given: Any) -> Answer:
        """One tool call, in the form that the scenario is run in."""
        if self.form == "batch":
            return self.batch([call(name, **given)])
        return self.tool(name, **given)

    def raw(self, event: str, stdin: bytes) -> Answer:
        """Answers an event whatever its payload is."""
        named = () if self.client_name == "claude" else ("--client", self.client_name)
        with self._streams(stdin) as streams, self.patch.context() as patch:
            if "plugin" in self.options:
                patch.setenv("CLAUDE_PLUGIN_ROOT", str(self.home))
            code = run(event, (*named, *self.options))
        return Answer(code, *streams.texts())

    def age(self) -> None:
        """All that was seen so far was seen many years ago."""
        for path in self.ours.rglob("*"):
            os.utime(path, (1_000_000_000, 1_000_000_000))
        with closing(sqlite3.connect(self.ours / "sisyphus.db")) as memory, memory:
            memory.execute("UPDATE session SET seen_at = 1000000000")

    def statusline(self, **fields: Any) -> Answer:
        from sisyphus.hook import statusline

        payload = {**_recorded("statusline", "after-response"), **self._place(), **fields}
        payload["workspace"] = {"project_dir": str(self.folder)}
        with self._streams(json.dumps(payload).encode()) as streams:
            code = statusline.run()
        return Answer(code, *streams.texts())

    def sisyphus(self, *words: str) -> Answer:
        """A command that a person types in the project: `world.sisyphus("ralph list")`."""
        from sisyphus.cli.app import run_app

        typed = words[0].split() if len(words) == 1 else list(words)
        self.patch.setattr(sys, "argv", ["sisyphus", *typed])
        with self._streams(b"") as streams:
            try:
                code = run_app()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Answer(code, *streams.texts())

    def browse(self, path: str) -> Response:
        """A page of the dashboard, as a browser on this machine gets it."""
        from starlette.testclient import TestClient

        from sisyphus.dashboard.access import Access
        from sisyphus.dashboard.app import build
        from sisyphus.dashboard.desk import Desk

        access = Access("127.0.0.1", 3847, "secret")
        app = build(Desk(), access, watches=False)
        browser = TestClient(app, base_url="http://127.0.0.1:3847", follow_redirects=False)
        browser.cookies.set(access.cookie_name, access.cookie)
        return browser.get(path, headers={"origin": "http://127.0.0.1:3847"})

    def process(self, *words: str, stdin: Json | bytes = b"", **environment: str) -> Answer:
        """The installed command in a process of its own."""
        given = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
        done = subprocess.run(
            [COMMAND, *words], input=given, capture_output=True, check=False, cwd=self.folder,
            timeout=HANG_SECONDS, env={**os.environ, **environment},
        )  # fmt: skip
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def shell(self, line: str) -> Answer:
        """What somebody types in the project's folder, with the installed command on the PATH."""
        path = f"{os.path.dirname(COMMAND)}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False,
            cwd=self.folder, timeout=HANG_SECONDS, env={**os.environ, "PATH": path},
        )  # fmt: skip
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def payload(self, event: str, **fields: Any) -> Json:
        """The recorded payload of this event, in this session and project, `fields` replaced."""
        if self.client_name == "opencode":
            return self._message(event, fields)
        name = RECORDED.get(event) or f"SessionStart.{fields.get('source', 'startup')}"
        if not (DATA / "payloads" / f"{name}.json").exists():
            name = "SessionStart.startup"  # a source that nobody knows yet
        found = {**_recorded("payloads", name, self.folder), **self._place()}
        if event == "user-prompt-submit":
            self.prompts[self.id] = self.prompts.get(self.id, 0) + 1
        if "prompt_id" in found:
            found["prompt_id"] = f"prompt-{self.prompts.get(self.id, 0)}"
        agent = {"agent_id": self.agent, "agent_type": "general-purpose"} if self.agent else {}
        return {**found, **agent, **fields}

    def _message(self, event: str, fields: Json) -> Json:
        """What OpenCode's plugin sends; fields other than its first level's are its own words."""
        name = RECORDED_OPENCODE.get(event) or "post-tool-use.read"
        if event == "session-start":
            name = f"session-start.{fields.get('source', 'startup')}"
        found = {**_recorded("opencode", name, self.folder), "session_id": self.id}
        outer = {key: value for key, value in fields.items() if key in {"source", "prompt", "cwd"}}
        inner = {key: value for key, value in fields.items() if key not in outer}
        own = {**found["opencode"], "lines": [], "others": {}, **inner}
        return {**found, "cwd": str(self.folder), **outer, "opencode": own}

    def _place(self) -> Json:
        where = {"session_id": self.id, "cwd": str(self.folder)}
        return {**where, "transcript_path": str(self.transcript)}

    def _placed(self, given: Json) -> Json:
        """A tool's input with whole paths."""
        return {k: str(self.folder / v) if k in PATHS else v for k, v in given.items()}

    def _response(self, tool: str, given: Json) -> Json:
        """What the recorded call of this tool answered, about these inputs."""
        name = {"Write": "Write.create"}.get(tool, tool)
        if not (DATA / "payloads" / f"PostToolUse.{name}.json").exists():
            return {}
        found: Json = _recorded("payloads", f"PostToolUse.{name}")["tool_response"]
        if tool == "TodoWrite":
            return {**found, "newTodos": given["todos"]}
        if tool == "TaskCreate":
            return {"task": {**found["task"], "subject": given["subject"]}}
        if tool == "Skill":
            return {**found, "commandName": given["skill"]}
        return {**found, "filePath": given["file_path"]} if "filePath" in found else found

    def _streams(self, stdin: bytes) -> _Streams:
        return _Streams(self.patch, self.folder, stdin)


class _Streams:
    """Stands in for stdin, stdout and stderr, in a project's folder, while a door runs."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, stdin: bytes) -> None:
        self._patch = patch
        self._folder = folder
        self._streams = {"stdin": stdin, "stdout": b"", "stderr": b""}

    def __enter__(self) -> _Streams:
        self._before = {name: getattr(sys, name) for name in self._streams}, os.getcwd()
        for name, content in self._streams.items():
            stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", write_through=True)
            setattr(sys, name, stream)
        if self._folder.is_dir():
            os.chdir(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        before, folder = self._before
        os.chdir(folder)
        self._written = [getattr(sys, name).buffer.getvalue() for name in ("stdout", "stderr")]
        for name, stream in before.items():
            setattr(sys, name, stream)

    def texts(self) -> Iterator[str]:
        return (written.decode() for written in self._written)


def _recorded(kind: str, name: str, folder: Path | None = None) -> Json:
    text = (DATA / kind / f"{name}.json").read_text("utf-8")
    value = json.loads(text.replace(RECORDED_FOLDER, str(folder)) if folder else text)
    assert isinstance(value, dict)
    return value
