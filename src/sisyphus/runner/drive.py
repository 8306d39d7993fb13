"""A run while our process works at it: its place, its screen, its signals. A change goes to the
rows in one transaction; files and notices follow."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from sisyphus.clients.reports import ACCOUNT, Failure, Report
from sisyphus.ground import exports
from sisyphus.ground.masking import masked_line
from sisyphus.ground.record import Record, replace
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.hook.session import Session
from sisyphus.loops import history, iterations, loops, transcripts, workers
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.iterations import SAID_CHARACTERS, Iteration
from sisyphus.loops.loop import PAUSED
from sisyphus.loops.runs import Run, RunState
from sisyphus.runner import decide, messages, project_files, rota
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.runner.screen import Lines
from sisyphus.sessions import notify
from sisyphus.sessions.turns import Turn
from sisyphus.terminal.show import Place

_LONGEST_WAIT = 15 * 60
"""The longest time between two tries, in seconds, if nobody says when a limit ends."""

_TASK_CHARACTERS = 100

_TITLES = {
    "completion": "Run completed", "ended": "Run ended", "paused": "Run paused",
    "blocked": "The agent needs you", "failure": "Run failed", "checkpoint": "Run at a checkpoint",
}  # fmt: skip
"""Kinds of notices → their titles."""


class Drive(Record):
    """A run while our process works at it. place: where it works. screen: shows how it goes.
    signals: those that our process has got."""

    place: Place
    run: Run
    screen: Lines
    signals: Signals

    @property
    def store(self) -> Store:
        return self.place.store

    @property
    def folder(self) -> str:
        return self.run.folder

    @property
    def settings(self) -> dict[str, Any]:
        return self.place.settings

    @property
    def state(self) -> RunState:
        return self.run.state

    @contextmanager
    def change(self) -> Iterator[bool]:
        """A transaction in which the run may be changed; it is saved at the end. What its user may
        have changed meanwhile is read again first. Yields whether the run has not ended."""
        with self.store.write():
            fresh = loops.find_run(self.store, self.run.id)
            if fresh is None:
                yield False
                return
            self.run.take_over(fresh)
            yield fresh.ended_at is None
            loops.save(self.store, self.run)

    def save(self) -> None:
        """Saves what was found out outside of a transaction."""
        with self.change():
            pass

    def before_iteration(self) -> Decision:
        """Decides whether another iteration may begin. That of a worker counts from then on: two of
        them must not both take the last one."""
        if not self.state.only:
            return self.may_go_on()
        with self.change():
            decision = self.may_go_on()
            self.state.is_counted = decision.goes_on
        return decision

    def may_go_on(self) -> Decision:
        """Decides whether the run may go on. Reads its row again: the user may have cancelled or
        paused it."""
        whole = self.whole()
        if whole is None:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        limit, most = decide.limit(whole, time.time()), decide.max_iterations(whole)
        return decide.decide(
            IterationFacts(stop=self.why_stop(whole), limit=limit, max_iterations=most)
        )

    def whole(self) -> Run | None:
        """Returns the whole run as its row has it now, with all that its workers have used, for
        its limits; None = it has ended."""
        fresh = loops.find_run(self.store, self.run.owner)
        if fresh is None or fresh.ended_at is not None:
            return None
        if fresh.id != self.run.id:
            return workers.whole(self.store, fresh, apart=self.run)
        run = replace(self.run)
        run.take_over(fresh)
        return workers.whole(self.store, run) if run.setup.jobs else run

    def why_stop(self, whole: Run) -> str:
        """Returns why the user wants the run to stop after this iteration; "" = they do not."""
        if why := self.signals.why:
            return why
        if whole.id != self.run.id and not whole.is_at_work:
            return "the process of its run is gone"
        return "you paused it" if whole.status == PAUSED else ""

    def note_wait(self, failure: Failure, now: float) -> None:
        """Notes until when the run waits: for a time that the client has named, else a bit longer
        at each try. An account's limit stops one client, and `take_turn` says who goes on."""
        state = self.state
        state.tries += 1
        doubled = self.settings["runner.retry_seconds"] * 2.0 ** min(state.tries - 1, 10)
        wait = min(doubled, _LONGEST_WAIT)
        until = failure.until + 1 if failure.until > now else now + wait
        if failure.kind == ACCOUNT and (client := self.run.client_at_work):
            state.limits[client] = until
            until = 0.0
        state.waits_until, state.waits_for = until, failure.text

    def share_wait(self) -> bool:
        """Lets a worker wait if another one of its run does, for an account's limit, say, until the
        same time; tells whether that is so."""
        lead = loops.find_run(self.store, self.run.owner) if self.state.only else None
        if lead is None or lead.state.waits_until <= max(time.time(), self.state.waits_until):
            return False
        with self.change():
            self.state.waits_until = lead.state.waits_until
            self.state.waits_for = lead.state.waits_for
        return True

    def take_turn(self) -> bool:
        """Lets the client work whose turn it is. Tells whether that begins now; if not, it notes
        until when the run waits."""
        setup, state, now = self.run.setup, self.state, time.time()
        if not setup.has_several:
            return True
        if lead := loops.find_run(self.store, self.run.owner) if state.only else None:
            self.note_limits(lead.state.limits)  # those that the other workers have met
        turn = rota.next_turn(setup.clients, state.limits, now)
        if not turn.begins_at:
            self._change_client(turn.client, now)
        elif turn.begins_at > state.waits_until:
            with self.change():
                state.waits_until = turn.begins_at
                state.waits_for = messages.all_at_limit(setup.clients)
        return not turn.begins_at

    def _change_client(self, client: str, now: float) -> None:
        """Lets a client go on, and says so if it is another one. Of workers, the process of their
        run says it."""
        state, before = self.state, self.run.seat.client
        if client == before:
            return
        with self.change():
            state.client = client
        until = state.limits.get(before, 0.0)
        if not state.only:
            self.screen.say(messages.goes_on_with(client, before, until if until > now else 0.0))

    def note_limits(self, limits: dict[str, float]) -> bool:
        """Notes limits that somebody else has met; tells whether one of them was not known."""
        ours = self.state.limits
        new = {client: at for client, at in limits.items() if at > ours.get(client, 0.0)}
        ours.update(new)
        return bool(new)

    def note_cut_session(self) -> None:
        """Notes the session of an iteration that was cut off, or failed in a way that passes,
        before another session takes its place."""
        if id := Session.load(self.store, self.run.session).id:
            self.state.cut_sessions[id] = self.state.finished + 1, self.state.item

    def spend(self, report: Report, seconds: float) -> None:
        """Notes what a process has used, and what its agent did last. seconds: how long it ran."""
        state = self.state
        self.run.counters.tokens += report.tokens
        self.run.tokens, self.run.cost = 0, 0.0
        state.cost += report.cost
        state.spent_seconds += seconds
        state.spent_tokens += report.tokens
        state.spent_cost += report.cost
        state.action = masked_line(report.last_action, SAID_CHARACTERS) or state.action

    def row(self, at: float, decision: str, why: str) -> Iteration:
        """Returns the row of the current iteration, with what its processes have used. at: when it
        ended, in seconds since 1970. why: in words for people."""
        state = self.state
        return Iteration(
            self.run.counters.iteration, at, decision, why, state.spent_tokens,
            seconds=state.spent_seconds, item=state.item, cost=state.spent_cost,
            client=Session.load(self.store, self.run.session).client,
        )  # fmt: skip

    def close(self, done: Iteration) -> None:
        """Adds the row of an iteration that has ended. The iterations of all workers of a run are
        numbered together, as they end."""
        if self.run.state.only:
            done.number = 1 + iterations.count(self.store, self.run)
        iterations.record(self.store, self.run, self.run.session, done)
        state = self.state
        state.finished, state.is_counted = state.finished + 1, False
        state.spent_seconds, state.spent_tokens, state.spent_cost = 0.0, 0, 0.0

    def export(self, prompt: str = "") -> None:
        """Writes the files of the run. prompt: of PROMPT.md; "" = it stays as it is."""
        write = partial(project_files.write, self.run, self.iterations(), prompt)
        exports.run([write, partial(history.export, self.store)])

    def iterations(self) -> list[Iteration]:
        """Returns the iterations of the run, or those in which somebody worked at the worker's
        item, oldest first."""
        rows, only = iterations.of(self.store, self.run), self.state.only
        return [row for row in rows if row.item == only] if only else rows

    def write_down(self, done: Iteration, turn: Turn, check: str = "") -> None:
        """Writes the transcript of an iteration. check: what the run's check printed; "" =
        nothing."""
        session = Session.load(self.store, self.run.session).id
        why = f"{done.decision}, {done.why}"
        entry = transcripts.Entry(self.run, session, done.number, done.at, turn, check, why)
        exports.run([partial(transcripts.write, entry)])

    def send(self, kind: str, why: str) -> None:
        """Sends a notice about the run, through the user's `notify.command`. kind: one of
        `_TITLES`."""
        command, run = self.settings["notify.command"], self.run
        if not command:
            return
        session = Session.load(self.store, self.run.session).id
        text = (  # it starts with our own words
            f"{run.name}, {loop_messages.iteration(run)}: {one_line(why)}. "
            f"Task: {one_line(run.task, _TASK_CHARACTERS)}"
        )
        notice = notify.Notice(
            kind, _TITLES[kind], text, run.project, session, run.owner, run.counters.iteration
        )
        exports.run([partial(notify.send, command, notice)])


