"""How enforcement stands, and what it did, for people."""

from __future__ import annotations

from sisyphus.text import one_line
from sisyphus.times import duration, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

OPEN, SHUT = "✓", "✗"
SESSIONS = 10
"""Those that were last at work."""

AT_WORK = "it is at work, or has not stopped since it was"
NOTHING = "Nothing was enforced here yet."

_WORDS = {
    "OFF": "off",
    "CONTINUOUS": "on",
    "STOPPED": "stopped until the user's next prompt",
    "RECOVERING": "resting after too many failures",
    "EXHAUSTED": "at its limit; `sisyphus enforce on` begins anew",
}
_LAYERS = {"1": "claim", "2": "idle"}
_GATE_WIDTH, _WHAT_WIDTH, _CHARACTERS = 12, 10, 160
_SHORT, _SESSION_WIDTH = 8, 36
"""Of a session's id, where that tells it from the others; a whole one."""


def status_text(found: Json, now: float) -> str:
    """`now` in epoch seconds."""
    if not found["on"]:
        return "Continuous enforcement is off here. `sisyphus enforce on` begins it."
    state = found["state"]
    lines = [
        f"Continuous enforcement: {_WORDS[found['status']]} ({found['status']})",
        f"Enforcements: {state['iteration']}, the last one {_ago(state['lastEnforcement'], now)}",
        f"Failures in a row: {state['failureCount']}",
        f"Last activity: {_ago(state['lastActivity'], now)}",
    ]
    alive = [session for session in found["sessions"] if not session["ended"]]
    for session in alive[:SESSIONS]:
        lines += ["", *_session(session, now)]
    if len(alive) > SESSIONS:
        lines += ["", f"{len(alive) - SESSIONS} more sessions"]
    return "\n".join(lines)


def _session(session: Json, now: float) -> list[str]:
    gates = [
        f"  {OPEN if gate['passed'] else SHUT} {gate['gate']:<{_GATE_WIDTH}}{gate['why']}"
        for gate in session["gates"]
    ]
    return [f"Session {session['session_id']} ({session['status']})", *gates, _next(session, now)]


def _next(session: Json, now: float) -> str:
    if session["held"]:
        return f"  Next: not by itself: {one_line(session['held'], _CHARACTERS)}"
    if not session["resting"]:
        return f"  Next: not before it stops: {AT_WORK}"
    if session["due"] is None:
        return "  Next: not by itself"
    left = _seconds(session["due"]) - now
    return f"  Next: {_in(left)}, if the session stays idle"


def _in(seconds: float) -> str:
    return f"in {duration(seconds)}" if seconds > 0 else "now"


def _ago(milliseconds: int, now: float) -> str:
    return f"{duration(now - milliseconds / 1_000)} ago" if milliseconds else "never"


def log_text(rows: Sequence[Json]) -> str:
    """One line an entry, oldest first."""
    sessions = {str(row.get("session_id", "")) for row in rows}
    is_short_enough = len({session[:_SHORT] for session in sessions}) == len(sessions)
    width = _SHORT if is_short_enough else _SESSION_WIDTH
    return "\n".join(_line(row, width) for row in rows) or NOTHING


def _line(row: Json, width: int) -> str:
    at = local(_seconds(row.get("at")), "%Y-%m-%d %H:%M:%S") or "?"
    what = one_line(str(row.get("what", "?")), 20)
    layer = _LAYERS.get(str(row.get("layer")), "")
    session = one_line(str(row.get("session_id", ""))[:width])
    why = one_line(str(row.get("why", "")), _CHARACTERS)
    return f"{at}  {session:<{width}}  {what:<{_WHAT_WIDTH}} {layer:<5}  {why}".rstrip()


def _seconds(at: object) -> float:
    """Of an ISO time, in epoch seconds; 0 for whatever is none."""
    from sisyphus.times import epoch

    return epoch(at) if isinstance(at, str) else 0
