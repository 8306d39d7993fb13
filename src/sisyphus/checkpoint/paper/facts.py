"""What a situation comes down to, in single lines. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.paper.in_progress import relative
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.checkpoint.paper.situation import Situation

CHARACTERS = 300
_SHORT = 160
_DONE_NAMED = 3


def task(s: Situation) -> str:
    """What all of it is for: the loop's task, else the first thing that the user asked for."""
    return loop_task(s) or one_line(s.work.task, CHARACTERS) or _plan_name(s)


def summary(s: Situation) -> str:
    """What is in progress, what is done and what was done last, in a few short sentences."""
    parts = (
        ("Working on", current_item(s)),
        ("Done before", done_before(s)),
        ("Last action", last_action(s)),
    )
    return " ".join(f"{name}: {_ended(one_line(said, _SHORT))}" for name, said in parts if said)


def current_item(s: Situation) -> str:
    """What was being worked on, as exactly as anybody has named it."""
    found = (
        s.item,
        todo(s, "in_progress"),
        (s.plan["next_task"] or "") if s.plan else "",
        loop_task(s),
        s.work.last_prompt,
        s.work.task,
    )
    return one_line(next(filter(None, found), ""), CHARACTERS)


def progress_on_item(s: Situation) -> str:
    """How far the item is, by what was counted."""
    open_ones = [todo for todo in todos(s) if todo.get("status") != "cancelled"]
    if open_ones:
        done = sum(todo.get("status") == "completed" for todo in open_ones)
        return _share(done, len(open_ones), "todos")
    steps = s.plan["progress"] if s.plan and not s.item else None
    if steps and steps["steps_total"]:
        return _share(steps["steps_completed"], steps["steps_total"], "steps of the plan")
    return _around(s) or "not counted: there are no todos, and no steps of a plan"


def done_before(s: Situation) -> str:
    done = [_content(todo) for todo in todos(s) if todo.get("status") == "completed"]
    if done:
        return "; ".join(one_line(said, _SHORT // 2) for said in done[-_DONE_NAMED:])
    passed = [check.command for check in s.work.verified if check.ok and check.is_sure]
    if s.plan and s.plan["progress"]["completed"]:
        progress = s.plan["progress"]
        return f"{progress['completed']} of {progress['total']} tasks of the plan"
    return f"{one_line(passed[-1], _SHORT // 2)} passed" if passed else ""


def last_action(s: Situation) -> str:
    name, _, about = s.work.last_action.partition(": ")
    return one_line(f"{name} {relative(about, s.root) if about else ''}", CHARACTERS)


def todos(s: Situation) -> list[Json]:
    """The model's own list, else the one that is remembered with the plan."""
    found = s.work.todos or (s.plan["todos"] if s.plan else [])
    return [todo for todo in found if _content(todo)]


def loop_task(s: Situation) -> str:
    """A loop is described by the start of its prompt, which may be cut."""
    description, prompt = (_text((s.loop or {}).get(k)) for k in ("description", "prompt"))
    if description and not description.endswith(("...", "…")):
        return one_line(description, CHARACTERS)
    return one_line(prompt or description, CHARACTERS)


def _plan_name(s: Situation) -> str:
    return one_line((s.plan["plan_name"] or "") if s.plan else "", CHARACTERS)


def todo(s: Situation, status: str) -> str:
    return next((_content(todo) for todo in todos(s) if todo.get("status") == status), "")


def _content(todo: Json) -> str:
    return _text(todo.get("content")).strip()


def _around(s: Situation) -> str:
    """What was counted of all items, where none of this one was."""
    if s.items_left is not None and s.items_total:
        return f"{s.items_left} of {s.items_total} items are left"
    if s.plan and s.plan["progress"]["total"]:
        progress = s.plan["progress"]
        left = progress["total"] - progress["completed"]
        return f"{left} of {progress['total']} tasks of the plan are left"
    return ""


def _share(done: int, total: int, what: str) -> str:
    return f"{100 * done // total}% ({done} of {total} {what})"


def _ended(said: str) -> str:
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
