"""Looks, before the first token is spent, whether the client can work without a user, and settles
which checks of the plan the run may execute: those that the user has read."""

from __future__ import annotations

import os
import sys
import time

import typer

from sisyphus import clients
from sisyphus.boulder import checks, trust
from sisyphus.boulder.messages import without_boxes
from sisyphus.ground import git, repository
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.paths import can_be_project, display
from sisyphus.ground.quoting import code
from sisyphus.ground.text import one_line
from sisyphus.ground.worktree import is_ours
from sisyphus.loops import loops
from sisyphus.loops.loop import SUCCESS
from sisyphus.loops.runs import Run, Seat
from sisyphus.runner import fix_plan, messages, project_files, worktrees
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.sessions.messages import NO_PROJECT
from sisyphus.terminal import show

_FILES = 10
"""The most files that are named."""


def check(place: show.Place, run: Run, *, allow_dirty: bool) -> FixPlan:
    """Raises `SisyphusError` for what would keep the agent from working, and says what to do. On a
    terminal it asks instead, where the user's word is enough. Returns the run's plan; one without
    path and items if it has none."""
    if not can_be_project(place.project):
        raise SisyphusError(NO_PROJECT)
    folder = run.folder if run.state.tip else place.project  # a new worktree is not there yet
    if command := git.unfinished(run.folder):
        raise SisyphusError(
            f"A `git {command}` is not finished here. Finish it, or take it back with "
            f"`git {command} --abort`: the run's work would be mixed with it."
        )
    plan = fix_plan.read(run.state.plan, folder) if run.state.plan else FixPlan("")
    _check_end(folder, run, plan)
    silent = [n for n in run.setup.clients if not clients.headless(n).COUNTS_DOLLARS]
    if run.setup.max_usd and silent:
        raise UsageError(
            f"--max-usd cannot end this run: {silent[0]} does not say what it costs. Give "
            "--max-tokens instead; --max-usd 0 takes the limit away."
        )
    if not run.setup.client_command:
        _check_clients(place, run, plan)
    elif run.setup.audits:
        raise UsageError(
            "--audit needs a client that can be kept from writing, and --client-command may be "
            "any. Leave out one of them."
        )
    if not (allow_dirty or run.state.worktree):
        _check_tree(place, run)
    return plan


def _check_end(project: str, run: Run, plan: FixPlan) -> None:
    """Checks that something can end the run besides its limits, and that the plan can be used."""
    options = run.options
    if not (plan.path or options.promise or options.verify):
        raise UsageError(
            "Nothing would end the run but its limits: there is no fix_plan.md in "
            f"{display(project, '')}, and it follows no plan. Write the items as boxes into that "
            "file, give a --completion-promise, or a --verify command."
        )
    name = display(plan.path, project)
    if without_boxes(plan.path):
        raise SisyphusError(
            f"{name} has no boxes, and a run goes by boxes. Write the items as boxes into "
            "fix_plan.md, or work at the plan in a session: `sisyphus boulder hold on` keeps it "
            "going until the plan is complete."
        )
    if plan.problem:
        raise SisyphusError(
            f"{name} cannot be used: {plan.problem}. Write the items as boxes, `- [ ] …`, one a "
            "line."
        )
    if plan.unclear:
        raise SisyphusError(f"The order of {name} is not clear. {' '.join(plan.unclear[:_FILES])}")
    if plan.path and not os.access(plan.path, os.W_OK):
        raise SisyphusError(
            f"{name} cannot be written, so the agent could not tick a box. Make it writable."
        )


def _check_clients(place: show.Place, run: Run, plan: FixPlan) -> None:
    """Checks of each client that it is there and logged in, and that it lets the agent work."""
    for seat in run.setup.seats:
        headless = clients.headless(seat.client)
        if not headless.program(place.project):
            raise SisyphusError(messages.no_client(headless.PROGRAM, place.project))
    for seat in run.setup.seats:
        seat.mode = _mode(place, run, seat)
    for seat in run.setup.seats:
        _check_edits(run, seat, worktrees.path_in(run, plan.path))
        headless = clients.headless(seat.client)
        if problem := headless.why_logged_out(headless.program(place.project), place.project):
            raise SisyphusError(problem)
    _warn(place, run, plan)


