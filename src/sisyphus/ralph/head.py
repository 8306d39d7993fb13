"""The commit that a work tree stands at, read from git's own files: no process, no waiting."""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import read_bytes

_LINE_BYTES = 4_096
_PACKED_BYTES = 64_000_000
_DEEPEST = 5  # symbolic refs that git itself follows
_HEX = frozenset(b"0123456789abcdef")
_COMMIT_LENGTHS = (40, 64)  # SHA-1, SHA-256
_IN_REFTABLE = b"refs/heads/.invalid"


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


def _resolve(own: str, common: str, name: bytes, deepest: int) -> str:
    for folder in (own, common):
        line = _read(os.path.join(folder, os.fsdecode(name)))
        if _is_commit(line):
            return line.decode()
        if line.startswith(b"ref: "):
            return _follow(own, common, line.removeprefix(b"ref: ").strip(), deepest)
    return _packed(common, name)


def _follow(own: str, common: str, name: bytes, deepest: int) -> str:
    if name == _IN_REFTABLE:
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
    return len(line) in _COMMIT_LENGTHS and _HEX.issuperset(line)


def _read(path: str, limit: int = _LINE_BYTES) -> bytes:
    """The file without its last line end; b"" where it cannot be read."""
    try:
        return read_bytes(path, limit).rstrip(b"\r\n")
    except UnreadableError:
        return b""
