"""The commits of a run: each item that is done, and whose checks have passed, is one.

So the night's history is a list of items that passed. Commits that the agent has made itself are
kept, and the run commits what is left. A commit is made before it is noted: if the run is killed
between the two, nothing is left to commit the next time, and what HEAD has is noted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sisyphus.boulder.evidence import FAILED
from sisyphus.boulder.trust import CheckResult
from sisyphus.ground import git, repository
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.masking import mask
from sisyphus.ground.paths import display
from sisyphus.ground.processes import CommandResult
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line
from sisyphus.hook.session import Session
from sisyphus.loops import verify
from sisyphus.loops.runs import ItemCommits, Run, RunState
from sisyphus.runner import asides, item_checks, messages, worktrees
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import ITEM_CHARACTERS, FixPlan
from sisyphus.runner.item_checks import ItemResult, Results

REFUSALS = 2
"""How often in a row git may refuse a commit before the run stops: its agent has seen why, and
could not mend it."""

_SUBJECT = 72
"""The longest subject, in characters: what `git log --oneline` shows in a terminal."""

_CHECK = "Sisyphus-Check"
"""The trailer of a commit with a command that passed before it."""

_BODY_LINES, _LINE = 10, 500
"""The most lines of a body, and the most characters of one."""

_SHOWN = 5
"""The most files that a sentence names."""

_MEND = "Make the check pass"


class Attempt(Record, frozen=True):
    """What came of committing the work of an iteration. items: those that it did. commits: what
    they have become. refused: why there is no commit; None = there is. is_astray: the agent had
    left the branch of the run, or taken commits out of it; the work was set aside."""

    items: list[str]
    commits: ItemCommits
    refused: CheckResult | None = None
    is_astray: bool = False

    def given_again(self, state: RunState, results: Results) -> Results:
        """Returns the results of the items, with the refusal as a check that failed: of the current
        item or, if another one was done, of the first of these."""
        if self.is_astray:
            return {}
        if not (self.refused and self.items):
            return results
        item = state.item if state.item in self.items else self.items[0]
        before = results.get(item) or ItemResult("")
        again = ItemResult(FAILED, self.refused, before.changed, before.lost)
        return {**results, item: again}


# ---------------------------------------------------------------- before the first iteration


def begin(run: Run) -> str:
    """Commits the open edits of the plan, so that the first item's commit has none of them; returns
    what the user is told, "" = there were none. Raises `SisyphusError` if git makes no commit."""
    state, project = run.state, run.folder
    state.branch = state.branch or repository.branch(project)
    # It may commit only from now on: what is done already is no commit of it.
    state.others = [each for each in state.done if each not in state.before]
    said = keep_plan(run)
    if not git.head(project):
        words = ("commit", "--allow-empty", "-qm", f"Begin of run {run.id}")
        _need(repository.run(project, *words), "git makes no commit. Make the first one yourself")
    state.tip = git.head(project)
    state.head = state.head or state.tip
    return said


def keep_plan(run: Run) -> str:
    """Commits the open edits of the plan; returns what the user is told, "" = there were none.
    Raises `SisyphusError` if git makes no commit."""
    project, plan = run.folder, asides.plan_of(run)
    if not (plan and _is_open(project, plan)):
        return ""
    name = display(plan, project)
    done = repository.commit(project, f"Plan of run {run.id}", _PLAN_SECONDS, plan)
    if done.code:
        repository.run(project, "reset", "--quiet", "--", plan)
    where = f" in {display(project, '')}" if run.state.worktree else ""
    _need(done, f"git does not commit the open edits of {name}. Commit them yourself{where}")
    return f"Committed {name}, which had open edits, to {run.state.branch}."


def resume(drive: Drive, *, has_ended_client: bool) -> None:
    """Takes what has been committed since the run was last at work as its user's: it stays,
    whatever becomes of the current item. has_ended_client: an agent was at work till now."""
    state, head = drive.state, git.head(drive.folder)
    is_users = not (state.sets_aside or has_ended_client) and _is_users(drive, head)
    with drive.change():
        state.refusals = 0
        state.tip = head if is_users else state.tip


def _is_users(drive: Drive, commit: str) -> bool:
    """Tells whether a commit is the user's, not that of an agent whose end nobody saw: it came when
    the agent was over, by its client's transcript."""
    run, state = drive.run, drive.state
    if not state.is_working:
        return True
    if messages.trailer(run.owner) in _lines_of(drive.folder, commit):
        return False
    is_known = bool(Session.load(drive.store, run.session).transcript)
    ended_at = max(state.began_at, run.heard_at) + _LATE_SECONDS
    return is_known and repository.committed_at(drive.folder, commit) > ended_at


