"""Where things are: the client's folder, ours in it, and the project a folder belongs to."""

from __future__ import annotations

import os
import stat

_SAFE_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE_LENGTH = 128
_SLUG_LENGTH = 80  # keeps `ID.json.lock` far below the 255 bytes of a file name

_GIT_LINE_BYTES = 8_192  # twice the longest path of Linux
_GIT_CONFIG_BYTES = 1_000_000
_NO_FILES_BESIDE = (
    rb"(?im)^[ \t]*(?:\[[^]\n]*\][ \t]*)?"
    rb"(?:worktree[ \t]*=|bare[ \t]*(?:$|[\r;#]|=[ \t]*\"?(?:true|yes|on|[1-9])))"
)


NOWHERE = os.path.join(os.devnull, ".claude")
"""The client's folder where there is no home: nothing is there, and nothing can be written."""

NO_HOME = "HOME is empty, so there is no folder of the client. Set it, then run this again."


def client_home() -> str:
    """The client's own folder: $CLAUDE_CONFIG_DIR, else ~/.claude."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    if not named and os.environ.get("HOME") == "":
        return NOWHERE
    return os.path.abspath(named or os.path.join(os.path.expanduser("~"), ".claude"))


INSTALLS = "installs.json"
"""Our record of what `sisyphus install` wrote."""


def our_home() -> str:
    return os.path.join(client_home(), ".sisyphus")


def is_safe_id(text: str) -> bool:
    """Whether a session, agent or loop id may become part of a file name."""
    right = 0 < len(text) <= _SAFE_LENGTH and _SAFE_CHARACTERS.issuperset(text)
    return right and ".." not in text and text != "."


def project_root(cwd: str) -> str:
    """The git top level above `cwd`, else the nearest folder with `.claude/`, else `cwd` itself.

    Symlinks are resolved; a linked worktree and a submodule are their own projects. The home
    folder's `.claude/` is the client's own, so it makes no project.
    """
    start = os.path.realpath(cwd)
    configs = {os.path.realpath(p) for p in (client_home(), os.path.expanduser("~/.claude"))}
    with_config = ""
    for folder in ancestors(start):
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        marker = os.path.join(folder, ".claude")
        if not with_config and os.path.isdir(marker) and os.path.realpath(marker) not in configs:
            with_config = folder
    return with_config or start


def ancestors(folder: str) -> list[str]:
    """`folder` and every folder above it, nearest first."""
    found = [folder]
    while (parent := os.path.dirname(folder)) != folder:
        found.append(parent)
        folder = parent
    return found


def main_checkout(root: str) -> str:
    """The root of the checkout that the linked git worktree at `root` belongs to; "" for all else.

    Submodules, worktrees of bare repositories, and what git's files do not agree about have none:
    the repository must name this very worktree, or any folder could claim to be one of it.
    """
    marker = os.path.join(root, ".git")
    try:
        is_file = stat.S_ISREG(os.lstat(marker).st_mode)
    except (OSError, ValueError):
        return ""
    own = _path_in(marker, "gitdir: ") if is_file else ""
    shared, kind = os.path.split(os.path.dirname(own))
    if kind != "worktrees" or _path_in(os.path.join(own, "commondir")) != shared:
        return ""
    if _path_in(os.path.join(own, "gitdir")) != os.path.join(os.path.realpath(root), ".git"):
        return ""
    main, name = os.path.split(shared)
    return main if name == ".git" and _has_its_files_beside_it(shared) else ""


def _path_in(path: str, prefix: str = "") -> str:
    """The path, links resolved, that a file of git tells in its one line; "" for none.

    It may be relative to the file's folder. A last part `.git` is not resolved: a link to a
    worktree's marker is not that marker.
    """
    line = os.fsdecode(_content(path, _GIT_LINE_BYTES)).rstrip("\r\n")
    told = line[len(prefix) :]
    if not told or not line.startswith(prefix) or "\0" in told or "\n" in told:
        return ""
    whole = os.path.join(os.path.dirname(path), told)
    folder, name = os.path.split(whole)
    is_marker = name == ".git"
    return os.path.join(os.path.realpath(folder), name) if is_marker else os.path.realpath(whole)


def _has_its_files_beside_it(git_folder: str) -> bool:
    """Whether a repository is neither bare nor set up to have its files in another place."""
    import re

    config = _content(os.path.join(git_folder, "config"), _GIT_CONFIG_BYTES)
    own = _content(os.path.join(git_folder, "config.worktree"), _GIT_CONFIG_BYTES)
    return config != b"" and not re.search(_NO_FILES_BESIDE, config + b"\n" + own)


def _content(path: str, limit: int) -> bytes:
    """The whole of a regular file, b"" where it cannot be read or is longer than `limit`."""
    from sisyphus.errors import UnreadableError
    from sisyphus.reading import read_bytes  # which imports this module

    try:
        return read_bytes(path, limit)
    except UnreadableError:
        return b""


def project_id(root: str) -> str:
    """A readable folder name for a project, the same for the same root."""
    slug = "".join(c if c in _SAFE_CHARACTERS else "-" for c in root).strip("-.")[-_SLUG_LENGTH:]
    return f"{slug or 'root'}-{_checksum(os.fsencode(root)):08x}"


def _checksum(data: bytes) -> int:
    """FNV-1a of 32 bits. `binascii` and `zlib` load a shared library: 0.2 ms at every hook."""
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def is_inside(path: str, root: str) -> bool:
    """Whether `path`, links resolved, is `root` or lies below it."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def display(path: str, root: str) -> str:
    """`path` relative to `root` with forward slashes; `~/…` in the home folder; else as it is."""
    for base, prefix in ((root, ""), (os.path.expanduser("~"), "~/")):
        start = base.rstrip(os.sep) + os.sep
        if start != os.sep and path.startswith(start):  # as where HOME is empty
            return prefix + path[len(start) :].replace(os.sep, "/")
    return path
