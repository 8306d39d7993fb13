"""Changes one setting in a settings file. Comments, order and everything else stay as they are."""

import os
import re
import tomllib
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from sisyphus.ground import exports, files
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.paths import display, is_inside
from sisyphus.ground.settings import MAX_BYTES
from sisyphus.ground.text import one_line

HEAD = """\
# Settings of sisyphus. `sisyphus config -v` shows them all.
#
# [rules]
# unscoped = "send"
"""


def write(path: str, name: str, value: object, project: str = "") -> None:
    """Sets a setting, with its dotted name, in a file that may not exist yet.

    project: the folder that must contain the file, links resolved; it is then readable by all. "" =
    it is the user's own. Raises `SisyphusError`, and then the file is as it was.
    """
    text = _read(path, project)
    _replace(path, text, _with(path, text, name, value), project)


def remove(path: str, name: str, project: str = "") -> bool:
    """Takes a setting out of a file; tells whether it was there. Raises `SisyphusError`."""
    text = _read(path, project)
    changed = _without(path, text, name)
    _replace(path, text, changed, project)
    return changed != text


def make(path: str, project: str = "") -> None:
    """Makes a file that only has comments, if there is none. Raises `SisyphusError`."""
    if not _read(path, project) and not os.path.exists(path):
        _replace(path, "", HEAD, project)


def _read(path: str, project: str) -> str:
    """Returns the text of a file; "" if it does not exist. A link may name a file that is not
    there yet."""
    try:
        if os.path.exists(path):
            return files.read(path, inside=project, limit=MAX_BYTES)
    except UnreadableError as error:
        raise SisyphusError(f"{_name(path)} cannot be changed: {error}.") from error
    if project and not is_inside(path, project):
        raise SisyphusError(f"{_name(path)} is a link that leaves the project, so it stays.")
    return ""


def _with(path: str, text: str, name: str, value: object) -> str:
    """Returns the text with a setting in it."""
    section, _, key = name.partition(".")
    document = _parse(path, text)
    if section not in document:
        document.add(section, tomlkit.table())
    table = _table(path, document, section)
    if key not in table and isinstance(table, Table) and len(table) and not table.is_super_table():
        last = list(table)[-1]  # what follows it may be a comment on the next section
        table.value._insert_after(last, key, tomlkit.item(value))
    else:
        table[key] = value
    return _check(path, document.as_string(), {name: value})


def _without(path: str, text: str, name: str) -> str:
    """Returns the text without a setting, and without its section if that is empty then."""
    section, _, key = name.partition(".")
    document = _parse(path, text)
    table = _table(path, document, section) if section in document else None
    if table is None or key not in table:
        return text
    del table[key]
    if not table and not table.as_string().strip() and not table.trivia.comment:
        del document[section]
    return _check(path, document.as_string(), {})


def _parse(path: str, text: str) -> tomlkit.TOMLDocument:
    """Raises `SisyphusError` if a text is not valid TOML, with the line."""
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    try:
        tomllib.loads(ended)  # what reads the settings decides
        return tomlkit.parse(ended)
    except (ValueError, RecursionError, TOMLKitError) as error:
        found = re.search(r"line (\d+)", str(error))
        line = found[1] if found else str(len(text.splitlines()))
        raise SisyphusError(
            f"{_name(path)} is not valid TOML, see its line {line}. Nothing was changed. "
            "`sisyphus config --edit` opens your file."
        ) from error


def _table(path: str, document: tomlkit.TOMLDocument, section: str) -> Any:
    """Returns a section: tomlkit has several classes for it."""
    table = document[section]
    if not hasattr(table, "keys"):
        raise SisyphusError(
            f"{_name(path)}: {section} is not a section there. Write [{section}], then its "
            "settings below."
        )
    return table


def _check(path: str, text: str, expected: dict[str, object]) -> str:
    """Returns a text that `settings` will read as we mean it. Raises `SisyphusError`."""
    sections = tomllib.loads(text)
    for name, value in expected.items():
        section, _, key = name.partition(".")
        assert sections[section][key] == value, f"{name} in {path}"
    if len(text.encode()) > MAX_BYTES:
        raise SisyphusError(
            f"{_name(path)} would have over {MAX_BYTES:,} bytes and be ignored. Nothing was "
            "changed. Take something out of it first."
        )
    return text


def _replace(path: str, old: str, new: str, project: str) -> None:
    """Writes a file whole; a link to it stays."""
    if new == old:
        return
    try:
        exports.replace(os.path.realpath(path), new.encode(), is_shared=bool(project))
    except OSError as error:
        why = error.strerror or str(error)
        raise SisyphusError(f"{_name(path)} cannot be written: {why}.") from error


def _name(path: str) -> str:
    return one_line(display(path, ""))
