"""Remembers the ticks of a plan: which tasks are done, what stands behind each, and which checks
the plan named for them.

A row belongs to a task by its name. It goes on when the task is reworded, and when it is opened and
ticked again.
"""

from __future__ import annotations

from sisyphus.boulder import evidence
from sisyphus.boulder.evidence import CHANGED, CHECKED, FAILED, UNCHANGED, UNPROVEN
from sisyphus.boulder.plan import DONE, plain
from sisyphus.ground.record import Record, field, replace
from sisyphus.ground.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plan import Plan, Task
    from sisyphus.boulder.plans import PlanRecord
    from sisyphus.ground.store import Store

OF_PLAN = ""
"""The name in whose row the checks of the whole plan stand."""

_PLAN = "(SELECT n FROM plan WHERE path = ?)"
_COLUMNS = "task, is_done, at, evidence, checks, lost, output, is_told, changed_at"

_PAIR = 2
"""The backticks around a command that has none in it."""

_NAMED, _TASK = 3, 60
"""The most bare ticks that are named, and the characters of each."""

_MOST_REWORDED = 20
_LIKENESS = 0.6
"""How alike two texts have to be, of 1, so that one is the other one reworded, and among how many
we look."""


class Tick(Record, is_frequent=True):
    """What we know of a task. checks: as the plan has them, one a line; lost: those that it had
    before. output: the end of what a failed check printed. is_told: a model was told that its check
    has not passed. For the rest see `schema.sql`."""

    task: str
    is_done: bool = False
    at: float = 0.0
    evidence: str = ""
    checks: str = ""
    lost: str = ""
    output: str = ""
    is_told: bool = False
    changed_at: float = 0.0

    @property
    def does_not_pass(self) -> bool:
        """Tells whether its check says that the task is not done: it failed, or ran no test when we
        ran it."""
        return self.evidence == FAILED or (self.evidence == UNPROVEN and bool(self.output))

    @property
    def is_open(self) -> bool:
        """Tells whether its check may still prove what stands behind it. That of the whole plan has
        no box."""
        is_ticked = self.is_done or self.task == OF_PLAN
        return is_ticked and bool(self.checks) and self.evidence not in ("", CHECKED)


class Pending(Record):
    """The ticks of a plan to look at. rows: all that we know. new: tasks that are done and were
    not. open_: those whose check may still prove something. since: when the last one before the
    new ones was ticked, or the plan begun."""

    rows: dict[str, Tick]
    new: list[str]
    open_: list[str]
    since: float


class Judgement(Record, frozen=True):
    """What somebody found out about a tick. evidence: see `evidence.py`. output: the end of what
    its check printed, if that failed. is_open: the result of a run of its check is still to come,
    so nobody says yet that there is none. changed_at: when a file last changed before the tick; 0 =
    nobody has looked."""

    evidence: str
    output: str = ""
    is_open: bool = False
    changed_at: float = 0.0


class Update(Record):
    """What came of an update. failed: the names of the ticked tasks whose check fails.
    failed_check: the one of the whole plan that fails, or "". new: the ticks that are new, or of
    which more is known now. to_tell: those of which the model is to be told."""

    failed: list[str] = field(default_factory=list)
    failed_check: str = ""
    new: list[Tick] = field(default_factory=list)
    to_tell: list[Tick] = field(default_factory=list)


def of_plan(store: Store, path: str) -> dict[str, Tick]:
    """Returns what we know of the tasks of a plan, by their names."""
    rows = store.all(f"SELECT {_COLUMNS} FROM tick WHERE plan = {_PLAN}", path)
    return {
        task: Tick(task, bool(is_done), at, word, checks, lost, output, bool(is_told), changed)
        for task, is_done, at, word, checks, lost, output, is_told, changed in rows
    }


def pending(store: Store, record: PlanRecord, file: PlanFile) -> Pending | None:
    """Returns the ticks of a plan to look at; None = there are none."""
    rows = of_plan(store, file.path)
    if file.plan is None or is_first(record, rows):
        return None
    open_ = [name for name, row in rows.items() if row.is_open]
    if record.stamp == file.stamp and not open_:
        return None
    named = zip(file.plan.names, file.plan.tasks, strict=True)
    done = dict.fromkeys(name for name, task in named if task.status == DONE)
    new = [name for name in done if name not in rows or not rows[name].is_done]
    open_ = [name for name in open_ if name in done or name == OF_PLAN]
    since = max((row.at for row in rows.values() if row.is_done), default=record.started_at)
    return Pending(rows, new, open_, since) if new or open_ else None


