"""Door for people: the typer application and the one place where a failure becomes words."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sisyphus import __version__
from sisyphus.cli import (
    boulder,
    complete,
    config,
    context,
    dashboard,
    demo,
    doctor,
    enforce,
    failures,
    install,
    notify,
    purge,
    ralph,
    rules,
    sessions,
    why,
)
from sisyphus.cli.output import as_typed
from sisyphus.clients import DEFAULT
from sisyphus.clients.base import EVENTS
from sisyphus.errors import SisyphusError
from sisyphus.shipped import plugin_folder
from sisyphus.state import debug
from sisyphus.text import harmless

UNEXPECTED = 3

_HELP = ["-h", "--help"]

_PANELS = _BEGIN, _WORK, _SEEN, _CALLED = (
    "To begin", "At work", "What happened", "Called by the client",
)  # fmt: skip


def _name_no_values_of_flags(command: Any) -> None:
    """Typer 0.29 shows `--json <bool>` in a help, as if a flag took a value."""
    for option in command.get_params(typer.Context(command, help_option_names=_HELP)):
        if getattr(option, "is_flag", False):
            option.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _name_no_values_of_flags(below)


class _Root(TyperGroup):
    """Groups, which typer lists behind all commands, stand where their panel does."""

    def main(self, *args: Any, **given: Any) -> Any:
        _name_no_values_of_flags(self)
        return super().main(*args, **given)

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=self._panel)

    def _panel(self, name: str) -> int:
        panel = getattr(self.commands[name], "rich_help_panel", "")
        return _PANELS.index(panel) if panel in _PANELS else len(_PANELS)


app = typer.Typer(
    name="sisyphus",
    cls=_Root,
    help="Keeps a coding agent pushing: its plan survives sessions, a loop ends when its promise "
    "is kept, rules and documents reach the model once, when they matter.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Begin with `sisyphus install`. Every command has an example in its `--help`.",
    context_settings={"help_option_names": _HELP},
)
app.command("install", rich_help_panel=_BEGIN)(install.install)
app.command("uninstall", rich_help_panel=_BEGIN)(install.uninstall)
app.command("doctor", rich_help_panel=_BEGIN, epilog="Example: `sisyphus doctor --fix`")(
    doctor.doctor
)
app.command("demo", rich_help_panel=_BEGIN, epilog="Example: `sisyphus demo --keep`")(demo.demo)
app.add_typer(config.app, name="config", rich_help_panel=_BEGIN)
app.add_typer(boulder.app, name="boulder", rich_help_panel=_WORK)
app.add_typer(ralph.app, name="ralph", rich_help_panel=_WORK)
app.add_typer(enforce.app, name="enforce", rich_help_panel=_WORK)
app.add_typer(rules.app, name="rules", rich_help_panel=_WORK)
app.add_typer(context.app, name="context", rich_help_panel=_WORK)
app.add_typer(notify.app, name="notify", rich_help_panel=_WORK)
app.command("why", rich_help_panel=_SEEN, epilog="Example: `sisyphus why --follow`")(why.why)
app.command(
    "sessions", rich_help_panel=_SEEN, epilog="Example: `sisyphus sessions --project . -n 5`"
)(sessions.sessions)
app.command("dashboard", rich_help_panel=_SEEN, epilog="Example: `sisyphus dashboard --port 8080`")(
    dashboard.dashboard
)
app.command("purge", rich_help_panel=_SEEN, epilog="Example: `sisyphus purge --dry-run`")(
    purge.purge
)


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


@app.command(
    "plugin-path",
    rich_help_panel=_BEGIN,
    epilog='Example: `claude plugin marketplace add "$(sisyphus plugin-path)"`',
)
def _plugin_path() -> None:
    """Print the folder of the Claude Code plugin that comes with this installation."""
    typer.echo(plugin_folder())


@app.command("hook", rich_help_panel=_CALLED, epilog=f"Events: {', '.join(EVENTS)}.")
def _hook(
    event: Annotated[  # noqa: ARG001
        str,
        typer.Argument(metavar="EVENT", help="What happened.", autocompletion=complete.events),
    ],
    client: Annotated[  # noqa: ARG001
        str, typer.Option(metavar="NAME", help="Whose payload it is: claude or opencode.")
    ] = DEFAULT,
    strict: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--strict", help="For CI: exit 1, with the reason, where something is not understood."
        ),
    ] = False,
) -> None:
    """Answer one hook event of the coding agent; called by hooks.json, not by people.

    Reads the event's payload as JSON from stdin, prints nothing or one JSON object, and exits 0
    whatever happens, so that a fault of ours never stops the agent. SISYPHUS_DISABLE=1 silences
    it. With --strict a payload that is not understood, an unknown event or a feature that fails is
    exit code 1 with the reason on stderr. On a terminal an unknown event is a usage error (2).

    Example: `echo '{"session_id": "s1", "source": "startup"}' | sisyphus hook session-start`
    """
    raise AssertionError("the front door answers events before typer is loaded")


@app.command(
    "statusline", rich_help_panel=_CALLED, epilog="Example: `echo '{}' | sisyphus statusline`"
)
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
    failures.open_streams()
    try:
        app()
    except SisyphusError as error:
        typer.echo(f"error: {harmless(as_typed(str(error)))}", err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # `sisyphus … | head` is no failure
            return 0
        raise
    except OSError as error:
        debug.log(f"{' '.join(sys.argv[1:])}: {type(error).__name__}: {error}")
        failures.drop(sys.stdout)
        typer.echo(f"error: {harmless(failures.in_words(error))}", err=True)
        return 1
    except Exception as error:  # noqa: BLE001  # the boundary
        debug.log(f"{' '.join(sys.argv[1:])}: {type(error).__name__}: {error}")
        typer.echo(f"error: {type(error).__name__}: {error} (see {debug.log_path()})", err=True)
        return UNEXPECTED
    return 0
