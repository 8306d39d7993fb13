"""Makes a handoff of a session: gathers its facts, and writes its document."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from errno import EACCES

from sisyphus import clients
from sisyphus.boulder import find, follow, plans
from sisyphus.boulder.plans import PlanRecord
from sisyphus.ground import exports, files, paths, worktree
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, replace
from sisyphus.ground.store import Store
from sisyphus.handoff import document, facts, handoffs, messages
from sisyphus.handoff.facts import Facts
from sisyphus.handoff.handoffs import OPEN, Handoff
from sisyphus.loops import loops, runs
from sisyphus.loops.loops import Loop
from sisyphus.sessions import messages as session_messages
from sisyphus.sessions import usage as usages
from sisyphus.sessions.usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.settings import Values

_TRANSCRIPT_BYTES = 10_000_000
"""The most that we read of a transcript, from its end: about a second's work."""

_IGNORE = b"# Handoffs of sisyphus are for one machine.\n*\n"


class Source(Record):
    """What a handoff is made of.

    session: the number of its row; id: the client's. transcript: the client's file of it.
    """

    store: Store
    client: str
    session: int
    id: str
    project: str
    transcript: str


class Draft(Record):
    """A handoff that is not written yet. is_written: its document is the last one of the session,
    which says all that it would."""

    handoff: Handoff
    text: str
    is_written: bool = False


def draft(source: Source, usage: Usage, level: int, why: str, now: float) -> Draft:
    """Returns a session's handoff. Slow: reads the transcript and asks git. It makes the folder of
    the document, so that what we say of it is true. why: CONTEXT, COMPACTION, BY_USER, CUT_OFF or
    STUCK, of `messages`. Raises `OSError` if nothing can be written."""
    loop, plan = _work(source, now)
    known = _facts(source, loop, plan, now)
    before = _before(source, now)
    heading = messages.heading(source.id, loop, usage, level, why, now, before)
    text = document.render(known, heading)
    # The model gets each text once. So what it is told of a level again has to name another file.
    is_again = before and before.why == why == messages.CONTEXT and before.level == level
    is_written = not is_again and _says_the_same(source, before, text)
    if before and is_written:
        file, before = before.file, _before(source, before.at)
    else:
        # Several sessions may work under one hold, in the same minute.
        name = loop.id if loop and not loop.is_hold else session_messages.short(source.id)
        file = _new_file(source.project, name, now)
    block = _block(source, known, file, messages.occasion(usage.percent, level, why), before)
    handoff = Handoff(
        source.session, loop.id if loop else "", source.project, file, OPEN, level, usage.percent,
        now, block, known.next_step, _resumed(known), _open_plan(source), why,
    )  # fmt: skip
    return Draft(handoff, text, is_written=is_written)


def renew(store: Store, handoff: Handoff, now: float) -> Handoff:
    """Returns a handoff with what has happened since in what the next session gets. The document
    stays, with all that the agent has added. Slow if the transcript has changed."""
    row = store.one("SELECT client, id, transcript FROM session WHERE n = ?", handoff.session)
    client, id, transcript = row or ("", "", "")
    if not os.path.isfile(transcript) or worktree.changed_at(transcript) <= handoff.at:
        return handoff
    source = Source(store, client, handoff.session, id, handoff.project, transcript)
    known = _facts(source, *_work(source, now), now)
    occasion = messages.occasion(handoff.percent, handoff.level, handoff.why)
    block = _block(source, known, handoff.file, occasion, _before(source, handoff.at))
    return replace(handoff, resume=block, summary=known.next_step, files=_resumed(known))


def of_cut_session(store: Store, settings: Values, session: int, now: float) -> Handoff | None:
    """Writes a handoff of a session that was cut off, and inserts it; returns it, or the open one
    as it is now. session: the number of its row. None = nothing is known of what it did, or nothing
    can be written."""
    if own := handoffs.open_of(store, session):
        return renew(store, own, now)
    row = store.one("SELECT client, id, project, transcript FROM session WHERE n = ?", session)
    if row is None or not os.path.isfile(row[3]):
        return None
    client, id, project, transcript = row
    used = usages.read(store, settings, client, session, transcript)
    source = Source(store, client, session, id, project, transcript)
    with suppress(OSError):
        made = draft(source, used, used.level(settings), messages.CUT_OFF, now)
        write(made)
        with store.write():
            handoffs.insert(store, made.handoff)
        return made.handoff
    return None


