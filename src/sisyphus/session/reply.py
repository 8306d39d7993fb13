"""From the outcomes of an event to one reply: each text once, none lost, none over the budget.

One transaction holds what the event changes, what is sent, what waits and the line of the journal.
The reply is printed inside it, and the commit follows: whoever is killed before the print has said
and noted nothing, whoever is killed between print and commit repeats one reply.
"""

from __future__ import annotations

import _sqlite3
import os
import sys
import time

from sisyphus.clients.base import Outcome, can_carry_text, merge
from sisyphus.memory import tells_of_others
from sisyphus.paths import display
from sisyphus.quick_json import dumps
from sisyphus.session import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus.clients.base import Client, Payload, Text
    from sisyphus.memory import Change
    from sisyphus.workspace import Workspace

    Outcomes = dict[str, Outcome | None]

TRIES = 5
"""How often a handler is asked whose records change while it decides."""


_WITHOUT_MEMORY = (
    "sisyphus goes on without its memory: {}. It sends no rules and holds no session until that is "
    "mended; `sisyphus doctor` says more."
)


class _StaleError(Exception):
    """Records changed since the outcomes of these routes were decided on."""

    def __init__(self, routes: list[str]) -> None:
        super().__init__(", ".join(routes))
        self.routes = routes


class _UnheardError(Exception):
    """Nobody reads what we print."""


