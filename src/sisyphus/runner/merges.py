"""The judged merge of a worker's item: its commits are made anew on the run's branch, the plan is
merged by item, the result is checked, and only then the branch moves on to it. So the branch is a
line of items, green after each, whatever their order.

What a step needs is in git: refs below `refs/sisyphus/`, and git's own state of a rebase. Who is
killed calls `attempt` again, and the rest is done once.

    refs/sisyphus/RUN-1/ITEM/start      where the worker's branch was before the rebase
    refs/sisyphus/RUN-1/ITEM/kept/ID    a commit of the worker that may be on no branch any more
    refs/sisyphus/RUN/merged/ITEM       the last commit of an item that was merged, until `forget`

No hook of git runs: each has judged the commits when they were made, and the check judges what has
become of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from sisyphus.boulder.find import tool_of
from sisyphus.ground import git, rebasing, repository
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.masking import masked_line
from sisyphus.ground.processes import CommandResult
from sisyphus.ground.record import Record
from sisyphus.runner import asides, commits, messages
from sisyphus.runner.fix_plan import ITEM_CHARACTERS
from sisyphus.runner.plan_merge import merge_plans

_STEPS = 20
"""How often we begin again because the branch has moved. A merge needs up to three."""

Check = Callable[[], str | None]
"""Runs the checks of an item, and those of the run, in the worktree; returns why one does not pass,
None = all do."""


class Work(Record, frozen=True):
    """The work of a worker at one item, all of it committed.

    tree: the worktree, its root. worker: its branch, which is checked out there. branch: that of
    the run, `sisyphus/RUN`. plan: the path of the plan below the tree, to which no link leads; "" =
    git tracks none. home: the run's own worktree, where its branch may be checked out, and whose
    files go along; "" = it has none.
    """

    tree: str
    worker: str
    branch: str
    item: str
    plan: str = ""
    home: str = ""

    @property
    def id(self) -> str:
        """Returns the item for the name of a ref."""
        return hashlib.sha256(self.item.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def own(self) -> str:
        return f"{_below(self.worker)}/{self.id}"

    @property
    def start(self) -> str:
        return f"{self.own}/start"

    @property
    def merged(self) -> str:
        return f"{_below(self.branch)}/merged/{self.id}"

    @property
    def run(self) -> str:
        """Returns the id of the run."""
        return self.branch.removeprefix(_PREFIX)


class Merged(Record, frozen=True):
    """The run's branch has the item. commit: the last one of it."""

    commit: str


class Conflict(Record, frozen=True):
    """The rebase has stopped at these files, and is left under way for the agent."""

    files: list[str]


class Failed(Record, frozen=True):
    """A check does not pass on the merged work. The tree stays there for the agent to go on."""

    why: str


class Refused(Record, frozen=True):
    """Nothing was merged, for what stands in the way is neither a conflict nor a check. needs_user:
    nor is it anything that an agent has done."""

    why: str
    needs_user: bool = False


Outcome = Merged | Conflict | Failed | Refused

_PREFIX = "sisyphus/"


def attempt(work: Work, check: Check) -> Outcome:
    """Merges an item onto the run's branch. Call it again after a kill, and when the agent has
    resolved a conflict."""
    try:
        state = _State(work)
        if not rebasing.is_under_way(work.tree):
            if why := _why_not_ready(work, state):
                return Refused(why)
            state = _State(work) if state.has_changed else state
        for _ in range(_STEPS):
            outcome = _step(work, state, check)
            if outcome:
                return outcome
            state = _State(work)
    except SisyphusError as error:
        return Refused(str(error))
    return Refused(f"{work.branch} has moved {_STEPS} times meanwhile.")


def take_back(work: Work) -> None:
    """Takes a merge back that has stopped: the worker's branch is as before. What the agent has
    resolved so far is kept below `refs/sisyphus/`. Raises `SisyphusError`."""
    tree = work.tree
    if rebasing.is_under_way(tree):
        _need(repository.stage(tree, asides.own_files(tree)))
        _need(repository.stage_left(tree, rebasing.state(tree, "orig-head") or "HEAD"))
        staged = repository.staged_tree(tree)
        text = f"Half of a merge: {masked_line(work.item, ITEM_CHARACTERS)}"
        made = repository.run(tree, "commit-tree", staged, "-p", "HEAD", "-m", text)
        _keep(work, _need(made).output.strip())
        if rebasing.abort(tree).code:  # git was killed before it had noted where it began
            _need(rebasing.forget(tree, work.worker, staged))
    _drop(work, _State(work))


