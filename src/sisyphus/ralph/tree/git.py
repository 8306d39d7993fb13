"""Asks git for the files of a project, so that nothing in the project can make it run a program.

A repository's own configuration may name programs (`core.fsmonitor`, filters, hooks, helpers of
remotes), and so does what it includes. git never reads it here: it works with an empty repository
of ours, and of the project's it is given the index and the exclusions alone. The configuration of
the user and of the system holds.
"""

from __future__ import annotations

import os

from sisyphus.paths import is_inside, our_home
from sisyphus.ralph.head import git_folders, head
from sisyphus.ralph.tree import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.tree.bounds import Budget

_NAME = "git.exe" if os.name == "nt" else "git"
_SHA256_LENGTH = 64

_OPTIONS = (
    "--no-pager",
    "-c", "core.fsmonitor=false",
    "-c", "core.untrackedCache=false",
    "-c", "core.hooksPath=/dev/null",
)  # fmt: skip
"""The user's own configuration may ask for these; they have no place here either."""

_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"))
_ADDED = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_SHA256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"


def names(root: str, budget: Budget) -> list[bytes] | None:
    """Names below `root`, sorted, of the files that git tracks (some may be deleted) or would add.

    A folder among them is a repository of its own. None where `root` is no work tree or git is
    missing. Raises `OSError` where git fails, and `TooMuchError`.
    """
    folders, program = git_folders(root), find(root)
    if not folders or not program:
        return None
    command = [program, "-C", root, *_OPTIONS, "ls-files", "-z", "--cached", "--others"]
    command += ["--exclude-standard", *_exclusions(folders[1])]
    printed = spawn.output(command, _environment(root, folders[0]), budget)
    found = sorted(dict.fromkeys(printed.split(b"\0")))
    return [name for name in found if name and not _leaves(name)]


def find(root: str) -> str:
    """The full path of git; "" where there is none. Never one that lies in the project."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, _NAME)
        if not os.path.isabs(folder) or not os.path.isfile(path) or not os.access(path, os.X_OK):
            continue
        if not is_inside(folder, root) and not is_inside(path, root):
            return path
    return ""


def _exclusions(common: str) -> list[str]:
    path = os.path.join(common, "info", "exclude")
    return [f"--exclude-from={path}"] if os.path.isfile(path) else []


def _environment(root: str, own: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    return {
        **inherited,
        **_ADDED,
        "GIT_DIR": _empty_repository("sha256" if len(head(root)) == _SHA256_LENGTH else "sha1"),
        "GIT_INDEX_FILE": os.path.join(os.path.abspath(own), "index"),
        "GIT_WORK_TREE": root,
    }


def _empty_repository(kind: str) -> str:
    """A repository of ours in which nothing is; `kind` is how it would name its objects."""
    folder = os.path.join(our_home(), "cache", f"empty-{kind}.git")
    mark = os.path.join(folder, "HEAD")
    if not os.path.isfile(mark):
        _make_repository(folder, mark, _SHA256 if kind == "sha256" else "")
    return folder


def _make_repository(folder: str, mark: str, config: str) -> None:
    from sisyphus.state.files import ensure_folder, write_text
    from sisyphus.state.lock import Lock

    for part in ("objects", "refs"):
        ensure_folder(os.path.join(folder, part))
    with Lock(mark):
        write_text(os.path.join(folder, "config"), config)
        write_text(mark, "ref: refs/heads/none\n")


def _leaves(name: bytes) -> bool:
    """An index that somebody made by hand may hold any name."""
    return name.startswith(b"/") or (b".." in name and b".." in name.split(b"/"))
