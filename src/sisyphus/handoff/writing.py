"""Makes a handoff of a session: gathers its facts, and writes its document."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from errno import EACCES

from sisyphus import clients
from sisyphus.boulder import follow, plans, which
from sisyphus.boulder.plans import PlanRecord
from sisyphus.ground import exports, files, paths, worktree
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, replace
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.handoff import document, facts, handoffs, messages
from sisyphus.handoff.facts import Facts
from sisyphus.handoff.handoffs import OPEN, Handoff
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.loops.loop import HOLD, Work
from sisyphus.loops.runs import Run
from sisyphus.sessions import messages as session_messages
from sisyphus.sessions import usage as usages
from sisyphus.sessions.usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.settings import Values

_TRANSCRIPT_BYTES = 10_000_000
"""The most that we read of a transcript, from its end: about a second's work."""

_IGNORE = b"# Handoffs of sisyphus are for one machine.\n*\n"


class Draft(Record):
    """A handoff that is not written yet. is_written: its document is the last one of the session,
    which says all that it would."""

    handoff: Handoff
    text: str
    is_written: bool = False


def draft(store: Store, session: Session, usage: Usage, level: int, why: str, now: float) -> Draft:
    """Returns a session's handoff. Slow: reads the transcript and asks git. It makes the folder of
    the document, so that what we say of it is true. why: CONTEXT, COMPACTION, BY_USER, CUT_OFF or
    STUCK, of `messages`. Raises `OSError` if nothing can be written."""
    loop, plan = _work(store, session, now)
    known = _facts(store, session, loop, plan, now)
    before = _before(store, session, now)
    heading = messages.heading(session.id, loop, usage, level, why, now, before)
    text = document.render(known, heading)
    # The model gets each text once. So what it is told of a level again has to name another file.
    is_again = before and before.why == why == messages.CONTEXT and before.level == level
    is_written = not is_again and _says_the_same(session, before, text)
    if before and is_written:
        file, before = before.file, _before(store, session, before.at)
    else:
        # Several sessions may work under one hold, in the same minute.
        name = loop.owner if loop and loop.kind != HOLD else session_messages.short(session.id)
        file = _new_file(session.project, name, now)
    block = _block(
        session.project, known, file, messages.occasion(usage.percent, level, why), before
    )
    handoff = Handoff(
        session.n, loop.owner if loop else "", session.project, file, OPEN, level, usage.percent,
        now, block, known.next_step, _resumed(known), _open_plan(store, session), why,
        said=known.last_words,
    )  # fmt: skip
    return Draft(handoff, text, is_written=is_written)


def renew(store: Store, handoff: Handoff, now: float) -> Handoff:
    """Returns a handoff with what has happened since in what the next session gets. The document
    stays, with all that the agent has added. Slow if the transcript has changed."""
    session = Session.load(store, handoff.session)
    transcript = session.transcript
    if not os.path.isfile(transcript) or worktree.changed_at(transcript) <= handoff.at:
        return handoff
    session.project = handoff.project
    known = _facts(store, session, *_work(store, session, now), now)
    occasion = messages.occasion(handoff.percent, handoff.level, handoff.why)
    before = _before(store, session, handoff.at)
    block = _block(handoff.project, known, handoff.file, occasion, before)
    said = known.last_words or handoff.said
    return replace(handoff, resume=block, summary=known.next_step, files=_resumed(known), said=said)


def of_cut_session(store: Store, settings: Values, session: Session, now: float) -> Handoff | None:
    """Writes a handoff of a session that was cut off, and inserts it; returns it, or the open one
    as it is now. None = nothing is known of what it did, or nothing can be written."""
    if own := handoffs.open_of(store, session):
        return renew(store, own, now)
    if not os.path.isfile(session.transcript):
        return None
    used = usages.of_session(session, settings)
    with suppress(OSError):
        made = draft(store, session, used, used.level(settings), messages.CUT_OFF, now)
        write(made)
        with store.write():
            handoffs.insert(store, made.handoff)
        return made.handoff
    return None


def _work(store: Store, session: Session, now: float) -> tuple[Work | None, PlanRecord | None]:
    """Returns the loop, hold or run of a session, and its plan."""
    loop = loops.run_of(store, session) or loops.current(store, session)
    return loop or loops.hold_of(store, session), which.followed_now(store, session, now)


def _open_plan(store: Store, session: Session) -> str:
    """Returns the path of the plan for which the handoff is; "" = none. One whose last task has
    just been ticked counts: the handoff is closed as soon as its row says so."""
    plan = plans.of_session(store, session)
    return plan.path if plan and plan.is_open else ""


def _facts(
    store: Store, session: Session, loop: Work | None, plan: PlanRecord | None, now: float
) -> Facts:
    item = loop.state.item if isinstance(loop, Run) else ""
    transcript = clients.transcript(session.client)
    task = loop.prompt if loop and loop.kind != HOLD else ""
    is_cut = files.size(session.transcript) > _TRANSCRIPT_BYTES
    progress, todos = "", []
    if plan:
        progress = f"Plan {one_line(plan.name, 60)}: {follow.of_tasks(plan.completed, plan.total)}"
        todos = [str(each["content"]) for each in plan.todos if each.get("status") != "completed"]
    return facts.gather(
        transcript.read(session.transcript, limit=_TRANSCRIPT_BYTES),
        session.project,
        task=task or (transcript.first_prompt(session.transcript) if is_cut else ""),
        is_cut=is_cut,
        next_task=item or (plan.next_task if plan else ""),
        progress=progress,
        changed=worktree.changed(session.project, _started_at(session, loop), now),
        todos=todos,
        aside=[plan.path] if plan else (),
        has_user=not isinstance(loop, Run),
        is_all_done=bool(plan and plan.state == plans.COMPLETE and _open_plan(store, session)),
    )


def _block(project: str, known: Facts, file: str, occasion: str, before: Handoff | None) -> str:
    earlier = messages.place(before) if before else ""
    return document.resume_block(known, paths.display(file, project), occasion, earlier)


def _before(store: Store, session: Session, at: float) -> Handoff | None:
    """Returns the handoff from which the session went on, or that it wrote before: the agent has
    added to it what is nowhere else."""
    before = handoffs.before(store, session, at)
    return before if before and os.path.isfile(before.file) else None


def _says_the_same(session: Session, before: Handoff | None, text: str) -> bool:
    """Tells whether the session wrote a handoff whose document has the text of another below its
    heading, and nothing else. What the agent has added to the heading stays there."""
    if before is None or before.session != session.n:
        return False
    try:
        return document.body(files.read(before.file)) == document.body(text)
    except UnreadableError:
        return False


def _resumed(known: Facts) -> str:
    return json.dumps([[file.path, file.lines] for file in known.resumed])


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


def _started_at(session: Session, loop: Work | None) -> float:
    started = session.started_at or session.seen_at
    return min(started, loop.started_at) if loop and not isinstance(loop, Run) else started


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
