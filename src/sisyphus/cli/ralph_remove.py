from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, print_json, say
from sisyphus.cli.progress import progress
from sisyphus.cli.terminal import is_terminal
from sisyphus.cli.users_own import refuse_model
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.ralph.past import history, removal, timeline, views
from sisyphus.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.past.records import Record

_SHOWN = 10


def archive(
    loop: Annotated[
        str,
        typer.Argument(
            metavar="LOOP", help="A lost loop's id, or how it begins.", show_default=False,
            autocompletion=complete.past_loops,
        ),
    ],
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Put a loop that was lost with those that are over: nobody saw its end."""
    refuse_model("nothing was archived: the history of loops is the user's")
    ours = our_home()
    row = removal.archive(ours, timeline.find(history.read(ours), loop).loop_id, time.time())
    if as_json:
        print_json([row])
    else:
        typer.echo(f"Loop {one_line(row['loop_id'])} archived.")


def delete(
    loops: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOOP]...", help="Ids of loops that are over, or how they begin.",
            show_default=False, autocompletion=complete.past_loops,
        ),
    ] = None,
    archived: Annotated[
        bool, typer.Option("--archived", help="Every loop that has ended, or was lost.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Delete loops that are over, for good: what the history says of them, their transcripts and
    checklists. Cancel a loop that has not ended first: `sisyphus ralph cancel`."""
    refuse_model("nothing was deleted: the history of loops is the user's")
    if bool(loops) is archived:
        raise typer.BadParameter("name the loops, or ask for --archived.")
    with progress("Reading the history", quiet=as_json):
        chosen = _chosen(loops or ())
    if not as_json:
        _show(chosen)
    if chosen:
        _agree(yes=yes, as_json=as_json)
    with progress("Deleting", quiet=as_json):
        gone = _delete(chosen, archived=archived)
    if as_json:
        print_json(gone)
    elif chosen:
        say(f"{_count(len(gone))} deleted.")


def _chosen(loops: Sequence[str]) -> list[Record]:
    """The loops that are named, else all that are over."""
    found = history.read(our_home())
    if not loops:
        return [record for record in found if not record.is_active]
    chosen = list(dict.fromkeys(timeline.find(found, loop) for loop in loops))
    removal.check_over(chosen)
    return chosen


def _show(chosen: Sequence[Record]) -> None:
    if not chosen:
        say("No loop is over: there is nothing to delete.")
        return
    say(views.table(chosen[:_SHOWN], len(chosen[:_SHOWN])))
    if len(chosen) > _SHOWN:
        say(f"and {len(chosen) - _SHOWN:,} more.")


def _agree(*, yes: bool, as_json: bool) -> None:
    """Raises unless the user wants it."""
    if yes:
        return
    if as_json or not is_terminal(sys.stdin) or not is_terminal(sys.stdout):
        raise SisyphusError(
            "nothing was deleted: there is nobody to ask. With `--yes` it is done unasked."
        )
    typer.confirm("Delete them for good?", abort=True)


def _delete(chosen: Sequence[Record], *, archived: bool) -> list[Json]:
    """What was shown and agreed to, and nothing that has ended since."""
    if not chosen:
        return []
    if archived:
        return removal.delete_archived(our_home(), removal.as_shown(chosen))
    return removal.delete_shown(our_home(), chosen)


def _count(number: int) -> str:
    return f"{number:,} loop" + "s" * (number != 1)
