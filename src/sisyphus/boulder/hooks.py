"""Follows a plan from event to event: sends it at the start, counts its tasks at each edit, looks
for other changes at prompts and Stops, and allows edits of it."""

from __future__ import annotations

import os

from sisyphus.boulder import find, follow, messages, progress
from sisyphus.boulder import plans as plan_rows
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.follow import COMPLETED, NEW, NOTHING
from sisyphus.boulder.plans import COMPLETE
from sisyphus.ground import files
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.partial import partial
from sisyphus.ground.paths import display, names, project_of
from sisyphus.ground.record import replace
from sisyphus.hook.event import EDIT, WRITE
from sisyphus.hook.outcome import Outcome, merge
from sisyphus.hook.session import Session
from sisyphus.sessions import command_names, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.follow import Step
    from sisyphus.boulder.plans import PlanRecord
    from sisyphus.boulder.shared_file import Shared
    from sisyphus.boulder.ticks import Judgement
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act


_MOST_NEW = 5
"""The most plans that a session reads which follows none."""


def look_at_start(hook: Hook) -> Act | None:
    from sisyphus.boulder import session_start  # imported late: edits do not need it

    return partial(session_start.act, hook, session_start.gather(hook))


# ---------------------------------------------------------------- tools


def look_at_tools(hook: Hook) -> Act | None:
    """Reads the plans that tools have edited or written, and the model's list of todos."""
    plans = find.changed_by(hook.event.calls, _own_path(hook))
    files = [_read(path) for path in dict.fromkeys(plans)]
    judgements = [progress.judgements(hook, file) for file in files]
    lists = [call.todos for call in hook.event.calls if call.todos is not None]
    own_file = _read_own_plan(hook) if lists else None
    if not files and not own_file:
        return None
    shared = progress.shared_changes(hook.store, hook.project) if files else None
    todos = lists[-1] if lists else []
    return partial(_update_all, hook, files, judgements, shared, own_file, todos)


def _own_path(hook: Hook) -> str:
    """Returns the file of the plan that the session follows, for a subagent the one that its
    session follows; "" = none."""
    if not hook.event.agent:
        return hook.standing.plan
    row = plan_rows.of_session(hook.store, _main_session(hook))
    return row.path if row else ""


def _read(path: str) -> PlanFile:
    """Reads a plan by the agent's path, which may go through a link into its project."""
    project = project_of(os.path.dirname(path))
    inside = next(iter(names(path, project)), None)
    return find.read(os.path.join(project, inside) if inside else path, project)


def _update_all(
    hook: Hook,
    files: list[PlanFile],
    judgements: list[dict[str, Judgement]],
    shared: Shared | None,
    own_file: PlanFile | None,
    todos: list[dict[str, str]],
) -> Outcome:
    """Updates the plans that tools have changed. own_file: the plan that gets the todos."""
    outcomes = [
        _update(hook, file, shared, found) for file, found in zip(files, judgements, strict=True)
    ]
    if own_file and (row := plan_rows.find(hook.store, own_file.path)):
        row = replace(row, todos=todos)
        plan_rows.save(hook.store, row)
        outcomes.append(Outcome(exports=progress.exports(hook.store, row, own_file)))
    return merge(outcomes)


def _read_own_plan(hook: Hook) -> PlanFile | None:
    row = plan_rows.of_session(hook.store, hook.session)
    return find.read(row.path, row.project) if row else None


def _update(
    hook: Hook, file: PlanFile, shared: Shared | None, judgements: dict[str, Judgement]
) -> Outcome:
    """Updates one plan, and makes the session follow it.

    A new plan becomes the one used last, unless that is still open in another project.
    """
    before = plan_rows.latest(hook.store)
    step = progress.update(hook.store, file, hook.now, shared, judgements)
    outcome = progress.outcome(hook.store, step, file)
    row, is_new = step.record, step.what == NEW
    if row and step.what == COMPLETED and hook.standing.hold == "active":
        outcome.messages = [_all_ticked(hook, file, row)]
    if row is None or step.what == NOTHING or not row.is_open:
        return outcome
    is_used = is_new or bool(row.used_at)
    if is_new and before and _is_open_elsewhere(before, file.project):
        is_used = False
        outcome.messages = [messages.enabled_elsewhere(row, before)]
    session = _follower(hook, row, is_new=is_new)
    progress.attach(hook.store, session, row, hook.now, is_used=is_used)
    return outcome


def _all_ticked(hook: Hook, file: PlanFile, row: PlanRecord) -> str:
    """Tells the user of a held session that all boxes are ticked: its checks are still to run."""
    from sisyphus.boulder import trust  # imported late: few edits complete a plan

    has_checks = bool(file.plan and trust.allowed(hook.store, file.project, file.plan)[0])
    return messages.all_ticked(row) if has_checks else messages.completed(row)


def _is_open_elsewhere(row: PlanRecord, project: str) -> bool:
    return row.is_open and row.project != project and os.path.isfile(row.path)


def _follower(hook: Hook, row: PlanRecord, *, is_new: bool) -> Session | None:
    """Returns the session that follows a changed plan from now on; None = it is a plan of another
    project, or the session keeps its own: the changed one is old, or its user holds it at its
    own."""
    session = _main_session(hook)
    own = plan_rows.of_session(hook.store, session)
    is_held = plan_rows.is_held(hook.store, session)
    is_busy = own is not None and own.is_open and not is_new
    keeps_own = own is not None and own.path != row.path and (is_held or is_busy)
    is_in_store = session.n and row.project == hook.project
    return session if is_in_store and not keeps_own else None


