"""Everything that a handoff is made from, gathered by the caller."""

from __future__ import annotations

from sisyphus.checkpoint.seen.work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus._types import Json, PlanStatus

BY_LEVEL, BY_COMPACTION, BY_BREAKER, BY_ASKING = "level", "compaction", "breaker", "asked"
BY_CUT = "cut"
"""Occasions; `cut`: an iteration of a run was cut short."""


class Situation:
    """A piece of work at the moment of its checkpoint. Texts are "" where there is nothing to say.

    `loop` has the keys `loop_id`, `description`, `prompt`, `iteration`, `max_iterations` and
    `completion_promise`. `item`, `items_left` and `items_total` are those of a fresh-context run.
    `changed` are paths relative to `root`. `text_of` gives a file's text by its absolute path, ""
    where it cannot be read. `notes` are what the model wrote into the handoff before this one.
    """

    __slots__ = (
        "branch", "changed", "head", "item", "items_left", "items_total", "level", "loop", "notes",
        "now", "occasion", "percent", "plan", "reason", "root", "session_id", "text_of", "tokens",
        "window", "work",
    )  # fmt: skip

    def __init__(self) -> None:
        self.root = ""
        self.now = 0.0  # epoch seconds
        self.work = Work()
        self.plan: PlanStatus | None = None
        self.loop: Json | None = None
        self.item = ""
        self.items_left: int | None = None
        self.items_total: int | None = None
        self.level = ""  # "L2"; "" where the context's size was not the occasion
        self.percent: int | None = None
        self.tokens = 0
        self.window = 0
        self.occasion = BY_ASKING
        self.reason = ""  # why the breaker opened
        self.session_id = ""
        self.head = ""  # commit
        self.branch = ""
        self.changed: Sequence[str] = ()
        self.notes: dict[str, str] = {}
        self.text_of: Callable[[str], str] = lambda _: ""
