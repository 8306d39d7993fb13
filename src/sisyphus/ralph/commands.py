"""`sisyphus ralph`: manages loops and runs from any shell and folder. A loop heeds a change at its
next Stop, and a run when its process looks at its row."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.paths import display
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.hook.session import Session
from sisyphus.loops import (
    history,
    iterations,
    lifecycle,
    loops,
    messages,
    state_file,
    stats,
    transcripts,
    user_actions,
)
from sisyphus.loops.loop import (
    DEFAULT_ITERATIONS,
    DEFAULT_MINUTES,
    HOLD,
    LOOP,
    MAX_DEPTH,
    RESULTS,
    RUN,
    UNBOUNDED_ITERATIONS,
    Loop,
    Work,
)
from sisyphus.loops.runs import Run
from sisyphus.ralph import arguments
from sisyphus.sessions import sessions
from sisyphus.terminal import asker, completion, show

SessionId = Annotated[
    str,
    typer.Option(
        "--session-id", metavar="ID", help="Session of the loop. Default: the current session."
    ),
]


def _complete_loop(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Returns the ids that a command takes, and their tasks, for the shell."""
    with completion.store() as store:
        live, ended = loops.unended(store), loops.ended(store, completion.MOST)
    picked = {
        "pause": [loop for loop in live if loop.is_active],
        "resume": [loop for loop in live if not loop.is_active],
        "cancel": live,
        "delete": ended,
    }.get(ctx.info_name or "", live + ended)
    fitting = [loop for loop in picked if loop.id.startswith(incomplete)][: completion.MOST]
    return [(loop.id, completion.harmless(one_line(loop.task, 60))) for loop in fitting]


LoopId = Annotated[
    str,
    typer.Argument(
        metavar="[LOOP]",
        help="Loop id, five characters, as `ralph list` or `ralph log` shows it.",
        autocompletion=_complete_loop,
    ),
]


_DECLINED = 1
"""The exit code where the user has said no."""

OUTCOMES = tuple(messages.outcome(result) for result in RESULTS)
"""The results of loops, as `ralph log` spells them."""


def _complete_outcome(incomplete: str) -> list[str]:
    return [word for word in OUTCOMES if word.startswith(incomplete)]


def start(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="[-- TASK]", help="The task, after --.")
    ] = None,
    completion_promise: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="End the loop when the agent says these words."),
    ] = None,
    max_iterations: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="End the loop after N iterations; 0 = no limit. "
            f"Default: {DEFAULT_ITERATIONS}, or {UNBOUNDED_ITERATIONS} if nothing else ends it.",
        ),
    ] = None,
    max_minutes: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="End the loop after N minutes, or 8h, pauses not counted; 0 = no limit. "
            f"Default: {DEFAULT_MINUTES:,}, a day.",
        ),
    ] = None,
    max_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="End the loop after N tokens of all its agents; 0 = no limit. Default: 0.",
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="End the loop only if this command exits 0."),
    ] = None,
    verify_plan: Annotated[
        bool,
        typer.Option("--verify-plan", help="End the loop only if the session's plan is complete."),
    ] = False,
    prompt_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Read the task from a file.")
    ] = None,
    wait_for_user: Annotated[
        bool, typer.Option("--wait-for-user", help="Let the agent stop to ask you a question.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Cancel the session's loops and start this one.")
    ] = False,
    session: SessionId = "",
    project: show.Project = "",
) -> None:
    """Start a loop: `sisyphus ralph start --completion-promise DONE -- "Make it green"`."""
    values = {
        "completion-promise": completion_promise,
        "max-iterations": max_iterations,
        "max-minutes": max_minutes,
        "max-tokens": max_tokens,
        "verify": verify,
        "prompt-file": prompt_file,
        "verify-plan": "yes" if verify_plan else None,
        "wait-for-user": "yes" if wait_for_user else None,
    }
    options = {name: value for name, value in values.items() if value is not None}
    by_model = not show.asker().is_user
    request = arguments.build(options, " ".join(prompt or []), by_model=by_model)
    place = show.place(project)
    if not place.store.is_durable:
        raise SisyphusError(messages.refused(f"{place.store.problem}."))
    if force:
        show.need_user("/ralph-loop")
    _apply_edits(place.store)
    if session and session != asker.session_of(place.store, "").id:
        show.need_user("/ralph-loop in that session")
    meant = asker.session_of(place.store, session)
    if not meant.id:
        meant = _only_open_session(place)
        show.line(f"The session is {meant.id}, the only open one of this project.", "dim")
    loop = lifecycle.new_loop(
        place.project, request.prompt, request.options, time.time(), by_model=by_model
    )
    loop.counters.is_untold = not by_model
    if meant.n and lifecycle.lacks_plan(place.store, meant, loop):
        raise SisyphusError(messages.NEEDS_PLAN)
    with place.store.write():
        own = sessions.ensure_by_id(place.store, meant.id, place.project, loop.started_at)
        other = loops.current(place.store, own)
        if loops.run_of(place.store, own):
            raise SisyphusError(messages.refused(messages.IN_RUN))
        if other and not (force or by_model):
            raise SisyphusError(messages.still_running(other))
        if lifecycle.is_too_deep(place.store, own, loop):
            raise SisyphusError(messages.too_deep(MAX_DEPTH))
        replaced = lifecycle.start(place.store, own, loop)
    lifecycle.export(place.store, own)
    if replaced:
        show.line(messages.cancelled(replaced))
    show.line(messages.started(loop))
    show.what_is_off(place, "ralph.enabled")
    asker.warn_of_new(meant)
    if meant.n and meant.id != show.asker().session:
        show.line(messages.begins(loop))


