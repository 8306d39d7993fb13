from __future__ import annotations

import json
import os
import sys
import tomllib
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import AsJson, print_json, say, workspace
from sisyphus.cli.slips import no_such_event
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.notify import words
from sisyphus.notify.send import CHECKPOINT, EVENTS
from sisyphus.paths import our_home
from sisyphus.reading import read_text
from sisyphus.settings import CONFIG_BYTES
from sisyphus.state.files import ensure_folder
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from sisyphus._types import Json

app = typer.Typer(
    help="Tell others what happened.",
    epilog="Example: `sisyphus notify test`",
    no_args_is_help=True,
)

_MOST_BYTES = 1_000_000


@app.command(hidden=True)
def run() -> None:
    """Run notify.command with the message on stdin; started by sisyphus itself."""
    from sisyphus.notify.run import run_and_log

    if command := _command():
        run_and_log(command, _stdin(), _folder())


@app.command("test", epilog="Example: `sisyphus notify test completion`")
def try_out(
    event: Annotated[
        str,
        typer.Argument(
            metavar="[EVENT]", help=f"One of {', '.join(EVENTS)}.", autocompletion=lambda: EVENTS
        ),
    ] = CHECKPOINT,
    as_json: AsJson = False,
) -> None:
    """Run notify.command with an example message, and show how it ended."""
    from sisyphus.notify.run import run as run_now

    if event not in EVENTS:
        raise no_such_event(event, EVENTS)
    if not (command := _command()):
        raise SisyphusError(_why_nothing())
    space = workspace("")
    message = words.example(event, space.root, space.now)
    ending = run_now(command, json.dumps(message).encode(), _folder())
    if as_json:
        print_json({"command": command, "message": message, **ending.as_json()})
    else:
        say(f"{command}\n{ending.words}, {ending.seconds:g} s\n{ending.output or '(no output)'}")
    if ending.exit_code != 0:
        raise typer.Exit(1)


@app.command(epilog="Example: `sisyphus notify linear --issue ENG-123`")
def linear(
    issue: Annotated[
        str,
        typer.Option(
            "--issue",
            metavar="ID",
            help="The issue, such as ENG-123; else the setting notify.linear_issue.",
            envvar="LINEAR_ISSUE",
            show_envvar=True,
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Append a comment to a Linear issue; for notify.command, with its message on stdin.

    The key is taken from LINEAR_API_KEY. At the top of `~/.claude/.sisyphus/config.toml`:

    `notify.command = "sisyphus notify linear --issue ENG-123"`
    """
    from sisyphus.notify import linear as api

    chosen = issue or _setting("notify.linear_issue")
    url = os.environ.get("LINEAR_API_URL", "")
    key = os.environ.get("LINEAR_API_KEY", "").strip()
    made = api.comment(chosen.strip(), api.body(_message()), key, url)
    if as_json:
        print_json({"issue": chosen, "comment": made})
    else:
        say(f"Commented on {chosen}.")


def _why_nothing() -> str:
    path = os.path.join(our_home(), "config.toml")
    problem = _problem(path)
    why = f"{path} is not used: {problem}" if problem else "notify.command is empty"
    return (
        f"nothing is told to anybody: {why}. Set it: `sisyphus config set notify.command COMMAND`. "
        "(No project and no variable of the environment can.)"
    )


def _problem(path: str) -> str:
    """What is wrong with the user's settings, "" = nothing, or there are none."""
    if not os.path.lexists(path):
        return ""
    try:
        found = tomllib.loads(read_text(path, CONFIG_BYTES)).get("notify", {})
    except (UnreadableError, ValueError, RecursionError) as error:
        return str(error).removeprefix(f"{path}: ")
    value = found.get("command", "") if isinstance(found, dict) else found
    return "" if isinstance(value, str) else f"notify.command is {value!r}, and no text in quotes"


def _command() -> str:
    return _setting("notify.command").strip()


def _folder() -> str:
    """Where the command runs: in a place that is always there, not in a project of strangers."""
    ensure_folder(our_home())
    return our_home()


def _setting(key: str) -> str:
    """A setting of the user's alone, whatever the current folder is."""
    value: str = Workspace(our_home()).settings.get(key)
    return value


def _message() -> Json:
    try:
        value = json.loads(_stdin())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise SisyphusError(
            "stdin holds no JSON object. This is for notify.command; try `sisyphus notify test`."
        )
    return value


def _stdin() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise SisyphusError(
            "the message (JSON) is read from stdin. Try `sisyphus notify test` instead."
        )
    return sys.stdin.buffer.read(_MOST_BYTES)
