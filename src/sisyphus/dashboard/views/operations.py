"""The document of the API as people read it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sisyphus._types import Json

_SUCCESS = "2"
"""How the status begins."""


def by_tag(document: Json, common: Collection[str] = ()) -> dict[str, list[Json]]:
    """`method`, `path`, `told`, `parameters` (`name`, `place`, `range`, `meaning`) and `answers`
    (status and codes) of each operation; `common`: codes that need no mention."""
    groups: dict[str, list[Json]] = {}
    for method, path, operation in operations(document):
        row = {
            "method": method,
            "path": path,
            "told": _plain(operation.get("description", "")),
            "parameters": [_parameter(one) for one in operation.get("parameters", ())],
            "answers": [one for one in _answers(operation) if one[1] not in common],
        }
        for tag in operation.get("tags", ("other",)):
            groups.setdefault(tag, []).append(row)
    return groups


def paragraphs(document: Json) -> list[str]:
    """What the document says of the API as a whole."""
    return [_plain(part) for part in document["info"]["description"].split("\n\n")]


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Method, path and description of each operation, in the order of the document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _answers(operation: Json) -> list[tuple[str, str]]:
    return [
        (status, _plain(answer["description"]))
        for status, answer in sorted(operation["responses"].items())
        if not status.startswith(_SUCCESS)
    ]


def _parameter(one: Json) -> Json:
    return {
        "name": one["name"],
        "place": one["in"],
        "range": _values(one["schema"]),
        "meaning": _plain(one.get("description", "")),
    }


def _values(schema: Json) -> str:
    """Which ones it may have, and which it has if it is not given."""
    default = schema.get("default")
    found = [
        _range(_typed(schema)),
        f"else {_spelled(default)}" if default not in (None, "") else "",
    ]
    return ", ".join(filter(None, found))


def _spelled(value: object) -> str:
    """As a query spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _typed(schema: Json) -> Json:
    """Without the null that stands beside the values."""
    others = (one for one in schema.get("anyOf", ()) if one.get("type") != "null")
    typed: Json = next(others, schema)
    return typed


def _range(schema: Json) -> str:
    if "enum" in schema:
        return " | ".join(filter(None, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,}"
    if "maxLength" in schema:
        return f"up to {schema['maxLength']} characters"
    return {"boolean": "true | false"}.get(schema.get("type", ""), "")


def _plain(text: str) -> str:
    """Without the marks of Markdown, on one line."""
    return " ".join(text.replace("`", "").split())
