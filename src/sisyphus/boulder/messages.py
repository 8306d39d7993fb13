"""Every sentence about plans that the model and the user read."""

from __future__ import annotations

from sisyphus.boulder import evidence, find, follow, ticks
from sisyphus.boulder.plan import BLOCKED
from sisyphus.ground.paths import display
from sisyphus.ground.text import fingerprint, one_line, without_headings, without_tags
from sisyphus.hook.outcome import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plan import Plan
    from sisyphus.boulder.plans import Checkpoint, PlanRecord
    from sisyphus.boulder.ticks import Tick

_TASK = 200
"""The most characters of the next task."""

_CHECK = 300
"""The most characters of a check."""

_SHOWN = 10
"""The most plans, tasks or todos in one list."""

_NOT_PROVEN = {
    evidence.FAILED: "Ticked, and its check fails",
    evidence.UNPROVEN: "Ticked, and its check proves nothing",
    evidence.UNCHANGED: "Ticked without any change",
}

TO_TICK = "Tick each box in the plan when its task is done."
"""Tells the model how we learn of its progress, once in a context."""

_WITHOUT_BOXES = {
    "task-master": (
        "When a task is done, set its `status` to `done`, as task-master does: "
        "`task-master set-status --id=ID --status=done`."
    ),
    "GSD": (
        "The tasks of this plan count when all of them are done and its SUMMARY.md is written "
        "beside it, as GSD does."
    ),
    "prd.json": "When a story is done, set its `passes` to `true` in the plan.",
}
"""The same for the plans of other tools that have no boxes."""


def when_done(path: str) -> str:
    """Returns what the model is to do with a plan when one of its tasks is done."""
    return without_boxes(path) or TO_TICK


def without_boxes(path: str) -> str:
    """Returns the same for a plan that has no boxes to tick; "" = it has boxes."""
    return _WITHOUT_BOXES.get(find.tool_of(path), "")


def continuation(record: PlanRecord, plan: Plan, project: str) -> Text:
    """Tells a session of a project about its plan: fixed lines, then whatever else is known.

    The hash leaves out automatic checkpoints: one alone does not make this a new text for a session
    that is resumed.
    """
    details = {name: value for name, value in _details(record, plan) if value}
    lasting = {**details, "Last checkpoint": checkpoint(record.checkpoint)}
    hash = fingerprint(_continuation(record, project, lasting))
    return Text("boulder", _continuation(record, project, details), hash, record.path)


def _continuation(record: PlanRecord, project: str, details: dict[str, str]) -> str:
    lines = [f"{name}: {value}" for name, value in details.items()]
    known = "\n".join(["\n", *lines]) if lines else ""
    return (
        "[BOULDER STATE DETECTED]\n\n"
        f"Active plan: {one_line(record.name)}\n"
        f"Progress: {record.completed}/{record.total} tasks complete\n"
        f"Plan location: {display(record.path, project)}\n\n"
        f"Continuing from where you left off.{known}"
    )


def _details(record: PlanRecord, plan: Plan) -> list[tuple[str, str]]:
    plan = follow.at_checkpoint(plan, record.checkpoint)
    number, _ = follow.position(record, plan)
    wave = next((w for w in plan.waves if w.number == number), None)
    last = record.checkpoints[0] if record.checkpoints else None
    return [
        ("Next task", one_line(record.next_task, _TASK)),
        ("Its criteria", _criteria(plan)),
        ("Can be done in parallel", ", ".join(plan.parallel_ids[:_SHOWN])),
        ("Current wave", one_line(f"{wave.number}{f' — {wave.name}' if wave.name else ''}")
         if wave else ""),
        ("Current story", one_line(follow.current_story(record, plan))),
        ("Last checkpoint", checkpoint(last)),
        ("Blocked", str(plan.counts[BLOCKED] or "")),
        ("Open todos", open_todos(record)),
    ]  # fmt: skip


def _criteria(plan: Plan) -> str:
    """Returns what the next task is checked by in prose; "" = nothing. Commands are run by those
    who need them."""
    task = plan.next_task
    if task is None or not task.checks:
        return ""
    from sisyphus.boulder import checks  # imported late: few tasks name any

    criteria = checks.split(task.checks).criteria
    more = f"; and {len(criteria) - _SHOWN} more" if len(criteria) > _SHOWN else ""
    return "; ".join(one_line(each, _CHECK) for each in criteria[:_SHOWN]) + more


def checkpoint(last: Checkpoint | None) -> str:
    if last is None:
        return ""
    return one_line(f"{last.message} ({last.timestamp})" if last.timestamp else last.message)


def open_todos(record: PlanRecord) -> str:
    ended = ("completed", "cancelled")
    todos = [todo["content"] for todo in record.todos if todo["status"] not in ended]
    return one_line("; ".join(todos[:_SHOWN]), 1000)


