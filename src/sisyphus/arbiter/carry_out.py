"""Carries a verdict out: changes the loops on disk and says what there is to say."""

from __future__ import annotations

import os

from sisyphus.arbiter import record
from sisyphus.arbiter.situation import ASKING, BLOCK, CHECKPOINTED, PAUSE
from sisyphus.clients.base import Outcome, Text
from sisyphus.ralph import loop as lp
from sisyphus.ralph import promise, texts
from sisyphus.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from sisyphus.arbiter.gates import Refusal
    from sisyphus.arbiter.judge import Case
    from sisyphus.arbiter.situation import Verdict
    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace


def carry_out(verdict: Verdict, case: Case, refusal: Refusal | None) -> Outcome:
    """Changes the loops as the verdict says and puts it into words."""
    held, loop = case.held, case.loop
    outcome = Outcome(messages=_news(case))
    record.note_iteration(case, verdict)
    if loop and verdict.action == PAUSE:
        lp.pause(case.turn.loops, verdict.by, case.space.now)
        outcome.messages.append(texts.paused(loop, verdict.by, verdict.why))
        outcome.messages += _handed().paused(case, verdict)
    elif loop and verdict.by == ASKING:
        outcome.messages.append(texts.asks(loop))
    elif loop and verdict.by == CHECKPOINTED:
        outcome.messages += _handed().checkpointed(case)
    elif loop and verdict.action == BLOCK:
        loop.advance()
        held.memory.note_block(held.memory.blocks + 1, case.space.now)
        outcome.reason = _reason(loop, refusal, case)
    ended = record.log_ended(case)
    held.save(case.turn.loops)
    if case.turn.kept or case.turn.ended or case.fallen or case.over:
        _handed().ended(case)
    if loop and outcome.reason is not None:
        outcome.texts = _pieces(loop, case, refusal)
    outcome.notes = [*_verdicts(verdict, case), *record.passed_checks(case), *ended]
    return outcome


def _handed() -> ModuleType:
    """What most Stops have no need of."""
    from sisyphus.arbiter import handed

    return handed


def _verdicts(verdict: Verdict, case: Case) -> list[str]:
    """What was decided, in plain words: the limits that were reached first."""
    where = f"; {case.loop.progress}" if case.loop and verdict.action == BLOCK else ""
    limits = [limit.text for _, limit in case.fallen]
    return list(dict.fromkeys([*limits, verdict.text + where]))


def _reason(loop: Loop, refusal: Refusal | None, case: Case) -> str:
    if loop.plan:
        from sisyphus.arbiter import hold, hold_words

        return hold_words.go_on(loop, hold.standing(case, loop))
    if refusal:
        return texts.go_on_refused(loop, refusal.why, refusal.tail)
    is_other = bool(case.fallen)  # the tag was a nested loop's, which has just ended
    return texts.go_on(loop, "" if is_other else promise.near_miss(case.turn.reason))


def _news(case: Case) -> list[str]:
    """What the user is told whatever the verdict is."""
    turn = case.turn
    successes = [loop for loop, how in turn.ended if how == lp.SUCCESS] + list(turn.kept)
    return [
        *(texts.set_aside(fault) for fault in case.held.faults),
        *(texts.refused(reason) for reason in turn.refused),
        *(texts.complete(loop.completion_promise or "") for loop in successes),
        *(texts.at_limit(loop, verdict.why) for loop, verdict in case.fallen),
        *_let_go(case),
    ]


def _let_go(case: Case) -> list[str]:
    """A plan that is complete has been told of."""
    if case.loop:
        return []
    return [texts.let_go(loop) for loop, how, _ in case.over if how == lp.CANCELLED]


def _pieces(loop: Loop, case: Case, refusal: Refusal | None) -> list[Text]:
    """What the model is told once, behind the short reason that it gets twice."""
    path, space = case.held.path(loop), case.space
    is_told = bool(loop.plan) or _is_told_by_another(loop)
    pieces = [] if is_told else [_prompt(loop, path, case)]
    if refusal and refusal.tail:
        checked = f"{loop.loop_id} {loop.iteration}"
        pieces.append(_piece(texts.failed_check(refusal.tail), f"check {checked}", path))
    if todo := _checklist(loop, space):
        pieces.append(_piece(todo, f"checklist {loop.loop_id} {fingerprint(todo)}", path))
    return pieces


def _is_told_by_another(loop: Loop) -> bool:
    """Whether the official ralph plugin runs this loop too: it sends the whole prompt itself."""
    return os.path.exists(os.path.join(loop.project, ".claude", "ralph-loop.local.md"))


def _prompt(loop: Loop, path: str, case: Case) -> Text:
    """The prompt goes out once: whole where the model has not seen it, else by its first line; and
    again where a nested loop has ended, so that the model knows what it goes back to."""
    ended = [*case.turn.kept, *(fallen for fallen, _ in case.fallen)]
    inner = "".join(f" after {nested.loop_id}" for nested in ended)
    if loop.prompt_known:
        return _piece(texts.reminder(loop, path), f"loop {loop.loop_id} reminder{inner}", path)
    return _piece(texts.prompt(loop, path), f"loop {loop.loop_id} prompt", path)


def _piece(body: str, name: str, path: str) -> Text:
    return Text("loop", body, hash=name, path=path)


def _checklist(loop: Loop, space: Workspace) -> str:
    from sisyphus.ralph.checklists import checklist

    return checklist.reminder(space.ours, loop.loop_id)
