"""Whether the work is done: what was said, what is ticked, and what a command says of it."""

from __future__ import annotations

from sisyphus.errors import UnreadableError
from sisyphus.processes import plain
from sisyphus.ralph import promise
from sisyphus.reading import read_head
from sisyphus.runner.client import echo
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.verify import Result
    from sisyphus.runner.client.stream import Seen
    from sisyphus.runner.desk import Desk
    from sisyphus.runner.task.fix_plan import FixPlan


PROMPT_BYTES = 4_000_000


class Claim:
    """`completed`: why the run is complete, "" = it is not. `refused`: why a claim does not count,
    `tail`: what the command said then. `verified`: how the command ended, in words. `blocked`: why
    another iteration is no use, "" = it may be."""

    __slots__ = ("blocked", "completed", "refused", "tail", "verified")

    def __init__(self, completed: str = "") -> None:
        self.blocked = ""
        self.completed = completed
        self.refused = ""
        self.tail = ""
        self.verified = ""


def check(desk: Desk, seen: Seen, plan: FixPlan, *, verify: bool = True) -> Claim:
    """`verify`: whether the user's command may be run."""
    claim = Claim(claimed(_own_words(desk, seen), desk.run.completion_promise, plan))
    command = desk.run.text("verify")
    if claim.completed and command and verify:
        _verify(desk, claim, command)
    if not claim.completed and not desk.run.item:
        claim.blocked = plan.why_blocked
    return claim


def _own_words(desk: Desk, seen: Seen) -> Sequence[str]:
    """Of a client that reports its work, what the model said; other programs print their prompt."""
    if seen.is_stream or desk.run.completion_promise is None:
        return seen.said
    try:
        given = read_head(desk.places.prompt, PROMPT_BYTES)
    except UnreadableError:
        given = b""
    own = desk.run.prompt.encode("utf-8", "replace")
    prompt = plain(given + b"\n" + own)
    return [echo.without(text, prompt) for text in seen.said]


def claimed(said: Sequence[str], wanted: str | None, plan: FixPlan) -> str:
    """Why the work is done by what was said; without a promise the items decide."""
    if wanted is not None:
        kept = any(promise.kept(text, wanted) for text in reversed(said))
        return f"the promise was kept: {one_line(wanted, 100)}" if kept else ""
    return f"every item of {plan.path} is done" if plan.is_done else ""


def _verify(desk: Desk, claim: Claim, command: str) -> None:
    from sisyphus.ralph import verify

    seconds = desk.space.settings.get("ralph.verify_seconds")
    keep = f"{desk.places.stem(desk.run.loop_id, desk.run.iteration)}.verify"
    result = verify.run(command, desk.places.root, seconds, keep)
    claim.verified = _words(result)
    if result.exit_code != 0:
        claim.completed, claim.tail = "", result.tail
        claim.refused = f"`{one_line(command, 100)}` says otherwise ({claim.verified})"


def _words(result: Result) -> str:
    if result.timed_out:
        return f"it took longer than {result.seconds:.0f} s"
    return result.problem or f"exit code {result.exit_code}"