class Reply:
    """One event's answer. `ask` asks the handler of a route; `write` prints a text, or raises
    `OSError` where nobody reads it; `started` is by `time.perf_counter`."""

    def __init__(  # one a trait
        self,
        payload: Payload,
        space: Workspace,
        client: Client,
        ask: Callable[[str], Outcome | None],
        write: Callable[[str], None],
        started: float,
    ) -> None:
        self._payload = payload
        self._space = space
        self._client = client
        self._ask = ask
        self._write = write
        self._started = started
        self._has_printed = False
        self._ledgers: set[str] = set()

    def send(self, outcomes: Outcomes) -> Outcome:
        """Says what there is to say, and notes it; returns what was asked for in all."""
        memory, payload = self._space.memory, self._payload
        if memory.is_busy:
            self._space.log(f"{payload.event}: not answered: {memory.problem}")
            return Outcome()
        if memory.problem or not payload.is_known:
            return self._send_without_memory(outcomes)
        try:
            return self._send(outcomes)
        except (OSError, _sqlite3.Error) as error:  # the disk is full, say
            self._space.log(f"{payload.event}: the memory was not written: {error}")
            if self._has_printed or tells_of_others(error):
                return Outcome()
            return self._send_without_memory(outcomes, str(error))

    def note(self, outcome: Outcome, *, is_silent: bool = False) -> None:
        """A line of the journal for an event that is not answered."""
        memory = self._space.memory
        with memory.transaction():
            n = store.number_of(memory, self._payload)
            self._journal(n, outcome, [], 0, is_silent=is_silent)

    def _send(self, outcomes: Outcomes) -> Outcome:
        memory, speaks = self._space.memory, True
        if fork := self._inheritance():
            outcomes = {**outcomes, "fork": fork}
        for tries in range(TRIES):
            try:
                with memory.transaction():
                    n = self._apply(outcomes, is_last=tries == TRIES - 1)
                    outcome = self._settle(n, outcomes, speaks=speaks)
            except _StaleError as stale:
                for route in stale.routes:
                    outcomes[route] = self._ask(route)
                continue
            except _UnheardError as error:
                self._space.log(f"{self._payload.event}: nobody read the reply: {error}")
                speaks = False
                continue
            for name in sorted(self._ledgers):
                self._export(name, n)
            return outcome
        return Outcome()

    def _apply(self, outcomes: Outcomes, *, is_last: bool) -> int:
        """Applies the handlers' changes and notes the tool calls; returns the session's number.

        Raises `_StaleError` where a record changed after a handler read it. In the end what a
        handler asked for counts without its changes.
        """
        memory, payload = self._space.memory, self._payload
        asked = {route: outcome for route, outcome in outcomes.items() if outcome}
        stale = [route for route, outcome in asked.items() if not self._takes(outcome.changes)]
        if stale and not is_last:
            raise _StaleError(stale)
        self._ledgers.clear()
        if any(change.touches_sent for outcome in asked.values() for change in outcome.changes):
            self._ledgers.update(filter(self._is_exported, store.LEDGERS.values()))
        n = store.number_of(memory, payload)
        for call in payload.call_ids:
            memory.write("INSERT OR IGNORE INTO call (session, id) VALUES (?, ?)", n, call)
        return n

    def _takes(self, changes: Sequence[Change]) -> bool:
        """Makes all of these changes or none; whether it did."""
        if not changes:
            return True
        memory = self._space.memory
        memory.write("SAVEPOINT outcome")
        counts = all(change.apply(memory) for change in changes)
        if not counts:
            memory.write("ROLLBACK TO outcome")
        memory.write("RELEASE outcome")
        return counts

    def _is_exported(self, ledger: str) -> bool:
        payload = self._payload
        path = store.ledger_path(self._space.ours, ledger, payload.session, payload.agent)
        return os.path.exists(path)

    def _settle(self, n: int, outcomes: Outcomes, *, speaks: bool) -> Outcome:
        """Prints the reply as the last thing before the commit; returns what was asked for."""
        payload, memory = self._payload, self._space.memory
        merged = merge(outcomes.values())
        waited = store.waiting(memory, n)
        queue: list[Text] = []
        taken: list[Text] = []
        left: list[Text] = []
        text = ""
        if waited or merged.texts:
            from sisyphus.session.waiting import arrange, fit

            queue = store.unsent(memory, n, arrange(waited, merged.texts))
            can = speaks and can_carry_text(payload.event, merged.reason) and self._knows_itself()
            text, taken, left = fit(queue) if can else ("", [], queue)
            if waited or left:
                store.wait(memory, n, left)
        for one in taken:
            store.remember(memory, n, one, self._space.now)
            self._ledgers.update(filter(None, [store.LEDGERS.get(one.kind)]))
        for name in self._ledgers:
            memory.write("INSERT OR IGNORE INTO export (session, name) VALUES (?, ?)", n, name)
        self._ledgers.update(store.unexported(memory, n))
        merged.messages += merged.announced if queue else []
        self._tell(merged, taken, left)
        labels = _labels(_arrived(taken, left), self._space.root) if taken else []
        self._journal(n, merged, labels, _units(text))
        if speaks:
            self._print(merged, text)
        return merged

    def _export(self, ledger: str, n: int) -> None:
        """Tells other programs what the session was sent."""
        from sisyphus import exports

        session, agent, memory = self._payload.session, self._payload.agent, self._space.memory
        path = store.ledger_path(self._space.ours, ledger, session, agent)

        def render() -> bytes:
            memory.write("DELETE FROM export WHERE session = ? AND name = ?", n, ledger)
            return dumps(store.ledger(memory, ledger, session, agent)).encode() + b"\n"

        exports.write(memory, path, render)

    def _knows_itself(self) -> bool:
        """Whether it is known what the model holds; for a fork, only once its parent is found."""
        return not store.load_of(self._space.memory, self._payload).misses_parents

    def _inheritance(self) -> Outcome | None:
        """For a fork, once it can be told whose it is: what its model holds. Transcripts are read
        for it, so it is looked for before the transaction."""
        session = store.load_of(self._space.memory, self._payload)
        if not session.misses_parents:
            return None
        from sisyphus.session.fork import find_parents

        parents = find_parents(self._payload.transcript, session.forked_at)
        if parents is None:
            return None
        return Outcome(changes=[store.Inheritance(session, parents)])

    def _tell(self, outcome: Outcome, taken: list[Text], left: list[Text]) -> None:
        if taken:
            outcome.notes.append(f"sent {_names(taken, self._space.root)}")
        if left:
            outcome.notes.append(f"waiting for a later reply: {_names(left, self._space.root)}")

    def _journal(
        self, n: int, outcome: Outcome, labels: list[str], units: int, *, is_silent: bool = False
    ) -> None:
        payload, memory = self._payload, self._space.memory
        is_idle = payload.event == "idle"
        if is_idle and not outcome.notes:  # one more process at each Stop
            return
        # Some wait for hours to see whether a session is idle.
        now = time.time() if is_idle else self._space.now
        ms = round((time.perf_counter() - self._started) * 1000, 1)
        blocked = outcome.reason is not None
        holds = blocked and payload.event != "user-prompt-submit"  # there it is an answer
        memory.write(
            "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, texts) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            n, now, payload.event, ms, units, blocked, is_silent,
            dumps(outcome.notes) if outcome.notes else "[]",
            dumps(labels) if labels else "[]",
        )  # fmt: skip
        memory.write(
            "UPDATE session SET seen_at = ?, hooks = hooks + 1, ms = ms + ?, units = units + ?, "
            "blocks = blocks + ?, project = coalesce(project, ?) WHERE n = ?",
            now, 0 if is_idle else ms, units, holds, self._space.root, n,
        )  # fmt: skip

    def _send_without_memory(self, outcomes: Outcomes, problem: str = "") -> Outcome:
        """Without a memory only a model whose context is empty can be told without repetition,
        nobody is held, for who could tell when to let go, and nothing is allowed."""
        from sisyphus.session.waiting import arrange, fit

        payload, problem = self._payload, problem or self._space.memory.problem
        outcome = merge(outcomes.values())
        texts = arrange([], outcome.texts) if payload.is_fresh else []
        outcome.messages += outcome.announced if texts else []
        outcome.allows = False  # no journal tells of it
        if problem and payload.event in ("stop", "idle"):
            outcome.reason = None
        if problem and payload.event == "session-start" and payload.source in ("", "startup"):
            outcome.messages.append(_WITHOUT_MEMORY.format(problem))
        try:
            self._print(outcome, fit(texts)[0])
        except _UnheardError as error:
            self._space.log(f"{payload.event}: nobody read the reply: {error}")
        return outcome

    def _print(self, outcome: Outcome, text: str) -> None:
        said = self._spell(outcome, text)
        if not said:
            return
        self._space.memory.reserve()
        try:
            self._write(said)
        except OSError as error:
            raise _UnheardError(str(error)) from error
        self._has_printed = True

    def _spell(self, outcome: Outcome, text: str) -> str:
        """What the client reads; "" where there is nothing to say."""
        payload = self._payload
        if payload.event == "idle" and self._client.WAKES_BY_EXIT:
            return "" if outcome.reason is None else f"{outcome.reason}\n"
        reply = self._client.render(
            payload, outcome, text,
            lambda name: self._space.settings.get(name),  # noqa: PLW0108  # read if asked for
        )  # fmt: skip
        if reply is None:
            return ""
        # What the summariser reads need not be ASCII, where stdout can spell it.
        is_utf8 = (getattr(sys.stdout, "encoding", "") or "").lower().startswith("utf")
        ascii_only = payload.event != "pre-compact" or not is_utf8
        return dumps(reply, ensure_ascii=ascii_only) + "\n"


def _units(text: str) -> int:
    if not text:
        return 0
    from sisyphus.text import units

    return units(text)


def _names(texts: list[Text], root: str) -> str:
    counts: dict[str, int] = {}
    for text in texts:
        name = display(text.path, root) or text.kind
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{n} ({count} parts)" if count > 1 else n for n, count in counts.items())


def _arrived(taken: list[Text], left: list[Text]) -> list[Text]:
    """Without those of a file that the model does not have all of yet."""
    waiting = {(text.kind, text.path) for text in left if text.path}
    return [text for text in taken if (text.kind, text.path) not in waiting]


def _labels(texts: list[Text], root: str) -> list[str]:
    """What each is and where it came from, each file once: a name alone tells no rule from a
    plan, and several in one line cannot be told apart where one holds a comma."""
    found = [f"{text.kind} {display(text.path, root)}".rstrip() for text in texts]
    return list(dict.fromkeys(found))
