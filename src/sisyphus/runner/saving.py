"""Changes a run: its rows in one transaction, then the files and the notices about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from sisyphus.ground import exports
from sisyphus.hook.session import Session
from sisyphus.loops import history, iterations, loops, runs, transcripts
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.runs import Run
from sisyphus.runner import messages, project_files
from sisyphus.runner.runner import Runner
from sisyphus.sessions import notify
from sisyphus.sessions.turns import Turn

LONGEST_WAIT = 15 * 60
"""The longest time between two tries, in seconds, if nobody says when a limit ends."""


@contextmanager
def change(runner: Runner, run: Run) -> Iterator[bool]:
    """A transaction in which the run may be changed; it is saved at its end. Yields whether it has
    not ended: its status is read again, everything else is ours alone."""
    with runner.store.write():
        fresh = loops.find(runner.store, run.loop.id)
        if fresh is None:
            yield False
            return
        ours, theirs = run.loop.counters, fresh.counters
        theirs.iteration, theirs.tokens, theirs.evidence = (
            ours.iteration,
            ours.tokens,
            ours.evidence,
        )
        run.loop = fresh
        yield fresh.ended_at is None
        runs.save(runner.store, run)


def note_wait(runner: Runner, run: Run, why: str, until: float, now: float) -> None:
    """Notes until when the run waits: for a time that the client has named, else a bit longer at
    each try."""
    run.state.tries += 1
    doubled = runner.settings["runner.retry_seconds"] * 2.0 ** min(run.state.tries - 1, 10)
    run.state.waits_until = until + 1 if until > now else now + min(doubled, LONGEST_WAIT)
    run.state.waits_for = why


def export(runner: Runner, run: Run, text: str = "") -> None:
    """Writes the files of the run. text: of PROMPT.md; "" = it stays as it is."""
    rows = iterations.of(runner.store, run.loop)
    exports.run([
        partial(project_files.write, run, rows, text), partial(history.export, runner.store)
    ])  # fmt: skip


def write_down(runner: Runner, run: Run, done: Iteration, turn: Turn, check: str = "") -> None:
    """Writes the transcript of an iteration. check: what the run's check printed; "" = nothing."""
    session = Session.load(runner.store, run.session).id
    why = f"{done.decision}, {done.why}"
    entry = transcripts.Entry(run.loop, session, done.number, done.at, turn, check, why)
    exports.run([partial(transcripts.write, entry)])


def send(runner: Runner, run: Run, kind: str, why: str) -> None:
    """Runs the user's own command about a run."""
    command = runner.settings["notify.command"]
    if not command:
        return
    session = Session.load(runner.store, run.session).id
    notice = notify.Notice(
        kind, messages.notice_title(kind), messages.what_happened(run, why), runner.project,
        session, run.loop.id, run.loop.counters.iteration,
    )  # fmt: skip
    exports.run([partial(notify.send, command, notice)])
