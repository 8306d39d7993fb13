"""What the journal of one session comes to. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus._types import Json

_COMMAND, _IDLE, _PROMPT = "command", "idle", "user-prompt-submit"
"""Lines that no hook wrote; waits beside a session, for which nobody waits; and where a block is an
answer to the user."""

_MOST_MS, _MOST = 1e9, 1e15
_TEXTS = ("project", "client", "run")
_NUMBERS = ("began", "ended", "hooks", "ms", "sent", "blocked")


class Summary:
    """One session. `began`, `ended`: epoch seconds of its first and last line, 0 = unknown; `ms`:
    milliseconds of its hooks together; `times`: milliseconds, two digits of them, -> how many hooks
    took so long; `sent`: UTF-16 units; `run`: id of the fresh-context run that it belongs to."""

    __slots__ = (
        "began", "blocked", "client", "ended", "hooks", "ms", "project", "run", "sent", "session",
        "times",
    )  # fmt: skip

    def __init__(self, session: str, known: Json | None = None) -> None:
        found = known or {}
        self.session = session
        self.project, self.client, self.run = (_text(found.get(name)) for name in _TEXTS)
        self.began, self.ended = _number(found.get("began")), _number(found.get("ended"))
        self.hooks, self.sent = int(_number(found.get("hooks"))), int(_number(found.get("sent")))
        self.blocked = int(_number(found.get("blocked")))
        self.ms = _number(found.get("ms"))
        self.times: dict[str, int] = {}
        times = found.get("times")
        for took, count in times.items() if isinstance(times, dict) else ():
            if _is_number(took) and type(count) is int:
                self.times[took] = count

    def take(self, entry: Json) -> None:
        """One more line, whatever it holds."""
        at = _number(entry.get("at"))
        self.began = min(self.began or at, at or self.began)
        self.ended = max(self.ended, at)
        for name in _TEXTS:
            setattr(self, name, getattr(self, name) or _text(entry.get(name)))
        event = entry.get("event")
        if event == _COMMAND:
            return
        self.hooks += 1
        self.sent += int(_number(entry.get("sent")))
        self.blocked += entry.get("blocked") is True and event != _PROMPT
        if event != _IDLE:
            self._took(_number(entry.get("ms")))

    def _took(self, ms: float) -> None:
        if 0 < ms < _MOST_MS:
            self.ms += ms
            key = f"{ms:.2g}"
            self.times[key] = self.times.get(key, 0) + 1

    def as_json(self) -> Json:
        found = {name: getattr(self, name) for name in (*_TEXTS, *_NUMBERS)}
        return {**found, "ms": round(self.ms, 1), "times": self.times}


def median(times: Iterable[Mapping[str, int]]) -> float | None:
    """Of all times together, two digits of it; None = there is none."""
    counts: dict[float, int] = {}
    for one in times:
        for key, count in one.items():
            counts[float(key)] = counts.get(float(key), 0) + count
    half, seen = sum(counts.values()) / 2, 0
    for took in sorted(counts):
        seen += counts[took]
        if seen >= half:
            return took
    return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0
    return value if 0 <= value < _MOST else 0


def _is_number(text: str) -> bool:
    try:
        return 0 < float(text) < _MOST_MS
    except ValueError:
        return False
