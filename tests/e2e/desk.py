"""A user's desk: an empty home, a project, a real client with sisyphus as its plugin."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from e2e import claude_code, codex, copilot, opencode, opencode_shared, qwen
from e2e.claude_code import COMMANDS, Json
from e2e.install import CHECKOUT
from e2e.model import Request, serving
from e2e.script import Script, Tool, Turn

WITH_SHELL = ("--allowedTools", "Bash")
"""Flags of a user who lets the agent run commands too. Edits are accepted in every run."""


class Client(Protocol):
    """What knows one client: a module, or an object where the client has several ways."""

    @property
    def NAME(self) -> str:
        """What `--client` calls it."""

    @property
    def REASON_COPIES(self) -> int:
        """How often the model gets the reason for which it has to go on."""

    @property
    def SHOWS_MESSAGES(self) -> bool:
        """Whether its events have what hooks say to the user."""

    def furnish(self, home: Path) -> None:
        """Leaves in a home what the user has set before."""

    def environment(self, home: Path) -> dict[str, str]:
        """Returns the whole environment of the client and its hooks."""

    def model_variables(self, url: str) -> dict[str, str]:
        """Returns the variables that make the client ask a model at a URL."""

    def spell(self, tool: Tool, project: Path) -> Json:
        """Returns the client's name and input of a tool."""

    def talk(
        self, prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
    ) -> list[Json]:
        """Runs one process of the client with the flags of Claude Code; returns its events."""


CLAUDE_CODE, OPENCODE, CODEX, QWEN = "claude-code", "opencode", "codex", "qwen"
COPILOT = "copilot"
CODEX_PROGRAMS = "codex with programs"
OPENCODE_SHARED = "opencode, one for all tests"
CLIENTS: dict[str, Client] = {
    CLAUDE_CODE: claude_code,
    OPENCODE: opencode,
    OPENCODE_SHARED: opencode_shared,
    CODEX: codex.Codex(),
    CODEX_PROGRAMS: codex.Codex("gpt-6.1-sol"),
    QWEN: qwen,
    COPILOT: copilot,
}


@dataclass(frozen=True)
class Run:
    """What one process of the client did: its requests to the model, and its own events."""

    requests: list[Request]
    events: list[Json]

    @property
    def session(self) -> str:
        return str(self.events[-1]["session_id"])

    @property
    def result(self) -> str:
        """The last output for the user."""
        results = [event for event in self.events if event.get("type") == "result"]
        return str(results[-1]["result"])

    @property
    def hooks(self) -> list[Json]:
        """The hooks that ran, in order; `stdout` is what each printed."""
        return [event for event in self.events if event.get("subtype") == "hook_response"]

    @property
    def messages(self) -> str:
        """The messages of hooks (`systemMessage`) and of our plugin to the user, in order."""
        replies = [json.loads(hook["stdout"]) for hook in self.hooks if hook["stdout"].strip()]
        texts = [event["text"] for event in self.events if event.get("type") == "message"]
        return "\n\n".join([*(reply.get("systemMessage", "") for reply in replies), *texts])

    @property
    def main(self) -> list[Request]:
        return [request for request in self.requests if not request.agent]

    @property
    def agents(self) -> list[Request]:
        return [request for request in self.requests if request.agent]


@dataclass(frozen=True)
class Desk:
    """plugins: of Claude Code; the other clients have what `sisyphus install` gave them."""

    home: Path
    project: Path
    plugins: list[Path] = field(default_factory=lambda: [CHECKOUT])
    name: str = CLAUDE_CODE

    @property
    def client(self) -> Client:
        return CLIENTS[self.name]

    def with_client(self, name: str) -> Desk:
        """The same desk with a client, after `sisyphus install`. Claude Code has `plugins`."""
        client = CLIENTS[name]
        if name != CLAUDE_CODE:
            client.furnish(self.home)
            self.sisyphus("install", "--client", client.NAME, "--yes")
        return replace(self, name=name)

    @property
    def shared(self) -> Desk:
        """The same desk, with the one process of its client that all tests share, if there is one.
        For what is about no process: see `opencode_shared`."""
        return replace(self, name=OPENCODE_SHARED) if self.name == OPENCODE else self

    def environment(self) -> dict[str, str]:
        return self.client.environment(self.home)

    def write(self, path: str, text: str) -> Path:
        """Writes a file; `path` is relative to the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def boulder_file(self) -> Any:
        """`~/.claude/.boulder.json`; None if there is none."""
        file = self.home / ".claude" / ".boulder.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    def sisyphus(self, *words: str | Path) -> str:
        """Runs a command of ours in another terminal; returns what it prints."""
        done = subprocess.run(
            [COMMANDS / "sisyphus", *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def run(
        self,
        *prompts: str,
        turns: Sequence[Turn],
        agents: Sequence[Turn] = (),
        flags: Sequence[str] = (),
        env: dict[str, str] | None = None,
        folder: str = "",
    ) -> Run:
        """Runs one process of the client in `folder` of the project.

        Fails if a hook failed, if the client overrode one, or if it asked for more or fewer turns
        than the script has.
        """
        script = Script([*turns], [*agents])
        if self.name == CLAUDE_CODE:
            flags = [*(w for path in self.plugins for w in ("--plugin-dir", str(path))), *flags]
        with serving(script, self.spell) as model:
            variables = {**self.environment(), **self.client.model_variables(model.url)}
            there = self.project / folder
            events = self.client.talk(prompts, flags, there, {**variables, **(env or {})})
        run = Run(model.requests, events)
        self._check(run, script)
        return run

    def spell(self, tool: Tool) -> Json:
        return self.client.spell(tool, self.project)

    def resume(self, run: Run, *prompts: str, turns: Sequence[Turn], **more: Any) -> Run:
        """Continues the session of `run` in a new process."""
        return self.run(*prompts, turns=turns, flags=["--resume", run.session], **more)

    def fork(self, run: Run, *prompts: str, turns: Sequence[Turn], **more: Any) -> Run:
        """Starts a new session with the conversation of `run`."""
        flags = ["--resume", run.session, "--fork-session"]
        return self.run(*prompts, turns=turns, flags=flags, **more)

    def _check(self, run: Run, script: Script) -> None:
        failed = [hook for hook in run.hooks if hook["outcome"] != "success"]
        assert not failed, f"hooks failed: {failed}"
        notices = [event["key"] for event in run.events if event.get("subtype") == "notification"]
        assert "stop-hook-block-cap" not in notices, "the client overrode our Stop hook"
        assert script.is_over, f"left: {script.main} {script.agents}; beyond: {script.surplus}"
        self.check_log()

    def check_log(self) -> None:
        """Fails if a feature of ours failed in a hook."""
        log = self.home / ".claude" / ".sisyphus" / "logs" / "debug.log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        assert not [line for line in lines if "Error: " in line], "a feature failed"
        for file in self.home.glob(".local/share/opencode/log/*.log"):
            lines = file.read_text(encoding="utf-8").splitlines()
            failures = [line for line in lines if 'message="sisyphus: ' in line]
            assert not failures, f"our plugin failed: {failures}"


def make_project(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder
