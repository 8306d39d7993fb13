"""Runs the checks of a plan whose boxes are all ticked, at the Stop that would end its hold, or a
loop that needs it complete. Only those that the user trusts (see `trust.py`)."""

from __future__ import annotations

import time
from functools import cached_property

from sisyphus.boulder import checks, find, follow, plans, progress, ticks, trust
from sisyphus.boulder.evidence import CHECKED, FAILED, NO_TEST, UNPROVEN
from sisyphus.boulder.ticks import OF_PLAN, Judgement
from sisyphus.ground import worktree
from sisyphus.ground.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plan import Plan
    from sisyphus.boulder.plans import PlanRecord
    from sisyphus.boulder.ticks import Tick
    from sisyphus.boulder.trust import CheckResult
    from sisyphus.ground.store import Store
    from sisyphus.hook.hook import Hook

_SECONDS = 780
"""The longest that all checks of a Stop may take: the client ends its hook after 900 s. Those that
find no time prove nothing."""

_LEAST_SECONDS = 120.0
"""What they get though another check of the Stop may need the rest."""


class Closing(Record):
    """What the checks of a plan came to. plan: as it is known now. judgements: by task, that of the
    whole plan under `ticks.OF_PLAN`. changed: files of the checks that have changed since they were
    trusted. new: how many commands are not trusted, of tasks that nothing else proves; late: how
    many trusted ones found no time to run. ran: the tasks whose checks ran to their end."""

    file: PlanFile
    plan: Plan
    judgements: dict[str, Judgement]
    changed: list[str]
    new: int
    late: int
    ran: frozenset[str] = frozenset()


def look(hook: Hook, file: PlanFile, *, reserved: float = 0.0) -> Closing | None:
    """Runs the trusted checks that have not passed since the last change, in the plan's order, up
    to the first that fails. None = a box is open, or nobody follows the plan. Slow.

    reserved: the seconds that another check of this Stop may need.
    """
    record = plans.find(hook.store, file.path)
    if record is None or file.plan is None or not file.plan.is_complete:
        return None
    judgements = progress.judgements(hook, file)
    run = _Checks(hook, file, file.plan, max(_LEAST_SECONDS, _SECONDS - reserved))
    own = run.judge(judgements)
    judgements |= own
    known = _known(record, judgements)
    plan = follow.as_known(file.plan, known)
    late = len(run.late)
    return Closing(file, plan, judgements, run.changed, run.new(judgements), late, frozenset(own))


def act(store: Store, closing: Closing, now: float) -> follow.Step:
    """Notes what was found out, unless the plan was changed meanwhile: then only that."""
    file = closing.file
    if not find.has_stamp(file.path, file.stamp):
        return progress.update(store, find.read(file.path, file.project), now)
    return progress.update(store, file, now, None, closing.judgements)


def _known(record: PlanRecord, judgements: dict[str, Judgement]) -> PlanRecord:
    failed = [name for name in record.failed if name not in judgements]
    failed += [name for name, each in judgements.items() if each.output]
    return replace(record, failed=failed)


class _Checks:
    """The checks of a plan, each command run once, as long as there is time. seconds: how long."""

    def __init__(self, hook: Hook, file: PlanFile, plan: Plan, seconds: float) -> None:
        self._store, self._plan, self._project = hook.store, plan, file.project
        self._rows = ticks.of_plan(hook.store, file.path)
        self._trusted = trust.of_project(hook.store, file.project)
        self._seconds = hook.settings["ralph.verify_seconds"]
        self._ends_at = time.monotonic() + seconds
        self._results: dict[str, CheckResult] = {}
        self.late: set[str] = set()
        self._file, self._now = file, hook.now

    @cached_property
    def _last_change(self) -> float:
        """Asks git for the names of all files, so only where a check has passed before."""
        return worktree.last_change(self._project, self._now, find.no_work(self._file))

    @property
    def changed(self) -> list[str]:
        """Returns the files of the checks that have changed since they were trusted."""
        return sorted({path for each in self._results.values() for path in each.changed})

    def new(self, found: dict[str, Judgement]) -> int:
        """Returns how many commands nobody trusts, of tasks that nothing else proves."""
        named = zip(self._plan.names, (task.checks for task in self._plan.tasks), strict=True)
        written = [each for name, each in named if not self._is_checked(name, found)]
        commands = checks.split(check for each in (*written, self._plan.checks) for check in each)
        return len([each for each in commands.commands if each not in self._trusted])

    def judge(self, found: dict[str, Judgement]) -> dict[str, Judgement]:
        """Returns the judgements of the tasks whose checks ran. found: those by the session's
        records: a check that it has just seen to pass is not run again."""
        if not self._trusted:
            return {}
        judgements = {}
        named = zip(self._plan.names, (task.checks for task in self._plan.tasks), strict=True)
        for name, written in (*named, (OF_PLAN, self._plan.checks)):
            if not written or self._is_checked(name, found):
                continue
            judgement = self._judge(checks.split(written).commands)
            if judgement:
                judgements[name] = judgement
            if judgement and judgement.output:
                break
        return judgements

    def _is_checked(self, name: str, found: dict[str, Judgement]) -> bool:
        row: Tick | None = self._rows.get(name)
        if name in found:
            return found[name].evidence == CHECKED
        return bool(row and row.evidence == CHECKED and row.at >= self._last_change)

    def _judge(self, commands: tuple[str, ...]) -> Judgement | None:
        """Runs the checks of one task; None = not all of them could run, and none has failed."""
        for command in commands:
            self._try(command)
            if command in self._results and not self._results[command].has_passed:
                result = self._results[command]
                word = UNPROVEN if result.ended == NO_TEST else FAILED
                return Judgement(word, f"{command} {result.how}\n{result.tail}".rstrip())
        is_proven = bool(commands) and all(each in self._results for each in commands)
        return Judgement(CHECKED) if is_proven else None

    def _try(self, command: str) -> None:
        """Runs a command, if that is to be done, and notes its result. One that is cut off before
        its own time is up has none."""
        left = int(self._ends_at - time.monotonic())
        if command in self._results or command not in self._trusted:
            return
        if left <= 0:
            self.late.add(command)
            return
        seconds = min(self._seconds, left)
        results = trust.run(self._store, [command], self._project, seconds)
        if results and seconds < self._seconds and results[0].has_timed_out:
            self.late.add(command)
        elif results:
            self._results[command] = results[0]
