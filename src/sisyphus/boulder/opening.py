"""Which plan a session gets that begins, and what it is told."""

from __future__ import annotations

from sisyphus.boulder import exchange, messages, questions
from sisyphus.boulder.candidates import open_plans, stale_days
from sisyphus.boulder.discover import stamp_of
from sisyphus.boulder.in_use import copy_to_global
from sisyphus.boulder.record import is_stale, last_touched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.candidates import OpenPlan
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.look import Look

ASKED = 20
"""Plans named in one question."""


class Opening:
    """The start of a session. `before`: the session that its client was in until /clear."""

    def __init__(self, follower: Follower, source: str, before: str = "") -> None:
        self._follower = follower
        self._book = follower.book
        self._space = follower.space
        self._source = source
        self._before = before

    def begin(self) -> None:
        """Goes on with the session's own plan, the one a person chose, or the only one that is
        open; asks where there are several."""
        book = self._book
        self._complain()
        own = book.own(self._follower.session) or book.own(self._before)
        if own:
            self._resume(self._follower.look(own))
            return
        self._miss()
        plans = open_plans(self._follower)
        fresh = [plan for plan in plans if not plan.is_stale]
        if book.chosen and book.chosen in [plan.path for plan in fresh]:
            others = [plan for plan in fresh if plan.path != book.chosen]
            self._resume(self._follower.look(book.chosen), others)
        elif only := _only(plans):
            self._resume(self._follower.look(only.path))
        elif plans:
            self._ask(plans)
        elif book.current and stamp_of(book.current):
            self._resume(self._follower.look(book.current))

    def _complain(self) -> None:
        """The project's record is its people's to mend."""
        if self._source != "compact":
            self._book.shown.pop("complained", None)
            exchange.complain(self._follower)

    def _miss(self) -> None:
        """Plans whose files are gone are looked for before their copies elsewhere are read as
        new ones; one that nobody found is not looked for again, but for the current one."""
        for path in list(self._book.records):
            metadata = self._book.records[path]["metadata"]
            is_news = path == self._book.current or "missing_since" not in metadata
            if is_news and stamp_of(path) is None:
                self._follower.follow(self._follower.look(path), warn_again=True)

    def take_next(self) -> None:
        """Goes on with the only other open plan of the project, where the last one has ended."""
        plans = [plan for plan in open_plans(self._follower) if not plan.is_stale]
        self._book.undecided = len(plans) != 1
        if len(plans) != 1:
            return
        only = plans[0]
        follower, look = self._follower, self._follower.look(only.path)
        if look.path in self._book.records:
            follower.outcome.messages.append(messages.resumed(look))
            follower.make_current(look)
        else:
            follower.begin(look)
        follower.offer(look)

    def _ask(self, plans: list[OpenPlan]) -> None:
        """Tells of the open plans; the session is at none of them until somebody says so."""
        self._book.undecided = not self._book.current
        if self._source == "fork":  # what was said to its parent is in its context
            return
        follower, root = self._follower, self._book.root
        text = questions.several(plans[:ASKED], len(plans), root)
        follower.outcome.texts.append(messages.piece(root, text))
        if self._source != "compact":
            follower.outcome.messages.append(questions.ask_which(plans[:ASKED], len(plans)))
        follower.outcome.notes.append(f"boulder: {len(plans)} plans are open, none resumed")

    def _resume(self, look: Look, others: list[OpenPlan] | None = None) -> None:
        """What the model and, but for a compaction, the user are told at session start."""
        follower, book = self._follower, self._book
        if look.path in book.records:
            if not follower.follow(look, warn_again=True):
                return
            look = follower.look(follower.moved.get(look.path, look.path))
            if self._is_stale(look):
                return
            self._greet(look)
        is_current = book.current in ("", look.path) or look.path not in book.records
        if is_current:
            follower.begin(look)
        else:  # another session has begun with another plan since
            follower.work_on(look)
        also = questions.also_open(others[:ASKED]) if others else ""
        remarks = [self._move(look) if is_current else "", also]
        notes = book.notes_of(look.path)
        short = self._source == "compact"
        text = messages.brief(look, notes) if short else messages.continuation(look, notes)
        remark = "\n\n".join(filter(None, remarks))
        follower.tell(look, text, remark, messages.gist(notes, text))

    def _greet(self, look: Look) -> None:
        outcome = self._follower.outcome
        outcome.notes.append(f"boulder resumed: {look.place}")
        is_told = self._source == "compact"  # then only the model has forgotten, not the user
        if not is_told and messages.enabled(look) not in outcome.messages:
            outcome.messages.append(messages.resumed(look))

    def _move(self, look: Look) -> str:
        """Puts the plan in use; what is to be said where that moves the boulder."""
        record = self._book.records[look.path]
        other: Json | None = copy_to_global(self._space.home, record, lambda _: True)
        if other is None or other["project_root"] == self._book.root:
            return ""
        self._follower.outcome.messages.append(messages.moved(other))
        return messages.moved(other)

    def _is_stale(self, look: Look) -> bool:
        record = self._book.records[look.path]
        if not is_stale(record, look.changed_at, self._space.now, stale_days(self._space)):
            return False
        self._follower.outcome.messages.append(messages.stale(look, last_touched(record)))
        self._follower.outcome.notes.append(f"boulder not resumed, stale: {look.place}")
        return True


def _only(plans: list[OpenPlan]) -> OpenPlan | None:
    """The one that is open, stale ones aside where there are others."""
    fresh = [plan for plan in plans if not plan.is_stale] or plans
    return fresh[0] if len(fresh) == 1 else None
