"""How full a session's context is, measured against what its client can use of it."""

from __future__ import annotations

import os
import time

from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import gauge, window
from sisyphus.checkpoint.size.compaction import Client
from sisyphus.checkpoint.size.levels import Thresholds
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
    found: Json = {"looked": True, **_settings(space)}
    store.note(space.ours, session, found)
    return {**known, **found}


def _settings(space: Workspace) -> Json:
    from sisyphus.clients import claude_code_files

    found: Json = {}
    for one in claude_code_files.settings(space.home, space.cwd, space.root):
        if type(window := one.get("autoCompactWindow")) is int:
            found["compact_window"] = window
        if type(compacts := one.get("autoCompactEnabled")) is bool:
            found["compacts"] = compacts
    return found


def look(space: Workspace, session: str, transcript: str) -> Fullness:
    """What the transcript's end says; `tokens` 0 where that is nothing. Notes nothing."""
    known = store.glance(space.ours, session)
    return of_reading(space, gauge.read(transcript, since=store.cut(known)), known)


def of_reading(space: Workspace, found: gauge.Reading, known: Json) -> Fullness:
    """`weigh`, with the client's settings where no hook has looked them up yet. Notes nothing."""
    return weigh(space, found, known if known.get("looked") else {**known, **_settings(space)})


def weigh(space: Workspace, found: gauge.Reading, known: Json) -> Fullness:
    """A reading against the window, `known` as the store has it."""
    if known.get("client"):
        return _of_another(space, found, known)
    client = Client(os.environ, known)
    get = space.settings.get
    reported = store.number(known, "window")
    whole = window.size(found.model, found.tokens, get("checkpoint.window"), reported)
    if client.is_small and not reported:
        whole = min(whole, window.SMALL)
    size = client.usable_window(whole)
    limit = client.ends_at(size, by_itself=window.is_new(found.model))
    thresholds = _thresholds(space)
    if limit:
        thresholds = thresholds.within(100 * limit / size)
    return Fullness(found.tokens, size, found.model, thresholds, limit)


def _of_another(space: Workspace, found: gauge.Reading, known: Json) -> Fullness:
    """Of a client that names what it can use: what its compaction needs is left out of that."""
    setting = space.settings.get("checkpoint.window")
    size = setting if setting >= window.LEAST else store.number(known, "window") or window.SMALL
    return Fullness(found.tokens, size, found.model, _thresholds(space), 0)


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
