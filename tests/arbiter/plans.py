"""A plan in the project of a desk, and the enforcement of it, as our book has them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from making import put

from sisyphus.boulder.book import Book
from sisyphus.boulder.enforcement import KEY
from sisyphus.boulder.enforcing import give
from sisyphus.boulder.parking import park
from sisyphus.boulder.record import add_session, new_record

if TYPE_CHECKING:
    from arbiter.desk import Desk

DAY = 86_400
SINCE = "2026-11-20T00:00:00Z"
LATER = "2026-11-20T00:00:01Z"

TWO = "# Ship it\n\n- [x] one\n- [ ] two\n- [ ] three\n"
ONE = "# Ship it\n\n- [x] one\n- [x] two\n- [ ] three\n"
DONE = TWO.replace("[ ]", "[x]")
BLOCKED = TWO.replace("[ ]", "[!]")


class Enforced:
    """The plan "Ship it" of the desk's project, which the session "s1" works on."""

    def __init__(self, desk: Desk, text: str = TWO, name: str = ".claude/PLAN.md") -> None:
        self.desk = desk
        self.path = str(desk.project / name)
        self.write(text)
        self.on()

    def write(self, text: str) -> None:
        """As old as the lines, so that no look at the work tree takes it for new."""
        path = put(self.desk.project.joinpath(self.path), text)
        os.utime(path, (self.desk.now - DAY, self.desk.now - DAY))

    def on(self, since: str = SINCE, sessions: tuple[str, ...] = ("s1",), **limits: int) -> None:
        with self._book() as book:
            record = new_record(self.path, book.root, self.desk.now)
            record["plan_name"] = "Ship it"
            record["session_ids"] = list(sessions)
            record["metadata"][KEY] = {"since": since, **limits}
            book.records[self.path] = record
            book.current = self.path

    def turn_to(self, name: str, *, by_user: bool = False) -> None:
        """The session "s1" is at another plan from now on, or at this one again."""
        path = str(self.desk.project / name)
        with self._book() as book:
            if path not in book.records:
                put(self.desk.project / name, "# Other\n\n- [ ] a\n")
                book.records[path] = new_record(path, book.root, self.desk.now)
            add_session(book.records[path], "s1", self.desk.now)
            book.note_session("s1", path)
            if by_user:
                give(book, "s1", path)

    def off(self) -> None:
        with self._book() as book:
            del book.records[self.path]["metadata"][KEY]

    def forget(self) -> None:
        """The record is cleared, as where the plan is complete."""
        with self._book() as book:
            book.forget(self.path)

    def move(self, name: str) -> None:
        """The plan file is renamed, and the boulder has followed."""
        old, self.path = self.path, str(self.desk.project / name)
        self.desk.project.joinpath(old).rename(self.path)
        with self._book() as book:
            book.rename(old, self.path)

    def park(self, text: str) -> None:
        """Another plan lies where it lay."""
        with self._book() as book:
            park(book, self.path)
            book.forget(self.path)
        self.write(text)

    def come_back(self) -> None:
        with self._book() as book:
            [waiting] = book.parked.pop(self.path)
            book.records[self.path] = waiting["record"]
        self.write(TWO)

    def _book(self) -> Book:
        return Book(str(self.desk.home / ".claude"), str(self.desk.project))