def _unmoved(home: str, branch: str) -> dict[str, str]:
    """Returns the refs of items that were about to be merged, with the last commit of each: the
    branch has not moved on to it."""
    form = "--format=%(refname) %(objectname)"
    words = ("for-each-ref", form, "--no-merged=HEAD", f"{_below(branch)}/merged/")
    done = repository.run(home, *words)
    lines = done.output.splitlines() if done.code == 0 else []
    return dict(line.split() for line in lines)


def take_back_move(home: str, branch: str) -> bool:
    """Takes back what a git that was killed has made of the run's worktree while it moved the
    branch on: HEAD is as before, and some files, and ticks, are those of an item that is not
    merged. Tells whether the tree is as HEAD now; else something else has changed, and all stays.
    Nobody may merge meanwhile. Raises `SisyphusError`."""
    if not _unmoved(home, branch):
        return True
    repository.wait_for_others(home)  # that git may be there still, and about to end the move
    found = _unmoved(home, branch)
    if not found:
        return True
    _need(repository.stage(home, asides.own_files(home)))
    changed, staged = {*repository.staged_since(home, "HEAD")}, repository.staged_tree(home)
    others = ({*repository.staged_since(home, each)} for each in found.values())
    if not any(changed.isdisjoint(each) for each in others):
        return False
    _need(repository.run(home, "read-tree", "-m", "-u", staged, "HEAD"))
    forget_moves(home, branch)
    return True


def forget_moves(home: str, branch: str) -> None:
    """Forgets that items were about to be merged. Raises `SisyphusError`."""
    if found := _unmoved(home, branch):
        _need(repository.move_refs(home, dict.fromkeys(found, ""), {}))


def forget(tree: str, branch: str) -> None:
    """Forgets which items were merged onto a branch, when its run has ended."""
    found = repository.refs(tree, f"{_below(branch)}/merged/")
    if found:
        _need(repository.move_refs(tree, dict.fromkeys(found, ""), {}))


# ---------------------------------------------------------------- the steps


class _State:
    """Where the refs of a merge are; "" = there is none. has_changed: they have moved since."""

    def __init__(self, work: Work) -> None:
        tip, own = f"refs/heads/{work.branch}", f"refs/heads/{work.worker}"
        self._refs = repository.refs(work.tree, tip, own, f"{work.own}/", work.merged)
        self.tip, self.head = self._commit(tip), self._commit(own)
        self.start, self.merged = self._commit(work.start), self._commit(work.merged)
        self.is_checked_out = own in self._refs and self._refs[own].is_head
        self.place_of_tip = self._refs[tip].tree if tip in self._refs else ""
        self.own = [name for name in self._refs if name.startswith(f"{work.own}/")]
        self.has_changed = False

    def _commit(self, name: str) -> str:
        return self._refs[name].commit if name in self._refs else ""


def _step(work: Work, state: _State, check: Check) -> Outcome | None:
    """Does the next step; None = there are more."""
    tree = work.tree
    if rebasing.is_under_way(tree):
        return _resume(work, state)
    onto = repository.fork_point(tree, state.head, state.tip)
    if not onto:
        return Refused(f"{work.worker} and {work.branch} share no commit, or one of them is gone.")
    if onto == state.head and state.merged:
        return Merged(state.merged)
    is_begun = state.start and state.start != state.head
    if is_begun and not repository.is_ancestor(tree, state.start, state.head):
        return _finish(work, state, onto, check)
    return _bring(work, state, onto, check)


def _bring(work: Work, state: _State, onto: str, check: Check) -> Outcome | None:
    """Brings the commits onto the tip of the run's branch, if they are not there yet. onto: the
    commit of that branch on which they are."""
    tree = work.tree
    if state.start != state.head:
        _begin(work, state, state.head)
    if _has_merges(work, state):
        _need(rebasing.squash(tree, _message(work), onto))
        return None
    if onto == state.tip:
        return _finish(work, state, onto, check)
    done = rebasing.start(tree, state.tip)
    if rebasing.is_under_way(tree):
        return _go_on(work)
    _need(done)
    return None


