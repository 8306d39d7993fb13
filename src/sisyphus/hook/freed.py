"""Tells the user that a session may stop though a loop, a hold or enforcement should make it go on:
the database cannot be used, or it has lost the loop.

What is not in the database lies in our folder: the state file of each session's loop, and
`freed/SESSION`, what a session was told. That file lets each session hear it once, and again at its
next start, which removes it.
"""

from __future__ import annotations

import os
from functools import partial

from sisyphus import files, log
from sisyphus.hook import standing
from sisyphus.hook.outcome import Outcome
from sisyphus.store import open_anyhow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.hook.event import Event
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act

LOCKED = "another process has locked the database for more than a minute"

_FILE_BYTES = 1_000_000
"""More than any state file has."""


def record_file(our_home: str, event: Event) -> str:
    """Returns the file that says what a session was told."""
    return os.path.join(our_home, "freed", event.session)


# ---------------------------------------------------------------- the store cannot be used


def look_without_store(hook: Hook, our_home: str, loop_file: str) -> Act | None:
    """Looks in whatever of the database can be read, and at the loop's state file."""
    is_told = os.path.lexists(record_file(our_home, hook.event))
    if is_told or not _should_go_on(hook.event, hook.project, our_home, loop_file):
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
    event: Event, project: str, our_home: str, loop_file: str, error: Exception
) -> Outcome | None:
    """Returns what the user hears at a Stop that could not be answered; None if nobody should hold
    the session."""
    if not _should_go_on(event, project, our_home, loop_file):
        return None
    code = getattr(error, "sqlite_errorname", "")
    problem = (
        LOCKED if code.startswith("SQLITE_BUSY") else f"this Stop could not be answered ({error})"
    )
    return _tell(our_home, event, problem)


def _should_go_on(event: Event, project: str, our_home: str, loop_file: str) -> bool:
    """Answers the same where the store cannot be used: a later version's may have the same tables,
    and a disk that is full can be read."""
    store = open_anyhow(our_home)
    try:
        state = standing.load(store, event, project) if store else None
        if state and (state.loop or state.is_unattended):
            return state.is_unattended
    except Exception as error:
        log.write(f"freed: the database cannot be read: {error!r}")
    finally:
        if store:
            store.close()
    return os.path.lexists(loop_file)


# ---------------------------------------------------------------- the store has lost the loop


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
    if has_ended and outcome == "error":
        is_said = any(id in text for text in news)
        return partial(_forget, file) if is_said else partial(_tell_end, file, id, why)
    if not has_ended and path == file:
        return partial(_end_stray, hook, file, id)
    return None  # a hook was killed before it removed the file


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
    from sisyphus.repair import end_loop

    end_loop(hook.store, id)
    return _tell_end(file, id, "its row in the database names another session")


def _set_aside(file: str) -> None:
    """Renames a state file: at the next Stop nobody asks again."""
    os.replace(file, f"{file}.lost")


# ---------------------------------------------------------------- the next start


def look_at_start(hook: Hook, our_home: str) -> Act | None:
    """Says at a start what the session's last Stops may have said to nobody."""
    file = record_file(our_home, hook.event)
    text = files.tail(file, _FILE_BYTES).decode("utf-8", "replace").strip()
    return partial(_tell_again, file, text) if text else None


def _tell_again(file: str, text: str) -> Outcome:
    return Outcome(messages=[f"At its last Stop: {text}"], exports=[partial(os.unlink, file)])
