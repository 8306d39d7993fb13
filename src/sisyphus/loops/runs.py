"""A run as a value: its options, and what it remembers between two iterations."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground import processes
from sisyphus.ground.record import Record, field
from sisyphus.loops.loop import RUN, WORKER, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_ITERATIONS, MAX_MINUTES = 50, 24 * 60
"""The default limits. A night has fewer iterations, and nobody wants a run that never ends."""

MAX_AUDITS = 5
"""The most audits that a run makes: an auditor can always find something."""


class FailedCheck(Record):
    """Why a ticked item does not count: its check. how: as the end of a sentence. tail: the last
    lines that it printed. tries: how often it was so. at: the last time, in seconds since 1970."""

    command: str
    how: str
    tail: str
    tries: int
    at: float = 0.0


_SHORT = 7
"""How many characters of a commit's name are shown, as git does."""


class ItemCommits(Record):
    """The commits that an item has become. since: the commit before the first one; "" = none. tip:
    the last one. checks: the commands that passed before it was made."""

    since: str
    tip: str
    checks: list[str] = field(default_factory=list)

    @property
    def short(self) -> str:
        """Returns the last commit as git shows it for people; "" = there was nothing to commit."""
        return self.tip[:_SHORT] if self.tip != self.since else ""


class Seat(Record):
    """A client that works at a run when it is its turn. client: its name; of a command, the client
    whose language it speaks. mode: its permission mode; "" = its default."""

    client: str = clients.DEFAULT
    mode: str = ""


class RunOptions(Record):
    """What a run has besides the options of every loop (`loops.loop.Options`).

    max_usd: dollars, as the client counts; 0 = no limit. audits: how many audits in a row have to
    find nothing before the run is complete. client_command: a shell command that works on the
    prompt on its stdin; "" = the client itself. seats: its clients, at least one; a later one works
    while the accounts of those before it have reached their limits. trusted: the commands in
    the checks of the plan that it may run. commits: each item that is done is committed.
    verifies_at_end: the run's check is asked once, and not of each item that is to be committed.
    jobs: how many workers do its items, each in a worktree of its own; 0 = none, the run itself
    does one after the other.
    """

    max_usd: float = 0.0
    audits: int = 0
    client_command: str = ""
    seats: list[Seat] = field(default_factory=lambda: [Seat()])
    trusted: list[str] = field(default_factory=list)
    commits: bool = False
    verifies_at_end: bool = False
    jobs: int = 0

    @property
    def clients(self) -> list[str]:
        """Returns the names of its clients, in their order."""
        return [seat.client for seat in self.seats]

    @property
    def has_several(self) -> bool:
        """Tells whether it has several clients."""
        return len(self.seats) > 1

    def with_mode(self, client: str, mode: str) -> str:
        """Returns what to give as --permission-mode so that one client has another mode."""
        return ",".join(mode if seat.client == client else seat.mode for seat in self.seats)


def options_of(values: dict[str, Any]) -> RunOptions:
    """Returns the options that a row has. values: as `asdict` returned them; those of a version
    whose runs had one client name it and its mode themselves."""
    values = dict(values)
    client, mode = values.pop("client", clients.DEFAULT), values.pop("permission_mode", "")
    seats = values.pop("seats", [{"client": client, "mode": mode}])
    return RunOptions(**values, seats=[Seat(**seat) for seat in seats])


