"""Reads the plans that other tools keep in JSON: `tasks.json` of task-master, and the `prd.json` of
public ralph loops. Pure, and it only reads: the agent does what its tool says.

A task's `line` is its place in the list. A task that depends on others has the `after` of one
that a plan in Markdown marks with `(after: …)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sisyphus.boulder.plan import BLOCKED, CANCELLED, DONE, IN_PROGRESS, OPEN, Plan, Task
from sisyphus.ground import quick_json
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line

TASK_MASTER, PRD = "task-master", "prd.json"

_MASTER = "master"
"""The tag that task-master uses if its user has named no other."""

_STATUSES = {
    "done": DONE, "completed": DONE, "in-progress": IN_PROGRESS, "review": IN_PROGRESS,
    "deferred": BLOCKED, "blocked": BLOCKED, "cancelled": CANCELLED,
}  # fmt: skip
"""Statuses of task-master; `pending` and any other word mean open."""

_DONE_KEYS = ("passes", "complete")
"""What says of a story whether it is done."""

_LAST = float("inf")
"""The priority of a story that has none."""

_REASON = 200
"""The most characters of what is wrong with a text that is not JSON."""


class _Entry(Record, is_frequent=True):
    """A task as its tool has it. text: begins with its id. depends: the ids of the tasks that have
    to be done before. place: in its list, from 1 on."""

    id: str
    text: str
    status: str
    depends: tuple[str, ...]
    checks: tuple[str, ...]
    place: int


def parse(text: str, tool: str, tag: str = "") -> Plan:
    """Returns the plan in a JSON document. Raises `UnreadableError`.

    tool: one of those above. tag: the one that task-master is at; "" = it does not say.
    """
    data = _load(text)
    return _of_task_master(data, tag) if tool == TASK_MASTER else _of_prd(data)


def _load(text: str) -> Any:
    try:
        return quick_json.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise UnreadableError("it is nested too deeply") from error
    except ValueError as error:
        raise UnreadableError(f"it is not JSON ({one_line(str(error), _REASON)})") from error


# ---------------------------------------------------------------- task-master


def _of_task_master(data: Any, tag: str) -> Plan:
    """Returns the tasks of one tag; subtasks are steps."""
    title, listed = _in_tag(data, tag)
    tasks = list(_objects(listed, "tasks"))
    entries = [
        _entry(
            task, place, _status(task), _strings(task.get("dependencies")),
            _strings(task.get("testStrategy")),
        )
        for place, task in enumerate(tasks, 1)
    ]  # fmt: skip
    texts = {each.id: each.text for each in entries}
    steps = []
    for entry, task in zip(entries, tasks, strict=True):
        for place, step in enumerate(_objects(task.get("subtasks") or [], "subtasks"), 1):
            status = _status(step)
            steps.append(status)
            if status not in (DONE, CANCELLED):
                texts.setdefault(f"{entry.id}.{_id(step, place)}", entry.text)
    total = len(steps) - steps.count(CANCELLED)
    found = tuple(_task(each, texts) for each in entries)
    return Plan(title, found, total, steps.count(DONE), {}, {}, TASK_MASTER)


def _in_tag(data: Any, tag: str) -> tuple[str, Any]:
    """Returns the name of a plan, and its list of tasks: those of the tag that task-master is at,
    else of `master`. A file of an early version has no tags."""
    if not isinstance(data, dict):
        raise UnreadableError("it is not a JSON object")
    if "tasks" in data and not isinstance(data["tasks"], dict):
        meta = data.get("meta") or data.get("metadata")
        return _text(meta.get("projectName")) if isinstance(meta, dict) else "", data["tasks"]
    for name in (tag, _MASTER):
        if name and isinstance(data.get(name), dict):
            return _text(name), data[name].get("tasks")
    named = f"the tag {one_line(tag, 60)} nor " if tag and tag != _MASTER else ""
    raise UnreadableError(f"it has neither {named}tasks nor the tag {_MASTER}")


def _status(task: dict[str, Any]) -> str:
    word = task.get("status")
    return _STATUSES.get(word, OPEN) if isinstance(word, str) else OPEN


# ---------------------------------------------------------------- prd.json


def _of_prd(data: Any) -> Plan:
    """Returns the user stories, the lowest priority first, which is a number; those without one
    come last."""
    title, stories = _stories(data)
    entries = []
    for place, story in enumerate(stories, 1):
        is_done = any(story.get(key) is True for key in _DONE_KEYS)
        checks = _strings(story.get("acceptanceCriteria") or story.get("steps"))
        entries.append(
            _entry(
                story, place, DONE if is_done else OPEN, _strings(story.get("dependsOn")), checks
            )
        )
    texts = {each.id: each.text for each in entries}
    entries.sort(key=lambda each: _priority(stories[each.place - 1]))
    return Plan(title, tuple(_task(each, texts) for each in entries), 0, 0, {}, {}, PRD)


def _stories(data: Any) -> tuple[str, list[dict[str, Any]]]:
    """Returns the name of a plan and its stories. A bare list has no name. Many files are called so
    that a loop cannot work through: theirs say of no story whether it is done."""
    title, listed = "", data
    if isinstance(data, dict):
        names = (_text(data.get(key)) for key in ("project", "projectName", "name", "branchName"))
        title, listed = next(filter(None, names), ""), data.get("userStories")
    stories = list(_objects(listed, "userStories"))
    if stories and not any(key in story for story in stories for key in _DONE_KEYS):
        raise UnreadableError(f"none of its userStories has {' or '.join(_DONE_KEYS)}")
    return title, stories


def _priority(story: dict[str, Any]) -> float:
    value = story.get("priority")
    if isinstance(value, int | float) and not isinstance(value, bool) and value < _LAST:
        return value
    return _LAST  # of NaN, too


# ---------------------------------------------------------------- both


def _objects(listed: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yields the entries of a list. name: what its tool calls it."""
    if not isinstance(listed, list):
        raise UnreadableError(f"its {name} are not a list")
    for place, each in enumerate(listed, 1):
        if not isinstance(each, dict):
            raise UnreadableError(f"number {place} of its {name} is not an object")
        yield each


def _entry(
    task: dict[str, Any], place: int, status: str, depends: tuple[str, ...], checks: tuple[str, ...]
) -> _Entry:
    id = _id(task, place)
    title = _text(task.get("title")) or _text(task.get("description"))
    mark = "." if id.isdigit() else ":"
    text = f"{id}{mark} {title}".removesuffix(" ")
    return _Entry(id, text, status, depends, checks, place)


def _id(task: dict[str, Any], place: int) -> str:
    """Returns the id of a task, which is a number or a text; its place if it has none."""
    return _text(task.get("id")) or str(place)


def _task(entry: _Entry, texts: dict[str, str]) -> Task:
    """texts: of the tasks that somebody may have to wait for, by their ids."""
    after = [texts[id] for id in entry.depends if texts.get(id, entry.text) != entry.text]
    return Task(
        entry.text, entry.status, entry.place, heading="", wave=None, story="",
        checks=entry.checks, after=tuple(dict.fromkeys(after)),
    )  # fmt: skip


def _strings(value: Any) -> tuple[str, ...]:
    """Returns the texts and numbers in a list, or the one that a value is."""
    values = value if isinstance(value, list) else [value]
    return tuple(text for each in values if (text := _text(each)))


def _text(value: Any) -> str:
    """Returns a text or a number on one line, as it can be printed and stored; "" for anything
    else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).encode("utf-8", "replace").decode()  # half a character may be escaped
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())
