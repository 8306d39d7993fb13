from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, print_json, say, workspace
from sisyphus.cli.progress import progress
from sisyphus.paths import our_home
from sisyphus.ralph.past import history, timeline, views
from sisyphus.ralph.past import stats as numbers
from sisyphus.runner import report as runs

if TYPE_CHECKING:
    from sisyphus.ralph.past.records import Record


def _outcome(name: str) -> str:
    if name and name not in views.OUTCOMES:
        raise typer.BadParameter(f"no such outcome: {name!r}. One of: {', '.join(views.OUTCOMES)}")
    return name


Project = Annotated[
    str,
    typer.Option(
        "--project", metavar="DIR|NAME", help="Loops of this project alone.", show_default=False
    ),
]


def log(  # one an option
    loop: Annotated[
        str,
        typer.Argument(
            metavar="LOOP", help="One loop's id, or how it begins.", show_default=False,
            autocompletion=complete.past_loops,
        ),
    ] = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many loops.")
    ] = views.LAST,
    project: Project = "",
    outcome: Annotated[
        str,
        typer.Option(
            "--outcome", metavar="OUTCOME", help=f"One of: {', '.join(views.OUTCOMES)}.",
            callback=_outcome, show_default=False,
        ),
    ] = "",
    active: Annotated[
        bool, typer.Option("--active", help="Loops that have not ended.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Not only the latest.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show the loops that were started, newest first; with LOOP each iteration of that one."""
    found = _read(as_json)
    if loop:
        _show_one(timeline.find(found, loop), as_json)
        return
    matching = views.chosen(
        found, project=_project(found, project), outcome=outcome, is_active=active
    )
    shown = matching if everything else matching[:last]
    if as_json:
        print_json([record.as_json() for record in shown])
    elif found and not shown:
        typer.echo("No loop matches.")
    else:
        say(views.table(shown, len(matching)))
        if told := runs.at_work(our_home()):
            typer.echo(told)


def stats(
    project: Project = "",
    last: Annotated[
        int,
        typer.Option(
            "--last", "-n", metavar="N", min=1, help="The latest N loops alone.", show_default="all"
        ),
    ] = sys.maxsize,
    as_json: AsJson = False,
) -> None:
    """Count the loops: how they ended, how long they took, what they spent."""
    found = _read(as_json)
    chosen = views.chosen(found, project=_project(found, project))[:last]
    with progress("Counting", quiet=as_json):
        shown = numbers.stats(our_home(), chosen)
    if as_json:
        print_json(shown)
    else:
        typer.echo(numbers.text(shown))


def _read(as_json: bool) -> list[Record]:
    with progress("Reading the history", quiet=as_json):
        return history.read(our_home())


def _show_one(record: Record, as_json: bool) -> None:
    if as_json:
        print_json(timeline.timeline(our_home(), record))
    else:
        typer.echo(timeline.text(our_home(), record))


def _project(found: list[Record], named: str) -> str:
    """A project's name or folder as it stands in the history, else the folder's project."""
    known = {name for record in found for name in (record.project, record.project_name)}
    return named if not named or named in known else workspace(named).root
