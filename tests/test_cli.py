"""The command line: its table, and what it loads."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module, metadata

import pytest
from world import SISYPHUS, World

from sisyphus.cli.table import TABLE, Row
from sisyphus.cli.version import version

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
