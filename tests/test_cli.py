"""The command line: its table, and what it loads."""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
import sys
from importlib import import_module, metadata

import pytest
from world import SISYPHUS, World

from sisyphus.cli import groups
from sisyphus.cli.examples import EXAMPLES
from sisyphus.cli.table import AGENTS, TABLE, Row
from sisyphus.cli.version import version
from sisyphus.door.routes import SLASH_COMMANDS
from sisyphus.ralph import arguments

PLACES = {f"sisyphus.{row.place.partition(':')[0]}" for row in TABLE if row.place}
"""The modules that have commands."""


@pytest.mark.parametrize("row", [row for row in TABLE if row.place], ids=lambda row: row.words)
def test_the_table_says_what_the_docstring_of_the_command_says(row: Row) -> None:
    module, _, name = row.place.partition(":")
    docstring = inspect.getdoc(getattr(import_module(f"sisyphus.{module}"), name)) or ""

    assert row.help == " ".join(docstring.partition("\n\n")[0].split())


def test_a_group_stands_before_its_commands() -> None:
    seen = {""}
    for row in TABLE:
        assert row.words not in seen
        assert row.words.rpartition(" ")[0] in seen
        seen.add(row.words)


GROUPS_WITH_DEFAULT = {row.words.rpartition(" ")[0] for row in TABLE if row.is_default}
"""Groups whose help is that of a command in them."""

LOOP_COMMANDS = {"start-work": "boulder start", "cancel-ralph": "ralph cancel"}
"""Slash commands that hooks answer without the command line → the command that does the same."""

EXAMPLE_LINES = [(words, line) for words, each in EXAMPLES.items() for line in each.lines]
TYPED = [(words, each.slash) for words, each in EXAMPLES.items() if each.slash]


def typed_words(row: Row) -> str:
    return row.words.rpartition(" ")[0] if row.is_default else row.words


def test_every_command_for_people_has_an_example() -> None:
    theirs = {row.words for row in TABLE if row.panel != AGENTS}

    assert set(EXAMPLES) == theirs - GROUPS_WITH_DEFAULT
    assert all(each.lines for each in EXAMPLES.values())


@pytest.mark.parametrize(("words", "line"), EXAMPLE_LINES)
def test_a_command_takes_its_example(words: str, line: str) -> None:
    (row,) = [row for row in TABLE if row.words == words]
    group = typed_words(row)
    assert f"{line} ".startswith(f"{group} ")
    meant = row
    if not row.place:  # the example of a group is one of a command in it
        meant = max(
            (each for each in TABLE if f"{line} ".startswith(f"{each.words} ")),
            key=lambda each: len(each.words),
        )
        assert meant.place
    given = shlex.split(line.removeprefix(typed_words(meant)))

    groups.Command(meant).function.make_context(meant.name, given)


@pytest.mark.parametrize(("words", "typed"), TYPED)
def test_a_slash_command_of_an_example_does_what_its_command_does(words: str, typed: str) -> None:
    name, _, rest = typed.partition(" ")
    if name == "ralph-loop":
        assert words == "ralph start"
        assert arguments.parse(rest, by_model=False).options.promise == "DONE"
        return
    meant = f"{ {**SLASH_COMMANDS, **LOOP_COMMANDS}[name] } {rest} "

    assert meant.startswith(f"{words} ")
    row = max(
        (each for each in TABLE if each.place and meant.startswith(f"{each.words} ")),
        key=lambda each: len(each.words),
    )
    given = shlex.split(meant.removeprefix(row.words))
    groups.Command(row).function.make_context(row.name, given)


def test_help_ends_with_the_examples(world: World) -> None:
    for words, (lines, typed) in EXAMPLES.items():
        shown = [line.strip() for line in world.cli(*words.split(), "--help").out.splitlines()]
        end = list(filter(None, shown[shown.index("Examples:") + 1 :]))

        expected = [f"sisyphus {line}" for line in lines]
        if typed:
            expected += ["In a session:", f"/{typed}", f"/sisyphus:{typed}  (plugin)"]
            expected += [f"${typed}  (in Codex)"]
        assert end == expected, words


@pytest.mark.parametrize(
    ("words", "loads"),
    [
        (["--help"], set()),
        (["ralph", "--help"], set()),
        (["ralph", "lst"], set()),
        (["ralph", "list"], {"sisyphus.cli.loops", "sisyphus.ralph.commands"}),
        (["sessions"], {"sisyphus.cli.sessions"}),
    ],
)
def test_a_command_loads_no_other(world: World, words: list[str], loads: set[str]) -> None:
    assert PLACES & modules(*words) == loads


def test_a_shell_that_asks_for_commands_loads_none(world: World) -> None:
    world.setenv("_SISYPHUS_COMPLETE", "complete_zsh")
    world.setenv("_TYPER_COMPLETE_ARGS", "sisyphus ralph ")

    assert not PLACES & modules()


def modules(*words: str) -> set[str]:
    """The modules that are loaded when a command line has run."""
    code = "import sys; from sisyphus.cli.app import main; main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_the_version_is_that_of_the_package(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    its = metadata.version("sisyphus-hooks")
    assert version() == its
    assert world.cli("--version").out == f"{its}\n"
    assert subprocess.check_output([SISYPHUS, "--version"], text=True) == f"{its}\n"

    monkeypatch.setattr(os, "listdir", lambda place: [])  # as if it lay in a zip file
    assert version() == its


def test_a_version_that_cannot_be_printed_is_one_line_of_error(world: World) -> None:
    done = subprocess.run(
        f"exec '{SISYPHUS}' --version >/dev/full", shell=True, stderr=subprocess.PIPE, check=False
    )

    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"No space left on device" in done.stderr
