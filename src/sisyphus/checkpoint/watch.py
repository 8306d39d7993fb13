"""What is done when a level is reached."""

from __future__ import annotations

import os

from sisyphus.checkpoint import make, store, survey, texts
from sisyphus.checkpoint.size import fullness, gauge, levels
from sisyphus.clients import client_named
from sisyphus.clients.base import Outcome, Text
from sisyphus.errors import SisyphusError
from sisyphus.text import line
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.checkpoint.size.fullness import Fullness
    from sisyphus.clients.base import Payload, ToolCall
    from sisyphus.workspace import Workspace


def look(payload: Payload, space: Workspace, found: gauge.Reading, *, wait: bool) -> Outcome | None:
    """What there is to tell of a reading. With `wait` the answer itself may not be written yet:
    near a level it is waited for."""
    known = store.glance(space.ours, payload.session)
    known = fullness.with_settings(space, payload.session, known)
    told = store.number(known, "told")
    full = fullness.weigh(space, found, known)
    if wait and (not found.tokens or full.is_near(told)):
        full = fullness.wait(space, payload, known)
    if full.level != told or store.is_overdue(known, space.now):
        return rise(payload, space, full)
    if not told:
        fullness.note_quiet(space, payload.session, full, known)
    return None


def rise(payload: Payload, space: Workspace, full: Fullness) -> Outcome | None:
    """Tells the model of a level, once until usage falls below it again."""

    def decide(told: int) -> tuple[int, bool]:
        return levels.step(told, full.percent, full.thresholds)

    if not store.turn(space.ours, payload.session, decide, space.now):
        return None
    is_low = full.level < levels.CHECKPOINT
    try:
        outcome = _low(payload, space, full) if is_low else _high(payload, space, full)
    except (OSError, SisyphusError) as error:
        return _without_handoff(error, full, space)  # and a later hook tries it again
    store.settle(space.ours, payload.session)
    return outcome


def _low(payload: Payload, space: Workspace, full: Fullness) -> Outcome:
    is_held = survey.is_held(space, payload.session)
    ahead = int(full.thresholds.l2)
    text = texts.warning(int(full.percent), next_percent=ahead, is_held=is_held)
    return _outcome(text, full, space)


def _high(payload: Payload, space: Workspace, full: Fullness) -> Outcome:
    """L2 and L3. A session that nothing holds is informed at L2, and handed over at L3 as well."""
    is_held = survey.is_held(space, payload.session)
    if not is_held and full.level == levels.CHECKPOINT:
        return _informed(full, space)
    stops = is_held and stops_for(space, full.level)
    entry = hand_over(payload, space, full, lets_stop=stops)
    wip = _commit_unfinished(space, entry) if is_held else []
    level, percent = levels.name(full.level), int(full.percent)
    outcome = _outcome(_text(full, entry, is_held=is_held, stops=stops), full, space)
    outcome.messages = [texts.user_checkpoint(level, percent, entry, stops=stops)]
    outcome.notes += [f"handoff {line(entry.get('handoff_file', ''))} written", *wip]
    return outcome


def _text(full: Fullness, entry: Checkpoint, *, is_held: bool, stops: bool) -> str:
    level, percent = levels.name(full.level), int(full.percent)
    if not is_held:
        return texts.nearly_full(percent, entry)
    if full.level == levels.EMERGENCY:
        return texts.emergency(percent, entry)
    return (texts.checkpoint if stops else texts.written)(level, percent, entry)


def _informed(full: Fullness, space: Workspace) -> Outcome:
    return _outcome(texts.informed(levels.name(full.level), int(full.percent)), full, space)


def _without_handoff(error: Exception, full: Fullness, space: Workspace) -> Outcome:
    """The model learns of the level all the same, and the user why there is no handoff."""
    space.log(f"checkpoint: {error}")
    outcome = _informed(full, space)
    outcome.messages = [texts.no_handoff(int(full.percent), str(error))]
    outcome.notes.append(f"no handoff could be written: {error}")
    return outcome


def hand_over(payload: Payload, space: Workspace, full: Fullness, *, lets_stop: bool) -> Checkpoint:
    """The checkpoint that a level is, with the calls that are not written down yet."""
    gauge.wait_for_results(payload.transcript, payload.call_ids if payload.is_batch else ())
    return make.hand_over(
        space,
        payload.session,
        payload.transcript,
        occasion=make.LEVEL,
        fill=fill_of(full),
        lets_stop=lets_stop,
        late=_succeeded(payload),
    )


def _succeeded(payload: Payload) -> list[ToolCall]:
    """The tool calls that this event is the success of."""
    if payload.is_batch:
        return []
    return [call for call in payload.calls if call.id and not call.failed]


def fill_of(full: Fullness) -> make.Fill:
    level = levels.name(full.level) if full.level >= levels.CHECKPOINT else ""
    return make.Fill(level, int(full.percent) if full.tokens else None, full.tokens, full.window)


def stops_for(space: Workspace, level: int) -> bool:
    """Whether what holds a session lets it stop at this level. A client without a /clear that a
    loop follows compacts, and the loop goes on behind that."""
    hands_over = client_named(space.client).CLEARS and space.settings.get("checkpoint.hand_over")
    is_asked = bool(run_id() or hands_over)
    return level >= levels.EMERGENCY or (level == levels.CHECKPOINT and is_asked)


def _commit_unfinished(space: Workspace, entry: Checkpoint) -> list[str]:
    if not space.settings.get("checkpoint.wip_commit"):
        return []
    from sisyphus.checkpoint.tree import wip

    edited = [os.path.join(space.root, file["path"]) for file in entry.get("files_in_progress", [])]
    iteration, percent = entry.get("iteration", 0), entry.get("percent_at_checkpoint", 0)
    done = wip.commit(space.root, iteration, entry.get("level", ""), percent, edited)
    return [f"unfinished work committed as {done.name}" if done.name else done.why]


def _outcome(text: str, full: Fullness, space: Workspace) -> Outcome:
    level = levels.name(full.level)
    note = f"context at {int(full.percent)}%: {level} told ({full.tokens:,} of {full.window:,})"
    return Outcome(texts=[_piece(text, f"{level} {space.now:.3f}")], notes=[note])


def _piece(text: str, name: str) -> Text:
    return Text("checkpoint", text, hash=name)
