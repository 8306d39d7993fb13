"""The last in line at a Stop: enforcement makes a session go on that says that its work is done."""

from __future__ import annotations

from sisyphus.enforce import enforcements, gates, messages, state_file
from sisyphus.enforce.enforcements import CLAIM
from sisyphus.enforce.gates import GateFacts
from sisyphus.ground.partial import partial
from sisyphus.ground.text import sentence
from sisyphus.hook.outcome import Alert, Note, Outcome, merge
from sisyphus.sessions import ledger
from sisyphus.sessions.messages import short
from sisyphus.stop import notices
from sisyphus.stop.decide import is_at_cap
from sisyphus.stop.in_charge import is_at_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.enforcements import Enforcement
    from sisyphus.hook.hook import Hook
    from sisyphus.stop.findings import Findings


def judge(hook: Hook, findings: Findings) -> Outcome:
    """Decides for a session with neither a loop nor a hold."""
    stops = hook.session.stops
    enforcement = enforcements.load(hook.store, hook.session)
    if not hook.event.is_planning:  # nobody has read that turn
        uses_tools = findings.turn.uses_tools
        enforcement = gates.after_turn(
            enforcement, uses_tools=uses_tools, now=hook.now, settings=hook.settings
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
        news = [_what_is_needed(findings.blocked_on)] if findings.blocked_on else []
        outcome = Outcome(messages=news, notes=[f"enforcement holds back: {why}"])
    else:
        outcome = _go_on(hook, findings, enforcement)
    enforcements.save(hook.store, hook.session, enforcement)
    outcome = merge([outcome, _tell_of_end(hook, enforcement)])
    outcome.exports.append(export(hook))
    return outcome


def _what_is_needed(need: str) -> str:
    """Tells the user that the session waits for them."""
    return f"The agent needs you: {sentence(need, 200)} Enforcement waits for your next prompt."


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
        text = (
            f"Enforcement holds back for {left:.0f} s: {enforcement.failures} times in a row the "
            "agent did nothing."
        )
        return Outcome(messages=[text])
    limit = values["enforce.max_iterations"]
    text = (
        f"Enforcement {limit} of {limit} was the last in session {short(hook.event.session)}: it "
        "is left alone. `sisyphus enforce on` starts the count again."
    )
    return Outcome(messages=[text], exports=notices.of_limit(hook, text))


def _go_on(hook: Hook, findings: Findings, enforcement: Enforcement) -> Outcome:
    stops = hook.session.stops
    enforcement.count(hook.now)
    stops.blocks += 1
    number, values = messages.number(enforcement, hook.settings), hook.settings
    text, tasks = findings.turn.last_text, findings.next_tasks
    news = f"Enforcement {number}: the agent says that it is done, and must prove it."
    seconds, abort = values["enforce.toast_seconds"], values["enforce.abort_seconds"]
    return Outcome(
        messages=[news],
        reason=messages.claimed(text, tasks, stops.tested, number),
        notes=[Note(CLAIM, f"enforcement {number}: the agent says that it is done")],
        alert=Alert("warning", news, seconds, 0, abort, 0),
    )


def export(hook: Hook) -> partial[None]:
    """Returns the export of `enforce.json` of the hook's project."""
    return partial(state_file.export, hook.store, hook.project, hook.settings)
