from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import install_talk as talk
from sisyphus.cli.output import AsJson, workspace
from sisyphus.cli.users_own import refuse_model
from sisyphus.install import actions, opencode
from sisyphus.install.claude import place as claude
from sisyphus.install.place import LOCAL, PROJECT, USER
from sisyphus.install.wish import COMMANDS, EXCLUDES, HOOKS, PARTS, STATUSLINE, Wish

if TYPE_CHECKING:
    from collections.abc import Collection

    from sisyphus.install.place import Place


_REMOVAL = "nothing was removed: the user alone takes sisyphus out"


class _Client(StrEnum):
    CLAUDE = claude.NAME
    OPENCODE = opencode.NAME


class _Scope(StrEnum):
    USER = USER
    PROJECT = PROJECT
    LOCAL = LOCAL


class _Part(StrEnum):
    HOOKS = HOOKS
    COMMANDS = COMMANDS
    STATUSLINE = STATUSLINE
    EXCLUDES = EXCLUDES


Client = Annotated[_Client, typer.Option("--client", help="The coding agent.")]
Scope = Annotated[
    _Scope | None,
    typer.Option(
        "--scope",
        help="All projects of yours, one project for everybody, or one for you alone.",
        show_default="user; with --project, project",
    ),
]
Project = Annotated[
    str,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The project, for --scope project and local.",
        show_default="current folder",
    ),
]
Only = Annotated[
    list[_Part] | None,
    typer.Option("--only", metavar="PART", help=f"Claude Code: one of {', '.join(PARTS)}."),
]
Without = Annotated[
    list[_Part] | None,
    typer.Option("--without", metavar="PART", help="Claude Code: leave this out, or take it out."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, as a diff.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def install(  # one an option
    client: Client = _Client.CLAUDE,
    scope: Scope = None,
    project: Project = "",
    only: Only = None,
    without: Without = None,
    dry_run: DryRun = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="All parts, unasked; files of ours that you changed too."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Wire a coding agent to sisyphus: hooks, slash commands, status line.

    What is not ours in its settings stays as it is; `sisyphus uninstall` gives them back.

    See first what it would do: `sisyphus install --dry-run`

    For one project, and you alone: `sisyphus install --scope local`

    For OpenCode: `sisyphus install --client opencode`
    """
    if without and _Part.HOOKS in without and not dry_run:
        refuse_model(_REMOVAL)
    manner = talk.Manner(dry_run, yes, as_json)
    place = _place(client, scope, project)
    shown, wish = talk.agreed(place, _wish(only, without, yes), manner)
    if not dry_run:
        actions.install(shown, wish)
    talk.end(shown, manner)


def uninstall(  # one an option
    client: Client = _Client.CLAUDE,
    scope: Scope = None,
    project: Project = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take out of a coding agent's settings and folders what `sisyphus install` put there.

    What you changed of our files stays, and so does what the agent put beside them.

    See first what it would do: `sisyphus uninstall --dry-run`
    """
    if not dry_run:
        refuse_model(_REMOVAL)
    manner = talk.Manner(dry_run, yes, as_json)
    shown = actions.plan_uninstall(_place(client, scope, project))
    talk.show(shown, manner)
    talk.confirm(shown, manner)
    if not dry_run:
        actions.uninstall(shown)
    talk.end(shown, manner)


def _place(client: _Client, scope: _Scope | None, project: str) -> Place:
    if project and scope == _Scope.USER:
        raise typer.BadParameter("is for --scope project and local.", param_hint="--project")
    if scope == _Scope.LOCAL and client == _Client.OPENCODE:
        raise typer.BadParameter("is for Claude Code alone.", param_hint="--scope local")
    if scope == _Scope.LOCAL:
        return claude.of_local(workspace(project).root)
    is_opencode = client == _Client.OPENCODE
    if project or scope == _Scope.PROJECT:
        root = workspace(project).root
        return opencode.of_project(root) if is_opencode else claude.of_project(root)
    return opencode.of_user() if is_opencode else claude.of_user()


def _wish(only: Collection[str] | None, without: Collection[str] | None, yes: bool) -> Wish:
    if both := sorted(set(map(str, only or ())) & set(map(str, without or ()))):
        raise typer.BadParameter(f"{both[0]} is wanted by --only.", param_hint="--without")
    parts = only or (PARTS if yes else [HOOKS])
    return Wish(yes, frozenset(map(str, parts)), frozenset(map(str, without or ())), bool(only))
