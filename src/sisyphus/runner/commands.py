"""`sisyphus ralph run`: works at a task in fresh contexts, one client process after the other."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from sisyphus import clients
from sisyphus.boulder import commands as boulder_commands
from sisyphus.boulder.messages import WRITE_ONE
from sisyphus.ground.errors import UsageError
from sisyphus.ground.paths import display
from sisyphus.ground.quoting import plain
from sisyphus.ground.text import likely, one_line
from sisyphus.loops.loop import MAX_JOBS
from sisyphus.loops.runs import MAX_AUDITS, MAX_ITERATIONS, MAX_MINUTES, Run, RunOptions, Seat
from sisyphus.ralph import arguments
from sisyphus.runner import fix_plan, preflight, screen, worktrees
from sisyphus.runner.drive import Drive, Signals
from sisyphus.runner.run import begin, check_limits, find, find_plan, new, work
from sisyphus.terminal import show

_DOLLARS = re.compile(r"\d{1,9}(\.\d{1,2})?")
_EXAMPLE = 'sisyphus ralph run --completion-promise MIGRATED -- "Move the tests to pytest"'
_ANY_CLIENT = f"{', '.join(clients.HEADLESS[:-1])} or {clients.HEADLESS[-1]}"
_LOCK_SECONDS = 300
"""How long a run waits for the store. A hook has no time for that, a night has."""


def _complete_clients(incomplete: str) -> list[str]:
    """Completes the last one of names with commas between."""
    before, comma, _ = incomplete.rpartition(",")
    left = [name for name in clients.HEADLESS if name not in before.split(",")]
    return [each for name in left if (each := before + comma + name).startswith(incomplete)]


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
            metavar="MODE[,MODE]",
            help="What the client may do without asking: one of its own permission modes. A wrong "
            "word lists them. For several clients, one for each, in their order.",
        ),
    ] = None,
    commit: Annotated[
        bool,
        typer.Option(
            "--commit",
            help="Commit each item that is done and whose check passed, with your git hooks. With "
            "--verify, that command has to pass before each commit.",
        ),
    ] = False,
    worktree: Annotated[
        bool,
        typer.Option(
            "--worktree",
            help="Work in a git worktree beside the project, on a branch of its own. Your checkout "
            "stays yours. Implies --commit.",
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MAX_JOBS,
            help="Do N items at once, each in a worktree of its own, and merge one after the other "
            "when its check passes on what is merged. Implies --worktree.",
            show_default=False,
        ),
    ] = None,
    verify_at_end: Annotated[
        bool,
        typer.Option(
            "--verify-at-end", help="Ask the --verify command only at the end, with --commit too."
        ),
    ] = False,
    allow_dirty: Annotated[
        bool, typer.Option("--allow-dirty", help="Start though changes are not committed.")
    ] = False,
    client: Annotated[
        str | None,
        typer.Option(
            metavar="CLIENT[,CLIENT]",
            help=f"The client that works: {_ANY_CLIENT}. Of several, a later one "
            "works while the accounts of those before it are at their limits. Default: "
            f"{clients.DEFAULT}.",
            autocompletion=_complete_clients,
        ),
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
    if max_usd is not None:
        if not _DOLLARS.fullmatch(max_usd):
            raise UsageError(f"--max-usd must be an amount such as 5 or 2.50, not {max_usd!r}.")
        target.setup.max_usd = float(max_usd)
    if audit is not None:
        target.setup.audits = audit
    _set_clients(target.setup, client, client_command, permission_mode)
    target.setup.jobs = target.setup.jobs if jobs is None else jobs
    has_tree = worktree or (target.setup.jobs > 0 and not resume)
    commits_now = (commit or has_tree) and not target.setup.commits
    target.setup.commits = target.setup.commits or commit or has_tree
    target.setup.verifies_at_end = target.setup.verifies_at_end or verify_at_end
    _set_worktree(target, wants=has_tree or target.setup.jobs > 0, is_again=resume)
    if resume:
        check_limits(place, target)
        if target.state.worktree and target.state.tip:
            worktrees.make(target)  # the plan is in it
    about_commits = preflight.check_commits(target, allow_dirty=allow_dirty)
    about_commits += [] if resume else preflight.about_last(place, target)
    plan = preflight.check(place, target, allow_dirty=allow_dirty or (resume and not commits_now))
    about_checks = preflight.settle_checks(place, target, plan, trusts_all=trust_checks)
    place.store.wait_longer(_LOCK_SECONDS)
    with screen.open_screen() as lines, Signals() as signals:
        drive = Drive(place, target, lines, signals)
        begin(drive, is_again=resume)
        for line in [*about_commits, *about_checks]:
            lines.say(line)
        return work(drive)


def _new(place: show.Place, options: dict[str, str], text: str) -> Run:
    """Returns a new run. Without a task, it is to do the items of the plan."""
    plan = find_plan(place)
    if not text.strip() and "prompt-file" not in options:
        if not plan:
            way = boulder_commands.way_to_a_plan(boulder_commands.of_place(place))
            raise UsageError(
                f"There is nothing to do: no fix_plan.md is in {display(place.project, '')}, and "
                f"it follows no plan.{'' if way == WRITE_ONE else f' {way}'} Write the items as "
                "boxes (`- [ ] text`) into that file, or give a task."
            )
        title = fix_plan.read(plan, place.project).title
        heading = f"{plain(title, 200)}\n\n" if title else ""
        name = plain(display(plan, place.project), 300)
        text = f"{heading}Do the items of {name}, one after the other."
    limits = {"max-iterations": str(MAX_ITERATIONS), "max-minutes": str(MAX_MINUTES)}
    given = arguments.build(limits | options, text, place.folder, example=_EXAMPLE)
    return new(place, given, plan)


def _last(place: show.Place, options: dict[str, str], text: str) -> Run:
    """Returns the last run of the project, with these options in place of its own."""
    if text.strip() or "prompt-file" in options:
        raise UsageError(
            "--resume goes on with the last run of the project, which has its task: it takes no "
            "task and no id. Leave out what follows it, or --resume."
        )
    run = find(place)
    new = arguments.build(options, run.prompt, place.folder).options
    for name in options:
        key = {"completion-promise": "promise"}.get(name, name.replace("-", "_"))
        setattr(run.options, key, getattr(new, key))
    return run


def _set_worktree(run: Run, *, wants: bool, is_again: bool) -> None:
    if wants and is_again and not run.state.worktree:
        raise UsageError(
            f"Run {run.id} works in the project itself, and --resume cannot move it into a "
            "worktree. Leave out --worktree and --jobs, or start a new run."
        )
    if wants and not is_again:
        worktrees.assign(run)


def _set_clients(
    options: RunOptions, names: str | None, command: str | None, modes: str | None
) -> None:
    """Lets other clients work, or a command in their place. The modes of one client are not those
    of another. names, modes: with commas between; each None = as it was."""
    if command is not None:
        if not command.strip():
            raise UsageError("--client-command is empty. Give a shell command, or leave it out.")
        options.client_command = command
    if names is not None:
        before = {seat.client: seat.mode for seat in options.seats}
        options.seats = [Seat(name, before.get(name, "")) for name in _clients(names)]
    if options.client_command and options.has_several:
        raise UsageError(
            f"--client-command is one program, and the run has {len(options.seats)} clients. Give "
            "one --client, whose language the command speaks, or leave out the command."
        )
    if modes is not None:
        for seat, mode in zip(options.seats, _modes(modes, options.clients), strict=True):
            seat.mode = mode


def _clients(names: str) -> list[str]:
    """Returns the clients that `--client` names."""
    found = [name.strip() for name in names.split(",")]
    for name in found:
        if name not in clients.NAMES:
            near = likely(name, clients.HEADLESS) if name else ""
            way = f"Do you mean {near}?" if near else f"Give {_ANY_CLIENT}."
            raise UsageError(f"There is no client {one_line(name, 80) or repr(name)}. {way}")
        if name not in clients.HEADLESS:
            why = clients.WHY_NO_RUN.get(name, "")
            raise UsageError(
                f"A run cannot start --client {name!r}{why and f': {why}'}. Give {_ANY_CLIENT}."
            )
        if found.count(name) > 1:
            raise UsageError(
                f"--client names {name} twice: both would be at the limit of one account. Name "
                "each client once."
            )
    return found


def _modes(given: str, names: list[str]) -> list[str]:
    """Returns the modes that `--permission-mode` gives to these clients, in their order."""
    modes = [mode.strip() for mode in given.split(",")]
    if len(modes) != len(names) or (len(names) > 1 and not all(modes)):
        wanted = f"The run has one client, {names[0]}: give one mode."
        if len(names) > 1:
            wanted = f"Give one for each of {', '.join(names)}, in this order, with commas between."
        raise UsageError(
            f"--permission-mode {given!r} does not fit, because each client has modes of its own. "
            f"{wanted}"
        )
    return modes
