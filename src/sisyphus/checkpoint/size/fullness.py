"""How full a session's context is, measured against what its client can use of it."""

from __future__ import annotations

import time

from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import gauge
from sisyphus.checkpoint.size.levels import Thresholds
from sisyphus.clients import DEFAULT, setup
from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

NEAR = 15
NEAR_TOKENS = 50_000
"""Points and tokens below a level from which on the newest answer is worth waiting for: more than
one answer with its tools adds in earnest."""


class Fullness:
    """`tokens` of `window` are in use; `thresholds` in percent of it, as this client needs them.

    `ends_at`: tokens at which the client compacts by itself, or goes on no more; 0 = at none.
    """

    __slots__ = ("ends_at", "model", "thresholds", "tokens", "window")

    def __init__(
        self, tokens: int, window: int, model: str, thresholds: Thresholds, ends_at: int
    ) -> None:
        self.tokens = tokens
        self.window = window
        self.model = model
        self.thresholds = thresholds
        self.ends_at = ends_at

    @property
    def percent(self) -> float:
        return 100 * self.tokens / self.window

    @property
    def level(self) -> int:
        return self.thresholds.level(self.percent)

    def is_near(self, told: int) -> bool:
        """Whether the answer that is not written yet may reach a level that was not told."""
        ahead = 100 * self.ahead_tokens / self.window
        return self.thresholds.level(self.percent + ahead) > told

    @property
    def ahead_tokens(self) -> float:
        return max(NEAR * self.window / 100, NEAR_TOKENS)

    def tokens_at(self, percent: float) -> float:
        return percent * self.window / 100


def wait(space: Workspace, payload: Payload, known: Json) -> Fullness:
    """A look at the answer that called the payload's tools, as soon as it is written."""
    deadline = time.monotonic() + gauge.LATE_SECONDS
    while True:
        found = gauge.read(payload.transcript, payload.call_ids, store.cut(known))
        if found.is_current or not found.is_readable or time.monotonic() > deadline:
            return weigh(space, found, known)
        time.sleep(gauge.PAUSE_SECONDS)


def with_settings(space: Workspace, session: str, known: Json) -> Json:
    """`known` with what the client's settings say of its compaction, looked up once a session."""
    if known.get("looked"):
        return known
    found: Json = {"looked": True, **setup(space.client).compaction(space)}
    store.note(space.ours, session, found)
    return {**known, **found}


def look(space: Workspace, session: str, transcript: str) -> Fullness:
    """What the transcript's end says; `tokens` 0 where that is nothing. Notes nothing."""
    known = store.glance(space.ours, session)
    return of_reading(space, gauge.read(transcript, since=store.cut(known)), known)


def of_reading(space: Workspace, found: gauge.Reading, known: Json) -> Fullness:
    """`weigh`, with the client's settings where no hook has looked them up yet. Notes nothing."""
    if not known.get("looked"):
        known = {**known, **setup(space.client).compaction(space)}
    return weigh(space, found, known)


def weigh(space: Workspace, found: gauge.Reading, known: Json) -> Fullness:
    """A reading against the window, `known` as the store has it."""
    size, ends_at = setup(str(known.get("client") or DEFAULT)).capacity(
        found.model,
        found.tokens,
        known,
        space.settings.get("checkpoint.window"),
        store.number(known, "window"),
    )
    thresholds = _thresholds(space)
    if ends_at:
        thresholds = thresholds.within(100 * ends_at / size)
    return Fullness(found.tokens, size, found.model, thresholds, ends_at)


def _thresholds(space: Workspace) -> Thresholds:
    return Thresholds(*(space.settings.get(f"checkpoint.{name}") for name in ("l1", "l2", "l3")))


def note_quiet(space: Workspace, session: str, full: Fullness, known: Json) -> None:
    """So that the next hooks need not weigh; where it cannot be noted, they do. `known`: what is
    noted already."""
    first = int(full.tokens_at(full.thresholds.l1))
    near = max(int(first - full.ahead_tokens), 0)
    stamp = store.circumstances(space.settings, full.model)
    fields: Json = {
        "quiet_below": first, "near_below": near, "quiet_for": stamp, "quiet_window": full.window,
    }  # fmt: skip
    if any(known.get(name) != value for name, value in fields.items()):
        try:
            store.note(space.ours, session, fields)
        except (OSError, SisyphusError) as error:
            space.log(f"checkpoint: {error}")
