"""Help that teaches: every command shows an example, and the example is one that works."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from typer.core import TyperGroup

from sisyphus.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.core import TyperCommand

    Found = tuple[tuple[str, ...], TyperCommand]

ROOT = typer.main.get_command(app)


def _commands(group: object, words: tuple[str, ...] = ()) -> Iterator[Found]:
    assert isinstance(group, TyperGroup)
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, (*words, name))
        elif not command.hidden:
            yield (*words, name), command  # type: ignore[misc]  # of typer's two kinds


def _groups(group: TyperGroup, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield (*words, name)
            yield from _groups(command, (*words, name))


COMMANDS = list(_commands(ROOT))
GROUPS = list(_groups(ROOT))  # type: ignore[arg-type]  # of typer's two kinds


def _examples(words: tuple[str, ...], command: TyperCommand) -> list[list[str]]:
    """What stands behind the command's name in each example of its help."""
    shown = f"{command.help}\n\n{command.epilog or ''}"
    start = " ".join(("sisyphus", *words))
    quoted = re.findall(r"^[^`\n]*`([^`]+)`[^`\n]*$", shown, re.MULTILINE)
    found = [re.search(rf"{start}(?![\w-])([^|;<>)]*)", text) for text in quoted]
    return [shlex.split(_unquoted(match[1])) for match in found if match]


def _unquoted(text: str) -> str:
    """Without the end of quotes that began before the command, as in a setting that holds one."""
    return text.rpartition('"')[0] if text.count('"') % 2 else text


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[" ".join(c[0]) for c in COMMANDS])
def test_every_command_has_an_example_that_it_understands(
    words: tuple[str, ...], command: TyperCommand
) -> None:
    examples = _examples(words, command)

    assert examples, "no line of the help holds an example, in backticks"
    for arguments in examples:
        command.make_context(words[-1], list(arguments))


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_every_group_shows_one_of_its_commands(words: tuple[str, ...]) -> None:
    group: Any = ROOT  # the class is typer's own
    for word in words:
        group = group.commands[word]

    found = re.fullmatch(rf"Example: `sisyphus {' '.join(words)} ([^`]+)`", group.epilog or "")

    assert found, group.epilog
    name, *arguments = shlex.split(found[1])
    group.commands[name].make_context(name, arguments)


def test_the_help_of_hook_has_an_example_that_is_named_so() -> None:
    (hook,) = [command for words, command in COMMANDS if words == ("hook",)]

    assert re.search(
        r"^Example: `.*\| sisyphus hook session-start`$", hook.help or "", re.MULTILINE
    )


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[" ".join(c[0]) for c in COMMANDS])
def test_every_option_and_argument_says_what_it_is(
    words: tuple[str, ...], command: TyperCommand
) -> None:
    silent = [one.name for one in command.params if not getattr(one, "help", "")]

    assert silent == [], words
