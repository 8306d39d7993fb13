"""Text of a TOML file with one value more or less; comments and form stay as they are. Pure."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tomlkit import TOMLDocument
    from tomlkit.items import Table

    from sisyphus._types import Json


class TooDifficultError(Exception):
    """The text is written in a way that would not survive the change."""


def with_value(text: str, section: str, name: str, value: Any) -> str:
    """Raises `TooDifficultError`."""

    def insert(found: TOMLDocument) -> None:
        import tomlkit

        if section not in found:
            found[section] = tomlkit.table()
        _put(found[section], name, value)

    def expected(table: Json) -> Json:
        return {**table, section: {**table.get(section, {}), name: value}}

    return _changed(text, insert, expected)


def without(text: str, section: str, name: str) -> str:
    """Without a key that stands there, or with `name` "" the whole section; a section of which the
    key was all goes as well. Raises `TooDifficultError`."""

    def remove(found: TOMLDocument) -> None:
        part: Any = found[section]
        if name:
            del part[name]
        if not name or _is_blank(part):
            del found[section]

    def expected(table: Json) -> Json:
        kept = {other: part for other, part in table.items() if other != section}
        rest = {k: v for k, v in table[section].items() if k != name} if name else {}
        return {**kept, section: rest} if rest else kept

    return _changed(text, remove, expected)


def _changed(
    text: str, change: Callable[[TOMLDocument], None], expected: Callable[[Json], Json]
) -> str:
    """The new text, if it says what it shall and nothing else is changed."""
    import tomlkit  # 30 ms, which other commands need not wait for
    from tomlkit.exceptions import TOMLKitError

    try:
        wanted = _full(expected(tomllib.loads(text)))
        found = tomlkit.parse(text)
        change(found)
        changed = _with_line_ends(tomlkit.dumps(found), text)
        is_as_wanted = _full(tomllib.loads(changed)) == wanted
    except (
        TOMLKitError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise TooDifficultError from error
    if not is_as_wanted:
        raise TooDifficultError
    return changed


def _full(table: Json) -> Json:
    """Without sections that hold nothing."""
    return {name: part for name, part in table.items() if part != {}}


def _put(table: Any, name: str, value: Any) -> None:
    """A new key of a section comes before a comment that a blank line keeps apart from it: that
    one is about the next section."""
    from tomlkit.items import Table

    if name in table or not isinstance(table, Table):
        table[name] = value
        return
    body = table.value.body
    first = _first_apart([item for _, item in body], after=_last_key(table))
    tail = body[first:]
    del body[first:]
    table[name] = value
    body.extend(tail)


def _is_blank(part: object) -> bool:
    from tomlkit.items import Table

    return isinstance(part, Table) and not part and not part.as_string().strip()


def _last_key(table: Table) -> int:
    return max((index for index, (key, _) in enumerate(table.value.body) if key), default=-1)


def _first_apart(items: list[object], *, after: int) -> int:
    from tomlkit.items import Whitespace

    for index in range(after + 1, len(items)):
        item = items[index]
        if isinstance(item, Whitespace) and "\n" in item.s:
            return index
    return len(items)


def _with_line_ends(text: str, before: str) -> str:
    """As the file had them, where it had but one kind."""
    if before.count("\n") == before.count("\r\n") > 0:
        return text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text
