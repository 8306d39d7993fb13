"""What a promise must pass beyond being made: the plan, the checklist, a command of the user's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.turn import Turn
    from sisyphus.ralph.verify import Result
    from sisyphus.workspace import Workspace

    Checked = dict[str, Result]


class Refusal:
    """Why a promise does not count: `why` in one line; `tail`, the last lines of a command."""

    __slots__ = ("tail", "why")

    def __init__(self, why: str, tail: str = "") -> None:
        self.why = why
        self.tail = tail


def settle(
    turn: Turn, space: Workspace, session: str, checked: Checked
) -> tuple[Loop | None, Refusal | None]:
    """The loop whose command must be run first, or why a promise does not count.

    The loops of a refused promise, and those around it, go on: `turn` has them among its loops.
    `checked`: results of commands, by loop.
    """
    for index, loop in enumerate(turn.kept):
        refusal = _plan(loop, space, session) or _checklist(loop, space)
        if refusal is None and _command(loop):
            if loop.loop_id not in checked:
                return loop, None
            refusal = _result(loop, checked[loop.loop_id], space)
        if refusal:
            turn.put_back(index)
            return None, refusal
    return None, None


def check(loop: Loop, space: Workspace) -> Result | None:
    """Runs the loop's command; None where another hook is at it. The caller holds no lock."""
    from sisyphus.errors import LockedError
    from sisyphus.ralph import iterations, store, verify
    from sisyphus.state.lock import Lock

    try:
        with Lock(store.loop_path(space.ours, loop.session_id) + ".verify", wait=0):
            seconds: int = space.settings.get("ralph.verify_seconds")
            keep = iterations.verify_path(space.ours, loop.loop_id)
            return verify.run(_command(loop), loop.project, seconds, keep)
    except LockedError:
        return None


def _command(loop: Loop) -> str:
    """The model's own loop has none, whatever its file says."""
    command = loop.options.get("verify")
    return command if isinstance(command, str) and not loop.by_model else ""


def _plan(loop: Loop, space: Workspace, session: str) -> Refusal | None:
    if not loop.options.get("verify_plan"):
        return None
    from sisyphus.boulder import gate

    found = gate.plan_gate(space, session, str(loop.signs.get("plan", "")))
    return None if found.ok else Refusal(f"the plan is not complete: {found.why}")


def _checklist(loop: Loop, space: Workspace) -> Refusal | None:
    if not loop.options.get("verify_checklist"):
        return None
    from sisyphus.ralph.checklists import checklist

    is_done, why = checklist.gate(space.ours, loop.loop_id)
    return None if is_done else Refusal(f"the checklist is not done: {why}")


def _result(loop: Loop, result: Result, space: Workspace) -> Refusal | None:
    command = _command(loop)
    loop.verified = {
        "at": int(space.now),
        "command": command,
        "exit_code": result.exit_code,
        "timed_out": result.timed_out,
        "seconds": round(result.seconds, 1),
    }
    if result.exit_code == 0:
        return None
    shown = " ".join(command.split())[:80]
    return Refusal(f"`{shown}` {_failure(result)}", result.tail)


def _failure(result: Result) -> str:
    if result.problem:
        return f"could not be run: {result.problem}"
    if result.timed_out:
        return f"did not end within {result.seconds:.0f} seconds"
    return f"ended with exit code {result.exit_code}"
