"""The life of a plan's record: it begins, follows the plan file, and ends with the last task."""

from __future__ import annotations

from sisyphus.boulder import exchange, fate, messages, parking
from sisyphus.boulder.discover import is_unchanged, stamp_of
from sisyphus.boulder.in_use import copy_to_global, update_global
from sisyphus.boulder.kord.keep import Keeper
from sisyphus.boulder.look import Look, settled
from sisyphus.boulder.milestones import Milestones
from sisyphus.boulder.moved import Search
from sisyphus.boulder.record import add_session, new_record, note_progress
from sisyphus.clients.base import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.book import Book
    from sisyphus.workspace import Workspace


class Follower:
    """The plans of one project under their lock, for one hook or command; `close` it at the end."""

    def __init__(self, space: Workspace, book: Book, session: str) -> None:
        self.space = space
        self.session = session
        self.book = book
        self.outcome = Outcome()
        self.keeper = Keeper(space.home, book)
        self.milestones = Milestones(space, book, session)
        self.moved: dict[str, str] = {}  # plan files that were renamed, by their old paths
        self._looks: dict[str, Look] = {}
        self.search = Search(space, book.root)
        self.last: Json | None = None  # checkpoint of a plan that ended here
        self.outcome.messages += [self.keeper.lost] if self.keeper.lost else []
        exchange.adopt(self)
        exchange.take_in(self)

    def close(self) -> None:
        """The record that everybody may read is written once the book is."""
        look = self._looks.get(self.book.current)
        self._note_failure(self.keeper.bring_up_to_date(look, self.last))
        self.book.after_save = lambda: self._note_failure(self.keeper.commit())
        self.outcome.notes += self.milestones.notes

    def _note_failure(self, why: str) -> None:
        if why:
            self.outcome.notes.append(f"boulder record not written: {why}")

    def look(self, path: str) -> Look:
        """How the plan file is now; it is read once."""
        found = self._looks.get(path) or Look(path, self.book.root)
        self._looks[path] = found
        return found

    def recheck(self, path: str) -> None:
        """Where another plan lies at the path of one that is followed, that one gives way, before
        anything is noted about it."""
        stamp = stamp_of(path) if path in self.book.records else None
        if stamp and not is_unchanged(stamp, self.book.seen.get(path)):
            look = self.look(path)
            if parking.is_another(self.book, look):
                fate.change(self, look)

    def consider(self, look: Look) -> None:
        """A plan file without a record begins a boulder if there is something to do."""
        if not self.is_worth_it(look):
            return
        before = self.book.records.get(self.book.current)
        self.begin(look)
        self.offer(look)
        if before and before["active_plan"] in self.book.records:
            self.outcome.messages.append(messages.left_open(before))

    def begin(self, look: Look) -> None:
        """Makes `look` the project's current plan, and the one that the session is at."""
        self.make_current(look)
        self.work_on(look)

    def make_current(self, look: Look) -> None:
        self._looks[look.path] = look
        self.recheck(look.path)
        if look.path not in self.book.records and self.make_record(look, self.space.now):
            self.outcome.messages.append(messages.enabled(look))
            self.outcome.notes.append(f"boulder begins: {look.place}")
        self.book.dismissed.pop(look.path, None)
        self.book.current = look.path
        self.book.undecided = False
        if self.book.chosen != look.path:
            self.book.chosen = ""
        exchange.take_in_words(self)

    def make_record(self, look: Look, touched: float) -> bool:
        """A record that no session works on yet; False where it is one of before: the plan is back,
        or was moved here. `touched` in epoch seconds."""
        if is_back := parking.take_back(self.book, look):
            note_progress(self.book.records[look.path], look.plan, look.name, touched)
        elif before := parking.came_from(self.book, look):
            fate.rename(self, before, look)
            return False
        else:
            record = new_record(look.path, self.book.root, touched)
            note_progress(record, look.plan, look.name, touched)
            self.book.records[look.path] = record
        self.milestones.see(look)
        return not is_back

    def follow(self, look: Look, *, warn_again: bool = False) -> bool:
        """Brings the record up to date; whether there is something left to do."""
        self._looks[look.path] = look
        if look.state in ("complete", "no_tasks"):
            look = self._looks[look.path] = settled(look)
        if look.stamp is None:
            moved = fate.moved(self, look)
            if moved is None:
                fate.warn(self, look, again=warn_again)
                return False
            look = moved
        if parking.is_another(self.book, look) and not fate.change(self, look):
            return False
        self.book.seen[look.path] = look.stamp or []
        self.book.records[look.path]["metadata"].pop("missing_since", None)
        if look.state == "unreadable":
            self._report(look)
        elif look.state == "complete":
            fate.finish(self, look)
        else:
            self._note_progress(look)
        return look.state == "open"

    def edited(self, look: Look) -> None:
        """A session edited a plan file."""
        if look.path not in self.book.records:
            self.consider(look)
        elif self.follow(look):
            look = self.look(self.moved.get(look.path, look.path))
            if not self.book.current:
                self.make_current(look)
                self.offer(look)
            self.work_on(look)

    def offer(self, look: Look) -> None:
        """The global file moves to this plan, unless it tells of unfinished work elsewhere."""
        kept: list[Json] = []

        def replaces(other: Json) -> bool:
            if other["project_root"] != self.book.root and _is_unfinished(other):
                kept.append(other)
            return not kept

        copy_to_global(self.space.home, self.book.records[look.path], replaces)
        self.outcome.messages += [messages.ask_to_switch(other) for other in kept]

    def is_worth_it(self, look: Look) -> bool:
        """Whether a plan without a record is open, and not as it was when it was dismissed."""
        if look.path in self.book.records:
            return False
        if look.stamp:
            self.book.seen[look.path] = look.stamp
        if look.state == "unreadable":
            self._report(look)
        return look.state == "open" and self.book.dismissed.get(look.path) != look.crc

    def work_on(self, look: Look) -> None:
        """The session is at this plan from now on."""
        if look.stamp:
            self.book.seen[look.path] = look.stamp
        record = self.book.records[look.path]
        note_progress(record, look.plan, look.name, self.space.now)
        add_session(record, self.session, self.space.now)
        self.book.note_session(self.session, look.path)
        self.milestones.see(look)
        update_global(self.space.home, record)

    def tell(self, look: Look, text: str, remark: str = "", gist: str = "") -> None:
        """`text` for the model, once a session; `remark` goes along if `text` does. Texts of one
        `gist` are the same."""
        self.outcome.texts.append(messages.piece(look.path, text, remark, gist))

    def _note_progress(self, look: Look) -> None:
        record = self.book.records[look.path]
        before = record["progress"]
        is_empty = look.state == "no_tasks"  # for a moment, or until somebody writes the tasks
        if not is_empty:
            self.milestones.see(look)
        name = record["plan_name"] if is_empty else look.name
        if note_progress(record, look.plan, name, self.space.now):
            update_global(self.space.home, record)
            self.outcome.notes.append(
                f"boulder progress {before['completed']}/{before['total']} -> "
                f"{look.plan.counts.completed}/{look.plan.counts.total}"
            )

    def _report(self, look: Look) -> None:
        self.outcome.messages.append(messages.unreadable(look))
        self.outcome.notes.append(f"boulder plan not read: {look.problem}")


def _is_unfinished(record: Json) -> bool:
    return Look(record["active_plan"], record["project_root"]).state == "open"