def _mode(place: show.Place, run: Run, seat: Seat) -> str:
    """Returns the permission mode of a client: as given, as its own settings choose it, or as its
    user says now."""
    headless = clients.headless(seat.client)
    mode = seat.mode or headless.chosen_mode(place.home, place.project) or _ask_mode(run, seat)
    if mode not in headless.MODES:
        raise UsageError(_why_no_mode(run, seat.client, mode))
    return mode


def _why_no_mode(run: Run, client: str, mode: str) -> str:
    """Says why a client cannot work in a mode: another one has it, or nobody could answer."""
    modes = ", ".join(sorted(clients.headless(client).MODES))
    others = [name for name in clients.HEADLESS if mode in clients.headless(name).MODES]
    if others:
        theirs = " and ".join(clients.wiring(name).TITLE for name in others)
        order = " Give the modes in the order of the clients." if run.setup.has_several else ""
        return f"{mode} is a mode of {theirs}. {clients.wiring(client).TITLE} has {modes}.{order}"
    whose = f" for {client}" if run.setup.has_several else ""
    return (
        f"Permission mode {mode} does not fit a run, in which nobody answers the client. Give one "
        f"of {modes}{whose}."
    )


def _warn(place: show.Place, run: Run, plan: FixPlan) -> None:
    """Says what the user should know of each client before the run."""
    # what has to pass for what is left to do, and at the end
    named = [check for item in plan.todo for check in plan.checks.get(item, ())]
    to_pass = list(checks.split([*named, *plan.plan_checks]).commands)
    to_pass += filter(None, [run.options.verify])
    for seat in run.setup.seats:
        headless, project = clients.headless(seat.client), place.project
        program = headless.program(project)
        for warning in headless.warnings(program, to_pass, place.home, project, seat.mode):
            typer.echo(f"warning: {show.plain(warning)}", err=True)


def _check_edits(run: Run, seat: Seat, plan: str) -> None:
    """Checks that a client lets the agent tick a box of the plan."""
    headless, project = clients.headless(seat.client), run.folder
    if not plan or not headless.is_refused(plan, project, seat.mode):
        return
    name, mode = display(plan, project), seat.mode
    if headless.is_refused(plan, project, headless.EDITING_MODE):
        free = run.setup.with_mode(seat.client, headless.FREE_MODE)
        raise SisyphusError(
            f"The agent could not tick a box: the client refuses to edit {name} in permission mode "
            f"{mode}. Move it to fix_plan.md, or give --permission-mode {free}."
        )
    raise SisyphusError(
        f"The agent could not tick a box of {name}: permission mode {mode} lets it change nothing. "
        f"Give --permission-mode {run.setup.with_mode(seat.client, headless.EDITING_MODE)}."
    )


def _ask_mode(run: Run, seat: Seat) -> str:
    headless = clients.headless(seat.client)
    edits, of_each = headless.EDITING_MODE, ""
    if run.setup.has_several:
        of_each = f" one for each client, in their order, with commas between. For {seat.client}"
    words = (
        "Nobody is there to answer the client's questions, so the run needs a permission mode. "
        f"Give --permission-mode{of_each}: {', '.join(sorted(headless.MODES))}. {edits} "
        f"{headless.ABOUT_EDITING}"
    )
    if not _has_user():
        raise UsageError(words)
    show.line(words)
    return str(typer.prompt("Permission mode", default=edits)).strip()