class RunState(Record):
    """Where a run stands.

    plan: the file with the items; "" = none. item: what the current iteration works on.
    todo, done, marked: the items as last read; marked are those that the plan itself says are
    blocked. blocked: items → what the agent needs for them. removals: items that left the plan
    before they were done. before: those that were done when the run began.
    is_working: an iteration has begun, and its end is not noted. began_at: its begin or, if it is
    made again, that of its last process, in seconds since 1970. spent_seconds, spent_tokens,
    spent_cost: what all its processes have used so far. cut_sessions: those whose work another one
    has made again: id → the number of the iteration, and its item.
    resume: the resume block that the next iteration gets; "" = none. checkpoint: the
    `context_checkpoint` of `ralph-state.json`; {} = none yet.
    action: what the agent did last. refused, tail: why the work did not count as done though it
    was said to be, and what the check printed. check_changed: files of the check that changed.
    stops: the counters of the breaker (`hook.stops.Stops`). diff: a fingerprint of the last
    changes. errors: fingerprints of the last errors.
    cost: in dollars. head: git's HEAD when the run began; "" = no git.
    audits: rounds so far; clean_audits: the last ones in a row that found nothing; first_audit: the
    rounds before the run was last resumed.
    waits_until, waits_for: for an account's limit and the like; 0, "" = it does not wait. tries:
    the processes in a row that failed so. client: the one at work, of several; "" = the first.
    limits: clients → until when their account's limit lasts, in seconds since 1970.
    finished: how many iterations have ended. is_auditing: the next process is an auditor's.
    is_mending: the iteration has no item: a check of the finished work fails.
    evidence: items → what stands behind their ticks, see `boulder/evidence.py`. failed: items whose
    box is ticked and whose check does not pass. item_began_at: when the work at the item began, in
    seconds since 1970. passed_before: items → whether their check passed before that. checks: items
    → their checks as the run first read them. lost_checks: items → those of these that were taken
    out of the plan. flaky: items whose check failed, and passed without a change. passed_at:
    commands of checks → when they last passed, in seconds since 1970. untrusted: commands that
    would have been run, if they were trusted. answers: items → what the user has answered on the
    dashboard, the oldest first.
    branch: on which it commits; "" = it commits nothing. tip: the last commit there that counts:
    nothing of an item that is not done. commits: items → what they have become. others: items that
    it has done before it began to commit. refusals: how often in a row git made no commit.
    asides: branches → the items whose half work they have, the latest last. sets_aside: the item
    whose half work leaves the work tree just now, aside_branch: the branch that has it already;
    "" = none. worktree: where it works; "" = in the project itself.
    only: the item that a worker is there for; "" = it is none. is_counted: its next iteration
    counts among those of the run already. is_merging: it merges, and the others wait for their
    turn.
    """

    plan: str = ""
    item: str = ""
    todo: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    is_working: bool = False
    began_at: float = 0.0
    spent_seconds: float = 0.0
    spent_tokens: int = 0
    spent_cost: float = 0.0
    cut_sessions: dict[str, tuple[int, str]] = field(default_factory=dict)
    resume: str = ""
    checkpoint: dict[str, Any] = field(default_factory=dict)
    action: str = ""
    refused: str = ""
    tail: str = ""
    check_changed: list[str] = field(default_factory=list)
    stops: dict[str, Any] = field(default_factory=dict)
    diff: str = ""
    errors: list[str] = field(default_factory=list)
    cost: float = 0.0
    head: str = ""
    audits: int = 0
    clean_audits: int = 0
    first_audit: int = 0
    waits_until: float = 0.0
    waits_for: str = ""
    tries: int = 0
    client: str = ""
    limits: dict[str, float] = field(default_factory=dict)
    finished: int = 0
    is_auditing: bool = False
    is_mending: bool = False
    evidence: dict[str, str] = field(default_factory=dict)
    failed: dict[str, FailedCheck] = field(default_factory=dict)
    item_began_at: float = 0.0
    passed_before: dict[str, bool] = field(default_factory=dict)
    checks: dict[str, list[str]] = field(default_factory=dict)
    lost_checks: dict[str, list[str]] = field(default_factory=dict)
    untrusted: list[str] = field(default_factory=list)
    flaky: list[str] = field(default_factory=list)
    passed_at: dict[str, float] = field(default_factory=dict)
    answers: dict[str, list[str]] = field(default_factory=dict)
    branch: str = ""
    tip: str = ""
    commits: dict[str, ItemCommits] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    refusals: int = 0
    asides: dict[str, str] = field(default_factory=dict)
    sets_aside: str = ""
    aside_branch: str = ""
    worktree: str = ""
    only: str = ""
    is_counted: bool = False
    is_merging: bool = False

    @property
    def left(self) -> int:
        return len(self.todo) + len(self.marked)

    def aside_of(self, item: str) -> str:
        """Returns the branch with the latest half work of an item; "" = there is none."""
        return next((b for b, each in reversed(self.asides.items()) if each == item), "")

    def diff_of(self, branch: str) -> str:
        """Returns the command that shows the half work on a branch, wherever its user stands."""
        return f"git diff {self.branch}...{branch}"

    @property
    def total(self) -> int:
        """Returns how many items there are; 0 = none, or they have not been read."""
        return self.left + len(self.done)

    @property
    def items(self) -> str:
        """Returns how many items are done, for people; "" = there are none."""
        return f"{len(self.done)} of {self.total} items" if self.total else ""


