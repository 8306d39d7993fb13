from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import (
    checklist,
    complete,
    ralph_checkpoint,
    ralph_context,
    ralph_decide,
    ralph_history,
    ralph_remove,
    ralph_run,
)
from sisyphus.cli.output import AsJson, heading, print_json, say, workspace
from sisyphus.cli.progress import progress
from sisyphus.clients.claude_code import SESSION_VARIABLE
from sisyphus.paths import client_home, our_home
from sisyphus.ralph import actions, report
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from sisyphus._types import Json

app = typer.Typer(
    help="Loops that keep their promise.",
    epilog="Example: `sisyphus ralph list`",
    no_args_is_help=True,
)
app.add_typer(checklist.app, name="checklist")
app.command("log", epilog="Example: `sisyphus ralph log -n 5`")(ralph_history.log)
app.command("stats", epilog="Example: `sisyphus ralph stats --project .`")(ralph_history.stats)
app.command("archive", epilog="Example: `sisyphus ralph archive 3f2a`")(ralph_remove.archive)
app.command("delete", epilog="Example: `sisyphus ralph delete --archived`")(ralph_remove.delete)
app.command("run")(ralph_run.run)
app.command("decide")(ralph_decide.decide)
app.command("context", epilog="Example: `sisyphus ralph context --forecast`")(ralph_context.context)
app.command("checkpoint", epilog="Example: `sisyphus ralph checkpoint`")(
    ralph_checkpoint.checkpoint
)

Session = Annotated[
    str,
    typer.Option(
        "--session-id",
        metavar="ID",
        help="The session that is meant; else the one around this command, else the only one.",
        envvar=SESSION_VARIABLE,
        show_envvar=True,
        autocompletion=complete.sessions,
    ),
]

LoopId = Annotated[
    str,
    typer.Argument(
        metavar="[LOOP]",
        help="A loop's id, or its start.",
        show_default=False,
        autocompletion=complete.loops,
    ),
]


