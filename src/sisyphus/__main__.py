"""The `sisyphus` command. `hook` and `statusline` take a quick path that never imports the other
commands."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, NoReturn, TextIO

    from sisyphus.ground.store import Store


def main() -> None:
    words = sys.argv[1:]
    needs_help = "--help" in words or "-h" in words
    is_for_agents = words[:1] == ["statusline"] or (words[:1] == ["hook"] and len(words) > 1)
    if is_for_agents and not needs_help:
        _answer(words[0], words[1:])
    if words == ["--version"]:
        _print_version()
    import gc

    gc.disable()  # while modules load it finds nothing, and takes a tenth of the time
    from sisyphus.cli.app import main as run_command

    gc.enable()
    code = run_command(words)
    _flush()
    sys.exit(code)


def _print_version() -> None:
    """Prints the version and leaves, before typer is loaded. Where that fails, the command line
    tries again and says why."""
    from sisyphus.cli.version import version

    try:
        print(version(), flush=True)
    except (OSError, ImportError):
        return
    sys.exit(0)


def _flush() -> None:
    """Writes what is left to stdout. Where nobody can read it any more, or a disk is full, the exit
    code stays what it is."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(name: str, words: list[str]) -> NoReturn:
    """Answers a hook or the status line, and leaves with `os._exit`: an orderly shutdown of the
    interpreter costs 5 % more.

    The store stays open. Closing it would wait for the disk twice after each write, and SQLite's
    write-ahead log survives a process that just exits.
    """
    import gc

    gc.disable()  # the process lives for milliseconds: garbage collection does not pay
    if name == "hook":
        from sisyphus.door.door import run
    else:
        from sisyphus.door.statusline import run

    stores: list[Store] = []  # keeps the store open until the process ends
    code = run(words, *_streams(), leave=stores.append)
    if sys.stderr:
        sys.stderr.flush()
    os._exit(code)


def _streams() -> tuple[BinaryIO, TextIO, TextIO]:
    """Returns stdin, stdout and stderr. In place of one that is closed: an empty stdin, a stdout
    that nobody can write to, so that no reply counts as said, and a stderr that nobody reads."""
    import io

    stdin = sys.stdin.buffer if sys.stdin else io.BytesIO()
    deaf = io.StringIO()
    deaf.close()
    return stdin, sys.stdout or deaf, sys.stderr or io.StringIO()


if __name__ == "__main__":
    main()
