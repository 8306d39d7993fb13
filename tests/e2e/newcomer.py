"""Somebody who has never had sisyphus: an empty home, a project, the real client and a shell."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from e2e import packages
from e2e.client import CLIENT, Client
from e2e.client import environment as of_the_client
from e2e.desk import Run, make_project
from e2e.model import serving
from e2e.script import Script, say

if TYPE_CHECKING:
    from pathlib import Path


class Newcomer:
    """`home` is as it was on the first day, and CLAUDE_CONFIG_DIR is not set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = make_project(folder / "project")
        self.environment = packages.environment(folder)
        self.home = folder / "home"
        (folder / "client").mkdir()
        (folder / "client/claude").symlink_to(CLIENT)
        self.environment["PATH"] += f"{os.pathsep}{folder}/client"

    def shell(self, *words: str | Path) -> str:
        """What a command prints that is typed in the project. Fails where it fails."""
        return packages.run(words, self.environment, self.project)

    def plugin(self, *words: str) -> str:
        """A `claude plugin …` that needs no model."""
        done = self._client().command("plugin", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def session(self) -> Run:
        """One prompt, one answer; every hook that ran did so without a fault."""
        script = Script([say("hi")])
        with serving(script) as model:
            events = self._client(ANTHROPIC_BASE_URL=model.url).talk(("hello",))
        run = Run(model.requests, events)
        assert [hook for hook in run.hooks if hook["outcome"] != "success"] == []
        assert script.told
        return run

    def heard(self, run: Run, script: str | Path = "sisyphus") -> set[str]:
        """The events of the session that `sisyphus why` tells of."""
        told = json.loads(self.shell(script, "why", "--all", "-n", "50", "--json"))
        assert told["session_id"] == run.session
        return {entry["event"] for entry in told["entries"]}

    def settings(self) -> Any:
        """The client's settings of this user; {} where there is no such file."""
        path = self.home / ".claude/settings.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else {}

    def hook_commands(self) -> list[str]:
        entries = [entry for of_event in self.settings()["hooks"].values() for entry in of_event]
        return [hook["command"] for entry in entries for hook in entry["hooks"]]

    def places(self) -> set[str]:
        """What the client's folder holds."""
        return {path.name for path in (self.home / ".claude").iterdir()}

    def traces(self) -> list[str]:
        """The files of the home that tell of sisyphus, but for those in our folder, and for what
        the client keeps of the conversation."""
        found = [path for path in self.home.rglob("*") if path.is_file()]
        names = {path: str(path.relative_to(self.home)) for path in found}
        known = (".claude/.sisyphus/", ".claude/projects/")
        return sorted(
            name
            for path, name in names.items()
            if not name.startswith(known)
            and ("sisyphus" in name or b"sisyphus" in path.read_bytes())
        )

    def _client(self, **more: str) -> Client:
        variables = {**of_the_client(self.home), **self.environment, **more}
        del variables["CLAUDE_CONFIG_DIR"]
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        variables |= {"TMPDIR": str(temporary), "CLAUDE_CODE_TMPDIR": str(temporary)}
        return Client(self.project, variables, self.folder / "stderr.txt")
