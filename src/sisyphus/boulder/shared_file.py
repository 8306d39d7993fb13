"""Reads and writes `docs/kord/boulder.json`, a project's own file about its plan, shared by git.

Other programs write it, too. If its bytes are not those that we last wrote, we merge them into the
record before we write. Unknown fields stay. A file that cannot be read is left alone.
"""

from __future__ import annotations

import os
import re

from sisyphus.boulder import find, follow, plans
from sisyphus.boulder.plans import DISMISSED, Checkpoint, PlanRecord
from sisyphus.ground import exports, files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.paths import is_inside
from sisyphus.ground.record import Record, replace
from sisyphus.ground.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.boulder.plan import Plan
    from sisyphus.ground.store import Store

    Json = dict[str, Any]


_AUTOMATIC = re.compile(
    r"(.+ is complete|End of a session|Before a compaction)( \(\d+ of \d+ tasks?\))?", re.DOTALL
)
"""The text of an automatic checkpoint. A key of ours would not tell: other programs may drop it,
and the files of earlier versions have none."""

_TAKEN_OVER = ("activePlan", "currentWave", "currentStory", "checkpoint", "todos")
"""Fields that others may change. They are about the plan that the file names."""


class Shared(Record):
    """What others wrote. None = the file does not say.

    fingerprint: of the whole file. plan: the absolute path of a file in the project, or "".
    """

    fingerprint: str
    plan: str
    wave: int | None
    story: str
    checkpoint: Checkpoint | None
    todos: list[Json] | None

    @property
    def is_absent(self) -> bool:
        """Tells whether it is about a plan that is not on disk."""
        return bool(self.plan) and not os.path.isfile(self.plan)


def changes(store: Store, project: str) -> Shared | None:
    """Returns what others wrote since we did; None = nothing. Raises `UnreadableError`."""
    text, data = load(project)
    if not text or _is_known(store, project, text):
        return None
    wave = data.get("currentWave")
    return Shared(
        fingerprint(text),
        _plan_path(project, data),
        wave if type(wave) is int else None,
        _text(data.get("currentStory")),
        _checkpoint(data.get("checkpoint")),
        _todos(data.get("todos")),
    )


def _is_known(store: Store, project: str, text: str) -> bool:
    """Tells whether we wrote or read the file in this state."""
    mark = fingerprint(text)
    return any(record.kord == mark for record in plans.of_project(store, project))


def plan_path(project: str) -> str:
    """Returns the path, inside the project, of the plan that the file names; "" = it names none."""
    try:
        return _plan_path(project, load(project)[1])
    except UnreadableError:
        return ""


def problem(project: str) -> str:
    """Returns why the file cannot be read; "" = it can, or does not exist."""
    try:
        load(project)
    except UnreadableError as error:
        return str(error)
    return ""


def absent_plan(project: str) -> str:
    """Returns the path of the plan that the file names if it is not on disk: it may be on another
    branch, not pushed yet, or renamed. "" = it is there, or the file names none."""
    path = plan_path(project)
    return path if path and not os.path.isfile(path) else ""


def _plan_path(project: str, data: Json) -> str:
    name = _text(data.get("activePlan")).removeprefix("@")
    path = os.path.normpath(os.path.join(project, name))
    return path if path.startswith(project + os.sep) else ""


def merge(record: PlanRecord, shared: Shared) -> PlanRecord:
    """Returns the record with what others wrote about its plan."""
    checkpoint, automatic = record.checkpoint, record.automatic
    if shared.checkpoint and not _is_automatic(shared.checkpoint):
        checkpoint = shared.checkpoint
    elif shared.checkpoint and _is_true_now(shared.checkpoint, record):
        automatic = shared.checkpoint
    if shared.story or shared.wave is not None:
        checkpoint = checkpoint or Checkpoint("", "")
        checkpoint = replace(checkpoint, wave=shared.wave, story=shared.story)
    todos = record.todos if shared.todos is None else shared.todos
    return replace(
        record,
        checkpoint=checkpoint,
        automatic=automatic,
        todos=todos,
        kord=shared.fingerprint,
    )