def plan_of(store: Store, session: int, now: float) -> PlanRecord | None:
    """Returns the plan that a session follows, as its file is now: the row may not know yet what
    the same tool calls have ticked. None = it follows none."""
    plan = plans.of_session(store, session)
    return follow.compare(plan, find.read(plan.path, plan.project), now).record if plan else None


def _work(source: Source, now: float) -> tuple[Loop | None, PlanRecord | None]:
    """Returns the loop, hold or run of a session, and its plan."""
    store, session = source.store, source.session
    loop = loops.run_of(store, session) or loops.current(store, session)
    return loop or loops.hold_of(store, session), plan_of(store, session, now)


def _open_plan(source: Source) -> str:
    """Returns the path of the plan for which the handoff is; "" = none. One whose last task has
    just been ticked counts: the handoff is closed as soon as its row says so."""
    plan = plans.of_session(source.store, source.session)
    return plan.path if plan and plan.is_open else ""


def _facts(source: Source, loop: Loop | None, plan: PlanRecord | None, now: float) -> Facts:
    item = runs.of(source.store, loop).state.item if loop and loop.is_run else ""
    transcript = clients.transcript(source.client)
    task = loop.prompt if loop and not loop.is_hold else ""
    is_cut = _size(source.transcript) > _TRANSCRIPT_BYTES
    return facts.gather(
        transcript.read(source.transcript, limit=_TRANSCRIPT_BYTES),
        source.project,
        task=task or (transcript.first_prompt(source.transcript) if is_cut else ""),
        is_cut=is_cut,
        next_task=item or (plan.next_task if plan else ""),
        progress=messages.progress(plan.name, follow.of_tasks(plan.completed, plan.total))
        if plan
        else "",
        changed=worktree.changed(source.project, _started_at(source, loop), now),
        todos=[str(todo["content"]) for todo in plan.todos if todo.get("status") != "completed"]
        if plan
        else (),
        aside=[plan.path] if plan else (),
        has_user=not (loop and loop.is_run),
        is_all_done=bool(plan and plan.state == plans.COMPLETE and _open_plan(source)),
    )


def _block(source: Source, known: Facts, file: str, occasion: str, before: Handoff | None) -> str:
    earlier = messages.place(before) if before else ""
    return document.resume_block(known, paths.display(file, source.project), occasion, earlier)


def _before(source: Source, at: float) -> Handoff | None:
    """Returns the handoff from which the session went on, or that it wrote before: the agent has
    added to it what is nowhere else."""
    before = handoffs.before(source.store, source.session, at)
    return before if before and os.path.isfile(before.file) else None


def _says_the_same(source: Source, before: Handoff | None, text: str) -> bool:
    """Tells whether the session wrote a handoff whose document has the text of another below its
    heading, and nothing else. What the agent has added to the heading stays there."""
    if before is None or before.session != source.session:
        return False
    try:
        return document.body(files.read(before.file)) == document.body(text)
    except UnreadableError:
        return False


def _resumed(known: Facts) -> str:
    return json.dumps([[file.path, file.lines] for file in known.resumed])


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def write(made: Draft) -> None:
    """Writes the document, if it is not written. Raises `OSError`."""
    if made.is_written:
        return
    ignore = os.path.join(os.path.dirname(made.handoff.file), ".gitignore")
    if not os.path.lexists(ignore):
        exports.replace(ignore, _IGNORE)
    exports.replace(made.handoff.file, made.text.encode("utf-8", "replace"))


def _folder(project: str) -> str:
    """Returns the folder for the handoffs of a project, and makes it: in the project, or in our
    home if the project's own is a link or cannot be written. Raises `OSError`."""
    own = os.path.join(paths.project_folder(paths.our_home(), project), "handoffs")
    folder = os.path.join(project, worktree.HANDOFFS)
    if paths.can_be_project(project) and os.path.realpath(folder) == folder:
        with suppress(OSError):
            return _writable(folder)
    return _writable(own)


def _writable(folder: str) -> str:
    files.make_folder(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), folder)
    return folder


def _started_at(source: Source, loop: Loop | None) -> float:
    row = source.store.one("SELECT started_at, seen_at FROM session WHERE n = ?", source.session)
    started = (row[0] or row[1]) if row else 0.0
    return min(started, loop.started_at) if loop and not loop.is_run else float(started)


def _new_file(project: str, name: str, now: float) -> str:
    """Returns a path that does not exist yet. Raises `OSError`."""
    stem = os.path.join(
        _folder(project), f"{time.strftime('%Y-%m-%d-%H%M', time.localtime(now))}-{name}"
    )
    path, number = f"{stem}.md", 1
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}.md"
    return path
