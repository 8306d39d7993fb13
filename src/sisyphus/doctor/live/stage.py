"""A folder in the place of the client's own, and an environment that leads to our model alone.

Of the user's settings only what decides whether our hooks run is taken: our entries, the plugin,
what switches hooks off. Everything else stays behind, for in it may stand where requests go
(`env`, `apiKeyHelper`), what costs money, and the hooks of others.
"""

from __future__ import annotations

import json
import os

from sisyphus.clients.claude_code import LOCAL_SETTINGS, SETTINGS
from sisyphus.doctor.live.model import HOST
from sisyphus.doctor.sources import LOCAL, PROJECT, USER
from sisyphus.doctor.switches import OF_CLIENT
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeGuard

    from sisyphus._types import Json
    from sisyphus.doctor.case import Case
    from sisyphus.doctor.sources import Source
    from sisyphus.programs import Programs

PLUGIN_NAME = "sisyphus"
PROMPT = "Read note.txt."
TOKEN = "what-sisyphus-says-reaches-the-model"  # noqa: S105  # nobody's secret
"""Stands in the project's README.md, which SessionStart sends."""

PLACES = {
    USER: f"home/{SETTINGS}",
    PROJECT: f"project/.claude/{SETTINGS}",
    LOCAL: f"project/.claude/{LOCAL_SETTINGS}",
}
"""A settings file's kind -> the place of its copy."""

_KEY = "sk-ant-of-no-account"

_KEPT = {
    *OF_CLIENT, "HOME", "LANG", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "PATHEXT", "SHELL",
    "SISYPHUS_DISABLE", "SYSTEMROOT", "TZ", "USER", "USERPROFILE", "VIRTUAL_ENV",
}  # fmt: skip
_KEPT_FAMILIES = ("ASDF_", "LC_", "MISE_", "NIX_", "PYENV_", "PYTHON")
"""Of the environment: what finds programs and Python. Nothing that names a host or an account."""

_FIELDS = {"async", "asyncRewake", "command", "if", "once", "shell", "timeout", "type"}
"""Of an entry."""

_SETTINGS_ENV = {*OF_CLIENT, "PATH", "SISYPHUS_DISABLE"}
"""Of the `env` of the user's settings."""


class Stage:
    """`root` is a new folder, without links in its path: `home` in it for the client's, `project`
    to work in. `programs`: what may be started there."""

    def __init__(self, root: str, programs: Programs) -> None:
        self.root = root
        self._programs = programs
        self.home = os.path.join(root, "home")
        self.project = os.path.join(root, "project")
        self.note = os.path.join(self.project, "note.txt")

    def set_up(self, case: Case, dropped: Iterable[str] = ()) -> None:
        """`dropped`: the settings files that the client does not accept. Raises `OSError`."""
        self.make_folders()
        self._write(self.note, "Nothing.\n")
        self._write(os.path.join(self.project, "README.md"), f"{TOKEN}\n")
        self.write_json(os.path.join(self.home, ".claude.json"), self._answers())
        for one in case.settings:
            if one.kind in PLACES and not one.error and one.path not in dropped:
                self.write_json(self.place(one), settings(one, case))
        self._copy_plugin_rows(case.space.home)

    def make_folders(self) -> None:
        for path in ("home/plugins", "project/.claude", "tmp"):
            os.makedirs(os.path.join(self.root, path))

    def place(self, source: Source) -> str:
        """Where the copy of a settings file stands."""
        return os.path.join(self.root, PLACES[source.kind])

    def write_json(self, path: str, value: Json) -> None:
        self._write(path, json.dumps(value))

    def environment(self, url: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k in _KEPT or k.startswith(_KEPT_FAMILIES)}
        temporary = os.path.join(self.root, "tmp")
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), url)
        return {
            **kept,
            "PATH": self._programs.path,
            **proxies,
            "GIT_ALLOW_PROTOCOL": "file",  # a marketplace is not asked for news
            "NO_PROXY": HOST,
            "no_proxy": HOST,
            "TMPDIR": temporary,
            "CLAUDE_CODE_TMPDIR": temporary,
            "CLAUDE_CONFIG_DIR": self.home,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }

    def _answers(self) -> Json:
        """To what the client asks in a new home."""
        return {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {self.project: {"hasTrustDialogAccepted": True}},
        }

    def _copy_plugin_rows(self, home: str) -> None:
        """Where the client finds the plugin. Its files stay where they are."""
        there, here = os.path.join(home, "plugins"), os.path.join(self.home, "plugins")
        known = read_json(os.path.join(there, "known_marketplaces.json")) or {}
        installed = (read_json(os.path.join(there, "installed_plugins.json")) or {}).get("plugins")
        known = {name: row for name, row in known.items() if self._is_taken(row)}
        rows = {name: self._here(found) for name, found in _ours(installed).items()}
        markets = {name.partition("@")[2] for name in rows}
        self.write_json(
            os.path.join(here, "known_marketplaces.json"),
            {name: row for name, row in known.items() if name in markets},
        )
        told = {"version": 2, "plugins": rows}
        self.write_json(os.path.join(here, "installed_plugins.json"), told)

    def _here(self, rows: object) -> list[Json]:
        """One that is installed for a project is so for ours."""
        found = [row for row in rows if self._is_taken(row)] if isinstance(rows, list) else []
        moved = {"projectPath": self.project}
        return [{**row, **moved} if "projectPath" in row else row for row in found]

    def _is_taken(self, row: object) -> TypeGuard[Json]:
        """Whether a row names no folder that lies in the user's project: what is there a stranger
        may have written."""
        if not isinstance(row, dict):
            return False
        source = row.get("source")
        folder = source.get("path") if isinstance(source, dict) else None
        named = (row.get("installLocation"), row.get("installPath"), folder)
        told = [path for path in named if path is not None]
        return not any(
            not isinstance(path, str) or self._programs.is_strangers(path) for path in told
        )

    def _write(self, path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)


def settings(source: Source, case: Case) -> Json:
    """What of a settings file decides whether our hooks run."""
    kept = {name: source.values[name] for name in ("disableAllHooks",) if name in source.values}
    plugins = _ours(source.values.get("enabledPlugins"))
    told: Json = {**kept, "hooks": _hooks(source, case), "enabledPlugins": plugins}
    env = source.values.get("env")
    if source.kind == USER and isinstance(env, dict):
        told["env"] = {name: env[name] for name in _SETTINGS_ENV & env.keys()}
        if isinstance(path := env.get("PATH"), str):
            told["env"]["PATH"] = case.programs.without_strangers(path)
    return told


def _hooks(source: Source, case: Case) -> Json:
    """Our entries; of a project's file those alone whose program may be started."""
    hooks: dict[str, list[Json]] = {}
    for one in case.trusted:
        if one.source is source and _is_command(one.wired.fields):
            entry = {name: one.wired.fields[name] for name in _FIELDS & one.wired.fields.keys()}
            entry["command"] = case.command(one)
            group: Json = {"matcher": one.wired.matcher, "hooks": [entry]}
            hooks.setdefault(one.wired.event, []).append(group)
    return hooks


def _is_command(fields: Json) -> bool:
    """Another type asks a host or a model, whatever its `command` is; with `args` that is another
    program."""
    return fields.get("type") == "command" and "args" not in fields


def _ours(value: object) -> Json:
    """The rows of our plugin, from whichever marketplace."""
    rows = value if isinstance(value, dict) else {}
    return {name: row for name, row in rows.items() if name.partition("@")[0] == PLUGIN_NAME}
