"""A home and a project for one code block, the real `sisyphus`, and stand-ins for what it must not
touch.

Stand-ins (`pages.stand_ins`) are on the PATH before everything else: they take what the pages type
and nothing else. In print mode `claude` keeps the promise that is asked for.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from making import COMMAND, HANG_SECONDS

from pages.stand_ins import put_into
from sisyphus.demo.stage import Stage

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "3f2c8a10"


class Stand(Stage):
    """A stage on which a shell runs what a page says."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.resolve())
        self.transcript = self.home / f".claude/projects/shop/{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self._answers = 0
        self._fakes = folder / "bin"
        put_into(self._fakes)

    def fill(self, tokens: int) -> None:
        """Each answer is one of its own, as those of a client are."""
        super().fill(tokens)
        last = self.transcript.read_text(encoding="utf-8")
        self._answers += 1
        said = last.replace('"id": "demo"', f'"id": "m{self._answers}"')
        self.transcript.write_text(said, encoding="utf-8")

    def type(self, command: str) -> tuple[int, str]:
        """Exit code and everything that is written, with `~` for the home."""
        ours = os.path.dirname(COMMAND)
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=HANG_SECONDS,
            cwd=self.project,
            env={
                "HOME": str(self.home), "TERM": "dumb", "LANG": "C.UTF-8", "EDITOR": "vi",
                "SHELL": "/bin/bash", "PATH": f"{self._fakes}:{ours}:/usr/bin:/bin",
            },
        )  # fmt: skip
        return done.returncode, self.plain(done.stdout)

    def plain(self, text: str) -> str:
        return text.replace(str(self.project), "~/shop").replace(str(self.home), "~")
