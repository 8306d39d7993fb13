"""The names of settings: those that there are, and the one that was meant. Pure."""

from __future__ import annotations

from difflib import get_close_matches

from sisyphus.session.client_process import SESSION_VARIABLES
from sisyphus.settings import SETTINGS, variable
from sisyphus.text import one_line
from sisyphus.workspace import RUN_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SECTIONS = {
    "boulder": "Plans that survive the session.",
    "ralph": "Loops that keep their promise.",
    "checkpoint": "Work that is handed over before the context is full.",
    "permissions": "What the agent may do without you being asked.",
    "notify": "What happened, told to others.",
    "enforce": "Sessions that go on; `sisyphus enforce on` begins it, project by project.",
    "state": "What sisyphus keeps of past sessions.",
    "rules": "Rules for the files that the model touches.",
    "context": "README.md and AGENTS.md for the model.",
}
"""The sections that there may be, and what each is about."""

_OTHERS = frozenset(
    (SESSION_VARIABLES[1], RUN_VARIABLE, "SISYPHUS_DISABLE", "SISYPHUS_DASHBOARD_TOKEN")
)
"""Variables of ours that are no settings."""

_PREFIX = "SISYPHUS_"
_SHOWN = 80


def of_section(section: str) -> list[str]:
    return [key for key in SETTINGS if key.startswith(f"{section}.")]


def sections() -> list[str]:
    return list(dict.fromkeys(key.partition(".")[0] for key in SETTINGS))


def meant(key: str) -> str:
    """The key that looks like `key`, which may lack its section; "" where none does."""
    names = {known: known.partition(".")[2] for known in SETTINGS}
    name = key.rpartition(".")[2].lower()
    of_that_name = [known for known in SETTINGS if names[known] == name]
    if len(of_that_name) == 1:
        return of_that_name[0]
    whole = get_close_matches(key.lower(), SETTINGS, 1) if "." in key else []
    near = get_close_matches(name, names.values(), 1)
    return next(iter([*whole, *(known for known in SETTINGS if names[known] in near)]), "")


def meant_section(section: str) -> str:
    return next(iter(get_close_matches(section.lower(), sections(), 1)), "")


def unknown_variables(names: Iterable[str]) -> list[str]:
    """Those that look like ours and are none."""
    known = {*_OTHERS, *map(variable, SETTINGS)}
    return sorted(name for name in names if name.startswith(_PREFIX) and name not in known)


def meant_variable(name: str) -> str:
    return next(iter(get_close_matches(name, map(variable, SETTINGS), 1)), "")


def question(key: str) -> str:
    """`Did you mean rules.enabled? `, "" where nothing looks like it."""
    found = meant(key)
    return f"Did you mean {found}? " if found else ""


def shown(key: str) -> str:
    """A stranger's key."""
    return one_line(key, _SHOWN)
