from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sisyphus.cli.output import AsJson, Project, faint, heading, print_json, workspace
from sisyphus.context.report import report

if TYPE_CHECKING:
    from sisyphus._types import Json

app = typer.Typer(
    help="README.md and AGENTS.md for the model.",
    epilog="Example: `sisyphus context show`",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None: ...


@app.command(epilog="Example: `sisyphus context show --project .`")
def show(project: Project = "", as_json: AsJson = False) -> None:
    """Show what a new session in this project would be sent, and why."""
    found = report(workspace(project))
    if as_json:
        print_json(found)
        return
    typer.echo(heading(f"Project documentation of {found['project']}"))
    if not found["enabled"]:
        typer.echo("Nothing is sent: context.enabled is false.")
    for row in found["documents"]:
        typer.echo(f"  {_line(row)}")
    for number, text in enumerate(found["texts"], 1):
        typer.echo(faint(f"\n--- reply {number} of {len(found['texts'])}"))
        typer.echo(text)


def _line(row: Json) -> str:
    if not row["sent"]:
        return f"{row['name']}: not sent ({row['reason']})"
    parts = f", in {row['parts']} parts" if row["parts"] > 1 else ""
    return f"{row['name']}: sent, {row['reason']}, {row['characters']:,} characters{parts}"
