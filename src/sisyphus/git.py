"""What git knows of a project: its commit, its branch, its files.

Commit and branch are read from git's own files: no process, no waiting. For the files git is asked,
so that nothing in the project can make it run a program: a repository's own configuration may name
programs (`core.fsmonitor`, filters, hooks, helpers of remotes), and so does what it includes. git
never reads it here: it works with an empty repository of ours, and of the project's it is given the
index and the exclusions alone. The configuration of the user and of the system holds.
"""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.paths import is_inside, our_home
from sisyphus.reading import read_bytes
from sisyphus.state.files import ensure_folder

_NAME = "git.exe" if os.name == "nt" else "git"

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

_LINE_BYTES = 4_096
_PACKED_BYTES = 64_000_000
_DEEPEST = 5  # symbolic refs that git itself follows
_HEX = frozenset(b"0123456789abcdef")
_SHA1_LENGTH, _SHA256_LENGTH = 40, 64
_BRANCH = b"ref: refs/heads/"
_IN_REFTABLE = b".invalid"
"""Stands for the branch where git keeps its refs in tables, which git alone can read."""


def head(root: str) -> str:
    """The commit of the work tree at `root`; "" where there is none, or none that can be read.

    Of a repository that keeps its refs in tables, which git alone can read, a text that changes
    with every ref.
    """
    found = git_folders(root)
    return _resolve(found[0], found[1], b"HEAD", _DEEPEST) if found else ""


def git_folders(root: str) -> tuple[str, str] | None:
    """The git folder of this work tree and the one that it shares with others, often the same."""
    own = os.path.join(root, ".git")
    if not os.path.isabs(root):
        return None
    if not os.path.isdir(own):
        line = _read(own)
        if not line.startswith(b"gitdir: "):
            return None
        own = os.path.join(root, os.fsdecode(line.removeprefix(b"gitdir: ")))
    if not _read(os.path.join(own, "HEAD")):
        return None
    shared = os.fsdecode(_read(os.path.join(own, "commondir")))
    return own, os.path.join(own, shared) if shared else own


def branch(root: str) -> str:
    """The branch that the work tree at `root` is on; "" where there is none, or none is told."""
    found = git_folders(root)
    line = _read(os.path.join(found[0], "HEAD")) if found else b""
    name = line.strip().removeprefix(_BRANCH) if line.startswith(_BRANCH) else b""
    return "" if name == _IN_REFTABLE else os.fsdecode(name)


def names(root: str, seconds: float) -> list[bytes] | None:
    """Names below `root`, sorted, of the files that git tracks (some may be deleted) or would add.

    A folder among them is a repository of its own. None where `root` is no work tree or git is
    missing. Raises `OSError` where git fails, and `TooMuchError`.
    """
    from sisyphus.processes import output  # a Stop asks for the commit far more often

    folders, asked = git_folders(root), program(root)
    if not folders or not asked:
        return None
    command = [asked, "-C", root, *_OPTIONS, "ls-files", "-z", "--cached", "--others"]
    command += ["--exclude-standard", *_exclusions(folders[1])]
    printed = output(command, _environment(root, folders[0]), seconds)
    found = sorted(dict.fromkeys(printed.split(b"\0")))
    return [name for name in found if name and not _leaves(name)]


def program(root: str) -> str:
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
    for part in ("objects", "refs"):
        ensure_folder(os.path.join(folder, part))
    for path, text in ((os.path.join(folder, "config"), config), (mark, "ref: refs/heads/none\n")):
        own = f"{path}.{os.getpid()}"  # several may be at it, and all write the same
        with open(own, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(own, path)


def _leaves(name: bytes) -> bool:
    """An index that somebody made by hand may hold any name."""
    return name.startswith(b"/") or (b".." in name and b".." in name.split(b"/"))


def _resolve(own: str, common: str, name: bytes, deepest: int) -> str:
    for folder in (own, common):
        line = _read(os.path.join(folder, os.fsdecode(name)))
        if _is_commit(line):
            return line.decode()
        if line.startswith(b"ref: "):
            return _follow(own, common, line.removeprefix(b"ref: ").strip(), deepest)
    return _packed(common, name)


def _follow(own: str, common: str, name: bytes, deepest: int) -> str:
    if name == b"refs/heads/" + _IN_REFTABLE:
        return " ".join(_last_table(folder) for folder in dict.fromkeys((own, common)))
    is_ref = name.startswith(b"refs/") and b".." not in name.split(b"/")
    return _resolve(own, common, name, deepest - 1) if is_ref and deepest else ""


def _last_table(folder: str) -> str:
    tables = _read(os.path.join(folder, "reftable", "tables.list"))
    return os.fsdecode(tables.split(b"\n")[-1])


def _packed(common: str, name: bytes) -> str:
    data = _read(os.path.join(common, "packed-refs"), _PACKED_BYTES) + b"\n"
    end = data.find(b" " + name + b"\n")
    line = data[data.rfind(b"\n", 0, end) + 1 : end] if end > 0 else b""
    return line.decode() if _is_commit(line) else ""


def _is_commit(line: bytes) -> bool:
    return len(line) in (_SHA1_LENGTH, _SHA256_LENGTH) and _HEX.issuperset(line)


def _read(path: str, limit: int = _LINE_BYTES) -> bytes:
    """The file without its last line end; b"" where it cannot be read."""
    try:
        return read_bytes(path, limit).rstrip(b"\r\n")
    except UnreadableError:
        return b""
