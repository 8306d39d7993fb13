"""Starts, moves and cancels loops, and recognizes the slash commands that do so."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground import log
from sisyphus.hook.session import Session
from sisyphus.loops import history, loops, messages, state_file
from sisyphus.loops.loop import MAX_DEPTH, Counters, Hold, Loop, Options, Work, new_id
from sisyphus.sessions import command_names, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.store import Store
    from sisyphus.hook.hook import Hook

PLUGINS = ("sisyphus", "ralph-wiggum", "ralph-wiggum-pro", "ralph-loop")
"""The plugins whose commands we accept."""

START, CANCEL = "ralph-loop", "cancel-ralph"


def is_command(hook: Hook, name: str, command: str) -> bool:
    """Tells whether a name, such as `ralph-wiggum:ralph-loop`, means `command`."""
    plugin, _, rest = name.rpartition(":")
    if rest != command:
        return False
    return plugin in PLUGINS if plugin else command_names.own_name(hook, name) == command


def new_loop(
    project: str,
    prompt: str,
    options: Options,
    now: float,
    origin: str = "",
    *,
    by_model: bool = False,
) -> Loop:
    """Returns a loop that has not started yet. Reads the files of its check, so hold no lock."""
    counters = new_counters(project, options)
    return Loop(new_id(), project, prompt, options, now, counters, origin=origin, by_model=by_model)


def new_counters(project: str, options: Options) -> Counters:
    """Returns the counters of work that has not started yet. Reads the files of its check."""
    if not options.verify:
        return Counters()
    from sisyphus.loops import check_files  # imported late: every Stop loads this module

    return Counters(evidence=check_files.digest_files(options.verify, project))


def lacks_plan(store: Store, session: Session, loop: Loop) -> bool:
    """Tells whether a loop with `--verify-plan` has no open plan to complete: the plan of its
    session is complete; or the session follows none, and of its project's none is open, or several
    are and none of them is in use."""
    if not loop.options.verify_plan:
        return False
    rows = store.all(
        "SELECT n, state, json_extract(record, '$.is_chosen') FROM plan "
        "WHERE (n = ? AND state <> 'dismissed') OR (project = ? AND state = 'active')",
        session.plan, loop.project,
    )  # fmt: skip
    if own := [state for n, state, _ in rows if n == session.plan]:
        return own == ["complete"]
    in_use = {each.plan for each in sessions.with_plans(store)}
    return len(rows) != 1 and not any(n in in_use or is_chosen for n, _, is_chosen in rows)


def is_too_deep(store: Store, session: Session, loop: Loop) -> bool:
    """Tells whether a loop would be nested in too many others."""
    return loop.by_model and len(loops.live(store, session)) >= MAX_DEPTH


def start(store: Store, session: Session, loop: Loop) -> list[Loop]:
    """Starts a loop in a session, and returns the loops that it replaces.

    A loop of the user replaces all others. A loop of the model is nested: the others wait for it.
    """
    why = f"replaced by {loop.id}"
    replaced = [] if loop.by_model else cancel_all(store, session, why, loop.started_at)
    if not loop.by_model:
        _forget_trouble(store, session)
    loop.session = session.n
    loops.insert(store, loop)
    return replaced


def move(store: Store, loop: Loop, session: Session) -> None:
    """Moves a loop to another session."""
    loop.session = session.n
    _take_up(store, loop)


def resume(store: Store, session: Session, loop: Work, now: float) -> None:
    """Makes a paused loop of a session active again, and closes the breaker."""
    loop.resume(now)
    loops.save(store, loop)
    _forget_trouble(store, session)


def _forget_trouble(store: Store, session: Session) -> None:
    session.stops.forget_trouble()
    session.save(store)


def cancel_all(store: Store, session: Session, why: str, now: float) -> list[Loop]:
    """Cancels every loop of a session; returns them."""
    cancelled = loops.live(store, session)
    for loop in cancelled:
        loops.cancel(store, loop, why, now)
    return cancelled


def cancel_hold(store: Store, session: Session, why: str, now: float) -> list[Hold]:
    """Cancels the hold of the plan that a session follows; returns it, if there is one."""
    hold = loops.hold_of(store, session)
    if hold is None:
        return []
    loops.cancel(store, hold, why, now)
    return [hold]


def leave_behind(store: Store, now: float) -> list[Loop]:
    """Marks the loops whose session is over; returns them. They have not ended: a session that is
    resumed takes its loop up again."""
    left = loops.of_sessions_that_are_over(store)
    for loop in left:
        loop.left_at = now
        loops.save(store, loop)
    return left


def way_back(store: Store, loop: Work) -> str:
    """Returns the command of its client that resumes the session of a loop."""
    session = Session.load(store, loop.session)
    return f"{clients.native(session.client or clients.DEFAULT).RESUME} {session.id}"


def take_up(store: Store, live: list[Loop]) -> list[Loop]:
    """Takes up those of a session's loops that it left behind; returns them."""
    taken = [loop for loop in live if loop.left_at is not None and loop.ended_at is None]
    for loop in taken:
        _take_up(store, loop)
    return taken


def _take_up(store: Store, loop: Loop) -> None:
    if loop.left_at is not None:
        history.forget(store, loop)
    loop.left_at = None
    loops.save(store, loop)


def apply_edits(store: Store, session: Session, live: list[Loop], now: float) -> list[str]:
    """Applies edits of the state files of a session's loops, in the open transaction.

    Returns messages for the user: what an edit ended, paused or raised, and what had no effect.
    """
    effects = []
    for loop in live:
        if edit := state_file.find_edit(loop):
            before = loop.status, loop.options
            unusable = state_file.apply_edit(loop, edit, now)
            effects.append(messages.unusable(loop, unusable))
            if edit.problem:
                log.write(f"{loop.file} cannot be read and is set aside: {edit.problem}")
                state_file.set_aside(loop)
            loops.save(store, loop)
            if loop.is_active and before[0] != loop.status:
                _forget_trouble(store, session)
            effects.append(messages.edited(loop, *before))
    return [effect for effect in effects if effect]


def export(store: Store, session: Session) -> None:
    """Writes all files about a session's loops for other programs."""
    state_file.export(store, session)
    history.export(store)
