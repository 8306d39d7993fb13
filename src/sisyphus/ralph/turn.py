"""What became of a session's loops since the last look. Pure."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.ralph import events as ev
from sisyphus.ralph import loop as lp
from sisyphus.ralph import promise
from sisyphus.times import is_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sisyphus.ralph.events import Event
    from sisyphus.ralph.invocations import Start
    from sisyphus.ralph.loop import Loop

    Begin = Callable[[Start], tuple[Loop, list[str]]]

DEEPEST = 8
"""Loops of one session that wait for a nested one."""

SAID_NOTHING = "the model said nothing"


class Turn:
    """`loops` are those that have not ended, the outermost first; the last is the current one.

    `kept`: the promise of the loop that was current last was kept, and no loop began since.
    `ended` are (loop, outcome) in order, `begun` those that began here. `reason`: why the promise
    of the current loop is not kept.
    `used_tool` and `prompted` look back to the last continuation.
    """

    __slots__ = (
        "begun", "ended", "kept", "loops", "notes", "prompted", "reason", "refused", "used_tool",
    )  # fmt: skip

    def __init__(self, loops: Sequence[Loop]) -> None:
        self.loops = list(loops)
        self.ended: list[tuple[Loop, str]] = []
        self.kept: list[Loop] = []
        self.begun: list[Loop] = []
        self.refused: list[str] = []
        self.notes: list[str] = []
        self.reason = SAID_NOTHING
        self.used_tool = False
        self.prompted = False

    def put_back(self, index: int) -> None:
        """From this one on, the loops whose promise was kept go on nevertheless."""
        self.loops += reversed(self.kept[index:])
        self.kept = self.kept[:index]


class Known:
    """What is remembered of a session: names of starts that were seen, and two moments.

    A fork adopts no loop that began before `forked_at`: its lines are copies. In a session that was
    going on before we met it at `met_at`, a promise of an earlier turn has ended its loop: nobody
    stood at those Stops. What began before `cancelled_at` was cancelled. All are ISO times, ""
    where they do not apply. `heard`: the id of the last prompt that a hook heard. `now` is in epoch
    seconds.
    """

    __slots__ = ("cancelled_at", "forked_at", "heard", "met_at", "now", "starts")

    def __init__(
        self,
        starts: Iterable[str] = (),
        *,
        forked_at: str = "",
        met_at: str = "",
        cancelled_at: str = "",
        now: float = 0.0,
    ) -> None:
        self.starts = set(starts)
        self.forked_at = forked_at
        self.met_at = met_at
        self.cancelled_at = cancelled_at
        self.heard = ""
        self.now = now


def follow(loops: Sequence[Loop], events: Sequence[Event], begin: Begin, known: Known) -> Turn:
    """Goes through `events`, oldest first.

    `begin` makes a loop, with notes, or refuses to with a `SisyphusError`. Loops change in place;
    the names of starts that were seen are added to `known`. A loop that a hook started before its
    line was written is current from its line on; what was nested in it comes with it.
    """
    starts = [event.start for event in events if event.start is not None]
    names = {name for start in starts for name in (start.origin, start.early) if name}
    coming = [index for index, loop in enumerate(loops) if loop.origin in names]
    follower = _Follower(loops[: coming[0]] if coming else loops, begin, known)
    for index, end in zip(coming, [*coming[1:], len(loops)], strict=False):
        follower.coming[loops[index].origin] = loops[index:end]
    follower.failed = {event.call for event in events if event.kind == ev.FAILED}
    follower.starts_left = len(starts)
    for event in events:
        follower.take(event)
    return follower.turn


class _Follower:
    __slots__ = ("_begin", "_known", "_stale", "coming", "failed", "starts_left", "turn")

    def __init__(self, loops: Sequence[Loop], begin: Begin, known: Known) -> None:
        self.turn = Turn(loops)
        self._begin = begin
        self._known = known
        self._stale: list[Loop] = []  # kept in an earlier turn, which does not end them
        self.coming: dict[str, Sequence[Loop]] = {}  # active loops whose lines are still to come
        self.failed: set[str] = set()
        self.starts_left = 0

    def take(self, event: Event) -> None:
        if event.kind == ev.SAID:
            self._said(event.text)
        elif event.kind == ev.TOOL:
            self.turn.used_tool = True
        elif event.kind == ev.CONTINUED:
            self._turn_over(is_judged=True)
        elif event.kind == ev.PROMPT:
            self._prompted(event)
        elif event.start is not None:
            self.starts_left -= 1
            self._started(event.start)

    def _said(self, text: str) -> None:
        """One tag ends one loop: an outer one goes on unless its own, other promise is kept too."""
        turn = self.turn
        promises: set[str] = set()
        while turn.loops and not turn.loops[-1].is_paused:
            wanted = promise.fold(turn.loops[-1].completion_promise or "")
            finding = promise.find(text, wanted)
            if finding.reason != promise.NO_TAG or turn.reason == SAID_NOTHING:
                turn.reason = finding.reason
            if not finding.kept or wanted in promises:
                break
            promises.add(wanted)
            turn.kept.append(turn.loops.pop())

    def _prompted(self, event: Event) -> None:
        self._turn_over()
        turn = self.turn
        # A line may come Stops after its prompt, which a hook had heard at once.
        turn.prompted = not event.call or event.call != self._known.heard
        if turn.loops and turn.loops[-1].paused_by == lp.BY_HOST_CAP:
            lp.resume(turn.loops, self._known.now)
            turn.notes.append("the loop goes on: the user spoke")
        if self.starts_left:  # history: what the model started before its latest loop is over
            turn.loops = [x for x in turn.loops if not (x.by_model and x in turn.begun)]

    def _turn_over(self, *, is_judged: bool = False) -> None:
        """`is_judged`: a Stop has seen the promises, and they did not count. So it has those of a
        loop that did not begin here, or the user spoke before it could."""
        for loop in reversed(self.turn.kept):
            if self._known.met_at and is_before(loop.started_at, self._known.met_at):
                self.turn.notes.append(f"loop {loop.loop_id} had ended before sisyphus was there")
            else:
                self.turn.loops.append(loop)
                is_over = loop in self.turn.begun and not is_judged and not loop.has_checks
                self._stale += [loop] if is_over else []
        self.turn.kept = []
        self.turn.used_tool = self.turn.prompted = False
        self.turn.reason = SAID_NOTHING

    def _started(self, start: Start) -> None:
        coming = self.coming.pop(start.early, None) or self.coming.pop(start.origin, None)
        is_known = self._remember(start)
        if coming:
            coming[0].origin = start.name
            self._make_room()
            self.turn.loops += coming
        if is_known or self._is_void(start):
            return
        try:
            loop, notes = self._begin(start)
        except SisyphusError as error:
            self.turn.refused.append(str(error))
            self.turn.notes.append(f"no loop started: {error}")
            return
        self.turn.notes += notes
        if not self._is_confirmed(loop):
            self._push(loop)

    def _remember(self, start: Start) -> bool:
        """Whether this start was seen before. Once its line is known, its early name is free."""
        names = {start.origin, start.early} - {""}
        is_known = not self._known.starts.isdisjoint(names)
        self._known.starts -= names
        if start.name:
            self._known.starts.add(start.name)
        return is_known

    def _is_confirmed(self, found: Loop) -> bool:
        """Whether the line is that of a loop which its prompt had started already.

        A prompt that is typed while a turn runs has that turn's id at first (Claude Code 2.1.329).
        """
        for loop in self.turn.loops:
            is_early = not loop.origin or loop.origin.startswith("prompt ")
            if is_early and not found.by_model and loop.is_same_task(found):
                loop.origin = found.origin
                return True
        return False

    def _is_void(self, start: Start) -> bool:
        if start.call and start.call in self.failed:
            self.turn.notes.append("no loop started: the call of the skill failed")
            return True
        for moment, why in (
            (self._known.forked_at, "the line is the parent session's"),
            (self._known.cancelled_at, "it was cancelled"),
        ):
            if moment and is_before(start.at, moment):
                self.turn.notes.append(f"no loop started: {why}")
                return True
        return False

    def _push(self, loop: Loop) -> None:
        turn = self.turn
        self._make_room()
        if not loop.by_model:
            staying = lp.staying(turn.loops, self._known.now)
            replaced = [old for old in turn.loops if old not in staying]
            turn.ended += [(old, lp.CANCELLED) for old in reversed(replaced)]
            turn.loops = staying
        elif any(loop.is_same_task(other) for other in turn.loops):
            turn.notes.append("the model started the same loop again: it goes on")
            return
        elif len(turn.loops) > DEEPEST:
            turn.notes.append("no loop started: too many loops wait already")
            return
        if any(around.options.get(lp.WAKES) for around in turn.loops):
            loop.options[lp.WAKES] = True
        turn.loops.append(loop)
        turn.begun.append(loop)
        turn.notes.append(f"loop {loop.loop_id} started")

    def _make_room(self) -> None:
        """Before a loop begins, those end whose promise has been kept.

        One whose promise must be checked waits for the new one, and what is around it does.
        """
        turn = self.turn
        checked = (i for i, kept in enumerate(turn.kept) if kept.has_checks)
        turn.put_back(next(checked, len(turn.kept)))
        turn.ended += [(kept, lp.SUCCESS) for kept in turn.kept]
        turn.kept = []
        while turn.loops and turn.loops[-1] in self._stale:
            turn.ended.append((turn.loops.pop(), lp.SUCCESS))
        turn.reason = SAID_NOTHING
