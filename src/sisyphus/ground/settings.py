"""Every setting once: its default, its meaning, and what a project may do with it.

Later layers win: default, `HOME/.sisyphus/config.toml`, `PROJECT/.claude/sisyphus.toml`,
`SISYPHUS_SECTION_KEY` in the environment. The first file is the user's and may set anything. A
project is untrusted, and its client settings can set the environment of our hooks. So its file
and the environment may do only what the table allows.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, paths, quick_json
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from sisyphus.ground.store import Store

    Values = dict[str, Any]
    """Dotted name → value."""

    Layer = tuple[str, Values, bool]  # its name for people, its values, whether it is the user's

MAX_BYTES = 8_192
"""The largest settings file: `tomllib` takes minutes for a megabyte of dots."""

_MAX_DIGITS = 9
"""The most digits of a number in the environment: `int` fails for thousands."""

_SWITCHES = {
    "0": False, "false": False, "off": False, "no": False,
    "1": True, "true": True, "on": True, "yes": True,
}  # fmt: skip

_PROBLEM = ""
"""The key, in a file's values, of why it cannot be read."""

SCHEMA_KEY = "$schema"
"""The key of a file, above its sections, that names a JSON schema; it is for editors."""

_ENVIRONMENT = "environment"

PROJECT_FILE = os.path.join(".claude", "sisyphus.toml")

NOTHING, LOWER, ANYTHING = "nothing", "lower", "anything"
"""What a project may do with a setting: nothing, lower it or turn it off, anything."""


