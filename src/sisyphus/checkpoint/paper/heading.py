"""What a handoff is about: the list of facts at its top. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.paper.facts import task
from sisyphus.checkpoint.paper.marks import code, text
from sisyphus.checkpoint.paper.situation import BY_BREAKER, BY_COMPACTION, BY_CUT, BY_LEVEL
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.checkpoint.paper.situation import Situation

_COMMIT = 12


def render(s: Situation) -> str:
    rows = ((name, said) for name, said in _facts(s) if said)
    return "\n".join(f"- **{name}**: {said}" for name, said in rows)


def _facts(s: Situation) -> Iterator[tuple[str, str]]:
    yield "Task", text(task(s))
    yield "Loop", _loop(s.loop)
    yield "Items", _items(s)
    yield "Context", _context(s)
    yield "Occasion", _occasion(s)
    yield "Session", code(s.session_id)
    yield "Project", code(s.root)
    yield ("Commit", _commit(s)) if s.head else ("Branch", code(s.branch))
    yield "Session began", text(s.work.began_at)
    yield "Written", iso(s.now)


def _loop(loop: Json | None) -> str:
    if not loop:
        return ""
    iteration, most = loop.get("iteration"), loop.get("max_iterations")
    limit = f" of {most}" if isinstance(most, int) and most > 0 else ""
    counted = f"iteration {iteration}{limit}" if isinstance(iteration, int) else ""
    promise = loop.get("completion_promise")
    ends = f"it ends with the promise {code(promise)}" if isinstance(promise, str) else ""
    return ", ".join(filter(None, (code(str(loop.get("loop_id") or "")), counted, ends)))


def _items(s: Situation) -> str:
    if s.items_left is None or not s.items_total:
        return ""
    return f"{s.items_left} of {s.items_total} are left"


def _context(s: Situation) -> str:
    percent = "" if s.percent is None else f"{s.percent}% full{f' ({s.level})' if s.level else ''}"
    counted = f"{s.tokens:,} of {s.window:,} tokens" if s.tokens and s.window else ""
    return ", ".join(filter(None, (percent, counted)))


def _occasion(s: Situation) -> str:
    if s.occasion == BY_BREAKER:
        opened = "the circuit breaker opened"
        why = s.reason.removeprefix(f"{opened}: ")
        return f"{opened}: {text(why)}" if why else opened
    level = f"the context reached level {text(s.level)}" if s.level else "the size of the context"
    words = {
        BY_LEVEL: level,
        BY_COMPACTION: "the client compacts the context",
        BY_CUT: f"it was cut short: {text(s.reason)}" if s.reason else "it was cut short",
    }
    return words.get(s.occasion, "a checkpoint was asked for")


def _commit(s: Situation) -> str:
    at = code(s.head[:_COMMIT])
    return f"{at} on {code(s.branch)}" if s.branch else at