def log(
    id: LoopId = "",
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Show the last N ended loops.")
    ] = 20,
    with_stats: Annotated[
        bool, typer.Option("--stats", help="Show figures over the loops that have ended.")
    ] = False,
    days: Annotated[
        int, typer.Option(min=0, metavar="N", help="For --stats: only the last N days; 0 = all.")
    ] = 0,
    project: Annotated[
        str, typer.Option(metavar="DIR", help="List only the loops of this project. Default: all.")
    ] = "",
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help=f"List only loops that ended so: {', '.join(OUTCOMES)}. May be repeated.",
            autocompletion=_complete_outcome,
        ),
    ] = None,
    as_json: show.AsJson = False,
) -> None:
    """List ended loops and runs, newest first, or what one of them did, or figures over all."""
    if (id and with_stats) or (days and not with_stats):
        raise UsageError("--stats is about all loops, and only --stats takes --days.")
    if (project or outcome) and (id or with_stats):
        raise UsageError("--project and --outcome filter the list, not one loop or --stats.")
    results = {_result(word) for word in outcome or ()}
    place = show.project_root(project) if project else ""
    store = open_store()
    if with_stats:
        _log_stats(store, days, as_json)
    elif id:
        _log_stops(store, user_actions.require(store, id), as_json)
    else:
        found = loops.ended(store, limit, place, results)
        none = "No such loop has ended." if place or results else "No loop has ended yet."
        _log_loops(store, found, none, as_json)


def _result(word: str) -> str:
    """Returns the result that an outcome on the command line means: as the list or as --json spells
    it. Raises `UsageError`."""
    result = next((each for each in RESULTS if word in (each, messages.outcome(each))), "")
    if not result:
        raise UsageError(
            f"{word} is no outcome. Use one of: {', '.join(OUTCOMES)}. What is paused, stuck or "
            "blocked has not ended: `sisyphus ralph list`."
        )
    return result


def _log_stats(store: Store, days: int, as_json: bool) -> None:
    since = time.time() - days * 24 * 3600 if days else 0.0
    figures = stats.of(store, loops.ended_since(store, since))
    if as_json:
        show.as_json({"days": days or None, **figures})
        return
    for line in stats.lines(figures):
        show.line(line)


def _log_stops(store: Store, loop: Work, as_json: bool) -> None:
    rows = iterations.of(store, loop)
    has_several = isinstance(loop, Run) and loop.setup.has_several
    if as_json:
        files = [transcripts.iteration_file(loop.id, each.number) or None for each in rows]
        show.as_json([
            iterations.as_dict(each, loop) | {"transcript": file}
            for each, file in zip(rows, files, strict=True)
        ])  # fmt: skip
        return
    for each in rows:
        show.line(f"{show.clock(each.at)}  {each.number}: {each.decision}, {each.why}")
        client = each.client if has_several else ""
        if loop.kind == RUN and (facts := messages.iteration_facts(each, client)):
            show.line(facts, "dim", indent=4)
    if not rows:
        show.line("No iteration has ended yet." if loop.kind == RUN else "No Stops yet.")
    if os.path.exists(file := transcripts.full_file(loop.id)):
        show.line(messages.transcripts(display(file, "")), "dim")
    if loop.kind == RUN and os.path.exists(file := transcripts.report_file(loop.id)):
        show.line(f"Report: {display(file, '')}", "dim")


