"""Finds the runs of a check in what a session has recorded: nothing is executed, so nobody has to
be trusted.

A run proves something only if the command line is that of the check, in the place where the check
runs. In `pytest | tail` and `pytest || true` the shell does not report how the tests ended, and
`pytest -k total` is another check.
"""

from __future__ import annotations

import os
import re

from sisyphus.ground.record import Record
from sisyphus.hook.event import EDIT, WRITE
from sisyphus.sessions import checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus.clients.transcript_records import TranscriptLine

PASSED, FAILED, NO_TEST, RUNNING = "passed", "failed", "no_test", "running"
"""How a run ended. NO_TEST: it exited 0, but ran no test. RUNNING: nobody has written down yet how
it ended."""

NOTHING, SUCCESS, ALL = "nothing", "success", "all"
"""What the end of a command line says of the check in it. SUCCESS: if it succeeds, the check has
passed; if not, another command may have failed."""

_CD = re.compile(r"\s*cd\s+(?:\"([^\"]*)\"|'([^']*)'|([^\s;&|<>\"']+))\s*(?:&&|;|\n)\s*")
_JOINED_OUTPUT = re.compile(r"\s2>&1(?=\s|$)")
_OUTPUT_OPTION = re.compile(
    r"-(?:v+|q+|x|s|l|r\w+)|--(?:verbose|quiet|exitfirst|showlocals|no-header|no-summary"
    r"|(?:tb|colou?r|durations)(?:=\w+)?|nocapture|silent)?"
)
"""The options of test commands that only change what is printed, and `--` before those of a runner
that another one calls."""

_OPTION_VALUE = re.compile(r"auto|short|line|long|native|no|yes|always|never|\d+")


class Step(Record, is_frequent=True):
    """What an agent did that matters here: it edited a file, or ran a command line.

    at, ended_at: when it began and ended; 0 = unknown. id: of the call. path: the file, "" = none.
    line: the command line. folder: where that runs, "" = unknown. is_over: its result is known.
    is_error: it failed. output: what it printed.
    """

    at: float
    id: str = ""
    path: str = ""
    line: str = ""
    folder: str = ""
    is_over: bool = False
    is_error: bool = False
    output: str = ""
    ended_at: float = 0.0

    @property
    def is_change(self) -> bool:
        return bool(self.path) and not self.is_error


def steps_of(records: Sequence[TranscriptLine]) -> list[Step]:
    """Returns the edits and the command lines of a session's main agent, in order."""
    steps: list[Step] = []
    running: dict[str, list[Step]] = {}
    for record in records:
        for call in record.calls:
            path = call.target if call.action in (EDIT, WRITE) else ""
            if path or call.shell:
                step = Step(call.at or record.at, call.id, path, call.shell, call.folder)
                steps.append(step)
                running.setdefault(call.id, []).append(step)
        for result in record.results:
            for step in running.get(result.id, ()) if not result.goes_on else ():
                step.is_over, step.is_error = True, result.is_error
                step.output, step.ended_at = result.text, record.at
                step.line = "" if result.is_refused else step.line  # it did not run
    if all(step.at for step in steps):
        steps.sort(key=lambda step: step.at)  # a client may write a call down at its end
    return steps


def last_run(
    command: str,
    steps: Sequence[Step],
    ticked_at: float,
    project: str,
    is_unchanged: Callable[[float], bool],
) -> str:
    """Returns how a check ended when it ran last on the work that was ticked; "" = it did not.

    It ran on that work if nobody changed a file between it and the tick. One that passes at any
    time after the tick counts, too; one that fails after the next change may have been broken by
    the next task.

    steps: without those that change the plan. is_unchanged: tells whether nothing has changed
    between a time and the tick.
    """
    found = ""
    has_passed_tick = has_changed = False
    for step in steps:
        if not has_passed_tick and step.at > ticked_at:
            has_passed_tick = True
        if step.is_change:
            found, has_changed = (found, True) if has_passed_tick else ("", False)
        result = ended(command, step, project)
        if not result or (has_passed_tick and has_changed and result == FAILED):
            continue
        is_old = not has_passed_tick and result in (PASSED, FAILED)
        if is_old and not is_unchanged(step.ended_at or step.at):
            result = ""
        found = result
    return found


def ended(command: str, step: Step, project: str) -> str:
    """Returns how the check ended in a step; "" = the step says nothing of it."""
    proof = proof_of(command, step.line, step.folder, project) if step.line else NOTHING
    if proof == NOTHING:
        return ""
    if not step.is_over:
        return RUNNING
    if step.is_error:
        return FAILED if proof == ALL else ""
    from sisyphus.sessions.no_tests import ran_no_test  # imported late: few ticks get here

    return NO_TEST if ran_no_test(command, step.output) else PASSED


def proof_of(command: str, line: str, folder: str, project: str) -> str:
    """Returns what the end of a command line says of a check, see `ALL`. folder: where the line
    runs, "" = unknown."""
    folder = folder or project
    wanted = " ".join(command.split())
    while _is_same_folder(folder, project) is False or " ".join(line.split()) != wanted:
        found = _CD.match(line)
        if not found:
            break
        name = found[1] or found[2] or found[3]
        line, folder = line[found.end() :], os.path.join(folder, os.path.expanduser(name))
    else:
        return ALL
    if not _is_same_folder(folder, project):
        return NOTHING
    if max(len(line), len(command)) > checks.MAX_CHARACTERS:
        return NOTHING
    try:
        parts = _commands(_JOINED_OUTPUT.sub(" ", line))
        return _proof(parts, _commands(command), is_test=checks.is_test(command))
    except ValueError:  # a quote is not closed
        return NOTHING


def _proof(parts: list[list[str]], wanted: list[list[str]], *, is_test: bool) -> str:
    """Returns what commands that are joined by `&&` say of those that are wanted."""
    for start in range(len(parts) - len(wanted) + 1 if wanted else 0):
        if _is_same(parts[start : start + len(wanted)], wanted, is_test=is_test):
            return ALL if len(parts) == len(wanted) else SUCCESS
        if parts[start][:1] in (["cd"], ["pushd"]):
            break
    return NOTHING


def _is_same_folder(folder: str, project: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(project)


def _commands(line: str) -> list[list[str]]:
    """Returns the commands that are joined by `&&`; none if others than these join them."""
    words = checks.split_words(line)
    while words and words[-1] == ";":
        words.pop()
    if any(word in (*checks.NO_PROOF, ";", ">", ">>") for word in words):
        return []
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def _is_same(parts: list[list[str]], wanted: list[list[str]], *, is_test: bool) -> bool:
    """Tells whether these commands are the wanted ones, the last of a test perhaps with options
    that only change what it prints."""
    if parts[:-1] != wanted[:-1] or parts[-1][: len(wanted[-1])] != wanted[-1]:
        return False
    more = parts[-1][len(wanted[-1]) :]
    pairs = zip(["", *more], more, strict=False)
    return all(
        is_test
        and (
            _OUTPUT_OPTION.fullmatch(word)
            or (before.startswith("--") and "=" not in before and _OPTION_VALUE.fullmatch(word))
        )
        for before, word in pairs
    )
