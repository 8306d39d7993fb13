"""Real git repositories, and changes of their files that no clock is too coarse for."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from making import put

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def environment() -> dict[str, str]:
    """Our own without what a git that runs us may have told us."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**own, **ENVIRONMENT}


def git(folder: Path, *words: str) -> str:
    """What git says in `folder`, without its last line end."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip("\n")


def a_repository(folder: Path, *options: str) -> Path:
    """A repository of one commit: `a.txt`, `src/b.py`, and `*.log` ignored."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", *options)
    put(folder / "a.txt", "a\n")
    put(folder / "src" / "b.py", "b = 1\n")
    put(folder / ".gitignore", "*.log\n")
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    """Commits all there is; returns the commit's name."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def latest(folder: Path) -> float:
    """A moment after the last change of any file there, in epoch seconds.

    It is a microsecond or two later: a float holds no more of such a number.
    """
    found = [path.lstat().st_ctime_ns for path in folder.rglob("*")]
    return (max(found, default=0) // 1000 + 2) / 1e6


def change(path: Path, since: float, content: str | bytes = "changed\n") -> None:
    """Writes the file until the clock of the file system has left `since` behind."""
    while not os.path.lexists(path) or path.lstat().st_ctime_ns <= since * 1e9:
        put(path, content)
