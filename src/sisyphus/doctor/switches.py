"""What keeps hooks from being run, or ours from doing anything."""

from __future__ import annotations

import os

from sisyphus.doctor.finding import Finding, ok, problem, typed, warning
from sisyphus.doctor.sources import MANAGED, PLUGIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

CHECK = "switched off"

_ALL = "disableAllHooks"
_MANAGED = "allowManagedHooksOnly"
"""In an organisation's file the first says no more than the second."""

_OFF = "SISYPHUS_DISABLE"
OF_CLIENT = ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE")
"""Claude Code 2.1.329 hears these in its environment and the user's settings, from no project."""

_YES = ("1", "true", "yes", "on")
"""What it takes for a yes there; all else is a no."""

UNHEARD = (
    "The client drops the whole file, hooks included; only `claude --print` says so, on stderr"
)


def check(case: Case) -> Iterator[Finding]:
    findings = [
        *_unreadable(case), *_by_client(case), *_by_environment(case), *_features(case),
    ]  # fmt: skip
    yield from findings or [ok(CHECK, "nothing")]


def _unreadable(case: Case) -> Iterator[Finding]:
    for one in case.settings:
        if one.error:
            yield problem(
                CHECK,
                f"{case.shown(one.path)} cannot be read: {one.error}",
                f"{UNHEARD}. Mend it in an editor; `claude doctor` tells more",
            )
    for plugin in case.plugins:
        if plugin.source.error:
            text = f"{case.shown(plugin.source.path)} cannot be read: {plugin.source.error}"
            yield warning(CHECK, text, f"`claude plugin update {typed(plugin.name)}`")


def _by_client(case: Case) -> Iterator[Finding]:
    theirs = [one for one in case.settings if one.kind != MANAGED]
    said = [one for one in theirs if isinstance(one.values.get(_ALL), bool)]
    if said and said[-1].values[_ALL]:  # the strongest file counts
        yield problem(
            CHECK, f"{case.shown(said[-1].path)} says {_ALL}: no hook runs", "Take that line out"
        )
    for one in case.settings:
        says = [name for name in (_ALL, _MANAGED) if one.values.get(name) is True]
        if one.kind == MANAGED and says and _has_others(case):
            text = f"{one.path} says {says[0]}: no hook of yours runs"
            yield problem(CHECK, text, "Ask who looks after that file")


def _has_others(case: Case) -> bool:
    """Whether hooks of ours are wired that an organisation did not wire."""
    return any(hook.source.kind not in (MANAGED, PLUGIN) for hook in case.hooks)


def _by_environment(case: Case) -> Iterator[Finding]:
    for name, what in _variables().items():
        value, where = _value(case, name)
        if not _is_on(name, value):
            continue
        if where:
            text = f"{name} is set in the env of {where}: {what}"
            yield problem(CHECK, text, "Take that line out")
        else:
            yield problem(CHECK, f"{name} is set in your environment: {what}", f"`unset {name}`")


def _variables() -> dict[str, str]:
    return {_OFF: "every hook is silent", **dict.fromkeys(OF_CLIENT, "the client runs no hook")}


def _value(case: Case, name: str) -> tuple[str, str]:
    """What a variable is in a session, and which file says so: the strongest one does, before the
    environment (Claude Code 2.1.329)."""
    value, where = os.environ.get(name, ""), ""
    for one in case.settings:
        env = one.values.get("env")
        is_heard = name == _OFF or not one.is_of_project
        if isinstance(env, dict) and is_heard and name in env:
            value, where = _as_text(env[name]), case.shown(one.path)
    return value, where


def _as_text(value: object) -> str:
    """As the client puts a value of settings into the environment."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_on(name: str, value: str) -> bool:
    if name == _OFF:
        return value not in ("", "0")
    return value.strip().lower() in _YES


def _features(case: Case) -> Iterator[Finding]:
    get = case.space.settings.get
    for name in ("boulder", "ralph", "checkpoint", "enforce", "rules", "context"):
        if get(f"{name}.enabled") is False:
            yield warning(
                CHECK,
                f"{name}.enabled is false",
                f"If that is not meant: `sisyphus config set {name}.enabled true`",
            )