@app.command(
    epilog='Example: `sisyphus ralph start --completion-promise GREEN --verify "pytest -q" -- '
    "Make tests pass`"
)
def start(  # one an option
    prompt: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- PROMPT", help="What is to be done.", show_default=False),
    ] = None,
    completion_promise: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the agent must promise.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Default 100; 0 = no limit.")
    ] = None,
    max_minutes: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Default 1440; 0 = no limit.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Tokens to spend, subagents' too.")
    ] = None,
    verify: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Must exit 0 for the promise to count.")
    ] = None,
    verify_plan: Annotated[
        bool, typer.Option("--verify-plan", help="The plan must be complete as well.")
    ] = False,
    verify_checklist: Annotated[
        bool, typer.Option("--verify-checklist", help="The checklist must be done as well.")
    ] = False,
    wait_for_user: Annotated[
        bool, typer.Option("--wait-for-user", help="A question to you lets the session stop.")
    ] = False,
    resume_after_limit: Annotated[
        bool, typer.Option("--resume-after-limit", help="Go on when the account's limit resets.")
    ] = False,
    prompt_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Take the prompt from a file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the session's loop.")] = False,
    session_id: Session = "",
    project: Annotated[
        str,
        typer.Option(
            "--project",
            metavar="DIR",
            help="Where the loop works.",
            show_default="the session's folder, else the current one",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Start a loop in a session, from any terminal; it holds from the session's next stop on."""
    from sisyphus.ralph import start as begin

    if prompt_file:
        prompt_file = os.path.join(workspace("").cwd, os.path.expanduser(prompt_file))
    space = workspace(project or begin.folder(client_home(), session_id))
    asked = begin.invocation(
        " ".join(prompt or []),
        {
            "completion_promise": completion_promise,
            "max_iterations": max_iterations,
            "max_minutes": max_minutes,
            "max_tokens": max_tokens,
            "verify": verify,
            "verify_plan": verify_plan,
            "verify_checklist": verify_checklist,
            "wait_for_user": wait_for_user,
            "resume_after_limit": resume_after_limit,
            "prompt_file": prompt_file,
        },
    )
    row = begin.start(space, asked, session_id, force=force)
    if not begin.is_known(space, row["session_id"]):
        asked.notes.append(f"the client has no session {row['session_id']} yet")
    for note in asked.notes:
        typer.echo(f"note: {note}", err=True)
    _tell([row], "started", as_json)
    if not as_json:
        typer.echo(f"It holds from the next stop of session {row['session_id']} on. {actions.IDLE}")


@app.command(epilog="Example: `sisyphus ralph status --json`")
def status(loop: LoopId = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """Show the loop of this session; without a session, the only one there is."""
    session_id = _session(loop, session_id)
    row = actions.of_session(our_home(), session_id, time.time(), _stale_hours())
    if as_json:
        print_json(row)
    elif row is None:
        _show_others()
    else:
        _show(row)


@app.command("list", epilog="Example: `sisyphus ralph list`")
def list_loops(as_json: AsJson = False) -> None:
    """List the loops that have not ended, of every session."""
    with progress("Looking for loops", quiet=as_json):
        rows = actions.list_loops(our_home(), time.time(), _stale_hours())
    if as_json:
        print_json(rows)
        return
    if not rows:
        say(report.NOTHING)
    for row in rows:
        _show(row)
    _tell_of_runs()


def _tell_of_runs() -> None:
    from sisyphus.runner import report as runs

    if told := runs.at_work(our_home()):
        typer.echo(told)


@app.command(epilog="Example: `sisyphus ralph cancel 3f2a`")
def cancel(loop: LoopId = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """End a session's loop. From any folder; takes effect when the agent next wants to stop."""
    session_id = _session(loop, session_id)
    _tell(actions.cancel(our_home(), session_id, now=time.time()), "cancelled", as_json)


@app.command(epilog="Example: `sisyphus ralph pause 3f2a`")
def pause(loop: LoopId = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """Let the session stop; the loop keeps its place until it is resumed."""
    session_id = _session(loop, session_id)
    _tell(actions.pause(our_home(), session_id, now=time.time()), "paused", as_json)


@app.command(epilog="Example: `sisyphus ralph resume 3f2a`")
def resume(loop: LoopId = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """Go on with a paused loop, whoever paused it. An idle session needs a prompt to move."""
    session_id = _session(loop, session_id)
    _tell(actions.resume(our_home(), session_id, now=time.time()), "resumed", as_json)
    if not as_json:
        typer.echo(actions.IDLE)


def _session(loop: str, session_id: str) -> str:
    return actions.session_of(our_home(), loop, time.time()) if loop else session_id


def _show_others() -> None:
    """Without a loop here: what there is elsewhere, and how earlier ones went."""
    rows = actions.list_loops(our_home(), time.time(), _stale_hours())
    typer.echo("No loop is active here." + (" Elsewhere:" if rows else ""))
    for row in rows:
        _show(row)
    _show_run()
    typer.echo("`sisyphus ralph log` shows how loops ended.")


def _show_run() -> None:
    """The fresh-context run of this project, if one goes on or was left."""
    from sisyphus.runner import report as runs

    told = runs.standing(workspace(""))
    if told:
        typer.echo(heading("A run in fresh contexts:"))
        typer.echo(told)


def _stale_hours() -> int:
    """A setting of the user's alone, whatever the current folder is."""
    hours: int = Workspace(our_home()).settings.get("ralph.stale_hours")
    return hours


def _tell(rows: list[Json], what: str, as_json: bool) -> None:
    if as_json:
        print_json(rows)
    else:
        typer.echo(actions.told(what, rows))


def _show(row: Json) -> None:
    typer.echo(heading(report.title(row)))
    typer.echo(report.details(row, time.time()))
