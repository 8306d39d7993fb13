"""The command line for people: runs a command, and reports a failure in one line."""

import os
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from sisyphus.cli import groups
from sisyphus.cli.table import within
from sisyphus.cli.version import version as installed_version
from sisyphus.ground import log, paths
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.store import LOCK_SECONDS, is_locked
from sisyphus.ground.text import likely
from sisyphus.terminal import completion, show
from sisyphus.terminal.show import plain

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


class AllCommands(groups.SuggestingGroup):
    """Has the commands of the table, in its order; typer puts groups of commands last."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update(groups.commands(""))


app = typer.Typer(
    cls=AllCommands,
    help="Plans that survive sessions, loops that end when the work is done, and the rules and "
    "documents that matter, for coding agents.",
    epilog="Start with `sisyphus install`, then ask `sisyphus status` at any time.",
    invoke_without_command=True,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


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
        typer.echo(installed_version())
        raise typer.Exit


def names(group: str) -> set[str]:
    """Returns the names of the commands in a group of ours."""
    return {row.name for row in within(group)}


def main(words: list[str], *, is_typed: bool = False) -> int:
    """Runs a command line (without the word `sisyphus`); returns the exit code. is_typed: as a
    slash command, so that a usage error is one line."""
    if completion.is_asked() and not is_typed:
        return completion.answer(_command())
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
    from sisyphus.doctor.messages import find_locker  # imported late: it is seldom needed

    file = os.path.join(show.our_folder(show.project_root("")), paths.DATABASE)
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
