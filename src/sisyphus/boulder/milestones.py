"""Checkpoints of a plan: when a story or wave is complete, when a session ends or forgets, and when
somebody sets one."""

from __future__ import annotations

from binascii import crc32

from sisyphus.boulder.parser import stories
from sisyphus.boulder.record import timestamp
from sisyphus.boulder.store import add_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.parser.plan import Plan
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace

CHECKPOINT = "checkpoint"
USER = "user"

_TASKS = 40
"""So many tell a plan from another one."""


class Milestones:
    """Sets the checkpoints of the plans in a book; `notes` tells the journal of them."""

    __slots__ = ("_book", "_session", "_space", "notes")

    def __init__(self, space: Workspace, book: Plans, session: str) -> None:
        self._space = space
        self._book = book
        self._session = session
        self.notes: list[str] = []

    def see(self, look: Look) -> None:
        """Notes what is complete; a story or wave that was not so at the last look makes a
        checkpoint. The todos that are finished leave with it, or with a task of a plan that has
        neither."""
        notes = self._book.notes_of(look.path)
        if notes.done is not None and notes.crc == look.crc:
            return  # seen as it is
        notes.crc, notes.size = look.crc, look.stamp[1] if look.stamp else 0
        notes.tasks = checksums(look.plan)
        before, notes.done = notes.done, stories.done_parts(look.plan)
        ticked, notes.ticked = notes.ticked, look.plan.counts.completed
        known = set(notes.done if before is None else before)
        new = [part for part in notes.done if part not in known]
        if new or _is_a_step(look.plan, ticked):
            from sisyphus.boulder.kord import todos

            todos.drop_finished(notes.todos, notes.owners)
        if new:
            from sisyphus.boulder.kord import checkpoints

            if any(part.startswith("wave ") for part in new):
                notes.said = ""  # it was about what is done now
            self.set(look, checkpoints.finished(new, self.where(look)), "progress")

    def stand(self, look: Look, by: str) -> None:
        """Where the work stands, unless nothing moved since the last checkpoint. `by`: the event
        that asks."""
        if self._book.notes_of(look.path).mark != _mark(look.plan):
            self.set(look, self.where(look), by)

    def mark(self, look: Look) -> None:
        """Somebody else set a checkpoint just now."""
        self._book.notes_of(look.path).mark = _mark(look.plan)

    def set(self, look: Look, message: str, by: str) -> Json:
        """A checkpoint of now; `by`: "user", or what made it. What a person said last goes on in
        those that make themselves, until a wave is complete."""
        from sisyphus.boulder.kord import checkpoints

        notes, now = self._book.notes_of(look.path), self._space.now
        if by == USER:
            self.see(look)
            words = checkpoints.new_checkpoint(message, now)["message"]
            notes.said = "" if message == self.where(look) else words
        elif notes.said:
            message = f"{message}; noted: {notes.said}"
        notes.checkpoint = checkpoints.new_checkpoint(message, now)
        notes.mark, notes.by = _mark(look.plan), by
        wave, story, _ = self._current(look)
        entry = {
            "outcome": CHECKPOINT,
            "at": timestamp(now),
            "active_plan": look.path,
            "plan_name": look.name,
            "message": notes.checkpoint["message"],
            "wave": wave,
            "story": story or None,
            "by": by,
            "session": self._session or None,
        }
        add_history(self._space.home, self._book.root, entry)
        self.notes.append(f"boulder checkpoint: {notes.checkpoint['message']}")
        return notes.checkpoint

    def where(self, look: Look) -> str:
        from sisyphus.boulder.kord import checkpoints

        wave, story, title = self._current(look)
        counts = next(
            ((s.completed, s.total) for s in stories.record_stories(look.plan) if s.id == story),
            None,
        )
        task = stories.next_task(look.plan, *self._chosen(look))
        return checkpoints.where(look.plan, wave, story, title, counts, task)

    def _current(self, look: Look) -> tuple[int | None, str, str]:
        return stories.current_parts(look.plan, *self._chosen(look))

    def _chosen(self, look: Look) -> tuple[int | None, str]:
        notes = self._book.notes_of(look.path)
        return notes.wave, notes.story


def _is_a_step(plan: Plan, ticked: int | None) -> bool:
    """Whether more tasks are done than the `ticked` of the last look (None = never looked), in a
    plan of tasks alone."""
    is_more = ticked is not None and plan.counts.completed > ticked
    return is_more and not plan.waves and not plan.stories


def _mark(plan: Plan) -> str:
    return " ".join(f"{name} {count}" for name, count in plan.counts.by_status.items())


def checksums(plan: Plan) -> list[int]:
    """Of the words of its first tasks, whatever their boxes say."""
    return [crc32(task.text.encode()) for task in plan.first_tasks(_TASKS)]