def _finish(work: Work, state: _State, onto: str, check: Check) -> Outcome | None:
    """Merges the plan, checks the result, and moves the run's branch. onto: see `_bring`."""
    tree = work.tree
    is_gone = onto == state.head and state.start != state.head
    if is_gone and not repository.is_ancestor(tree, state.start, state.tip):
        return Refused(_THROWN_AWAY)
    if marked := _marked(work, state, onto):  # `start` stays: it has the lines that were there
        return Failed(f"Marks of a conflict are left in {', '.join(marked)}.")
    head = _merge_plan(work, state, onto)
    if onto != state.tip:
        _begin(work, state, head)
        return None
    if why := check():
        _drop(work, state)
        return Failed(why)
    return _move(work, state, head)


_THROWN_AWAY = (
    "No commit of the work is left on the branch. If the item needs no change any more, say so in "
    "an empty commit."
)


def _move(work: Work, state: _State, head: str) -> Outcome | None:
    """Moves the run's branch on to a commit; None = somebody has moved it meanwhile."""
    tree, place, tip = work.tree, state.place_of_tip, f"refs/heads/{work.branch}"
    own = dict.fromkeys(state.own, "")
    if place and place != work.home:
        return Refused(f"{work.branch} is checked out in {place}.", needs_user=True)
    if place:  # after a kill between the two, the item is known to be merged
        _need(repository.move_refs(tree, {work.merged: head}, {}))
        done = rebasing.fast_forward(place, head)
    else:
        done = repository.move_refs(tree, {tip: head, work.merged: head, **own}, {tip: state.tip})
    if not done.code:
        _need(repository.move_refs(tree, own, {}) if place and own else done)
        return Merged(head)
    if _State(work).tip != state.tip:
        if place:
            _need(repository.move_refs(tree, {work.merged: ""}, {}))  # git has changed nothing
        _begin(work, state, head)
        return None
    if place:
        return Refused(f"git says in {place}: {done.output.strip()}", needs_user=True)
    _need(done)
    return None


# ---------------------------------------------------------------- a rebase that has stopped


def _resume(work: Work, state: _State) -> Outcome | None:
    """Goes on with a rebase, unless it is one of the agent's own that leads elsewhere."""
    tree = work.tree
    name, onto = (rebasing.state(tree, each) for each in ("head-name", "onto"))
    is_ours = name == f"refs/heads/{work.worker}" and onto
    if not is_ours or not repository.is_ancestor(tree, onto, state.tip):
        return Refused("A rebase is under way that leads elsewhere. Finish it, or abort it.")
    if not state.start:
        _begin(work, state, rebasing.state(tree, "orig-head"))
    return _go_on(work)


def _go_on(work: Work) -> Outcome | None:
    """Goes on with a rebase as long as what stops it is resolved, or is the plan alone; None = it
    has ended."""
    tree = work.tree
    while rebasing.is_under_way(tree):
        files = rebasing.unmerged(tree)
        if work.plan in files:
            _need(rebasing.take_from_head(tree, work.plan))
        left = rebasing.with_marks(tree, ("HEAD", "REBASE_HEAD"), "HEAD")
        others = {name: sides for name, sides in files.items() if name != work.plan}
        left += rebasing.untouched(tree, others)
        if left:
            return Conflict(list(dict.fromkeys(left)))
        if others or not files:
            _need(repository.stage(tree, asides.own_files(tree)))
        _need(rebasing.pick(tree))
        done = rebasing.go_on(tree)
        if done.code and not rebasing.unmerged(tree):
            _need(done)
    return None


def _marked(work: Work, state: _State, onto: str) -> list[str]:
    """Returns the files in which an agent that went on by itself has left marks of a conflict."""
    if state.head == state.start:
        return []
    names = rebasing.with_marks(work.tree, (onto, state.start), onto, state.head)
    return [name for name in names if name != work.plan]


# ---------------------------------------------------------------- before it


