"""What is remembered of one plan beside its record, tolerant of whatever the file holds. Pure."""

from __future__ import annotations

from sisyphus.boulder.record import number, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json


class Notes:
    """The last `checkpoint` (None = none) and what made it (`by`), the `todos` with their `owners`
    (todo id -> session), the `wave` and `story` that a person named (None and "" = nobody did).

    Bookkeeping: `done`, the stories and waves that were complete at the last look (None = never
    looked), and `ticked`, how many tasks were; `mark`, the counts at the last checkpoint; `said`,
    what a person put into it that still holds; `crc` and `size` of the text last seen, `tasks` the
    checksums of its first tasks' words.
    """

    __slots__ = (
        "_raw", "by", "checkpoint", "crc", "done", "mark", "owners", "said", "size", "story",
        "tasks", "ticked", "todos", "wave",
    )  # fmt: skip

    def __init__(self, raw: Json) -> None:
        self._raw = raw
        self.checkpoint = checkpoint(raw.get("checkpoint"))
        self.by = text(raw.get("by"))
        self.said = text(raw.get("said"))
        self.todos = objects(raw.get("todos"))
        self.owners = _texts(raw.get("owners"))
        self.wave = number(raw.get("wave"))
        self.story = text(raw.get("story"))
        done = raw.get("done")
        self.done = [p for p in done if isinstance(p, str)] if isinstance(done, list) else None
        self.ticked = number(raw.get("ticked"))
        self.mark = text(raw.get("mark"))
        self.crc = number(raw.get("crc")) or 0
        self.size = number(raw.get("size")) or 0
        tasks = raw.get("tasks")
        self.tasks = [t for t in tasks if type(t) is int] if isinstance(tasks, list) else []

    def as_json(self) -> Json:
        return {
            **self._raw,
            "checkpoint": self.checkpoint,
            "by": self.by,
            "said": self.said,
            "todos": self.todos,
            "owners": self.owners,
            "wave": self.wave,
            "story": self.story,
            "done": self.done,
            "ticked": self.ticked,
            "mark": self.mark,
            "crc": self.crc,
            "size": self.size,
            "tasks": self.tasks,
        }


def objects(value: object) -> list[Json]:
    return [dict(v) for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def checkpoint(value: object) -> Json | None:
    """One that anybody may have written; None where it has no message."""
    is_one = isinstance(value, dict) and isinstance(value.get("message"), str)
    return dict(value) if isinstance(value, dict) and is_one else None


def _texts(value: object) -> dict[str, str]:
    found = value.items() if isinstance(value, dict) else ()
    return {name: owner for name, owner in found if isinstance(owner, str)}
