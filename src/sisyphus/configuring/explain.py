"""What a setting is, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.configuring import keys, trace, values
from sisyphus.configuring.complaints import setting_command
from sisyphus.errors import SisyphusError
from sisyphus.paths import display
from sisyphus.settings import ANY, SETTINGS, variable
from sisyphus.text import harmless

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.configuring.trace import Traced


def chosen(name: str) -> list[str]:
    """The keys that `name` stands for: one, a section's, with "" all.

    Raises `SisyphusError`, with the one that was meant, where there is none.
    """
    if not name:
        return list(SETTINGS)
    found = keys.of_section(name) or [key for key in SETTINGS if key == name]
    if not found:
        raise unknown(name)
    return found


def unknown(name: str) -> SisyphusError:
    if name in keys.sections():
        return SisyphusError(
            f"{name} is a section, and no setting. `sisyphus config explain {name}` lists its "
            "settings."
        )
    section = "" if "." in name else keys.meant_section(name)
    question = f"Did you mean {section}? " if section else keys.question(name)
    return SisyphusError(
        f"no such setting: {keys.shown(name)!r}. {question}"
        "`sisyphus config explain` lists them all."
    )


def explain(ours: str, root: str, key: str) -> Json:
    setting = SETTINGS[key]
    return {
        **trace.trace(ours, root, key).as_json(),
        "meaning": setting.doc,
        "takes": values.kind(setting),
        "example": values.example(setting),
        "command": setting_command(key),
        "variable": variable(key) if setting.others else None,
        "set_by": who(key),
    }


def text(row: Json, root: str) -> str:
    """The lines below the key, for the project at `root`."""
    setting = SETTINGS[row["key"]]
    shown = {
        "takes": row["takes"],
        "default": values.spelled(row["default"]),
        "now": f"{values.spelled(row['value'])} ({display(row['where'], root) or row['origin']})",
        "example": row["command"],
        "variable": row["variable"] or "none",
        "set by": row["set_by"],
    }
    lines = [setting.doc, "", *(f"{name + ':':<10}{value}" for name, value in shown.items())]
    return harmless("\n".join([*lines, *passed_lines(row, root)]))


def who(key: str) -> str:
    """Who may set it."""
    setting = SETTINGS[key]
    if not setting.others:
        return "you alone"
    if setting.others == ANY:
        return "you, a project, a variable"
    act = "switch it off" if setting.default is True else "lower it"
    return f"you; a project or a variable may {act}"


def passed_lines(row: Json, root: str) -> list[str]:
    told = [
        (values.spelled(one["value"]), display(one["where"], root), one["why"])
        for one in row["passed_over"]
    ]
    return [f"passed over: {value} in {where}: {why}" for value, where, why in told]


def line(traced: Traced) -> str:
    """`stale_days = 30`, as it would stand in a file."""
    name = traced.key.partition(".")[2]
    return harmless(f"{name} = {values.spelled(traced.value)}")
