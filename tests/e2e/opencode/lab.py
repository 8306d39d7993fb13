"""A user's desk with OpenCode: an empty home, a project, the real client, a scripted model."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from e2e.client import COMMANDS, TIME_LIMIT
from e2e.desk import make_project
from e2e.opencode.client import configuration, environment, started, stub_dependencies
from e2e.opencode.model import Model, serving
from e2e.opencode.server import Server, served
from e2e.opencode.tui import Tui, opened
from e2e.script import Script, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from e2e.opencode.wire import Json, Request


@dataclass(frozen=True)
class Run:
    """What one `opencode run` left: what the model received, and what the client printed.

    `compactions`: what the model that writes the summary of a compaction received.
    """

    requests: list[Request]
    compactions: list[Request]
    output: str
    told: str  # on stderr, where a plugin tells the user something

    @property
    def events(self) -> list[Json]:
        lines = [line for line in self.output.splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines]

    @property
    def session(self) -> str:
        return self.main[0].session

    @property
    def main(self) -> list[Request]:
        """What the main session sent, without its subagents."""
        return [request for request in self.requests if not request.parent]

    @property
    def agents(self) -> list[Request]:
        return [request for request in self.requests if request.parent]

    @property
    def texts(self) -> list[str]:
        """What the user read, answer by answer."""
        return [event["part"]["text"] for event in self.events if event["type"] == "text"]


@dataclass(frozen=True)
class Lab:
    home: Path
    project: Path

    def write(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def state(self, name: str) -> Any:
        """A JSON file below the home, None where there is none."""
        path = self.home / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def sisyphus(self, *words: str) -> str:
        """What a command of ours prints in a terminal, in the project."""
        ran = subprocess.run(
            [COMMANDS / "sisyphus", *words],
            cwd=self.project,
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def run(
        self,
        prompt: str,
        *flags: str,
        turns: Sequence[Turn],
        agent_turns: Sequence[Turn] = (),
        env: dict[str, str] | None = None,
    ) -> Run:
        """One `opencode run`, to its end.

        Fails where the client failed, where a hook of ours did, and where the model was asked for
        more or fewer turns than the script has.
        """
        with self._model(turns, agent_turns) as model:
            words = ["run", "--format", "json", *flags, prompt]
            printed = self._printed(words, self._variables(model, env))
        return Run(model.requests, model.compactions, *printed)

    @contextmanager
    def serve(
        self,
        turns: Sequence[Turn],
        agent_turns: Sequence[Turn] = (),
        env: dict[str, str] | None = None,
    ) -> Iterator[Server]:
        """One `opencode serve`; fails as `run` does, and lets the sessions come to rest first."""
        with (
            self._model(turns, agent_turns) as model,
            served(self.project, self._variables(model, env), self.home, model) as server,
        ):
            yield server
            server.leave()

    @contextmanager
    def tui(
        self, turns: Sequence[Turn], *flags: str, env: dict[str, str] | None = None
    ) -> Iterator[Tui]:
        """The terminal interface; fails as `run` does."""
        with self._model(turns) as model:
            variables = {**self._variables(model, env), "TERM": "xterm-256color"}
            with opened(self.project, variables, flags, model) as tui:
                yield tui
                tui.until_told()

    def log(self, beginning: str) -> list[str]:
        """The lines of the client's own log whose message begins so."""
        paths = sorted((self.home / ".local/share/opencode/log").glob("*.log"))
        lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if f'message="{beginning}' in line]

    def check_logs(self) -> None:
        path = self.home / ".claude/.sisyphus/logs/debug.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        faults = [line for line in lines if "Error: " in line]
        faults += [line for line in self.log("sisyphus: ") if "level=ERROR" in line]
        assert not faults, f"a feature failed and was passed over: {faults}"

    @contextmanager
    def _model(self, turns: Sequence[Turn], agent_turns: Sequence[Turn] = ()) -> Iterator[Model]:
        script = Script([*turns], [*agent_turns])
        with serving(script, self.home / "model.log") as model:
            yield model
        self.check_logs()
        assert script.told, f"unsaid: {script.main} {script.agents}; beyond: {script.surplus}"

    def _variables(self, model: Model, more: dict[str, str] | None) -> dict[str, str]:
        content = {"OPENCODE_CONFIG_CONTENT": json.dumps(configuration(model.url))}
        return {**environment(self.home), **content, **(more or {})}

    def _printed(self, words: list[str], variables: dict[str, str]) -> tuple[str, str]:
        streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        nothing = {"stdin": subprocess.DEVNULL}
        with started(words, self.project, variables, **nothing, **streams) as process:
            output, told = process.communicate(timeout=TIME_LIMIT)
        assert process.returncode == 0, told.decode(errors="replace")
        return output.decode(errors="replace"), told.decode(errors="replace")


def make_lab(folder: Path) -> Lab:
    """A home with no config but the stub, a project with git."""
    home, project = folder / "home", folder / "project"
    (home / "tmp").mkdir(parents=True)
    make_project(project)
    for config in (home / ".config/opencode", project / ".opencode"):
        stub_dependencies(config)
    return Lab(home, project)
