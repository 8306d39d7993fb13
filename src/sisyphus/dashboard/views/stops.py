"""The Stops of a loop: what was decided at each, and what it took to get there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.arbiter.situation import ALLOW, BLOCK, END, PAUSE
from sisyphus.numbers import count, percent
from sisyphus.ralph import iterations
from sisyphus.text import one_line
from sisyphus.times import epoch

if TYPE_CHECKING:
    from sisyphus._types import Json

_WORDS = {
    BLOCK: "went on",
    END: "ended",
    PAUSE: "paused",
    ALLOW: "was let go",
}
_WHY_CHARACTERS = 2_000


def of_loop(ours: str, loop_id: str, since: float = 0) -> list[Json]:
    """As `stop` has them, the oldest first; `since`: without those that came before that moment,
    which are an older loop's of the same id."""
    found = [stop(row) for row in iterations.rows(ours, loop_id)]
    return [row for row in found if not row["at"] or row["at"] >= since]


def stop(row: Json) -> Json:
    """A row as it was noted, whatever it holds: a value that makes no sense is null. `at`: its end
    in epoch seconds; `words`: the decision as people say it."""
    began, ended = (_moment(row.get(name)) for name in ("started_at", "ended_at"))
    decision = one_line(str(row.get("decision") or ""), 40)
    return {
        "iteration": count(row.get("iteration")),
        "began": began or None,
        "at": ended or None,
        "seconds": max(ended - began, 0) if began and ended else None,
        "decision": decision,
        "words": _WORDS.get(decision, decision or "unknown"),
        "why": one_line(str(row.get("why") or ""), _WHY_CHARACTERS),
        "tools": count(row.get("tools")),
        "edits": count(row.get("edits")),
        "tokens": count(row.get("tokens")),
        "context": percent(row.get("context")),
    }


def _moment(value: object) -> float:
    return epoch(value) if isinstance(value, str) else 0
