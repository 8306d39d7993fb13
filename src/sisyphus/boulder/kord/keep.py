"""Keeps the record that everybody may read in step with a project's book, in both directions."""

from __future__ import annotations

import os

from sisyphus.boulder.kord import record
from sisyphus.boulder.kord.file import RecordFile, Text
from sisyphus.boulder.look import Look
from sisyphus.boulder.record import is_path, text
from sisyphus.boulder.store import own_record_path, record_in_project, record_path
from sisyphus.clients.base import PATH_CHARACTERS
from sisyphus.errors import SisyphusError
from sisyphus.paths import display, is_inside
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.store import Plans


class Keeper:
    """The record of a book's project, for a holder of the book's lock."""

    __slots__ = ("_carried", "_own", "_text", "book", "file", "home", "lost")

    def __init__(self, home: str, book: Plans) -> None:
        self.home = home
        self._carried: Json = {}  # what the record said at the place that it leaves
        self.lost = ""  # what its user is told where it was set aside
        self._text: Text | None = None  # what is about to be written
        self.book = book
        self._own = own_record_path(home, book.root)
        self.file = RecordFile(record_path(home, book.root), book.root)
        if self.file.problem and not self.file.is_in_project and not self.file.is_newer:
            self._set_aside()

    def _set_aside(self) -> None:
        from sisyphus.state.files import set_aside

        why = line(self.file.problem.removeprefix(f"{self.file.path}: "))
        self.lost = (
            f"Boulder: {line(self.file.path)} could not be understood: {why}. It was kept as "
            "boulder.json.corrupt-TIME beside it, and is written anew."
        )
        set_aside(self.file.path)
        self.file = RecordFile(self.file.path, self.book.root)

    def move_into_project(self) -> None:
        """From now on the record lies in the project; raises `SisyphusError` where it cannot."""
        if not self.file.is_in_project:
            path = record_in_project(self.book.root)
            if os.path.realpath(path) != path:
                raise SisyphusError(f"{path} is reached by a link. Make docs/kord a folder.")
            self._carried = self.file.found
            self.file = RecordFile(path, self.book.root)
        if self.file.problem:
            raise SisyphusError(f"{self.file.problem}. Mend the file, or remove it.")

    @property
    def complaint(self) -> str:
        """What its people are to know of a record that cannot be used."""
        place = line(display(self.file.path, self.book.root))
        if self.is_about_another and self.book.current:
            other = line(text(self.file.found.get("activePlan")))
            return (
                f"Boulder: {place} is about {other}, which is not followed here. It is not written "
                "until that plan is there, or `sisyphus boulder start NAME` takes another."
            )
        if not self.file.problem:
            return ""
        why = line(self.file.problem.removeprefix(f"{self.file.path}: "))
        is_newer = self.file.is_newer
        what = "is not written" if is_newer else "is neither read nor written"
        way_out = "Upgrade sisyphus" if is_newer else "Mend the file"
        return f"Boulder: {place} {what}: {why}. {way_out}, or remove it."

    @property
    def has_news(self) -> bool:
        """Whether somebody else wrote the record since we did, or were about to."""
        file, shown = self.file, self.book.shown
        is_ours = file.crc in (shown.get("crc"), shown.get("before"))
        return bool(file.crc) and file.is_usable and not is_ours

    @property
    def is_about_another(self) -> bool:
        """Whether somebody wrote it about a plan that is none of the book's."""
        names_one = bool(self.file.found.get("activePlan"))
        return self.has_news and names_one and self.named not in self.book.records

    def accept(self) -> None:
        """What it says was read, and may be written over."""
        self.book.shown["crc"] = self.file.crc

    @property
    def named(self) -> str:
        """The plan that the record is about, if it is one of this project or one we know; "" for
        any other."""
        path = self._path(self.file.found.get("activePlan")) if self.file.is_usable else ""
        below = path.startswith(self.book.root.rstrip(os.sep) + os.sep)
        is_ours = path in self.book.records or (below and is_inside(path, self.book.root))
        return path if is_ours else ""

    def _path(self, place: object) -> str:
        if not isinstance(place, str) or not 0 < len(place) < PATH_CHARACTERS:
            return ""
        path = os.path.normpath(os.path.join(self.book.root, place))
        return path if is_path(path) else ""

    def take_in(self) -> str:
        """What others wrote becomes what we know of the plan they wrote about, which is current
        then; returns its path where they set a checkpoint."""
        path = self.named if self.file.found.get("activePlan") else self.book.current
        if not self.has_news or path not in self.book.records:
            return ""
        found, notes, shown = self.file.found, self.book.notes_of(path), self.book.shown
        before = self._path(shown.get("plan"))
        if before != path and before in self.book.records:
            found = record.without_what_was(found, self.book.notes_of(before))
        checkpoint = notes.checkpoint
        record.take_in(found, notes, (shown.get("wave"), shown.get("story")))
        if path != self.book.current:
            self.book.current = self.book.chosen = path
            self.book.undecided = False
        return path if notes.checkpoint != checkpoint else ""

    def bring_up_to_date(self, look: Look | None, last: Json | None) -> str:
        """Prepares the record of the current plan, at which `look` is a look of just now; returns
        why that cannot be done. `last`: the checkpoint of a plan that ended here."""
        self.book.shown["stamp"] = self.file.stamp  # not looked at again as it is
        if self.file.problem:
            if self.file.is_newer:
                self.accept()
            return self.file.problem
        if self.is_about_another:
            return f"{self.file.path}: it is about a plan that is not followed"
        fields = self._fields(look) if self.book.current else self._without_plan(last)
        if fields is not None:
            self._prepare(record.render(self.file.found or self._carried, fields))
        return ""

    def _prepare(self, new: Json) -> None:
        """The book learns what will stand there before it does: who is killed in between finds
        what it wrote, or what was there before."""
        self._text = Text(new) if new != self.file.found else None
        self.book.shown = {
            "crc": self._text.crc if self._text else self.file.crc,
            "before": self.file.crc if self._text else self.book.shown.get("before", 0),
            "stamp": self._text.stamp if self._text else self.file.stamp,
            "plan": new.get("activePlan"),
            "wave": new.get("currentWave"),
            "story": new.get("currentStory"),
        }

    def commit(self) -> str:
        """Writes what was prepared, once the book is written; returns why that failed."""
        if self._text is None:
            return ""
        try:
            if not self.file.write(self._text):
                return f"{self.file.path}: somebody else is writing it"
            self._remove_own()
        except OSError as error:
            self.book.shown["stamp"] = self.file.stamp  # it is not tried again for that alone
            return f"{self.file.path}: {error.strerror or error}"
        self.book.shown["stamp"] = self.file.stamp
        return ""

    def _remove_own(self) -> None:
        """It would speak again, out of date, if the project's were removed."""
        if self.file.is_in_project and os.path.lexists(self._own):
            os.unlink(self._own)

    def _without_plan(self, last: Json | None) -> Json | None:
        """Only what is about the plan we followed goes; None where the record is not about it."""
        named = self.file.found.get("activePlan")
        if not named or named != self.book.shown.get("plan"):
            return None
        return {"checkpoint": last or self.file.found.get("checkpoint")}

    def _fields(self, look: Look | None) -> Json:
        path, found = self.book.current, self.file.found
        notes, place = self.book.notes_of(path), self._spelled(path)
        fields: Json = {"activePlan": place, "checkpoint": notes.checkpoint, "todos": notes.todos}
        is_as_we_left_it = self.file.crc == self.book.shown.get("crc")
        if look is None and not (is_as_we_left_it and found.get("activePlan") == place):
            look = Look(path, self.book.root)
        if look is None or look.state in ("missing", "unreadable"):
            kept = found if found.get("activePlan") == place else {}
            return fields | {n: kept.get(n) for n in ("currentWave", "currentStory", "progress")}
        from sisyphus.boulder.parser import stories

        wave, story, _ = stories.current_parts(look.plan, notes.wave, notes.story)
        progress = stories.record_progress(look.plan, story)
        return fields | {"currentWave": wave, "currentStory": story or None, "progress": progress}

    def _spelled(self, path: str) -> str:
        """Relative to the project where it lies in it: the record may travel with it."""
        below = path.removeprefix(self.book.root.rstrip(os.sep) + os.sep)
        return below.replace(os.sep, "/") if below != path else path
