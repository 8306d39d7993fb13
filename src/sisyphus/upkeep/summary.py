"""What the journal of one session comes to. Pure."""

from __future__ import annotations

from sisyphus.upkeep.cost import Cost, clean, number
from sisyphus.upkeep.sent import Texts, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_EVENTS, _EVENT_CHARACTERS = 40, 40

_COMMAND, _IDLE, _PROMPT = "command", "idle", "user-prompt-submit"
"""Lines that no hook wrote; waits beside a session, for which nobody waits; and where a block is an
answer to the user."""

_NAMES = ("project", "client", "run")
_NUMBERS = ("began", "ended", "hooks", "ms", "sent", "blocked")


class Summary:
    """One session. `began`, `ended`: epoch seconds of its first and last line, 0 = unknown; `ms`:
    milliseconds of its hooks together; `times`: theirs; `events`: event -> what its hooks cost;
    `sent`: UTF-16 units; `texts`: what was sent (`rules .claude/rules/a.md`) -> how often, and the
    last time in epoch seconds; `run`: id of the fresh-context run that it belongs to."""

    __slots__ = (
        "_events", "_kept", "_texts", "began", "blocked", "client", "ended", "hooks", "ms",
        "project", "run", "sent", "session", "times",
    )  # fmt: skip

    def __init__(self, session: str, known: Json | None = None) -> None:
        found = known or {}
        self.session = session
        self.project, self.client, self.run = (_text(found.get(name)) for name in _NAMES)
        self.began, self.ended = number(found.get("began")), number(found.get("ended"))
        self.hooks, self.sent = int(number(found.get("hooks"))), int(number(found.get("sent")))
        self.blocked = int(number(found.get("blocked")))
        self.ms = number(found.get("ms"))
        self.times = clean(found.get("times"))
        self._kept = found
        self._events: dict[str, Cost] | None = None
        self._texts: Texts | None = None

    @property
    def events(self) -> dict[str, Cost]:
        """Made of what was kept when they are asked for: of most sessions nobody asks."""
        if self._events is None:
            kept = _items(self._kept.get("events"))[:_EVENTS]
            self._events = {event[:_EVENT_CHARACTERS]: Cost(cost) for event, cost in kept}
        return self._events

    @property
    def texts(self) -> dict[str, tuple[int, float]]:
        return self._sent().found

    @property
    def forgets_texts(self) -> bool:
        """Whether it may have been sent more of them than are remembered."""
        return self._sent().is_full

    def take(self, entry: Json) -> None:
        """One more line, whatever it holds."""
        at = number(entry.get("at"))
        self.began = min(self.began or at, at or self.began)
        self.ended = max(self.ended, at)
        for name in _NAMES:
            if name in entry:
                setattr(self, name, getattr(self, name) or _text(entry[name]))
        event = entry.get("event")
        if event == _COMMAND:
            return
        self._hook(_text(event), entry)
        if sent := int(number(entry.get("sent"))):
            self.sent += sent
            for text in texts(entry):
                self._sent().add(text, 1, at)

    def _hook(self, event: str, entry: Json) -> None:
        blocked = entry.get("blocked") is True and event != _PROMPT
        ms = 0 if event == _IDLE else number(entry.get("ms"))
        self.hooks += 1
        self.blocked += blocked
        events = self.events
        took = (events.get(event) or _cost(events, event)).add(ms, blocked=blocked)
        if took:
            self.ms += ms
            self.times[took] = self.times.get(took, 0) + 1

    def _sent(self) -> Texts:
        if self._texts is None:
            self._texts = Texts(self._kept.get("texts"))
        return self._texts

    def as_json(self) -> Json:
        found = {name: getattr(self, name) for name in (*_NAMES, *_NUMBERS)}
        events = {event: cost.as_json() for event, cost in self.events.items()}
        texts = {text: list(times) for text, times in self.texts.items()}
        sums = {"ms": round(self.ms, 1), "times": self.times}
        return {**found, **sums, "events": events, "texts": texts}


def _cost(events: dict[str, Cost], event: str) -> Cost:
    """Of an event that may be new, and one too many."""
    name = event[:_EVENT_CHARACTERS]
    if name not in events and len(events) >= _EVENTS - 1:
        name = ""
    return events.setdefault(name, Cost())


def _items(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
