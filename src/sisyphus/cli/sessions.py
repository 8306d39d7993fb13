from __future__ import annotations

import os
from typing import Annotated

import typer

from sisyphus import journal
from sisyphus.cli.output import AsJson, faint, print_json, say, workspace
from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.paths import client_home, our_home
from sisyphus.upkeep import sessions as view


def sessions(
    project: Annotated[
        str,
        typer.Option(
            "--project", metavar="DIR", help="Sessions of this project alone.", show_default=False
        ),
    ] = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many sessions.")
    ] = view.LAST,
    as_json: AsJson = False,
) -> None:
    """Show the sessions that were seen and what hooks cost there, the newest last.

    `time` is what all hooks of a session took together, `median` about what the middle one took;
    `sent` counts the characters that the model got. `sisyphus why --session ID` tells more of one:
    a unique beginning is enough.
    """
    root = workspace(project, may_be_gone=True).root if project else ""
    memory = open_memory(our_home())
    found = journal.sessions(memory, project=root)
    if root and not found and not os.path.isdir(root):
        raise SisyphusError(
            f"no such folder: {root}, and no session was seen there. Name another with --project."
        )
    shown = view.rows(memory, found[-last:], client_home())
    sums = view.totals(memory, found, root)
    if as_json:
        print_json({"sessions": shown, "totals": sums})
        return
    if not found:
        say(view.NOTHING if not root else f"No session was seen in {root}.")
        return
    heads, *lines = view.table(shown)
    say(faint(heads))
    for line in lines:
        say(line)
    if len(found) > last:
        say(faint(f"The latest {last:,} of {len(found):,}; `-n` shows more."))
    say(view.summed_up(sums))
