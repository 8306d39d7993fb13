"""How an iteration is to be worked, as PROMPT.md says it to the model. Pure."""

from __future__ import annotations

import re

from sisyphus.checkpoint.outlook import complexity
from sisyphus.ralph.promise import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.checkpoint.outlook.complexity import Estimate
    from sisyphus.runner.keep.state import Run
    from sisyphus.runner.task.fix_plan import FixPlan

_SUBAGENTS = """\
| Work | Give it to | Saves about |
|------|------------|-------------|
| Exploring files | an exploring agent (Explore) | 20% |
| Reviewing code | a reviewing agent (code-reviewer) | 15% |
| Analysing tests | a testing agent (spec-tester) | 15% |
| Documentation | a writing agent (docs-architect) | 10% |"""

_CHECK = "\nA command of the user's is then run and must succeed as well."


def text(run: Run, plan: FixPlan, estimate: Estimate | None, *, is_resumed: bool) -> str:
    must_split = estimate is not None and complexity.must_split(estimate) and bool(run.item)
    steps = [
        _resuming(is_resumed=is_resumed),
        _split(plan) if must_split else _one_item(run, plan),
        _context(),
        _leave(run.item, plan, ticks=bool(run.item) and not must_split),
        _end(run),
    ]
    numbered = (f"### Step {number}: {step}" for number, step in enumerate(steps, 1))
    return "## Instructions\n\n" + "\n\n".join(numbered)


def _resuming(*, is_resumed: bool) -> str:
    if is_resumed:
        return """\
You are resuming

1. Read the handoff document that is named above, before anything else.
2. Go on where it stops. Do not begin the task anew.
3. Do not read again what the handoff tells you."""
    return """\
You are not resuming

This context is fresh: it knows what stands here and in the files, and nothing else. Earlier
iterations left their work in the files and in git."""


def _one_item(run: Run, plan: FixPlan) -> str:
    if run.item:
        return f"""\
Do ONE item

Do the item above and nothing else. The others stand in `{plan.path}`; later iterations do them.
Finish it: code, tests, and whatever shows that it works."""
    return """\
Do ONE thing

Choose the most important thing that is left to do, do that one, and finish it: code, tests, and
whatever shows that it works."""


def _split(plan: FixPlan) -> str:
    return f"""\
Split the item

The item above is too large for one context. Do not do it now. Replace it in `{plan.path}` by items
that each take less than 40% of a context, in the order in which they are to be done, as boxes
`- [ ]` that say which files they concern. Then end the iteration."""


def _context() -> str:
    return f"""\
Keep the context small

Always needed: the items, the last entries of `.claude/progress.txt` (they stand above), what is
resumed. Everything else on demand: a file when you edit it, and of a long one the part that
matters; an earlier handoff only when you resume; a specification only when the item names it.
Give away what you only need the answer of:

{_SUBAGENTS}

Hooks watch the context. `CCS_WARNING|L1|…` means: finish what you have begun, open nothing new.
`CCS_CHECKPOINT_TRIGGERED|L2|…` means: a handoff is written; complete the edit that you are in (at
most 60 seconds), add to the handoff what only you know, and stop. The next iteration goes on from
it."""


def _leave(item: str, plan: FixPlan, *, ticks: bool) -> str:
    steps = ", and each step below it," if ticks and plan.is_in_steps(item) else ""
    tick = f"""\
Tick the item{steps} in `{plan.path}` (`[x]`) once it is done and checked, and only then.
"""
    return f"""\
Leave things in order

{tick if ticks else ""}\
What the next iteration must know and no file says, add to `.claude/progress.txt`, in a line or two.
Leave `.claude/ralph-state.json` and `.claude/PROMPT.md` alone."""


def _end(run: Run) -> str:
    promise = run.completion_promise
    check = _CHECK if run.text("verify") else ""
    if promise is not None:
        return f"""\
End

When the item is done, stop: the next iteration begins by itself. Only when the whole task is truly
complete, say on a line of its own, without the back ticks:

{_code(f"<promise>{fold(promise)}</promise>")}
{check}""".rstrip()
    return f"""\
End

When the item is done, stop: the next iteration begins by itself.{check}"""


def _code(text: str) -> str:
    """Shown and not said: a client that repeats its prompt promises nothing."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    marks = "`" * (longest + 1)
    return f"{marks}{text}{marks}"
