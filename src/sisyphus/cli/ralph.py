from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import AsJson, heading, print_json
from sisyphus.paths import our_home
from sisyphus.ralph import actions

if TYPE_CHECKING:
    from sisyphus._types import Json

app = typer.Typer(help="Loops that keep their promise.", no_args_is_help=True)


@app.command("list")
def list_loops(as_json: AsJson = False) -> None:
    """List the loops that have not ended, of every session."""
    rows = actions.list_loops(our_home())
    if as_json:
        print_json(rows)
        return
    if not rows:
        typer.echo('No loop is active. Start one in a session: /sisyphus:ralph-loop "TASK" …')
    for row in rows:
        typer.echo(heading(f"{row['loop_id']}  {row['description']}"))
        typer.echo(_details(row))


@app.command()
def cancel(
    session_id: Annotated[
        str,
        typer.Option(
            "--session-id",
            metavar="ID",
            help="The session whose loop ends; the only one with a loop where it is not named.",
            envvar="CLAUDE_CODE_SESSION_ID",
            show_envvar=True,
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """End a session's loop. From any folder; takes effect when the agent next wants to stop."""
    rows = actions.cancel(our_home(), session_id)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(f"Loop {row['loop_id']} cancelled: {row['description']}")


def _details(row: Json) -> str:
    limit = f" of {row['max_iterations']}" if row["max_iterations"] else ""
    promise = row["completion_promise"]
    lines = [
        f"  {row['status']}, iteration {row['iteration']}{limit}, since {row['started_at']}",
        f"  promise: {promise}" if promise is not None else "  no promise",
        f"  session {row['session_id']} in {row['project']}",
    ]
    return "\n".join(lines)
