from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import AsJson, print_json, say, workspace
from sisyphus.errors import SisyphusError
from sisyphus.install import actions, claude, notes, opencode, plan, wording

if TYPE_CHECKING:
    from sisyphus.install.opencode import Place
    from sisyphus.install.plan import Plan


class _Client(StrEnum):
    CLAUDE = claude.NAME
    OPENCODE = opencode.NAME


class _Scope(StrEnum):
    PROJECT = opencode.PROJECT
    USER = opencode.USER


Client = Annotated[
    _Client | None, typer.Option("--client", help="The coding agent.", show_default=False)
]
Scope = Annotated[
    _Scope | None,
    typer.Option(
        "--scope",
        help="One project alone, or all of yours.",
        show_default="user; with --project, project",
    ),
]
Project = Annotated[
    str,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The project, for --scope project.",
        show_default="current folder",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, as a diff.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def install(  # noqa: PLR0913, PLR0917  # one an option
    client: Client = None,
    scope: Scope = None,
    project: Project = "",
    dry_run: DryRun = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask; replace files of ours that you changed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give a coding agent our plugin and slash commands.

    Files of yours are never touched; `sisyphus uninstall` takes ours away again.

    See first what it would do: `sisyphus install --client opencode --dry-run`
    """
    place = _place(plan.INSTALL, client, scope, project)
    wanted = actions.plan_install(place, replace=yes)
    asks = _asks(yes, dry_run, as_json)
    replace = yes or (asks and bool(wanted.edited) and _replaces(wanted))
    if replace != yes:
        wanted = actions.plan_install(place, replace=replace)
    _begin(wanted, dry_run, as_json, asks)
    if not dry_run:
        actions.install(wanted, replace=replace)
    _end(wanted, dry_run, as_json)


def uninstall(  # noqa: PLR0913, PLR0917  # one an option
    client: Client = None,
    scope: Scope = None,
    project: Project = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take our plugin and slash commands away from a coding agent.

    What you changed of them stays, and so does what the agent put beside them.
    """
    place = _place(plan.UNINSTALL, client, scope, project)
    wanted = actions.plan_uninstall(place)
    _begin(wanted, dry_run, as_json, _asks(yes, dry_run, as_json))
    if not dry_run:
        actions.uninstall(wanted)
    _end(wanted, dry_run, as_json)


def _place(verb: str, client: _Client | None, scope: _Scope | None, project: str) -> Place:
    if client is None:
        raise typer.BadParameter(
            f"name one: --client {opencode.NAME}. {claude.instead_of(verb)}", param_hint="--client"
        )
    if client == _Client.CLAUDE:
        raise SisyphusError(claude.instead_of(verb))
    if project and scope == _Scope.USER:
        raise typer.BadParameter("is for --scope project.", param_hint="--project")
    if project or scope == _Scope.PROJECT:
        return opencode.of_project(workspace(project).root)
    return opencode.of_user()


def _asks(yes: bool, dry_run: bool, as_json: bool) -> bool:
    """Asked only where a person sits at the other end: what is done can be undone."""
    return not (yes or dry_run or as_json) and sys.stdin.isatty()


def _replaces(wanted: Plan) -> bool:
    return typer.confirm(wording.to_replace(wanted))


def _begin(wanted: Plan, dry_run: bool, as_json: bool, asks: bool) -> None:
    if as_json:
        return
    if rows := wording.listing(wanted):
        say(rows)
    if dry_run and wanted.changes:
        say(wording.diff(wanted))
    if asks and wanted.changes:
        typer.confirm(wording.to_confirm(wanted), default=True, abort=True)


def _end(done: Plan, dry_run: bool, as_json: bool) -> None:
    told = notes.of(done)
    if as_json:
        differences = {"diff": wording.diff(done)} if dry_run else {}
        print_json({**wording.as_json(done, told, dry_run=dry_run), **differences})
        return
    say("Nothing was changed (--dry-run)." if dry_run else wording.result(done))
    for note in told:
        say(f"- {note}")
