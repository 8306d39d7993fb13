"""Makes typer's commands of the rows of the table."""

import inspect
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from sisyphus.cli import suggestions
from sisyphus.cli.table import Row, within


def commands(group: str) -> dict[str, Any]:
    """Returns the commands of a group by their names; "" = those that are in none."""
    return {row.name: Command(row) if row.place else _group(row) for row in within(group)}


class _CommandWithExamples(TyperCommand):
    """A command whose help ends with examples. They are loaded when somebody asks for it."""

    row: Row

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.epilog = _epilog(self.row)
        super().format_help(ctx, formatter)


class Command(TyperCommand):
    """A command as help and completion list it. Whoever calls it, or asks what it takes, gets the
    function, whose module is imported then."""

    def __init__(self, row: Row) -> None:
        self.row = row
        super().__init__(
            row.name, help=row.help, rich_help_panel=row.panel or None, hidden=row.is_default
        )

    @cached_property
    def function(self) -> Any:
        """The function as typer runs it."""
        module, _, name = self.row.place.partition(":")
        function = getattr(import_module(f"sisyphus.{module}"), name)
        alone = typer.Typer(add_completion=False)
        alone.command(self.name, cls=_CommandWithExamples, help=_help(function))(function)
        made: Any = get_command(alone)
        made.row = self.row
        return made

    @property
    def params(self) -> Any:
        return self.function.params

    @params.setter
    def params(self, nothing: Any) -> None:
        """typer sets an empty list when it makes the command; ours come from the function."""

    def make_context(
        self, info_name: Any, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        if self.row.is_default:  # its help and its errors say the name of the group
            info_name, parent = parent.info_name, parent.parent
        return self.function.make_context(info_name, args, parent, **extra)


class SuggestingGroup(TyperGroup):
    """Commands that are known by other words, too: an error says which one is meant."""

    words = ""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self.suggest_commands = False  # typer's name those that agents call
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:  # a usage error, with a message by typer
            suggestions.suggest(error, self.words, args[0])
            raise


class Group(SuggestingGroup):
    """A group of commands. One that has a default takes a word that is no command for the first
    word of the default's: `rules FILE` as well as `rules lint`."""

    row: Row

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.epilog = _epilog(self.row)
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        default = next((name for name, each in self.commands.items() if _is_default(each)), "")
        if default and not (args and args[0] in self.commands):
            args = [default, *args]
        return super().parse_args(ctx, args)


def _is_default(command: Any) -> bool:
    return isinstance(command, Command) and command.row.is_default


def _group(row: Row) -> Group:
    group = Group(
        name=row.name,
        help=row.help,
        rich_help_panel=row.panel or None,
        no_args_is_help=True,
        commands=commands(row.words),
    )
    group.row, group.words = row, row.words
    return group


def _epilog(row: Row) -> str:
    from sisyphus.cli import examples

    text = "\n\n".join(filter(None, (row.epilog, examples.epilog(row.words))))
    return f"\n{text}"  # typer takes the margin of all lines but the first away


def _help(function: Any) -> str:
    """Returns a docstring with each paragraph on one line: typer wraps it to the terminal, but
    keeps our line breaks."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)
