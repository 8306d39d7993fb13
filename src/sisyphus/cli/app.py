"""The command line for people: mounts every feature's commands and reports a failure in one
line."""

import inspect
import os
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sisyphus import clients
from sisyphus.boulder.commands import app as boulder
from sisyphus.boulder.hold_commands import hold
from sisyphus.cli.config import config
from sisyphus.cli.demo import demo
from sisyphus.cli.notify import app as notify
from sisyphus.cli.purge import purge
from sisyphus.cli.sessions import sessions, why
from sisyphus.cli.status import status
from sisyphus.dashboard.commands import dashboard
from sisyphus.doctor.commands import doctor
from sisyphus.doctor.messages import find_locker
from sisyphus.enforce.commands import app as enforce
from sisyphus.ground import log
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.store import LOCK_SECONDS, NAME, is_locked
from sisyphus.ground.text import likely
from sisyphus.handoff.commands import context, handoff
from sisyphus.hook.event import ANSWERED
from sisyphus.ralph.commands import app as ralph
from sisyphus.rules.commands import app as rules
from sisyphus.runner.commands import run
from sisyphus.runner.decide_command import decide
from sisyphus.setup.commands import install, plugin_path, uninstall
from sisyphus.terminal import completion, show
from sisyphus.terminal.show import plain

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


class MostUsedFirst(TyperGroup):
    """Lists the commands in our order; typer puts groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=ORDER.index)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds a command; of one that does not exist it says which people's command is meant."""
        self.suggest_commands = False  # typer's name those that agents call
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:  # a usage error, with a message by typer
            meant = OTHERS_WORDS.get(args[0]) or get_close_matches(args[0], ORDER[:-2], 1)
            if meant and hasattr(error, "message"):
                name = meant if isinstance(meant, str) else meant[0]
                error.message = f"No such command '{args[0]}'. Do you mean `sisyphus {name}`?"
            raise


ORDER = [
    "status", "dashboard", "boulder", "ralph", "enforce", "context", "handoff", "rules", "why",
    "sessions", "demo", "doctor", "install", "uninstall", "config", "purge", "notify",
    "plugin-path", "statusline", "hook",
]  # fmt: skip
"""Of the commands in the help: first what people need first. The last two are for agents."""

OTHERS_WORDS = {
    "checkpoint": "boulder checkpoint", "hold": "boulder hold", "plan": "boulder",
    "plans": "boulder", "start": "ralph start", "list": "ralph list", "log": "ralph log",
    "loop": "ralph", "loops": "ralph list", "run": "ralph run", "runs": "ralph list",
    "pause": "ralph pause", "resume": "ralph resume", "cancel": "ralph cancel",
    "settings": "config", "version": "--version", "watch": "status --watch",
}  # fmt: skip
"""What somebody may type who does not know the commands → the one that they mean."""

app = typer.Typer(
    cls=MostUsedFirst,
    help="Plans that survive sessions, loops that end when the work is done, and the rules and "
    "documents that matter, for coding agents.",
    epilog="Start with `sisyphus install`, then ask `sisyphus status` at any time.",
    invoke_without_command=True,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

SETUP, AGENTS = "Setup", "For agents, which call these"

Client = Annotated[
    str, typer.Option(metavar="NAME", help=f"The agent that calls: {', '.join(clients.NAMES)}.")
]

app.command()(status)
app.command()(dashboard)
boulder.command()(hold)
app.add_typer(boulder, name="boulder")
ralph.command()(run)
ralph.command("decide")(decide)
app.add_typer(ralph, name="ralph")
app.add_typer(enforce, name="enforce")
app.command()(context)
app.command()(handoff)
app.add_typer(rules, name="rules")
app.command()(why)
app.command()(sessions)
app.command()(demo)
app.add_typer(notify, name="notify", rich_help_panel=SETUP)
app.command(rich_help_panel=SETUP)(doctor)
app.command(rich_help_panel=SETUP)(install)
app.command(rich_help_panel=SETUP)(uninstall)
app.command(rich_help_panel=SETUP)(config)
app.command(rich_help_panel=SETUP)(purge)
app.command(rich_help_panel=SETUP)(plugin_path)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True)
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion",
            help="Let the Tab key complete commands, in bash, zsh or fish: the shell you are in.",
            callback=completion.install,
            is_eager=True,
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion",
            help="Print what --install-completion adds to the shell.",
            callback=completion.print_script,
            is_eager=True,
        ),
    ] = False,
) -> None:
    if version:
        from importlib import metadata  # 30 ms

        typer.echo(metadata.version("sisyphus-hooks"))
        raise typer.Exit


