"""Tells the user that a session may stop though a loop, a hold or enforcement should make it go on:
the database cannot be used, or it has lost what makes the session go on.

What is not in the database lies in our folder: the state file of each session's loop, `hold.json`
and `enforce.json` of each project, and `freed/SESSION`, what a session was told. That file lets
each session hear it once, and again at its next start, which removes it. So does a Stop that holds
the session again.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, log, paths, quick_json
from sisyphus.ground.partial import partial
from sisyphus.ground.store import is_locked, open_anyhow
from sisyphus.hook import standing
from sisyphus.hook.outcome import Outcome
from sisyphus.hook.session import Session
from sisyphus.loops.loop import ENDED, UNUSABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sisyphus.ground.traces import Traces
    from sisyphus.hook.event import Event
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act, Export

LOCKED = "another process has locked the database for more than a minute"

OFF = "SISYPHUS_DISABLE is set"

_DAY = 24 * 3600

_FILE_BYTES = 1_000_000
"""More than any state file has."""


def record_file(our_home: str, event: Event) -> str:
    """Returns the file that says what a session was told."""
    return os.path.join(our_home, "freed", event.session)


# ---------------------------------------------------------------- the store cannot be used


def look_without_store(hook: Hook, our_home: str, traces: Traces) -> Act | None:
    """Looks in whatever of the database can be read, and at the files beside it."""
    is_told = os.path.lexists(record_file(our_home, hook.event))
    if is_told or not _should_go_on(hook.event, hook.project, our_home, traces):
        return None
    return partial(_tell, our_home, hook.event, hook.store.problem)


def _tell(our_home: str, event: Event, problem: str) -> Outcome:
    text = say(our_home, event, problem)
    return Outcome(messages=[text], notes=[text])


def say(our_home: str, event: Event, problem: str) -> str:
    """Returns the sentence about a session that is free at this Stop, and notes it for the next
    start. problem: why the database cannot be used."""
    text = (
        f"sisyphus does not hold this session, which should go on: {problem}. "
        "`sisyphus doctor` says what to do."
    )
    try:
        path = record_file(our_home, event)
        files.make_folder(os.path.dirname(path))
        files.replace(path, f"{text}\n".encode("utf-8", "replace"), 0o600)
    except OSError as error:  # then each Stop says it
        log.write(f"freed: {error}")
    return text


def of_failure(
    event: Event, project: str, our_home: str, traces: Traces, error: Exception
) -> Outcome | None:
    """Returns what the user hears at a Stop that could not be answered; None if nobody should hold
    the session."""
    problem = LOCKED if is_locked(error) else _no_answer(str(error))
    return _tell_held(event, project, our_home, traces, problem)


def of_command(typed: str, name: str, error: Exception | str) -> Outcome:
    """Returns what the user hears of a command that they typed and that failed. name: without a
    plugin's prefix."""
    from sisyphus.loops.lifecycle import START  # the next Stop finds most of these

    is_busy = isinstance(error, Exception) and is_locked(error)
    why = "another process has locked the database" if is_busy else error
    advice = (
        "If no loop goes on when the agent stops, type it again."
        if name == START
        else "See `sisyphus status`, or type it again."
    )
    return Outcome(messages=[f"sisyphus may not have carried out {typed}: {why}. {advice}"])


def of_switch(event: Event, project: str, our_home: str, traces: Traces) -> Outcome | None:
    """Returns what the user hears, once, at a Stop while sisyphus is switched off; None if nobody
    should hold the session."""
    if os.path.lexists(record_file(our_home, event)):
        return None
    return _tell_held(event, project, our_home, traces, OFF)


def _tell_held(
    event: Event, project: str, our_home: str, traces: Traces, problem: str
) -> Outcome | None:
    is_held = _should_go_on(event, project, our_home, traces)
    return _tell(our_home, event, problem) if is_held else None


def of_failures(event: Event, our_home: str, failures: list[str]) -> list[str]:
    """Returns what the user hears at a Stop that was answered without the features that failed;
    nothing if the session was told already."""
    is_told = os.path.lexists(record_file(our_home, event))
    return [] if is_told else [say(our_home, event, _no_answer(failures[0]))]


def _no_answer(error: str) -> str:
    return f"this Stop could not be answered ({error})"


def _should_go_on(event: Event, project: str, our_home: str, traces: Traces) -> bool:
    """Answers the same where the store cannot be used: a later version's may have the same tables,
    and a disk that is full can be read. Who cannot read it asks the files: those of a project may
    be of another session's plan."""
    store = open_anyhow(our_home)
    try:
        if store:
            state = standing.load(store, Session.of_event(store, event), project)
            is_known = state.loop or state.is_unattended
            return state.is_unattended if is_known else bool(traces.loop)
    except Exception as error:
        log.write(f"freed: the database cannot be read: {error!r}")
    finally:
        if store:
            store.close()
    return any(traces)


