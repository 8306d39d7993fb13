"""What the client is given: `.claude/PROMPT.md`, built anew for every iteration.

The user's prompt stands at its end byte for byte; everything else is bounded, and what the model
or a file says is without keys and passwords.
"""

from __future__ import annotations

from sisyphus.errors import UnreadableError
from sisyphus.masking import masked
from sisyphus.reading import read_head
from sisyphus.runner.task import instructions, item_text
from sisyphus.text import cut_chars, end_units, harmless, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.checkpoint.outlook.complexity import Estimate
    from sisyphus.runner.keep.state import Run
    from sisyphus.runner.task.fix_plan import FixPlan

NAME_CHARACTERS = 100
OBJECTIVE_LINES = 12
OBJECTIVE_CHARACTERS = 1_200
BLOCK_CHARACTERS = 12_000
REFUSED_UNITS = 3_000
ACTION_CHARACTERS = 200

_BUILT = b"\n## Current State\n\n- **Iteration**: "
_BUILT_BYTES = 1_000_000


class Around:
    """What stands around a run at the start of an iteration: the items, the last entries of
    `progress.txt`, the resume block ("" = nothing is resumed), the estimate of the item and the
    places of the open items in the order that suits."""

    __slots__ = ("block", "entries", "estimate", "order", "plan")

    def __init__(
        self,
        plan: FixPlan,
        entries: Sequence[str] = (),
        block: str = "",
        estimate: Estimate | None = None,
        order: Sequence[int] = (),
    ) -> None:
        self.plan = plan
        self.entries = entries
        self.block = block
        self.estimate = estimate
        self.order = order


def is_built(path: str) -> bool:
    """Whether a file is such a text, and none of the user's own."""
    try:
        return _BUILT in read_head(path, _BUILT_BYTES)
    except UnreadableError:
        return False


def task_name(prompt: str) -> str:
    """The first line that says something, without a heading's marks."""
    lines = (one_line(line).lstrip("# ").removeprefix("Task: ") for line in prompt.splitlines())
    first = next(filter(None, lines), "")
    return one_line(first, NAME_CHARACTERS)


def objective(prompt: str) -> str:
    """The prompt, of a long one its first lines."""
    text = prompt.strip("\n")
    lines = text.split("\n")
    return cut_chars("\n".join(lines[:OBJECTIVE_LINES]), OBJECTIVE_CHARACTERS).rstrip()


def build(run: Run, around: Around) -> str:
    """The whole text, for the client's stdin."""
    parts = [
        f"# Task: {run.task_name}",
        f"## Objective\n\n{run.objective}",
        masked(_state(run, around.plan)),
        masked(_before(around.entries)),
        f"---\n\n{_bounded(masked(around.block))}\n\n---" if around.block else "",
        masked(_refused(run)),
        masked(item_text.text(run.item, around.plan, around.estimate, around.order)),
        instructions.text(run, around.plan, around.estimate, is_resumed=bool(around.block)),
        _prompt(run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def encode(text: str) -> bytes:
    """As the user typed it: bytes of a command line that are no UTF-8 come out as they went in."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _state(run: Run, plan: FixPlan) -> str:
    action = one_line(str(run.last.get("action") or ""), ACTION_CHARACTERS)
    rows = [
        ("Iteration", f"{run.iteration} {run.of_most}"),
        ("Last action", action or _no_action(run)),
        ("Remaining items", _remaining(plan)),
        ("Started", run.started_at),
        ("Limits", _limits(run)),
    ]
    return "## Current State\n\n" + "\n".join(
        f"- **{name}**: {text}" for name, text in rows if text
    )


def _no_action(run: Run) -> str:
    return "not known" if run.iteration > 1 else "none, this is the first iteration"


def _remaining(plan: FixPlan) -> str:
    if not plan.path or plan.problem or not plan.total:
        return ""
    blocked = f", {len(plan.blocked)} more blocked" if plan.blocked else ""
    return f"{len(plan.todo)} of {plan.total} ({plan.path}){blocked}"


def _limits(run: Run) -> str:
    """Those that are set, besides the number of iterations."""
    most = (
        ("max_minutes", "{:,} minutes for the whole run"),
        ("max_tokens", f"{{:,}} tokens, {run.tokens:,} spent"),
        ("iteration_minutes", "{:,} minutes for this iteration"),
    )
    found = [words.format(run.number(name)) for name, words in most if run.number(name)]
    return "; ".join(found)


def _before(entries: Sequence[str]) -> str:
    if not entries:
        return ""
    lower = [entry.replace("## Iteration", "### Iteration", 1) for entry in entries]
    return "## What Was Done Before\n\n" + "\n\n".join(lower)


def _bounded(block: str) -> str:
    text = block.strip()
    if len(text) <= BLOCK_CHARACTERS:
        return text
    return cut_chars(text, BLOCK_CHARACTERS).rstrip() + "\n[cut here; the handoff has the rest]"


def _refused(run: Run) -> str:
    """Why the work did not count as done, and what the command said that checks it."""
    why = one_line(str(run.last.get("refused") or ""), 300)
    if not why:
        return ""
    tail = end_units(harmless(str(run.last.get("tail") or "")), REFUSED_UNITS)
    shown = "\n\n" + "\n".join(f"    {line}" for line in tail.split("\n")) if tail else ""
    return f"## Not Done Yet\n\nThe work was reported as done, but {why}. Put that right.{shown}"


def _prompt(run: Run) -> str:
    """Left out where the objective says all of it."""
    if run.prompt.strip("\n") in run.objective:
        return ""
    return f"## The Whole Prompt\n\n{run.prompt}"
