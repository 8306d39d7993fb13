"""How entries and their files are called."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.doctor.case import Case, Hook

    Key = tuple[str, str]


def events(keys: Iterable[Key]) -> str:
    return ", ".join(dict.fromkeys(map(event, keys)))


def event(key: Key) -> str:
    """In the client's words, with ours where one event has two entries."""
    named, ours = key
    return f"{named} ({ours})" if ours == "idle" else named


def places(case: Case, hooks: Iterable[Hook]) -> str:
    return " and ".join(dict.fromkeys(place(case, hook) for hook in hooks))


def place(case: Case, hook: Hook) -> str:
    return f"{case.shown(hook.source.path)} ({hook.source.kind})"
