"""What a person is answered who switches enforcement on or off, or stops it."""

from __future__ import annotations

from sisyphus.paths import display
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

OFF = "Continuous enforcement is off."
IS_ON = "Continuous enforcement is on for this project. End it with /sisyphus:enforce off."
STOPPED = "Continuous enforcement is stopped until your next prompt."
REFUSED = "the user alone begins and ends continuous enforcement"
STOPPED_ALL = "Continuous enforcement is stopped: each session until its user's next prompt."


def began(found: Json) -> str:
    """`found`: the status."""
    root, limits = found["project_root"], found["limits"]
    most = limits["max_iterations"]
    ends = f"{most} times a session at most" if most else "without an end"
    rest = f"{limits['idle_seconds']:g} s"
    return f"""\
Continuous enforcement is on for {line(display(root, root))}.

From its next stop on, a session that says it is done is told to verify that, and one that rests for
{rest} is woken: {ends}.
Stop it with /sisyphus:enforce stop, end it with /sisyphus:enforce off."""
