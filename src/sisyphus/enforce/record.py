"""What is kept of a project's enforcement, tolerant of whatever the file holds. Pure.

Moments are milliseconds since the epoch, 0 = never. The names in the file are those of the design
that it is built after; each session has its own, and those of the project sum them up.
"""

from __future__ import annotations

from sisyphus.numbers import MOST
from sisyphus.paths import is_safe_id
from sisyphus.ralph.memory import moments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json

OFF, CONTINUOUS, STOPPED = "OFF", "CONTINUOUS", "STOPPED"
RECOVERING, EXHAUSTED = "RECOVERING", "EXHAUSTED"

SESSIONS = 200
"""Of a project that are remembered."""

_TASKS = 100


class Entry:
    """One session.

    `iteration`: how often it was told to go on. `pending`: the last time is not judged yet.
    `last_prompt`: when the user spoke; `last_stop`: when the model last came to rest, and `said`
    tells what it said then from anything else. `held`: why nothing is enforced until something
    happens, "" = it may be. `tasks`: when a background task
    first excused a Stop, in epoch seconds.
    """

    __slots__ = (
        "_raw", "failure_count", "has_ended", "held", "iteration", "last_activity",
        "last_enforcement", "last_prompt", "last_stop", "pending", "said", "stop_requested",
        "tasks",
    )  # fmt: skip

    def __init__(self, raw: Json) -> None:
        self._raw = raw
        self.iteration = number(raw.get("iteration"))
        self.last_activity = number(raw.get("lastActivity"))
        self.last_enforcement = number(raw.get("lastEnforcement"))
        self.failure_count = number(raw.get("failureCount"))
        self.stop_requested = raw.get("stopRequested") is True
        self.pending = raw.get("pending") is True
        self.last_prompt = number(raw.get("lastPrompt"))
        self.last_stop = number(raw.get("lastStop"))
        self.said = number(raw.get("said"))
        self.held = text(raw.get("held"))
        self.has_ended = raw.get("ended") is True
        self.tasks = dict(list(moments(raw.get("tasks")).items())[:_TASKS])

    def begin_anew(self) -> None:
        """The user switches enforcement on: what was counted is over. A cooldown is not."""
        self.iteration = self.failure_count = 0
        self.stop_requested = self.pending = False

    def keys(self, status: str) -> Json:
        """The six of the design."""
        return {
            "iteration": self.iteration,
            "lastActivity": self.last_activity,
            "lastEnforcement": self.last_enforcement,
            "failureCount": self.failure_count,
            "stopRequested": self.stop_requested,
            "status": status,
        }

    def as_json(self, status: str) -> Json:
        return {
            **self._raw,
            **self.keys(status),
            "pending": self.pending,
            "lastPrompt": self.last_prompt,
            "lastStop": self.last_stop,
            "said": self.said,
            "held": self.held,
            "ended": self.has_ended,
            "tasks": self.tasks,
        }


class Record:
    """One project. `iteration`: how often any of its sessions was told to go on since `since`, an
    ISO time. `stops_all`: the user stopped the sessions that nothing was known of, too."""

    __slots__ = ("_raw", "is_on", "iteration", "sessions", "since", "stops_all")

    def __init__(self, raw: Json) -> None:
        self._raw = raw
        self.is_on = raw.get("on") is True
        self.since = text(raw.get("since"))
        self.iteration = number(raw.get("iteration"))
        self.stops_all = raw.get("stopsAll") is True
        found = raw.get("sessions")
        sessions = found.items() if isinstance(found, dict) else ()
        known = ((s, entry) for s, entry in sessions if isinstance(entry, dict) and is_safe_id(s))
        self.sessions = {session: Entry(entry) for session, entry in known}

    def entry(self, session: str) -> Entry:
        """What is known of the session; a new one was stopped where all were."""
        if session not in self.sessions:
            self.sessions[session] = Entry({"stopRequested": self.stops_all})
        return self.sessions[session]

    def begin(self, since: str) -> None:
        self.is_on, self.since = True, since
        self.iteration, self.stops_all = 0, False
        for entry in self.sessions.values():
            entry.begin_anew()

    @property
    def latest(self) -> list[str]:
        """The sessions, the one that was last at work first."""
        return sorted(self.sessions, key=lambda s: self.sessions[s].last_activity, reverse=True)

    def keys(self, status: Callable[[Entry], str]) -> Json:
        """The six of the design, for the whole project; `status` is that of a session."""
        entries = [self.sessions[session] for session in self.latest]
        enforced = max(entries, key=lambda entry: entry.last_enforcement, default=Entry({}))
        meant = [entry for entry in entries if not entry.has_ended] or entries
        is_stopped = all(entry.stop_requested for entry in meant) if meant else self.stops_all
        now = status(meant[0]) if meant else CONTINUOUS
        return {
            "iteration": self.iteration,
            "lastActivity": entries[0].last_activity if entries else 0,
            "lastEnforcement": enforced.last_enforcement,
            "failureCount": enforced.failure_count,
            "stopRequested": is_stopped,
            "status": OFF if not self.is_on else STOPPED if is_stopped else now,
        }

    def as_json(self, status: Callable[[Entry], str]) -> Json:
        kept = self.latest[:SESSIONS]
        return {
            **self._raw,
            **self.keys(status),
            "on": self.is_on,
            "since": self.since,
            "stopsAll": self.stops_all,
            "sessions": {s: self.sessions[s].as_json(status(self.sessions[s])) for s in kept},
        }


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value < MOST else 0
