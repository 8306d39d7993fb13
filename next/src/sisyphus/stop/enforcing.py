"""The last in line at a Stop: enforcement makes a session go on that says that its work is done."""

from __future__ import annotations

from sisyphus.enforce import gates, messages
from sisyphus.enforce import record as enforcements
from sisyphus.enforce.gates import GateFacts
from sisyphus.hook.outcome import Outcome
from sisyphus.sessions import stops as session_stops
from sisyphus.stop.decide import is_at_cap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.sessions.stops import Stops
    from sisyphus.stop.findings import Findings


def judge(hook: Hook, findings: Findings, stops: Stops) -> Outcome:
    """Decides for a session with neither a loop nor a hold."""
    enforcement = gates.after_turn(
        enforcements.load(hook.store, hook.session),
        uses_tools=findings.turn.uses_tools,
        now=hook.now,
        settings=hook.settings,
    )
    if findings.blocked_on:
        session_stops.rest(hook.store, hook.session, findings.blocked_on)
    facts = GateFacts(
        hook.now,
        is_planning=hook.event.is_planning,
        is_waiting=bool(stops.excuses(hook.now, hook.settings["ralph.background_wait"])),
        rests=session_stops.why_rests(hook.store, hook.session),
        asks=bool(findings.question),
        is_at_cap=is_at_cap(stops.blocks, hook.event.stop.block_cap),
    )
    why = gates.why_closed(facts, enforcement, hook.settings)
    if not why and not findings.says_done:
        why = "the agent does not say that it is done"
    if why:
        outcome = Outcome(notes=[f"enforcement holds back: {why}"])
    else:
        enforcement.iteration += 1
        enforcement.at, enforcement.is_pending = hook.now, True
        stops.blocks += 1
        reason = messages.claimed(
            findings.turn.last_text,
            findings.next_tasks,
            stops.tested,
            enforcement.iteration,
            hook.settings["enforce.max_iterations"],
        )
        outcome = Outcome(reason=reason, notes=[f"enforcement {enforcement.iteration}"])
    enforcements.save(hook.store, hook.session, enforcement)
    return outcome
