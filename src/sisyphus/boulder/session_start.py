"""Continues a plan when a session starts, and tells model and user. If there is no reason to prefer
one of several, we continue none and tell the model to ask."""

from __future__ import annotations

from sisyphus.boulder import find, messages, other_tools, progress, which
from sisyphus.boulder import plans as plan_rows
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.follow import COMPLETED, EMPTIED, GONE, NEW, Step, of_tasks
from sisyphus.boulder.plans import ACTIVE, PlanRecord
from sisyphus.boulder.which import Search
from sisyphus.ground.record import Record, field, replace
from sisyphus.hook.outcome import Outcome, merge
from sisyphus.sessions import ledger, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.shared_file import Shared
    from sisyphus.boulder.ticks import Judgement
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.session import Session


class Survey(Record):
    """What we read before the transaction.

    search: the plans that may be open. shared: what others wrote in `docs/kord/boulder.json`, and
    kord_problem why it cannot be read. absent: the path of the plan that it names, if that is not
    on disk.
    of_other_tools: the paths of their open plans, if no other one is open.
    elsewhere: the plan used last, if it is open and of another project. judgements: the paths of
    plans → what stands behind their ticks.
    """

    search: Search
    shared: Shared | None = None
    kord_problem: str = ""
    absent: str = ""
    of_other_tools: list[str] = field(default_factory=list)
    elsewhere: PlanRecord | None = None
    judgements: dict[str, dict[str, Judgement]] = field(default_factory=dict)


def gather(hook: Hook) -> Survey:
    """Reads the plans that a session may continue."""
    store, project, folder = hook.store, hook.project, hook.event.folder
    survey = Survey(
        which.search(store, project, folder, which.of_session(store, project, _session(hook)))
    )
    files = survey.search.files
    if find.has_kord_file(project):
        from sisyphus.boulder import shared_file

        survey.kord_problem = shared_file.problem(project)
        survey.absent = shared_file.absent_plan(project)
        survey.shared = progress.shared_changes(store, project)
    survey.judgements = {file.path: progress.judgements(hook, file) for file in files}
    if not any(file.has_open_tasks for file in files):
        survey.of_other_tools = other_tools.open_plans(project).paths
    last = plan_rows.latest(store)
    if last and last.is_open and last.project != project:
        is_open = find.read(last.path, last.project).has_open_tasks
        survey.elsewhere = last if is_open else None
    return survey


def _session(hook: Hook) -> Session:
    """Returns the session whose plan comes first: after `/clear` the one that has ended."""
    before = sessions.before_clear(hook) if hook.event.source == "clear" else hook.session
    return before if before.n else hook.session


def act(hook: Hook, survey: Survey) -> Outcome:
    """Updates all plans of a survey, and continues one or asks."""
    last = plan_rows.latest(hook.store)
    outcomes = []
    steps = {
        file.path: progress.update(
            hook.store, file, hook.now, survey.shared, survey.judgements.get(file.path)
        )
        for file in survey.search.files
    }
    outcomes += [_news(hook, steps[file.path], file) for file in survey.search.files]
    if survey.kord_problem:
        outcomes.append(Outcome(messages=[survey.kord_problem]))
    if survey.search.left_out:
        outcomes.append(_advice(hook, messages.left_out(survey.search.left_out)))
    if survey.of_other_tools:
        outcomes.append(other_tools.act(hook, survey.of_other_tools))
    active = {
        path: step.record
        for path, step in steps.items()
        if step.record and step.record.state == ACTIVE
    }
    files = [file for file in survey.search.files if file.path in active]
    files = survey.search.choose(files, active.values())
    if len(files) == 1:
        outcomes.append(_continue(hook, files[0], steps[files[0].path], survey.shared))
        outcomes.append(_leave(hook, survey.elsewhere, last))
        if survey.absent and survey.absent != files[0].path:
            outcomes.append(_advice(hook, messages.absent(survey.absent, hook.project)))
    elif files:
        outcomes.append(_ask(hook, [active[file.path] for file in files]))
    return merge(outcomes)


def _advice(hook: Hook, text: str) -> Outcome:
    """Tells the user something about this project, once."""
    return Outcome(messages=[text] if ledger.record_advice(hook, text) else [])


def _news(hook: Hook, step: Step, file: PlanFile) -> Outcome:
    """Tells the user what is wrong with a plan, followed or not, or that it is complete."""
    if file.problem and not file.is_half:
        return Outcome(messages=[messages.unreadable(file)])
    if step.what not in (COMPLETED, EMPTIED, GONE):
        return Outcome()
    outcome = progress.outcome(hook.store, step, file)
    if step.what == GONE and step.record:
        outcome.texts = [messages.gone_for_model(step.record)]
    return outcome


def _continue(hook: Hook, file: PlanFile, step: Step, shared: Shared | None) -> Outcome:
    row = step.record
    assert row is not None and file.plan is not None
    if step.what != NEW and plan_rows.is_stale(hook.store, row, hook.now):
        days = int((hook.now - row.used_at) / 86400)
        return Outcome(messages=[messages.stale(row, days)], notes=["the plan is stale"])
    if shared and not shared.is_absent:  # of another plan that is not open, or merged already
        row = replace(row, kord=shared.fingerprint)
    row = progress.attach(hook.store, hook.session, row, hook.now)
    is_new = step.what == NEW and hook.store.is_durable
    news = messages.enabled(row) if is_new else messages.summary(row)
    texts = ledger.missing(hook, [messages.continuation(row, file.plan, hook.project)])
    when_done = messages.when_done(file.path)
    if texts and ledger.record_notice(hook, when_done):
        texts[0].body += f"\n\n{when_done}"
    return Outcome(
        texts,
        [] if hook.event.source == "compact" else [news],
        [messages.note(row, of_tasks(row.completed, row.total))],
        exports=progress.exports(hook.store, row, file),
    )


def _leave(hook: Hook, elsewhere: PlanRecord | None, last: PlanRecord | None) -> Outcome:
    """Tells the user once that they left an open plan in another project: it was the one used last,
    and no session is open there.

    last: the plan that was used last when the transaction began.
    """
    now = plan_rows.latest(hook.store)
    is_passed = elsewhere and last and now and elsewhere.path == last.path != now.path
    if not elsewhere or not is_passed or hook.event.source == "compact":
        return Outcome()
    if sessions.open_in(hook.store, elsewhere.project):
        return Outcome()
    return _advice(hook, messages.left_open(elsewhere))


def _ask(hook: Hook, plans: list[PlanRecord]) -> Outcome:
    """Tells model and user together, and not again while the text is in the model's context."""
    text = messages.several_for_model(plans)
    has_text = not ledger.missing(hook, [text])
    return Outcome() if has_text else Outcome([text], [messages.several(plans)])
