"""Makes a handoff of a session: gathers its facts, and writes its document."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass

from sisyphus import clients, exports, paths, worktree
from sisyphus.boulder import follow
from sisyphus.boulder import record as plans
from sisyphus.handoff import document, facts, messages
from sisyphus.handoff import record as handoffs
from sisyphus.handoff.record import OPEN, Handoff
from sisyphus.ralph import loop as loops
from sisyphus.ralph import runs
from sisyphus.sessions.usage import Usage
from sisyphus.store import Store
from sisyphus.text import fingerprint

_TRANSCRIPT_BYTES = 20_000_000
"""The most that we read of a transcript, from its end: about half a second."""

_IGNORE = b"# Handoffs of sisyphus are for one machine.\n*\n"


@dataclass(slots=True, eq=False, repr=False)
class Source:
    """What a handoff is made of.

    session: the number of its row; id: the client's. transcript: the client's file of it.
    """

    store: Store
    client: str
    session: int
    id: str
    project: str
    transcript: str


@dataclass(slots=True, eq=False, repr=False)
class Draft:
    """A handoff that is not written yet."""

    handoff: Handoff
    text: str


def draft(source: Source, usage: Usage, level: int, why: str, now: float) -> Draft:
    """Returns a session's handoff. Slow: reads the transcript and asks git. why: CONTEXT,
    COMPACTION or BY_USER, of `messages`."""
    store, session = source.store, source.session
    loop = loops.run_of(store, session) or loops.current(store, session)
    loop = loop or loops.hold_of(store, session)
    plan = plans.of_session(store, session)
    item = runs.now(store, loop).item if loop and loop.is_run else ""
    read = clients.transcript(source.client).read
    known = facts.gather(
        read(source.transcript, limit=_TRANSCRIPT_BYTES),
        source.project,
        task=loop.prompt if loop and not loop.is_hold else "",
        next_task=item or (plan.next_task if plan else ""),
        progress=messages.progress(plan.name, follow.of_tasks(plan.completed, plan.total))
        if plan
        else "",
        changed=worktree.changed(source.project, _started_at(source, loop), now),
        todos=[str(todo["content"]) for todo in plan.todos if todo.get("status") != "completed"]
        if plan
        else (),
        aside=[plan.path] if plan else (),
    )
    file = _new_file(source.project, loop.id if loop else source.id[:8], now)
    shown = paths.display(file, source.project)
    before = handoffs.open_of(source.store, source.session)
    heading = messages.heading(source.id, loop, usage, level, why, now, before, source.project)
    block = document.resume_block(known, shown, messages.occasion(usage, level, why))
    handoff = Handoff(
        source.session, loop.id if loop else "", source.project, file, OPEN, level, usage.percent,
        now, block, known.next_step, json.dumps([[f.path, f.lines] for f in known.resumed]),
    )  # fmt: skip
    return Draft(handoff, document.render(known, heading))


def write(made: Draft) -> None:
    """Writes the document. Raises `OSError`."""
    ignore = os.path.join(os.path.dirname(made.handoff.file), ".gitignore")
    if not os.path.lexists(ignore):
        exports.replace(ignore, _IGNORE)
    exports.replace(made.handoff.file, made.text.encode("utf-8", "replace"))


def folder_of(project: str) -> str:
    """Returns where the handoffs of a project are written: in it, or in our home if the project's
    own folder is a link or cannot be one."""
    folder = os.path.join(project, worktree.HANDOFFS)
    if paths.can_be_project(project) and os.path.realpath(folder) == folder:
        return folder
    return os.path.join(paths.our_home(), "projects", fingerprint(project), "handoffs")


def _started_at(source: Source, loop: loops.Loop | None) -> float:
    row = source.store.one("SELECT started_at, seen_at FROM session WHERE n = ?", source.session)
    started = (row[0] or row[1]) if row else 0.0
    return min(started, loop.started_at) if loop and not loop.is_run else float(started)


def _new_file(project: str, name: str, now: float) -> str:
    """Returns a path that does not exist yet."""
    stem = os.path.join(
        folder_of(project), f"{time.strftime('%Y-%m-%d-%H%M', time.localtime(now))}-{name}"
    )
    path, number = f"{stem}.md", 1
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}.md"
    return path
