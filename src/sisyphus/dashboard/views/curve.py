"""The curve of a session's context, in percent of what its client could use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.checkpoint import gather
from sisyphus.checkpoint.outlook.table import ContextFacts, as_json
from sisyphus.checkpoint.size import fullness
from sisyphus.checkpoint.size.gauge import Reading
from sisyphus.checkpoint.size.points import thin

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.checkpoint.size.fullness import Fullness
    from sisyphus.checkpoint.size.points import Compaction, Points
    from sisyphus.workspace import Workspace

MOST_MODELS = 50


class Curve:
    """`seen`: what the transcript tells; `known`: what the store has of the session; `full`: how
    full it is now, 0 tokens where that is not known."""

    def __init__(self, space: Workspace, seen: Points, known: Json, full: Fullness) -> None:
        self._space = space
        self._seen = seen
        self._known = known
        self._full = full
        self._last = seen.points[-1].model if seen.points else ""
        self._most: dict[str, int] = {}
        for one in seen.points:
            self._most[one.model] = max(self._most.get(one.model, 0), one.tokens)
        self._windows: dict[str, int] = {}

    def as_json(self) -> Json:
        """`points`: `at` (epoch seconds), `tokens` and `percent` of the answers, oldest first, of
        which a chart needs no more; `answers`: how many there were; `is_cut`: there were earlier
        ones, which were not read; `compactions`: the same before each; `thresholds` l1, l2 and l3
        in percent; `ends_at`: percent at which the client compacts by itself, null = at none;
        `recommendation` and `forecast` as `sisyphus ralph context --forecast` tells them, the item
        in hand aside."""
        seen = self._seen
        drawn = thin(seen.points)
        return {
            "points": [_told(p.at, p.tokens, self._window(p.model)) for p in drawn],
            "answers": len(seen.points),
            "is_cut": seen.is_cut,
            "compactions": [self._cut(one) for one in seen.compactions],
            **self._limits(),
            **self._outlook(),
        }

    def _window(self, model: str) -> int:
        """Beyond so many models that of the session now: a transcript that names more was made
        up."""
        if model not in self._windows:
            is_one_more = len(self._windows) >= MOST_MODELS
            self._windows[model] = (self._full if is_one_more else self._by(model)).window
        return self._windows[model]

    def _by(self, model: str) -> Fullness:
        """Weighed with the most that this model's answers found. What Claude Code reported of its
        window is of the model that answered last."""
        is_last = model == self._last or bool(self._known.get("client"))
        known = self._known if is_last else {**self._known, "window": 0}
        return fullness.of_reading(self._space, Reading(self._most[model], model), known)

    def _cut(self, one: Compaction) -> Json:
        """Where the client told no size, that of the answer before it."""
        near = self._seen.points[one.place - 1] if one.place else None
        tokens = one.tokens or (near.tokens if near else 0)
        return _told(one.at, tokens, self._window(near.model) if near else self._full.window)

    def _limits(self) -> Json:
        """Behind a compaction by the model that answered last before it."""
        full = self._full if self._full.tokens or not self._last else self._by(self._last)
        of_window = {name: getattr(full.thresholds, name) for name in ("l1", "l2", "l3")}
        ends_at = round(100 * full.ends_at / full.window, 1) if full.ends_at else None
        rounded = {name: round(percent, 1) for name, percent in of_window.items()}
        return {"thresholds": rounded, "ends_at": ends_at}

    def _outlook(self) -> Json:
        facts = ContextFacts()
        if not self._full.tokens:
            facts.why_nothing = gather.NO_ANSWER
        else:
            gather.add_size(facts, self._full)
            facts.points = [(one.calls, one.tokens) for one in self._seen.since_compaction()]
        told = as_json(facts, forecast=True)
        return {
            "recommendation": told["recommendation"],
            "forecast": told["forecast"] if self._full.tokens else None,
        }


def _told(at: float, tokens: int, window: int) -> Json:
    percent = round(100 * tokens / window, 1) if tokens else None
    return {"at": at or None, "tokens": tokens or None, "percent": percent}
