"""What a run writes into its project for the agent, the user and other programs: `PROMPT.md`,
`ralph-state.json` and `progress.txt`, each made anew from the rows."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from sisyphus.ground import exports, files, git, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.masking import mask, masked_line
from sisyphus.ground.text import iso
from sisyphus.ground.worktree import PROGRESS, PROMPT, STATE
from sisyphus.handoff.handoffs import Handoff
from sisyphus.handoff.messages import LEVELS, place
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import (
    BLOCKED,
    CANCELLED,
    FATAL_ERROR,
    LIMIT,
    MAX_ITERATIONS,
    PAUSED,
    STUCK,
    SUCCESS,
)
from sisyphus.loops.runs import Run
from sisyphus.runner import decide
from sisyphus.runner.fix_plan import ITEM_CHARACTERS

NAMES = (PROMPT, STATE, PROGRESS)

STATE_VARIABLE = "RALPH_STATE_FILE"
"""Where the state lies, by the environment of `ralph run` and `ralph decide`. No hook asks for it:
a project's settings can set the environment of a client."""

_MAX_STATE = 20_000_000
"""The largest `ralph-state.json` that we read to see whose it is. Ours has all items in it."""

_PROMPT_MARK = "<!-- sisyphus run "
_PROGRESS_MARK = "# sisyphus run "
_STATE_MARK = "run"
"""The marks by which we know our own files: at the end, at the start, a key."""

_STATUSES = {
    SUCCESS: "completed", CANCELLED: "cancelled", LIMIT: "limit",
    MAX_ITERATIONS: "max_iterations", FATAL_ERROR: "fatal_error",
    PAUSED: "cancelled", BLOCKED: "blocked", STUCK: "circuit_breaker",
}  # fmt: skip


def write(run: Run, iterations: Sequence[Iteration], prompt: str) -> None:
    """Writes the three files. prompt: "" = PROMPT.md stays as it is. Raises `OSError`."""
    project = run.folder
    marked = f"{prompt.rstrip()}\n\n{_PROMPT_MARK}{run.id} -->\n"
    for name, data in (
        (PROMPT, marked.encode("utf-8", "replace")),
        (STATE, exports.as_json(state(run, iterations))),
        (PROGRESS, _progress(run, iterations).encode("utf-8", "replace")),
    ):
        if prompt or name != PROMPT:
            exports.replace(path_of(project, name), data)
    _hide(project)


def _hide(project: str) -> None:
    """Keeps the files out of `git status`, unless the user decides what git ignores there."""
    ignore = os.path.join(project, os.path.dirname(PROMPT), ".gitignore")
    is_there = any(path_of(project, name) == os.path.join(project, name) for name in NAMES)
    if is_there and git.is_repository(project) and not os.path.lexists(ignore):
        names = [*map(os.path.basename, NAMES), ".gitignore"]
        exports.replace(ignore, "".join(f"/{name}\n" for name in names).encode())


def path_of(project: str, name: str) -> str:
    """Returns where one of NAMES is written: in the project, or in our home if the project has a
    file of that name that is not ours, or a link on the way to it, or a folder that cannot be
    written. The state is written where the user's environment says, outside the project too."""
    chosen = chosen_state() if name == STATE else ""
    if chosen and (not os.path.lexists(chosen) or _is_ours(chosen, name)):
        return chosen
    path = os.path.join(project, name)
    is_plain = paths.can_be_project(project) and os.path.realpath(path) == path
    folder = os.path.dirname(path)
    if os.path.lexists(folder) and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        is_plain = False
    if is_plain and (not os.path.lexists(path) or _is_ours(path, name)):
        return path
    folder = paths.project_folder(paths.our_home(), project)
    return os.path.join(folder, os.path.basename(name))


def chosen_state() -> str:
    """Returns where the user's environment says that the state lies, links resolved; "" = it does
    not say."""
    value = os.environ.get(STATE_VARIABLE, "")
    return os.path.realpath(value) if value else ""