def check_commits(run: Run, *, allow_dirty: bool) -> list[str]:
    """Checks that git can commit what the run does; returns what the user is to know, in lines.
    Raises `SisyphusError` and `UsageError`."""
    options, project = run.setup, run.project
    if options.verifies_at_end and not (options.commits and run.options.verify):
        lacks = "a --verify command" if options.commits else "--commit and a --verify command"
        raise UsageError(f"--verify-at-end needs {lacks}. Leave it out.")
    if not options.commits:
        return []
    option = "--jobs" if options.jobs else "--worktree" if run.state.worktree else "--commit"
    if allow_dirty and run.state.worktree:
        raise UsageError(
            f"{option} needs no --allow-dirty: what is not committed stays in your checkout. "
            "Leave it out."
        )
    if allow_dirty:
        raise UsageError(
            "--commit and --allow-dirty do not go together: what is not committed would be in the "
            "commit of the first item. Commit or stash it, and leave out --allow-dirty."
        )
    if not git.is_repository(project):
        raise SisyphusError(f"{option} needs a git repository. `git init` makes one.")
    if not git.is_installed(project):
        raise SisyphusError(f"{option} needs a `git` on the PATH. Install it.")
    if not run.state.worktree and (lock := repository.lock(run.folder)):
        raise SisyphusError(
            f"Another git is at work here, or was killed: there is {display(lock, project)}. If "
            "none is at work, delete that file."
        )
    if problem := repository.why_nameless(project):
        raise SisyphusError(
            f"git does not know who commits: {one_line(problem, 200)}. Tell it: "
            '`git config --global user.name "…"` and `user.email`.'
        )
    if run.state.worktree and not run.state.tip:
        return _check_worktree(run, option)
    _check_branch(run)
    return _about_edits(run)


def _about_edits(run: Run) -> list[str]:
    """Says which edits of the user become part of the next item: a run that has come to rest left
    none."""
    if not run.state.tip or run.state.is_working or run.state.sets_aside:
        return []
    dirty = _dirty(run.folder, run.state.plan)
    return [f"Not committed, so the next item's commit has it: {_listed(dirty)}."] if dirty else []


def _check_worktree(run: Run, option: str) -> list[str]:
    """Checks that a worktree would have what the run needs; returns what it will lack."""
    project, plan = run.project, run.state.plan
    if run.setup.jobs and not plan.startswith(project + os.sep):
        where = f"{display(plan, project)} is not in it" if plan else "there is none"
        raise UsageError(
            f"--jobs shares the items of a plan of this project out among workers, and {where}. "
            "Write them as boxes into fix_plan.md, or leave out --jobs."
        )
    if not git.head(project):
        raise SisyphusError(f"{option} needs a commit from which it begins: make the first one.")
    if plan.startswith(project + os.sep) and repository.is_ignored(project, plan):
        raise SisyphusError(
            f"git ignores {display(plan, project)}, so its ticks would not come back with the "
            f"branch. `git add -f {display(plan, project)}` and commit it, or leave out {option}."
        )
    dirty = _dirty(project, plan)
    if not dirty:
        return []
    return [f"Not in the worktree, because it is not committed: {_listed(dirty)}."]


def about_last(place: show.Place, run: Run) -> list[str]:
    """Says that the branch of the last run of the project is complete, and not merged: a new one
    would do its items once more."""
    last = loops.latest_run(place.store, place.project)
    if last is None or last.id == run.id or last.result != SUCCESS or not last.state.worktree:
        return []
    branch, project = last.state.branch, place.project
    if not repository.has_branch(project, branch) or repository.is_ancestor(
        project, branch, "HEAD"
    ):
        return []
    return [
        f"Run {last.id} is complete and not merged, and this one begins without its work: "
        f"`git merge {branch}` brings it."
    ]


def _listed(names: list[str]) -> str:
    shown = ", ".join(one_line(name, 100) for name in names[:_FILES])
    return f"{shown} and {len(names) - _FILES:,} more" if len(names) > _FILES else shown


def _check_branch(run: Run) -> None:
    """Checks that a branch is checked out: on a detached HEAD, commits would be lost at the next
    checkout."""
    branch, before = repository.branch(run.folder), run.state.branch
    if not branch and not before:
        raise SisyphusError(
            "HEAD is on no branch, so the run's commits would be on none. `git switch -c NAME` "
            "makes one."
        )
    if before and branch != before:
        new = "" if repository.has_branch(run.folder, before) else "-c "
        raise SisyphusError(
            f"Run {run.id} commits on {before}, and HEAD is on {branch or 'no branch'}. "
            f"`git switch {new}{before}` in {display(run.folder, '')} brings it back."
        )


