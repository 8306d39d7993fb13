"""Settles before a run which checks of its plan it may run: those that the user has read."""

from __future__ import annotations

import typer

from sisyphus.boulder import checks, trust
from sisyphus.ground.quoting import code
from sisyphus.ground.text import one_line
from sisyphus.loops.runs import Run
from sisyphus.runner import fix_plan, preflight
from sisyphus.terminal import show

_SHOWN = 5
"""The most checks that are named when a run begins."""

_QUESTION = "Let the run execute these commands?"


def settle(place: show.Place, run: Run, *, trusts_all: bool) -> list[str]:
    """Notes in the run's options which checks it may run; returns what the user is to know, in
    lines. It asks on a terminal, where nobody has trusted one. trusts_all: the user trusts all that
    the plan names now, for this run and its resumes."""
    commands = _commands(place, run)
    known = trust.of_project(place.store, place.project)
    allowed = {each: known[each] for each in commands if each in known} | run.options.trusted
    new = [each for each in commands if each not in allowed and not trust.why_not(each)]
    never = [each for each in commands if trust.why_not(each)]
    if new and (trusts_all or _agrees(new)):
        allowed |= trust.digests(new, place.project)
        new = []
    run.options.trusted = allowed
    runs = [f"The run executes {_listed(list(allowed))}."] if allowed else []
    impossible = [f"Not run: `{one_line(each, 100)}` {trust.why_not(each)}." for each in never]
    return [*runs, *_not_run(new, fix_plan.to_trust(run)), *impossible]


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


def _listed(commands: list[str]) -> str:
    named = ", ".join(code(each, 60) for each in commands[:_SHOWN])
    more = f" and {len(commands) - _SHOWN} more" if len(commands) > _SHOWN else ""
    return f"{'this check' if len(commands) == 1 else 'these checks'}: {named}{more}"


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
