"""Completion of commands, options and ids with the Tab key of a shell.

A shell asks by running `sisyphus` with a variable. The answer is on stdout alone; where something
fails it is empty, since a message would land in the middle of what the user types.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stderr
from typing import Any

import typer
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer._completion_shared import install as add_script

from sisyphus.ground import paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.files import open_regular, tail_contains
from sisyphus.ground.settings import SETTINGS
from sisyphus.ground.store import Store, open_to_read
from sisyphus.terminal import show

PROGRAM = "sisyphus"
VARIABLE = "_SISYPHUS_COMPLETE"
"""Set by the shell when it wants an answer; typer makes its name of the program's."""

SHELLS = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ""}
"""Each shell, and the file of its own that loads the completion; fish needs none."""

MOST = 50
"""The most ids that a shell is offered."""

_SCRIPTS = {
    "bash": ".bash_completions/sisyphus.sh",
    "zsh": ".zfunc/_sisyphus",
    "fish": ".config/fish/completions/sisyphus.fish",
}
"""Where typer writes the script of each shell, below the home."""

_STARTED = (".bashrc", ".bash_profile", ".zshrc", ".config/fish/config.fish")
_MARKS = (VARIABLE.encode(), b".bash_completions/sisyphus.sh", b"sisyphus --show-completion")


def is_asked() -> bool:
    """Tells whether a shell runs this process to complete a word."""
    return bool(os.environ.get(VARIABLE))


def answer(command: Callable[..., Any]) -> int:
    """Prints what the word may become; returns the exit code, which fish looks at. command: all our
    commands, as typer runs them."""
    completion_init()
    with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
        try:
            command([], prog_name=PROGRAM, standalone_mode=False)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0
        except Exception:
            return 1
    return 0


def install(ctx: typer.Context, is_given: bool) -> None:
    """Adds the completion to the files of the shell that the user is in."""
    if not is_given or ctx.resilient_parsing:  # somebody completes a word after the option
        return
    show.need_user()
    shell = _shell()
    before = _contents(shell)
    if not _is_in_bash(shell, before):
        _add_script(shell)
    changed = [name for name, data in _contents(shell).items() if data != before[name]]
    names = ", ".join(f"~/{name}" for name in changed)
    what = f"Changed: {names}" if changed else "Nothing to do."
    show.line(f"The Tab key completes sisyphus in every new {shell}. {what}")
    raise typer.Exit


def _contents(shell: str) -> dict[str, bytes]:
    """Returns what the files hold that make a shell complete, by their names below the home."""
    contents = {}
    for name in filter(None, (_SCRIPTS[shell], SHELLS[shell])):
        try:
            with open_regular(os.path.join(paths.user_home(), name)) as file:
                contents[name] = file.read()
        except OSError:  # there is none yet; typer says if it cannot be used
            contents[name] = b""
    return contents


def print_script(ctx: typer.Context, is_given: bool) -> None:
    """Prints what `install` would add, for the user to put where they want it."""
    if is_given and not ctx.resilient_parsing:
        typer.echo(_script(_shell()))
        raise typer.Exit


def files() -> list[str]:
    """Returns the files of shells that have our completion in them."""
    home = paths.user_home()
    every = [os.path.join(home, name) for name in (*_SCRIPTS.values(), *_STARTED)] if home else []
    return [path for path in every if any(tail_contains(path, mark) for mark in _MARKS)]


def is_script(path: str) -> bool:
    """Tells whether one of these files holds our completion and nothing else."""
    return path.endswith(tuple(_SCRIPTS.values()))


def setting_names(incomplete: str) -> Iterator[tuple[str, str]]:
    for name, setting in SETTINGS.items():
        if name.startswith(incomplete):
            yield name, harmless(setting.help)


def setting_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Returns what the setting on the command line may be, if there is a choice."""
    setting = SETTINGS.get(str(ctx.params.get("key")))
    if setting is None:
        return []
    choices = ("true", "false") if isinstance(setting.default, bool) else setting.choices
    return [choice for choice in choices if choice.startswith(incomplete)]


@contextmanager
def store() -> Iterator[Store]:
    """Opens the store for reading. Raises `SisyphusError` if there is none, and makes none."""
    store = open_to_read(show.our_folder(show.project_root("")))
    if store is None:
        raise SisyphusError("There is no database.")
    with closing(store):
        yield store


def harmless(text: str) -> str:
    """Returns untrusted text as words alone. zsh evaluates what it shows beside a word, twice, and
    typer escapes no backslash in it."""
    return " ".join("".join(c if c.isalnum() or c in ".,-_/" else " " for c in text).split())


def _is_in_bash(shell: str, contents: dict[str, bytes]) -> bool:
    """Tells whether bash has all of it: typer would add an empty line to its file each time."""
    if shell != "bash":
        return False
    rc = os.path.join(paths.user_home(), SHELLS[shell])
    return rc in files() and contents[_SCRIPTS[shell]].decode("utf-8", "replace") == _script(shell)


def _script(shell: str) -> str:
    text: str = get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)
    return text


def _add_script(shell: str) -> None:
    """Lets typer write its script and a line that loads it. Raises `SisyphusError`."""
    if not paths.user_home():
        raise SisyphusError("There is no home folder. Set HOME and run the command again.")
    try:
        add_script(shell, PROGRAM)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        file = getattr(error, "filename", None) or f"~/{SHELLS[shell]}"
        raise SisyphusError(
            f"{paths.display(str(file), '')} cannot be changed: {why}. "
            "`sisyphus --show-completion` prints what to add."
        ) from error


def _shell() -> str:
    """Returns the name of the shell that the user is in. Raises `SisyphusError`."""
    import shellingham  # type: ignore[import-untyped]  # typer needs it, too

    try:
        name = str(shellingham.detect_shell()[0])
    except (shellingham.ShellDetectionFailure, OSError):
        name = ""
    if name not in SHELLS:
        found = f"this is {name}" if name else "this is none of them"
        raise SisyphusError(
            f"The Tab key completes in bash, zsh and fish, and {found}. Run the command in one."
        )
    return name
