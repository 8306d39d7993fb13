"""What the client itself says of its settings files: `claude doctor`, on copies of them.

It starts nothing that they name, and asks for no model (Claude Code 2.1.329, measured).
"""

from __future__ import annotations

from typing import NamedTuple

from sisyphus.doctor.finding import Finding, problem, warning
from sisyphus.doctor.live.stage import PLACES, Stage
from sisyphus.doctor.switches import UNHEARD
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.doctor.case import Case

CHECK = "settings"

NOWHERE = "http://127.0.0.1:9"
"""Nobody listens there."""

_EMPTIED = ("enabledPlugins", "env", "extraKnownMarketplaces")
"""By these the client could be led elsewhere. One of a wrong type leads nowhere, and stays."""

_COMMANDS = ("command", "Command", "Helper", "Refresh", "Export")
"""So the names end of what is a command line. Claude Code 2.1.329 starts none of them for this."""

_NOTHING = ":"

_HEADING = "Invalid settings"
_ENTRY = "- "
_INTO = " \u203a "
"""Between a file's name and the key."""

_PASSED_OVER = "ignored"
"""In what it says of one entry. Where it says nothing like that, the whole file is dropped."""


class Opinion(NamedTuple):
    """`dropped`: the files of which it takes nothing."""

    findings: list[Finding]
    dropped: list[str]


def of_settings(case: Case, client: str, folder: str) -> Opinion:
    """Raises `OSError`. Of a file that cannot be read as JSON other checks tell."""
    stage = Stage(folder, case.programs)
    stage.make_folders()
    copies = {stage.place(one): one for one in case.settings if one.kind in PLACES}
    for copy, one in copies.items():
        if not one.error:
            stage.write_json(copy, _inert(one.values))
    environment = {**stage.environment(NOWHERE), "HOME": stage.root, "USERPROFILE": stage.root}
    tried = case.trials.run([client, "doctor"], "", environment, stage.project)
    said = list(_said(tried.output if tried.code == 0 else "", list(copies)))
    dropped = [copies[path].path for path, what in said if _PASSED_OVER not in what]
    return Opinion([_judged(case.shown(copies[path].path), what) for path, what in said], dropped)


def _inert(values: Json) -> Json:
    emptied: Json = {name: {} for name in _EMPTIED if isinstance(values.get(name), dict)}
    return {name: _without_commands(name, value) for name, value in {**values, **emptied}.items()}


def _without_commands(name: str, value: object) -> object:
    """Every text that a shell could be given is another one."""
    if isinstance(value, dict):
        return {inner: _without_commands(inner, one) for inner, one in value.items()}
    if isinstance(value, list):
        return [_without_commands(name, one) for one in value]
    return _NOTHING if isinstance(value, str) and name.endswith(_COMMANDS) else value


def _said(output: str, copies: list[str]) -> Iterator[tuple[str, str]]:
    """Which copy, and what is wrong with it."""
    for line in _entries(output):
        if path := next((path for path in copies if line.startswith(path)), ""):
            what = line.removeprefix(path).removeprefix(_INTO).removeprefix(": ")
            yield path, one_line(what, 300)


def _judged(shown: str, what: str) -> Finding:
    if _PASSED_OVER in what:
        return warning(CHECK, f"Claude Code passes over a part of {shown}: {what}")
    text = f"Claude Code does not accept {shown}: {what}"
    return problem(CHECK, text, f"{UNHEARD}. Mend that line")


def _entries(output: str) -> Iterator[str]:
    """The lines of the list behind the heading."""
    _, _, rest = output.partition(f"{_HEADING}\n")
    for line in rest.splitlines():
        if not line.startswith(_ENTRY):
            return
        yield line.removeprefix(_ENTRY)
