"""What a line of the client's stream holds, whatever its shape. Pure."""

from __future__ import annotations

from sisyphus.state.jsonl import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus._types import Json

_NO_COUNT = 10**12
_TOKENS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


class Retry:
    """The client asks once more: try number `attempt`, in `delay` seconds. `status`: of the answer
    that failed, 0 where none came; `error`: the client's name for it."""

    __slots__ = ("attempt", "delay", "error", "status")

    def __init__(self, attempt: int, status: int, delay: float, error: str = "") -> None:
        self.attempt = attempt
        self.status = status
        self.delay = delay
        self.error = error


def events_in(line: bytes) -> list[Json]:
    """The objects in a line: one, those of a list, or none."""
    start = line.lstrip()[:1]
    if start == b"{":
        event = parse(line)
        return [] if event is None else [event]
    if start != b"[":
        return []
    found = (parse(b'{"list": %b}' % line) or {}).get("list")
    return [event for event in found if isinstance(event, dict)] if isinstance(found, list) else []


def retry_in(event: Json) -> Retry:
    delay = count(event.get("retry_delay_ms")) / 1000
    status, error = count(event.get("error_status")), text(event.get("error"))
    return Retry(count(event.get("attempt")), status, delay, error)


def tokens_of(models: Json) -> int:
    """What a `result` says that all models used, those of subagents too."""
    return sum(count(table(used).get(name)) for used in models.values() for name in _TOKENS)


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    return [one for one in items(value) if isinstance(one, str)]


def count(value: object) -> int:
    """A number above 0 that can be one of tokens, milliseconds or seconds; 0 for all else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 < value < _NO_COUNT else 0


def table(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def keep(kept: list[Any], value: object, most: int) -> None:
    """Appends, and forgets the oldest."""
    kept.append(value)
    del kept[:-most]


def remember(known: dict[str, Any], key: str, value: object, most: int) -> None:
    """Sets, and forgets the oldest."""
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
