"""`installs.json`: what was written where, and which folders were made for it.

    {"version": 1, "installs": [{"client", "scope", "folder", "sisyphus", "installed_at",
                                 "files": [{"path", "sha256"}], "folders": [PATH]}]}

Whether a file is ours, and untouched, its own mark says; this tells the folders, and where to look.
"""

from __future__ import annotations

import os

from sisyphus.paths import our_home
from sisyphus.state.files import (
    Removal,
    check_version,
    ensure_folder,
    load_json,
    read_json,
    set_aside,
    write_json,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sisyphus._types import Json


def path() -> str:
    return os.path.join(our_home(), "installs.json")


def entries() -> list[Json]:
    """What is installed, as far as the file can be read. Needs no lock."""
    return _entries(read_json(path()) or {})


def made(client: str, folder: str) -> list[str]:
    """The folders that were made for the installation in `folder`: it, or some above or below."""
    found = [entry for entry in entries() if _is_of(entry, client, folder)]
    folders = [one for entry in found for one in _list(entry, "folders") if isinstance(one, str)]
    return [one for one in dict.fromkeys(folders) if _is_related(one, folder)]


def folders(client: str) -> list[str]:
    """Where the client was given our files."""
    found = [entry.get("folder") for entry in entries() if entry.get("client") == client]
    return [folder for folder in found if isinstance(folder, str)]


class Book:
    """The file as it was found, under its lock; `save` writes it and `restore` takes that back."""

    __slots__ = ("_found", "_was_there")

    def __init__(self) -> None:
        """Raises `NewerVersionError` and `OSError`. What cannot be read is set aside."""
        self._found = load_json(path())
        check_version(path(), self._found)
        if not isinstance(self._found.get("installs", []), list):
            set_aside(path())
            self._found = {}
        self._was_there = os.path.exists(path())

    def put(self, entry: Json) -> None:
        """Notes an installation, in the place of an older one in its folder."""
        older = next((e for e in _entries(self._found) if _is_same(e, entry)), {})
        rows = {row.get("path"): row for row in _list(older, "files") if isinstance(row, dict)}
        files = [{**rows.get(row["path"], {}), **row} for row in entry["files"]]
        others = [e for e in self._rest() if not _is_same(e, entry)]
        self._save([*others, {**older, **entry, "files": files}])

    def drop(self, client: str, folder: str) -> None:
        others = [e for e in self._rest() if not _is_of(e, client, folder)]
        if self._was_there:
            self._save(others)

    def restore(self) -> None:
        if self._was_there:
            write_json(path(), self._found, indent=2)
        elif os.path.lexists(path()):
            Removal(path()).commit()

    def _rest(self) -> list[object]:
        """Everything in the list, what this version does not know included."""
        found: list[object] = self._found.get("installs", [])
        return found

    def _save(self, installs: list[object]) -> None:
        ensure_folder(our_home())
        write_json(path(), {**self._found, "installs": installs}, indent=2)


def digests(files: Mapping[str, bytes]) -> list[Json]:
    import hashlib

    return [{"path": p, "sha256": hashlib.sha256(data).hexdigest()} for p, data in files.items()]


def _entries(value: Json) -> list[Json]:
    return [entry for entry in _list(value, "installs") if isinstance(entry, dict)]


def _list(value: Json, key: str) -> list[object]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _is_same(entry: object, other: Json) -> bool:
    return _is_of(entry, other["client"], other["folder"])


def _is_of(entry: object, client: str, folder: str) -> bool:
    if not isinstance(entry, dict):
        return False
    return entry.get("client") == client and entry.get("folder") == folder


def _is_related(one: str, folder: str) -> bool:
    inside = f"{one}{os.sep}".startswith(f"{folder}{os.sep}")
    return inside or folder.startswith(f"{one}{os.sep}")
