from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, Project, print_json, say, workspace
from sisyphus.enforce import actions, answers, report, store
from sisyphus.enforce import log as rows
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id
from sisyphus.ralph import notices
from sisyphus.session.client_process import is_inside_client

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

app = typer.Typer(
    help="Sessions that go on: what is said to be done is verified, who rests is woken.",
    epilog="Example: `sisyphus enforce status`",
    no_args_is_help=True,
)

HEAD = "CONTINUOUS ENFORCEMENT"


def _session(name: str) -> str:
    if name and not is_safe_id(name):
        raise typer.BadParameter(f"{name!r} is no session id. See the client's /status.")
    return name


Session = Annotated[
    str,
    typer.Option(
        "--session-id",
        metavar="ID",
        help="This session alone; else every one of the project.",
        callback=_session,
        autocompletion=complete.sessions,
        show_default=False,
    ),
]


@app.command(epilog="Example: `sisyphus enforce on --project ~/shop`")
def on(project: Project = "", as_json: AsJson = False) -> None:
    """Enforce the sessions of this project from now on; what was counted before is over."""
    space = _mine(project, "on")
    found = actions.on(space)
    _show(found, lambda: answers.began(found), as_json)


@app.command(epilog="Example: `sisyphus enforce off`")
def off(project: Project = "", as_json: AsJson = False) -> None:
    """Tell nobody to go on any more."""
    space = _mine(project, "off")
    _tell(space, actions.off(space), answers.OFF)
    _show(actions.status(space), lambda: answers.OFF, as_json)


@app.command(epilog="Example: `sisyphus enforce stop --session-id ID`")
def stop(project: Project = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """Leave the sessions alone, each until the next prompt of its user."""
    space = _mine(project, "stop")
    if session_id and store.is_on(space) and session_id not in store.glance(space).sessions:
        raise SisyphusError(
            f"no session {session_id} is known here. `sisyphus enforce status` shows them."
        )
    _tell(space, actions.stop(space, session_id), answers.STOPPED)
    said = answers.STOPPED if session_id else answers.STOPPED_ALL
    _show(actions.status(space, session_id), lambda: said, as_json)


@app.command(epilog="Example: `sisyphus enforce status --json`")
def status(project: Project = "", session_id: Session = "", as_json: AsJson = False) -> None:
    """Show how enforcement stands: its gates, and when a session is told to go on next."""
    space = workspace(project)
    found = actions.status(space, session_id)
    _show(found, lambda: report.status_text(found, space.now), as_json)


@app.command(epilog="Example: `sisyphus enforce log -n 50`")
def log(
    project: Project = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many lines.")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Show what was enforced and what was held back, and why; the latest last."""
    found = rows.read(workspace(project), last)
    if as_json:
        print_json(found)
    else:
        say(report.log_text(found))


def _mine(project: str, word: str) -> Workspace:
    """Raises `SisyphusError` where the model may be the one who says so."""
    if is_inside_client():
        raise SisyphusError(
            f"{answers.REFUSED}. Type /sisyphus:enforce {word} as a prompt, or use another "
            "terminal."
        )
    return workspace(project)


def _tell(space: Workspace, sessions: list[str], text: str) -> None:
    """Who is at work hears of it at the next Stop."""
    for session in filter(partial(notices.listens, space.ours), sessions):
        notices.tell(space.ours, session, HEAD, f"{text} By {notices.who()}.", space.now)


def _show(found: Json, text: Callable[[], str], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        say(text())
