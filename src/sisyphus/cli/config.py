"""`sisyphus config`: shows the settings and who sets them, and changes the user's."""

import os
import shlex
import subprocess
from typing import Annotated, Any

import typer

from sisyphus.ground import executables, paths, settings
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.masking import masked_line
from sisyphus.ground.record import Record
from sisyphus.ground.settings import ANYTHING, LOWER, NOTHING, SETTINGS, Setting
from sisyphus.ground.text import one_line
from sisyphus.terminal import completion, show

_PROJECT_MAY = {
    NOTHING: "A project cannot set it.",
    LOWER: "A project can turn it off.",
    ANYTHING: "A project can set it too.",
}
_OTHERS_WORDS = {
    "get": "sisyphus config KEY",
    "set": "sisyphus config KEY VALUE",
    "unset": "sisyphus config --unset KEY",
    "edit": "sisyphus config --edit",
    "list": "sisyphus config",
}
"""What git and others call it → how to do it here."""

_MOST_NEAR = 5
_LONGEST_VALUE = 60


class Target(Record, frozen=True):
    """The file that is changed. project: the folder that it belongs to; "" = it is the user's."""

    file: str
    project: str

    @property
    def name(self) -> str:
        return one_line(paths.display(self.file, self.project))


def config(
    key: Annotated[
        str,
        typer.Argument(
            metavar="[KEY]",
            help="A setting, as rules.enabled.",
            autocompletion=completion.setting_names,
        ),
    ] = "",
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VALUE...]",
            help="What to set it to. A list takes several.",
            autocompletion=completion.setting_values,
        ),
    ] = None,
    unset: Annotated[
        bool, typer.Option("--unset", help="Take KEY out of your file, back to its default.")
    ] = False,
    edit: Annotated[
        bool, typer.Option("--edit", "-e", help="Open your file in $VISUAL or $EDITOR.")
    ] = False,
    in_project: Annotated[
        bool,
        typer.Option(
            "--in-project", help="Change the project's .claude/sisyphus.toml instead of your file."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what each setting means, and its default.")
    ] = False,
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """Show the settings, or change one.

    Without KEY it lists all of them, those that are not at their default first, with who sets
    them. With KEY it prints the value alone. With KEY and VALUE it sets it for you, in all
    projects. A change counts at once, in running sessions too.
    """
    changes = bool(values) or unset or edit
    if unset and (values or not key):
        raise UsageError("--unset takes one KEY and no VALUE.")
    if edit and (key or unset):
        raise UsageError("--edit takes no KEY and no VALUE.")
    if in_project and not changes:
        raise UsageError("--in-project is for a VALUE, --unset or --edit.")
    if changes and (as_json or verbose):
        raise UsageError("--json and -v show settings. They change none.")
    if changes:
        show.need_user()
    place = show.place(project)
    if not changes:
        _show(place, [_known(key)] if key else list(SETTINGS), key, as_json, verbose)
        return
    target = _target(place, in_project)
    if edit:
        _edit(place, target)
    elif unset:
        _unset(place, target, key)
    else:
        _set(place, target, _known(key), values or [])


def _show(place: show.Place, names: list[str], key: str, as_json: bool, verbose: bool) -> None:
    setters = {name: _setter(place, name) for name in names}
    names = sorted(names, key=lambda name: (not setters[name], name))
    if as_json:
        rows = [_as_dict(place, name, setters[name]) for name in names]
        show.as_json(rows[0] if key else rows)
        return
    if key and not verbose:
        value = place.settings[key]
        typer.echo(show.plain("\n".join(value) if isinstance(value, list) else _shown(value)))
        return
    if not key:
        show.what_is_off(place)
    for name in names:
        by = f"  ({paths.display(setters[name], place.project)})" if setters[name] else ""
        value = masked_line(settings.toml(place.settings[name]), _LONGEST_VALUE)
        show.line(f"{name} = {value}{by}", "bold" if by else "")
        if verbose:
            _explain(SETTINGS[name])


def _explain(setting: Setting) -> None:
    show.line(setting.help, indent=4)
    default = settings.toml(setting.default)
    may = _PROJECT_MAY[setting.project]
    show.line(f"Takes {setting.accepted()}. Default: {default}. {may}", "dim", indent=4)


def _shown(value: Any) -> str:
    """Returns a value as a script wants it: a text is not quoted."""
    return value if isinstance(value, str) else settings.toml(value)


def _as_dict(place: show.Place, name: str, setter: str) -> dict[str, Any]:
    setting = SETTINGS[name]
    return {
        "name": name,
        "value": place.settings[name],
        "default": setting.default,
        "set_by": setter or None,
        "accepts": setting.accepted(),
        "project_may": {NOTHING: "nothing", LOWER: "turn it off", ANYTHING: "set it"}[
            setting.project
        ],
        "help": setting.help,
    }


def _setter(place: show.Place, name: str) -> str:
    return settings.who_set(place.store, place.our_home, place.project, os.environ, name)


def _known(key: str) -> str:
    """Returns the name of a setting. Raises `SisyphusError` with what comes near it."""
    if key in SETTINGS:
        return key
    if key in _OTHERS_WORDS:
        raise UsageError(f"There is no setting {key}. Say `{_OTHERS_WORDS[key]}`.")
    shown, word = one_line(key, _LONGEST_VALUE), key.lower().replace("-", "_")
    if "=" in key:
        name, _, value = shown.partition("=")
        raise UsageError(f"Write a blank in place of =: `sisyphus config {name} {value}`.")
    import difflib

    near = [name for name in SETTINGS if word in (name, *name.split("."))]
    near = near or difflib.get_close_matches(word, SETTINGS, _MOST_NEAR)
    if not near:
        last = {name.partition(".")[2]: name for name in SETTINGS}
        found = difflib.get_close_matches(word.rpartition(".")[2], last, _MOST_NEAR)
        near = [last[each] for each in found]
    means = f" Do you mean {' or '.join(near[:_MOST_NEAR])}?" if near else ""
    raise SisyphusError(f"There is no setting {shown}.{means} `sisyphus config` lists them all.")


def _target(place: show.Place, in_project: bool) -> Target:
    """Returns the file to change. Raises `SisyphusError` if there can be none."""
    if not in_project:
        if place.our_home.startswith(os.devnull):
            raise SisyphusError(
                f"There is no home folder for your settings: {paths.why_unused(place.our_home)}. "
                "Set HOME or CLAUDE_CONFIG_DIR and run the command again."
            )
        return Target(os.path.join(place.our_home, "config.toml"), "")
    if not paths.can_be_project(place.project):
        raise SisyphusError(
            f"{paths.display(place.project, '')} is no project. Run the command in one, or without "
            "--in-project to change your own settings."
        )
    return Target(os.path.join(place.project, settings.PROJECT_FILE), place.project)


def _set(place: show.Place, target: Target, name: str, words: list[str]) -> None:
    value = _parse(name, words)
    if target.project:
        _need_project_may(name, value)
    from sisyphus.cli import settings_file  # imported late: tomlkit costs 30 ms

    settings_file.write(target.file, name, value, target.project)
    shown = masked_line(settings.toml(value), _LONGEST_VALUE)
    show.line(f"Wrote {name} = {shown} into {target.name}.")
    _say_who_wins(place, name, value)


def _parse(name: str, words: list[str]) -> Any:
    """Returns the value that these words say, in the type of the setting."""
    setting = SETTINGS[name]
    if isinstance(setting.default, list):
        return words
    if len(words) > 1:
        raise UsageError(f"{name} takes one value. Quote it if there are blanks in it.")
    value = settings.convert(setting, words[0])
    if not setting.accepts(value):
        shown = settings.toml(one_line(words[0], _LONGEST_VALUE))
        raise UsageError(f"{name} must be {setting.accepted()}, not {shown}.")
    return value


def _need_project_may(name: str, value: Any) -> None:
    """Raises `SisyphusError` if a project's value would be ignored."""
    may = SETTINGS[name].project
    if may == NOTHING:
        raise SisyphusError(
            f"A project cannot set {name}: it is the user's alone. Leave out --in-project to set "
            "it for yourself, in all projects."
        )
    if may == LOWER and value > False:
        raise SisyphusError(
            f"A project can only turn {name} off. `sisyphus config {name} true` turns it on for "
            "you, and --unset --in-project takes out what the project says."
        )


def _say_who_wins(place: show.Place, name: str, value: Any) -> None:
    """Tells what is heeded in this project, if that is not the value."""
    values, _ = settings.load(place.store, place.our_home, place.project, os.environ)
    if values[name] != value:
        setter, root = _setter(place, name), place.project
        winner = masked_line(settings.toml(values[name]), _LONGEST_VALUE)
        where = " in this project" if setter.startswith(root + os.sep) else ""
        show.line(f"{paths.display(setter, root)} sets it to {winner}{where}, and wins.", "yellow")


def _unset(place: show.Place, target: Target, key: str) -> None:
    """Takes a setting out of the file; one that does not exist, too, if it is there."""
    from sisyphus.cli import settings_file

    if settings_file.remove(target.file, key, target.project):
        show.line(f"{one_line(key)} is no longer in {target.name}.")
    else:
        show.line(f"{_known(key)} is not in {target.name}, so nothing was changed.")
    if key in SETTINGS:
        values, _ = settings.load(place.store, place.our_home, place.project, os.environ)
        setter = _setter(place, key)
        by = f"by {paths.display(setter, place.project)}" if setter else "its default"
        show.line(f"It is {masked_line(settings.toml(values[key]), _LONGEST_VALUE)}, {by}.")


def _edit(place: show.Place, target: Target) -> None:
    """Opens the file in the user's editor; says what is wrong in it afterwards."""
    from sisyphus.cli import settings_file

    words = _editor(place.project)
    settings_file.make(target.file, target.project)
    try:
        code = subprocess.run([*words, target.file], check=False).returncode
    except OSError as error:
        raise SisyphusError(f"{words[0]} cannot be run: {error.strerror}.") from error
    _, problems = settings.load(place.store, place.our_home, place.project, os.environ)
    wrong = [each for each in problems if each.startswith(target.file)]
    for each in wrong:
        typer.echo(f"warning: {show.plain(each)}", err=True)
    if code:
        raise SisyphusError(f"{words[0]} has failed (exit code {code}).")
    if wrong:
        raise SisyphusError("What is wrong is ignored. Run `sisyphus config --edit` again.")


def _editor(project: str) -> list[str]:
    """Returns the words that start the user's editor. Raises `SisyphusError` if there is none."""
    for name in ("VISUAL", "EDITOR"):
        if command := os.environ.get(name, "").strip():
            try:
                return shlex.split(command)
            except ValueError as error:
                raise SisyphusError(f"{name} has a quote that is not closed.") from error
    if editor := executables.find("vi", [project]):
        return [editor]
    raise SisyphusError("There is no editor. Set VISUAL or EDITOR to yours, as EDITOR=nano.")
