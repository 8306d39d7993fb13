"""`sisyphus config schema`: the table of settings as a JSON schema, for editors."""

from typing import Annotated, Any

import typer

from sisyphus.ground.settings import NOTHING, SCHEMA_KEY, SETTINGS, Setting
from sisyphus.terminal import show

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(
    in_project: Annotated[
        bool,
        typer.Option(
            "--in-project", help="For the project's .claude/sisyphus.toml instead of your file."
        ),
    ] = False,
) -> None:
    """Print a JSON schema of the settings, by which an editor checks your file.

    What the schema refuses, sisyphus ignores. Write it into a file beside your settings, and name
    it in their first line: `#:schema ./config.schema.json`.
    """
    show.as_json(describe(in_project))


def describe(in_project: bool) -> dict[str, Any]:
    """Returns the schema of a settings file, in draft 2020-12.

    in_project: of a project's, which has no setting that is the user's alone. One that a project
    may only lower is there with all its values: which of them are lower depends on the user's.
    JSON has no whole numbers of their own, so 8.0 passes for 8.
    """
    sections: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        if not in_project or setting.project != NOTHING:
            section, _, key = name.partition(".")
            sections.setdefault(section, {})[key] = _describe_setting(setting)
    whose = "a project's settings" if in_project else "your settings"
    return {
        "$schema": _DIALECT,
        "title": "sisyphus",
        "description": f"The file of {whose} of sisyphus.",
        **_table(
            {
                SCHEMA_KEY: {"type": "string", "description": "This schema; for editors."},
                **{section: _table(keys) for section, keys in sections.items()},
            }
        ),
    }


def _table(keys: dict[str, Any]) -> dict[str, Any]:
    """Describes a table of TOML that takes these keys and no other."""
    return {"type": "object", "properties": keys, "additionalProperties": False}


def _describe_setting(setting: Setting) -> dict[str, Any]:
    """Describes what `Setting.accepts` accepts."""
    values: dict[str, Any]
    if isinstance(setting.default, bool):
        values = {"type": "boolean"}
    elif isinstance(setting.default, int):
        values = {"type": "integer", "minimum": 0}
    elif isinstance(setting.default, list):
        values = {"type": "array", "items": {"type": "string"}}
    else:
        values = {"type": "string"}
    if setting.choices:
        values["enum"] = list(setting.choices)
    return {**values, "default": setting.default, "description": setting.help}
