"""The last in line at a Stop: enforcement makes a session go on that says that its work is done."""

from __future__ import annotations

from sisyphus.enforce import enforcements, gates, messages, state_file
from sisyphus.enforce.gates import GateFacts
from sisyphus.ground.partial import partial
from sisyphus.hook.outcome import Outcome, merge
from sisyphus.sessions import ledger
from sisyphus.stop import notices
from sisyphus.stop.decide import is_at_cap
from sisyphus.stop.in_charge import is_at_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.enforcements import Enforcement
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.stops import Stops
    from sisyphus.stop.findings import Findings


def judge(hook: Hook, findings: Findings, stops: Stops) -> Outcome:
    """Decides for a session with neither a loop nor a hold."""
    enforcement = enforcements.load(hook.store, hook.session)
    if not hook.event.is_planning:  # nobody has read that turn
        enforcement = gates.after_turn(
            enforcement,
            uses_tools=findings.turn.uses_tools,
            now=hook.now,
            settings=hook.settings,
        )
    if findings.blocked_on:
        hook.session.rests = findings.blocked_on
    facts = GateFacts(
        hook.now,
        is_planning=hook.event.is_planning,
        is_waiting=bool(stops.excuses(hook.now, hook.settings["ralph.background_wait"])),
        rests=hook.session.rests,
        asks=bool(findings.question),
        is_full=is_at_checkpoint(hook),
        is_at_cap=is_at_cap(stops.blocks, hook.event.stop.block_cap),
    )
    closed = gates.closed(facts, enforcement, hook.settings)
    if closed and closed[0].is_standstill:
        stops.standstill = closed[0].why
    if closed or not findings.says_done:
        why = closed[0].why if closed else "the agent does not say that it is done"
        news = [messages.rests(findings.blocked_on)] if findings.blocked_on else []
        outcome = Outcome(messages=news, notes=[messages.held_back(why)])
    else:
        outcome = _go_on(hook, findings, stops, enforcement)
    enforcements.save(hook.store, hook.session, enforcement)
    outcome = merge([outcome, _tell_of_end(hook, enforcement)])
    outcome.exports.append(export(hook))
    return outcome


def _tell_of_end(hook: Hook, enforcement: Enforcement) -> Outcome:
    """Tells the user once that no enforcement follows this turn: it was the last one, or there were
    too many in vain."""
    values, status = hook.settings, state_file.status(enforcement, hook.settings, hook.now)
    if status not in (state_file.EXHAUSTED, state_file.RECOVERING) or enforcement.is_pending:
        return Outcome()
    if not ledger.record_notice(hook, f"enforcement {status} since {enforcement.at}"):
        return Outcome()
    if status == state_file.RECOVERING:
        left = gates.recovers_at(enforcement, values) - hook.now
        return Outcome(messages=[messages.has_failed(enforcement.failures, left)])
    text = messages.is_exhausted(hook.event.session, values["enforce.max_iterations"])
    return Outcome(messages=[text], exports=notices.of_limit(hook, text))


def _go_on(hook: Hook, findings: Findings, stops: Stops, enforcement: Enforcement) -> Outcome:
    enforcement.count(hook.now)
    stops.blocks += 1
    number = messages.number(enforcement, hook.settings)
    text, tasks = findings.turn.last_text, findings.next_tasks
    return Outcome(
        messages=[messages.goes_on(number)],
        reason=messages.claimed(text, tasks, stops.tested, number),
        notes=[messages.counted(number)],
        alert=messages.alert_of_claim(number, hook.settings),
    )


def export(hook: Hook) -> partial[None]:
    """Returns the export of `enforce.json` of the hook's project."""
    return partial(state_file.export, hook.store, hook.project, hook.settings)