def _main_session(hook: Hook) -> Session:
    """Returns the session, for a subagent the one that it belongs to."""
    if not hook.event.agent:
        return hook.session
    return Session.find(hook.store, hook.event.session)


# ---------------------------------------------------------------- prompts and Stops


def look_at_prompt(hook: Hook) -> Act | None:
    command = hook.event.prompt.command
    if command and command_names.own_name(hook, command.name) == "start-work":
        return _start_work(hook, command.arguments)
    return look_at_stop(hook)


def look_at_stop(hook: Hook) -> Act | None:
    """Reads the plan again: something other than a tool of this session has changed it, or written
    one for a session that follows none."""
    file = _read_own_plan(hook)
    shared = progress.shared_changes(hook.store, hook.project)
    if file:
        return partial(_update_own, hook, file, shared, progress.judgements(hook, file))
    plans = find.of_project(hook.project, hook.event.folder)
    new, _ = find.read_some(plans[:_MOST_NEW], hook.project)
    judgements = [progress.judgements(hook, each) for each in new]
    return partial(_update_all, hook, new, judgements, shared, None, [])


def _update_own(
    hook: Hook, file: PlanFile, shared: Shared | None, judgements: dict[str, Judgement]
) -> Outcome:
    """Updates the session's plan. After a prompt it no longer follows one that is complete."""
    step = progress.update(hook.store, file, hook.now, shared, judgements)
    is_over = step.record is None or step.record.state == COMPLETE
    if hook.event.name != "stop" and is_over and step.what == NOTHING:
        hook.session.plan = None
    outcome = progress.outcome(hook.store, step, file)
    if hook.checked:
        return _without_old_news(hook.checked, step, outcome)
    is_held = hook.checked is None and hook.standing.hold == "active"
    if step.record and step.what == COMPLETED and is_held:
        outcome.messages = [_all_ticked(hook, file, step.record)]
    return outcome


def _without_old_news(checked: frozenset[str], step: Step, outcome: Outcome) -> Outcome:
    """Returns what came of a plan without what was so before its checks ran at this Stop."""
    told = [tick for tick in step.ticks.to_tell if tick.task not in checked]
    outcome.texts = [messages.not_passed(told)] if told else []
    outcome.messages = [] if step.what == COMPLETED else outcome.messages
    return outcome


def _start_work(hook: Hook, name: str) -> Act:
    """Answers `/start-work [NAME]`: the model gets the plan and starts to work. If no plan or
    several are meant, the user reads why and the model gets nothing."""
    from sisyphus.boulder import which  # imported late: few prompts ask for it

    try:
        file = which.to_start(
            hook.store, name, hook.project, hook.event.folder, hook.home, hook.session
        )
    except SisyphusError as error:
        return partial(Outcome, reason=str(error), notes=[f"no plan started: {error}"])
    return partial(_start_plan, hook, file, progress.shared_changes(hook.store, file.project))


def _start_plan(hook: Hook, file: PlanFile, shared: Shared | None) -> Outcome:
    assert file.plan is not None
    row = progress.start(hook.store, hook.session, file, hook.now, shared)
    text = messages.continuation(row, file.plan, hook.project)
    when_done = messages.without_boxes(file.path)
    if when_done and ledger.record_notice(hook, when_done):
        text.body += f"\n\n{when_done}"
    return Outcome(
        [text],
        [messages.summary(row)],
        [messages.note(row, "started")],
        exports=progress.exports(hook.store, row, file),
    )


# ---------------------------------------------------------------- ends, permissions


def look_at_compaction(hook: Hook) -> Act | None:
    file = _read_own_plan(hook)
    return partial(_checkpoint, hook, file, "Before a compaction") if file else None


def look_at_end(hook: Hook) -> Act | None:
    file = _read_own_plan(hook)
    return partial(_checkpoint, hook, file, "End of a session") if file else None


def _checkpoint(hook: Hook, file: PlanFile, why: str) -> Outcome:
    """Records how far the plan is, next to the user's checkpoint. Does nothing if no task was done
    since the last one of ours."""
    row = plan_rows.find(hook.store, file.path)
    if row is None or not row.is_open:
        return Outcome()
    new, old = follow.checkpoint(file.plan, hook.now, why), row.automatic
    if old and old.message.rpartition("(")[2] == new.message.rpartition("(")[2]:
        return Outcome()
    row = replace(row, automatic=new)
    plan_rows.save(hook.store, row)
    return Outcome(notes=[new.message], exports=progress.exports(hook.store, row, file))


def look_at_permission(hook: Hook) -> Act | None:
    """Allows edits of the followed plan, if the user has accepted edits: the client asks for each
    one below `.claude/`, which stalls an unattended session.

    It is strict: the path must be exactly the recorded one, in a plan's place, without a link.
    """
    (call,) = hook.event.calls
    plan, project = hook.standing.plan, hook.project
    is_fix_plan = bool(hook.standing.loop) and find.is_fix_plan(plan, project)
    is_own = (
        not hook.event.agent
        and call.action in (EDIT, WRITE)
        and call.path == plan
        and (find.is_in_place(plan, project) or is_fix_plan)
        and files.is_single(plan)
    )
    if not is_own:
        return None
    return partial(_allow, hook)


def _allow(hook: Hook) -> Outcome:
    """Answers the request, so no dialog opens."""
    hook.session.dialog = ""
    plan = display(hook.standing.plan, hook.project)
    return Outcome(notes=[f"allowed: the plan {plan}"], allows=True)
