"""One Stop of a session that has a loop: what is known of it, and the verdict."""

from __future__ import annotations

from sisyphus.arbiter import background, gather, hold, steps
from sisyphus.arbiter.situation import BLOCK, PAUSE
from sisyphus.clients import client_named
from sisyphus.errors import SisyphusError
from sisyphus.ralph import cooling
from sisyphus.ralph import loop as lp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.gates import Refusal
    from sisyphus.arbiter.situation import Situation, Verdict
    from sisyphus.boulder.enforcement import Standing
    from sisyphus.checkpoint.at_stop import Rest
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.store import LoopStore
    from sisyphus.workspace import Workspace

NESTED_ENDED = "a loop that was nested in it has just ended"


class Case:
    """A Stop, the session's loops and what became of them since the last one.

    `ids` are those of the loops that began since then: who looks again finds the same loops.
    `fallen`: loops that are at a limit, the innermost first. `over`: loops that held the session
    to a plan and end here, each with its outcome and why. `plans` that were looked at, by path.
    `rest`: a full context lets the session stop. `context`: how full it is in percent, 0 = not
    known.
    """

    __slots__ = (
        "account", "context", "fallen", "held", "notes", "over", "payload", "plans", "rest",
        "space", "turn",
    )  # fmt: skip

    def __init__(
        self, payload: Payload, space: Workspace, held: LoopStore, ids: dict[str, str]
    ) -> None:
        self.payload = payload
        self.space = space
        self.held = held
        self.notes = _take_up(held, space)
        self.turn, self.account = gather.follow(payload, space, held, ids)
        self.fallen: list[tuple[Loop, Verdict]] = []
        self.over: list[tuple[Loop, str, str]] = []
        self.plans: dict[str, Standing] = {}
        self.rest: Rest | None = None
        self.context = 0.0

    @property
    def loop(self) -> Loop | None:
        """The current one."""
        return self.turn.loops[-1] if self.turn.loops else None

    def fall(self, verdict: Verdict, loop: Loop) -> None:
        """`loop` is at its limit, which ends those that are nested in it, too."""
        index = self.turn.loops.index(loop)
        self.fallen += [(fallen, verdict) for fallen in reversed(self.turn.loops[index:])]
        del self.turn.loops[index:]


def judge(case: Case, situation: Situation, refusal: Refusal | None) -> Outcome:
    """Decides and carries the verdict out; the journal learns why."""
    from sisyphus.arbiter.carry_out import carry_out

    hold.attend(case)
    _describe(case, situation, refusal)
    verdict = _decide(case, situation, refusal)
    while verdict.loop:
        case.fall(verdict, verdict.loop)
        if case.loop is None:
            break
        refusal = None
        _turn_to_the_outer(case, situation)
        verdict = _decide(case, situation, refusal)
    outcome = carry_out(verdict, case, refusal)
    outcome.notes += [*case.notes, *case.turn.notes, *_other_holder(case), *case.held.faults]
    return outcome


def _other_holder(case: Case) -> list[str]:
    goal = " ".join(case.account.goal[:200].split())
    return [f"the client's own /goal holds this session as well: {goal}"] if goal else []


def _take_up(held: LoopStore, space: Workspace) -> list[str]:
    """The session works again: a loop whose breaker has cooled down has another try."""
    if not held.loops:
        return []
    lp.end_wait(held.loops, space.now)
    if cooling.try_again(held.loops, space):
        return ["the circuit breaker has cooled down: the loop has another try"]
    return []


def _describe(case: Case, situation: Situation, refusal: Refusal | None) -> None:
    turn, memory, space = case.turn, case.held.memory, case.space
    if turn.used_tool or turn.prompted:
        memory.blocks = 0
    situation.now = space.now
    situation.loop, situation.around = case.loop, turn.loops[:-1]
    situation.kept = turn.kept
    situation.reason = turn.reason
    situation.refusal = refusal.why if refusal else ""
    situation.messages = len(case.account.said)
    situation.is_asking = case.account.is_asking
    situation.blocks = memory.blocks
    hold.describe(case, situation)
    situation.full = _full(case)
    situation.cap = client_named(space.client).block_cap()
    situation.excuses, memory.tasks = background.excuses(
        background.pending([*case.payload.background, *case.payload.crons]),
        dict.fromkeys(memory.tasks, background.BEFORE_LOOP) if turn.begun else memory.tasks,
        in_loop=situation.loop is not None,
        now=space.now,
        wait=60 * space.settings.get("ralph.background_wait"),
    )


def _full(case: Case) -> str:
    """Why a full context lets the session stop, "" where it does not; what goes wrong there is no
    reason to hold it, nor to let it go."""
    if case.loop is None or case.loop.is_paused:
        return ""
    from sisyphus.checkpoint import at_stop

    try:
        case.rest, case.context = at_stop.rest(case.payload, case.space)
    except (OSError, SisyphusError) as error:
        case.space.log(f"checkpoint: {error}")
    return case.rest.why if case.rest else ""


def _turn_to_the_outer(case: Case, situation: Situation) -> None:
    """A nested loop has ended at its limit: the one that waited for it is judged at once."""
    situation.loop, situation.around = case.loop, case.turn.loops[:-1]
    situation.reason, situation.refusal, situation.messages = NESTED_ENDED, "", 0
    hold.describe(case, situation)


def _decide(case: Case, situation: Situation, refusal: Refusal | None) -> Verdict:
    """Whether there was progress costs a look at the work tree: it is asked for only where the
    session would be held."""
    from sisyphus.arbiter import progress

    verdict = steps.decide(situation)
    loop = situation.loop
    if loop is None or verdict.action not in (BLOCK, PAUSE):
        return verdict
    situation.stuck = progress.judge(loop, case, refusal)
    return steps.decide(situation)
