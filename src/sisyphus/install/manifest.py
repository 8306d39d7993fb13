"""`installs.json`: what was written where, and which folders were made for it.

    {"version": 1, "installs": [{"client", "scope", "folder", "sisyphus", "installed_at",
                                 "files": [{"path", "sha256"}], "folders": [PATH],
                                 "edited": {PATH: {"states": [{"sha256", "original"}],
                                                   "added": [TEXT]}}}]}

Whether a file is ours, and untouched, its own mark says; this tells the folders, where to look, and
(`edited.py`) what the files of others were before.
"""

from __future__ import annotations

import os

from sisyphus.install.changes import digest
from sisyphus.paths import INSTALLS, our_home
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
    from sisyphus.install.place import Place


def path() -> str:
    return os.path.join(our_home(), INSTALLS)


def entries() -> list[Json]:
    """What is installed, as far as the file can be read. Needs no lock."""
    return _entries(read_json(path()) or {})


def noted(place: Place) -> Json:
    """What is noted of the installation in a place; {} = nothing.

    Its `folders` are those that can have been made for it: the place's own, some above or below.
    """
    found = next((entry for entry in entries() if _is_of(entry, place)), None)
    if found is None:
        return {}
    folders = [one for one in _list(found, "folders") if isinstance(one, str)]
    related = [one for one in dict.fromkeys(folders) if _is_related(one, place.folder)]
    return {**found, "folders": related}


def folders(client: str) -> list[str]:
    """Where the client was given our files."""
    found = [entry.get("folder") for entry in entries() if entry.get("client") == client]
    return [folder for folder in found if isinstance(folder, str)]


def clients() -> set[str]:
    """The clients that were given our files."""
    return {client for e in entries() if isinstance(client := e.get("client"), str)}


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

    def drop(self, place: Place) -> None:
        """Forgets an installation. Folders that were made for it and are still there go with the
        last one that writes into them."""
        gone = next((e for e in _entries(self._found) if _is_of(e, place)), {})
        made = [
            one for one in _list(gone, "folders") if isinstance(one, str) and os.path.isdir(one)
        ]
        others = [e for e in self._rest() if not _is_of(e, place)]
        if self._was_there:
            self._save([_heir(e, place, made) for e in others])

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
    return [{"path": path, "sha256": digest(data)} for path, data in files.items()]


def _entries(value: Json) -> list[Json]:
    return [entry for entry in _list(value, "installs") if isinstance(entry, dict)]


def _list(value: Json, key: str) -> list[object]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _is_same(entry: object, other: Json) -> bool:
    return isinstance(entry, dict) and _identity(entry) == _identity(other)


def _is_of(entry: object, place: Place) -> bool:
    wanted = [place.client, place.scope, place.folder]
    return isinstance(entry, dict) and _identity(entry) == wanted


def _identity(entry: Json) -> list[object]:
    return [entry.get("client"), entry.get("scope"), entry.get("folder")]


def _heir(entry: object, place: Place, made: list[str]) -> object:
    """The entry, with the folders `made` where it is one of another scope in the same place."""
    if not made or not isinstance(entry, dict):
        return entry
    is_beside = [entry.get("client"), entry.get("folder")] == [place.client, place.folder]
    folders = list(dict.fromkeys([*_list(entry, "folders"), *made]))
    return {**entry, "folders": folders} if is_beside else entry


def _is_related(one: str, folder: str) -> bool:
    inside = f"{one}{os.sep}".startswith(f"{folder}{os.sep}")
    return inside or folder.startswith(f"{one}{os.sep}")
