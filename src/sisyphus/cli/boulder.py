from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.boulder import actions, messages
from sisyphus.cli.output import AsJson, Project, print_json, workspace

if TYPE_CHECKING:
    from sisyphus._types import PlanStatus

app = typer.Typer(help="The plan that survives the session.", no_args_is_help=True)

Name = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]", help="A plan's name, a part of it, or a path.", show_default=False
    ),
]


@app.command()
def status(
    project: Project = "",
    plan: Annotated[
        str, typer.Option("--plan", metavar="FILE", help="Any plan file, followed or not.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show the plan in use: what is done, what comes next."""
    if plan:
        found = actions.status_of_file(plan)
    else:
        found = actions.status(workspace(project), elsewhere=not project)
    _show(found, messages.status_text(found), as_json)


@app.command()
def start(name: Name = "", project: Project = "", as_json: AsJson = False) -> None:
    """Follow a plan of this project; its only open one where no name is given."""
    found = actions.start(workspace(project), name)
    _show(found, messages.started(found), as_json)


@app.command()
def switch(name: Name = "", project: Project = "", as_json: AsJson = False) -> None:
    """Put this project's plan in use instead of another project's."""
    found = actions.switch(workspace(project), name)
    _show(found, messages.started(found), as_json)


@app.command()
def clear(project: Project = "", as_json: AsJson = False) -> None:
    """Stop following the plan. The plan file stays as it is.

    An open plan comes back by `boulder start`, or when its file changes.
    """
    found = actions.clear(workspace(project), elsewhere=not project)
    _show(found, messages.cleared(found), as_json)


def _show(found: PlanStatus, text: str, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(text)
