"""The life of a plan's record: it begins, follows the plan file, and ends with the last task."""

from __future__ import annotations

from sisyphus.boulder import messages
from sisyphus.boulder.discover import MAX_ENTRIES, find_plans, is_unchanged
from sisyphus.boulder.in_use import clear_global, copy_to_global, read_global, update_global
from sisyphus.boulder.look import Look, affordable
from sisyphus.boulder.record import (
    add_session,
    is_stale,
    joined,
    last_touched,
    new_record,
    note_progress,
    timestamp,
)
from sisyphus.boulder.store import add_history
from sisyphus.contract import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.discover import Stamp
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace


class Follower:
    """The plans of one project under their lock, for one hook or command."""

    def __init__(self, space: Workspace, book: Plans, session: str) -> None:
        self._space = space
        self._session = session
        self.book = book
        self.outcome = Outcome()
        self._adopt()

    def plan_to_resume(self) -> Look | None:
        path = self.book.of_session(self._session)
        return Look(path, self.book.root) if path else self.first_open()

    def first_open(self) -> Look | None:
        """The newest open plan of the project, dismissed ones aside.

        What one hook has no time to read is left to the next one, which knows what was seen.
        """
        plans = self._to_read()
        read = 0
        for look in affordable(plans, self.book.root):
            read += 1
            is_known = look.path in self.book.records
            if self._is_worth_it(look) or (is_known and look.state == "open"):
                return look
        if read < len(plans):
            self.outcome.notes.append(f"boulder: plan files not read yet: {len(plans) - read}")
        return None

    def _to_read(self) -> dict[str, Stamp]:
        """Plan files that have a record, or are not as they were seen last; newest first."""
        book, found = self.book, find_plans(self._space)
        if len(found) >= MAX_ENTRIES:
            note = f"boulder: of each folder of plans {MAX_ENTRIES:,} entries are looked at"
            self.outcome.notes.append(note)
        return {
            path: stamp
            for path, stamp in found.items()
            if path in book.records or not is_unchanged(stamp, book.seen.get(path))
        }

    def take_next(self) -> None:
        """Goes on with another open plan of the project, if there is one."""
        look = self.first_open()
        if look is None:
            return
        if look.path in self.book.records:
            self.outcome.messages.append(messages.resumed(look))
        self.begin(look)
        self.offer(look)

    def consider(self, look: Look) -> None:
        """A plan file without a record begins a boulder if there is something to do."""
        if not self._is_worth_it(look):
            return
        before = self.book.records.get(self.book.current)
        self.begin(look)
        self.offer(look)
        if before:
            self.outcome.messages.append(messages.left_open(before))

    def begin(self, look: Look) -> None:
        """Makes `look` the project's current plan."""
        if look.path not in self.book.records:
            record = new_record(look.path, self.book.root, self._space.now)
            self.book.records[look.path] = record
            self.outcome.messages.append(messages.enabled(look))
            self.outcome.notes.append(f"boulder begins: {look.place}")
        self.book.dismissed.pop(look.path, None)
        self.book.current = look.path
        self._work_on(look)

    def follow(self, look: Look, *, warn_again: bool = False) -> bool:
        """Brings the record up to date; whether there is something left to do."""
        if look.stamp is None:
            self._warn(look, again=warn_again)
            return False
        self.book.seen[look.path] = look.stamp
        self.book.records[look.path]["metadata"].pop("missing_since", None)
        if look.state == "unreadable":
            self._report(look)
        elif look.state == "complete":
            self._finish(look)
        else:
            self._note_progress(look)
        return look.state == "open"

    def resume(self, look: Look, *, greet: bool) -> None:
        """What the model and, with `greet`, the user are told at session start."""
        if look.path in self.book.records:
            if not self.follow(look, warn_again=True) or self._is_stale(look):
                return
            self.outcome.messages += [messages.resumed(look)] if greet else []
            self.outcome.notes.append(f"boulder resumed: {look.place}")
        if self.book.current in ("", look.path):
            self.begin(look)
            self._tell(look, messages.continuation(look), self._move(look))
        else:  # another session has begun with another plan since
            self._work_on(look)
            self._tell(look, messages.continuation(look))

    def _move(self, look: Look) -> str:
        """Puts the plan in use; what is to be said where that moves the boulder."""
        other = copy_to_global(self._space.home, self.book.records[look.path], lambda _: True)
        if other is None or other["project_root"] == self.book.root:
            return ""
        self.outcome.messages.append(messages.moved(other))
        return messages.moved(other)

    def edited(self, look: Look) -> None:
        """A session edited a plan file."""
        if look.path not in self.book.records:
            self.consider(look)
        elif self.follow(look):
            self._work_on(look)

    def offer(self, look: Look) -> None:
        """The global file moves to this plan, unless it tells of unfinished work elsewhere."""
        kept: list[Json] = []

        def replaces(other: Json) -> bool:
            if other["project_root"] != self.book.root and _is_unfinished(other):
                kept.append(other)
            return not kept

        copy_to_global(self._space.home, self.book.records[look.path], replaces)
        self.outcome.messages += [messages.ask_to_switch(other) for other in kept]

    def _adopt(self) -> None:
        """A global file that another tool wrote about this project becomes a record here."""
        found = read_global(self._space.home)
        if found is None or found["project_root"] != self.book.root:
            return
        path = found["active_plan"]
        known = self.book.records.get(path)
        self.book.records[path] = joined(found, known) if known else found
        if not known:
            self.book.current = path

    def _is_worth_it(self, look: Look) -> bool:
        """Whether a plan without a record is open, and not as it was when it was dismissed."""
        if look.path in self.book.records:
            return False
        if look.stamp:
            self.book.seen[look.path] = look.stamp
        if look.state == "unreadable":
            self._report(look)
        return look.state == "open" and self.book.dismissed.get(look.path) != look.crc

    def _work_on(self, look: Look) -> None:
        if look.stamp:
            self.book.seen[look.path] = look.stamp
        record = self.book.records[look.path]
        note_progress(record, look.plan, look.name, self._space.now)
        add_session(record, self._session, self._space.now)
        update_global(self._space.home, record)

    def _note_progress(self, look: Look) -> None:
        record = self.book.records[look.path]
        before = record["progress"]
        if note_progress(record, look.plan, look.name, self._space.now):
            update_global(self._space.home, record)
            self.outcome.notes.append(
                f"boulder progress {before['completed']}/{before['total']} -> "
                f"{look.plan.counts.completed}/{look.plan.counts.total}"
            )

    def _finish(self, look: Look) -> None:
        record = self.book.records[look.path]
        note_progress(record, look.plan, look.name, self._space.now)
        add_history(self._space.home, record, "completed", timestamp(self._space.now))
        clear_global(self._space.home, look.path)
        self.book.forget(look.path)
        self.outcome.messages.append(messages.completed(look))
        self.outcome.notes.append(f"boulder complete: {look.place}")

    def _is_stale(self, look: Look) -> bool:
        record, days = self.book.records[look.path], self._space.settings.get("boulder.stale_days")
        if not is_stale(record, look.changed_at, self._space.now, days):
            return False
        self.outcome.messages.append(messages.stale(look, last_touched(record)))
        self.outcome.notes.append(f"boulder not resumed, stale: {look.place}")
        return True

    def _warn(self, look: Look, *, again: bool) -> None:
        """The plan file is gone: said when it is noticed, and at each session start."""
        metadata = self.book.records[look.path]["metadata"]
        is_news = "missing_since" not in metadata
        if is_news:
            metadata["missing_since"] = timestamp(self._space.now)
            self.outcome.notes.append(f"boulder plan is gone: {look.place}")
        if (is_news or again) and look.path == self.book.of_session(self._session):
            text = messages.missing(self.book.records[look.path]["plan_name"], look.place)
            self.outcome.messages.append(text)
            self._tell(look, text)

    def _report(self, look: Look) -> None:
        self.outcome.messages.append(messages.unreadable(look))
        self.outcome.notes.append(f"boulder plan not read: {look.problem}")

    def _tell(self, look: Look, text: str, remark: str = "") -> None:
        """`text` for the model, once a session; `remark` goes along if `text` does."""
        self.outcome.pieces.append(messages.piece(look.path, text, remark))


def _is_unfinished(record: Json) -> bool:
    return Look(record["active_plan"], record["project_root"]).state == "open"
