from __future__ import annotations

from typing import Annotated

import typer

from sisyphus.checkpoint import gather
from sisyphus.checkpoint.outlook import table
from sisyphus.cli import terminal
from sisyphus.cli.boulder_show import Session, session_of
from sisyphus.cli.output import AsJson, Project, print_json, say, workspace


def context(
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Also when the context will be full.")
    ] = False,
    session_id: Session = "",
    project: Project = "",
    as_json: AsJson = False,
) -> None:
    """Show how full the context of a session is, and what is advisable.

    Percent are those of the last answer; the forecast goes by how the context grew with each tool
    call until then.
    """
    space = workspace(project)
    facts = gather.facts(space, session_of(session_id))
    if as_json:
        print_json(table.as_json(facts, forecast=forecast))
        return
    width, style = terminal.text_width(), terminal.style()
    say(table.view(facts, forecast=forecast, width=width, style=style))
