"""What a run sets aside: the half work of an item that is blocked, fails its check again and again,
or is stuck. It becomes a commit on a branch of its own, and the work tree goes back to the last
item that passed, so that it is in nobody's way.

What the run takes out of the work tree it has committed before. What git ignores stays as it is.
The plan goes back in its ticks alone: items and words that were added to it stay.
"""

from __future__ import annotations

import os
import re

from sisyphus.boulder.find import LIMIT
from sisyphus.ground import exports, files, git, markdown, repository
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import is_inside
from sisyphus.ground.processes import CommandResult
from sisyphus.ground.worktree import own_paths
from sisyphus.loops.runs import Run, RunState
from sisyphus.runner import messages, project_files
from sisyphus.runner.drive import Drive

_SLUG = 40
"""The most characters of an item in the name of a branch."""

_BOX = re.compile(r"^([\s>]*(?:[-*+]|[0-9]{1,9}[.)])?\s*)\[[ xX]?\]")
"""The start of a line with a box that is open or ticked."""


def begin(state: RunState, item: str) -> None:
    """Notes that the half work of an item is to be set aside: the next step is `finish`."""
    state.sets_aside, state.aside_branch = item, ""


def finish(drive: Drive) -> None:
    """Sets aside what is to be set aside, and notes its branch. If the run is killed meanwhile, it
    does so again. Raises `SisyphusError` if git cannot keep the work, which stays then."""
    state, project = drive.state, drive.folder
    item, plan = state.sets_aside, plan_of(drive.run)
    if not item:
        return
    is_bare, branch = _has_plan_alone(drive, plan), state.aside_branch
    if not (is_bare or (branch and _is_at_tip(drive))):  # what a kill has left is kept, too
        branch = _keep(drive, item)
        with drive.change():
            state.aside_branch = state.aside_branch or branch  # the first one has all of it
            state.asides[branch] = item
    text, before = _edited_plan(drive, plan, state.aside_branch), content(plan, project)
    if not is_bare:
        _need(repository.go_back(project, state.branch, state.tip, branch))
        before = repository.file_at(project, state.tip, plan) if plan else None
    if text is not None and content(plan, project) == before:  # else its user has saved it now
        _write(plan, text)
    with drive.change():
        state.sets_aside = ""


BRANCHES = "sisyphus/*-*"
"""A glob of the branches with half work, and of those of workers."""


def branch_of(run: Run, item: str) -> str:
    """Returns the name of the branch for the half work of an item. No branch can lie below another
    one, so it is no part of `sisyphus/RUN`."""
    slug = ""
    for word in re.findall(r"[a-z0-9]+", item.lower()):
        longer = f"{slug}-{word}" if slug else word[:_SLUG]
        if len(longer) > _SLUG:
            break
        slug = longer
    return f"sisyphus/{run.owner}-{slug or 'item'}"


def own_files(project: str) -> list[str]:
    """Returns the paths of a project that are in no commit of a run: those that it writes
    itself."""
    return [*own_paths(project), *filter(None, [project_files.chosen_state()])]


def plan_of(run: Run) -> str:
    """Returns the path of the plan; "" = the run has none in its folder."""
    plan = run.state.plan
    return plan if plan and is_inside(plan, run.folder) else ""


def with_ticks_of(text: str, base: str) -> str:
    """Returns a plan whose boxes are ticked as in another version of it; a new one is not. What
    stands in code is no box."""
    boxes: dict[str, list[str]] = {}
    for line in base.split("\n"):
        boxes.setdefault(_BOX.sub(r"\1[ ]", line.rstrip("\r")), []).append(line.rstrip("\r"))
    lines = text.split("\n")
    prose = [each.is_prose for each in markdown.lines(text)]
    if len(prose) != len(lines):  # it has line ends of another kind
        return text
    return "\n".join(
        _line(line, boxes) if is_prose else line
        for line, is_prose in zip(lines, prose, strict=True)
    )


def _line(line: str, boxes: dict[str, list[str]]) -> str:
    """boxes: lines with an open box → those lines as they were, each to be taken once."""
    content = line.rstrip("\r")
    is_open = _BOX.sub(r"\1[ ]", content)
    as_it_was = boxes.get(is_open) or [is_open]
    return as_it_was.pop(0) + line[len(content) :]


def _has_plan_alone(drive: Drive, plan: str) -> bool:
    """Stages all changes; tells whether there are none but in the plan, and HEAD is where it should
    be."""
    project, tip = drive.folder, drive.state.tip
    _need(repository.stage(project, own_files(project)))
    names = {os.path.relpath(plan, project)} if plan else set()
    is_there = git.head(project) == tip and repository.branch(project) == drive.state.branch
    return is_there and {*repository.staged_since(project, tip)} <= names


def _is_at_tip(drive: Drive) -> bool:
    """Tells whether the files are already as in the last commit that counts."""
    return not repository.staged_since(drive.folder, drive.state.tip)


def _keep(drive: Drive, item: str) -> str:
    run, state = drive.run, drive.state
    text = f"Half work: {masked_line(item, 200)}\n\n{messages.trailer(run.owner)}\n"
    name = branch_of(run, item)
    return _need(
        repository.save_to_branch(drive.folder, name, text, state.tip, state.branch)
    ).output


def _edited_plan(drive: Drive, plan: str, branch: str) -> bytes | None:
    """Returns the plan with what was added to it; None = git does not know it, or the work began
    elsewhere than where the tree goes back to. branch: with the work; "" = in the work tree."""
    project, tip = drive.folder, drive.state.tip
    base = repository.file_at(project, tip, plan) if plan else None
    if base is None or (branch and not repository.is_ancestor(project, tip, branch)):
        return None
    text = repository.file_at(project, branch, plan) if branch else content(plan, project)
    if text is None:
        return None
    there, then = (each.decode("utf-8", "surrogateescape") for each in (text, base))
    return with_ticks_of(there, then).encode("utf-8", "surrogateescape")


def content(plan: str, project: str) -> bytes | None:
    """Returns what is in a plan; None = it is not there, or cannot be read."""
    try:
        return files.read_bytes(plan, project, LIMIT) if plan else None
    except UnreadableError:
        return None


def _write(plan: str, text: bytes) -> None:
    """Writes the plan, unless a link leads to it."""
    if os.path.realpath(plan) == plan:
        exports.replace(plan, text, is_shared=True)


def _need(done: CommandResult) -> CommandResult:
    if done.code:
        raise SisyphusError(f"half work could not be set aside: {done.output.strip()}")
    return done
