"""A user's desk: an empty home, a project, the real client with sisyphus as its plugin."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from e2e.client import COMMANDS, Client, Event, environment, plugin_folder
from e2e.model import serving
from e2e.script import Script, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from e2e.wire import Request


WITH_SHELL = ("--allowedTools", "Bash")
"""Flags of a user who lets the agent run commands as well. Edits are accepted in every run."""


@dataclass(frozen=True)
class Run:
    """What one run of the client left: what the model received, and the client's own events.

    `compactions`: what the model that writes the summary of a compaction received.
    """

    requests: list[Request]
    events: list[Event]
    compactions: list[Request] = field(default_factory=list)

    @property
    def session(self) -> str:
        return str(self.events[-1]["session_id"])

    @property
    def result(self) -> str:
        """What the user read last."""
        results = (event for event in reversed(self.events) if event.get("type") == "result")
        return str(next(results)["result"])  # the end of an asynchronous hook may come behind it

    @property
    def hooks(self) -> list[Event]:
        """The hooks that ran, in order; `stdout` is what each printed."""
        return [event for event in self.events if event.get("subtype") == "hook_response"]

    @property
    def told(self) -> str:
        """What the hooks told the user (`systemMessage`), in order."""
        replies = [json.loads(hook["stdout"]) for hook in self.hooks if hook["stdout"].strip()]
        return "\n\n".join(reply.get("systemMessage", "") for reply in replies)

    @property
    def main(self) -> list[Request]:
        """What the main conversation sent, without its subagents."""
        return [request for request in self.requests if not request.agent]

    @property
    def agents(self) -> list[Request]:
        return [request for request in self.requests if request.agent]


@dataclass(frozen=True)
class Desk:
    home: Path
    project: Path
    plugins: list[Path] = field(default_factory=lambda: [plugin_folder()])

    def write(self, name: str, text: str) -> Path:
        return _write(self.project / name, text)

    def write_home(self, name: str, text: str) -> Path:
        """A file of the client's own folder (`~/.claude`)."""
        return _write(self.home / ".claude" / name, text)

    def state(self, name: str) -> Any:
        """A JSON file of the client's own folder, None where there is none."""
        path = self.home / ".claude" / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def sisyphus(self, *words: str) -> str:
        """What a command of ours prints in another terminal, in the user's home folder."""
        ran = subprocess.run(
            [COMMANDS / "sisyphus", *words],
            cwd=self.home,
            env=environment(self.home),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def run(
        self,
        *prompts: str,
        turns: Sequence[Turn],
        agent_turns: Sequence[Turn] = (),
        flags: Sequence[str] = (),
        env: dict[str, str] | None = None,
        folder: str = "",
    ) -> Run:
        """One process of the client in `folder` of the project, given the prompts in turn.

        Fails where a hook failed, where the client overrode one, and where it asked for more or
        fewer turns than the script has.
        """
        script = Script([*turns], [*agent_turns])
        with serving(script) as model:
            variables = {**environment(self.home), "ANTHROPIC_BASE_URL": model.url, **(env or {})}
            client = Client(self.project / folder, variables, self.home / "stderr.txt")
            events = client.talk(prompts, *self._plugin_flags, *flags)
        run = Run(model.requests, events, model.compactions)
        self.check_log()
        _check(run, script)
        return run

    def check_log(self) -> None:
        log = self.home / ".claude/.sisyphus/logs/debug.log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        faults = [line for line in lines if "Error: " in line]
        assert not faults, f"a feature failed and was passed over: {faults}"

    @property
    def _plugin_flags(self) -> list[str]:
        return [word for path in self.plugins for word in ("--plugin-dir", str(path))]

    def resume(self, run: Run, *prompts: str, turns: Sequence[Turn], **more: Any) -> Run:
        """A new process that goes on with the session of `run`."""
        return self.run(*prompts, turns=turns, flags=["--resume", run.session], **more)

    def fork(self, run: Run, *prompts: str, turns: Sequence[Turn]) -> Run:
        """A new process and a new session that begins with what was said in `run`."""
        flags = ["--resume", run.session, "--fork-session"]
        return self.run(*prompts, turns=turns, flags=flags)


def install_plugin(desk: Desk, folder: Path) -> None:
    """The plugin as users install it, from a marketplace in a new `folder`."""
    for name in (".claude-plugin", "commands", "hooks.json"):  # a checkout holds more, all copied
        _copy(plugin_folder() / name, folder / name)
    client = Client(desk.project, environment(desk.home), desk.home / "stderr.txt")
    for words in (["marketplace", "add", str(folder)], ["install", "sisyphus@sisyphus"]):
        done = client.command("plugin", *words)
        assert done.returncode == 0, done.stdout + done.stderr


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def make_project(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _check(run: Run, script: Script) -> None:
    failed = [hook for hook in run.hooks if hook["outcome"] != "success"]
    assert not failed, f"hooks failed: {failed}"
    notices = [event["key"] for event in run.events if event.get("subtype") == "notification"]
    assert "stop-hook-block-cap" not in notices, "the client lost patience with our Stop hook"
    assert script.told, f"unsaid: {script.main} {script.agents}; beyond: {script.surplus}"
