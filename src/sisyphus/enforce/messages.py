"""Every sentence about enforcement that the model and the user read."""

from __future__ import annotations

from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line, sentence
from sisyphus.hook.outcome import Alert
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
_NEED = 200

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


def alert_of_claim(number: str, settings: Values) -> Alert:
    """Returns the notice about a session that must prove that it is done."""
    seconds, abort = settings["enforce.toast_seconds"], settings["enforce.abort_seconds"]
    return Alert("warning", goes_on(number), seconds, 0, abort, 0)


def alert_of_idle(number: str, settings: Values) -> Alert:
    """Returns the notice about an idle session that is woken. Its user gets time to object."""
    names = ("toast", "countdown", "abort", "stability")
    seconds, countdown, abort, stability = (settings[f"enforce.{name}_seconds"] for name in names)
    return Alert("error", is_woken(number), seconds, countdown, abort, stability)


def goes_on(number: str) -> str:
    """Tells the user that a session which says that it is done goes on."""
    return f"Enforcement {number}: the agent says that it is done, and must prove it."


def is_woken(number: str) -> str:
    """Tells the user that an idle session goes on."""
    return f"Enforcement {number}: the agent was idle, and is woken."


LATE_WAKE = "This was to wake the session when it was idle, and came too late. It is left out."


def rests(why: str) -> str:
    """Tells the user that the session waits for them."""
    return f"The agent needs you: {sentence(why, _NEED)} Enforcement waits for your next prompt."


def is_on(command: str) -> str:
    """The line at the start of a session. command: our slash command as the client knows it."""
    return (
        f"Enforcement is on here: the agent is made to go on. `{command} stop` leaves it alone "
        f"until your next prompt, `{command} off` ends it."
    )


def switched_on(project: str, settings: Values, typed: str) -> str:
    """Says what enforcement does from now on, how far it goes, and how to end it. typed: our slash
    command, if the user is in a session, else ""."""
    command, whom = typed or "sisyphus enforce", "this session" if typed else "the sessions"
    limit = settings["enforce.max_iterations"]
    ends = (
        f"At most {limit} times a session: each time costs you a turn of the model."
        if limit
        else "Without a limit: each time costs you a turn of the model."
    )
    return (
        f"Enforcement is on in {display(project, '')}.\n"
        "An agent that says that it is done must prove it, and one that has been idle for "
        f"{settings['enforce.idle_seconds']} s is woken, where its client can do that.\n"
        f"{ends}\n"
        f"`{command} stop` leaves {whom} alone until your next prompt, `{command} off` ends it."
    )


BEGINS = "A session that is idle now is woken only after its next turn."


def next_at(clock: str) -> str:
    """Says when an idle session is woken. clock: as people read it."""
    return f"at {clock}, if it stays idle"


def next_after_failure(error: str) -> str:
    return f"not before your next prompt, because its last turn failed: {one_line(error, _NEED)}"


AFTER_TURN, NOT_BY_ITSELF = "after its next turn", "not by itself now"
"""When a session is woken that works, or beside which nobody waits; when a gate is closed that time
does not open."""


def left_alone(sessions: Sequence[str]) -> str:
    """Says which sessions their user stopped. sessions: their ids."""
    return f"Left alone until your next prompt there: {', '.join(map(short, sessions))}"


def is_exhausted(session: str, limit: int) -> str:
    """Tells the user once that enforcement has given up a session."""
    return (
        f"Enforcement {limit} of {limit} was the last in session {short(session)}: it is left "
        "alone. `sisyphus enforce on` starts the count again."
    )


def has_failed(failures: int, seconds: float) -> str:
    """Tells the user once that enforcement holds back for a while."""
    return (
        f"Enforcement holds back for {seconds:.0f} s: {failures} times in a row the agent did "
        "nothing."
    )


def switched_off(project: str, *, was_on: bool) -> str:
    if not was_on:
        return f"Enforcement was not on in {display(project, '')}."
    return f"Enforcement is off in {display(project, '')}."


def stopped(sessions: Sequence[str]) -> str:
    which = f"Session {sessions[0]} is" if len(sessions) == 1 else f"{len(sessions)} sessions are"
    return f"{which} left alone until your next prompt there."


def no_session() -> str:
    return "No session of this project is open."


NOT_ON = "Enforcement is off here. `sisyphus enforce on` switches it on."

STATUS = {
    "OFF": "off",
    "CONTINUOUS": "on",
    "STOPPED": "stopped until your next prompt",
    "RECOVERING": "holds back after too many failures",
    "EXHAUSTED": "at its limit, `sisyphus enforce on` starts the count again",
}
"""What each status in `enforce.json` means."""


def summary(status: str, iteration: int, limit: int, stopped: Sequence[str]) -> str:
    """The line of `sisyphus status`. iteration, limit: of the session that was enforced last.
    stopped: the ids of others that their user stopped."""
    count = f", {of_limit(iteration, limit)} in the last session" if iteration else ""
    rest = f". {left_alone(stopped)}" if stopped else ""
    return f"Enforcement: {STATUS[status]}{count}{rest}"


# ---------------------------------------------------------------- for the journal


def held_back(why: str) -> str:
    return f"enforcement holds back: {why}"


def counted(number: str) -> str:
    return f"enforcement {number}: the agent says that it is done"


def woken(number: str, seconds: float) -> str:
    return f"enforcement {number}: woken after {seconds:.0f} s"


def lifted() -> str:
    return "the user's prompt ends the stop of enforcement"
