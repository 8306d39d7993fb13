"""Looks, before the first token is spent, whether the client can work without a user."""

from __future__ import annotations

import os
import sys

import typer

from sisyphus import clients
from sisyphus.boulder import checks
from sisyphus.clients.base import Headless
from sisyphus.ground import git
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.paths import can_be_project, display
from sisyphus.ground.worktree import is_ours
from sisyphus.loops import runs
from sisyphus.loops.runs import Run
from sisyphus.runner import fix_plan, messages, project_files
from sisyphus.sessions.messages import NO_PROJECT
from sisyphus.terminal import show


def check(place: show.Place, run: Run, *, allow_dirty: bool) -> None:
    """Raises `SisyphusError` for what would keep the agent from working, and says what to do. On a
    terminal it asks instead, where the user's word is enough."""
    if not can_be_project(place.project):
        raise SisyphusError(NO_PROJECT)
    if command := git.unfinished(place.project):
        raise SisyphusError(messages.unfinished(command))
    _check_end(place, run)
    if run.options.max_usd and not clients.headless(run.options.client).COUNTS_DOLLARS:
        raise UsageError(messages.NO_DOLLARS)
    if run.options.client_command:
        if run.options.audits:
            raise UsageError(messages.NO_AUDIT)
    else:
        _check_client(place, run)
    if not allow_dirty:
        _check_tree(place, run)


def _check_end(place: show.Place, run: Run) -> None:
    """Checks that something can end the run besides its limits, and that the plan can be used."""
    options = run.loop.options
    if not (run.state.plan or options.promise or options.verify):
        raise UsageError(messages.no_end(place.project))
    if not run.state.plan:
        return
    plan = fix_plan.read(run.state.plan, place.project)
    name = display(run.state.plan, place.project)
    if plan.problem:
        raise SisyphusError(messages.bad_plan(name, plan.problem))
    if not os.access(run.state.plan, os.W_OK):
        raise SisyphusError(messages.locked_plan(name))


def _check_client(place: show.Place, run: Run) -> None:
    """Checks that there is a client, that it is logged in, and that it lets the agent work."""
    headless, options = clients.headless(run.options.client), run.options
    program = headless.program(place.project)
    if not program:
        raise SisyphusError(messages.no_client(headless.PROGRAM, place.project))
    modes = sorted(headless.MODES)
    mode = options.permission_mode or headless.chosen_mode(place.home, place.project)
    if not mode:
        mode = _ask_mode(headless)
    if mode not in headless.MODES:
        raise UsageError(messages.unfit_mode(mode, modes))
    options.permission_mode = mode
    _check_edits(place, headless, run.state.plan, mode)
    if problem := headless.why_logged_out(program, place.project):
        raise SisyphusError(problem)
    refused = headless.why_not_allowed(_checks(place, run), place.home, place.project, mode)
    for warning in (*headless.warnings(program, place.project), refused):
        if warning:
            typer.echo(f"warning: {show.plain(warning)}", err=True)


def _checks(place: show.Place, run: Run) -> list[str]:
    """Returns the commands that have to pass for what is left to do, and at the end."""
    named: list[str] = []
    if run.state.plan:
        plan = fix_plan.read(run.state.plan, place.project)
        named = [check for item in plan.todo for check in plan.checks.get(item, ())]
        named += plan.plan_checks
    return [*checks.split(named).commands, *filter(None, [run.loop.options.verify])]


def _check_edits(place: show.Place, headless: Headless, plan: str, mode: str) -> None:
    """Checks that the client lets the agent tick a box of the plan."""
    if not plan or not headless.is_refused(plan, place.project, mode):
        return
    edits, free = headless.EDITING_MODE, headless.FREE_MODE
    name = display(plan, place.project)
    if headless.is_refused(plan, place.project, edits):
        raise SisyphusError(messages.refused_plan(name, mode, free))
    raise SisyphusError(messages.only_reads(name, mode, edits))


def _ask_mode(headless: Headless) -> str:
    edits = headless.EDITING_MODE
    words = messages.no_mode(sorted(headless.MODES), f"{edits} {headless.ABOUT_EDITING}")
    if not has_user():
        raise UsageError(words)
    show.line(words)
    return str(typer.prompt("Permission mode", default=edits)).strip()


def _check_tree(place: show.Place, run: Run) -> None:
    """Checks that everything is committed, besides the plan and what runs write themselves."""
    plan = display(run.state.plan, place.project) if run.state.plan else ""
    dirty = git.uncommitted(place.project)
    if dirty is None:
        if git.is_repository(place.project):
            raise SisyphusError(messages.no_status(has_git=git.is_installed(place.project)))
        return
    paths = {name: os.path.join(place.project, name) for name in dirty}
    state = project_files.chosen_state()
    paths = {name: path for name, path in paths.items() if path != state}
    files = [n for n, path in paths.items() if n != plan and not is_ours(path, place.project)]
    if not files:
        return
    last = runs.latest(place.store, place.project)
    way = messages.commit_first(last.loop.id if last and last.loop.ended_at is None else "")
    if not has_user():
        raise SisyphusError(f"{messages.dirty(files)}\n{way}")
    show.line(messages.dirty(files))
    if not typer.confirm(messages.DIRTY_QUESTION):
        raise SisyphusError(f"{messages.NOT_STARTED} {way}")


def has_user() -> bool:
    """Tells whether somebody sits at the terminal who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