def summary(record: PlanRecord) -> str:
    """Says on one line how far a plan is."""
    done = follow.of_tasks(record.completed, record.total)
    number = len([name for name in record.failed if name != ticks.OF_PLAN])
    blocked = f", {record.blocked} blocked" if record.blocked else ""
    next_task = f", next: {one_line(record.next_task, 100)}" if record.next_task else ""
    return f"{one_line(record.name)}: {done}{failed(number)}{blocked}{next_task}"


def note(record: PlanRecord, what: str) -> str:
    """Returns what happened to a plan, for the journal."""
    return f"plan {one_line(record.name)}: {what}"


def ticked(tick: Tick) -> str:
    """Says what stands behind a tick, for the journal."""
    return f"ticked {tick.task}: {tick.evidence}"


def failed(number: int) -> str:
    """Says how many ticks do not count, after how many tasks are done; "" = all count."""
    if number == 0:
        return ""
    return f", {number} more {'is' if number == 1 else 'are'} ticked and fail{'s' * (number == 1)}"


def evidence_of(words: Mapping[str, str]) -> list[str]:
    """Says on a few lines what stands behind the ticks of a plan. words: by task."""
    if not words:
        return []
    lines = [f"Ticks: {ticks.summary(words.values())}"]
    for word, what in _NOT_PROVEN.items():
        names = [name for name, found in words.items() if found == word]
        more = f"; and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        if names:
            listed = "; ".join(one_line(name, _TASK) for name in names[:_SHOWN])
            lines.append(f"{what}: {listed}{more}")
    return lines


