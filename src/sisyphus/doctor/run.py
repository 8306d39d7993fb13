"""All checks, group by group. One that fails itself says so and holds up no other."""

from __future__ import annotations

from dataclasses import dataclass

from sisyphus.doctor import (
    clients,
    files,
    folder,
    machine,
    memory,
    neighbours,
    opencode,
    project,
    records,
    round_trip,
    skew,
    stale,
    statusline,
    switches,
    transcripts,
    wired,
)
from sisyphus.doctor.finding import PROBLEM, Finding, warning
from sisyphus.errors import SisyphusError
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sisyphus._types import Json
    from sisyphus.doctor.case import Case

    Check = Callable[[Case], Iterable[Finding]]

GROUPS: dict[str, dict[str, Check]] = {
    "Installation": {
        machine.PYTHON: machine.python,
        machine.SCRIPT: machine.scripts,
        machine.SPEED: machine.speed,
        clients.CHECK: clients.check,
        skew.PROGRAM: skew.programs,
    },
    "Hooks": {
        wired.CHECK: wired.check,
        wired.COMMAND: wired.commands,
        statusline.CHECK: statusline.check,
        skew.PLUGIN: skew.plugins,
        skew.COMMANDS: skew.commands,
        opencode.CHECK: opencode.check,
        switches.CHECK: switches.check,
        round_trip.CHECK: round_trip.check,
        transcripts.CHECK: transcripts.failures,
        neighbours.LOOPS: neighbours.loops,
        neighbours.SANDBOX: neighbours.sandbox,
    },
    "State": {
        folder.CHECK: folder.check,
        folder.RIGHTS: folder.rights,
        folder.SPACE: folder.space,
        memory.CHECK: memory.check,
        memory.QUEUE: memory.queue,
        memory.EARLIER: memory.earlier,
        files.FILES: files.states,
        files.REMAINS: files.remains,
        stale.LOOPS: stale.loops,
        stale.PLANS: stale.plans,
        records.CHECK: records.check,
    },
    "Project": {
        project.CONFIG: project.config,
        project.RULES: project.rules,
    },
}


def _prove(case: Case) -> Iterable[Finding]:
    from sisyphus.doctor.live.prove import prove

    return prove(case)


_LIVE: dict[str, dict[str, Check]] = {"Live": {"live": _prove}}


@dataclass(frozen=True)
class Report:
    """Group -> what was found there."""

    groups: dict[str, list[Finding]]

    @property
    def findings(self) -> list[Finding]:
        return [one for group in self.groups.values() for one in group]

    def count(self, state: str) -> int:
        return sum(one.state == state for one in self.findings)

    @property
    def is_bad(self) -> bool:
        return self.count(PROBLEM) > 0

    def as_json(self) -> Json:
        rows = [_row(group, one) for group, found in self.groups.items() for one in found]
        return {
            "ok": not self.is_bad,
            "problems": self.count(PROBLEM),
            "warnings": self.count("warning"),
            "findings": rows,
        }


def examine(
    case: Case, tell: Callable[[int, int], None] = lambda _done, _total: None, *, live: bool = False
) -> Report:
    """`tell` hears how far it is. With `live` the client itself is run as well."""
    wanted = {**GROUPS, **(_LIVE if live else {})}
    every = [(group, name, check) for group in wanted for name, check in wanted[group].items()]
    groups: dict[str, list[Finding]] = {group: [] for group in wanted}
    for done, (group, name, check) in enumerate(every):
        tell(done, len(every))
        groups[group] += ask(name, check, case)
    return Report(groups)


def ask(name: str, check: Check, case: Case) -> list[Finding]:
    """What a check finds; that it could not look where it fails."""
    try:
        return list(check(case))
    except Exception as error:  # noqa: BLE001  # one that fails must not hide what others find
        what = (
            str(error) if isinstance(error, SisyphusError) else f"{type(error).__name__}: {error}"
        )
        return [warning(name, f"could not look: {one_line(what, 300)}")]


def mend(report: Report) -> list[str]:
    """Does what is safe; says what was done, and what could not be."""
    told = []
    for one in report.findings:
        if one.fix is None:
            continue
        try:
            told.append(f"{one.check}: {one.fix()}")
        except (OSError, SisyphusError) as error:
            told.append(f"{one.check}: not mended: {one_line(str(error), 300)}")
    return told


def _row(group: str, one: Finding) -> Json:
    return {
        "group": group,
        "check": one.check,
        "state": one.state,
        "text": one_line(one.text),
        "hint": one_line(one.hint),
        "fixable": one.fix is not None,
    }