# ---------------------------------------------------------------- the store has lost the loop


def has_ended(hook: Hook, file: str) -> bool:
    """Tells whether the loop of a state file has ended as loops do: a hook was killed before it
    removed the file."""
    row = hook.store.one("SELECT status, outcome FROM loop WHERE id = ?", _loop_id(file))
    return row is not None and row[0] == ENDED and row[1] not in ("", UNUSABLE)


def look_for_lost_loop(hook: Hook, file: str, news: Iterable[str]) -> Act | None:
    """Looks why a session without a loop has the state file of one. news: what a repair says in the
    same reply."""
    id = _loop_id(file)
    row = hook.store.one(
        "SELECT file, ended_at IS NOT NULL, outcome, why FROM loop WHERE id = ?", id
    )
    if row is None:
        return partial(_lose, file, id) if id else None
    path, has_ended, outcome, why = row
    if has_ended and outcome == UNUSABLE:
        is_said = any(id in text for text in news)
        return partial(_forget, file) if is_said else partial(_tell_end, file, id, why)
    if not has_ended and path == file:
        return partial(_end_stray, hook, file, id)
    return partial(_forget, file) if has_ended else None


def _loop_id(file: str) -> str:
    text = files.tail(file, _FILE_BYTES).decode("utf-8", "replace")
    _, _, rest = text.partition('\nloop_id: "')
    id = rest.partition('"')[0]
    return id if id.isalnum() else ""


def _lose(file: str, id: str) -> Outcome:
    text = (
        f"Ralph loop {id} holds this session no longer: the database does not know it any more. "
        "Start it again if it should go on."
    )
    return Outcome(messages=[text], notes=[text], exports=[partial(_set_aside, file)])


def _tell_end(file: str, id: str, why: str) -> Outcome:
    text = f"Ralph loop {id} has ended: {why}. Start it again if it should go on."
    return Outcome(messages=[text], notes=[text], exports=[partial(_set_aside, file)])


def _forget(file: str) -> Outcome:
    return Outcome(exports=[partial(_set_aside, file)])


def _end_stray(hook: Hook, file: str, id: str) -> Outcome:
    """Ends a loop whose row names another session than its file."""
    from sisyphus.doctor.repair import end_loop

    end_loop(hook.store, id)
    return _tell_end(file, id, "its row in the database names another session")


def _set_aside(file: str) -> None:
    """Renames a state file: at the next Stop nobody asks again."""
    os.replace(file, f"{file}.lost")


# ---------------------------------------------------------------- ... the hold, or enforcement


def look_for_lost_hold(
    hook: Hook, file: str, news: Iterable[str], doubt: Callable[[], None]
) -> Act | None:
    """Looks why a session is not held though its project has a hold. Nearly always it follows
    another plan, or the hold has ended. doubt: raises if a row cannot be used."""
    holds = _holds_in(file)
    states = {id: _state(hook, id) for id in holds}
    lost = [id for id in holds if states[id] == _LOST]
    if not lost and _ALIVE not in states.values():
        return partial(_forget_holds, hook)
    about = lost or [id for id, plan in holds.items() if _is_unknown(hook, plan)]
    if not about or _is_told(hook, f"lost hold {about[0]}"):
        return None
    doubt()
    text = _of_lost_hold(holds[about[0]]) if lost else _of_unknown_session(holds[about[0]])
    is_said = any(about[0] in each for each in news)
    return partial(_tell_once, hook, f"lost hold {about[0]}", "" if is_said else text)


def _holds_in(file: str) -> dict[str, str]:
    """Returns the holds that the file names, each with the path of its plan."""
    try:
        rows = quick_json.loads(files.tail(file, _FILE_BYTES))["holds"]
        return {str(row["id"]): str(row["plan"]) for row in rows}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        log.write(f"freed: {file} cannot be read: {error!r}")
        return {}


_ALIVE, _OVER, _LOST = "alive", "over", "lost"
"""How the database knows a hold that a file names."""


def _state(hook: Hook, id: str) -> str:
    row = hook.store.one(
        "SELECT kind, status, outcome, ended_at, plan.n FROM loop "
        "LEFT JOIN plan ON plan.n = loop.plan WHERE loop.id = ?",
        id,
    )
    if row is None or row[0] != "hold":
        return _LOST
    _, status, outcome, ended_at, plan = row
    if ended_at is not None:
        return _OVER if status == "ended" and outcome not in ("", UNUSABLE) else _LOST
    is_sound = status in ("active", "paused", "blocked", "stuck") and plan is not None
    return _ALIVE if is_sound else _LOST