def _is_automatic(checkpoint: Checkpoint) -> bool:
    """Tells whether sisyphus wrote a checkpoint, here or elsewhere. It never becomes a note."""
    return _AUTOMATIC.fullmatch(checkpoint.message) is not None


def _is_true_now(checkpoint: Checkpoint, record: PlanRecord) -> bool:
    done = follow.of_tasks(record.completed, record.total)
    return checkpoint.message.endswith(f"({done})")


def export(store: Store, path: str, plan: Plan | None, *, takes_over: bool = False) -> None:
    """Writes the file of a plan's project if it exists or the user wants it. A cleared plan is
    taken out of it; another one that cannot be read changes nothing.

    Changes that we have not merged are left to the next hook or, if they name another plan, to
    the next start. The file stays as it is, too, while it names another plan that is not on disk,
    unless the user takes it over.
    """
    with store.write():
        record = plans.find(store, path)
        if record is None or not (record.in_repo or find.has_kord_file(record.project)):
            return
        file = find.kord_file(record.project)
        if not is_inside(os.path.dirname(file), record.project):
            return  # a link leads out of the project
        try:
            text, data = load(record.project)
        except UnreadableError:
            return  # the start and `status` say so
        is_unread = text and not _is_known(store, record.project, text)
        if is_unread or (not takes_over and absent_plan(record.project) not in ("", path)):
            return
        if record.state == DISMISSED:
            if _plan_path(record.project, data) != path:
                return
            new = exports.as_json({key: data[key] for key in data if key not in _TAKEN_OVER})
        elif plan is None:
            return
        else:
            new = exports.as_json(content(record, plan, data))
        exports.replace(file, new, is_shared=True)
        plans.save(store, replace(record, kord=fingerprint(new)))


def content(record: PlanRecord, plan: Plan, old: Json) -> Json:
    """Returns the file's new content. old: what it says now; its unknown fields stay."""
    progress = _fields(old.get("progress"))
    old_stories = _fields(progress.get("stories"))
    old_checkpoint = _fields(old.get("checkpoint"))
    wave, story = follow.position(record, plan)
    stories = plan.stories
    last = next(iter(record.checkpoints), None)
    ours = {
        "activePlan": os.path.relpath(record.path, record.project).replace(os.sep, "/"),
        "currentWave": wave,
        "currentStory": story or None,
        "checkpoint": last
        and {
            **(old_checkpoint if old_checkpoint.get("timestamp") == last.timestamp else {}),
            "timestamp": last.timestamp,
            "message": last.message,
        },
        "progress": {
            **progress,
            "totalStories": len(stories),
            "completedStories": sum(each.status == "completed" for each in stories),
            "stories": {
                s.id: {**_fields(old_stories.get(s.id)), "status": s.status, "wave": s.wave}
                for s in stories
            },
        },
        "todos": record.todos,
    }
    whole = {**old, **ours}
    return {key: value for key, value in whole.items() if value is not None or key not in ours}


def load(project: str) -> tuple[str, Json]:
    """Returns the file's text and what it says; "" and {} if it does not exist. Raises
    `UnreadableError`."""
    if not find.has_kord_file(project):
        return "", {}
    try:
        text = files.read(find.kord_file(project), inside=project)
        return text, find.parse_object(text)
    except UnreadableError as error:
        raise UnreadableError(f"docs/kord/boulder.json cannot be read: {error}") from error


def _text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""


def _checkpoint(value: object) -> Checkpoint | None:
    if _text(value):
        return Checkpoint("", _text(value))
    if not isinstance(value, dict) or not _text(value.get("message")):
        return None
    return Checkpoint(_text(value.get("timestamp")), _text(value["message"]))


def _todos(value: object) -> list[Json] | None:
    if not isinstance(value, list):
        return None
    keys = ("id", "content", "status")
    todos = [_fields(todo) for todo in value]
    return [{**todo, **{key: _text(todo.get(key)) for key in keys}} for todo in todos if todo]


def _fields(value: object) -> Json:
    return value if isinstance(value, dict) else {}
