"""`boulder status` for people. Pure."""

from __future__ import annotations

from sisyphus.boulder.kord.todos import open_todos
from sisyphus.boulder.outline import Outline
from sisyphus.boulder.record import strings
from sisyphus.boulder.tables import todo_mark
from sisyphus.paths import display
from sisyphus.style import LEAST_WIDTH, PLAIN, WIDTH, plain
from sisyphus.text import line
from sisyphus.times import ago, clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import PlanStatus
    from sisyphus.style import Row, Style

NOTHING = "No plan is followed here. `sisyphus boulder start` begins with one."

_BAR = 20
_LABEL = 12
_LINES = 3  # of a text that is longer than the terminal is wide
_TODOS = 10

_HINTS = {
    "missing": "The file is gone. Restore it, or forget it: sisyphus boulder clear",
    "stale": "Not touched for long. Take it up again: sisyphus boulder start",
    "no_tasks": "There is no task in it.",
}


def started(status: PlanStatus, *, now: float, width: int = WIDTH, style: Style = PLAIN) -> str:
    """The answer to `boulder start` and `boulder switch`."""
    shown = status_text(status, now=now, width=width, style=style)
    return f"Boulder state tracking enabled for this plan.\n\n{shown}"


def status_text(
    status: PlanStatus, *, now: float, width: int = WIDTH, style: Style = PLAIN, here: str = ""
) -> str:
    """The plan, its parts and what is remembered of it, in lines of at most `width` characters.

    `now` in epoch seconds; `here` is the root of the project that was asked about ("" = any).
    """
    width = max(width, LEAST_WIDTH)
    if status["state"] == "none":
        return "\n".join(style.wrapped(NOTHING, width, _LINES))
    outline = Outline(status, style, width).rows()
    blocks = [
        _head(status, style, width, here),
        outline,
        _Details(status, style, width, now).rows(),
    ]
    shown = ["\n".join(style.fit(row, width) for row in rows) for rows in blocks if rows]
    return "\n\n".join(shown)


def _head(status: PlanStatus, style: Style, width: int, here: str) -> list[Row]:
    rows: list[Row] = []
    root, state = status["project_root"], status["state"]
    if here and root and here != root:
        rows.append([("In use elsewhere: ", style.yellow), (line(root), plain)])
    paint = style.green if state in ("active", "complete") else style.yellow
    name = line(status["plan_name"] or "")
    rows.append([(name, style.bold), (f"  ({state.replace('_', ' ')})", paint)])
    rows += _progress(status, style, width)
    hint = _HINTS.get(state)
    told = style.wrapped(hint, width, _LINES) if hint else []
    return [*rows, *([(text, style.yellow)] for text in told)]


def _progress(status: PlanStatus, style: Style, width: int) -> list[Row]:
    """One row, two where it would be too long."""
    progress = status["progress"]
    done, total = progress["completed"], progress["total"]
    percent = f"  {100 * done // total} %" if total > 0 else ""
    others = {
        "in progress": progress["in_progress"],
        "blocked": progress["blocked"],
        "cancelled": progress["cancelled"],
    }
    aside = ", ".join(f"{count} {what}" for what, count in others.items() if count)
    counts = f" {done}/{total} tasks complete{percent}"
    row = [(style.bar(done, total, _BAR), style.green), (counts, plain)]
    paint = style.yellow if progress["blocked"] else plain
    if aside and _BAR + len(f"{counts}  {aside}") > width:
        return [row, [(aside, paint)]]
    return [[*row, (f"  {aside}" if aside else "", paint)]]


class _Details:
    """Rows with a label: what comes next, and what is remembered."""

    __slots__ = ("_now", "_status", "_style", "_width")

    def __init__(self, status: PlanStatus, style: Style, width: int, now: float) -> None:
        self._status = status
        self._style = style
        self._width = width
        self._now = now

    def rows(self) -> list[Row]:
        named = {
            "Next": self._next(),
            "File": self._file(),
            "Checkpoint": self._checkpoint(),
            "Todos": self._todos(),
            "Steps": self._steps(),
            "Started": self._started(),
            "Record": self._record(),
            "Enforced": self._enforced(),
        }
        rows: list[Row] = []
        for name, texts in named.items():
            labels = [name, *[""] * len(texts)]
            rows += [
                [(label.ljust(_LABEL), self._style.dim), (text, plain)]
                for label, text in zip(labels, texts, strict=False)
            ]
        return rows

    @property
    def _room(self) -> int:
        return self._width - _LABEL

    def _next(self) -> list[str]:
        task = line(self._status["next_task"] or "")
        if self._status["next_task_line"] is None and not task:
            return []
        return self._style.wrapped(task or "a task without words", self._room, _LINES)

    def _file(self) -> list[str]:
        """`FILE:LINE`, which terminals and editors open."""
        at = self._status["next_task_line"]
        return [self._path(self._status["active_plan"] or "", "" if at is None else f":{at}")]

    def _checkpoint(self) -> list[str]:
        checkpoint = self._status["checkpoint"] or {}
        message = line(str(checkpoint.get("message") or "")).strip()
        if not message:
            return []
        told = self._style.wrapped(message, self._room, _LINES)
        return [*filter(None, [ago(checkpoint.get("timestamp"), self._now)]), *told]

    def _todos(self) -> list[str]:
        left = open_todos(self._status["todos"])
        shown = [f"{todo_mark(todo, self._style)} {todo['content']}" for todo in left[:_TODOS]]
        more = len(left) - len(shown)
        return [*shown, f"{self._style.dots} {more} more"] if more else shown

    def _steps(self) -> list[str]:
        progress = self._status["progress"]
        total = progress["steps_total"]
        return [f"{progress['steps_completed']}/{total}"] if total else []

    def _started(self) -> list[str]:
        since, count = clock(self._status["started_at"]), len(self._status["session_ids"])
        sessions = f"{count} session{'s' * (count != 1)}" if count else ""
        told = ", ".join(filter(None, [since, sessions]))
        return [told] if told else []

    def _record(self) -> list[str]:
        path = self._status["record_path"]
        problem = self._status["record_problem"]
        return [*([self._path(path)] if path else []), *([line(problem)] if problem else [])]

    def _enforced(self) -> list[str]:
        enforced = self._status["enforced"]
        if enforced is None:
            return []
        since = clock(enforced.get("since"))
        units = {"max_iterations": "iterations", "max_minutes": "minutes", "max_tokens": "tokens"}
        limits = [
            f"at most {limit:,} {unit}"
            for name, unit in units.items()
            if type(limit := enforced.get(name)) is int and limit > 0
        ]
        count = len(strings(enforced.get("released")))
        free = [f"{count} session{'s' * (count != 1)} at another plan"] if count else []
        told = ", ".join([f"since {since}" if since else "yes", *limits, *free])
        return self._style.wrapped(told, self._room, _LINES)

    def _path(self, path: str, place: str = "") -> str:
        """A path that can be opened where there is room for it: whole, else from the project's
        root, else its end."""
        whole = line(path) + place
        if len(whole) > self._room:
            whole = line(display(path, self._status["project_root"] or "")) + place
        return self._style.cut_start(whole, self._room)