def is_first(record: PlanRecord, rows: Mapping[str, Tick]) -> bool:
    """Tells whether nobody has looked at the ticks of a plan before: it was followed by an earlier
    version of this program."""
    return not rows and record.completed > 0


def update(
    store: Store,
    path: str,
    plan: Plan,
    judgements: Mapping[str, Judgement],
    at: float,
    *,
    is_first: bool,
) -> Update:
    """Notes the ticks of a plan that was read anew.

    judgements: what was found out, by task. at: when the file was written. is_first: nobody has
    looked at its ticks before, so nobody knows what stands behind those that are there.
    """
    names = plan.names
    tasks = dict(zip(names, plan.tasks, strict=True))
    before = of_plan(store, path)
    rows = _renamed(store, path, before, tasks)
    result = Update()
    for name, task in tasks.items():
        row = rows.get(name)
        if row is None and task.status != DONE and not _commands(task.checks):
            continue
        tick = _with_task(row or Tick(name), task, at)
        judgement = judgements.get(name)
        if tick.is_done and judgement and not is_first:
            tick = _with_judgement(tick, judgement, is_new=row is None or not row.is_done)
            if tick.evidence != (row.evidence if row and row.is_done else None):
                result.new.append(tick)
            if _is_to_tell(tick, judgement, row):
                tick = replace(tick, is_told=True)
                result.to_tell.append(tick)
        if tick.is_done and tick.does_not_pass:
            result.failed.append(name)
        if tick != row:
            save(store, path, tick)
    _note_plan(store, path, rows.get(OF_PLAN), plan, judgements.get(OF_PLAN), result)
    for name in rows if tasks else ():  # a plan may be empty for a moment
        if name not in tasks and name != OF_PLAN:
            _remove(store, path, name)
    return result


def save(store: Store, path: str, tick: Tick) -> None:
    """Inserts or replaces the row of a task. path: of its plan."""
    store.run(
        f"INSERT OR REPLACE INTO tick (plan, {_COLUMNS}) "
        f"VALUES ({_PLAN}, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        path, tick.task, int(tick.is_done), tick.at, tick.evidence, tick.checks, tick.lost,
        tick.output, int(tick.is_told), tick.changed_at,
    )  # fmt: skip


def _remove(store: Store, path: str, name: str) -> None:
    store.run(f"DELETE FROM tick WHERE plan = {_PLAN} AND task = ?", path, name)


def _with_task(tick: Tick, task: Task, at: float) -> Tick:
    """Returns a tick with the state and the checks of its task."""
    is_done, checks = task.status == DONE, "\n".join(_commands(task.checks))
    if (is_done, checks) == (tick.is_done, tick.checks):
        return tick
    lost = _lost(tick, task.checks) if checks != tick.checks else tick.lost
    at = at if is_done and not tick.is_done else tick.at
    tick = replace(tick, is_done=is_done, at=at, checks=checks, lost=lost)
    is_by_check = tick.evidence in (CHECKED, FAILED, UNPROVEN)
    return replace(tick, evidence=CHANGED, output="") if is_by_check and not checks else tick


def _commands(named: tuple[str, ...]) -> list[str]:
    """Returns the checks that are commands, as the plan has them. Nobody runs prose."""
    if all(each[0] == each[-1] == "`" and each.count("`") == _PAIR for each in named):
        return [each for each in named if each.strip("`").strip()]
    from sisyphus.boulder.checks import split  # imported late: most checks stand in backticks

    return [each for each in named if split([each]).commands]


def _lost(tick: Tick, checks: Iterable[str]) -> str:
    """Returns the checks that a task has had and has no more."""
    known = dict.fromkeys([*tick.lost.split("\n"), *tick.checks.split("\n")])
    return "\n".join(each for each in known if each and each not in checks)


