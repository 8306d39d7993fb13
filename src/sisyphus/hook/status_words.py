"""The status line in its parts: plan, loop, enforcement, context. Pure."""

from __future__ import annotations

from sisyphus.text import line, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Checkpoint, Json
    from sisyphus.ralph.loop import Loop

    Part = tuple[str, str]

WIDTH = 120

QUIET, NOTICE, ALARM = "", "33", "31"
"""Colours as ANSI codes: the client renders them."""

ENFORCED = ("enforce on", QUIET)

_BETWEEN = " | "
_LEAST_NAME = 8
_STORY_CHARACTERS = 12
_PARTS = {"L1": NOTICE, "L2": ALARM, "L3": ALARM}


def plan(record: Json, wave: object = None, story: object = None) -> list[Part]:
    """The name of a plan and, as a part of its own, how far it is: `Shop`, ` 5/20 wave 2 S07`."""
    done, total = record["progress"]["completed"], record["progress"]["total"]
    where = [f" {done}/{total}"] if total else []
    where += [f"wave {wave}"] if type(wave) is int else []
    where += [one_line(story, _STORY_CHARACTERS)] if isinstance(story, str) and story else []
    return [(line(record["plan_name"]).strip() or "plan", QUIET), (" ".join(where), QUIET)]


def loop(found: Loop) -> Part:
    """`loop 3/100`, `enforced 3`, `loop 3/100 paused`."""
    most = f"/{found.max_iterations}" if found.max_iterations else ""
    text = f"{'enforced' if found.plan else 'loop'} {found.iteration}{most}"
    return (f"{text} paused", NOTICE) if found.is_paused else (text, QUIET)


def context(percent: float, level: int, handoff: Checkpoint | None) -> Part:
    """`ctx 42%`, `ctx 72% L1`, `ctx 87% L2 handed over`."""
    name = (handoff.get("level") if handoff else "") or (f"L{level}" if level else "")
    words = [f"ctx {int(percent)}%", line(name), "handed over" if handoff else ""]
    return " ".join(filter(None, words)), _PARTS.get(name, QUIET)


def joined(named: Sequence[Part], others: Sequence[Part], width: int, *, coloured: bool) -> str:
    """One line of at most `width` characters. `named`: the plan, whose name is cut first; where
    that is not enough, plan and loop are left out in favour of the context."""
    parts = [*_whole(named, others, width), *others]
    while len(parts) > 1 and _length(parts) > width:
        parts = parts[1:]
    painted = []
    for text, colour in parts:
        cut = text[:width]
        painted.append(f"\x1b[{colour}m{cut}\x1b[0m" if coloured and colour else cut)
    return _BETWEEN.join(painted)


def _whole(named: Sequence[Part], others: Sequence[Part], width: int) -> list[Part]:
    """The plan as one part, its name as long as there is room for it."""
    if not named:
        return []
    (name, colour), (where, _) = named
    room = width - _length([("", ""), (where, ""), *others]) + len(_BETWEEN)
    return [(one_line(name, max(room, _LEAST_NAME)) + where, colour)]


def _length(parts: Sequence[Part]) -> int:
    return sum(len(text) for text, _ in parts) + len(_BETWEEN) * (len(parts) - 1)
