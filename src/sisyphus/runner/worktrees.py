"""The worktree of a run: a checkout of its own, on a branch of its own, so that the user's checkout
stays theirs, byte for byte.

It lies beside the project, where clients heed the project's trust, permissions, hooks and rules:
Claude Code 2.1.329 refuses edits wherever `.claude` or `.git` is in the path, and sweeps worktrees
below `.claude/worktrees` (measured).

Nothing is deleted by force: what git does not want to remove stays, and is named.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any

from sisyphus.boulder.find import LIMIT
from sisyphus.ground import exports, files, git, paths, processes, repository
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.processes import CommandResult
from sisyphus.ground.quoting import code
from sisyphus.loops.loop import MAX_JOBS, SUCCESS
from sisyphus.loops.runs import Run, Worker
from sisyphus.runner.drive import Drive
from sisyphus.runner.report import Merge

INCLUDE = ".worktreeinclude"
"""The file of Claude Code that says, as `.gitignore` does, which ignored files a worktree needs."""

_INSTRUCTIONS = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/settings.json", ".claude/rules", ".codex",
)  # fmt: skip
"""What clients read in a worktree alone, and what goes along if git ignores it.
`.claude/settings.local.json` is none: Claude Code reads that of the main checkout, too."""

_SENSITIVE = (".git", ".claude", ".vscode", ".idea", ".husky")
"""Folders in which Claude Code lets nobody edit, wherever they stand in a path."""

_WORKER = "SISYPHUS_WORKER"
"""The variable with the number of a worker, from 1: for its port, or its database. A run without
workers is the first one itself; where it has some, what they have merged is checked in 0."""

_BRANCHES = "sisyphus/"
"""What the names of branches begin with that runs have for themselves."""

_READY = "sisyphus-is-ready"
"""A file in git's folder for a worktree that has all it needs. It goes with the worktree."""

_INITIALIZING = "initializing"
"""Why git locks a worktree until it has made it: one at which it was killed could not be
removed."""

_HAS_PLAN = "sisyphus-has-plan"
"""A file there: the plan was brought along."""


def assign(run: Run) -> None:
    """Gives a new run the place for its worktree, and its branch."""
    state = run.state
    state.worktree, state.branch = place(run.project, run.id), f"{_BRANCHES}{run.id}"


def run_branch(worker: Run) -> str:
    """Returns the branch onto which a worker merges: that of its run."""
    return f"{_BRANCHES}{worker.owner}"


def place(project: str, id: str) -> str:
    """Returns where the worktree of a run lies: beside its project or, where that cannot be, below
    `~/.local/share`."""
    parent, name = os.path.split(project)
    is_sensitive = not set(_SENSITIVE).isdisjoint(parent.lower().split(os.sep))
    is_of_another = any(map(paths.has_git, paths.surroundings(parent)))
    if os.access(parent, os.W_OK) and not (is_sensitive or is_of_another):
        return os.path.join(parent, f"{name}-sisyphus-{id}")
    data = os.path.join(paths.user_home() or os.sep, ".local", "share", "sisyphus", "worktrees")
    return os.path.join(data, f"{name}-{id}")


def path_in(run: Run, path: str) -> str:
    """Returns where a file of the project is in the worktree of a run. One that is elsewhere stays
    where it is."""
    is_theirs = run.state.worktree and path.startswith(run.project + os.sep)
    return os.path.join(run.state.worktree, path[len(run.project) + 1 :]) if is_theirs else path


def make(run: Run) -> None:
    """Makes the worktree, unless it is there, with what is committed. Nobody of the run is at work
    in it. Raises `SisyphusError`."""
    tree = run.state.worktree
    try:
        if not _is_there(run):
            _make(run)
        _restore_branch(run)
        branch = run.state.branch
        repository.unlock(tree, f"refs/heads/{branch}", f"refs/{branch}")
    except OSError as error:
        raise SisyphusError(f"The run has no worktree: {error}") from error
    # git writes the index last: without it, files are missing, and nobody has worked here.
    folder = git.folder_of(tree)
    if not any(os.path.exists(os.path.join(folder, name)) for name in ("index", _READY)):
        # Where git was killed earlier still, HEAD is on no commit yet.
        _need(repository.run(tree, "symbolic-ref", "HEAD", f"refs/heads/{run.state.branch}"))
        _need(repository.run(tree, "reset", "--hard", "--quiet"))
    if git.pointer(os.path.join(folder, "locked")) == _INITIALIZING:
        _need(repository.run(run.project, "worktree", "unlock", tree))


