"""Runs the check of a loop, the user's own command, while no lock is held."""

from __future__ import annotations

from sisyphus.ground import processes
from sisyphus.ground.record import Record
from sisyphus.ground.text import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.processes import CommandResult

_LINES = 20
_UNITS = 2000


class Check(Record):
    """The result of a check. how: how it ended, as the end of a sentence. tail: the last lines of
    its output. ran_no_test: it exited 0, but is a test command that ran none. has_timed_out: it was
    ended because its time was up."""

    has_passed: bool
    how: str
    tail: str
    ran_no_test: bool = False
    has_timed_out: bool = False


def run(command: str, project: str, seconds: int) -> Check:
    """Runs a check in the project, for at most `seconds`. It passes if it exits 0, but not if its
    output says that it ran no test."""
    try:
        done = processes.run(command, project, seconds, tail=100_000)
    except OSError as error:
        return Check(False, f"could not be run ({error})", "")
    how = how_ended(done, seconds)
    if done.code == 0:
        from sisyphus.sessions.no_tests import ran_no_test  # imported late: few checks get here

        if ran_no_test(command, done.output):
            return Check(False, f"{how}, but ran no test", tail(done.output), ran_no_test=True)
    late = done.has_timed_out
    return Check(done.code == 0, how, tail(done.output), has_timed_out=late)


def how_ended(done: CommandResult, seconds: int) -> str:
    """Says how a command ended, as the end of a sentence. seconds: how long it might take."""
    return f"did not finish within {seconds} s" if done.has_timed_out else f"exited {done.code}"


def tail(output: str) -> str:
    """Returns the last lines as a terminal would show them, without colours."""
    lines = [line.rpartition("\r")[2] for line in output.rstrip().replace("\r\n", "\n").split("\n")]
    plain = ["".join(c for c in line if c.isprintable() or c == "\t") for line in lines[-_LINES:]]
    text = "\n".join(plain)
    while len(cut(text, _UNITS)) < len(text):
        text = text.partition("\n")[2] or text[-_UNITS // 2 :]  # a character has two units at most
    return text