@app.command(rich_help_panel=AGENTS)
def statusline(client: Client = "claude-code") -> None:
    """Print one line for the client's status line: plan, loop, context.

    The client runs this; `sisyphus install` puts it into the client's settings.
    """
    raise AssertionError("`sisyphus.__main__` handles `sisyphus statusline`")


@app.command(
    rich_help_panel=AGENTS,
    epilog=f"Events: {', '.join(ANSWERED)}. All others are accepted and get no answer.",
)
def hook(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="One of the events below.")],
    client: Client = "claude-code",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="For CI: exit 1 if the payload is invalid or a feature fails."
        ),
    ] = False,
) -> None:
    """Answer one hook event: reads a JSON payload from stdin, prints at most one JSON object.

    Agents call this from their hooks file.
    """
    raise AssertionError("`sisyphus.__main__` handles `sisyphus hook`")


def _join_lines() -> None:
    """Puts each paragraph of the commands' help on one line: typer wraps it to the terminal, but
    keeps the line breaks of our docstrings."""
    for group in (app, boulder, ralph, enforce, rules):
        for command in group.registered_commands:
            text = command.help or inspect.getdoc(command.callback) or ""
            paragraphs = text.split("\n\n")
            command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)


_join_lines()


def names(group: str) -> set[str]:
    """Returns the names of the commands in a group of ours."""
    commands = {"enforce": enforce, "ralph": ralph}[group].registered_commands
    return {each.name or str(getattr(each.callback, "__name__", "")) for each in commands}


def main(words: list[str], *, is_typed: bool = False) -> int:
    """Runs a command line (without the word `sisyphus`); returns the exit code. is_typed: as a
    slash command, so that a usage error is one line."""
    if completion.is_asked() and not is_typed:
        return completion.answer(app)
    return _run(words, is_typed)


@cache
def _command() -> Callable[..., Any]:
    """Returns all our commands as typer runs them. `app` would build them anew at each call, which
    takes 15 ms."""
    return get_command(app)


def _run(words: list[str], is_typed: bool) -> int:
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    try:
        result = _command()(words, prog_name="sisyphus", standalone_mode=False, complete_var="")
    except SisyphusError as error:
        typer.echo(f"error: {plain(str(error))}", err=True)
        return WRONG_USAGE if isinstance(error, UsageError) else FAILED
    except typer.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if show := getattr(error, "show", None):  # a usage error, with a message by typer
            _name_session(error)
            if _name_option(error) or is_typed:
                typer.echo(f"error: {plain(error.format_message())}", err=True)  # type: ignore[attr-defined]
            else:
                show()
            return int(getattr(error, "exit_code", 2))
        failure = log.failure(" ".join(words[:2]), error)
        typer.echo(f"error: {plain(_locked(error) or _repaired(error) or failure)}", err=True)
        return FAILED
    return result if isinstance(result, int) else 0


def _locked(error: Exception) -> str:
    """Says what to do if another process has locked the database; "" = none has."""
    if not is_locked(error):
        return ""
    file = os.path.join(show.our_folder(show.project_root("")), NAME)
    return (
        f"Another process has locked the database for more than {LOCK_SECONDS:.0f} seconds. "
        f"{find_locker(file)} Then run this again."
    )


def _repaired(error: Exception) -> str:
    """Repairs the database if a command failed because of it; returns what to do, "" = it is not
    the cause."""
    from sisyphus.doctor import repair

    try:
        lost = repair.after_command(show.our_folder(show.project_root("")), error)
    except Exception as failure:
        log.failure("repair", failure)
        return ""
    if lost is None:
        return ""
    return " ".join(("The database could not be read, and is repaired. Run this again.", *lost))


def _name_option(error: Any) -> bool:
    """Says which option is meant by one that a command does not take; tells whether one is."""
    context: Any = getattr(error, "ctx", None)
    is_unknown = context and hasattr(error, "option_name") and hasattr(error, "possibilities")
    if not (is_unknown and error.option_name.startswith("--")):
        return False
    names = [name for param in context.command.params for name in param.opts]
    names = [name[2:] for name in names if name.startswith("--")]
    meant = likely(error.option_name[2:], names)
    if meant:
        error.message += f". Do you mean --{meant}?"
        error.possibilities = None
    return bool(meant)


def _name_session(error: Any) -> None:
    """Says that a word which a command does not take may be for its `--session-id`."""
    context: Any = getattr(error, "ctx", None)
    names = [name for param in context.command.params for name in param.opts] if context else []
    if "--session-id" in names and "unexpected extra argument" in error.message:
        error.message += f". To name a session: `{context.command_path} --session-id ID`."
