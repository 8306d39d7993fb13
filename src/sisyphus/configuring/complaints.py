"""What in the settings does not count, or is none."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from sisyphus import settings
from sisyphus.configuring import keys, sources, values
from sisyphus.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.configuring.sources import Source

ENVIRONMENT = "environment"

LEVELS = "checkpoint.l"
"""How the keys of the three levels begin."""


class Complaint(NamedTuple):
    """`path`: the file, or "environment"; `key`: "section.key", a section, or "" = the whole file;
    `hint`: what to do, a sentence."""

    path: str
    key: str
    text: str
    hint: str

    def as_json(self) -> Json:
        return dict(self._asdict())


def complaints(ours: str, root: str) -> list[Complaint]:
    """Of the user's file, the project's at `root`, and the environment."""
    found = [one for source in sources.read_all(ours, root) for one in of_source(source)]
    return [*found, *_of_environment(), *of_levels(ours, root)]


def of_source(source: Source) -> list[Complaint]:
    if source.problem:
        hint = f"Mend it by `sisyphus config edit{_where(source)}`."
        return [Complaint(source.path, "", source.problem, hint)]
    return [*_of_top(source), *_of_values(source)]


def of_levels(ours: str, root: str) -> Iterator[Complaint]:
    """Levels of the context that begin above the next one."""
    path, found = settings.files(ours, root)[0][0], settings.load(ours, root)
    for lower, higher in (("1", "2"), ("2", "3")):
        key, other = LEVELS + lower, LEVELS + higher
        if found.get(key) > found.get(other):
            text = f"{found.get(key)} is above {other}, so {found.get(other)} counts"
            yield Complaint(path, key, text, f"Set a lower one, or a higher {other}.")


def objection(source: Source, key: str, value: object) -> str:
    """Why a known key's value in the file does not count, "" where it does."""
    if source.inside and not SETTINGS[key].from_project:
        return "a project's file may not set it"
    return values.objection(SETTINGS[key], value)


def _of_top(source: Source) -> Iterator[Complaint]:
    for name, value in source.table.items():
        if isinstance(value, dict) and name in keys.sections():
            continue
        shown = keys.shown(name)
        if isinstance(value, dict):
            found = keys.meant_section(name)
            hint = f"Did you mean [{found}]?" if found else _instead(source, shown)
            yield Complaint(source.path, shown, f"[{shown}] is no section of settings", hint)
        elif name in keys.sections():
            hint = f"Write [{name}] on a line of its own, and its settings below."
            yield Complaint(source.path, name, f"{name} is a section, and no setting", hint)
        else:
            hint = keys.question(name).strip() or _instead(source, shown)
            yield Complaint(source.path, shown, f"{shown} stands below no section", hint)


def _of_values(source: Source) -> Iterator[Complaint]:
    for key, value in source.values():
        if key in SETTINGS:
            if why := objection(source, key, value):
                yield Complaint(source.path, key, why, _remedy(source, key))
        elif key.partition(".")[0] in keys.sections():
            shown = keys.shown(key)
            hint = keys.question(key).strip() or _instead(source, shown)
            yield Complaint(source.path, shown, "there is no such setting", hint)


def _of_environment() -> Iterator[Complaint]:
    for key, setting in SETTINGS.items():
        name = settings.variable(key)
        if name in os.environ and (why := objection_to_variable(key)):
            takes = "Unset it." if not setting.from_environment else _instead_of_variable(key)
            yield Complaint(ENVIRONMENT, key, f"{name}: {why}", takes)
    for name in keys.unknown_variables(os.environ):
        found = keys.meant_variable(name)
        hint = f"Did you mean {found}?" if found else "Unset it."
        yield Complaint(ENVIRONMENT, "", f"{keys.shown(name)}: there is no such setting", hint)


def objection_to_variable(key: str) -> str:
    """Why what the variable spells does not count, "" where it may."""
    setting = SETTINGS[key]
    if not setting.from_environment:
        return "no variable may set it"
    if setting.accepts(settings.from_environment(key)):
        return ""
    return f"{keys.shown(os.environ[settings.variable(key)])!r} is not {values.kind(setting)}"


def _instead_of_variable(key: str) -> str:
    return f"Set it to {values.kind(SETTINGS[key])}, or unset it."


def _remedy(source: Source, key: str) -> str:
    setting = SETTINGS[key]
    if source.inside and not setting.from_project:
        return f"Set it for yourself: `sisyphus config set {key} VALUE`."
    return f"For example: `{setting_command(key)}{_where(source)}`"


def setting_command(key: str) -> str:
    """`sisyphus config set rules.enabled false`, with the key's example."""
    value = values.example(SETTINGS[key])
    words = value if isinstance(value, list) else [value]
    spelled = [values.spelled(w) if isinstance(w, str) and " " in w else _bare(w) for w in words]
    return " ".join(["sisyphus config set", key, *spelled])


def _bare(value: object) -> str:
    return value if isinstance(value, str) else values.spelled(value)


def _instead(source: Source, key: str) -> str:
    return f"`sisyphus config unset {shlex.quote(key)}{_where(source)}` takes it out."


def _where(source: Source) -> str:
    return " --project DIR" if source.inside else ""