def _is_unknown(hook: Hook, plan: str) -> bool:
    """Tells whether the database has lost the session, or which plan it follows: one that has no
    row, or none though the plan lists the session."""
    if not hook.session.n or hook.standing.plan:
        return not hook.session.n
    if hook.session.plan is not None:
        return True
    query = (
        "SELECT 1 FROM plan, json_each(plan.record, '$.session_ids') AS each "
        "WHERE plan.path = ? AND each.value = ?"
    )
    return hook.store.one(query, plan, hook.event.session) is not None


def _forget_holds(hook: Hook) -> Outcome:
    from sisyphus.boulder import holds as hold_rows  # imported late: it loads plans

    return Outcome(exports=[partial(hold_rows.export, hook.store, hook.project)])


def look_for_lost_enforcement(
    hook: Hook, file: str, news: Iterable[str], doubt: Callable[[], None]
) -> Act | None:
    """Looks why enforcement is off though it was on when we last wrote its file. doubt: raises if
    a row cannot be used."""
    name = f"lost enforcement {files.stamp(file)}"
    if not hook.settings["enforce.enabled"] or _is_told(hook, name):
        return None
    doubt()
    is_said = any(each.startswith("Enforcement is off") for each in news)
    return partial(_tell_once, hook, name, "" if is_said else _ENFORCEMENT)


def _is_told(hook: Hook, name: str) -> bool:
    query = "SELECT 1 FROM sent WHERE session = ? AND hash = ?"
    return hook.store.one(query, hook.session.n, name) is not None


def _tell_once(hook: Hook, name: str, text: str) -> Outcome:
    from sisyphus.sessions import ledger

    if not ledger.record_notice(hook, name) or not text:
        return Outcome()
    return Outcome(messages=[text], notes=[text])


def _of_lost_hold(plan: str) -> str:
    return (
        f"The hold of the plan {paths.display(plan, '')} is not known any more: the database has "
        "lost it, and sessions may stop. Start it again with `sisyphus boulder hold on`, or end it "
        "with `sisyphus boulder hold off`."
    )


def _of_unknown_session(plan: str) -> str:
    return (
        f"The hold of the plan {paths.display(plan, '')} does not hold this session: the database "
        "does not know that it follows the plan. `sisyphus boulder start` lets it follow the plan."
    )


_ENFORCEMENT = (
    "Enforcement of this project is not known any more: the database has lost it, and sessions may "
    "stop. Switch it on again with `sisyphus enforce on`, or off with `sisyphus enforce off`."
)


# ---------------------------------------------------------------- a row lets the session stop


def is_odd(hook: Hook) -> bool:
    """Tells whether numbers may be what keeps enforcement from a session: they would be saved again
    as if they were sound."""
    query = (
        "SELECT 1 FROM enforcement WHERE session = ? AND NOT "
        "(is_stopped IN (0, 1) AND is_pending IN (0, 1) AND at BETWEEN 0 AND ?)"
    )
    return hook.store.one(query, hook.session.n, hook.now + _DAY) is not None


def of_rest(hook: Hook, *, is_said: bool) -> list[str]:
    """Returns what the user hears of a session that may stop until their next prompt: once, and
    nothing if this Stop says it anyway. Who wrote that into the row may not have said it."""
    from sisyphus.ground.text import one_line
    from sisyphus.sessions import ledger

    why = hook.session.rests
    if not why or not ledger.record_notice(hook, f"rests: {why}") or is_said:
        return []
    return [f"This session may stop until your next prompt: {one_line(why)}"]


# ---------------------------------------------------------------- the session is held again


def after_block(our_home: str, event: Event) -> list[Export]:
    """Returns what removes the record of an earlier Stop, so that the next outage is told, too."""
    file = record_file(our_home, event)
    return [partial(os.unlink, file)] if os.path.lexists(file) else []


# ---------------------------------------------------------------- the next start


def look_at_start(hook: Hook, our_home: str) -> Act | None:
    """Says at a start what the session's last Stops may have said to nobody."""
    file = record_file(our_home, hook.event)
    text = files.tail(file, _FILE_BYTES).decode("utf-8", "replace").strip()
    return partial(_tell_again, file, text) if text else None


def _tell_again(file: str, text: str) -> Outcome:
    return Outcome(messages=[f"At its last Stop: {text}"], exports=[partial(os.unlink, file)])