def _check_tree(place: show.Place, run: Run) -> None:
    """Checks that everything is committed, besides the plan and what runs write themselves."""
    dirty = _dirty(place.project, run.state.plan)
    if not dirty:
        return
    last = loops.latest_run(place.store, place.project)
    commits = run.setup.commits
    way = f"Commit or stash them{'' if commits else ', or give --allow-dirty'}."
    if last and last.ended_at is None:
        way += f" To go on with run {last.id}, whose work this may be: `{messages.RESUME}`."
    own = {clients.headless(client).LOCAL_SETTINGS for client in run.setup.clients}
    for name in own.intersection(dirty):
        if command := repository.how_to_ignore(place.project, name):
            way += f" Let git ignore {name}, which is yours alone: `{command}`."
    shown = "".join(f"\n  {one_line(file)}" for file in dirty[:_FILES])
    more = f"\n  and {len(dirty) - _FILES:,} more" if len(dirty) > _FILES else ""
    about = f"The work tree has changes that are not committed:{shown}{more}"
    if commits or not _has_user():
        raise SisyphusError(f"{about}\n{way}")
    show.line(about)
    if not typer.confirm("The run's work would be mixed with them. Go on?"):
        raise SisyphusError(f"No run was started. {way}")


def _dirty(project: str, plan: str) -> list[str]:
    """Returns the files whose changes are not committed, without the plan and our own. Raises
    `SisyphusError` if git does not say."""
    dirty = git.uncommitted(project)
    if dirty is None and git.is_repository(project):
        has_git = git.is_installed(project)
        what = "git does not say" if has_git else "There is no `git` on the PATH to say"
        raise SisyphusError(
            f"{what} which files are committed. {'Mend that' if has_git else 'Install it'}, or "
            "give --allow-dirty: the run's work would be mixed with what is not committed."
        )
    apart = {plan, project_files.chosen_state()}
    paths = {name: os.path.join(project, name) for name in dirty or ()}
    return [n for n, path in paths.items() if path not in apart and not is_ours(path, project)]


def _has_user() -> bool:
    """Tells whether somebody sits at the terminal who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


# ---------------------------------------------------------------- which checks the run executes


def settle_checks(place: show.Place, run: Run, plan: FixPlan, *, trusts_all: bool) -> list[str]:
    """Notes in the run's options which checks it may run; returns what the user is to know, in
    lines. It asks on a terminal, where nobody has trusted one. trusts_all: the user trusts all that
    the plan names now, for this run and its resumes."""
    named = [*(check for each in plan.checks.values() for check in each), *plan.plan_checks]
    commands = list(dict.fromkeys(checks.split(named).commands))
    known = trust.of_project(place.store, place.project, run.id)
    new = [each for each in commands if each not in known and not trust.why_not(each)]
    lines = []
    if new and trusts_all:
        lines = ["The run executes these checks of its plan, which are new here:"]
        lines += [f"  {each}" for each in new]
    if new and (trusts_all or _agrees(new)):
        files = trust.digests(new, place.project)
        with place.store.write():
            trust.add(place.store, place.project, files, time.time(), run.id)
        known, new = [*known, *new], []
    run.setup.trusted = [each for each in commands if each in known]
    never = [each for each in commands if trust.why_not(each)]
    impossible = [f"Not run: {code(each, 100)} {trust.why_not(each)}." for each in never]
    return [*lines, *_not_run(new, fix_plan.to_trust(run)), *impossible]


def _agrees(commands: list[str]) -> bool:
    """Shows commands to the user, and asks whether the run may execute them."""
    if not _has_user():
        return False
    show.line("The plan names checks that are new here:")
    for command in commands:
        show.line(command, indent=2)
    return bool(typer.confirm("Let the run execute these commands?"))


def _not_run(commands: list[str], way: str) -> list[str]:
    """way: the command that trusts them."""
    if not commands:
        return []
    one = len(commands) == 1
    return [
        f"{len(commands)} check{'' if one else 's'} of the plan {'is' if one else 'are'} not "
        f"trusted, so the run does not execute {'it' if one else 'them'}: {way}, or "
        "--trust-checks."
    ]
