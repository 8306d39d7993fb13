"""The record of the plan a project works on, as anybody may read and edit it. Pure.

    {"activePlan": "docs/kord/plans/audit.md", "currentWave": 2, "currentStory": "S07",
     "checkpoint": {"timestamp": …, "message": …},
     "progress": {"totalStories": 12, "completedStories": 7,
                  "stories": {"S07": {"status": "in_progress", "wave": 2}}},
     "todos": [{"id": …, "content": …, "status": …}]}

All fields are optional, and those that are not ours stay where they are.
"""

from __future__ import annotations

from sisyphus.boulder.kord.notes import checkpoint, objects
from sisyphus.boulder.record import number, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.kord.notes import Notes

_SHAPE: dict[str, type] = {
    "activePlan": str,
    "currentWave": int,
    "currentStory": str,
    "checkpoint": dict,
    "progress": dict,
    "todos": list,
}
_PROGRESS = ("totalStories", "completedStories", "stories")
_STORY = ("status", "wave")
_WORDS = {str: "a text", int: "a number", dict: "an object", list: "a list"}


def problem(found: Json) -> str:
    """Why a record cannot be taken for what it says, "" where it can."""
    for name, kind in _SHAPE.items():
        value = found.get(name)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            return f"{name} is not {_WORDS[kind]}"
    if not all(isinstance(todo, dict) for todo in found.get("todos") or ()):
        return "todos holds what is not an object"
    if found.get("checkpoint") and checkpoint(found["checkpoint"]) is None:
        return "checkpoint has no message"
    return ""


def take_in(found: Json, notes: Notes, shown: tuple[object, object]) -> None:
    """Brings `notes` to what somebody else wrote; a field that is not there says nothing, nor does
    a record that comes back from an old commit. `shown`: the wave and story we wrote last; a person
    who changed them has named them."""
    if theirs := found.get("checkpoint"):
        if _is_older(theirs, notes.checkpoint):
            return
        notes.by = notes.by if theirs == notes.checkpoint else ""
        notes.checkpoint = dict(theirs)
    if found.get("todos") is not None:
        notes.todos = objects(found["todos"])
        ids = {text(todo.get("id")) for todo in notes.todos}
        notes.owners = {todo: owner for todo, owner in notes.owners.items() if todo in ids}
    current = (found.get("currentWave"), found.get("currentStory"))
    if current not in (shown, (None, None)) and not _is_derived(found):
        notes.wave, notes.story = number(current[0]), text(current[1])


def without_what_was(found: Json, notes: Notes) -> Json:
    """What somebody wrote who named another plan: what it still says of the one before it, whose
    `notes` these are, is not about the other."""
    was: Json = {"checkpoint": notes.checkpoint, "todos": notes.todos}
    return {name: value for name, value in found.items() if name not in was or value != was[name]}


def _is_older(new: Json, known: Json | None) -> bool:
    """One without a time is no commit's: somebody wrote it just now."""
    at, before = text(new.get("timestamp")), text((known or {}).get("timestamp"))
    return bool(at) and at < before


def _is_derived(found: Json) -> bool:
    """Whether its current story is the first one that its own progress leaves: so a program writes
    it, and nobody need have named it."""
    left = [n for n, story in _stories(found.get("progress")).items() if not _is_over(story)]
    return bool(left) and left[0] == found.get("currentStory")


def _is_over(story: object) -> bool:
    return isinstance(story, dict) and story.get("status") in ("completed", "blocked")


def _stories(progress: object) -> Json:
    found = progress.get("stories") if isinstance(progress, dict) else None
    return found if isinstance(found, dict) else {}


def render(found: Json, fields: Json) -> Json:
    """`found` with our fields as they are now (None = there is none); what others put there stays,
    inside the progress and its stories too."""
    ours = {name: fields[name] for name in _SHAPE if fields.get(name) is not None}
    if progress := _progress(found.get("progress"), fields.get("progress")):
        ours["progress"] = progress
    return {**ours, **{name: value for name, value in found.items() if name not in _SHAPE}}


def _progress(found: object, new: Json | None) -> Json:
    known = found if isinstance(found, dict) else {}
    foreign = {name: value for name, value in known.items() if name not in _PROGRESS}
    now = new or {}
    stories = _with_foreign(_stories(found), now.get("stories", {}))
    return {**now, **({"stories": stories} if stories or new else {}), **foreign}


def _with_foreign(known: Json, new: Json) -> Json:
    """The stories as they are now; one that is gone stays as far as it says what is not ours."""
    foreign = {name: _foreign(story) for name, story in known.items()}
    gone = {name: more for name, more in foreign.items() if more and name not in new}
    return {**{name: {**story, **foreign.get(name, {})} for name, story in new.items()}, **gone}


def _foreign(story: object) -> Json:
    found = story.items() if isinstance(story, dict) else ()
    return {name: value for name, value in found if name not in _STORY}