_LATE_SECONDS = 5.0
"""How much later than our last note an agent may have committed."""

_PLAN_SECONDS = 600.0
"""The longest that git's hooks may take with a commit of the plan alone."""


def _need(done: CommandResult, what: str) -> None:
    if done.code:
        raise SisyphusError(f"The run cannot go on: {what}.\n{done.output.strip()}")


def _is_open(project: str, plan: str) -> bool:
    """Stages the plan; tells whether it has changed. git says no if it ignores the file."""
    return repository.run(project, "add", "--", plan).code == 0 and repository.has_staged(project)


# ---------------------------------------------------------------- after an iteration


def attempt(
    drive: Drive,
    plan: FixPlan,
    results: Results,
    since: float,
    said: str = "",
    completed: str = "",
) -> Attempt | None:
    """Commits what is done and is not committed yet; None = nothing is, or the work tree has an
    item whose check fails.

    plan: as its file has it. results: of the ticks that are new. since: when they were judged, in
    seconds since 1970. said: the agent's last message. completed: why the run is complete; "" = it
    is not.
    """
    state = drive.state
    if not drive.run.setup.commits:
        return None
    if why := _why_astray(drive):
        return _go_back(drive, why)
    failing = item_checks.failing(drive, results)
    if not {*plan.done}.isdisjoint({*failing} - {*state.blocked}):
        return None
    apart = {*state.before, *state.others, *state.commits, *failing}
    items = [item for item in plan.done if item not in apart]
    if not (items or completed):
        return None
    earlier = [item for item in items if item not in results]  # the work has gone on since
    if earlier and (failed := item_checks.first_failure(drive, plan, earlier)):
        return Attempt(earlier, ItemCommits(state.tip, state.tip), failed)
    checks = item_checks.passed(drive, plan, items, since)
    names = items or [_MEND if state.is_mending else drive.run.task]
    text = message(drive.run.owner, names, said, checks)
    refused = _commit(drive, plan, items, text)
    return Attempt(items, ItemCommits(state.tip, git.head(drive.folder), checks), refused)


def note(drive: Drive, made: Attempt | None) -> None:
    """Notes what came of an attempt."""
    if made is None:
        return
    state = drive.state
    if made.refused:
        state.refusals += made.refused.command == messages.COMMIT
        return
    state.refusals, state.tip = 0, made.commits.tip
    for item in made.items:
        state.commits[item] = made.commits


def _why_astray(drive: Drive) -> str:
    """Says that the agent has left the branch of the run, or has taken commits out of it; "" =
    HEAD is where it should be, or could be brought back."""
    state, project = drive.state, drive.folder
    if repository.branch(project) != state.branch and not repository.return_to_branch(
        project, state.branch
    ):
        return f"HEAD was not on {state.branch} any more"
    if not repository.is_ancestor(project, state.tip, "HEAD"):
        return f"{state.branch} had lost the commit {state.tip[:7]} of an item before"
    return ""


def _go_back(drive: Drive, why: str) -> Attempt:
    """Sets the work aside of an agent that went astray, and brings the branch back."""
    state = drive.state
    item = state.item or drive.run.task
    with drive.change():
        asides.begin(state, item)
    try:
        asides.finish(drive)
        way = f"All is as it was before. Your work is on the branch {state.aside_branch}."
    except SisyphusError as error:
        way = str(error)
    refused = CheckResult(messages.COMMIT, FAILED, f"was not run: {why}", way)
    return Attempt([], ItemCommits(state.tip, state.tip), refused, is_astray=True)


