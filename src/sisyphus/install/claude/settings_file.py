"""One settings file of Claude Code, as it is, and what keeps it from being edited for sure."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from functools import cached_property

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.install import folders, found
from sisyphus.install.claude import place as where
from sisyphus.install.found import Found
from sisyphus.install.json_text import BOM, JsonTextError, parse
from sisyphus.install.place import USER
from sisyphus.paths import client_home, is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.place import Place

EMPTY = "{}\n"
_AGAIN = "then run this again"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class SettingsFile:
    """`named` is where the client looks, `path` the file itself where a link leads to it.

    `unread`: why it cannot be edited, whole sentences; its text is then unknown ("" = it can).
    """

    named: str
    path: str
    before: Found
    text: str = EMPTY
    unread: str = ""

    @cached_property
    def values(self) -> Json:
        value: Json = parse(self.text).value
        return value

    @property
    def is_there(self) -> bool:
        return self.before.kind != found.ABSENT

    def check_read(self) -> None:
        """Raises `SisyphusError` where nobody can tell what of ours is there."""
        if self.unread:
            raise SisyphusError(self.unread)

    def check_writable(self) -> None:
        """Raises `SisyphusError`."""
        if self.is_there and not self.before.mode & stat.S_IWUSR:
            raise SisyphusError(
                f"{self.named} is read-only. Make it writable (chmod u+w), {_AGAIN}."
            )


def read(place: Place) -> SettingsFile:
    """The settings file of a place; nothing is there where it is absent. Raises `SisyphusError`
    where the place is none."""
    named = where.settings(place)
    if place.scope != USER and os.path.realpath(place.folder) == os.path.realpath(client_home()):
        raise SisyphusError(
            f"{place.folder} holds your own settings, no project's. Use --scope user."
        )
    folders.check(place.folder, place.base)
    if not os.path.lexists(named):
        return SettingsFile(named, named, Found(found.ABSENT))
    try:
        return _found(named, place.base)
    except SisyphusError as error:
        return SettingsFile(named, named, Found(found.ABSENT), unread=str(error))


def _found(named: str, base: str) -> SettingsFile:
    path = _behind_links(named, base)
    info = os.stat(path)
    if not stat.S_ISREG(info.st_mode):
        kind = "a folder" if stat.S_ISDIR(info.st_mode) else "no regular file"
        raise SisyphusError(f"{named} is {kind}. Move it away, {_AGAIN}.")
    data = _read(named, path)
    before = Found(found.SHARED, "", data, stat.S_IMODE(info.st_mode))
    return SettingsFile(named, path, before, _checked(named, data))


def _behind_links(named: str, base: str) -> str:
    path = os.path.realpath(named) if os.path.islink(named) else named
    if not os.path.exists(path):
        raise SisyphusError(f"{named} is a link to {path}, which is not there. Remove the link, or "
                            f"make that file, {_AGAIN}.")  # fmt: skip
    if not is_inside(path, base):
        raise SisyphusError(f"{named} leads to {path}, which is not in {base}. Put a file in the "
                            f"place of that link, {_AGAIN}.")  # fmt: skip
    return path


def _read(named: str, path: str) -> bytes:
    try:
        return read_bytes(path, DOCUMENT_BYTES)
    except UnreadableError as error:
        why = str(error).removeprefix(f"{path}: ")
        raise SisyphusError(f"{named} is not read: {why}. Mend that, {_AGAIN}.") from error


def _checked(named: str, data: bytes) -> str:
    """The text in `data`, `{}` where nothing is in it. Raises `SisyphusError`."""
    text = text_of(data, named)
    try:
        root = parse(text)
    except JsonTextError as error:
        raise SisyphusError(f"{named}, {error}. Mend it there, {_AGAIN}.") from error
    if root.kind != "object":
        raise SisyphusError(f"{named} holds a {root.kind}, and settings are an object. Mend it, "
                            f"{_AGAIN}.")  # fmt: skip
    return text


def text_of(data: bytes | None, named: str = "") -> str:
    if data is None:
        return EMPTY
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        what = "UTF-16" if data.startswith(_UTF_16) else f"not UTF-8 (byte {error.start + 1})"
        raise SisyphusError(f"{named} is {what}. Save it as UTF-8, {_AGAIN}.") from error
    return text if text.removeprefix(BOM).strip() else EMPTY
