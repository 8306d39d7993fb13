from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from sisyphus.cli import complete, config_show
from sisyphus.cli.output import AsJson, print_json, say, workspace
from sisyphus.cli.users_own import refuse_model
from sisyphus.configuring import change, complaints, edit, explain, sources, trace, values
from sisyphus.errors import SisyphusError
from sisyphus.paths import display
from sisyphus.settings import PROJECT, SETTINGS, files
from sisyphus.text import harmless

if TYPE_CHECKING:
    from sisyphus.workspace import Workspace

_WHOSE = "settings are the user's"

app = typer.Typer(
    help="Settings: what is in force, and why.",
    epilog="Example: `sisyphus config show --changed`",
    no_args_is_help=True,
)
app.command(epilog="Example: `sisyphus config show --changed`")(config_show.show)
app.command(epilog="Example: `sisyphus config path --json`")(config_show.path)
app.command("explain", epilog="Example: `sisyphus config explain ralph.no_progress`")(
    config_show.explain_key
)

Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY",
        help="A setting, such as rules.enabled.",
        show_default=False,
        autocompletion=complete.settings,
    ),
]
OfProject = Annotated[
    str,
    typer.Option(
        "--project", metavar="DIR", help="In that project's file.", show_default="in your own"
    ),
]


_BEHIND = "sisyphus.behind"


class _Set(TyperCommand):
    """Counts the words behind `--`, which are values whatever they look like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        behind = args[args.index("--") + 1 :] if "--" in args else []
        ctx.meta[_BEHIND] = len(behind)
        return super().parse_args(ctx, args)


def _values(ctx: typer.Context, words: list[str]) -> list[str]:
    for word in words[: max(0, len(words) - ctx.meta.get(_BEHIND, 0))]:
        if word.startswith("-") and not word[1:2].isdigit():
            raise typer.BadParameter(f"no such option: {word}")
    return words


@app.command("edit", epilog="Example: `sisyphus config edit`")
def edit_file(project: OfProject = "") -> None:
    """Open the settings file in your editor (VISUAL, else EDITOR), and look it over afterwards.

    Exits 1 if something in it does not count.
    """
    refuse_model(_WHOSE)
    space, (name, inside) = _file(project)
    edit.edit(space.ours, sources.read(name, inside))
    users = sources.read_all(space.ours, space.root)[0]
    found = complaints.of_source(sources.read(name, inside), users)
    config_show.print_problems(found, space.root)
    if found:
        raise typer.Exit(1)


@app.command(
    "set",
    cls=_Set,
    epilog="Example: `sisyphus config set boulder.stale_days 30`",
    context_settings={"ignore_unknown_options": True},  # so that -3 is a value
)
def set_value(
    key: Key,
    value: Annotated[
        list[str],
        typer.Argument(
            metavar="VALUE",
            help="Its value; of a list, each, or all with commas between them.",
            show_default=False,
            callback=_values,
        ),
    ],
    project: OfProject = "",
    as_json: AsJson = False,
) -> None:
    """Set a value in your settings file, or in a project's."""
    refuse_model(_WHOSE)
    if key not in SETTINGS:
        raise explain.unknown(key)
    space, (name, inside) = _file(project)
    if inside and not SETTINGS[key].others:
        raise SisyphusError(
            f"{key} cannot be set by a project. Set it for yourself, without --project."
        )
    try:
        typed = values.typed(SETTINGS[key], value)
    except ValueError as error:
        command = complaints.setting_command(key)
        raise SisyphusError(f"{key}: {error}. For example: `{command}`") from error
    if inside:
        _refuse_raise(space, key, typed)
    change.set_value(space.ours, name, inside, key, typed)
    _tell(space, key, name, as_json)


@app.command(epilog="Example: `sisyphus config unset boulder.stale_days`")
def unset(key: Key, project: OfProject = "", as_json: AsJson = False) -> None:
    """Take a setting out of your settings file, or of a project's; also one that does not exist."""
    refuse_model(_WHOSE)
    space, (name, inside) = _file(project)
    if not change.unset(space.ours, name, inside, key):
        where = " `sisyphus config show` says where it comes from." if key in SETTINGS else ""
        raise SisyphusError(f"{harmless(key)} is not set in {display(name, space.root)}.{where}")
    if key in SETTINGS:
        _tell(space, key, name, as_json)
    elif as_json:
        print_json({"key": key})
    else:
        say(harmless(f"{key} was taken out of {display(name, space.root)}."))


def _file(project: str) -> tuple[Workspace, tuple[str, str]]:
    """The settings file that is meant, and the folder that it must not leave."""
    space = workspace(project)
    return space, files(space.ours, space.root)[1 if project else 0]


def _refuse_raise(space: Workspace, key: str, value: Any) -> None:
    users = sources.read_all(space.ours, space.root)[0]
    if why := complaints.objection(key, value, users, PROJECT):
        text = f"{key}: {why}; yours is {values.spelled(users.value(key))}"
        raise SisyphusError(f"{text}. Set it for yourself, without --project.")


def _tell(space: Workspace, key: str, name: str, as_json: bool) -> None:
    found = trace.trace(space.ours, space.root, key)
    for one in complaints.of_levels(space.ours, space.root):
        if key.startswith(complaints.LEVELS):
            typer.echo(f"note: {one.key}: {one.text}. {one.hint}", err=True)
    if as_json:
        print_json(found.as_json())
        return
    where = config_show.origin(found, space.root)
    say(harmless(f"{key} = {values.spelled(found.value)} ({where})"))
    if found.origin != trace.DEFAULT and found.where != name:
        weaker = display(name, space.root)
        typer.echo(harmless(f"note: {where} is stronger than {weaker}"), err=True)