def _commit(drive: Drive, plan: FixPlan, items: list[str], text: str) -> CheckResult | None:
    """Stages and commits; returns why there is no commit, None = there is one, or nothing was left.
    Where a hook has refused it and has changed files, as one that formats them does, the items are
    checked again, and what it has made of them is committed."""
    project, seconds = drive.folder, drive.settings["ralph.verify_seconds"]
    if problem := _why_not_yet(project):
        return CheckResult(messages.COMMIT, FAILED, f"was not run: {problem}", "")
    for is_last in (False, True):
        done = repository.stage(project, asides.own_files(project))
        if done.code == 0 and not repository.has_staged(project):
            return None
        before, staged = git.head(project), repository.staged_tree(project)
        if done.code == 0 and _is_begun(drive):
            done = repository.amend(project, seconds)
        elif done.code == 0:
            done = repository.commit(project, text, seconds)
        if done.code == 0:
            is_as_staged = repository.tree_of(project, "HEAD") == staged
            return None if is_as_staged else _check_again(drive, plan, items, before)
        if is_last or not repository.has_changed(project):
            break
        if failed := item_checks.first_failure(drive, plan, items):
            return failed
    how, tail = verify.how_ended(done, seconds), verify.tail(done.output)
    return CheckResult(messages.COMMIT, FAILED, how, tail)


def _is_begun(drive: Drive) -> bool:
    """Tells whether HEAD is our commit of a worker's item, which could not be merged: what its
    agent has mended since belongs to it."""
    run, project = drive.run, drive.folder
    if not run.state.only or messages.trailer(run.owner) not in _lines_of(project, "HEAD"):
        return False
    return not repository.is_ancestor(project, "HEAD", worktrees.run_branch(run))


def _lines_of(project: str, commit: str) -> list[str]:
    return repository.text_of(project, commit).splitlines()


def _why_not_yet(project: str) -> str:
    """Returns what a commit would take along that nobody has finished; "" = nothing."""
    stopped = git.unfinished(project)
    if stopped in repository.END_BY_QUIT:
        return f"a `git {stopped}` is not finished"
    if stopped and (names := repository.unresolved(project)):
        return f"conflicts of a `git {stopped}` are left in {', '.join(names[:_SHOWN])}"
    return ""


def _check_again(drive: Drive, plan: FixPlan, items: list[str], before: str) -> CheckResult | None:
    """Checks the items once more, because a hook has changed what was staged, and let it pass. If
    they fail now, the commit is taken back, and its changes stay. before: the commit before it."""
    failed = item_checks.first_failure(drive, plan, items)
    if failed and repository.run(drive.folder, "reset", "--soft", before).code:
        raise SisyphusError(f"a commit that fails {failed.command} could not be taken back")
    return failed


# ---------------------------------------------------------------- what it says


def message(run: str, items: Sequence[str], said: str, checks: Sequence[str]) -> str:
    """Returns the message of a commit. run: the id of the run. items: what was done. said: the
    agent's last message. checks: the commands that have passed."""
    names = [one_line(mask(item), ITEM_CHARACTERS) or "An item" for item in items]
    subject = cut_on_word("; ".join(names), _SUBJECT)
    whole = "\n".join(f"- {name}" for name in names) if subject != names[0] else ""
    words = "\n".join(_plain_lines(mask(said).strip())[:_BODY_LINES])
    trailers = [
        messages.trailer(run),
        *(f"{_CHECK}: {one_line(mask(each), 300)} (exit 0)" for each in checks),
    ]
    parts = (subject, whole, words, "\n".join(trailers))
    return "\n\n".join(part for part in parts if part) + "\n"


def cut_on_word(text: str, limit: int) -> str:
    """Returns a text of one line, cut after a word if it is longer than a limit, in characters."""
    if len(text) <= limit:
        return text
    start = text[: limit - 1]
    words, blank, _ = start.rpartition(" ")
    return f"{words.rstrip(' ,;:') if blank else start}…"


def _plain_lines(text: str) -> list[str]:
    """Returns the lines of a text without what a terminal would obey."""
    lines = (line[:_LINE] for line in text.splitlines())
    plain = ("".join(c if c.isprintable() else " " for c in line) for line in lines)
    return [line.rstrip() for line in plain]
