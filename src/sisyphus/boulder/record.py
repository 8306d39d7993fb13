"""What is remembered of one plan: the seven fields of `.boulder.json`, ours in `metadata`. Pure.

Ours are `updated_at`, `ended_sessions` (ids), `missing_since` and `enforced`, all optional; times
are UTC in the form of `started_at`, so that they compare as texts.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.parser.plan import Plan

VERSION = 1
"""The shape carries none; a file that names a later one is a later program's."""

OURS = ("updated_at", "ended_sessions", "missing_since", "enforced")
"""What we write into `metadata`."""

_DAY = 86_400


def timestamp(now: float) -> str:
    """`now` in epoch seconds as `2026-01-09T10:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


def new_record(path: str, root: str, now: float) -> Json:
    return {
        "active_plan": path,
        "project_root": root,
        "plan_name": "",
        "started_at": timestamp(now),
        "session_ids": [],
        "progress": {"total": 0, "completed": 0},
        "metadata": {"updated_at": timestamp(now)},
    }


def is_newer(found: Json) -> bool:
    """Whether a record must not be written over."""
    version = found.get("version")
    return isinstance(version, int) and version > VERSION


def valid_record(found: Json) -> Json | None:
    """A record that anybody may have written, with each field of its type; None where it names
    no plan. Unknown fields stay."""
    if not is_path(found.get("active_plan")):
        return None
    texts = {name: found.get(name) for name in ("project_root", "plan_name", "started_at")}
    progress = found.get("progress")
    counts = progress if isinstance(progress, dict) else {}
    return {
        **found,
        **{name: text if isinstance(text, str) else "" for name, text in texts.items()},
        "session_ids": strings(found.get("session_ids")),
        "progress": {name: _count(counts.get(name)) for name in ("total", "completed")},
        "metadata": found["metadata"] if isinstance(found.get("metadata"), dict) else {},
    }


def joined(old: Json, new: Json) -> Json:
    """`new` with what `old`, another's copy of it, has besides; of our own notes `new` alone
    knows."""
    foreign = {name: value for name, value in old["metadata"].items() if name not in OURS}
    return {
        **old,
        **new,
        "session_ids": list(dict.fromkeys([*old["session_ids"], *new["session_ids"]])),
        "metadata": {**foreign, **new["metadata"]},
    }


def note_progress(record: Json, plan: Plan, name: str, now: float) -> bool:
    """Brings name and progress up to date; whether anything changed."""
    progress = {"total": plan.counts.total, "completed": plan.counts.completed}
    if record["progress"] == progress and record["plan_name"] == name:
        return False
    record.update(progress=progress, plan_name=name)
    touch(record, now)
    return True


def touch(record: Json, now: float) -> None:
    record["metadata"] = {**record["metadata"], "updated_at": timestamp(now)}


def add_session(record: Json, session: str, now: float) -> None:
    """Notes that `session` ("" = unknown) works on the plan, perhaps again."""
    touch(record, now)
    if session and session not in record["session_ids"]:
        record["session_ids"] = [*record["session_ids"], session]
    ended = strings(record["metadata"].get("ended_sessions"))
    if session in ended:
        record["metadata"]["ended_sessions"] = [s for s in ended if s != session]


def end_session(record: Json, session: str) -> bool:
    """Notes that `session` is over; False where it never worked on the plan or was over."""
    ended = strings(record["metadata"].get("ended_sessions"))
    if session in ended or session not in record["session_ids"]:
        return False
    record["metadata"] = {**record["metadata"], "ended_sessions": [*ended, session]}
    return True


def last_touched(record: Json) -> str:
    touched = record["metadata"].get("updated_at")
    return touched if isinstance(touched, str) else record["started_at"]


def is_stale(record: Json, file_time: float, now: float, days: int) -> bool:
    """Whether all sessions have ended, and record and file (changed at `file_time`, in epoch
    seconds) were not touched for `days` days."""
    ended = strings(record["metadata"].get("ended_sessions"))
    is_untouched = last_touched(record) < timestamp(now - days * _DAY)
    are_over = set(record["session_ids"]) <= set(ended)
    return is_untouched and are_over and is_old(file_time, now, days)


def is_old(file_time: float, now: float, days: int) -> bool:
    return file_time < now - days * _DAY


def strings(value: object) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def number(value: object) -> int | None:
    return value if type(value) is int else None


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_path(value: object) -> bool:
    """Whether the system could open it: absolute, and nothing that JSON alone can spell."""
    if not isinstance(value, str) or not os.path.isabs(value) or "\0" in value:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return True


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
