"""`sisyphus ralph decide`: one decision, for a loop that somebody else runs."""

from __future__ import annotations

import os
from contextlib import suppress

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.reading import DOCUMENT_BYTES, read_text
from sisyphus.runner import attend, iteration, judge
from sisyphus.runner.attend import Landed
from sisyphus.runner.client import failures, printed
from sisyphus.runner.decide import WAIT
from sisyphus.runner.desk import Desk, Screen
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import BREAKER, CANCELLED, COMPLETED, FATAL, MAX_ITERATIONS
from sisyphus.runner.task import prompt, users_prompt
from sisyphus.state.files import read_json
from sisyphus.text import one_line
from sisyphus.times import epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json
    from sisyphus.runner.client.stream import Seen
    from sisyphus.runner.decide import Decision
    from sisyphus.runner.keep.store import Loaded
    from sisyphus.workspace import Workspace

STOP, GO_ON, CANNOT_TELL = 0, 1, 2

_OVER = (COMPLETED, FATAL, MAX_ITERATIONS, BREAKER, CANCELLED)


class Answer:
    """`line` says why, on one line. `until`: the moment before which it is no use to go on, in
    epoch seconds; 0 = now."""

    __slots__ = ("exit_code", "line", "status", "until")

    def __init__(self, exit_code: int, line: str, status: str = "") -> None:
        self.exit_code = exit_code
        self.line = line
        self.status = status
        self.until = 0.0

    def as_json(self) -> Json:
        decision = {STOP: "stop", GO_ON: "go_on", CANNOT_TELL: "cannot_tell"}[self.exit_code]
        return {"decision": decision, "why": self.line, "status": self.status or None}


def answer(space: Workspace, output: bytes | None) -> Answer:
    """Decides, and keeps what follows; raises nothing that could look like a decision."""
    try:
        places = Places(space)
        with store.Alone(places):
            return _answer(space, places, output)
    except (SisyphusError, OSError) as error:
        return cannot_tell(error)


def cannot_tell(error: Exception) -> Answer:
    return Answer(
        CANNOT_TELL, one_line(f"cannot tell: {str(error) or type(error).__name__}", 1_000)
    )


def _answer(space: Workspace, places: Places, output: bytes | None) -> Answer:
    is_there = os.path.lexists(places.state)
    loaded = store.load(places)
    run = loaded.run
    if run is None or not is_there or loaded.notes:
        return Answer(CANNOT_TELL, f"cannot tell: {_no_state(places, loaded, is_there=is_there)}")
    if not loaded.is_ours and _names_check(places):
        why = f"{places.state} names a check (`verify`), and no run of yours wrote it there"
        return Answer(CANNOT_TELL, f"cannot tell: {why}. Take it out, and check by yourself")
    if run.status in _OVER:
        said = one_line(f"stop: the run has ended ({run.status}: {run.reason})")
        return Answer(STOP, said, run.status)
    if output is None or not output.strip():
        how = "not there" if output is None else "empty"
        return Answer(CANNOT_TELL, f"cannot tell: the client's last output is {how}")
    desk = Desk(space, places, run, Screen())
    return _decided(desk, printed.seen_in(output), is_ours=loaded.is_ours)


def _no_state(places: Places, loaded: Loaded, *, is_there: bool) -> str:
    if loaded.notes:
        return "; ".join(loaded.notes)
    what = f"{places.state} holds no run" if is_there else f"there is no {places.state}"
    return (
        f'{what}. A loop of your own begins with one, such as {{"task_name": "…", "iteration": 1, '
        '"status": "running", "max_iterations": 50, "completion_promise": "DONE"}'
    )


def _names_check(places: Places) -> bool:
    found = read_json(places.state) or {}
    options = found.get("options")
    is_among = isinstance(options, dict) and bool(options.get("verify"))
    return is_among or bool(found.get("verify"))


def _decided(desk: Desk, seen: Seen, *, is_ours: bool) -> Answer:
    run, now = desk.run, desk.now()
    desk.keeps_record = is_ours
    had_block = bool(run.last.get("resumed"))
    given = _handed_over(desk, seen)
    run.judged = max(run.iteration, 1) - 1
    run.iteration = run.judged + 1
    run.in_flight = {
        "session_id": seen.session,
        "item": run.todo_items[0] if run.todo_items else "",
        "began": run.last.get("at") or epoch(run.started_at),
    }
    landed = Landed(seen, failures.classify(seen, None, "", now), now)
    decision = judge.judge(desk, landed, given)
    if decision is None:
        return Answer(CANNOT_TELL, "cannot tell: interrupted")
    why = one_line(decision.why, 300)
    if not decision.goes_on:
        return Answer(STOP, f"stop: {why}", run.status)
    answer = Answer(GO_ON, f"go on: {why}", run.status)
    answer.until = float(run.waiting.get("until") or 0.0)
    _go_on(desk, decision, had_block=had_block)
    return answer


def _handed_over(desk: Desk, seen: Seen) -> Checkpoint | None:
    """The open checkpoint that the state names; one that this client was given is open no more."""
    run = desk.run
    entry = run.open_checkpoint
    was_given = entry is not None and run.last.get("resumed") == entry.get("handoff_file")
    if not was_given:
        return entry
    if seen.said or seen.tool_calls:
        run.in_flight = {"delivers": run.last["resumed"], "session_id": seen.session}
        attend.delivered(desk)
    return None


def _go_on(desk: Desk, decision: Decision, *, had_block: bool) -> None:
    """The state of the iteration that comes next, and its PROMPT.md where that is ours, or where
    one is resumed or was: what this one was given is not given again."""
    run = desk.run
    entry = run.open_checkpoint
    if decision.kind != WAIT:
        run.iteration = run.judged + 1
    run.waiting = {}
    run.last = {**run.last, "at": round(desk.space.now, 3), "resumed": ""}
    plan = iteration.take_items(desk)
    if entry or had_block or prompt.is_built(desk.places.prompt):
        _keep_own(desk)
        run.last["resumed"] = entry["handoff_file"] if entry else ""
        item = plan.todo[0] if plan.todo else ""
        run.in_flight = {"item": item}
        iteration.write_prompt(desk, plan, iteration.estimated(desk, item))
        run.in_flight = {}
    desk.save()


def _keep_own(desk: Desk) -> None:
    """What the user wrote where we write is the prompt from now on, and is kept beside it."""
    places = desk.places
    if not desk.run.prompt and not prompt.is_built(places.prompt):
        with suppress(UnreadableError):
            desk.run.prompt = read_text(places.prompt, DOCUMENT_BYTES, places.root)
    if note := users_prompt.set_aside(places):
        desk.space.log(note)
