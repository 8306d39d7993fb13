from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, print_json
from sisyphus.clients.claude_code import SESSION_VARIABLE
from sisyphus.paths import our_home
from sisyphus.ralph.checklists import checklist_actions as actions
from sisyphus.ralph.checklists.criteria import COMPLETED, IN_PROGRESS, PENDING

if TYPE_CHECKING:
    from sisyphus._types import Json

app = typer.Typer(
    help="What must be true before a loop may end.",
    epilog="Example: `sisyphus ralph checklist list`",
    no_args_is_help=True,
)

Texts = Annotated[
    list[str], typer.Argument(metavar="TEXT…", help="A criterion each.", show_default=False)
]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID…", help="The number of a criterion.", show_default=False)
]
Session = Annotated[
    str,
    typer.Option(
        "--session-id",
        metavar="ID",
        help="The session whose loop is meant; by default the one around this command, "
        "else the only one.",
        envvar=SESSION_VARIABLE,
        show_envvar=True,
        autocompletion=complete.sessions,
    ),
]
LoopId = Annotated[
    str,
    typer.Option(
        "--loop",
        metavar="LOOP",
        help="The loop that is meant, of any session.",
        autocompletion=complete.past_loops,
    ),
]


@app.command(epilog='Example: `sisyphus ralph checklist add "all tests pass" "docs are written"`')
def add(texts: Texts, session_id: Session = "", loop: LoopId = "", as_json: AsJson = False) -> None:
    """Add criteria to the checklist of the loop. A text that is there already stays as it is."""
    _show(actions.add(_which(session_id, loop), texts), as_json)


@app.command(epilog="Example: `sisyphus ralph checklist done 1 3`")
def done(
    ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="They are not done after all.")] = False,
    session_id: Session = "",
    loop: LoopId = "",
    as_json: AsJson = False,
) -> None:
    """Tick criteria."""
    status = PENDING if undo else COMPLETED
    _show(actions.mark(_which(session_id, loop), ids, status), as_json)


@app.command(epilog="Example: `sisyphus ralph checklist start 2`")
def start(ids: Ids, session_id: Session = "", loop: LoopId = "", as_json: AsJson = False) -> None:
    """Mark criteria that are worked on now."""
    _show(actions.mark(_which(session_id, loop), ids, IN_PROGRESS), as_json)


@app.command(epilog="Example: `sisyphus ralph checklist remove 2`")
def remove(ids: Ids, session_id: Session = "", loop: LoopId = "", as_json: AsJson = False) -> None:
    """Take criteria off the checklist. Their numbers are not given again."""
    _show(actions.remove(_which(session_id, loop), ids), as_json)


@app.command("list", epilog="Example: `sisyphus ralph checklist list --json`")
def list_criteria(session_id: Session = "", loop: LoopId = "", as_json: AsJson = False) -> None:
    """Show the checklist; with --loop that of a loop that has ended, too."""
    _show(actions.show(_which(session_id, loop)), as_json)


def _which(session_id: str, loop: str) -> actions.Which:
    return actions.Which(our_home(), time.time(), session=session_id, loop_id=loop)


def _show(found: Json, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(actions.described(found))