def _is_ours(path: str, name: str) -> bool:
    if name == PROMPT:
        return files.tail_contains(path, _PROMPT_MARK.encode(), within=100)
    if name == PROGRESS:
        try:
            with files.open_regular(path) as file:
                return file.read(len(_PROGRESS_MARK)) == _PROGRESS_MARK.encode()
        except (OSError, ValueError):
            return False
    try:
        content = json.loads(files.read(path, limit=_MAX_STATE))
    except (UnreadableError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and isinstance(content.get(_STATE_MARK), str)


# ---------------------------------------------------------------- ralph-state.json


def state(run: Run, iterations: Sequence[Iteration]) -> dict[str, Any]:
    """Returns the content of `ralph-state.json`."""
    return {
        "task_name": masked_line(run.task, 100),
        "objective": mask(run.prompt),
        "iteration": run.counters.iteration,
        "started_at": iso(run.started_at),
        "status": _status(run),
        "no_change_count": run.state.stops.get("idle", 0),
        "last_diff_hash": run.state.diff,
        "error_hashes": run.state.errors,
        "max_iterations": run.options.max_iterations,
        "completion_promise": run.options.promise,
        "todo_items": [masked_line(item, ITEM_CHARACTERS) for item in run.state.todo],
        "completed_items": [masked_line(item, ITEM_CHARACTERS) for item in run.state.done],
        "evidence": {
            masked_line(item, ITEM_CHARACTERS): word for item, word in run.state.evidence.items()
        },
        "commits": {
            masked_line(item, ITEM_CHARACTERS): made.tip for item, made in run.state.commits.items()
        },
        "context_checkpoint": run.state.checkpoint or None,
        "context_history": [
            {
                "iteration": each.number,
                "peak_percent": each.percent,
                "checkpoint": each.decision == decide.CHECKPOINT,
            }
            for each in iterations
        ],
        _STATE_MARK: run.id,
    }


def _status(run: Run) -> str:
    if run.is_active:
        return "checkpointed" if run.state.resume else "running"
    return _STATUSES[run.result or run.status]


def checkpoint(handoff: Handoff, item: str) -> dict[str, Any]:
    """Returns the `context_checkpoint` of a handoff. item: what the iteration works on."""
    summary = masked_line(handoff.summary, ITEM_CHARACTERS)
    said = masked_line(handoff.said, ITEM_CHARACTERS)
    return {
        "active": True,
        "level": LEVELS[handoff.level],
        "percent_at_checkpoint": handoff.percent,
        "timestamp": iso(handoff.at),
        "handoff_file": place(handoff),
        "resume_summary": _with_words(summary, said),
        "files_in_progress": [
            {"path": path, "lines": lines, "description": summary}
            for path, lines in json.loads(handoff.files)
        ],
        "current_todo_item": masked_line(item, ITEM_CHARACTERS),
        "progress_on_item": said or "unknown",
    }


def _with_words(step: str, said: str) -> str:
    """Returns a next step with what the agent said last, which may tell of it already."""
    if not said or said == step:
        return step
    return said if step in said else f"{step.rstrip('.')}. The agent said last: {said}"


# ---------------------------------------------------------------- progress.txt


def _progress(run: Run, iterations: Sequence[Iteration]) -> str:
    heading = f"{_PROGRESS_MARK}{run.id}: {masked_line(run.task, 100)}"
    return "\n\n".join((heading, *map(_entry, iterations))) + "\n"


def _entry(each: Iteration) -> str:
    decision = "done" if each.is_done else "not done"
    why = f": {masked_line(each.why, 300)}" if each.why else ""
    rows = (
        ("Item", masked_line(each.item, ITEM_CHARACTERS)),
        ("Evidence", each.evidence),
        ("Said", masked_line(each.said, 600)),
        ("Files", f"{each.files} changed"),
        ("Decision", f"{decision}, {each.decision}{why}"),
        ("Ended", iso(each.at)),
    )
    lines = "\n".join(f"- {name}: {text}" for name, text in rows if text)
    return f"## Iteration {each.number}\n\n{lines}"
