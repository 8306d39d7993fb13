"""Every setting: its default, its meaning, and who may set it.

The later the stronger: default, `HOME/.sisyphus/config.toml`, `PROJECT/.claude/sisyphus.toml`,
`SISYPHUS_SECTION_KEY` in the environment. The first file is the user's, who may set everything.
A project can be a stranger's, and its settings for the client can set the variables of our hooks.
So a project's file and a variable set what the table lists for them, and nothing else.
"""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.quick_json import dumps, loads
from sisyphus.reading import read_text
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from sisyphus._types import Json
    from sisyphus.memory import Memory

PROJECT_FILE = os.path.join(".claude", "sisyphus.toml")
CONFIG_BYTES = 200_000
_INTEGERS = 2**63  # what TOML promises

USER, PROJECT, ENVIRONMENT = "user", "project", "environment"
"""Who sets a value: the user's file, the project's, or a variable."""

LOWER, ANY = "lower", "any"
"""What a project and a variable may do: lower the number or switch it off, or set any value."""

WRONG_KIND = "it is of another type, or out of bounds"


class Setting:
    """One row of the table; the default says the type, and a list is one of texts.

    `example`: a value for the manual; a switch needs none. `others`: what a project and a variable
    may do with it, "" = nothing. `least`, `most`: bounds of a number, both allowed. `fractions`:
    it need not be a whole one. `zero_is_none`: 0 lifts the limit, and is above every other number.
    `choices`: the texts that there are."""

    __slots__ = (
        "choices", "default", "doc", "example", "fractions", "least", "most", "others",
        "zero_is_none",
    )  # fmt: skip

    def __init__(
        self,
        default: Any,
        doc: str,
        example: Any = None,
        *,
        others: str = "",
        least: int = 0,
        most: int = _INTEGERS - 1,
        fractions: bool = False,
        zero_is_none: bool = False,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.default = default
        self.doc = doc
        self.example = example
        self.others = others
        self.least = least
        self.most = most
        self.fractions = fractions
        self.zero_is_none = zero_is_none
        self.choices = choices

    def accepts(self, value: Any) -> bool:
        """Whether it is of the type and within the bounds."""
        if isinstance(value, float):
            return self.fractions and self.least <= value <= self.most
        if type(value) is not type(self.default):
            return False
        if isinstance(value, list):
            return all(isinstance(item, str) for item in value)
        if isinstance(value, str):
            return not self.choices or value in self.choices
        return isinstance(value, bool) or bool(self.least <= value <= self.most)

    def raises(self, value: Any, other: Any) -> bool:
        """Whether `value` is above `other`; on is above off."""
        if self.zero_is_none and 0 in (value, other):
            return bool(other)
        return bool(value > other)


# fmt: off
SETTINGS = {
    # Of a switch: a project may go without, and cannot bring back what the user switched off.
    "boulder.enabled": Setting(True, "Follow plan files.", others=LOWER),
    "boulder.stale_days": Setting(
        14, "After so many days untouched a plan is not resumed silently.", 30, others=LOWER),
    "ralph.enabled": Setting(
        True, "Keep ralph loops going until their promise is kept.", others=LOWER),
    # Less of it holds a session that only waits, and each hold is a paid request.
    "ralph.background_wait": Setting(
        10, "Minutes for which a pending background task excuses a Stop.", 30),
    "ralph.no_progress": Setting(
        5, "Iterations without progress that pause a loop; 0 = never.", 10,
        others=LOWER, zero_is_none=True),
    "ralph.same_error": Setting(
        5, "Iterations with the same error that pause a loop; 0 = never.", 3,
        others=LOWER, zero_is_none=True),
    # Pauses protect the user's money and the service: less of them is more of what they limit.
    "ralph.breaker_minutes": Setting(
        30, "Minutes after which a paused loop that got nowhere has another try.", 60),
    "ralph.verify_seconds": Setting(
        300, "Seconds that a `--verify` command may take, at most 600.", 600,
        others=LOWER, least=1, most=600),
    "ralph.retry_seconds": Setting(
        300, "Seconds to wait for a limit without a known end, doubled each time.", 60, least=1),
    # The lists of loops go through all projects, so that no single one decides.
    "ralph.stale_hours": Setting(
        4, "Hours of silence after which a loop without its client is stale.", 12),
    "ralph.transcripts": Setting(
        True, "Keep what is said in each iteration of a loop.", others=LOWER),
    "checkpoint.enabled": Setting(
        True, "Watch how full the model's context is.", others=LOWER),
    "checkpoint.l1": Setting(
        70, "Percent of the context at which the model is warned.", 60,
        others=LOWER, least=1, most=100),
    "checkpoint.l2": Setting(
        85, "Percent of the context at which work is handed over.", 80,
        others=LOWER, least=1, most=100),
    "checkpoint.l3": Setting(
        95, "Percent of the context from which a session may always stop.", 90,
        others=LOWER, least=1, most=100),
    # 0 stands for a number that depends on the model, so that nobody can say what is lower.
    "checkpoint.window": Setting(
        0, "Tokens that the model's context holds, at least 10,000; 0 = by the model's name.",
        1_000_000),
    # Off lifts the limit that L2 is.
    "checkpoint.hand_over": Setting(
        True, "Let a loop or plan stop at L2; off: it goes on behind the client's own compaction."),
    # It runs a command: git.
    "checkpoint.wip_commit": Setting(False, "Commit what is unfinished at a checkpoint."),
    "checkpoint.keep_days": Setting(
        14, "Days after which a handoff is not given to a new session.", 7, others=LOWER),
    "permissions.own_files": Setting(
        True, "Let the agent edit its plan and its handoff where edits are accepted."),
    "notify.command": Setting(
        "", "A command that is told of checkpoints, pauses and ends.", "sisyphus notify linear"),
    # It says to whom the user's key speaks.
    "notify.linear_issue": Setting(
        "", "The Linear issue that `sisyphus notify linear` comments on.", "ENG-123"),
    "enforce.enabled": Setting(
        True, "Let `sisyphus enforce on` keep sessions going.", others=LOWER),
    # Pauses again, here and below.
    "enforce.idle_seconds": Setting(
        30, "Seconds of idleness after which a session is woken.", 120, fractions=True),
    "enforce.cooldown_seconds": Setting(
        30, "Seconds between two enforcements of a session, at least.", 60, fractions=True),
    "enforce.backoff": Setting(
        2, "By what each failure in a row multiplies the cooldown.", 1.5,
        fractions=True, least=1, most=1_000),
    "enforce.max_failures": Setting(
        5, "Failures in a row after which enforcement rests; 0 = never.", 3,
        others=LOWER, zero_is_none=True),
    "enforce.recovery_seconds": Setting(
        300, "Seconds after which failures are forgotten.", 600, fractions=True),
    "enforce.max_iterations": Setting(
        50, "Enforcements of a session at most; 0 = endless.", 20,
        others=LOWER, zero_is_none=True),
    # A list of common words would send a session on at every Stop.
    "enforce.claims": Setting(
        [], "Phrases that say that the work is done; [] = our own.",
        ["all done", "ready to merge"]),
    "enforce.work": Setting(
        [], "Phrases that say that work goes on; [] = our own.", ["next I will"]),
    "enforce.toast_seconds": Setting(
        15, "Seconds for which OpenCode shows a toast.", 5, fractions=True),
    "enforce.countdown_seconds": Setting(
        2, "Seconds between a toast and an idle enforcement in OpenCode.", 10, fractions=True),
    "enforce.abort_seconds": Setting(
        3, "Seconds after an abort in OpenCode in which nothing is enforced.", 10, fractions=True),
    "enforce.stability_seconds": Setting(
        5, "Seconds for which an idle session must not have changed.", 10, fractions=True),
    "rules.enabled": Setting(
        True, "Send rules that match the file a tool touched.", others=LOWER),
    "context.enabled": Setting(
        True, "Send README.md and AGENTS.md at session start.", others=LOWER),
    # Which of its documents the model gets, each once and cut at the same length: no limit.
    "context.agents_md": Setting(
        "auto", "Send AGENTS.md: auto (where the client does not), always or never.", "always",
        others=ANY, choices=("auto", "always", "never")),
    "context.directory_readme": Setting(
        False, "Send a folder's README.md on the first touch of a file below it.", others=ANY),
    # What is kept is of all projects.
    "state.keep_days": Setting(
        30, "Days after its end for which a session's journal and state are kept; 0 = for ever.",
        90),
}
# fmt: on


class Settings:
    """The values in force for one project."""

    __slots__ = ("_values",)

    def __init__(self, values: Json) -> None:
        self._values = values

    def get(self, key: str) -> Any:
        """The value of a known "section.key"; a KeyError is a typing slip of ours."""
        default = SETTINGS[key].default
        return self._values.get(key, default)


def load(ours: str, root: str, memory: Callable[[], Memory] | None = None) -> Settings:
    """Settings of the project at `root`, with `ours` as our folder.

    The memory that `memory` opens keeps what files say, and which refusals the log has; it is
    opened where there is one of these.
    """
    (own, anywhere), (projects, inside) = files(ours, root)
    layers = (
        (USER, own, _file_values(own, anywhere, memory)),
        (PROJECT, projects, _file_values(projects, inside, memory)),
        (ENVIRONMENT, ENVIRONMENT, from_environment(os.environ)),
    )
    values: Json = {}
    users: Json = {}
    for owner, where, found in layers:
        for key, value in found.items():
            if key not in SETTINGS:
                continue
            why = refusal(key, value, users.get(key, SETTINGS[key].default), owner)
            if why:
                _log_once(memory, f"{where}: {key}", f"{why}: {value!r:.80}")
                continue
            values[key] = value
            if owner == USER:
                users[key] = value
    return Settings(values)


def refusal(key: str, value: Any, users: Any, owner: str) -> str:
    """Why a value of `owner` does not count, "" where it does; `users`: the user's own value."""
    setting = SETTINGS[key]
    is_strangers = owner != USER
    who = "a variable" if owner == ENVIRONMENT else "a project's file"
    if is_strangers and not setting.others:
        return "no variable may set it" if owner == ENVIRONMENT else f"{who} may not set it"
    if not setting.accepts(value):
        return WRONG_KIND
    if is_strangers and setting.others == LOWER and setting.raises(value, users):
        return f"{who} may only {'switch it off' if value is True else 'lower it'}"
    return ""


def files(ours: str, root: str) -> tuple[tuple[str, str], ...]:
    """The files, the later the stronger: each with the folder that it must not leave by a link;
    that of the user ("") is reached by any."""
    return (os.path.join(ours, "config.toml"), ""), (os.path.join(root, PROJECT_FILE), root)


def variable(key: str) -> str:
    """Its name in the environment: SISYPHUS_RULES_ENABLED for "rules.enabled"."""
    return "SISYPHUS_" + key.replace(".", "_").upper()


def from_environment(environment: Mapping[str, str]) -> Json:
    """What variables spell, by key: 0 and 1 for a switch, a list with commas. None where a text is
    of a wrong form."""
    named = ((key, environment.get(variable(key))) for key in SETTINGS)
    return {key: _spelled(SETTINGS[key], text) for key, text in named if text is not None}


def _file_values(path: str, inside: str, opener: Callable[[], Memory] | None) -> Json:
    """The file's keys as "section.key", by way of the memory: tomllib costs 6 ms to import."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return {}
    stamp = f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"
    kept = _recall(opener, path, stamp)
    if kept is not None:
        return dict(loads(kept))
    values = _parse(path, inside)
    _keep(opener, path, stamp, dumps(values))
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


def _log_once(opener: Callable[[], Memory] | None, what: str, why: str) -> None:
    """Until the value changes; each hook is a new process. Without a memory a person is asked."""
    if opener and _recall(opener, what, why) is None:
        debug.log(f"setting refused: {what}: {why}")
        _keep(opener, what, why, "")


def _recall(opener: Callable[[], Memory] | None, path: str, stamp: str) -> str | None:
    memory = opener() if opener else None
    if memory is None or memory.problem:
        return None
    row = memory.row("SELECT data FROM settings_file WHERE path = ? AND stamp = ?", path, stamp)
    return str(row[0]) if row else None


def _keep(opener: Callable[[], Memory] | None, path: str, stamp: str, data: str) -> None:
    memory = opener() if opener else None
    if memory is None or memory.problem:
        return
    try:
        memory.write(
            "INSERT OR REPLACE INTO settings_file (path, stamp, data) VALUES (?, ?, ?)",
            path, stamp, data,
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001  # it is read anew the next time
        debug.log(f"settings not kept: {error}")


def _spelled(setting: Setting, text: str) -> Any:
    default = setting.default
    if isinstance(default, bool):
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower())
    if isinstance(default, list):
        return [item for item in map(str.strip, text.split(",")) if item]
    if isinstance(default, str):
        return text
    try:
        return float(text) if setting.fractions else int(text)
    except ValueError:
        return None
