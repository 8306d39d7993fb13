"""Runs Codex offline, as its terminal does: through `codex app-server`. Knows its names for
tools.

In `codex exec` nobody sees what hooks say to the user, or that one has failed; so it plays no rows.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from e2e import claude_code
from e2e.install import CODEX
from e2e.script import Tool

Json = dict[str, Any]

SECONDS = 120.0
"""A limit against a hang; a healthy process takes about one."""

_CONFIG = """\
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""


NO_AGENTS = "tools for subagents are those of another model; see test_codex.py"


@dataclass(frozen=True)
class Codex:
    """The client with a model. gpt-5.5 calls tools; gpt-6.1-sol writes programs that call them."""

    NAME: ClassVar[str] = "codex"
    REASON_COPIES: ClassVar[int] = 1
    SHOWS_MESSAGES: ClassVar[bool] = True
    model: str = "gpt-5.5"

    @property
    def writes_programs(self) -> bool:
        return self.model != "gpt-5.5"

    def furnish(self, home: Path) -> None:
        """Leaves in a home what the user has set before."""
        furnish(home)

    def environment(self, home: Path) -> dict[str, str]:
        """Returns the whole environment of the client and its hooks. Only PATH is the caller's."""
        names = ("PATH", "HOME", "TMPDIR", "LANG", "SHELL")
        others = claude_code.environment(home)
        return {**{name: others[name] for name in names}, "SCRIPTED_KEY": "of-no-account"}

    def model_variables(self, url: str) -> dict[str, str]:
        """Returns the variables by which `talk` makes the client ask a model at a URL."""
        return {"SCRIPTED_URL": url}

    def spell(self, tool: Tool, project: Path) -> Json:
        """Returns the client's name and input of a tool."""
        if self.writes_programs and tool.verb in _AGENTS:
            name, values = _AGENTS[tool.verb]
            given = {_FIELDS.get(field, field): value for field, value in tool.values.items()}
            return {"name": name, "namespace": "collaboration", "input": {**values, **given}}
        if tool.verb == CALLS and not self.writes_programs:
            return {key: value for key, value in tool.values.items() if value != ""}
        name, value = _call(tool, project)
        if self.writes_programs:
            program = f"text(await tools.{name}({json.dumps(value)}))"
            return {"name": "exec", "namespace": "functions", "input": program}
        return {"name": name, "input": value}

    def talk(
        self, prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
    ) -> list[Json]:
        """Runs one process; returns what it told the user, each answer to a prompt, and the
        session. flags: those of Claude Code."""
        session, is_fork, is_planning = _options(flags)
        with serving(folder, variables, self.model) as server:
            session = server.open(session, is_fork=is_fork)
            for prompt in prompts:
                session = server.take(prompt, session, self.model if is_planning else "")
            return [*server.events, {"type": "end", "session_id": session}]

    def execute(
        self, prompt: str, folder: Path, variables: dict[str, str], *words: str, trusts: bool = True
    ) -> str:
        """Runs `codex exec` with words before the prompt; returns what it prints. trusts: whether
        the hooks run that nobody has trusted."""
        flags = ["--dangerously-bypass-hook-trust"] if trusts else []
        done = subprocess.run(
            [CODEX.binary, "exec", *model_words(variables, self.model), *flags, *words, prompt],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


def furnish(home: Path) -> None:
    """Leaves in a home what the user has set before."""
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(_CONFIG, encoding="utf-8")


def set_model(home: Path, url: str, model: str) -> None:
    """Makes the settings in a home name a model and where it answers, as those of a user do; for
    `codex exec` that another program starts."""
    file = home / ".codex" / "config.toml"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    lines = [line for line in lines if not line.startswith(("model =", "base_url ="))]
    at = lines.index('name = "Scripted"\n')
    lines.insert(at, f'base_url = "{url}/v1"\n')
    file.write_text("".join([f'model = "{model}"\n', *lines]), encoding="utf-8")


# ---------------------------------------------------------------- tools

WAIT = Tool("wait", {"timeout_ms": 10_000})
"""The model waits until its subagents are done; `delegate` does not."""

ESCALATES = "escalates"


def escalated(command: str) -> Tool:
    """A shell command for which the agent asks to leave its sandbox."""
    return Tool("shell", {"command": command, "background": False, ESCALATES: True})


CALLS = "calls"


def call(name: str, namespace: str = "", **arguments: str) -> Tool:
    """A call of a tool that only this client has, or that a server gives it."""
    return Tool(CALLS, {"name": name, "namespace": namespace, "input": arguments})


_AGENTS: dict[str, tuple[str, Json]] = {
    "delegate": ("spawn_agent", {"task_name": "task", "fork_turns": "none"}),
    "wait": ("wait_agent", {}),
}
"""Verbs → the tool's name and what it always gets."""
_FIELDS = {"prompt": "message"}


def _call(tool: Tool, project: Path) -> tuple[str, str | Json]:
    if tool.verb in ("write", "edit"):
        return "apply_patch", _patch(tool, project)
    if tool.verb == CALLS:
        return "{namespace}__{name}".format(**tool.values), tool.values["input"]
    wish = {"sandbox_permissions": "require_escalated", "justification": "It has to."}
    more = wish if tool.values.get(ESCALATES) else {}
    return "exec_command", {"cmd": _command(tool, project), "workdir": str(project), **more}


def _command(tool: Tool, project: Path) -> str:
    """Returns the shell command of a tool."""
    match tool.verb:
        case "read":
            return f"cat {shlex.quote(_path(tool, project))}"
        case "shell" if not tool.values["background"]:
            return str(tool.values["command"])
    raise AssertionError(f"the client has no tool for {tool}")


def _path(tool: Tool, project: Path) -> str:
    """Returns the path of a tool, from the project."""
    path = str(tool.values["path"])
    names = list(project.glob(path)) if "*" in path else []
    return str(names[0].relative_to(project)) if names else path


def _patch(tool: Tool, project: Path) -> str:
    """Returns the patch that writes a file, or changes the lines with a text."""
    file = Path(os.path.normpath(project / _path(tool, project)))
    if tool.verb == "write":
        change = ["Add File", _lines("+", tool.values["text"])]
    else:
        old, new = _whole_lines(file.read_text("utf-8"), tool.values["old"], tool.values["new"])
        change = ["Update File", "@@\n" + _lines("-", old) + _lines("+", new)]
    return f"*** Begin Patch\n*** {change[0]}: {file}\n{change[1]}*** End Patch\n"


def _lines(sign: str, text: str) -> str:
    return "".join(f"{sign}{line}\n" for line in text.splitlines())


def _whole_lines(text: str, old: str, new: str) -> tuple[str, str]:
    """Returns the lines of a text that hold `old`, and the same with `new`."""
    at = text.find(old)
    if at < 0:
        return old, new
    lines = text[text.rfind("\n", 0, at) + 1 :]
    end = lines.find("\n", lines.find(old) + len(old))
    lines = lines[: end if end >= 0 else None]
    return lines, lines.replace(old, new, 1)


# ---------------------------------------------------------------- codex app-server


def _options(flags: Sequence[str]) -> tuple[str, bool, bool]:
    """Returns what flags of Claude Code say: the session to resume, whether to fork it, and whether
    the agent may only plan."""
    words, session = [*flags], ""
    if "--resume" in words:
        at = words.index("--resume")
        session = words[at + 1]
        del words[at : at + 2]
    is_fork = "--fork-session" in words
    rest = tuple(word for word in words if word != "--fork-session")
    is_planning = rest == ("--permission-mode", "plan")
    assert is_planning or rest in ((), ("--allowedTools", "Bash")), rest  # all tools are allowed
    return session, is_fork, is_planning


def _typed(prompt: str) -> str:
    """Returns a slash command as a skill of ours: what `/plugin:name` is there, is `$name` here."""
    if not prompt.startswith("/"):
        return prompt
    name, blank, arguments = prompt[1:].partition(" ")
    return f"${name.rpartition(':')[2]}{blank}{arguments}"


def model_words(variables: dict[str, str], model: str) -> list[str]:
    url = f"{variables['SCRIPTED_URL']}/v1"
    settings = {"model": model, "model_providers.scripted.base_url": url}
    return [word for name, value in settings.items() for word in ("-c", f'{name}="{value}"')]


class Server:
    """A client at work: call its methods, and read what it says meanwhile.

    events: what it told the user, its answers, and the hooks that failed.
    """

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.events: list[Json] = []
        self._serial = 0
        self._source = "startup"
        info = {"name": "tests", "version": "1"}
        self.call("initialize", clientInfo=info, capabilities={"experimentalApi": True})
        self._send({"method": "initialized"})
        self._trust()

    def call(self, method: str, **parameters: Any) -> Json:
        """Returns the result of a method."""
        self._serial += 1
        serial = self._serial
        self._send({"id": serial, "method": method, "params": parameters})
        answer = self.until(lambda message: message.get("id") == serial)
        assert "error" not in answer, f"{method}: {answer}"
        result: Json = answer["result"]
        return result

    def open(self, session: str = "", *, is_fork: bool = False) -> str:
        """Returns the id of a new session, or of one that goes on."""
        if not session:
            result = self.call("thread/start", sessionStartSource=self._source)
        else:
            result = self.call("thread/fork" if is_fork else "thread/resume", threadId=session)
        return str(result["thread"]["id"])

    def take(self, prompt: str, session: str, planner: str = "") -> str:
        """Gives a session a prompt; waits for its end. Returns the id. planner: the model that may
        only plan; "" = it may do all."""
        if prompt == "/clear":
            self._source = "clear"
            return self.open()
        if prompt == "/compact":
            self.call("thread/compact/start", threadId=session)
        else:
            text = {"type": "text", "text": _typed(prompt)}
            plan = {"mode": "plan", "settings": {"model": planner}}
            mode = {"collaborationMode": plan} if planner else {}
            self.call("turn/start", threadId=session, input=[text], **mode)
        self.until(lambda m: _is_about(m, "turn/completed", session))
        return session

    def until(self, condition: Callable[[Json], bool]) -> Json:
        assert self.process.stdout
        for line in self.process.stdout:
            message: Json = json.loads(line)
            self._note(message)
            if condition(message):
                return message
        raise AssertionError(f"the client ended: {self.events}")

    def _trust(self) -> None:
        """Trusts all hooks, as the user does in the terminal."""
        places = self.call("hooks/list", cwds=[str(self.folder)])["data"]
        hooks = [hook for place in places for hook in place["hooks"]]
        assert not (warnings := [text for place in places for text in place["warnings"]]), warnings
        value = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
        self.call("config/batchWrite", edits=[edit], reloadUserConfig=True)

    def _note(self, message: Json) -> None:
        parameters = message.get("params") or {}
        match message.get("method"):
            case "hook/completed":
                self._note_hook(parameters["run"])
            case "item/completed" if parameters["item"]["type"] == "agentMessage":
                self._answer(parameters["item"]["text"])
            case "turn/completed" if error := parameters["turn"].get("error"):
                self.events.append({"type": "error", "error": error})

    def _note_hook(self, run: Json) -> None:
        name, status = run["eventName"], run["status"]
        for entry in run["entries"]:
            if entry["kind"] == "warning":
                self.events.append({"type": "message", "text": entry["text"]})
            elif name == "userPromptSubmit" and status == "blocked":
                self._answer(entry["text"])
        if status == "failed":
            failure = {"subtype": "hook_response", "stdout": "", "outcome": status, "run": run}
            self.events.append(failure)

    def _answer(self, text: str) -> None:
        self.events.append({"type": "result", "result": text})

    def _send(self, message: Json) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


def _is_about(message: Json, method: str, session: str) -> bool:
    return message.get("method") == method and message["params"]["threadId"] == session


@contextmanager
def serving(folder: Path, variables: dict[str, str], model: str) -> Iterator[Server]:
    command: list[str | Path] = [CODEX.binary, "app-server", *model_words(variables, model)]
    with claude_code.process(command, folder, variables) as process:
        try:
            yield Server(process, folder)
            assert process.stdin
            process.stdin.close()  # it ends its sessions, and then itself
            process.wait(SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
