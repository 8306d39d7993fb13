"""Whether the client finds the program of our status line."""

from __future__ import annotations

from sisyphus.clients.claude_code_setup import STATUSLINE
from sisyphus.doctor.finding import Finding, ok, problem
from sisyphus.install import wiring
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

CHECK = "status line"

_WORDS = 200


def check(case: Case) -> Iterator[Finding]:
    """Of the strongest file that has one."""
    said = [one for one in case.settings if isinstance(one.values.get(STATUSLINE), dict)]
    if not said:
        return
    where = case.shown(said[-1].path)
    program = wiring.statusline(str(said[-1].values[STATUSLINE].get("command")))
    if program and not case.programs.is_there(program):
        text = f"{program}, which {where} calls, is not there: the line stays empty"
        yield problem(CHECK, text, f"`sisyphus install{said[-1].scope} --only statusline`")
    elif program and said[-1].is_of_project and case.is_strangers(program):
        named = f"{one_line(program, _WORDS)} ({where})"
        yield ok(CHECK, f"it may be a stranger's: {named}")
    elif program:
        yield ok(CHECK, f"ours, by {where}")
