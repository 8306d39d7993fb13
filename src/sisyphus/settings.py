"""Every knob with its default and meaning; files and environment on top of them.

The later the stronger: default, `HOME/.sisyphus/config.toml`, `PROJECT/.claude/sisyphus.toml`,
`SISYPHUS_SECTION_KEY` in the environment. A project's file is a stranger's: it cannot set what
runs a command, names a path or raises a limit.
"""

from __future__ import annotations

import json
import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import read_text
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sisyphus._types import Json
    from sisyphus.memory import Memory

PROJECT_FILE = os.path.join(".claude", "sisyphus.toml")
CONFIG_BYTES = 200_000
_INTEGERS = 2**63  # what TOML promises


class Setting:
    """One knob. `from_project`: whether a project's own file may turn it; `from_environment`:
    whether a variable may, which the client's settings in a project can set for its hooks.
    `least`, `most`: bounds of a number, both allowed; `has_fractions`: it need not be a whole one.
    `is_limit`: 0 = none, and a variable may only lower it. `choices`: the texts that there are.
    A list is one of texts. `example`: a value for the manual; a switch needs none."""

    __slots__ = (
        "choices", "default", "doc", "example", "from_environment", "from_project",
        "has_fractions", "is_limit", "least", "most",
    )  # fmt: skip

    def __init__(  # one a trait
        self,
        default: Any,
        doc: str,
        *,
        example: Any = None,
        from_project: bool = True,
        from_environment: bool = True,
        least: int = 0,
        most: int = _INTEGERS - 1,
        has_fractions: bool = False,
        is_limit: bool = False,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.default = default
        self.doc = doc
        self.example = example
        self.from_environment = from_environment
        self.from_project = from_project
        self.least = least
        self.most = most
        self.has_fractions = has_fractions
        self.is_limit = is_limit
        self.choices = choices

    def accepts(self, value: Any) -> bool:
        if isinstance(value, list):
            return self.has_type_of(value) and all(isinstance(item, str) for item in value)
        if not self.has_type_of(value) or (self.choices and value not in self.choices):
            return False
        return isinstance(value, (bool, str)) or self.least <= value <= self.most

    def has_type_of(self, value: object) -> bool:
        if isinstance(value, float):
            return self.has_fractions
        return type(value) is type(self.default)


SETTINGS = {
    "boulder.enabled": Setting(True, "Follow plan files."),
    "boulder.stale_days": Setting(
        14,
        "After so many days untouched a plan is not resumed silently.",
        from_project=False,
        example=30,
    ),
    "ralph.enabled": Setting(True, "Keep ralph loops going until their promise is kept."),
    "ralph.background_wait": Setting(
        10,
        "Minutes for which a pending background task excuses a Stop.",
        from_project=False,
        example=30,
    ),
    "ralph.no_progress": Setting(
        5,
        "Iterations without progress that pause a loop; 0 = never.",
        from_project=False,
        example=10,
    ),
    "ralph.same_error": Setting(
        5,
        "Iterations with the same error that pause a loop; 0 = never.",
        from_project=False,
        example=3,
    ),
    "ralph.breaker_minutes": Setting(
        30,
        "Minutes after which a paused loop that got nowhere has another try.",
        from_project=False,
        example=60,
    ),
    "ralph.verify_seconds": Setting(
        300,
        "Seconds that a `--verify` command may take, at most 600.",
        from_project=False,
        example=600,
        least=1,
        most=600,
    ),
    "ralph.retry_seconds": Setting(
        300,
        "Seconds to wait for a limit without a known end, doubled each time.",
        from_project=False,
        example=60,
        least=1,
    ),
    "ralph.stale_hours": Setting(
        4,
        "Hours of silence after which a loop without its client is stale.",
        from_project=False,
        example=12,
    ),
    "ralph.transcripts": Setting(True, "Keep what is said in each iteration of a loop."),
    "checkpoint.enabled": Setting(True, "Watch how full the model's context is."),
    "checkpoint.l1": Setting(
        70,
        "Percent of the context at which the model is warned.",
        from_project=False,
        example=60,
        least=1,
        most=100,
    ),
    "checkpoint.l2": Setting(
        85,
        "Percent of the context at which work is handed over.",
        from_project=False,
        example=80,
        least=1,
        most=100,
    ),
    "checkpoint.l3": Setting(
        95,
        "Percent of the context from which a session may always stop.",
        from_project=False,
        example=90,
        least=1,
        most=100,
    ),
    "checkpoint.window": Setting(
        0,
        "Tokens that the model's context holds, at least 10,000; 0 = by the model's name.",
        from_project=False,
        example=1_000_000,
    ),
    "checkpoint.hand_over": Setting(
        True,
        "Let a loop or plan stop at L2; off: it goes on behind the client's own compaction.",
        from_project=False,
    ),
    "checkpoint.wip_commit": Setting(
        False, "Commit what is unfinished at a checkpoint.", from_project=False
    ),
    "checkpoint.keep_days": Setting(
        14,
        "Days after which a handoff is not given to a new session.",
        from_project=False,
        example=7,
    ),
    "notify.command": Setting(
        "",
        "A command that is told of checkpoints, pauses and ends.",
        from_project=False,
        from_environment=False,
        example="sisyphus notify linear",
    ),
    "notify.linear_issue": Setting(
        "",
        "The Linear issue that `sisyphus notify linear` comments on.",
        from_project=False,
        example="ENG-123",
    ),
    "enforce.enabled": Setting(
        True, "Let `sisyphus enforce on` keep sessions going.", from_project=False
    ),
    "enforce.idle_seconds": Setting(
        30,
        "Seconds of idleness after which a session is woken.",
        from_project=False,
        has_fractions=True,
        example=120,
    ),
    "enforce.cooldown_seconds": Setting(
        30,
        "Seconds between two enforcements of a session, at least.",
        from_project=False,
        has_fractions=True,
        example=60,
    ),
    "enforce.backoff": Setting(
        2,
        "By what each failure in a row multiplies the cooldown.",
        from_project=False,
        has_fractions=True,
        example=1.5,
        least=1,
        most=1_000,
    ),
    "enforce.max_failures": Setting(
        5,
        "Failures in a row after which enforcement rests; 0 = never.",
        from_project=False,
        is_limit=True,
        example=3,
    ),
    "enforce.recovery_seconds": Setting(
        300,
        "Seconds after which failures are forgotten.",
        from_project=False,
        has_fractions=True,
        example=600,
    ),
    "enforce.max_iterations": Setting(
        50,
        "Enforcements of a session at most; 0 = endless.",
        from_project=False,
        is_limit=True,
        example=20,
    ),
    "enforce.claims": Setting(
        [],
        "Phrases that say that the work is done; [] = our own.",
        from_project=False,
        example=["all done", "ready to merge"],
    ),
    "enforce.work": Setting(
        [],
        "Phrases that say that work goes on; [] = our own.",
        from_project=False,
        example=["next I will"],
    ),
    "enforce.toast_seconds": Setting(
        15,
        "Seconds for which OpenCode shows a toast.",
        from_project=False,
        has_fractions=True,
        example=5,
    ),
    "enforce.countdown_seconds": Setting(
        2,
        "Seconds between a toast and an idle enforcement in OpenCode.",
        from_project=False,
        has_fractions=True,
        example=10,
    ),
    "enforce.abort_seconds": Setting(
        3,
        "Seconds after an abort in OpenCode in which nothing is enforced.",
        from_project=False,
        has_fractions=True,
        example=10,
    ),
    "enforce.stability_seconds": Setting(
        5,
        "Seconds for which an idle session must not have changed.",
        from_project=False,
        has_fractions=True,
        example=10,
    ),
    "rules.enabled": Setting(True, "Send rules that match the file a tool touched."),
    "context.enabled": Setting(True, "Send README.md and AGENTS.md at session start."),
    "context.agents_md": Setting(
        "auto",
        "Send AGENTS.md: auto (where the client does not), always or never.",
        example="always",
        choices=("auto", "always", "never"),
    ),
    "context.directory_readme": Setting(
        False, "Send a folder's README.md on the first touch of a file below it."
    ),
    "state.keep_days": Setting(
        30,
        "Days after its end for which a session's journal and state are kept; 0 = for ever.",
        from_project=False,
        from_environment=False,
        example=90,
    ),
}


class Settings:
    """The values in force for one project."""

    __slots__ = ("_values",)

    def __init__(self, values: Json | None = None) -> None:
        self._values = values or {}

    def get(self, key: str) -> Any:
        """The value of a known "section.key"; a KeyError is a typing slip of ours."""
        setting = SETTINGS[key]
        named = from_environment(key) if setting.from_environment else None
        found: Any = self._values.get(key)
        kept = found if setting.accepts(found) else setting.default
        if not setting.accepts(named) or (setting.is_limit and is_above(named, kept)):
            return kept
        return named


def is_above(limit: Any, other: Any) -> bool:
    """Of two limits, of which 0 is none."""
    return bool((limit <= 0 or limit > other) and other > 0)


def load(ours: str, root: str, memory: Callable[[], Memory] | None = None) -> Settings:
    """Settings of the project at `root`, with `ours` as our folder. What files say is kept in the
    memory that `memory` opens, where there are such files."""
    values: Json = {}
    for path, inside in files(ours, root):
        for key, value in _file_values(path, inside, memory).items():
            setting = SETTINGS.get(key)
            if setting and setting.accepts(value) and (setting.from_project or not inside):
                values[key] = value
    return Settings(values)


def files(ours: str, root: str) -> tuple[tuple[str, str], ...]:
    """The files, the later the stronger: each with the folder that it must not leave by a link;
    that of the user ("") is reached by any."""
    return (os.path.join(ours, "config.toml"), ""), (os.path.join(root, PROJECT_FILE), root)


def _file_values(path: str, inside: str, opener: Callable[[], Memory] | None) -> Json:
    """The file's keys as "section.key", by way of the memory: tomllib costs 6 ms to import."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return {}
    memory = opener() if opener else None
    if memory is None or memory.problem:
        return _parse(path, inside)
    stamp = f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"
    row = memory.row("SELECT data FROM settings_file WHERE path = ? AND stamp = ?", path, stamp)
    if row:
        return _object(json.loads(row[0]))
    values = _parse(path, inside)
    try:
        memory.write(
            "INSERT OR REPLACE INTO settings_file (path, stamp, data) VALUES (?, ?, ?)",
            path, stamp, json.dumps(values),
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001  # it is read anew the next time
        debug.log(f"settings not kept: {error}")
    return values


def _parse(path: str, inside: str) -> Json:
    import tomllib

    try:
        table = tomllib.loads(read_text(path, CONFIG_BYTES, inside))
    except (UnreadableError, ValueError, RecursionError) as error:
        debug.log(f"settings not read: {path}: {error}")
        return {}
    sections = ((name, part) for name, part in table.items() if isinstance(part, dict))
    return {
        f"{name}.{key}": value
        for name, part in sections
        for key, value in part.items()
        if _is_plain(value)
    }


def _is_plain(value: object) -> bool:
    """Whether JSON can hold it in the cache: no dates, no numbers of 5,000 digits."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    if isinstance(value, int):
        return abs(value) < _INTEGERS
    return isinstance(value, (str, float))


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def variable(key: str) -> str:
    """Its name in the environment: SISYPHUS_RULES_ENABLED for "rules.enabled"."""
    return "SISYPHUS_" + key.replace(".", "_").upper()


def from_environment(key: str) -> Any:
    """The value that the key's variable spells: 0 and 1 for a switch, a list with commas. None
    where it is unset or of a wrong form."""
    text = os.environ.get(variable(key))
    if text is None:
        return None
    default = SETTINGS[key].default
    if isinstance(default, bool):
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower())
    if isinstance(default, list):
        return [item for item in map(str.strip, text.split(",")) if item]
    if isinstance(default, int):
        return _number(text, float if SETTINGS[key].has_fractions else int)
    return text


def _number(text: str, kind: type[int | float]) -> Any:
    try:
        return kind(text)
    except ValueError:
        return None