class Setting(Record):
    """One row of the table; the default gives the type.

    project: what a project may do with it. choices: the allowed strings; none = any.
    """

    default: Any
    help: str
    project: str = NOTHING
    choices: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        is_negative = isinstance(value, int) and value < 0
        is_choice = not self.choices or value in self.choices
        if isinstance(self.default, list):
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        return type(value) is type(self.default) and is_choice and not is_negative

    def accepted(self) -> str:
        """Describes what `accepts` accepts."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int):
            return "a whole number, 0 or more"
        if isinstance(self.default, list):
            return "a list of texts"
        if not self.choices:
            return "a text"
        *others, last = (f'"{choice}"' for choice in self.choices)
        return f"{', '.join(others)} or {last}"


SETTINGS = {
    "rules.enabled": Setting(True, "Send the rules of the files that a tool touches.", LOWER),
    "rules.unscoped": Setting(
        "skip",
        'Cursor and Copilot rules without globs: "skip" = only on request, "send" = always.',
        ANYTHING,
        ("skip", "send"),
    ),
    "context.enabled": Setting(True, "Send README.md and AGENTS.md at session start.", LOWER),
    "context.agents_md": Setting(
        "auto",
        "AGENTS.md: sent if the client does not load it, always, or never.",
        ANYTHING,
        ("auto", "always", "never"),
    ),
    "context.readme_lines": Setting(
        500, "The most lines of a README.md that are sent; 0 = none is.", LOWER
    ),
    "context.directory_readme": Setting(
        False, "Send a folder's README.md when a file below it is first touched.", ANYTHING
    ),
    "boulder.enabled": Setting(True, "Follow the project's plan across sessions."),
    "permissions.own_files": Setting(
        True, "Let the model edit its plan below .claude/ if you accept edits."
    ),
    "ralph.enabled": Setting(True, "Block Stops until the loop is done."),
    "ralph.verify_seconds": Setting(600, "Seconds that a loop's check may run."),
    "ralph.background_wait": Setting(
        600, "Seconds that running background work lets the agent stop."
    ),
    "enforce.enabled": Setting(True, "Let enforcement act in the projects where it is on."),
    "enforce.idle_seconds": Setting(30, "Wake a session that has been idle for so long."),
    "enforce.cooldown_seconds": Setting(
        30, "Seconds between two enforcements; each failure in a row doubles them."
    ),
    "enforce.max_failures": Setting(
        5, "Hold back after so many enforcements in a row without a tool call; 0 = never."
    ),
    "enforce.recovery_seconds": Setting(300, "Forget these failures after so many seconds."),
    "enforce.max_iterations": Setting(50, "Enforcements of a session; 0 = no limit."),
    "enforce.toast_seconds": Setting(15, "Seconds that a notice in OpenCode stays."),
    "enforce.countdown_seconds": Setting(
        2, "Seconds that OpenCode counts down before it wakes an idle session."
    ),
    "enforce.abort_seconds": Setting(3, "Seconds after an abort in which nothing is enforced."),
    "enforce.stability_seconds": Setting(
        5, "Seconds without any change before an idle session is woken in OpenCode."
    ),
    "enforce.claims": Setting([], "More phrases that say that the work is done."),
    "enforce.work": Setting([], "More phrases that say that the work goes on."),
    "handoff.enabled": Setting(
        True, "Warn when the context fills up, and hand work over in time.", LOWER
    ),
    "handoff.warn_percent": Setting(70, "Warn at this much of the context; 0 = never."),
    "handoff.checkpoint_percent": Setting(85, "Write a handoff at this much; 0 = never."),
    "handoff.emergency_percent": Setting(95, "Write it anew at this much; 0 = never."),
    "handoff.window": Setting(
        0, "Tokens that fit into a context, if the client does not say; 0 = by the model."
    ),
    "handoff.ends_session": Setting(
        False, "Let a session in a loop end at its checkpoint. It goes on after /clear or a resume."
    ),
    "handoff.wip_commit": Setting(False, "Ask the agent to commit unfinished work first."),
    "runner.background_seconds": Setting(
        20, "Seconds that what an agent leaves in the background may hold up a run."
    ),
    "runner.silence_seconds": Setting(
        1800, "Seconds after which a client of a run that reports nothing is ended; 0 = never."
    ),
    "runner.retry_seconds": Setting(
        30, "Seconds that a run waits for an account, a server or the network; doubled at each try."
    ),
    "runner.item_tries": Setting(
        3,
        "Set an item of a run aside when so often, with its box ticked, its check has failed or it "
        "could not be merged.",
    ),
    "runner.check_before": Setting(
        True, "Run the check of an item before its work begins: it proves nothing if it passes."
    ),
    "runner.setup": Setting(
        "", "Shell command that is run once in each new worktree of a run, as `npm ci`."
    ),
    "notify.command": Setting("", "Shell command that is run when something needs you or ends."),
    "state.keep_days": Setting(
        30, "Days after which what a session left is removed; 0 = keep everything."
    ),
    "ralph.breaker_stops": Setting(
        5, "Pause a loop after this many Stops without progress or with the same error."
    ),
}


def load(
    store: Store, our_home: str, project: str, environ: Mapping[str, str]
) -> tuple[Values, list[str]]:
    """Returns all settings of a project, and a problem for each value that was ignored."""
    values = {name: setting.default for name, setting in SETTINGS.items()}
    problems: list[str] = []
    for layer in _layers(store, our_home, project, environ):
        problems += _overlay(values, *layer)
    return values, problems


def who_set(
    store: Store, our_home: str, project: str, environ: Mapping[str, str], name: str
) -> str:
    """Returns the layer that gives a setting its value: a file's path or the name of a variable;
    "" = it has its default."""
    values = {name: setting.default for name, setting in SETTINGS.items()}
    setter = ""
    for layer in _layers(store, our_home, project, environ):
        before = values[name]
        list(_overlay(values, *layer))
        if values[name] != before:
            setter = variable(name) if layer[0] == _ENVIRONMENT else layer[0]
    return setter


def _layers(
    store: Store, our_home: str, project: str, environ: Mapping[str, str]
) -> Iterator[Layer]:
    """Yields the layers over the defaults; a later one wins."""
    user_file, project_file = files_of(our_home, project)
    yield user_file, _read_file(store, user_file), True
    projects = _read_file(store, project_file, inside=project)
    if projects and paths.can_be_project(project):
        yield project_file, projects, False
    yield _ENVIRONMENT, _from_environment(environ), False


def files_of(our_home: str, project: str) -> tuple[str, str]:
    """Returns the user's file of settings, and the project's."""
    return os.path.join(our_home, "config.toml"), os.path.join(project, PROJECT_FILE)


def is_disabled(environ: Mapping[str, str]) -> bool:
    """Tells whether `SISYPHUS_DISABLE` switches off all hooks and the status line."""
    return environ.get("SISYPHUS_DISABLE", "0") not in ("", "0")


def _overlay(values: Values, source: str, layer: Values, is_users: bool) -> Iterator[str]:
    """Puts a layer over the values; yields its problems. source: the layer's name."""
    for name, value in layer.items():
        setting = SETTINGS.get(name)
        setter = variable(name) if source == _ENVIRONMENT else source
        if name == _PROBLEM:
            yield f"{source} is ignored: {value}"
        elif setting is None:
            yield f"{source}: {_unknown(name)}"
        elif not setting.accepts(value):
            yield f"{setter}: {name} must be {setting.accepted()}, not {toml(value)}"
        elif not is_users and not _may_set(setting, value, values[name]):
            yield (
                f"{setter}: may not set {name} to {toml(value)}; "
                f"`sisyphus config {name} VALUE` sets it for you"
            )
        else:
            values[name] = value


