"""From where the client takes hooks: its settings files, and the plugins that they switch on."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from math import isfinite

from sisyphus.clients import claude_code, claude_code_setup
from sisyphus.doctor import types
from sisyphus.errors import UnreadableError
from sisyphus.install import json_text
from sisyphus.reading import read_bytes
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

USER, PROJECT, LOCAL, MANAGED, PLUGIN = "user", "project", "local", "managed", "plugin"

_FILE_BYTES = 5_000_000
_MOST_FILES = 100


@dataclass(frozen=True)
class Source:
    """A file with hooks. `kind`: whose it is; `error`: why the client cannot read it."""

    kind: str
    path: str
    values: Json = field(default_factory=dict)
    error: str = ""

    @property
    def is_of_project(self) -> bool:
        """Whether a stranger may have written it."""
        return self.kind in (PROJECT, LOCAL)

    @property
    def scope(self) -> str:
        """The option of `sisyphus install` for that file."""
        return f" --scope {self.kind}" if self.is_of_project else ""


@dataclass(frozen=True)
class Plugin:
    """A plugin that is switched on. `folder`: "" = it is not there; `version`: as it was noted."""

    name: str
    folder: str
    version: str
    source: Source


def settings_files(space: Workspace, managed: str) -> list[Source]:
    """Those that are there, the weakest first."""
    paths = claude_code.settings_paths(space.home, space.root, space.root)
    found = [(path, _kind(path, space)) for path in paths]
    found += [(path, MANAGED) for path in claude_code_setup.managed_paths(managed)]
    return [_read(path, kind) for path, kind in found if os.path.lexists(path)]


def plugins(space: Workspace, files: list[Source]) -> list[Plugin]:
    """The plugins that these settings switch on, one that is not installed included."""
    switched: dict[str, bool] = {}
    for one in files:
        switched.update(claude_code_setup.plugins(one.values))
    names = [name for name, is_on in switched.items() if is_on is True and "@" in name]
    folder = os.path.join(space.home, "plugins")
    rows = _object(
        _object(read_json(os.path.join(folder, "installed_plugins.json"))).get("plugins")
    )
    markets = _object(read_json(os.path.join(folder, "known_marketplaces.json")))
    return [_plugin(name, rows, markets, space.root) for name in names[:_MOST_FILES]]


def _kind(path: str, space: Workspace) -> str:
    if path == os.path.join(space.home, claude_code.SETTINGS):
        return USER
    return LOCAL if path.endswith(claude_code.LOCAL_SETTINGS) else PROJECT


def _read(path: str, kind: str) -> Source:
    """Reads as the client does: the last of two equal keys counts, an empty file is an object."""
    try:
        text = _decoded(read_bytes(path, _FILE_BYTES))
    except UnreadableError as error:
        return Source(kind, path, error=str(error).removeprefix(f"{path}: "))
    try:
        whole = text if text.strip() else "{}"
        value = json.loads(whole, parse_constant=_no_json, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        return Source(kind, path, error=_explained(text, error))
    if not isinstance(value, dict):
        return Source(kind, path, error="it holds no object")
    if kind != PLUGIN and (wrong := types.wrong(value)):
        return Source(kind, path, error=f"`{wrong}` is of a wrong type")
    return Source(kind, path, value)


def _decoded(data: bytes) -> str:
    """UTF-8, in which a wrong byte is no fault, or UTF-16 that says so."""
    if data.startswith(b"\xff\xfe"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _explained(text: str, error: Exception) -> str:
    """Line, column and what stands there."""
    try:
        json_text.parse(text)
    except json_text.JsonTextError as better:
        return str(better)
    return str(error)


def _finite(word: str) -> float:
    if not isfinite(value := float(word)):
        raise ValueError(f"{word} is too large")
    return value


def _no_json(word: str) -> object:
    raise ValueError(f"{word} is no JSON")


def _plugin(name: str, rows: Json, markets: Json, root: str) -> Plugin:
    row = _row_for(rows.get(name), root)
    folder = _read_from(name, markets) or _text(row.get("installPath"))
    return Plugin(name, folder, _text(row.get("version")), _hooks(folder))


def _row_for(rows: object, root: str) -> Json:
    """One of several installations: that of this project before the user's."""
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    here = [row for row in found if row.get("projectPath") == root]
    return [*here, *(row for row in found if not row.get("projectPath")), *found, {}][0]


def _read_from(name: str, markets: Json) -> str:
    """Of a marketplace that is a folder the client reads the plugin there, not its own copy."""
    plugin, _, market = name.rpartition("@")
    known = _object(markets.get(market))
    if _object(known.get("source")).get("source") != "directory":
        return ""
    folder = _text(known.get("installLocation"))
    if not os.path.isdir(folder):
        return folder  # and nothing of it is loaded
    offered = _object(read_json(os.path.join(folder, ".claude-plugin", "marketplace.json")))
    for one in offered.get("plugins") or []:
        if isinstance(one, dict) and one.get("name") == plugin:
            return os.path.normpath(os.path.join(folder, _text(one.get("source"))))
    return ""


def _hooks(folder: str) -> Source:
    """What a plugin wires: `hooks/hooks.json`, and what its manifest names or holds."""
    manifest_path = os.path.join(folder, ".claude-plugin", "plugin.json")
    named = (read_json(manifest_path) or {}).get("hooks")
    paths = [os.path.join(folder, "hooks", "hooks.json")]
    for one in named if isinstance(named, list) else [named]:
        if isinstance(one, str):
            paths.append(os.path.normpath(os.path.join(folder, one)))
        elif isinstance(one, dict):
            return Source(PLUGIN, manifest_path, {"hooks": one.get("hooks", one)})
    there = [path for path in dict.fromkeys(paths) if folder and os.path.isfile(path)]
    return _read(there[-1], PLUGIN) if there else Source(PLUGIN, manifest_path)


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
