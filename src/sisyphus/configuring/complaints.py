"""What in the settings does not count, or is none."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from sisyphus import settings
from sisyphus.configuring import keys, sources, values
from sisyphus.settings import ENVIRONMENT, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.configuring.sources import Source

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
    users, project = sources.read_all(ours, root)
    found = [one for source in (users, project) for one in of_source(source, users)]
    return [*found, *_of_environment(users), *of_levels(ours, root)]


def of_source(source: Source, users: Source) -> list[Complaint]:
    if source.problem:
        hint = f"Mend it by `sisyphus config edit{_where(source)}`."
        return [Complaint(source.path, "", source.problem, hint)]
    return [*_of_top(source), *_of_values(source, users)]


def of_levels(ours: str, root: str) -> Iterator[Complaint]:
    """Levels of the context that begin above the next one."""
    path, found = settings.files(ours, root)[0][0], settings.load(ours, root)
    for lower, higher in (("1", "2"), ("2", "3")):
        key, other = LEVELS + lower, LEVELS + higher
        if found.get(key) > found.get(other):
            text = f"{found.get(key)} is above {other}, so {found.get(other)} counts"
            yield Complaint(path, key, text, f"Set a lower one, or a higher {other}.")


def objection(key: str, value: object, users: Source, owner: str) -> str:
    """Why a known key's value in a file does not count, "" where it does."""
    why = settings.refusal(key, value, users.value(key), owner)
    return values.objection(SETTINGS[key], value) if why == settings.WRONG_KIND else why


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


def _of_values(source: Source, users: Source) -> Iterator[Complaint]:
    for key, value in source.values():
        if key in SETTINGS:
            if why := objection(key, value, users, source.origin):
                yield Complaint(source.path, key, why, _remedy(source, key, value))
        elif key.partition(".")[0] in keys.sections():
            shown = keys.shown(key)
            hint = keys.question(key).strip() or _instead(source, shown)
            yield Complaint(source.path, shown, "there is no such setting", hint)


def _of_environment(users: Source) -> Iterator[Complaint]:
    for key in settings.from_environment(os.environ):
        if why := objection_to_variable(key, users):
            name = settings.variable(key)
            yield Complaint(ENVIRONMENT, key, f"{name}: {why}", _instead_of_variable(key))
    for name in keys.unknown_variables(os.environ):
        found = keys.meant_variable(name)
        hint = f"Did you mean {found}?" if found else "Unset it."
        yield Complaint(ENVIRONMENT, "", f"{keys.shown(name)}: there is no such setting", hint)


def objection_to_variable(key: str, users: Source) -> str:
    """Why what the variable spells does not count, "" where it may."""
    value = settings.from_environment(os.environ)[key]
    why = settings.refusal(key, value, users.value(key), ENVIRONMENT)
    if why != settings.WRONG_KIND:
        return why
    return f"{keys.shown(os.environ[settings.variable(key)])!r} is not {values.kind(SETTINGS[key])}"


def _instead_of_variable(key: str) -> str:
    value = settings.from_environment(os.environ)[key]
    if SETTINGS[key].others and not SETTINGS[key].accepts(value):
        return f"Set it to {values.kind(SETTINGS[key])}, or unset it."
    return f"Unset it, and set it for yourself: `sisyphus config set {key} VALUE`."


def _remedy(source: Source, key: str, value: object) -> str:
    setting = SETTINGS[key]
    if source.inside and (not setting.others or setting.accepts(value)):
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
