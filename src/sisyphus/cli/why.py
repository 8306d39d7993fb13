from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus import journal_view
from sisyphus.cli.output import AsJson, faint, heading, print_json
from sisyphus.contract import EVENTS
from sisyphus.paths import our_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json


def _event(name: str) -> str:
    if name and name not in EVENTS:
        raise typer.BadParameter(f"no such event: {name!r}. Events: {', '.join(EVENTS)}")
    return name


def why(  # noqa: PLR0913, PLR0917  # one an option
    session_id: Annotated[
        str,
        typer.Option(
            "--session-id", metavar="ID", help="The session to look at; else the latest one.",
            envvar="CLAUDE_CODE_SESSION_ID", show_envvar=True, show_default=False,
        ),
    ] = "",
    event: Annotated[
        str, typer.Option("--event", metavar="EVENT", help="This event alone.", callback=_event)
    ] = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many lines.")
    ] = 10,
    everything: Annotated[
        bool, typer.Option("--all", help="Also hooks that had nothing to say.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on showing what comes; Ctrl-C ends it.")
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Say what the hooks of a session decided lately, and why; the newest line last."""
    session = journal_view.find_session(os.path.join(our_home(), "logs"), session_id)
    wanted = journal_view.Wanted(event, quiet=everything)
    entries, end = journal_view.tail(session, last, wanted)
    if as_json and not follow:
        print_json({"session_id": session, "entries": entries})
        return
    show = _json_lines if as_json else _texts
    if not as_json:
        typer.echo(heading(f"Session {session}"))
        if not entries:
            more = "" if everything else " `--all` shows hooks that had nothing to say, too."
            typer.echo(f"There is nothing to show.{more}")
    coming = journal_view.follow(session, end, wanted) if follow else iter(())
    for line in show(_chain(entries, coming)):
        typer.echo(line)


def _chain(entries: Iterable[Json], coming: Iterator[Json]) -> Iterator[Json]:
    yield from entries
    yield from coming


def _json_lines(entries: Iterable[Json]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry)


def _texts(entries: Iterable[Json]) -> Iterator[str]:
    """The entries, each day under its date."""
    day = ""
    for entry in entries:
        if (today := journal_view.day(entry)) != day:
            day = today
            yield faint(day)
        yield journal_view.text(entry)