def state_of(values: dict[str, Any]) -> RunState:
    """Returns the state that a row has. values: as `asdict` returned them."""
    state = RunState(**values)
    failed, commits = values.get("failed", {}), values.get("commits", {})
    state.failed = {item: FailedCheck(**each) for item, each in failed.items()}
    state.commits = {item: ItemCommits(**each) for item, each in commits.items()}
    return state


class Run(Work):
    """A run: it works in fresh contexts, one client process after the other.

    session: the number of the session that works at it, or did last; 0 = none yet. runner, client:
    our process and the client's, "PID START"; "" = none. action, percent: what the client's agent
    did last, and how full its context is; "", 0 = unknown. heard_at: when the client was last heard
    of, in seconds since 1970. tokens, cost: what the client's process has used so far, in dollars;
    what earlier ones have used is among the counters and in the state.
    """

    setup: RunOptions = field(default_factory=RunOptions)
    state: RunState = field(default_factory=RunState)
    session: int = 0
    runner: str = ""
    client: str = ""
    action: str = ""
    percent: int = 0
    heard_at: float = 0.0
    tokens: int = 0
    cost: float = 0.0

    kind, title = RUN, "Run"

    @property
    def worktree(self) -> str:  # type: ignore[override]
        return self.state.worktree

    @property
    def folder(self) -> str:
        """Returns where its clients work: in its worktree, or in the project."""
        return self.state.worktree or self.project

    @property
    def seat(self) -> Seat:
        """Returns the client whose turn it is, with its mode."""
        seats = self.setup.seats
        return next((seat for seat in seats if seat.client == self.state.client), seats[0])

    @property
    def client_at_work(self) -> str:
        """Returns the name of that client, for people; "" = the run has no other one."""
        return self.seat.client if self.setup.has_several else ""

    @property
    def is_at_work(self) -> bool:
        """Tells whether our process that drives it is alive."""
        return processes.is_alive(self.runner)

    @property
    def is_left(self) -> bool:
        """Tells whether it should work, and its process is gone."""
        return self.is_active and not self.is_at_work

    @property
    def all_tokens(self) -> int:
        """Returns how many tokens it has used so far."""
        return self.counters.tokens + self.tokens

    @property
    def all_cost(self) -> float:
        """Returns how many dollars it has used so far."""
        return self.state.cost + self.cost

    @property
    def mark(self) -> str:
        """Returns the variable, "NAME=VALUE", that all processes of its clients have in their
        environment, unless they take it out."""
        return f"_SISYPHUS_RUN={self.id}-{self.started_at:.3f}"

    @property
    def worked_at(self) -> float:
        """Returns when our process was last at work, by what it has noted itself."""
        began_at = max(self.started_at, self.counters.resumed_at)
        return max(began_at, self.state.began_at, self.heard_at)

    def seconds(self, now: float) -> float:
        """Returns how long it has run, without its pauses and without the time since its process
        is gone."""
        return super().seconds(self.worked_at if self.is_left else now)

    def take_over(self, fresh: Work) -> None:
        """Takes what its user may have changed since it was loaded: all but what is counted."""
        ours, theirs = self.counters, fresh.counters
        theirs.iteration, theirs.tokens = ours.iteration, ours.tokens
        theirs.evidence = ours.evidence
        for name in Work.FIELDS:
            setattr(self, name, getattr(fresh, name))

    def end_client(self) -> bool:
        """Ends its client, with what that has left behind, if nobody else will: its runner was
        killed. Tells whether anything was still there."""
        if self.is_at_work:
            return False
        has_ended = processes.end(self.client)
        return processes.end_marked(self.mark) or has_ended


class Worker(Run):
    """What works at one item of a run, in a worktree and on a branch of its own, as a run of one
    item would. Its row is there as long as somebody has to work at the item. Its id is that of the
    run with its number, from 1: `aB3xY-2`."""

    kind, title = WORKER, "Worker"

    @property
    def owner(self) -> str:
        return self.id.rpartition("-")[0]

    @property
    def number(self) -> int:
        return int(self.id.rpartition("-")[2])

    @property
    def mark(self) -> str:
        """Besides this one, its clients have the mark of the run."""
        return f"_SISYPHUS_WORKER={self.id}-{self.started_at:.3f}"
