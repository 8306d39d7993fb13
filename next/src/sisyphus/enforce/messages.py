"""Every sentence about enforcement that the model and the user read."""

from __future__ import annotations

from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HEADING = "[CONTINUOUS ENFORCEMENT]"

_CLAIM = 100
_TASK = 100
_COMMAND = 60


_DEMANDS = (
    "Verify: run the tests and the build, and read what they print.",
    "Requirements: go through all that the user asked for, one by one.",
    "Evidence: show the output that proves each of them.",
    "Improve: find the weakest part of the work, and make it better.",
)
_WAY_OUT = "If you need something from the user, say <blocked>what you need</blocked>"


def claimed(text: str, tasks: Sequence[str], tested: str, iteration: int, limit: int) -> str:
    """Returns the reason of a Stop at which the agent says that the work is done.

    text: its message. tasks: open tasks of the plan. tested: the test command that passed after the
    last edit; "" = none did. iteration, limit: of the enforcements of this session; 0 = no limit.
    """
    claim = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return _demand(f'You say: "{one_line(claim, _CLAIM)}"', tasks, tested, iteration, limit)


def idle(tasks: Sequence[str], tested: str, iteration: int, limit: int) -> str:
    """Returns the text that wakes an idle session. The arguments are as above."""
    return _demand("You have stopped, and nobody said so.", tasks, tested, iteration, limit)


def _demand(head: str, tasks: Sequence[str], tested: str, iteration: int, limit: int) -> str:
    demands = list(_DEMANDS)
    if tested:
        demands[0] = f"Verify: `{one_line(tested, _COMMAND)}` passed. Check what it does not cover."
    numbered = [f"{number}. {demand}" for number, demand in enumerate(demands, 1)]
    names = "; ".join(one_line(task, _TASK) for task in tasks)
    number = f"{iteration} of {limit}" if limit else str(iteration)
    parts = [HEADING, head, "Before you stop:\n" + "\n".join(numbered)]
    parts += [f"Open tasks: {names}"] if names else []
    parts.append(f"{_WAY_OUT}\n(Enforcement {number}. Only the user ends it.)")
    return "\n\n".join(parts)
