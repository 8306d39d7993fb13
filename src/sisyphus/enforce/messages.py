"""What the model reads of enforcement, and what several say about it."""

from __future__ import annotations

from sisyphus.ground.text import one_line
from sisyphus.sessions.messages import WAY_OUT, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.enforce.enforcements import Enforcement
    from sisyphus.ground.settings import Values

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


# ---------------------------------------------------------------- for the model


def claimed(text: str, tasks: Sequence[str], tested: str, number: str) -> str:
    """Returns the reason of a Stop at which the agent says that the work is done.

    text: its message. tasks: open tasks of the plan. tested: the test command that passed after the
    last edit; "" = none did. number: of this enforcement, by `number`.
    """
    claim = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return _demand(f'You say: "{one_line(claim, _CLAIM)}"', tasks, tested, number)


def idle(seconds: float, tasks: Sequence[str], tested: str, number: str) -> str:
    """Returns the text that wakes a session which has been idle for some seconds. The other
    arguments are as above."""
    return _demand(f"You have been idle for {seconds:.0f} s.", tasks, tested, number)


def _demand(head: str, tasks: Sequence[str], tested: str, number: str) -> str:
    demands = list(_DEMANDS)
    if tested:
        command = one_line(tested, _COMMAND)
        demands[0] = (
            f"Verify: `{command}` passed after your last edit. Prove what it does not cover: the "
            "build, and what has no test."
        )
    numbered = [f"{number}. {demand}" for number, demand in enumerate(demands, 1)]
    names = "; ".join(one_line(task, _TASK) for task in tasks)
    parts = [HEADING, head, "Before you stop:\n" + "\n".join(numbered)]
    parts += [f"Open tasks: {names}"] if names else []
    parts.append(f"{WAY_OUT}\n(Enforcement {number}. Only the user ends it.)")
    return "\n\n".join(parts)


def number(enforcement: Enforcement, settings: Values) -> str:
    """Returns which enforcement of its session the last one is."""
    return of_limit(enforcement.iteration, settings["enforce.max_iterations"])


def of_limit(iteration: int, limit: int) -> str:
    """Returns a number of enforcements, as "3 of 50". limit: 0 = there is none."""
    return f"{iteration} of {limit}" if limit else str(iteration)


# ---------------------------------------------------------------- for the user


def is_woken(number: str) -> str:
    """Tells the user that an idle session goes on."""
    return f"Enforcement {number}: the agent was idle, and is woken."


def left_alone(sessions: Sequence[str]) -> str:
    """Says which sessions their user stopped. sessions: their ids."""
    return f"Left alone until your next prompt there: {', '.join(map(short, sessions))}"


STATUS = {
    "OFF": "off",
    "CONTINUOUS": "on",
    "STOPPED": "stopped until your next prompt",
    "RECOVERING": "holds back after too many failures",
    "EXHAUSTED": "at its limit, `sisyphus enforce on` starts the count again",
}
"""What each status in `enforce.json` means."""
