from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.boulder import actions, answers, listing, tables, view
from sisyphus.boulder.choose import unreadable_plans
from sisyphus.boulder.discover import at_its_place
from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, Project, json_text, print_json, say, workspace
from sisyphus.cli.redraw import redraw
from sisyphus.cli.terminal import columns, style, text_width
from sisyphus.clients.claude_code import SESSION_VARIABLE
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id, our_home
from sisyphus.session.client_process import current_session
from sisyphus.text import line

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json, PlanStatus
    from sisyphus.workspace import Workspace

LAST = 20
_SHOWN = 100

Session = Annotated[
    str,
    typer.Option(
        "--session-id",
        metavar="ID",
        help="The session that is meant; else the one around this command.",
        envvar=SESSION_VARIABLE,
        show_envvar=True,
        autocompletion=complete.sessions,
    ),
]


def status(  # one an option
    project: Project = "",
    plan: Annotated[
        str, typer.Option("--plan", metavar="FILE", help="Any plan file, followed or not.")
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Redraw when the plan changes; Ctrl-C ends it.")
    ] = False,
    session_id: Session = "",
    as_json: AsJson = False,
) -> None:
    """Show the plan in use: what is done, what comes next."""

    def look() -> tuple[PlanStatus, str]:
        space = workspace(project)
        if plan:
            found = _of_file(plan, may_be_missing=as_json)
        else:
            found = actions.status(space, session_of(session_id), elsewhere=not project)
        if as_json:
            return found, json_text(found)
        text = status_text(found, space.now, here="" if plan else space.root)
        return found, text if plan else text + _unreadable(found, space)

    if watch:
        redraw(look)
    else:
        say(look()[1])


def list_plans(
    project: Annotated[
        str,
        typer.Option(
            "--project", metavar="DIR", help="Plans of this project alone.", show_default=False
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show the plans of all projects, the one touched last first."""
    space = workspace(project)
    rows = listing.of_project(space) if project else listing.boulders(space)
    show(rows, lambda: tables.list_text(rows, space.now, width=columns(), style=style()), as_json)


def todos(project: Project = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """Show the todos of the plan, as the agent keeps them."""
    found = actions.todos(workspace(project), session_of(session_id))
    show(found, lambda: tables.todos_text(found, width=columns(), style=style()), as_json)


def history(
    project: Project = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many lines.")
    ] = LAST,
    everywhere: Annotated[bool, typer.Option("--all", help="Of all projects.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the checkpoints, and the plans that ended or moved; the newest last."""
    rows = listing.history(workspace(project), everywhere=everywhere)[-last:]
    named = [_with_project(row) for row in rows] if everywhere else rows
    width = text_width()
    show(rows, lambda: tables.history_text(named, width=width, style=style()), as_json)


def _with_project(row: Json) -> Json:
    return {**row, "plan_name": f"{row['plan_name']} in {row['project_root']}"}


def session_of(named: str) -> str:
    if named and not is_safe_id(named):
        raise SisyphusError(f"{named[:_SHOWN]!r} is no session id. See the client's /status.")
    return named or current_session(our_home())


def _of_file(path: str, *, may_be_missing: bool) -> PlanStatus:
    if os.path.exists(path) and not os.path.isfile(path):
        raise SisyphusError(f"{line(path)} is not a file. Name a plan file with --plan.")
    found = actions.status_of_file(path)
    if found["state"] == "missing" and not may_be_missing:
        raise SisyphusError(f"no such file: {line(path)}. Name a plan file with --plan.")
    return found


def _unreadable(found: PlanStatus, space: Workspace) -> str:
    """What is told where a project shows no plan of its own, for its own cannot be read."""
    is_own = found["project_root"] == at_its_place(space).root
    problems = [] if is_own else unreadable_plans(space)
    return "".join(f"\n\nCannot be read: {problem}" for problem in problems)


def status_text(found: PlanStatus, now: float, *, here: str) -> str:
    """`here`: the root of the project that was asked about, "" where it is any."""
    if found["open_plans"]:
        table = tables.list_text(found["open_plans"], now, width=columns(), style=style())
        return answers.to_choose(table)
    width = text_width()
    return view.status_text(found, now=now, width=width, style=style(), here=here)


def started(found: PlanStatus, now: float) -> str:
    return view.started(found, now=now, width=text_width(), style=style())


def show(found: PlanStatus | list[Json], text: Callable[[], str], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        say(text())
