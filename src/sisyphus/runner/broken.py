"""The end of a run that could not go on for a reason of our own, such as a full disk."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.masking import masked
from sisyphus.notify.send import FAILURE
from sisyphus.runner import tell
from sisyphus.runner.client import launch
from sisyphus.runner.keep.state import FATAL
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.desk import Desk

RESUME = "`sisyphus ralph run --resume`"


def end(desk: Desk, error: Exception) -> SisyphusError:
    """Ends the client, keeps as much as can be kept, tells the user's command, and returns what to
    tell the user."""
    words = _words(error)
    debug.log(f"the run broke: {type(error).__name__}: {error}")
    stem, left = str(desk.run.in_flight.get("stem") or ""), _end_client(desk)
    desk.roll_back()
    if desk.run.in_flight.get("stem") == stem and stem:
        desk.run.in_flight["interrupted"] = True
    desk.run.status, desk.run.reason = FATAL, masked(words)
    try:
        desk.save()
    except (OSError, SisyphusError) as again:
        debug.log(f"nor can that be kept: {again}")
    tell.send_about(desk, FAILURE, desk.run.reason)
    return SisyphusError(f"{words}.{left} Put that right, then go on with {RESUME}.")


def _words(error: Exception) -> str:
    if isinstance(error, SisyphusError):
        return str(error).rstrip(".")
    if isinstance(error, OSError):
        return f"the run cannot keep what it did: {error}"
    return f"a fault of ours ended the run: {type(error).__name__}: {error} ({debug.log_path()})"


def _end_client(desk: Desk) -> str:
    """What to say of one that still works."""
    child = launch.living(desk.run.in_flight)
    if child is None:
        return ""
    is_gone = child.end()
    child.release()
    return "" if is_gone else f" Its client still works: `{child.kill}` ends it."
