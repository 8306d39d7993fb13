from __future__ import annotations

import time
from typing import Annotated

import typer

from sisyphus.cli.output import AsJson, Project, print_json, say, workspace
from sisyphus.cli.terminal import if_heard

_DECIDE_HELP = """\
For a loop of your own: say whether it goes on, from its state file and what the client said last.

`claude -p < .claude/PROMPT.md > out.txt; sisyphus ralph decide --wait --output out.txt`

The state is `.claude/ralph-state.json`. Begin with one such as
`{"task_name": "x", "iteration": 1, "status": "running", "completion_promise": "DONE"}`.

Exit codes: 0 stop (completed, a fatal error, a limit, no progress), 1 go on, 2 it cannot be told:
stop and see why.
"""


def decide(
    output: Annotated[
        str,
        typer.Option(metavar="FILE", help="What the client said last; - = stdin."),
    ] = "-",
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for a limit or an outage to pass, then answer.")
    ] = False,
    project: Project = "",
    as_json: AsJson = False,
) -> None:
    from sisyphus.runner import decide_once
    from sisyphus.runner.client import printed

    try:
        answer = decide_once.answer(workspace(project), printed.read_output(output))
    except Exception as error:  # noqa: BLE001  # 1 would mean: go on
        answer = decide_once.cannot_tell(error)
    if wait:
        _sleep_until(answer.until)
    if_heard(lambda: print_json(answer.as_json()) if as_json else say(answer.line))
    raise typer.Exit(answer.exit_code)


decide.__doc__ = _DECIDE_HELP


def _sleep_until(moment: float) -> None:
    """In short steps: a machine that slept meanwhile does not wait for longer."""
    while (left := moment - time.time()) > 0:
        time.sleep(min(left, 1.0))
