"""What a Stop leaves for people to read: the iteration, and the loops that ended or began."""

from __future__ import annotations

from sisyphus.arbiter.situation import END
from sisyphus.ralph import iterations, store
from sisyphus.ralph import loop as lp
from sisyphus.text import one_line
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.arbiter.judge import Case
    from sisyphus.arbiter.situation import Verdict
    from sisyphus.ralph.loop import Loop

_COMMAND = 80  # characters


def log_ended(case: Case) -> list[str]:
    """Logs the loops that began or ended, and says which ended.

    Before the files of the loops go: a killed hook leaves a loop, not a gap.
    """
    ended = _ended(case)
    if not ended and not case.turn.begun:
        return []
    from sisyphus.ralph.past import history

    ours, now = case.space.ours, case.space.now
    for loop in case.turn.begun:
        history.started(ours, loop, store.loop_path(ours, loop.session_id))
    for loop, outcome, why in ended:
        history.ended(ours, loop, outcome, now, why)
    return [f"loop {loop.loop_id} ended: {outcome}" for loop, outcome, _ in ended]


def passed_checks(case: Case) -> list[str]:
    """The commands that let a promise count at this Stop."""
    checked = [loop.verified for loop in case.turn.kept if loop.has_checks]
    return [
        f"`{one_line(str(found.get('command')), _COMMAND)}` ended with exit code 0"
        for found in checked
        if found.get("at") == int(case.space.now) and found.get("exit_code") == 0
    ]


def _ended(case: Case) -> list[tuple[Loop, str, str]]:
    """The loops that end at this Stop, each with its outcome and, where there is one, a reason."""
    turn = case.turn
    return [
        *((loop, outcome, "") for loop, outcome in turn.ended),
        *((loop, lp.SUCCESS, "") for loop in turn.kept),
        *((loop, limit.outcome, limit.why) for loop, limit in case.fallen),
        *case.over,
        *(_unreadable(case) if case.held.faults else ()),
    ]


def _unreadable(case: Case) -> list[tuple[Loop, str, str]]:
    """The loops whose files were set aside."""
    from sisyphus.ralph.lost import lost

    loops = lost(case.space.ours, case.payload.session)
    return [(loop, lp.ERROR, why) for loop, why in zip(loops, case.held.faults, strict=False)]


def note_iteration(case: Case, verdict: Verdict) -> None:
    """One row for each loop that was at work: the current one, and those that ended here."""
    is_kept = case.space.settings.get("ralph.transcripts")
    tokens = case.account.tokens
    for loop, decision, why in _at_work(case, verdict):
        if is_kept:
            _note(case, loop, decision, why, tokens)
        loop.turned_at = iso(case.space.now)
        tokens = 0  # they are spent once, however many loops end here


def _at_work(case: Case, verdict: Verdict) -> list[tuple[Loop, str, str]]:
    """The loops, the innermost first, with what was decided of each and why."""
    kept = [(x, END, f"promise `{x.completion_promise}` kept") for x in case.turn.kept]
    fallen = [(x, limit.action, limit.why) for x, limit in case.fallen]
    if kept or fallen:
        return [*kept, *fallen]
    loop = case.loop
    if loop is None:
        return [(over, END, why) for over, _, why in case.over]
    return [] if loop.is_paused else [(loop, verdict.action, verdict.why)]


def _note(case: Case, loop: Loop, decision: str, why: str, tokens: int) -> None:
    account, now = case.account, case.space.now
    row: Json = {
        "iteration": loop.iteration,
        "started_at": loop.turned_at or loop.started_at,
        "ended_at": iso(now),
        "decision": decision,
        "why": why,
        "tools": account.tools,
        "edits": len(account.edits),
        "tokens": tokens,
    }
    if case.context:
        row["context"] = round(case.context, 1)
    iterations.note(case.space.ours, loop.loop_id, row, account.text)
