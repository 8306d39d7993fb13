"""What a run sets aside: the half work of an item that is blocked, fails its check again and again,
or is stuck. It becomes a commit on a branch of its own, and the work tree goes back to the last
item that passed, so that it is in nobody's way.

What the run takes out of the work tree it has committed before. What git ignores stays as it is.
The plan goes back in its ticks alone: items and words that were added to it stay.
"""

from __future__ import annotations

import os
import re

from sisyphus.ground import exports, files, git, repository
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import is_inside
from sisyphus.ground.processes import CommandResult
from sisyphus.ground.worktree import own_paths
from sisyphus.loops.runs import Run, RunState
from sisyphus.runner import project_files
from sisyphus.runner.drive import Drive

_SLUG = 40
"""The most characters of an item in the name of a branch."""

_BOX = re.compile(rb"^([\s>]*(?:[-*+]|[0-9]{1,9}[.)])?\s*)\[[ xX]?\]")
"""The start of a line with a box that is open or ticked."""

_MAX_PLAN = 5_000_000


def begin(state: RunState, item: str) -> None:
    """Notes that the half work of an item is to be set aside: the next step is `finish`."""
    state.goes_back, state.kept = item, ""


def finish(drive: Drive) -> None:
    """Sets aside what is to be set aside, and notes its branch. If the run is killed meanwhile, it
    does so again. Raises `SisyphusError` if git cannot keep the work, which stays then."""
    state, project = drive.state, drive.folder
    item, plan = state.goes_back, _plan(drive)
    if not item:
        return
    is_bare, branch = _has_plan_alone(drive, plan), ""
    if not is_bare:
        branch = _keep(drive, item)
        with drive.change():
            state.kept = state.kept or branch  # one that was made before a kill has all of it
            state.asides[branch] = item
    text = _edited_plan(drive, plan, state.kept)
    if not is_bare:
        _need(repository.go_back(project, state.branch, state.tip, branch))
    if text is not None:
        _write(plan, project, text)
    with drive.change():
        state.goes_back = ""


def branch_of(run: Run, item: str) -> str:
    """Returns the name of the branch for the half work of an item. No branch can lie below another
    one, so it is no part of `sisyphus/RUN`."""
    slug = ""
    for word in re.findall(r"[a-z0-9]+", item.lower()):
        longer = f"{slug}-{word}" if slug else word[:_SLUG]
        if len(longer) > _SLUG:
            break
        slug = longer
    return f"sisyphus/{run.id}-{slug or 'item'}"


def apart(project: str) -> list[str]:
    """Returns the paths of a project that are in no commit of a run: those that it writes
    itself."""
    return [*own_paths(project), *filter(None, [project_files.chosen_state()])]


def with_ticks_of(text: bytes, base: bytes) -> bytes:
    """Returns a plan whose boxes are ticked as in another version of it; a new one is not."""
    boxes: dict[bytes, list[bytes]] = {}
    for line in base.splitlines():
        boxes.setdefault(_BOX.sub(rb"\1[ ]", line), []).append(line)
    return b"".join(_line(each, boxes) for each in text.splitlines(keepends=True))


def _line(line: bytes, boxes: dict[bytes, list[bytes]]) -> bytes:
    """boxes: lines with an open box → those lines as they were, each to be taken once."""
    content = line.rstrip(b"\r\n")
    is_open = _BOX.sub(rb"\1[ ]", content)
    as_it_was = boxes.get(is_open) or [is_open]
    return as_it_was.pop(0) + line[len(content) :]


def _has_plan_alone(drive: Drive, plan: str) -> bool:
    """Stages all changes; tells whether there are none but in the plan, and HEAD is where it should
    be."""
    project, tip = drive.folder, drive.state.tip
    _need(repository.stage(project, apart(project)))
    names = {os.path.relpath(plan, project)} if plan else set()
    is_there = git.head(project) == tip and repository.branch(project) == drive.state.branch
    return is_there and {*repository.staged_since(project, tip)} <= names


def _keep(drive: Drive, item: str) -> str:
    run, state = drive.run, drive.state
    text = f"Half work: {masked_line(item, 200)}\n\nSisyphus-Run: {run.id}\n"
    name = branch_of(run, item)
    return _need(repository.keep(drive.folder, name, text, state.tip, state.branch)).output


def _edited_plan(drive: Drive, plan: str, branch: str) -> bytes | None:
    """Returns the plan with what was added to it; None = git does not know it, or the work began
    elsewhere than where the tree goes back to. branch: with the work; "" = in the work tree."""
    project, tip = drive.folder, drive.state.tip
    base = repository.file_at(project, tip, plan) if plan else None
    if base is None or (branch and not repository.is_ancestor(project, tip, branch)):
        return None
    text = repository.file_at(project, branch, plan) if branch else _content(plan, project)
    return None if text is None else with_ticks_of(text, base)


def _plan(drive: Drive) -> str:
    """Returns the path of the plan; "" = the run has none in the project."""
    plan = drive.state.plan
    return plan if plan and is_inside(plan, drive.folder) else ""


def _content(plan: str, project: str) -> bytes | None:
    try:
        return files.read_bytes(plan, project, _MAX_PLAN) if plan else None
    except UnreadableError:
        return None


def _write(plan: str, project: str, text: bytes) -> None:
    """Writes the plan, unless it has this text already, or a link leads to it."""
    if os.path.realpath(plan) == plan and _content(plan, project) != text:
        exports.replace(plan, text, is_shared=True)


def _need(done: CommandResult) -> CommandResult:
    if done.code:
        raise SisyphusError(f"half work could not be set aside: {done.output.strip()}")
    return done
