"""Runs OpenCode offline, as `opencode run` or `opencode serve`, and knows its names for tools."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from e2e import claude_code
from e2e.install import OPENCODE
from e2e.script import Tool

Json = dict[str, Any]

WINDOW = 1_000_000
"""Tokens of the scripted model's context, as many as the other client's model has."""

NAME = "opencode"
REASON_COPIES = 1
"""A reason is a prompt of our plugin."""

SHOWS_MESSAGES = True

SECONDS = 120.0
"""A limit against a hang; a healthy process takes about three."""

_QUIET_SECONDS = 0.8
"""A session in which nothing has happened for so long, and no hook runs, is at its end. Between its
end and the start of the hook there are 10 ms, or more where many processes wait for a processor."""

_NAMES = {
    "read": "read",
    "write": "write",
    "edit": "edit",
    "shell": "bash",
    "skill": "skill",
    "todos": "todowrite",
    "delegate": "task",
}
_FIELDS = {
    "path": "filePath",
    "text": "content",
    "old": "oldString",
    "new": "newString",
    "items": "todos",
}
_ALWAYS = {
    "delegate": {"description": "scripted", "subagent_type": "general"},
    "shell": {"description": "scripted"},
}
_FLAGS: dict[tuple[str, ...], str] = {
    (): "",
    ("--allowedTools", "Bash"): "",  # every tool is allowed here
    ("--permission-mode", "plan"): "plan",
    ("--model", "claude-sonnet-4-5"): "",  # there is one model
}
"""Flags of the other client → the agent that does the same here."""


def environment(home: Path) -> dict[str, str]:
    """Returns the whole environment of the client and its hooks. Only PATH is the caller's."""
    names = ("MODELS_FETCH", "AUTOUPDATE", "SHARE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    return {
        **{
            name: value
            for name, value in claude_code.environment(home).items()
            if name in ("PATH", "HOME", "TMPDIR", "LANG", "SHELL")
        },
        **{f"OPENCODE_DISABLE_{name}": "1" for name in names},
        "OPENCODE_DISABLE_EMBEDDED_WEB_UI": "1",
        "OPENCODE_MODELS_PATH": str(_models(home)),
        "npm_config_registry": "http://127.0.0.1:9/",  # nobody answers there
        "npm_config_fetch_retries": "0",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def model_variables(url: str) -> dict[str, str]:
    """Returns the variables that make the client ask a model at a URL."""
    model = {"name": "Scripted", "limit": {"context": WINDOW, "output": 32_000}, "tool_call": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "of-no-account"},
        "models": {"main": model, "small": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "compaction": {"tail_turns": 0},  # the summary alone is left
        "enabled_providers": ["scripted"],
        "model": "scripted/main",
        "small_model": "scripted/small",
        "provider": {"scripted": provider},
    }
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}


def furnish(home: Path) -> None:
    """Leaves in a home what the client would fetch from npm at its start."""
    furnish_folder(home / ".config" / "opencode")
    _models(home).write_text("{}", encoding="utf-8")


def _models(home: Path) -> Path:
    """The client's list of models. It knows so many by itself that they take a third of its start,
    and the tests need none of them."""
    return home / "models.json"


def furnish_folder(folder: Path) -> None:
    """Does the same in a folder of configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {"dependencies": {"@opencode-ai/plugin": OPENCODE.version}}
    lock = {"name": "stub", "lockfileVersion": 3, "requires": True, "packages": {"": wanted}}
    (folder / "node_modules").mkdir(exist_ok=True)
    (folder / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
    (folder / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def spell(tool: Tool, project: Path) -> Json:
    """Returns the client's name and input of a tool."""
    values = dict(tool.values)
    if "path" in values:
        names = list(project.glob(values["path"])) if "*" in values["path"] else []
        values["path"] = str(names[0] if names else project / values["path"])
    if tool.verb == "todos":
        values["items"] = [
            {"content": content, "status": status, "priority": "medium"}
            for content, status in values["items"]
        ]
    values.pop("background", None)
    fields = {_FIELDS.get(name, name): value for name, value in values.items()}
    return {"name": _NAMES[tool.verb], "input": {**fields, **_ALWAYS.get(tool.verb, {})}}