def make_ready(run: Run, settings: dict[str, Any]) -> None:
    """Makes the worktree, unless it is there, with what git does not bring along, too. What was
    left half done is done again. Raises `SisyphusError`."""
    tree = run.state.worktree
    os.environ[_WORKER] = str(_number(run))
    make(run)
    mark = os.path.join(git.folder_of(tree), _READY)
    if os.path.exists(mark):
        return
    try:
        for name in _to_copy(run.project):
            _copy(run.project, tree, name)
        _set_up(tree, settings)
        exports.replace(mark, b"")
    except OSError as error:
        raise SisyphusError(f"The worktree cannot be made ready: {error}") from error


def restore(drive: Drive) -> None:
    """Makes the worktree again if somebody has removed it while the run was at work: all that was
    committed is on its branch. Raises `SisyphusError`."""
    run = drive.run
    if not run.state.worktree:
        return
    if _is_there(run):
        if isinstance(run, Worker):
            _restore_plan(run)
        return
    make_ready(run, drive.settings)
    drive.screen.say(f"The worktree was gone, and was made again from {run.state.branch}.")


def _restore_plan(worker: Worker) -> None:
    """Brings the plan of a worker back which a client has deleted, or left empty: it was killed
    when it wrote it. Nobody else sees that file."""
    plan, tip = worker.state.plan, worker.state.tip
    if tip and (not os.path.lexists(plan) or (os.path.isfile(plan) and not os.path.getsize(plan))):
        repository.run(worker.folder, "checkout", "--quiet", tip, "--", plan)


def leave(run: Run, begun: Sequence[Worker]) -> Merge:
    """Removes the worktree of a run that is complete, unless something in it is not committed. What
    git ignores goes with it. begun: the workers whose items were not done when the run ended."""
    state, project = run.state, run.project
    if run.setup.jobs:
        _leave_workers(run)
    if run.result == SUCCESS:
        _remove(project, state.worktree)
    tree = state.worktree if os.path.isdir(state.worktree) else ""
    changed = {*repository.changed_between(project, "HEAD", state.branch)}
    in_the_way = [name for name in git.uncommitted(project) or () if name in changed]
    return Merge(
        state.branch, repository.branch(project), repository.conflicts(project, state.branch),
        in_the_way, tree, run.result == SUCCESS, _left_by_workers(run, begun),
    )  # fmt: skip


def _leave_workers(run: Run) -> None:
    """Removes the worktrees and the branches of workers that are at no item any more. Their work is
    on the run's branch, or on one of its own."""
    for number, tree in _places_of_workers(run).items():
        branch = f"{run.state.branch}-{number}"
        if run.result == SUCCESS:
            _remove(run.project, tree)
        if os.path.isdir(tree) or not repository.has_branch(run.project, branch):
            continue
        tip = repository.commit_of(run.project, branch)
        if repository.is_ancestor(run.project, tip, run.state.branch):
            repository.run(run.project, "update-ref", "-d", f"refs/heads/{branch}", tip)


def _left_by_workers(run: Run, begun: Sequence[Worker]) -> dict[str, str]:
    """Returns the worktrees of workers that are still there and have something in them, with the
    items that are begun there; "" = none is."""
    if run.result == SUCCESS and run.setup.jobs:
        return {tree: "" for tree in _places_of_workers(run).values() if os.path.isdir(tree)}
    return {each.worktree: each.state.only for each in begun if os.path.isdir(each.worktree)}


def _places_of_workers(run: Run) -> dict[int, str]:
    """Returns where the worktrees of the workers of a run lie, by their numbers."""
    return {n: place(run.project, f"{run.id}-{n}") for n in range(1, MAX_JOBS + 1)}


def _remove(project: str, tree: str) -> None:
    """Removes a worktree, unless something in it is not committed."""
    if os.path.isdir(tree):
        # git asks its own `status`, and would not see new files if its user has hidden them.
        shown = ("-c", "status.showUntrackedFiles=normal")
        repository.run(project, *shown, "worktree", "remove", tree)


