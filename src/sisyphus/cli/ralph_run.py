from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import AsJson, print_json, say, workspace
from sisyphus.cli.terminal import if_heard
from sisyphus.clients import claude_code
from sisyphus.errors import SisyphusError
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    from sisyphus.runner.asked import Asked
    from sisyphus.runner.run import Result
    from sisyphus.workspace import Workspace

Project = Annotated[
    str,
    typer.Option(
        "--project", metavar="DIR", help="Where the work is.", show_default="current folder"
    ),
]

_RUN_HELP = """\
Work on a task in fresh contexts: one client after the other, one item each, until it is done.

The task is `--prompt`, `--prompt-file` or PROMPT.md of the project. Items are the boxes of
`.claude/fix_plan.md` or `fix_plan.md`. What the client is given stands in `.claude/PROMPT.md`, what
became of each iteration in `.claude/progress.txt`, the run itself in `.claude/ralph-state.json`.

`sisyphus ralph run --prompt "Make all tests pass" --completion-promise GREEN --verify "pytest -q"`

Words behind `--` are the client's: `sisyphus ralph run -- --permission-mode acceptEdits`

Exit codes: 0 completed, 1 a fatal error, 2 wrong usage, 3 ended by a limit or for want of
progress, 130 interrupted.
"""


def run(  # one an option
    flags: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- CLIENT FLAGS", help="Given to the client.", show_default=False),
    ] = None,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="What is to be done.")] = None,
    prompt_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Take the prompt from a file.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The aim in short; else the prompt's start.")
    ] = None,
    completion_promise: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the agent must promise at the end.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Default 50; 0 = no limit.")
    ] = None,
    max_minutes: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="At work. Default 1440; 0 = no limit.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Tokens to spend, subagents' too.")
    ] = None,
    iteration_minutes: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="For one iteration. Default 60.")
    ] = None,
    verify: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Must exit 0 for the work to be done.")
    ] = None,
    client_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run this, and not `claude -p`.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that was left here.")
    ] = False,
    project: Project = "",
    as_json: AsJson = False,
) -> None:
    from sisyphus.runner.asked import Asked

    _check_caller()
    space = workspace(project)
    asked = Asked()
    asked.prompt, asked.prompt_file, asked.objective = prompt, prompt_file, objective
    asked.completion_promise, asked.verify = completion_promise, verify
    asked.max_iterations, asked.max_minutes = max_iterations, max_minutes
    asked.max_tokens, asked.iteration_minutes = max_tokens, iteration_minutes
    asked.client_command, asked.flags = client_command, flags or []
    done, told = _work(space, asked, resume=resume, as_json=as_json)
    if_heard(lambda: print_json(done.run.as_json()) if as_json else say(told))
    raise typer.Exit(done.exit_code)


run.__doc__ = _RUN_HELP


def _work(space: Workspace, asked: Asked, *, resume: bool, as_json: bool) -> tuple[Result, str]:
    """How the run ended, and what is said of it."""
    from sisyphus.cli.run_screen import screen
    from sisyphus.runner import beforehand, texts
    from sisyphus.runner import run as runner

    with screen(to_stderr=as_json) as shown:
        over = beforehand.look(space, asked, shown, resume=resume)
        if over:
            return runner.Result(over, 0, worked=False), texts.nothing_begun(over)
        done = runner.run(space, asked, shown, resume=resume, folder=_here())
    if not done.worked:
        return done, texts.already_over(done.run)
    return done, texts.finished(done.run, os.path.join(space.root, ".claude", "progress.txt"))


def _here() -> str:
    """Where files that the user names are looked for."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise SisyphusError("the current folder is gone. Change to one that exists.") from error


def _check_caller() -> None:
    """The model works in a run; it does not begin one, with commands and limits of its own."""
    if claude_code.is_inside() or os.environ.get(RUN_VARIABLE):
        raise SisyphusError(
            "`ralph run` starts clients of its own, so it is not run inside of one. Run it in a "
            "terminal."
        )
