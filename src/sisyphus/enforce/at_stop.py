"""Layer 1, asked by the arbiter last of all: does the model say that the work is done?"""

from __future__ import annotations

import zlib

from sisyphus.clients import client_named
from sisyphus.clients.base import Outcome
from sisyphus.enforce import engine, gates, log, marks, rest, store, texts
from sisyphus.enforce.record import EXHAUSTED, RECOVERING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Payload
    from sisyphus.enforce.record import Entry
    from sisyphus.enforce.store import Book
    from sisyphus.enforce.words.finding import Finding
    from sisyphus.workspace import Workspace

    Excuses = Callable[[dict[str, float]], tuple[list[str], dict[str, float]]]

ASKING = "the model asks the user something"
TWIN = "another hook told the session to go on at this Stop"

_ONE_STOP = 1_000  # milliseconds; a model needs longer to say the same again


class Facts:
    """What the arbiter knows of a Stop.

    `held`: why nothing is enforced until something happens; `message`: what the model said last;
    `excuses`: the background tasks that excuse the Stop, and what is to be known of all of them,
    from what was known. `blocks`: Stops blocked in a row, the last one at `blocked_at` (epoch
    seconds); at `cap` of them the client overrides, 0 = never.
    """

    __slots__ = ("blocked_at", "blocks", "cap", "excuses", "held", "is_asking", "message")

    def __init__(self, held: str, message: str, *, is_asking: bool, excuses: Excuses) -> None:
        self.held = held
        self.message = message
        self.is_asking = is_asking
        self.excuses = excuses
        self.blocks = 0
        self.blocked_at = 0.0
        self.cap = 0


class Opinion:
    """What enforcement says of one Stop: `why` for the journal, `outcome` what it asks for, and
    `blocks`, how many Stops in a row were blocked then."""

    __slots__ = ("blocks", "outcome", "why")

    def __init__(self, why: str, outcome: Outcome, blocks: int = 0) -> None:
        self.why = why
        self.outcome = outcome
        self.blocks = blocks

    @property
    def is_block(self) -> bool:
        return self.outcome.reason is not None


def look(payload: Payload, space: Workspace, facts: Facts) -> Opinion | None:
    """Judges the last enforcement, notes that the model has come to rest, decides whether it may.

    The project is enforced; None = no more. Raises `OSError` and `SisyphusError`.
    """
    marks.make(space.ours, payload.session)
    found = _finding(facts, space)
    with store.Book(space) as book:
        if not book.record.is_on:  # meanwhile
            return None
        opinion = _Stop(book, payload.session, space, facts, found).decide()
        book.save()
    return opinion


def _finding(facts: Facts, space: Workspace) -> Finding | None:
    if facts.held or not facts.message:
        return None
    from sisyphus.enforce.words import completion, lists

    claims = space.settings.get("enforce.claims") or lists.CLAIMS
    works = space.settings.get("enforce.work") or lists.WORKS
    return completion.find(facts.message, claims, works)


class _Stop:
    """One Stop, the record in hand."""

    __slots__ = ("_blocks", "_book", "_entry", "_facts", "_found", "_session", "_space")

    def __init__(
        self, book: Book, session: str, space: Workspace, facts: Facts, found: Finding | None
    ) -> None:
        self._book = book
        self._session = session
        self._space = space
        self._facts = facts
        self._found = found
        self._entry: Entry = book.record.entry(session)
        self._blocks = 0

    def decide(self) -> Opinion:
        book, entry, found = self._book, self._entry, self._found
        said = zlib.crc32(self._facts.message.encode("utf-8", "surrogatepass"))
        if self._is_twin(said):
            return Opinion(TWIN, Outcome(notes=[f"enforcement held back: {TWIN}"]))
        entry.said = said
        judged = book.settle(self._session)
        entry.held = self._held()
        self._blocks = self._in_a_row()
        engine.activity(entry, book.now)
        entry.last_stop = book.now
        entry.has_ended = False
        why = entry.held or self._left_alone()
        if why or found is None:
            return self._hold_back(why or "the model said nothing", self._rests(judged))
        return self._go_on(found)

    def _rests(self, judged: str) -> list[str]:
        """What the user is told where the last enforcement was the last one for now."""
        book, status = self._book, self._book.status(self._entry)
        if not judged or status not in (RECOVERING, EXHAUSTED):
            return []
        book.note(self._session, log.RESTS, status)
        has_failed = status == RECOVERING
        return [texts.rests(self._entry, book.limits, has_failed=has_failed)]

    def _is_twin(self, said: int) -> bool:
        """Whether a hook was asked about this very Stop already and told the session to go on:
        where we are wired twice, two are."""
        entry = self._entry
        told_at = entry.last_enforcement
        if not entry.pending or entry.held != rest.WENT_ON or entry.said != said:
            return False
        moved_at = max(marks.used_at(self._space.ours, self._session), entry.last_prompt)
        return moved_at <= told_at and abs(self._book.now - told_at) < _ONE_STOP

    def _held(self) -> str:
        facts = self._facts
        tasks, self._entry.tasks = facts.excuses(self._entry.tasks)
        pending = f"background work is pending: {', '.join(tasks)[:200]}" if tasks else ""
        return facts.held or pending or (ASKING if facts.is_asking else "")

    def _in_a_row(self) -> int:
        """How many Stops were blocked since the last tool call and the user's last prompt."""
        used = marks.used_at(self._space.ours, self._session)
        moved = max(used, self._entry.last_prompt)
        return 0 if moved > self._facts.blocked_at * 1_000 else self._facts.blocks

    def _left_alone(self) -> str:
        found, book = self._found, self._book
        if found is not None and not found.says_done:
            return found.why
        gate = gates.closed(gates.every(self._entry, book.now, book.limits, gates.CLAIM))
        if gate:
            return f"{gate.name}: {gate.why}"
        cap = self._facts.cap
        if cap and self._blocks + 1 >= max(cap, 2):
            return (
                f"the client overrides the Stop that is blocked {self._blocks + 1} times in a row"
            )
        return ""

    def _go_on(self, found: Finding) -> Opinion:
        book, space = self._book, self._space
        claim = texts.quoted(found.claim)
        entry = book.enforce(self._session, gates.CLAIM, found.why, claim)
        entry.held = rest.WENT_ON
        outcome = Outcome(texts.claimed(claim, entry, book.limits))
        if not client_named(space.client).HAS_TOASTS:
            outcome.messages = [texts.told(entry, book.limits)]
        seconds = space.settings.get("enforce.toast_seconds")
        outcome.toasts = [texts.warning(claim, entry, book.limits, seconds)]
        why = f'the model said "{claim}" ({texts.count(entry, book.limits).lower()})'
        return Opinion(why, outcome, self._blocks + 1)

    def _hold_back(self, why: str, messages: list[str]) -> Opinion:
        self._book.note(self._session, log.HELD_BACK, why, layer=gates.CLAIM)
        outcome = Outcome(messages=messages, notes=[f"enforcement held back: {why}"])
        outcome.wake_after = self._wake_after()
        return Opinion(why, outcome)

    def _wake_after(self) -> float | None:
        """Seconds until a client that has no asynchronous hooks asks again."""
        book, entry = self._book, self._entry
        if client_named(self._space.client).WAKES_BY_EXIT or entry.held:
            return None
        due = engine.due(entry, book.now, book.limits)
        return None if due is None else max(due - book.now, 0) / 1_000