def like_tasks(plan: Plan) -> list[str]:
    """Names what looks like an open task in a plan and is none, on a few lines; [] = nothing."""
    found = plan.like_tasks
    if not found:
        return []
    looks = "1 line looks like an open task and is none"
    if len(found) > 1:
        looks = f"{len(found)} lines look like open tasks and are none"
    lines = [f"  line {each.line}: {one_line(each.text, _TASK)}" for each in found[:_SHOWN]]
    more = [f"  and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    head = f"{looks}, so the plan cannot be complete. Write `- [ ] …`, or take it out:"
    return [head, *lines, *more]


def not_passed(ticked: Sequence[Tick]) -> Text:
    """Tells the model which ticks their checks do not prove."""
    lines = [_not_passed(tick) for tick in ticked[:_SHOWN]]
    if len(ticked) > _SHOWN:
        lines.append(f"The checks of {len(ticked) - _SHOWN} more have not passed either.")
    body = "\n".join(lines)
    return Text("boulder", body, fingerprint(body))


def _not_passed(tick: Tick) -> str:
    if tick.output:
        return _ran(tick)
    checks = (tick.checks or tick.lost).split("\n")
    named = one_line("; ".join(each.strip("`") for each in checks), _CHECK)
    if not tick.checks:
        what = "Its check was taken out of the plan"
    elif tick.evidence == evidence.FAILED:
        what = "Its check failed"
    elif tick.evidence == evidence.UNPROVEN:
        what = "Its check ran no test"
    else:
        what = "Its check has not run since the last change"
    return f"Ticked: {one_line(tick.task, _TASK)}. {what}: {named}"


def _ran(tick: Tick) -> str:
    """Says what a check printed that we have run. Its first line says which, and how it ended."""
    how, _, output = tick.output.partition("\n")
    whose = f"The check of “{one_line(tick.task, _TASK)}”" if tick.task else "The check of the plan"
    printed = without_headings(without_tags(output)) or "(no output)"
    return f"{whose} does not pass: {one_line(how, _CHECK)}\n{printed}"


def enabled(record: PlanRecord) -> str:
    return f"Boulder state tracking enabled for this plan. {summary(record)}"


def enabled_elsewhere(record: PlanRecord, other: PlanRecord) -> str:
    return (
        f"{enabled(record)}. {_name_and_project(other)} is still open and stays the plan used "
        f"last. To switch, run `sisyphus boulder start` in {display(record.project, '')}."
    )


def completed(record: PlanRecord) -> str:
    done = "its task is done" if record.total == 1 else f"all {record.total} tasks are done"
    return f"{one_line(record.name)} is complete: {done}."


def all_ticked(record: PlanRecord) -> str:
    """Says that a plan is complete as far as its boxes say."""
    ticked = "its task is" if record.total == 1 else f"all {record.total} tasks are"
    return f"{one_line(record.name)}: {ticked} ticked. The checks run when the session stops."


def emptied(record: PlanRecord) -> str:
    why = f": {one_line(record.next_task, _TASK)}" if record.next_task else ""
    return f"{name_and_place(record)} has no tasks any more{why}. {_ways_out(record)}"


def complete(record: PlanRecord) -> str:
    return f"{display(record.path, record.project)} is complete: add a task to it to go on."


def gone(record: PlanRecord) -> str:
    return f"{name_and_place(record)} is gone: deleted or renamed. {_ways_out(record)}"


def _ways_out(record: PlanRecord) -> str:
    path = one_line(display(record.path, record.project))
    return (
        "`sisyphus boulder start NAME` follows another plan, "
        f"`sisyphus boulder clear {path}` forgets this one."
    )


def gone_for_model(record: PlanRecord) -> Text:
    body = gone(record)
    return Text("boulder", body, fingerprint(body), record.path)


def stale(record: PlanRecord, days: int) -> str:
    return (
        f"Nobody has worked on {name_and_place(record, 'the plan')} for {days} days, so it is not "
        "continued. `sisyphus boulder start` continues it, `sisyphus boulder clear` forgets it."
    )


def unreadable(file: PlanFile) -> str:
    return f"The plan {display(file.path, file.project)} cannot be read: {file.problem}."


def unreadable_now(record: PlanRecord) -> str:
    """Says it of a plan that was followed so far."""
    return f"{name_and_place(record)} cannot be read: {record.problem}. {_ways_out(record)}"


def left_out(number: int) -> str:
    plans = "1 more plan here is" if number == 1 else f"{number:,} more plans here are"
    return f"{plans} not read: too many, or too large. `sisyphus boulder start NAME` follows one."


def absent(path: str, project: str) -> str:
    """Says why `docs/kord/boulder.json` is not written. path: of the plan that it names."""
    return (
        f"docs/kord/boulder.json names {one_line(display(path, project))}, which is not here, so "
        "it stays as it is. `sisyphus boulder start --in-repo` writes the plan here into it."
    )


def set_aside(problem: str, aside: str) -> str:
    """Says what happens to a `.boulder.json` that cannot be read. aside: its new path."""
    what = ".boulder.json in the client's folder"
    return f"{what} cannot be read ({problem}). It is renamed to {aside}."


def left_open(other: PlanRecord) -> str:
    """Tells the user that they left an open plan in another project."""
    return f"You last worked in another project. {_name_and_project(other)} is still open."


def several(records: list[PlanRecord]) -> str:
    return (
        f"Several plans are open, and none is followed: {counted(records)}. "
        "`sisyphus boulder start NAME` follows one."
    )


def several_for_model(records: list[PlanRecord]) -> Text:
    body = (
        f"Several plans are open in this project: {counted(records)}. Unless the prompt says which "
        "one to work on, ask your user. `sisyphus boulder start NAME` follows one."
    )
    return Text("boulder", body, fingerprint(body))


def there_are(plans: Sequence[PlanFile | PlanRecord]) -> str:
    """Names plans that a name may have meant."""
    if not plans:
        return "There are none."
    names = [f"{one_line(each.name)} ({display(each.path, each.project)})" for each in plans]
    return f"There are: {some(names)}."


NO_BOXES = "it has no boxes, write its tasks as `- [ ] …`"


def not_to_follow(file: PlanFile) -> str:
    """Says why the plan that the user has named cannot be followed."""
    line = one_line(file.plan.next_step, _TASK) if file.plan else ""
    nothing = NO_BOXES if file.has_no_boxes else "it has no open tasks"
    why = file.problem or line or nothing
    return f"{display(file.path, file.project)} cannot be followed: {why}."


def unusable(file: PlanFile) -> str:
    """Says what is wrong with a plan that nobody can follow before its file is mended."""
    return unreadable(file) if file.problem else not_to_follow(file)


def stray_plans(records: list[PlanRecord]) -> str:
    if len(records) > 1:
        return f"Called like plans: {counted(records)}. `sisyphus boulder start PATH` follows one."
    import shlex  # imported late: only commands need it

    way = f"sisyphus boulder start {shlex.quote(display(records[0].path, records[0].project))}"
    return f"Called like a plan: {counted(records)}. `{way}` follows it."


def plans_of_plan_mode(records: list[PlanRecord]) -> str:
    return f"Plans of plan mode: {counted(records)}. `sisyphus boulder start NAME` follows one."


NOTHING_FOLLOWED = "No plan is followed here."

WRITE_ONE = "Write a PLAN.md with `- [ ] tasks`."


def name_and_place(record: PlanRecord, what: str = "The plan") -> str:
    return f"{what} {one_line(record.name)} ({display(record.path, record.project)})"


def _name_and_project(record: PlanRecord) -> str:
    return f"The plan {one_line(record.name)} in {display(record.project, '')}"


def counted(records: Sequence[PlanRecord]) -> str:
    """Names plans, each with how far it is."""
    return some([
        f"{one_line(each.name)} ({display(each.path, each.project)}, {each.completed}/{each.total})"
        for each in records
    ])  # fmt: skip


def some(names: Sequence[str]) -> str:
    """Lists names, not all of many."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
