"""How full the context is and what follows from it, for people. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.outlook.advice import recommendation
from sisyphus.checkpoint.outlook.complexity import fits, must_split, refine
from sisyphus.checkpoint.outlook.forecast import forecast, usual
from sisyphus.checkpoint.size import levels
from sisyphus.style import LEAST_WIDTH, PLAIN, WIDTH, plain
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.checkpoint.outlook.complexity import Estimate
    from sisyphus.checkpoint.outlook.forecast import Forecast
    from sisyphus.style import Paint, Row, Style

_LABEL = 21
_LINES = 3
_BAR = 20
_PERCENT = 6


class ContextFacts:
    """What is known of a session's context.

    `percent` None: nothing is known, and `why_nothing` says why. `level`: "L0" to "L3". `tokens`
    fill the context of `window` tokens (0 = unknown). `item`: the task in hand, "" = none;
    `estimate` of it. `l1`, `l2`, `l3`: thresholds in percent of the window; `l2_tokens`: L2 in
    tokens. `points`: (tool calls so far, tokens), one an answer; `history`: rows of
    `context_history`; `costs`: (complexity's name, percent it took) of earlier items.
    """

    __slots__ = (
        "costs", "estimate", "history", "item", "l1", "l2", "l2_tokens", "l3", "level", "percent",
        "points", "session_id", "tokens", "why_nothing", "window",
    )  # fmt: skip

    def __init__(self, session_id: str = "") -> None:
        self.session_id = session_id
        self.percent: float | None = None
        self.level = "L0"
        self.tokens = 0
        self.window = 0
        self.item = ""
        self.estimate: Estimate | None = None
        self.l1: float = 70
        self.l2: float = 85
        self.l3: float = 95
        self.l2_tokens = 0
        self.points: Sequence[tuple[int, int]] = ()
        self.history: Sequence[Json] = ()
        self.costs: Sequence[tuple[str, float]] = ()
        self.why_nothing = ""

    @property
    def shown_percent(self) -> int | None:
        """Whole percent, rounded down: a level is not shown before it is reached."""
        return None if self.percent is None else int(self.percent)

    @property
    def tokens_left(self) -> int:
        return max(self.window - self.tokens, 0)

    @property
    def expected(self) -> Estimate | None:
        """What the item in hand takes, by what such items took before."""
        return refine(self.estimate, self.costs) if self.estimate else None


def as_json(facts: ContextFacts, *, forecast: bool = False) -> Json:
    """`sisyphus ralph context --json`; null where nothing is known."""
    is_known = facts.percent is not None
    expected = facts.expected
    found: Json = {
        "percent": facts.shown_percent,
        "level": facts.level if is_known else None,
        "tokens": facts.tokens if is_known else None,
        "window": facts.window or None,
        "tokens_left": facts.tokens_left if is_known else None,
        "item": facts.item or None,
        "complexity": expected.name if expected else None,
        "recommendation": recommendation(facts),
    }
    return {**found, "forecast": _forecast_json(facts)} if forecast else found


def view(
    facts: ContextFacts, *, forecast: bool = False, width: int = WIDTH, style: Style = PLAIN
) -> str:
    """The table in lines of at most `width` characters, and what is recommended."""
    width = max(width, LEAST_WIDTH)
    if facts.percent is None:
        return "\n".join(style.wrapped(recommendation(facts), width, _LINES))
    named = {**_known(facts), **(_expected(facts) if forecast else {})}
    bar = (style.bar(int(facts.percent), 100, _BAR), _paint(facts, style))
    percent = (f"{facts.shown_percent}%".ljust(_PERCENT), plain)
    rows: list[Row] = [[("Current Context".ljust(_LABEL), style.dim), percent, bar]]
    for name, text in named.items():
        told = style.wrapped(text, max(width - _LABEL, 1), _LINES)
        labels = [name, *[""] * len(told)]
        rows += [
            [(label.ljust(_LABEL), style.dim), (part, plain)]
            for label, part in zip(labels, told, strict=False)
        ]
    table = "\n".join(style.fit(row, width).rstrip() for row in rows)
    advice = style.wrapped(f"Recommendation: {recommendation(facts)}", width, 2 * _LINES)
    return f"{table}\n\n" + "\n".join(advice)


def _known(facts: ContextFacts) -> dict[str, str]:
    expected = facts.expected
    name = levels.NAMES[int(facts.level[1:])]
    named = {
        "Level": f"{facts.level} ({name})",
        "Estimated Remaining": f"~{_thousands(facts.tokens_left)} tokens",
        "Current Item": f'"{line(facts.item)}"' if facts.item else "not known",
    }
    if expected:
        more = f"{expected.low}%+" if must_split(expected) else f"{expected.percent}%"
        named["Item Complexity"] = f"{expected.name} (est. {more} context)"
    return named


def _expected(facts: ContextFacts) -> dict[str, str]:
    """The rows of `--forecast`."""
    told, before = forecast(facts.points, facts.l2_tokens), usual(facts.history)
    named = {"Until L2": _until(told)}
    if told.growth:
        named["Growth"] = f"~{_thousands(told.growth)} tokens a call"
    if expected := facts.expected:
        left = 100 - (facts.shown_percent or 0)
        verdict = "fits" if fits(expected, left) else "does not fit"
        named["Item"] = f"{verdict}: est. {expected.percent}% of {left}% left ({expected.why})"
    count = before.iterations
    if before.peak is None:
        named["Usual Peak"] = f"not known: {count} iteration{'s' * (count != 1)} so far"
    else:
        share = f"{before.checkpoints:.0%} of {count} iterations ended by a checkpoint"
        named["Usual Peak"] = f"{before.peak}%, {share}"
    return named


def _until(told: Forecast) -> str:
    if told.calls_left is None:
        return f"not known: {told.why}"
    if told.spread is None or not told.calls_left:
        return "it is reached"
    low, high = told.spread
    return f"about {told.calls_left} tool calls ({low} to {high})"


def _forecast_json(facts: ContextFacts) -> Json:
    told, before = forecast(facts.points, facts.l2_tokens), usual(facts.history)
    expected = facts.expected
    is_known = facts.percent is not None and expected is not None
    return {
        "calls_left": told.calls_left,
        "calls_low": told.spread[0] if told.spread else None,
        "calls_high": told.spread[1] if told.spread else None,
        "tokens_per_call": round(told.growth) or None,
        "why": told.why or None,
        "usual_peak_percent": before.peak,
        "checkpoint_share": round(before.checkpoints, 2) if before.iterations else None,
        "iterations": before.iterations,
        "item_percent": expected.percent if expected else None,
        "item_fits": fits(expected, 100 - (facts.percent or 0)) if is_known and expected else None,
    }


def _paint(facts: ContextFacts, style: Style) -> Paint:
    return style.green if facts.level == "L0" else style.yellow


def _thousands(tokens: float) -> str:
    """`66k`, `1.4k`, `900`."""
    if tokens < 1_000:  # noqa: PLR2004
        return f"{tokens:.0f}"
    return f"{tokens / 1_000:.1f}k" if tokens < 10_000 else f"{tokens / 1_000:.0f}k"  # noqa: PLR2004
