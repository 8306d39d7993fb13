"""A loop's state file, `ralph-loop.SESSION.local.md`: written from the row; the user may edit it.

Only the current loop of a session has one. Deleting it cancels the loop. We notice an edit by the
file's stamp and apply it at the next prompt, Stop or command. We never read the file otherwise.
"""

from __future__ import annotations

import os
import time

from sisyphus.ground import exports, files, paths, quick_json, traces
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import Record, field, replace
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.loops.loop import ACTIVE, CANCELLED, PAUSED, PROMISE_CHARACTERS, Loop, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.loops.runs import Run

COMPLETED = "completed"
"""The status of a loop that has ended, for other programs."""

_VERSION = 1
_DESCRIPTION = 60
_LARGEST = 10**12
_LIMITS = ("max_iterations", "max_minutes", "max_tokens")
_FIXED = ("project", "iteration", "tokens", "verify")
"""Keys that an edit cannot change, though a reader may think so."""


class Edit(Record):
    """An edit of a state file.

    stamp: the file's stamp now; "" = it was deleted. fields: its frontmatter, as JSON has it.
    prompt: its body. problem: why it cannot be read; "" = it can.
    """

    stamp: str
    fields: dict[str, Any] = field(default_factory=dict)
    prompt: str = ""
    problem: str = ""


def find_edit(loop: Loop) -> Edit | None:
    """Returns how the user has edited the file since we wrote it; None = not at all. Changes
    nothing."""
    if not loop.file or (stamp := files.stamp(loop.file)) == loop.stamp:
        return None
    if not stamp:
        return Edit("")
    from sisyphus.ground import frontmatter

    try:
        source, body = frontmatter.split(files.read(loop.file))
        if source is None:
            return Edit(stamp, problem="its frontmatter is missing")
        fields = frontmatter.load(source)
        if fields.get("loop_id", loop.id) != loop.id:
            return None  # we wrote it, for a nested loop: that hook was killed before its commit
        fields = quick_json.loads(quick_json.dumps(fields, default=str))
        return Edit(stamp, fields, body.removeprefix("\n").removesuffix("\n"))
    except (SisyphusError, TypeError, ValueError, OverflowError, RecursionError) as error:
        return Edit(stamp, problem=str(error))


def apply_edit(loop: Loop, edit: Edit, now: float) -> list[str]:
    """Applies an edit to the loop. Times in the file have no effect. Nor have the check, counters
    and values that cannot be used; returns these, each as `key: value`."""
    if not edit.stamp:
        loop.end(CANCELLED, "its state file was deleted", now)
        return []
    if edit.problem:
        loop.pause(PAUSED, f"its state file cannot be read: {edit.problem}", now)
        return []
    loop.stamp = edit.stamp
    fields = edit.fields
    limits = {name: fields[name] for name in _LIMITS if _is_count(fields.get(name))}
    unusable = [name for name in _LIMITS if name in fields and name not in limits]
    promise = " ".join(str(fields.get("completion_promise") or "").split())
    if len(promise) > PROMISE_CHARACTERS or "<" in promise or ">" in promise:
        promise = loop.options.promise
        unusable.append("completion_promise")
    if "status" in fields and fields["status"] not in (ACTIVE, PAUSED):
        unusable.append("status")
    loop.options = replace(loop.options, promise=promise, **limits)
    known = as_dict(loop, "")
    unusable += [name for name in _FIXED if name in fields and fields[name] != known[name]]
    loop.counters.foreign = {key: value for key, value in fields.items() if key not in known}
    if edit.prompt.strip() and edit.prompt != _plain(loop.prompt):
        loop.prompt = edit.prompt
    _apply_status(loop, fields, now)
    return [f"{name}: {quick_json.dumps(fields[name], ensure_ascii=False)}" for name in unusable]


def set_aside(loop: Loop) -> None:
    """Renames an unreadable file; the next export writes a new one."""
    os.replace(loop.file, f"{loop.file}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
    loop.file = loop.stamp = ""


def _apply_status(loop: Loop, fields: dict[str, Any], now: float) -> None:
    if not fields.get("session_id"):
        loop.pause(PAUSED, "its state file has no session_id", now)
    elif fields.get("status") == PAUSED and loop.is_active:
        loop.pause(PAUSED, "its state file says so", now)
    elif fields.get("status") == ACTIVE and not loop.is_active:
        loop.resume(now)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def as_dict(loop: Work, owner: str) -> dict[str, Any]:
    """Returns a loop with the key names of the file and of --json. owner: the session's id."""
    left_at = loop.left_at if isinstance(loop, Loop) else None
    task = loop.task
    status = COMPLETED if loop.ended_at is not None else ACTIVE if loop.is_active else PAUSED
    short = task if len(task) <= _DESCRIPTION else task[:_DESCRIPTION] + "..."
    return {
        "version": _VERSION,
        "session_id": owner or None,
        "loop_id": loop.id,
        "project": loop.project,
        "description": short,
        "iteration": loop.counters.iteration,
        "max_iterations": loop.options.max_iterations,
        "completion_promise": loop.options.promise or None,
        "started_at": iso(loop.started_at),
        "status": status,
        "paused_by": loop.status if status == PAUSED else None,
        "max_minutes": loop.options.max_minutes,
        "max_tokens": loop.options.max_tokens,
        "tokens": loop.counters.tokens,
        "verify": loop.options.verify or None,
        "why": loop.why or None,
        "abandoned_at": iso(left_at) if left_at is not None else None,
    }


def run_as_dict(run: Run, owner: str) -> dict[str, Any]:
    """Returns a run with the same key names, and its own."""
    return {
        **as_dict(run, owner),
        "tokens": run.all_tokens,
        "is_at_work": run.is_at_work,
        "client": run.seat.client,
        "item": run.state.item or None,
        "action": run.action or None,
        "items": {"completed": len(run.state.done), "total": run.state.total},
        "evidence": run.state.evidence,
    }


def render(loop: Loop, owner: str) -> bytes:
    """Returns the content of the file. Values are JSON, which is valid YAML."""
    fields = {**as_dict(loop, owner), **loop.counters.foreign}
    lines = [f"{key}: {quick_json.dumps(value)}\n" for key, value in fields.items()]
    text = f"---\n{''.join(lines)}---\n\n{loop.prompt}\n"
    return text.encode("utf-8", "surrogatepass")


def export(store: Store, session: Session) -> None:
    """Writes the file of a session's current loop, and removes files that no row names any more.

    Files are removed after the commit. A hook that is killed in between would otherwise have
    deleted the file of a running loop, which cancels it.
    """
    with store.write():
        current = loops.current(store, session)
        written = loops.with_files(store, session)
        for id, _ in written:
            if current is None or id != current.id:
                loops.note_file(store, id, "", "")
        ours = _export_one(store, current, session.id) if current else ""
    left = {file for _, file in written} - {ours}
    if not left:
        return
    with store.write():
        for file in left:
            if not loops.has_file(store, file):
                _remove(file)


def _export_one(store: Store, loop: Loop, owner: str) -> str:
    """Writes a loop's file, unless somebody has edited it: the next prompt, Stop or command applies
    that. Returns its path."""
    if find_edit(loop):
        return loop.file
    path = traces.loop_file(paths.our_home(), owner)
    exports.replace(path, render(loop, owner))
    loops.note_file(store, loop.id, path, files.stamp(path))
    return path


def _remove(file: str) -> None:
    if os.path.lexists(file):
        os.unlink(file)
