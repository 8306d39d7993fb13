"""Asks git about a project, without running the project's hooks, pagers or filters."""

import os
from collections.abc import Iterable

from sisyphus import processes

_SECONDS, _STATUS_SECONDS = 5.0, 60.0
"""The longest that we wait for git, and for its status in a large work tree."""

_MAX_BYTES = 16_000_000
"""The most bytes of output that are read: the names of about 200,000 files."""

_QUIET = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks"]


def head_moved_at(project: str) -> float:
    """Returns when HEAD last moved (a commit, a checkout, a reset), in seconds since 1970; 0 =
    unknown. Starts no process."""
    folder = os.path.join(project, ".git")
    try:
        if os.path.isfile(folder):  # a linked worktree
            with open(folder, encoding="utf-8") as file:
                target = file.read(4096).removeprefix("gitdir:").strip()
            folder = os.path.join(project, target)
        return os.stat(os.path.join(folder, "logs", "HEAD")).st_mtime
    except (OSError, ValueError):
        return 0.0


def known_paths(project: str) -> list[str] | None:
    """Returns the absolute paths of the files that git tracks, even if they are deleted, and of
    those that it would add; None if git fails.

    It does not ask which of them have changed: to compare a file, `git status` and `git diff-index`
    run the filters of `.git/config`. A caller compares times.
    """
    result = _git(project, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if result is None:
        return None
    names = result.output.split("\0")[result.is_cut :]  # a cut may have left half a name
    return [os.path.join(project, name) for name in names if name]


def tracked(project: str, paths: Iterable[str]) -> list[str]:
    """Returns which of these absolute paths git tracks; none if git fails."""
    result = _git(project, "ls-files", "-z", "--", *paths)
    names = result.output.split("\0") if result else []
    return [os.path.join(project, name) for name in names if name]


def head(project: str) -> str:
    """Returns the commit that HEAD is at; "" if git fails, or nothing was committed yet."""
    result = _git(project, "rev-parse", "--verify", "--quiet", "HEAD")
    return result.output.strip() if result else ""


def is_repository(project: str) -> bool:
    """Tells whether a folder has a repository or is a linked worktree. Starts no process."""
    folder = os.path.join(project, ".git")
    return os.path.isfile(folder) or os.path.isfile(os.path.join(folder, "HEAD"))


def uncommitted(project: str) -> list[str] | None:
    """Returns the paths of the files that differ from the last commit, or that git would add,
    relative to the project; None if git fails, or takes too long.

    It runs the filters of `.git/config`, so it is for a user's command, not for a hook.
    """
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    result = _git(project, *words, seconds=_STATUS_SECONDS)
    return [entry[3:] for entry in result.output.split("\0") if entry] if result else None


def commits_since(project: str, commit: str) -> list[str]:
    """Returns the commits after one, newest first, each as "1a2b3c4 Subject"."""
    result = _git(project, "log", "--format=%h %s", f"{commit}..HEAD", "--") if commit else None
    return result.output.splitlines() if result else []


def count_commits(project: str, since: float) -> int:
    """Returns how many commits the current branch got since a moment; 0 without git."""
    done = _git(project, "rev-list", "--count", f"--since=@{int(since)}", "HEAD")
    return int(done.output) if done and done.code == 0 and done.output.strip().isdecimal() else 0


def diff(project: str, commit: str) -> str:
    """Returns how the tracked files differ from a commit; "" if git fails. For a user's command
    alone, as `uncommitted`."""
    result = _git(project, "diff", "--no-ext-diff", "--no-textconv", "--no-color", commit, "--")
    return result.output if result else ""


def exclude_file(project: str) -> str:
    """Returns the path of the list of files that only this checkout ignores, `.git/info/exclude`;
    "" if there is none. Where git fails, it is found if `.git` is a folder."""
    folder = os.path.join(project, ".git")
    result = _git(project, "rev-parse", "--git-path", "info/exclude")
    if result is None and os.path.isfile(os.path.join(folder, "HEAD")):
        return os.path.join(folder, "info", "exclude")
    path = result.output.rstrip("\n") if result else ""
    return os.path.normpath(os.path.join(project, path)) if path else ""


def is_installed() -> bool:
    """Tells whether there is a `git` on the PATH. Starts no process."""
    import shutil  # imported late: hooks need none of it

    return shutil.which("git") is not None


def _git(project: str, *words: str, seconds: float = _SECONDS) -> processes.CommandResult | None:
    """Runs git in a project; None if it is not installed, fails or takes too long."""
    try:
        result = processes.run(["git", *_QUIET, *words], project, seconds, tail=_MAX_BYTES)
    except OSError:
        return None
    return result if result.code == 0 else None