def _unknown(name: str) -> str:
    """Says that there is no such setting. name: "rules." is a value that stands where the section
    [rules] should."""
    section, _, key = name.partition(".")
    if not key and any(each.startswith(name) for each in SETTINGS):
        return f"{section} is a section; write [{section}], then its settings below"
    return f"unknown setting {name if key else section}"


def toml(value: Any) -> str:
    """Returns a value as TOML writes it; JSON writes true, numbers and texts the same."""
    return quick_json.dumps(value, ensure_ascii=False)


def _may_set(setting: Setting, value: Any, current: Any) -> bool:
    """Tells whether a project or a variable may change `current` to `value`; off is lower than
    on."""
    if setting.project == LOWER:
        return bool(value <= current)
    return setting.project == ANYTHING


def _read_file(store: Store, path: str, inside: str = "") -> Values:
    """Reads a TOML file; caches its values, or why it has none, until the file changes."""
    stamp = files.stamp(path)
    if not stamp:
        return {}
    row = store.one("SELECT data FROM settings_file WHERE path = ? AND stamp = ?", path, stamp)
    if row:
        data = row[0]
    else:
        data = _parse(path, inside)
        store.run("INSERT OR REPLACE INTO settings_file VALUES (?, ?, ?)", path, stamp, data)
    values: Values = quick_json.loads(data)
    return values


def _parse(path: str, inside: str) -> str:
    """Returns the values of a file as JSON; only `_PROBLEM` if it cannot be read."""
    import tomllib

    try:
        data = tomllib.loads(files.read(path, inside=inside, limit=MAX_BYTES))
        values = {
            f"{section}.{key}": value
            for section, keys in data.items()
            if not (section == SCHEMA_KEY and isinstance(keys, str))
            for key, value in (keys.items() if isinstance(keys, dict) else [("", keys)])
        }
        return quick_json.dumps(values, default=str)  # TOML has dates
    except UnreadableError as error:
        return quick_json.dumps({_PROBLEM: str(error)})
    except (ValueError, RecursionError) as error:
        return quick_json.dumps({_PROBLEM: f"it is not valid TOML ({error})"})


def _from_environment(environ: Mapping[str, str]) -> Values:
    """Reads variables such as `SISYPHUS_RULES_ENABLED=0`, as the type of their setting."""
    variables = {name: value for name, value in environ.items() if name.startswith("SISYPHUS_")}
    values: Values = {}
    for name, setting in SETTINGS.items() if variables else ():
        value = variables.get(variable(name))
        if value is not None:
            values[name] = convert(setting, value)
    return values


def variable(name: str) -> str:
    """Returns the variable that sets a setting."""
    return f"SISYPHUS_{name.replace('.', '_').upper()}"


def convert(setting: Setting, value: str) -> Any:
    """Returns the text of a variable or a command line in the type of its setting; as it is if that
    fails, so that `Setting.accepts` refuses it."""
    if isinstance(setting.default, bool):
        return _SWITCHES.get(value.lower(), value)
    if isinstance(setting.default, int) and value.isdecimal() and len(value) <= _MAX_DIGITS:
        return int(value)
    return value
