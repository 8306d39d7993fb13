"""Whether a held session may stop for the sake of its context."""

from __future__ import annotations

from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import gauge
from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.checkpoint.size.fullness import Fullness
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

_CHECKPOINT = 2


class Rest:
    """Why the session may stop: `entry` is the handoff that waits, `percent` 0 = not known."""

    __slots__ = ("entry", "percent", "why")

    def __init__(self, why: str, percent: int, entry: Checkpoint) -> None:
        self.why = why
        self.percent = percent
        self.entry = entry


def rest(payload: Payload, space: Workspace) -> tuple[Rest | None, float]:
    """At L3, and while a checkpoint waits for a fresh context; None = go on. With it how full the
    context is in percent, 0 = that would cost more than the answer.

    A turn without a tool call may have reached L3 unseen: its handoff is written here. Raises
    `OSError` and `SisyphusError`.
    """
    if not space.settings.get("checkpoint.enabled"):
        return None, 0.0
    known = store.glance(space.ours, payload.session)
    found = gauge.read(payload.transcript, since=store.cut(known))
    is_told = store.number(known, "told") >= _CHECKPOINT
    stamp = store.circumstances(space.settings, found.model)
    is_quiet = store.is_quiet(known, found.tokens, stamp)
    if (is_quiet or found.tokens < gauge.least_tokens(space, known)) and not is_told:
        return None, store.quiet_percent(known, found.tokens) if is_quiet else 0.0
    from sisyphus.checkpoint.size import fullness, levels

    full = fullness.of_reading(space, found, known)
    if full.level >= levels.EMERGENCY or is_told:
        return _rest(payload, space, full), full.percent
    if full.level < levels.WARNING:
        fullness.note_quiet(space, payload.session, full, known)
    return None, full.percent


def no_room(payload: Payload, space: Workspace) -> str:
    """Why nothing more is asked of a session that nothing holds: its context is at L3, or its
    checkpoint of L2 waits; "" = it may be. Writes nothing. Raises `OSError` and `SisyphusError`."""
    if not space.settings.get("checkpoint.enabled"):
        return ""
    from sisyphus.checkpoint import handoffs
    from sisyphus.checkpoint.size import fullness, levels

    full = fullness.look(space, payload.session, payload.transcript)
    if full.level >= levels.EMERGENCY:
        return f"the context is {int(full.percent)}% full (L3)"
    if full.level < _CHECKPOINT:
        return ""
    entry = handoffs.open_of(space.ours, space.root, payload.session) or {}
    waits = entry.get("lets_stop") or entry.get("level")
    return f"the context is {int(full.percent)}% full, and its checkpoint waits" if waits else ""


def _rest(payload: Payload, space: Workspace, full: Fullness) -> Rest | None:
    from sisyphus.checkpoint import handoffs
    from sisyphus.checkpoint.size import levels

    entry = handoffs.open_of(space.ours, space.root, payload.session)
    percent = int(full.percent)
    if full.level >= levels.EMERGENCY and (entry is None or entry.get("level") != "L3"):
        entry = _emergency(payload, space, full, entry) or entry
    if full.level >= levels.EMERGENCY:
        return Rest(f"checkpointed: the context is {percent}% full (L3)", percent, entry or {})
    if entry and entry.get("lets_stop"):
        return Rest("checkpointed: a fresh context goes on", percent, entry)
    return None


def _emergency(
    payload: Payload, space: Workspace, full: Fullness, waits: Checkpoint | None
) -> Checkpoint | None:
    """The handoff of L3, once as long as one waits; None where it does, or cannot be written."""
    from sisyphus.checkpoint import watch
    from sisyphus.checkpoint.size import levels

    def decide(told: int) -> tuple[int, bool]:
        return levels.EMERGENCY, waits is None or told < levels.EMERGENCY

    try:
        if store.turn(space.ours, payload.session, decide, space.now):
            entry = watch.hand_over(payload, space, full, lets_stop=True)
            store.settle(space.ours, payload.session)
            return entry
    except (OSError, SisyphusError) as error:
        space.log(f"checkpoint: no handoff: {error}")
    return None
