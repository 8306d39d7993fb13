"""Door for people: the typer application and the one place where a failure becomes words."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sisyphus import __version__
from sisyphus.cli import boulder, context, demo, enforce, install, notify, ralph, rules, why
from sisyphus.contract import EVENTS
from sisyphus.errors import SisyphusError
from sisyphus.plain import harmless
from sisyphus.shipped import plugin_folder
from sisyphus.state import debug

UNEXPECTED = 3

app = typer.Typer(
    name="sisyphus",
    help="Keeps a coding agent pushing: its plan survives sessions, a loop ends when its promise "
    "is kept, rules and documents reach the model once, when they matter.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(boulder.app, name="boulder")
app.add_typer(ralph.app, name="ralph")
app.add_typer(enforce.app, name="enforce")
app.add_typer(rules.app, name="rules")
app.add_typer(context.app, name="context")
app.add_typer(notify.app, name="notify")
app.command("why")(why.why)
app.command("demo")(demo.demo)
app.command("install")(install.install)
app.command("uninstall")(install.uninstall)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sisyphus {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None: ...


@app.command("plugin-path")
def _plugin_path() -> None:
    """Print the folder of the Claude Code plugin that comes with this installation.

    claude plugin marketplace add "$(sisyphus plugin-path)"
    """
    typer.echo(plugin_folder())


def _events(incomplete: str) -> list[str]:
    return [event for event in EVENTS if event.startswith(incomplete)]


@app.command("hook", epilog=f"Events: {', '.join(EVENTS)}.")
def _hook(
    event: Annotated[str, typer.Argument(metavar="EVENT", autocompletion=_events)],  # noqa: ARG001
) -> None:
    """Answer one hook event of the coding agent; called by hooks.json, not by people.

    Reads the event's payload as JSON from stdin, prints nothing or one JSON object, and exits 0
    whatever happens, so that a fault of ours never stops the agent. SISYPHUS_DISABLE=1 silences
    it.

    Try it: `echo '{"session_id": "s1", "source": "startup"}' | sisyphus hook session-start`
    """
    raise AssertionError("the front door answers events before typer is loaded")


@app.command("statusline")
def _statusline() -> None:
    """Print one line about plan, loop and context; called by the client, not by people.

    Reads JSON from stdin, and tells the hooks how much the model's context holds. In the client's
    settings.json:

    `"statusLine": {"type": "command", "command": "sisyphus statusline"}`

    Colours are left out where NO_COLOR is set; the line is at most COLUMNS characters long.
    """
    raise AssertionError("the front door prints the line before typer is loaded")


def run_app() -> int:
    """Runs the command line; returns or raises the exit code: 0 done, 1 a known failure, 2 wrong
    usage, 130 interrupted, 3 a fault of ours."""
    try:
        app()
    except SisyphusError as error:
        typer.echo(f"error: {harmless(str(error))}", err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # `sisyphus … | head` is no failure
            return 0
        raise
    except Exception as error:  # noqa: BLE001  # the boundary
        debug.log(f"{' '.join(sys.argv[1:])}: {type(error).__name__}: {error}")
        typer.echo(f"error: {type(error).__name__}: {error} (see {debug.log_path()})", err=True)
        return UNEXPECTED
    return 0
