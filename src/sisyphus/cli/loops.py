"""`sisyphus ralph list`: the loops, holds and runs that have not ended, and what they wait for."""

import time
from typing import Annotated, Any

import typer

from sisyphus import work
from sisyphus.ground.paths import display
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso, one_line
from sisyphus.loops import iterations, loops, state_file, user_actions
from sisyphus.loops.loop import HOLD, RUN, Hold, Loop, Work
from sisyphus.loops.runs import Run
from sisyphus.ralph.commands import LoopId, open_store
from sisyphus.terminal import asker, show
from sisyphus.work import Status


def list_loops(
    id: LoopId = "",
    session: Annotated[
        str,
        typer.Option(
            "--session-id", metavar="ID", help="List only the loops of this session. Default: all."
        ),
    ] = "",
    as_json: show.AsJson = False,
) -> None:
    """List the loops and runs that have not ended, or show one."""
    store = open_store()
    shown = [user_actions.require(store, id)] if id else loops.unended(store)
    if session and not id:
        owner = asker.session_of(store, session).id
        shown = [loop for loop in shown if owner in user_actions.session_ids(store, loop)]
    if as_json:
        rows = [_as_dict(store, loop) for loop in shown]
        show.as_json(rows[0] if id else rows)
        return
    if not shown:
        show.line("No loop is running.")
    now = time.time()
    for loop in shown:
        _print(work.of(store, loop, now), now)


def _print(status: Status, now: float) -> None:
    show.line(f"{status.id}  {work.in_words(status)}")
    show.line(one_line(status.task, 100), indent=4)
    whose = {
        HOLD: "hold of all sessions at the plan,",
        RUN: "run",
    }.get(status.kind, f"session {status.session}")
    item = f", works at: {one_line(status.item, 60)}" if status.item and status.is_working else ""
    place = display(status.project, "")
    if status.worktree:
        place = f"{place}, at work in {display(status.worktree, '')}"
    show.line(f"{whose} in {place}{item}", "dim", indent=4)
    for text in work.worker_lines(status, now):
        show.line(text, "dim", indent=4)
    if status.pending:
        show.line(status.pending, "yellow", indent=4)
    elif status.need:
        show.line(f"{status.need.brief} {status.need.answer}".strip(), "yellow", indent=4)


def _as_dict(store: Store, loop: Work) -> dict[str, Any]:
    if isinstance(loop, Run):
        row = work.run_as_dict(store, loop, time.time())
    else:
        row = state_file.as_dict(loop, user_actions.owner_id(store, loop))
        row["tokens"] = iterations.tokens(store, loop)
    file = loop.file if isinstance(loop, Loop) else ""
    row |= {"kind": loop.kind, "prompt": loop.prompt, "state_file_path": file or None}
    row |= {"plan": loops.plan_file(store, loop)} if isinstance(loop, Hold) else {}
    if loop.ended_at is not None:
        row |= {"outcome": loop.result, "ended_at": iso(loop.ended_at)}
    return row
