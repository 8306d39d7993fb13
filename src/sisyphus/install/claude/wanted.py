"""What belongs into a settings file: as it is shipped, calling the script that it should."""

from __future__ import annotations

import json
import os
import shlex

from sisyphus import __version__, shipped
from sisyphus.clients.claude_code_setup import HOOKS, STATUSLINE
from sisyphus.install import commands, marks, wiring, wish
from sisyphus.install.claude import edits, versions
from sisyphus.install.claude import place as where
from sisyphus.install.claude.edits import Wanted
from sisyphus.install.place import USER
from sisyphus.reading import DOCUMENT_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sisyphus._types import Json
    from sisyphus.install.claude.versions import Version
    from sisyphus.install.place import Place


def settings(
    place: Place,
    values: Json,
    parts: Collection[str],
    called: str,
    patterns: list[str],
    version: Version | None,
) -> Wanted:
    """`values`: what is set there; `patterns`: the excludes that are ours, or would be; `version`:
    the client's."""
    line = values.get(STATUSLINE)
    is_free = line is None or edits.is_ours(line)
    return Wanted(
        hooks(called, place.scope, version) if wish.HOOKS in parts else None,
        statusline(called, line) if is_free and wish.STATUSLINE in parts else None,
        tuple(dict.fromkeys(patterns)) if wish.EXCLUDES in parts else (),
    )


def hooks(called: str, scope: str, version: Version | None) -> Json:
    """Event -> groups, in the client's words; `called` is the script. Where the user's settings
    call us as well, those of a project are to stay silent: they say whose they are."""
    whose = "" if scope == USER else f" --scope {scope}"
    path = os.path.join(shipped.plugin_folder(), "hooks.json")
    found = versions.hooks_for(version, json.loads(read_text(path, DOCUMENT_BYTES)))
    for wired in wiring.entries(found):
        event = wiring.called_event(wired.command)
        wired.fields["command"] = f"{shlex.quote(called)} hook {event}{whose}"
    events: Json = found[HOOKS]
    return events


def statusline(called: str, there: object) -> Json:
    """`there`: what is set, of which other fields than the command stay where it is ours."""
    kept = there if isinstance(there, dict) else {}
    return {**kept, "type": "command", "command": f"{shlex.quote(called)} statusline"}


def command_files(place: Place) -> dict[str, bytes]:
    """Path -> content of every slash command."""
    folder = where.commands(place)
    return {
        os.path.join(folder, f"{name}.md"): marks.marked(text, __version__)
        for name, text in commands.for_claude().items()
    }
