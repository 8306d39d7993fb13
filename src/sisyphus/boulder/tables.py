"""Plans of all projects, a project's history and its todos, for people. Pure."""

from __future__ import annotations

from sisyphus.boulder.kord.todos import shown
from sisyphus.paths import display
from sisyphus.style import BEGUN, DONE, LEAST_WIDTH, PENDING, PLAIN, WIDTH, plain
from sisyphus.text import line
from sisyphus.times import ago, clock, epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.style import Paint, Row, Style

NO_PLANS = "No plan is followed in any project. `sisyphus boulder start` begins with one."
NO_HISTORY = "Nothing yet: no plan of this project ended, and no checkpoint was made."
NO_TODOS = "No todos."

_NAME_CHARACTERS = 30
_LEAST_NAME = 12
_LEAST_PATH = 24
_MESSAGE_LINES = 4
_INDENT = "  "
_BELOW = " " * 7
_FORGET = "To forget a plan that is missing: sisyphus boulder clear NAME --project DIR"
_FLAGS = {
    "in_use": ("*", "the plan in use"),
    "is_current": (">", "its project's current plan"),
    "enforced": ("!", "enforced"),
}
_TODO_MARKS = {"in_progress": BEGUN, "completed": DONE, "cancelled": DONE}


def list_text(rows: Sequence[Json], now: float, *, width: int = WIDTH, style: Style = PLAIN) -> str:
    """Plans by project, the one touched last first. `now` in epoch seconds.

    A row: project_root, plan_name, active_plan, state, completed, total, touched_at (ISO 8601),
    sessions_open, is_current, in_use, enforced.
    """
    if not rows:
        return NO_PLANS
    latest = sorted(rows, key=lambda row: epoch(row["touched_at"]), reverse=True)
    width = max(width, LEAST_WIDTH)
    cells = _fitted([_cells(row, now, style) for row in latest], width, style)
    widths = _widths(cells)
    projects: dict[str, list[Row]] = {}
    for row, texts in zip(latest, cells, strict=True):
        *beside, last = zip(texts, widths, _paints(row, style), strict=True)
        shown = [(_padded(text, size), paint) for text, size, paint in beside]
        projects.setdefault(row["project_root"], []).append([*shown, (last[0], last[2])])
        if not last[0]:
            path = style.cut_start(_path(row), width - len(_BELOW))
            projects[row["project_root"]].append([(_BELOW + path, style.dim)])
    blocks = [
        [[(style.cut_start(line(root), width), style.bold)], *found]
        for root, found in projects.items()
    ]
    return _text([*blocks, _legend(rows, width, style)], width, style)


def history_text(rows: Sequence[Json], *, width: int = WIDTH, style: Style = PLAIN) -> str:
    """What became of plans, in the order given.

    A row: at (ISO 8601), what, plan_name, active_plan, and where there is one message and by.
    """
    width = max(width, LEAST_WIDTH)
    found = [line_ for row in rows for line_ in _event(row, width, style)]
    return _text([found], width, style) if found else NO_HISTORY


def todos_text(todos: Sequence[Json], *, width: int = WIDTH, style: Style = PLAIN) -> str:
    """All todos of a plan, those that are done too."""
    found = shown(todos)
    size = max((len(todo["id"]) for todo in found), default=0)
    rows: list[Row] = [
        [
            (f"{todo_mark(todo, style)} ", plain),
            (todo["id"].ljust(size) + "  ", style.dim),
            (todo["content"], plain),
        ]
        for todo in found
    ]
    return _text([rows], width, style) if rows else NO_TODOS


def todo_mark(todo: Json, style: Style) -> str:
    return style.marks[_TODO_MARKS.get(todo["status"], PENDING)]


def _cells(row: Json, now: float, style: Style) -> tuple[str, ...]:
    done, total, count = row["completed"], row["total"], row["sessions_open"]
    return (
        _INDENT + "".join(mark if row[flag] else " " for flag, (mark, _) in _FLAGS.items()),
        style.cut(line(row["plan_name"]), _NAME_CHARACTERS),
        row["state"].replace("_", " "),
        f"{done}/{total}",
        f"{100 * done // total} %" if total > 0 else "",
        ago(row["touched_at"], now),
        f"{count} session{'s' * (count != 1)}" if count else "",
        _path(row),
    )


def _path(row: Json) -> str:
    return line(display(row["active_plan"], row["project_root"]))


def _fitted(cells: list[tuple[str, ...]], width: int, style: Style) -> list[tuple[str, ...]]:
    """Where rows are too long, paths lose their beginning, then names their end; where that is
    not enough, the rows have no paths."""
    widths = _widths(cells)
    excess = sum(size + len(_INDENT) for size in widths if size) - len(_INDENT) - width
    if excess <= 0:
        return cells
    path = max(widths[-1] - excess, min(widths[-1], _LEAST_PATH))
    name = widths[1] - excess + widths[-1] - path
    if name < min(widths[1], _LEAST_NAME):
        return [(*row[:-1], "") for row in cells]
    return [
        (row[0], style.cut(row[1], name), *row[2:-1], style.cut_start(row[-1], path))
        for row in cells
    ]


def _widths(cells: list[tuple[str, ...]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _paints(row: Json, style: Style) -> tuple[Paint, ...]:
    state = style.green if row["state"] in ("active", "complete") else style.yellow
    name = style.bold if row["is_current"] else plain
    return (style.yellow, name, state, plain, plain, style.dim, plain, style.dim)


def _padded(text: str, size: int) -> str:
    """A cell with the gap behind it, numbers at its right; nothing for an empty column."""
    if not size:
        return ""
    aligned = text.rjust(size) if text.endswith("%") or text.replace("/", "").isdigit() else text
    return aligned.ljust(size) + _INDENT


def _legend(rows: Sequence[Json], width: int, style: Style) -> list[Row]:
    used = [f"{mark} {what}" for flag, (mark, what) in _FLAGS.items() if any(r[flag] for r in rows)]
    told = ["   ".join(used)] if used else []
    if any(row["state"] == "missing" for row in rows):
        told += style.wrapped(_FORGET, width, _MESSAGE_LINES)
    return [[(text, style.dim)] for text in told]


def _event(row: Json, width: int, style: Style) -> list[Row]:
    by, message = line(str(row.get("by") or "")), line(str(row.get("message") or "")).strip()
    head = [
        (clock(row.get("at")).ljust(16), style.dim),
        (f"  {line(str(row.get('what') or '')):<10}", plain),
        (f"  {line(str(row.get('plan_name') or row.get('active_plan') or ''))}", style.bold),
        (f"  ({by})" if by else "", style.dim),
    ]
    told = style.wrapped(message, width - len(_INDENT), _MESSAGE_LINES) if message else []
    return [head, *([(_INDENT + text, plain)] for text in told)]


def _text(blocks: Sequence[Sequence[Row]], width: int, style: Style) -> str:
    """Blocks with an empty line between them."""
    size = max(width, LEAST_WIDTH)
    shown = ["\n".join(style.fit(row, size).rstrip() for row in block) for block in blocks if block]
    return "\n\n".join(shown)
