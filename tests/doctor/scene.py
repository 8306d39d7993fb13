"""A home in which all is well, and what a test spoils in it."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

from making import put

from sisyphus import memory
from sisyphus.doctor.case import Case
from sisyphus.doctor.trial import Trials, Tried
from sisyphus.shipped import plugin_folder
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.doctor.finding import Finding

NOW = 1_800_000_000.0
"""January 2027."""


class FakeTrials(Trials):
    """Programs that answer at once; nothing is started. `answers`: what is in a command -> what
    comes of it; `times`: what is in a command -> the milliseconds that it takes."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.answers: dict[str, Tried] = {"--version": Tried(0, "2.1.329 (Claude Code)\n")}
        self.times: dict[str, float] = {}
        self.notes = True

    def run(
        self,
        words: list[str],
        stdin: str = "",
        environment: dict[str, str] | None = None,
        folder: str = "",
        seconds: float = 0,
    ) -> Tried:
        del stdin, environment, folder, seconds
        command = " ".join(words)
        self.ran.append(command)
        return next((a for part, a in self.answers.items() if part in command), Tried(0))

    def as_hook(self, command: str, stdin: str, home: str) -> Tried:
        del stdin
        if self.notes:
            ours = f"{home}/.sisyphus"
            memory.open_memory(ours).write(
                "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, texts)"
                " VALUES (1, 0, ?, 1, 0, 0, 0, '[]', '[]')", command.rpartition(" ")[2],
            )  # fmt: skip
            memory.close()
        return self.run([command])

    def milliseconds(self, command: str, stdin: str = "") -> float | None:
        del stdin
        return next((ms for part, ms in self.times.items() if part in command), 20.0)

    def bare_milliseconds(self) -> float | None:
        return 10.0


class Scene:
    """The home, the project and the programs of one test."""

    def __init__(self, home: Path, project: Path, folder: Path) -> None:
        self.home = home
        self.claude = home / ".claude"
        self.ours = self.claude / ".sisyphus"
        self.project = project
        self.folder = folder
        self.bin = folder / "bin"
        self.managed = folder / "managed"
        self.trials = FakeTrials()
        self.sisyphus = self.program("sisyphus")
        self.program("claude")

    def program(self, name: str, text: str = "#!/usr/bin/python3\n") -> str:
        """An executable on the PATH, or at an absolute path."""
        path = put(self.bin / name, text)
        path.chmod(0o755)
        return str(path)

    def case(self) -> Case:
        space = Workspace(str(self.project), now=NOW)
        return Case(space, started=self.sisyphus, managed=str(self.managed), trials=self.trials)

    def wire(
        self,
        path: Path | None = None,
        program: str = "",
        change: Callable[[Json], object] = len,
    ) -> Path:
        """Settings with our hooks as they are shipped, `change`d; the user's, unless named."""
        values = hooks(program or self.sisyphus)
        change(values)
        return self.settings(values, path)

    def settings(self, values: Json, path: Path | None = None) -> Path:
        return put(path or self.claude / "settings.json", json.dumps(values))

    def plugin(self, name: str, values: Json | None = None, *, version: str = "0.1.0") -> Path:
        """A plugin that is installed for the user; its folder."""
        folder = self.folder / "plugins" / name
        put(folder / ".claude-plugin/plugin.json", json.dumps({"name": name, "version": version}))
        put(folder / "hooks/hooks.json", json.dumps(values or {"hooks": {}}))
        path = self.claude / "plugins/installed_plugins.json"
        row = {"scope": "user", "installPath": str(folder), "version": version}
        put(path, json.dumps({"version": 2, "plugins": {f"{name}@market": [row]}}))
        return folder


def hooks(program: str) -> Json:
    """What is shipped, with another program."""
    with open(f"{plugin_folder()}/hooks.json", encoding="utf-8") as file:
        text = file.read()
    values: Json = json.loads(text.replace('"sisyphus hook', f'"{program} hook'))
    return values


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """State and text of what is not well."""
    return [(one.state, one.text) for one in findings if one.state != "ok"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