def _log_loops(store: Store, ended: list[Work], none: str, as_json: bool) -> None:
    """none: what to say if the list is empty."""
    if as_json:
        rows = [history.as_dict(store, loop, user_actions.owner_id(store, loop)) for loop in ended]
        show.as_json([row | {"kind": loop.kind} for row, loop in zip(rows, ended, strict=True)])
        return
    here = show.project_root("")
    for loop in ended:
        made = messages.iterations(iterations.made(store, loop))
        result = f"{'run, ' * (loop.kind == RUN)}{messages.outcome(loop.result)}"
        where = "" if loop.project == here else f" (in {display(loop.project, '')})"
        show.line(f"{show.clock(loop.ended_at or 0.0)}  {loop.id}  {result}, {made}: "
                  f"{one_line(loop.task, 80)}{where}")  # fmt: skip
    if not ended:
        show.line(none)


def pause(id: LoopId = "", session: SessionId = "") -> None:
    """Pause a loop, so that its session can stop, or a run, so that it stops after its iteration.
    `resume` continues it."""
    store = open_store()
    picked = _pick_loop(store, "pause", id, session, lambda loop: loop.is_active)
    _need_owner([picked])
    loop = user_actions.pause(store, picked)
    show.line(messages.paused(loop))
    if soon := user_actions.stops_soon(loop):
        show.line(soon)
    _tell_project(loop, id)


def resume(
    id: LoopId = "",
    session: SessionId = "",
    force: Annotated[
        bool, typer.Option("--force", help="Cancel the loops of the session that it moves to.")
    ] = False,
) -> None:
    """Resume a paused loop. With an id and --session-id, move it to that session first."""
    store = open_store()
    session_of = "" if id else session
    picked = _pick_loop(store, "resume", id, session_of, lambda loop: not loop.is_active)
    owner = user_actions.owner_id(store, picked)
    if id and session and not isinstance(picked, Loop):
        raise SisyphusError(messages.not_to_move(picked))
    if id and session and session != owner:
        show.need_user()
        session = asker.session_of(store, session).id
    if id and session and session != owner and isinstance(picked, Loop):
        if cancelled := _move(store, picked, session, force=force):
            show.line(messages.cancelled(cancelled))
        loop, was_paused = user_actions.reactivate(store, picked)[0], True
    else:
        loop, was_paused = user_actions.resume(store, picked)
    if user_actions.is_left(store, loop):
        show.line(messages.resumed_left(loop, lifecycle.way_back(store, loop)))
        return
    show.line(messages.resumed(loop) if was_paused else messages.not_paused(loop))
    begins = messages.begins(loop)
    if begins and (not owner or owner != show.asker().session):
        show.line(begins)
    _tell_project(loop, id)