class Signals:
    """A `with` block in which Ctrl-C is counted, and SIGTERM and SIGHUP end the run at once.

    A closed terminal may send several: the shell hands SIGHUP on, and the kernel sends it, too. The
    first one says why the run ends.

    A handler only counts: it may interrupt a line that is being printed, or the drawing of the
    screen. Whoever waits asks what is to be done.
    """

    def __init__(self) -> None:
        self._count = 0
        self._has_news = False
        self._ended_by = 0
        self._handlers: dict[int, object] = {}

    @property
    def ends_now(self) -> bool:
        return self._count > 1

    @property
    def why(self) -> str:
        """Says why the run is to end; "" = it is not."""
        if self._ended_by:
            return messages.HUNG_UP if self._ended_by == signal.SIGHUP else messages.TOLD_TO_END
        return messages.CTRL_C_TWICE if self.ends_now else messages.CTRL_C if self._count else ""

    def take_news(self) -> bool:
        """Tells, once, that the run is to end after this iteration."""
        has_news, self._has_news = self._has_news and not self.ends_now, False
        return has_news

    def __enter__(self) -> Signals:
        self._handlers[signal.SIGINT] = signal.signal(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, self._terminate)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._has_news = self._count == 1
        if self.ends_now:  # ends a check, too: `processes.run` heeds SIGTERM
            os.kill(os.getpid(), signal.SIGTERM)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        if not self.ends_now:  # the second Ctrl-C sends it, too
            self._ended_by = number
        self._count += 2