def talk(
    prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Runs one process; returns what it told the user, each answer to a prompt, and the session.

    One prompt goes to `opencode run`, several to `opencode serve`. flags: those of Claude Code.
    """
    if len(prompts) == 1:
        session, agent, is_fork = _options(flags)
        return _run(prompts[0], session, agent, folder, variables, is_fork=is_fork)
    with serving(folder, variables) as server:
        return converse(server, prompts, flags)


def converse(server: Server, prompts: Sequence[str], flags: Sequence[str]) -> list[Json]:
    """Does it at a server."""
    session, agent, is_fork = _options(flags)
    if is_fork:
        session = server.call("POST", f"/session/{session}/fork", {})["id"]
    for prompt in prompts:
        session = server.take(prompt, session, agent)
    return [*server.events, {"type": "end", "session_id": session}]


def _options(flags: Sequence[str]) -> tuple[str, str, bool]:
    """Returns what flags of Claude Code say: the session to resume, the agent that does the same
    here, and whether to fork the session."""
    words, session = [*flags], ""
    if "--resume" in words:
        at = words.index("--resume")
        session = words[at + 1]
        del words[at : at + 2]
    is_fork = "--fork-session" in words
    if is_fork:
        words.remove("--fork-session")
    return session, _FLAGS[tuple(words)], is_fork


def _command_of(prompt: str) -> tuple[str, str]:
    """Returns a slash command without the prefix of its plugin, and its arguments; "" for text."""
    if not prompt.startswith("/"):
        return "", prompt
    name, _, arguments = prompt[1:].partition(" ")
    return name.rpartition(":")[2], arguments


# ---------------------------------------------------------------- opencode run


def _run(
    prompt: str, session: str, agent: str, folder: Path, variables: dict[str, str], *, is_fork: bool
) -> list[Json]:
    name, text = _command_of(prompt)
    words = ["--format", "json"]
    words += ["--session", session] if session else []
    words += ["--fork"] if is_fork else []
    words += ["--agent", agent] if agent else []
    words += ["--command", name] if name else []
    process = subprocess.Popen(
        [OPENCODE.binary, "run", *words, *([text] if text else [])],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # so that its children end with it
    )
    try:
        stdout, stderr = process.communicate(timeout=SECONDS)
    finally:
        end(process)
    assert process.returncode == 0, f"the client exited {process.returncode}: {stderr}"
    events = [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]
    texts = [event["part"]["text"] for event in events if event["type"] == "text"]
    answer = "\n".join(line for line in stdout.splitlines() if not line.startswith("{"))
    ids = [event["sessionID"] for event in events]
    session = ids[-1] if ids else session or _latest(variables)
    return [
        {"type": "message", "text": stderr},
        {"type": "result", "result": answer or (texts[-1] if texts else "")},
        {"type": "end", "session_id": session},
    ]


def _latest(variables: dict[str, str]) -> str:
    """The session of a command that ended `opencode run` before it could name one."""
    folder = Path(variables["HOME"]) / ".claude" / ".sisyphus" / "opencode"
    files = sorted(folder.glob("*.jsonl"), key=os.path.getmtime)
    return files[-1].stem if files else ""


def end(process: subprocess.Popen[str]) -> None:
    """Ends a process with all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# ---------------------------------------------------------------- opencode serve


class Server:
    """A client at work: tell it things over HTTP, and wait for what it then does.

    events: what it told the user, and its answers.
    """

    def __init__(self, url: str, folder: Path, pid: int) -> None:
        self.url = url
        self.folder = folder
        self.pid = pid
        self.events: list[Json] = []
        self.is_connected = False
        self.is_disposed = False
        self._is_busy: dict[str, bool] = {}
        self._changed_at = time.monotonic()
        threading.Thread(target=self._listen, daemon=True).start()

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        request.add_header("content-type", "application/json")
        request.add_header("x-opencode-directory", str(self.folder))
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as reply:
                text = reply.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read()!r}") from error
        return json.loads(text) if text else None

    def take(self, prompt: str, session: str = "", agent: str = "") -> str:
        """Gives a session, or a new one, a prompt; waits for its end. Returns the id."""
        if prompt == "/clear":
            return ""
        session = session or self.call("POST", "/session", {})["id"]
        if prompt == "/compact":
            model = {"providerID": "scripted", "modelID": "main"}
            self.call("POST", f"/session/{session}/summarize", model)
            self.until_idle()
            return session
        self.enter(prompt, session, agent)
        self.until_idle()
        parts = self.call("GET", f"/session/{session}/message")[-1]["parts"]
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        self.events.append({"type": "result", "result": text})
        return session

    def enter(self, prompt: str, session: str, agent: str = "") -> None:
        """Gives a session a prompt, and does not wait; or a command, and waits for its answer."""
        name, text = _command_of(prompt)
        body: Json = {"agent": agent} if agent else {}
        if name:
            body |= {"command": name, "arguments": text}
            self.call("POST", f"/session/{session}/command", body)
        else:
            body |= {"parts": [{"type": "text", "text": text}]}
            self._is_busy[session] = True  # its own first word of that may take a second
            self.call("POST", f"/session/{session}/prompt_async", body)
        self._changed_at = time.monotonic()

    def abort(self, session: str) -> None:
        """What Esc does."""
        self.call("POST", f"/session/{session}/abort")

    def until_idle(self) -> None:
        """Waits until no session works and no hook runs, except those that wait beside an idle
        session."""
        self.until(self._is_quiet, "end of the turn", _QUIET_SECONDS / 4)

    def until(self, condition: Callable[[], object], what: str, pause: float = 0.05) -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, f"no {what}: {self.events}"
            time.sleep(pause)

    def _is_quiet(self) -> bool:
        if any(self._is_busy.values()) or self._has_hooks():
            self._changed_at = time.monotonic()
        waiting = os.getloadavg()[0] / (os.cpu_count() or 1) - 1  # processes, for each processor
        return time.monotonic() - self._changed_at > _QUIET_SECONDS * max(1.0, waiting)

    def _has_hooks(self) -> bool:
        return any(" hook idle" not in words for words in hooks_of(self.pid).values())

    def _listen(self) -> None:
        request = urllib.request.Request(f"{self.url}/event")
        request.add_header("x-opencode-directory", str(self.folder))
        with suppress(OSError), urllib.request.urlopen(request) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    self._note(json.loads(line.removeprefix(b"data: ")))

    def _note(self, event: Json) -> None:
        properties = event.get("properties") or {}
        match event.get("type"):
            case "server.connected":
                self.is_connected = True
            case "server.instance.disposed":
                self.is_disposed = True
            case "session.status":
                self._changed_at = time.monotonic()
                self._is_busy[properties["sessionID"]] = properties["status"]["type"] != "idle"
            case "tui.toast.show":
                self.events.append({"type": "message", "text": properties["message"]})
            case "session.error":
                self.events.append({"type": "error", "error": properties.get("error")})


def hooks_of(client: int) -> dict[int, str]:
    """Returns the hooks that a client's process runs now: their ids → how they were started."""
    words = ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="]  # without -ww cut at 80 columns
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in lines.splitlines()]
    children = [row for row in rows if len(row) == 3 and row[1] == str(client)]
    return {int(pid): args for pid, _, args in children if " hook " in args}


@contextmanager
def serving(
    folder: Path, variables: dict[str, str], limit: float | None = SECONDS
) -> Iterator[Server]:
    """Runs one server. limit: of its whole life, in seconds, against a hang."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [OPENCODE.binary, "serve", "--hostname", "127.0.0.1", "--port", str(port)],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # so that its children end with it
    )
    watchdog = threading.Timer(limit or 0, os.killpg, (process.pid, signal.SIGKILL))
    if limit is not None:
        watchdog.start()
    try:
        _wait_until_it_listens(process)
        yield Server(f"http://127.0.0.1:{port}", folder, process.pid)
    finally:
        watchdog.cancel()
        end(process)
        if process.stdout:
            process.stdout.close()


def _wait_until_it_listens(process: subprocess.Popen[str]) -> None:
    """A connection that is made before is never answered."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "server listening on" in line:
            return
    raise AssertionError(f"the client did not start: {lines}")
