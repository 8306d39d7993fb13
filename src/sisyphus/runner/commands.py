"""`sisyphus ralph run`: works at a task in fresh contexts, one client process after the other."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from sisyphus import clients
from sisyphus.ground.errors import UsageError
from sisyphus.ground.paths import display
from sisyphus.loops.runs import MAX_AUDITS, MAX_ITERATIONS, MAX_MINUTES, Run, RunOptions
from sisyphus.ralph import arguments
from sisyphus.runner import beginning, fix_plan, messages, plan_trust, preflight, screen
from sisyphus.runner.run import drive
from sisyphus.runner.runner import Runner
from sisyphus.runner.signals import Signals
from sisyphus.terminal import show

_DOLLARS = re.compile(r"\d{1,9}(\.\d{1,2})?")
_EXAMPLE = 'sisyphus ralph run --completion-promise MIGRATED -- "Move the tests to pytest"'
_LOCK_SECONDS = 300
"""How long a run waits for the store. A hook has no time for that, a night has."""


def run(
    task: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- TASK]", help="The task, after --. Default: to do the items of the plan."
        ),
    ] = None,
    prompt_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Read the task from a file.")
    ] = None,
    completion_promise: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="End the run when the agent says these words and no item is open. Default: when "
            "all items are done.",
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="End the run only if this command exits 0."),
    ] = None,
    audit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=MAX_AUDITS,
            help="Then let new clients look for what is missing, until N in a row find nothing. "
            "Default: 0.",
        ),
    ] = None,
    max_iterations: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=f"End the run after N iterations; 0 = no limit. Default: {MAX_ITERATIONS}.",
        ),
    ] = None,
    max_minutes: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=f"End the run after N minutes; 0 = no limit. Default: {MAX_MINUTES:,}, a day.",
        ),
    ] = None,
    max_tokens: Annotated[
        str | None,
        typer.Option(metavar="N", help="End the run after N tokens; 0 = no limit. Default: 0."),
    ] = None,
    max_usd: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="End the run after N dollars, as the client counts; 0 = no limit. Default: 0.",
        ),
    ] = None,
    permission_mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="What the client may do without asking: one of its own permission modes. A wrong "
            "word lists them.",
        ),
    ] = None,
    allow_dirty: Annotated[
        bool, typer.Option("--allow-dirty", help="Start though changes are not committed.")
    ] = False,
    client: Annotated[
        show.Headless | None,
        typer.Option(help=f"The client that works. Default: {clients.DEFAULT}."),
    ] = None,
    client_command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this shell command instead of the client. It gets the prompt on its stdin.",
        ),
    ] = None,
    trust_checks: Annotated[
        bool,
        typer.Option(
            "--trust-checks",
            help="Run the commands that the plan names as checks of its items. "
            "`sisyphus boulder checks` lists them.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the last run of the project. Options replace."),
    ] = False,
    project: show.Project = "",
) -> int:
    """Work at a task overnight: each iteration is a new client with an empty context, which does
    one item of fix_plan.md.

    Exit codes: 0 = complete, 1 = it failed, 2 = wrong usage, 3 = a limit or no progress, 4 = all
    that is left is blocked, 5 = complete, but an item is ticked without any change, or its check
    proves nothing or is gone, 130 = you ended it.
    """
    show.need_user()
    place = show.place_to_change(project)
    values = {
        "completion-promise": completion_promise,
        "verify": verify,
        "prompt-file": prompt_file,
        "max-iterations": max_iterations,
        "max-minutes": max_minutes,
        "max-tokens": max_tokens,
    }
    options = {name: value for name, value in values.items() if value is not None}
    text = " ".join(task or [])
    target = _last(place, options, text) if resume else _new(place, options, text)
    if client:
        _take_client(target.options, str(client))
    _set(target.options, max_usd, audit, permission_mode, client_command)
    if resume:
        beginning.check_limits(place, target)
    preflight.check(place, target, allow_dirty=allow_dirty or resume)
    about_checks = plan_trust.settle(place, target, trusts_all=trust_checks)
    place.store.wait_longer(_LOCK_SECONDS)
    with screen.open_screen() as lines, Signals() as signals:
        if resume:
            has_ended_client = beginning.resume(place, target)
            lines.say(messages.resumed(target, has_ended_client=has_ended_client))
        else:
            if notice := beginning.begin(place, target):
                lines.say(notice)
            lines.say(messages.started(target))
        for line in about_checks:
            lines.say(line)
        return drive(Runner(place, lines, signals), target)


def _new(place: show.Place, options: dict[str, str], text: str) -> Run:
    """Returns a new run. Without a task, it is to do the items of the plan."""
    plan = beginning.find_plan(place)
    if not text.strip() and "prompt-file" not in options:
        if not plan:
            raise UsageError(messages.no_task(place.project))
        title = fix_plan.read(plan, place.project).title
        text = messages.task_of_plan(display(plan, place.project), title)
    limits = {"max-iterations": str(MAX_ITERATIONS), "max-minutes": str(MAX_MINUTES)}
    given = arguments.build(limits | options, text, place.folder, example=_EXAMPLE)
    return beginning.new(place, given, plan)


def _last(place: show.Place, options: dict[str, str], text: str) -> Run:
    """Returns the last run of the project, with these options in place of its own."""
    if text.strip() or "prompt-file" in options:
        raise UsageError(messages.TASK_AT_RESUME)
    run = beginning.find(place)
    new = arguments.build(options, run.loop.prompt, place.folder).options
    for name in options:
        key = {"completion-promise": "promise"}.get(name, name.replace("-", "_"))
        setattr(run.loop.options, key, getattr(new, key))
    return run


def _take_client(options: RunOptions, client: str) -> None:
    """Lets another client work. The modes of one are not those of another."""
    if client != options.client:
        options.client, options.permission_mode = client, ""


def _set(
    options: RunOptions,
    max_usd: str | None,
    audits: int | None,
    mode: str | None,
    command: str | None,
) -> None:
    """Sets the options that are not None. Raises `UsageError`."""
    if max_usd is not None:
        if not _DOLLARS.fullmatch(max_usd):
            raise UsageError(messages.bad_amount(max_usd))
        options.max_usd = float(max_usd)
    if audits is not None:
        options.audits = audits
    if mode is not None:
        options.permission_mode = mode
    if command is not None:
        if not command.strip():
            raise UsageError(messages.NO_COMMAND)
        options.client_command = command
