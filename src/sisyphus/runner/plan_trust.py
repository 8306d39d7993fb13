"""Settles before a run which checks of its plan it may run: those that the user has read."""

from __future__ import annotations

import time

import typer

from sisyphus.boulder import checks, trust
from sisyphus.ground.quoting import code
from sisyphus.loops.runs import Run
from sisyphus.runner import fix_plan, preflight
from sisyphus.terminal import show

_NEW = "The run executes these checks of its plan, which are new here:"
_QUESTION = "Let the run execute these commands?"


def settle(place: show.Place, run: Run, *, trusts_all: bool) -> list[str]:
    """Notes in the run's options which checks it may run; returns what the user is to know, in
    lines. It asks on a terminal, where nobody has trusted one. trusts_all: the user trusts all that
    the plan names now, for this run and its resumes."""
    commands = _commands(place, run)
    known = trust.of_project(place.store, place.project, run.loop.id)
    new = [each for each in commands if each not in known and not trust.why_not(each)]
    lines = []
    if new and trusts_all:
        lines = [_NEW, *(f"  {each}" for each in new)]
    if new and (trusts_all or _agrees(new)):
        files = trust.digests(new, place.project)
        with place.store.write():
            trust.add(place.store, place.project, files, time.time(), run.loop.id)
        known, new = [*known, *new], []
    run.options.trusted = [each for each in commands if each in known]
    never = [each for each in commands if trust.why_not(each)]
    impossible = [f"Not run: {code(each, 100)} {trust.why_not(each)}." for each in never]
    return [*lines, *_not_run(new, fix_plan.to_trust(run)), *impossible]


def _commands(place: show.Place, run: Run) -> list[str]:
    """Returns the commands that the plan names, each once."""
    if not run.state.plan:
        return []
    plan = fix_plan.read(run.state.plan, place.project)
    named = [*(check for each in plan.checks.values() for check in each), *plan.plan_checks]
    return list(dict.fromkeys(checks.split(named).commands))


def _agrees(commands: list[str]) -> bool:
    """Shows commands to the user, and asks whether the run may execute them."""
    if not preflight.has_user():
        return False
    show.line("The plan names checks that are new here:")
    for command in commands:
        show.line(command, indent=2)
    return bool(typer.confirm(_QUESTION))


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