def delete(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...", help="Loops that have ended.", autocompletion=_complete_loop
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete loops and runs that have ended, with all that is known of their Stops. On a terminal
    it asks."""
    store = open_store()
    picked = [user_actions.require(store, id) for id in ids]
    _need_owner(picked)
    names = " and ".join(loop.id for loop in picked)
    is_asked = not yes and sys.stdin and sys.stdin.isatty()
    if is_asked and not typer.confirm(
        f"Delete {names}, with all transcripts? There is no way back."
    ):
        show.line("Nothing was deleted.")
        raise typer.Exit(_DECLINED)
    user_actions.delete(store, picked)
    show.line(messages.deleted(picked))


def cancel(id: LoopId = "", session: SessionId = "") -> None:
    """Cancel a loop, hold or run. Without an id: all loops of the session that you are in, else
    those of the only session of this project that has one, and the hold of its plan."""
    store = open_store()
    picked = _pick_loop(store, "cancel", id, session)
    if id or picked.kind != LOOP:
        _need_owner([picked], "" if picked.kind == RUN else "/cancel-ralph")
        cancelled = [user_actions.cancel(store, picked)]
    else:
        owner = Session.load(store, picked.session)
        _need_owner(loops.live(store, owner), "/cancel-ralph")
        with store.write():
            now = time.time()
            cancelled = [*lifecycle.cancel_all(store, owner, messages.BY_USER, now)]
            if show.asker().is_user:
                cancelled += lifecycle.cancel_hold(store, owner, messages.BY_USER, now)
        lifecycle.export(store, owner)
    show.line(messages.cancelled(cancelled))
    _tell_project(picked, id)


def _tell_project(loop: Work, id: str) -> None:
    """Names the loop's project if it is another one, and the user did not name the loop."""
    if not id and loop.project != show.project_root(""):
        show.line(messages.elsewhere(display(loop.project, "")))


def _need_owner(picked: Sequence[Work], typed: str = "") -> None:
    """Raises `SisyphusError` if the model may be asking about a loop of the user. typed: the slash
    command that does the same; "" = there is none."""
    if not all(loop.by_model for loop in picked):
        show.need_user(typed)


def open_store() -> Store:
    """Opens the store, and applies edits of state files first."""
    store = show.place().store
    _apply_edits(store)
    return store


def _apply_edits(store: Store) -> None:
    """Applies edits of state files, and prints what they changed."""
    edited = {loop.session for loop in loops.all_live(store) if state_file.find_edit(loop)}
    for number in edited:
        with store.write():
            session = Session.load(store, number)
            live = loops.live(store, session)
            effects = lifecycle.apply_edits(store, session, live, time.time())
        lifecycle.export(store, session)
        for effect in effects:
            typer.echo(effect, err=True)


def _only_open_session(place: show.Place) -> Session:
    """Returns the only session of the project that has not ended. Raises `SisyphusError` if there
    is none, or several, or if the model may be asking."""
    found = sessions.open_in(place.store, place.project) if show.asker().is_user else []
    if len(found) == 1:
        return found[0]
    which = "Several sessions are open in this project" if found else "No session is open here"
    raise SisyphusError(f"{which}. Give one with --session-id; `sisyphus sessions` lists them.")


def _pick_loop(
    store: Store, verb: str, id: str, session: str, fits: Callable[[Work], bool] = lambda _: True
) -> Work:
    """Returns the loop to act on: by id, else the session's current loop, else that of the only
    session in the project that has one. Those that fit the command go first. Where no loop is, it
    is a hold, and where no hold is, a run. verb: the command. Raises `SisyphusError` if there is
    none, or several."""
    if id:
        return user_actions.require(store, id)
    owner = asker.session_of(store, session)
    if owner.id:
        both = loops.current(store, owner), loops.hold_of(store, owner)
        own: list[Work] = [each for each in both if each]
        running = [each for each in own if fits(each)][:1] or own[:1]
    else:
        everywhere, project = loops.unended(store), show.project_root("")
        running = [loop for loop in everywhere if loop.project == project]
        if everywhere and not running:
            raise SisyphusError(messages.only_elsewhere(verb, everywhere, project))
        running = [loop for loop in running if fits(loop)] or running
        kinds = {loop.kind for loop in running}
        kind = next((kind for kind in (LOOP, HOLD, RUN) if kind in kinds), "")
        running = [loop for loop in running if loop.kind == kind]
        if kind == LOOP and len({loop.session for loop in running}) == 1:  # perhaps nested
            current = loops.current(store, Session.load(store, running[0].session))
            running = [current] if current and fits(current) else running[:1]
    if len(running) > 1:
        raise SisyphusError(messages.which(running))
    if not running:
        raise SisyphusError("No loop is running here. `sisyphus ralph list` lists all that are.")
    return running[0]


def _move(store: Store, loop: Loop, id: str, *, force: bool) -> list[Loop]:
    """Moves a loop to the session `id`, and cancels that session's loops; returns these. Raises
    `SisyphusError` if it has one and there is no `force`."""
    old, now = Session.load(store, loop.session), time.time()
    with store.write():
        new = sessions.ensure_by_id(store, id, loop.project, now)
        other = loops.current(store, new)
        if other and not force:
            raise SisyphusError(messages.still_running(other))
        cancelled = lifecycle.cancel_all(store, new, f"replaced by {loop.id}", now)
        lifecycle.move(store, loop, new)
    lifecycle.export(store, old)
    return cancelled
