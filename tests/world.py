"""A user's world: a home, a project, sessions of a client, and the doors of sisyphus.

Payloads are those that the real client sent, with this world's ids and paths in them. Hooks run in
this process, through the door that the console script calls; `process` runs the script itself.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sisyphus.cli import app
from sisyphus.door import door

Json = dict[str, Any]

PAYLOADS = Path(__file__).parent / "payloads"
SISYPHUS = Path(sys.executable).with_name("sisyphus")


def begin_git(folder: Path) -> None:
    """Gives a folder the least by which it is a project. Git itself takes it for no repository."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".git" / "config").touch()


@dataclass(frozen=True)
class Reply:
    """The answer of a door: exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Json:
        """The JSON object on stdout; {} if there is none."""
        value = json.loads(self.out) if self.out else {}
        assert isinstance(value, dict), self.out
        return value

    @property
    def text(self) -> str:
        """What the model gets."""
        return str(self.json.get("hookSpecificOutput", self.json).get("additionalContext", ""))

    @property
    def message(self) -> str:
        """What the user gets."""
        return str(self.json.get("systemMessage", ""))

    @property
    def reason(self) -> str:
        """Why the agent must continue; "" = it may stop. Claude Code gets it with the texts."""
        if self.json.get("decision") == "block":
            return str(self.json["reason"])
        is_stop = self.json.get("hookSpecificOutput", {}).get("hookEventName") == "Stop"
        return self.text if is_stop else ""

    @property
    def is_silent(self) -> bool:
        return self.code == 0 and not self.out


@cache
def recorded(name: str) -> str:
    """The text of a payload that the client sent."""
    return (PAYLOADS / f"{name}.json").read_text()


@cache
def without_clients(path: str) -> str:
    """A PATH without the folders in which a coding agent is: no test may start one."""
    folders = path.split(os.pathsep)
    clients = ("claude", "opencode", "codex", "qwen", "copilot")
    return os.pathsep.join(f for f in folders if not any(shutil.which(c, path=f) for c in clients))


class Terminal(io.StringIO):
    """What somebody types in a terminal."""

    def isatty(self) -> bool:
        return True


class World:
    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.claude = self.home / ".claude"
        self.ours = self.claude / ".sisyphus"
        self.project = self.new_project("project")
        self._monkeypatch = monkeypatch
        self.home.mkdir()
        for name in list(os.environ):
            if name.startswith((
                "CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "OPENCODE", "QWEN_", "COPILOT_",
                "SISYPHUS_", "XDG_",
            )):  # fmt: skip
                monkeypatch.delenv(name)
        self.setenv("HOME", str(self.home))
        self.setenv("PATH", without_clients(os.environ["PATH"]))
        monkeypatch.chdir(self.project)

    def setenv(self, name: str, value: str) -> None:
        self._monkeypatch.setenv(name, value)

    def has_claude_code(self) -> None:
        """Claude Code has been in use here. Without any client `install` takes it, too."""
        (self.claude / "projects").mkdir(parents=True)

    def new_project(self, name: str) -> Path:
        folder = self.root / name
        begin_git(folder)
        return folder

    def write(self, path: str | Path, text: str | bytes = "x\n") -> Path:
        """Writes a file; `path` is relative to the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def rule(self, name: str, text: str, **keys: object) -> Path:
        """A rule in `.claude/rules`, or wherever `name` says, with frontmatter of these keys."""
        head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
        place = name if "/" in name else f".claude/rules/{name}"
        return self.write(place, f"---\n{head}---\n\n{text}\n" if keys else f"{text}\n")

    # ------------------------------------------------------------ the door for agents

    def hook(self, event: str, payload: Json | bytes, *options: str) -> Reply:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        out, err = io.StringIO(), io.StringIO()
        code = door.run([event, *options], io.BytesIO(data), out, err)
        return Reply(code, out.getvalue(), err.getvalue())

    def process(self, event: str, payload: Json | bytes) -> Reply:
        """The same through the console script."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        done = subprocess.run(
            [SISYPHUS, "hook", event], input=data, capture_output=True, check=False
        )
        return Reply(done.returncode, done.stdout.decode(), done.stderr.decode())

    def payload(self, name: str, session: str = "s1", **fields: object) -> Json:
        """A recorded payload, in this world."""
        payload = json.loads(recorded(name).replace("/home/user/project", str(self.project)))
        transcript = {"transcript_path": str(self.transcript(session))}
        return {**payload, **transcript, "session_id": session, **fields}

    def start(self, session: str = "s1", source: str = "startup", **fields: object) -> Reply:
        return self.hook("session-start", self.payload(f"SessionStart.{source}", session, **fields))

    def prompt(self, session: str = "s1", text: str = "go", **fields: object) -> Reply:
        """The user types something. Each prompt has an id of its own, as in the client."""
        fields = {"prompt": text, "prompt_id": str(uuid.uuid4()), **fields}
        payload = self.payload("UserPromptSubmit", session, **fields)
        return self.hook("user-prompt-submit", payload)

    def tool(self, name: str, values: Json, session: str = "s1", **fields: object) -> Reply:
        """The model has used a tool with these values."""
        payload = self.payload("PostToolUse.Read", session, tool_name=name, tool_input=values)
        return self.hook("post-tool-use", {**payload, **fields})

    def read(self, path: str | Path, session: str = "s1", **fields: object) -> Reply:
        return self.tool("Read", {"file_path": str(self.project / path)}, session, **fields)

    def batch(self, *paths: str, session: str = "s1") -> Reply:
        """The model has read several files in one answer."""
        calls = [
            {"tool_name": "Read", "tool_input": {"file_path": str(self.project / path)}}
            for path in paths
        ]
        payload = self.payload("PostToolBatch", session, tool_calls=calls)
        return self.hook("post-tool-use", payload)

    def skill(self, name: str, args: str, session: str = "s1", **fields: object) -> Reply:
        """The model calls a skill, which is how it types a command."""
        fields = {"tool_use_id": f"toolu_{uuid.uuid4().hex[:12]}", **fields}
        return self.tool("Skill", {"skill": name, "args": args}, session, **fields)

    # ------------------------------------------------------------ plans

    def edit(self, path: str, old: str, new: str, session: str = "s1", **fields: object) -> Reply:
        """The model edits a file of the project."""
        file = self.project / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        return self.tool("Edit", {"file_path": str(file)}, session, **fields)

    def create(self, path: str, text: str, session: str = "s1", **fields: object) -> Reply:
        """The model writes a file of the project, or an absolute path."""
        file = self.write(path, text)
        return self.tool("Write", {"file_path": str(file)}, session, **fields)

    def permit(self, path: str | Path, mode: str = "acceptEdits", tool: str = "Edit") -> Reply:
        """The client asks whether a file may be changed."""
        values = {"file_path": os.path.join(self.project, path)}
        payload = self.payload("PermissionRequest.Write", tool_name=tool, tool_input=values)
        return self.hook("permission-request", {**payload, "permission_mode": mode})

    def plan(self, *words: str | Path) -> Json:
        """What `boulder status` says."""
        return self.cli("boulder", "status", *words, "--json").json

    def boulder_file(self) -> Json:
        """The content of `HOME/.boulder.json`; {} if there is none."""
        file = self.claude / ".boulder.json"
        content: Json = json.loads(file.read_text()) if file.exists() else {}
        return content

    # ------------------------------------------------------------ loops and their Stops

    def stop_payload(self, last: str | None, session: str = "s1", **fields: object) -> Json:
        payload = self.payload("Stop", session, **fields)
        payload["last_assistant_message"] = last
        return payload

    def stop(self, last: str | None = "I work.", session: str = "s1", **fields: object) -> Reply:
        """The agent wants to stop, with these last words."""
        return self.hook("stop", self.stop_payload(last, session, **fields))

    def loop(self, *options: str, prompt: str = "Fix it.", session: str = "s1") -> str:
        """Starts a loop on the command line, in a session that has started; returns its id."""
        if not any(option.startswith("--completion-promise") for option in options):
            options = ("--completion-promise", "DONE", *options)
        listed = self.cli("sessions", "--all", "--json").json["sessions"]
        if session not in [each["session_id"] for each in listed]:
            self.start(session)
        answer = self.cli("ralph", "start", "--session-id", session, *options, "--", prompt)
        assert answer.code == 0, answer
        return answer.out.rpartition("Ralph loop ")[2].split()[0]

    def loops(self) -> list[Json]:
        """The loops that have not ended."""
        loops: list[Json] = json.loads(self.cli("ralph", "list", "--json").out)
        return loops

    def ended(self) -> list[Json]:
        """The loops that have ended, the latest first."""
        loops: list[Json] = json.loads(self.cli("ralph", "log", "--json").out)
        return loops

    def loop_file(self, session: str = "s1") -> Path:
        return self.ours / "ralph" / "loops" / f"ralph-loop.{session}.local.md"

    def transcript(self, session: str = "s1") -> Path:
        return self.root / f"{session}.jsonl"

    def fill(self, percent: str | int, model: str = "claude-opus-5-5", session: str = "s1") -> None:
        """The model answers, with so much of its context in use."""
        is_small = "-4-" in model and not model.endswith("[1m]")
        tokens = (200_000 if is_small else 1_000_000) * int(percent) // 100
        usage = {"cache_read_input_tokens": tokens}
        message = {"content": [{"type": "text", "text": "I work."}], "usage": usage, "model": model}
        self.write_down({"type": "assistant", "message": message}, session=session)

    def work(self, session: str = "s1", **fields: object) -> Reply:
        """The model has run a command."""
        payload = self.payload("PostToolUse.Bash", session, **fields)
        return self.hook("post-tool-use", payload)

    def write_down(self, *lines: Json, session: str = "s1") -> None:
        """Adds lines to the transcript, as the client does."""
        with self.transcript(session).open("a") as file:
            for line in lines:
                stamp = datetime.now(UTC).isoformat(timespec="microseconds")
                common = {"uuid": str(uuid.uuid4()), "timestamp": stamp, "isSidechain": False}
                file.write(json.dumps({**common, **line}) + "\n")

    # ------------------------------------------------------------ what the model gets

    def drain(self, session: str = "s1") -> list[str]:
        """The texts of the next replies, until nothing waits any more."""
        texts = []
        while text := self.prompt(session).text:
            texts.append(text)
        return texts

    # ------------------------------------------------------------ the door for people

    def cli(self, *words: str | Path) -> Reply:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = app.main([str(word) for word in words])
        return Reply(code, out.getvalue(), err.getvalue())

    @contextmanager
    def locked(self, *, for_readers: bool = False) -> Iterator[None]:
        """Another process has the lock of the database; for_readers: nobody can read it either."""
        path = self.ours / "sisyphus.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            if for_readers:
                other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")

    def why(self, session: str = "s1") -> list[Json]:
        """The journal of a session."""
        events: list[Json] = self.cli("why", "--session", session, "--json").json["events"]
        return events

    def log(self) -> str:
        file = self.ours / "logs" / "debug.log"
        return file.read_text() if file.exists() else ""


def user(content: object, **fields: object) -> Json:
    """A line of the transcript. So are `typed`, `agent` and `result`."""
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


def typed(arguments: str, name: str = "ralph-wiggum:ralph-loop") -> Json:
    return user(
        f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n"
        f"<command-args>{arguments}</command-args>"
    )


def agent(*blocks: Json | str, tokens: int = 110, **fields: object) -> Json:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    usage = {"input_tokens": tokens - 10, "output_tokens": 10}
    message = {"id": f"msg_{uuid.uuid4()}", "content": content, "usage": usage}
    return {"type": "assistant", "message": message, **fields}


def use(name: str, id: str = "t1", **values: object) -> Json:
    """A tool call, for `agent`."""
    return {"type": "tool_use", "id": id, "name": name, "input": values}


def result(text: str, id: str = "t1", *, is_error: bool = False) -> Json:
    block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}
    return user([block])


def units(text: str) -> int:
    """The length of a text as the client counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