def bring_plan(run: Run) -> None:
    """Copies the plan of the user's checkout, with its open edits, into a new worktree, and makes
    that the plan of the run. Raises `SisyphusError`."""
    state, plan = run.state, run.state.plan
    target = path_in(run, plan)
    name = paths.display(plan, run.project)
    if target == plan:
        return
    if not paths.is_inside(target, state.worktree):
        if not paths.is_inside(plan, run.project):
            return
        raise SisyphusError(
            f"{name} is a link into your checkout, which the run would change. Make it a relative "
            "link and commit that, or leave out --worktree."
        )
    try:
        text = files.read_bytes(plan, run.project, LIMIT)
        mark = os.path.join(git.folder_of(state.worktree), _HAS_PLAN)
        if not os.path.exists(mark):  # else its user may have mended it there
            exports.replace(os.path.realpath(target), text, is_shared=True)  # a link stays one
            exports.replace(mark, b"")
    except (UnreadableError, OSError) as error:
        raise SisyphusError(f"{name} cannot be brought along: {error}") from error
    state.plan = target


def _number(run: Run) -> int:
    if isinstance(run, Worker):
        return run.number
    return 0 if run.setup.jobs else 1


def _is_there(run: Run) -> bool:
    """Tells whether the worktree is there, and not another repository in its place."""
    tree = run.state.worktree
    ours, its = (os.path.realpath(git.common_folder(each)) for each in (run.project, tree))
    return git.is_checkout(tree) and ours == its


def _make(run: Run) -> None:
    state, project, folder = run.state, run.project, run.state.worktree
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise SisyphusError(
            f"The run's worktree belongs to {paths.display(folder, '')}, and something else is "
            "there. Move that away."
        )
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    # If only its folder is gone, git still has it on its list.
    repository.run(project, "worktree", "remove", folder)
    start = state.tip or state.head  # somebody may have deleted the branch
    is_there = repository.has_branch(project, state.branch)
    new = [folder, state.branch] if is_there else ["-b", state.branch, folder, start]
    done = repository.run(project, "worktree", "add", "--quiet", *new)
    if not _is_there(run):  # else a hook has failed, after the checkout
        raise SisyphusError(f"The run has no worktree: {done.output.strip()}")


def _restore_branch(run: Run) -> None:
    """Makes the branch of a worktree again if somebody has deleted it: the next commit there would
    begin a history without anything before it."""
    state, start = run.state, run.state.tip or run.state.head
    if not start or repository.has_branch(run.project, state.branch):
        return
    words = ("update-ref", f"refs/heads/{state.branch}", start, "0" * len(start))
    _need(repository.run(run.project, *words))


def _to_copy(project: str) -> list[str]:
    """Returns the names of the ignored files that go along."""
    found = [*_ignored(project, *_INSTRUCTIONS)]
    if os.path.isfile(os.path.join(project, INCLUDE)):
        named = _names(project, "--others", "--ignored", f"--exclude-from={INCLUDE}")
        ignored = set(_ignored(project))
        found += [name for name in named if name in ignored]
    return list(dict.fromkeys(found))


def _ignored(project: str, *paths: str) -> list[str]:
    return _names(project, "--others", "--ignored", "--exclude-standard", "--", *paths)


def _names(project: str, *words: str) -> list[str]:
    done = repository.run(project, "ls-files", "-z", *words, tail=repository.MOST_NAME_BYTES)
    _need(done)
    if done.is_cut:
        raise SisyphusError("The run has no worktree: git ignores too many files here.")
    return [name for name in done.output.split("\0") if name]


def _copy(project: str, tree: str, name: str) -> None:
    """Copies a file with its mode; links stay where they are, and what is there already."""
    source, target = os.path.join(project, name), os.path.join(tree, name)
    is_plain = os.path.isfile(source) and os.path.realpath(source) == source
    if not is_plain or os.path.lexists(target) or not paths.is_inside(target, tree):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy2(source, target)


def _set_up(tree: str, settings: dict[str, Any]) -> None:
    """Runs the user's command for new worktrees."""
    command = settings["runner.setup"]
    if not command:
        return
    done = processes.run(command, tree, settings["ralph.verify_seconds"], tail=2_000)
    if done.code:
        raise SisyphusError(
            f"{code(command)} (`runner.setup`) exited {done.code} in {paths.display(tree, '')}:\n"
            f"{done.output.strip()}"
        )


def _need(done: CommandResult) -> None:
    if done.code:
        raise SisyphusError(f"The run has no worktree: {done.output.strip()}")