def _with_judgement(tick: Tick, judgement: Judgement, *, is_new: bool) -> Tick:
    """Returns a tick with what was found out about it. What a check has said stays until a check
    says more; a task that was opened and ticked again without a change keeps its changes."""
    word = judgement.evidence
    is_by_check = word in (CHECKED, FAILED, UNPROVEN)
    if not is_new and not is_by_check:
        return tick
    if word == UNCHANGED and tick.evidence in (CHANGED, CHECKED):
        word = CHANGED
    if word == CHECKED and tick.lost:
        word = CHANGED  # another check has passed than the plan had
    changed_at = judgement.changed_at if is_new else tick.changed_at
    return replace(tick, evidence=word, output=judgement.output, changed_at=changed_at)


def _is_to_tell(tick: Tick, judgement: Judgement, before: Tick | None) -> bool:
    """Tells whether the model is to hear that the check of a task has not passed: once, and what it
    printed when we have run it."""
    if judgement.is_open:
        return False
    if judgement.output:
        return before is None or judgement.output != before.output
    has_check = bool(tick.checks or tick.lost)
    return has_check and tick.evidence != CHECKED and not tick.is_told


def _note_plan(
    store: Store,
    path: str,
    row: Tick | None,
    plan: Plan,
    judgement: Judgement | None,
    result: Update,
) -> None:
    """Notes the checks of the whole plan, which has no box."""
    checks = "\n".join(_commands(plan.checks))
    tick = row or Tick(OF_PLAN)
    if checks != tick.checks:
        lost = _lost(tick, plan.checks)
        tick = replace(tick, checks=checks, lost=lost, evidence="", output="")
    if judgement:
        tick = replace(tick, evidence=judgement.evidence, output=judgement.output)
        if tick.does_not_pass and tick != row:
            result.to_tell.append(tick)
    if tick.does_not_pass:
        result.failed.append(OF_PLAN)
        result.failed_check = tick.output.partition("\n")[0]
    if tick != (row or Tick(OF_PLAN)):
        save(store, path, tick)


def _renamed(
    store: Store, path: str, rows: dict[str, Tick], tasks: Mapping[str, Task]
) -> dict[str, Tick]:
    """Returns the rows with those of reworded tasks under their new names: of the tasks that are
    gone, and of those that are new, the ones whose words are most alike."""
    gone = [name for name in rows if name and name not in tasks]
    new = [n for n, task in tasks.items() if n not in rows and (task.status == DONE or task.checks)]
    if not gone or not new:
        return rows
    from difflib import SequenceMatcher  # imported late: few edits reword a task

    rows = dict(rows)
    for old in gone[:_MOST_REWORDED]:
        words = old.rpartition(" (")[0] if old.endswith(")") else old
        likeness = {
            name: SequenceMatcher(None, words, plain(tasks[name].text)).ratio()
            for name in new[:_MOST_REWORDED]
        }
        best = max(likeness, key=likeness.__getitem__, default="")
        if likeness.get(best, 0.0) >= _LIKENESS:
            new.remove(best)
            _remove(store, path, old)
            rows[best] = replace(rows.pop(old), task=best)
            save(store, path, rows[best])
    return rows


def words(store: Store, path: str, plan: Plan) -> dict[str, str]:
    """Returns what stands behind the ticks of a plan: names of done tasks → evidence, in the plan's
    order. Of those that were there before anybody looked it says nothing."""
    rows = of_plan(store, path)
    named = zip(plan.names, plan.tasks, strict=True)
    ticked = (name for name, task in named if task.is_ticked)
    return {name: rows[name].evidence for name in ticked if name in rows and rows[name].evidence}


def of_file(store: Store, path: str) -> str:
    """Says how many ticks of a plan have which evidence, and names those that nothing changed for;
    "" = nobody knows of one."""
    rows = [row for row in of_plan(store, path).values() if row.is_done and row.evidence]
    bare = [one_line(row.task, _TASK) for row in rows if row.evidence == UNCHANGED]
    names = f" ({'; '.join(bare[:_NAMED])})" if 0 < len(bare) <= _NAMED else ""
    return f"{summary(row.evidence for row in rows)}{names}"


def summary(found: Iterable[str]) -> str:
    """Says how many ticks have which evidence; "" = nobody knows of one."""
    return ", ".join(f"{number} {word}" for word, number in evidence.counts(found).items())
