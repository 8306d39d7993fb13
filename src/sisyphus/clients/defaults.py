"""What a module of a client names where the client has nothing of a kind, see `clients.base`. Each
takes any arguments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def no(*_: object, **__: object) -> bool:
    return False


def unknown(*_: object, **__: object) -> None:
    return None


def no_text(*_: object, **__: object) -> str:
    return ""


def no_mapping(*_: object, **__: object) -> dict[Any, Any]:
    return {}


def none_of_it(*_: object, **__: object) -> Iterator[Any]:
    yield from ()
