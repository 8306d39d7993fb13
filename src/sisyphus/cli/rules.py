from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, Project, faint, heading, print_json, workspace
from sisyphus.cli.progress import progress
from sisyphus.clients.claude_code import SESSION_VARIABLE
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id
from sisyphus.rules import lint as linter
from sisyphus.rules import report

if TYPE_CHECKING:
    from sisyphus._types import Json

app = typer.Typer(
    help="Rules for the files that the model touches.",
    epilog="Example: `sisyphus rules list`",
    no_args_is_help=True,
)

_SENT = {True: "sent", False: "not sent", None: ""}


@app.command("list", epilog="Example: `sisyphus rules list --json`")
def list_rules(project: Project = "", as_json: AsJson = False) -> None:
    """List the rules of the project and of your home folder, in the order they go out."""
    space = workspace(project)
    with progress("Reading rules", quiet=as_json) as told:
        found = report.list_rules(space, told)
    if as_json:
        print_json(found)
        return
    typer.echo(heading(f"Rules of {found['project']}"))
    if not found["enabled"]:
        typer.echo("None is sent: rules.enabled is false.")
    if not found["rules"]:
        typer.echo("  none. Put one into .claude/rules/NAME.md.")
    for row in found["rules"]:
        typer.echo(f"  {row['label']}: {_scope(row)}, sent by {_name(row['sent_by'])}{_more(row)}")
    _print_problems(found["problems"])


@app.command(epilog="Example: `sisyphus rules explain src/app.py`")
def explain(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that a tool might touch.")],
    session_id: Annotated[
        str,
        typer.Option(
            "--session-id", metavar="ID", help="The session to look at.",
            envvar=SESSION_VARIABLE, show_envvar=True, autocompletion=complete.sessions,
        ),
    ] = "",
    project: Project = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Say for each rule whether it applies to FILE, by which glob, who sends it, and whether it
    was sent in this session."""
    if session_id and not is_safe_id(session_id.replace("@", "")):
        raise SisyphusError(f"{session_id!r} is no session id. See the client's /status.")
    found = report.explain(workspace(project), os.path.abspath(file), session_id)
    if as_json:
        print_json(found)
        return
    typer.echo(heading(f"Rules for {found['file']}"))
    for row in found["rules"]:
        mark = "+" if row["applies"] else "-"
        typer.echo(f"{mark} {row['label']}: {row['why']}")
        typer.echo(faint(f"    {row['sending']}"))
    if not found["rules"]:
        typer.echo("  there are none.")
    _print_problems(found["problems"])


@app.command(epilog="Example: `sisyphus rules lint`")
def lint(project: Project = "", as_json: AsJson = False) -> None:
    """Look for rules that are invalid, misspelled, cut or never used. Exits 1 if it finds any."""
    space = workspace(project)
    with progress("Looking at rules", quiet=as_json) as told:
        found = linter.lint(space, told)
    if as_json:
        print_json(found)
    else:
        for row in found:
            typer.echo(_problem(row))
        typer.echo("No problem found." if not found else faint(f"{len(found)} found."))
    if found:
        raise typer.Exit(1)


def _scope(row: Json) -> str:
    globs = [glob for some in row["globs"].values() for glob in some]
    return ", ".join(globs) if row["applies"] == "by globs" else str(row["applies"])


def _name(sender: str) -> str:
    names = {"client": "Claude Code", "both": "Claude Code and sisyphus", "nobody": "nobody"}
    return names.get(sender, sender)


def _more(row: Json) -> str:
    parts = [f"priority {row['priority']:g}"] if row["priority"] else []
    parts += [f"tags {', '.join(row['tags'])}"] if row["tags"] else []
    parts += [row["description"]] if row["description"] else []
    return faint(f" ({'; '.join(parts)})") if parts else ""


def _problem(row: Json) -> str:
    line = f":{row['line']}" if row["line"] else ""
    return f"{row['label']}{line}: {row['problem']}"


def _print_problems(rows: list[Json]) -> None:
    if rows:
        typer.echo(heading("Problems"))
    for row in rows:
        typer.echo(f"  {_problem(row)}")
