"""What keeps Claude Code's hooks from running, or from working: switches and variables in its
settings, and in the environment. Measured on 2.1.329: `env` in any file beats the environment."""

import os
from collections.abc import Iterator

from sisyphus.clients import installer
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.hook_files import SHOWN
from sisyphus.clients.wired import ORGANISATION, Wired
from sisyphus.ground.text import one_line

_ALL_OFF, _OTHERS_OFF = "disableAllHooks", "allowManagedHooksOnly"
_OUR_SWITCH = "SISYPHUS_DISABLE"
ITS_SWITCHES = ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE")
"""Variables with which it runs no hooks. It takes them from its environment and from the user's
settings."""


def check(subject: str, usable: list[Wired], home: str) -> Iterator[Finding]:
    """Yields what keeps hooks from working. usable: the settings files that the client takes, the
    weakest first. home: see `installation.Installation`."""
    yield from _switches(subject, usable)
    yield from _variables(subject, usable, home)


def _switches(subject: str, usable: list[Wired]) -> Iterator[Finding]:
    """Yields what switches hooks off; a later file wins."""
    said = [
        each
        for each in usable
        if isinstance(each.content.get(_ALL_OFF), bool) and each.scope != ORGANISATION
    ]
    if said and said[-1].content[_ALL_OFF]:
        text = f"{said[-1].name} has {_ALL_OFF}: no hook and no status line runs."
        yield Finding(subject, Level.PROBLEM, text, f"Take {_ALL_OFF} out of that file.")
    has_others = any(each.is_ours for each in usable if each.scope != ORGANISATION)
    for each in usable:
        names = [name for name in (_ALL_OFF, _OTHERS_OFF) if each.content.get(name) is True]
        if each.scope == ORGANISATION and names and has_others:
            text = f"{each.name} has {names[0]}: your hooks do not run."
            yield Finding(subject, Level.PROBLEM, text, "Ask whoever manages that file.")


def _variables(subject: str, usable: list[Wired], home: str) -> Iterator[Finding]:
    """Yields the variables that keep hooks from working, by the client's environment or the file
    that sets them."""
    found: dict[str, tuple[str, str]] = {
        name: (os.environ[name], "") for name in ITS_SWITCHES if name in os.environ
    }
    for each in usable:
        variables = each.content.get("env")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            if name not in ITS_SWITCHES or each.scope in (installer.USER, ORGANISATION):
                found[name] = (str(value), each.name)
    for name in (_OUR_SWITCH, *ITS_SWITCHES):
        value, file = found.get(name, ("", ""))
        if _is_on(name, value):
            text = f"{file or 'your environment'} sets {name}: no hook does anything."
            mend = f"Take {name} out of that file." if file else f"Run `unset {name}`."
            yield Finding(subject, Level.PROBLEM, text, mend)
    value, file = found.get("CLAUDE_CONFIG_DIR", ("", ""))
    if value and not _is_same_folder(value, home):
        text = (
            f"{file} sets CLAUDE_CONFIG_DIR to {one_line(value, SHOWN)}: hooks keep what they "
            "know there, and this command looks elsewhere."
        )
        mend = "Set it in your shell, not in that file."
        yield Finding(subject, Level.PROBLEM, text, mend)


def _is_same_folder(one: str, other: str) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # no file can have such a name
        return False


def _is_on(name: str, value: str) -> bool:
    if name == _OUR_SWITCH:
        return value not in ("", "0")
    return value.strip().lower() in ("1", "true", "yes", "on")
