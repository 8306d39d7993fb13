"""Scripted clients that run as children, with the files that each has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from making import HANG_SECONDS

from runner import scripted
from sisyphus.runner.client.child import Child
from sisyphus.runner.client.follow import follow
from sisyphus.runner.client.launch import custom_argv
from sisyphus.runner.client.stream import Seen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.scripted import Entry
    from sisyphus.runner.client.follow import Ended


class Clients:
    """Starts children in `project`; those that are left in the end are ended."""

    def __init__(self, folder: Path) -> None:
        self.scenario = folder / "scenario"
        self.project = folder / "project"
        self.output = folder / "out" / "run.jsonl"
        self.errors = folder / "out" / "run.err"
        self.prompt = folder / "PROMPT.md"
        self.started: list[Child] = []
        self.project.mkdir(exist_ok=True)
        self.prompt.write_text("do it")

    def run(self, argv: Sequence[str], **environment: str) -> Child:
        child = Child.start(
            argv,
            folder=str(self.project),
            prompt=str(self.prompt),
            output=str(self.output),
            errors=str(self.errors),
            environment={**os.environ, **environment},
        )
        self.started.append(child)
        return child

    def shell(self, command: str) -> Child:
        return self.run(custom_argv(command))

    def play(self, *entries: Entry) -> Child:
        return self.shell("exec " + scripted.install(self.scenario, list(entries)))

    def follow(self, child: Child, **options: Any) -> tuple[Seen, Ended]:
        seen = Seen()
        return seen, follow(child, seen, str(self.output), **options)

    def end(self) -> None:
        for child in self.started:
            child.end(gently=False)
            child.wait(HANG_SECONDS)
            child.release()