def _why_not_ready(work: Work, state: _State) -> str:
    """Says what is in the way of a merge; "" = nothing. Ends the change of a plan at which we were
    killed, and keeps what an agent may have made during a rebase."""
    tree = work.tree
    if what := git.unfinished(tree):
        return f"A {what} is under way. Finish it, or abort it."
    if not state.is_checked_out:
        state.has_changed = True
        if not repository.return_to_branch(tree, work.worker):
            return f"HEAD is not on {work.worker} any more."
    if state.start and (lost := rebasing.stray_commits(tree, state.start)):
        state.has_changed = True
        _keep(work, *lost)
    words = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"]
    done = _need(repository.run(tree, *words, "--ignore-submodules=dirty"))
    changes = {entry[3:]: entry[:2] for entry in done.output.split("\0") if entry}
    if state.start and [*changes] == [work.plan] and changes[work.plan][0] != " ":
        state.has_changed = True
        _commit_plan(work)
        return ""
    return f"Not all is committed: {', '.join(changes)}." if changes else ""


def _begin(work: Work, state: _State, head: str) -> None:
    """Remembers where the worker's branch is before it is changed."""
    kept = _kept(work, head)
    _need(repository.move_refs(work.tree, {work.start: head, kept: head}, {}))
    state.own += [work.start, kept]
    state.start = head


def _keep(work: Work, *found: str) -> None:
    new = {_kept(work, commit): commit for commit in found}
    _need(repository.move_refs(work.tree, new, {}))


def _kept(work: Work, commit: str) -> str:
    return f"{work.own}/kept/{commit}"


def _drop(work: Work, state: _State) -> None:
    """Forgets where the worker's branch was: the work goes on from where it is."""
    if state.start:
        _need(repository.move_refs(work.tree, {work.start: ""}, {}))


def _has_merges(work: Work, state: _State) -> bool:
    """Tells whether the agent has merged something. A rebase would leave out how it did."""
    words = ("rev-list", "--min-parents=2", "--max-count=1", f"{state.tip}..{state.head}")
    return bool(_need(repository.run(work.tree, *words)).output.strip())


# ---------------------------------------------------------------- the plan


def _merge_plan(work: Work, state: _State, onto: str) -> str:
    """Merges the plan by item into the item's commit; returns the last commit then. What the agent
    has added since the rebase began is in the plan of HEAD."""
    if not work.plan:
        return state.head
    is_there = state.start == state.head
    base = onto if is_there else repository.fork_point(work.tree, state.start, onto)
    places = (base, state.start, onto, state.head)
    before, worker, run, now = rebasing.texts(
        work.tree, *(f"{each}:{work.plan}" for each in places)
    )
    if run is None:
        return state.head
    tool = tool_of(work.plan)
    first = run if before is None else before
    text = merge_plans(first, first if worker is None else worker, run, work.item, tool)
    text = merge_plans(run, run if now is None else now, text, work.item, tool)
    if text == now:
        return state.head
    kept = _kept(work, state.head)
    if kept not in state.own:  # an agent may have made this commit, and it may be changed now
        _keep(work, state.head)
        state.own.append(kept)
    _need(rebasing.stage_text(work.tree, work.plan, text))
    _commit_plan(work)
    return _need(repository.run(work.tree, "rev-parse", "HEAD")).output.strip()


def _commit_plan(work: Work) -> None:
    """Adds the staged plan to the item's commit; if the last one is not the runner's, it becomes
    one."""
    tree = work.tree
    _need(rebasing.check_out_staged(tree, work.plan))
    is_merged = repository.is_ancestor(tree, "HEAD", f"refs/heads/{work.branch}")
    if not is_merged and _is_runners(work):
        _need(rebasing.amend(tree))
    else:
        _need(rebasing.commit(tree, _new_message(work)))


def _message(work: Work) -> str:
    """Returns the message of the last commit, if it is the runner's, else one of its own."""
    return repository.text_of(work.tree, "HEAD") if _is_runners(work) else _new_message(work)


def _is_runners(work: Work) -> bool:
    """Tells whether the last commit is the runner's, not the agent's."""
    lines = repository.text_of(work.tree, "HEAD").splitlines()
    return messages.trailer(work.run) in lines


def _new_message(work: Work) -> str:
    return commits.message(work.run, [work.item], "", [])


def _below(branch: str) -> str:
    return f"refs/sisyphus/{branch.removeprefix(_PREFIX)}"


def _need(done: CommandResult) -> CommandResult:
    if done.code:
        raise SisyphusError(f"git could not merge the item:\n{done.output.strip()}")
    return done
