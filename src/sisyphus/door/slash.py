"""Answers typed commands that need no model, such as `/boulder-status`: runs our command line in
this process; its output is the reply to the prompt."""

from __future__ import annotations

import io
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout

from sisyphus.door.routes import SLASH_COMMANDS, TWINS
from sisyphus.ground.partial import partial
from sisyphus.ground.text import one_line
from sisyphus.hook.outcome import Outcome
from sisyphus.loops.lifecycle import is_command
from sisyphus.sessions import command_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act


_DEFAULTS = {"enforce": "status", "ralph": "list"}
"""Groups of commands → the command that the bare group means."""

_ABOUT_CONTEXT = {"context": ["context"], "checkpoint": ["handoff"]}
"""What `/ralph` takes besides the commands of its group."""

_OFFERED = {"enforce": ("on", "off", "stop", "status"), "ralph": ("context", "checkpoint", "list")}
"""Groups of commands → what we name if somebody types what is not there."""

_IN_PROJECT = ("boulder", "enforce", "context", "handoff")


def look_at_prompt(hook: Hook) -> Act | None:
    """Runs the command, which has a transaction and exports of its own, before the event's
    transaction. `act` only gives its answer."""
    command = hook.event.prompt.command
    assert command is not None
    name = command_names.own_name(hook, command.name)
    if name not in SLASH_COMMANDS:
        return _answer_twin(hook, command.name)
    words, arguments = SLASH_COMMANDS[name].split(), _split(command.arguments)
    if words[0] in _DEFAULTS and len(words) == 1:  # a group of commands: the user names one
        words, arguments = [*words, *(arguments[:1] or [_DEFAULTS[words[0]]])], arguments[1:]
    answer = _in_terminal(words, arguments)
    if not answer and words[0] in _OFFERED:
        answer = _not_there(command.name, words, arguments)
    if answer:
        return partial(Outcome, reason=answer, notes=[f"answered /{command.name}"])
    if words[0] == "ralph":
        words = _ABOUT_CONTEXT.get(words[1], words)
    folder = hook.event.folder if os.path.isdir(hook.event.folder) else hook.project
    words += ["--project", folder] if words[0] in _IN_PROJECT else []
    answer = _run(hook, f"/{command.name}", [*words, *arguments])
    return partial(Outcome, reason=answer, notes=[f"answered /{command.name}"])


def _answer_twin(hook: Hook, name: str) -> Act | None:
    """Answers a command of another plugin whose loops we take up. It goes to that plugin, too,
    which does not know our loops. None: it is somebody else's that has this name."""
    words = next((words for twin, words in TWINS.items() if is_command(hook, name, twin)), "")
    if not words:
        return None
    output = _run(hook, f"/{name}", words.split())
    return partial(Outcome, messages=[output], notes=[f"answered /{name}"])


def _run(hook: Hook, typed: str, words: list[str]) -> str:
    """Runs our command line for the user who typed this; returns what it prints."""
    from sisyphus.cli import app
    from sisyphus.terminal import show  # imported late: it loads typer and rich

    output = io.StringIO()
    user = show.Asker(
        hook.event.session, is_user=True, typed=typed, transcript=hook.event.transcript
    )
    with show.asking(user), redirect_stdout(output), redirect_stderr(output):
        app.main(words, is_typed=True)
    return output.getvalue().strip()


def _in_terminal(words: list[str], arguments: list[str]) -> str:
    """Returns where a run is started: a hook must end within seconds. "" = it is none."""
    if words[:2] != ["ralph", "run"] or any(each in ("-h", "--help") for each in arguments):
        return ""
    line = one_line(shlex.join(["sisyphus", *words, *arguments]))
    return f"A run works for hours, so it is started in a terminal: `{line}`."


def _not_there(name: str, words: list[str], arguments: list[str]) -> str:
    """Returns what there is, if a group of commands has no such command, or this one takes no
    words; "" = it is there. name: as the user has typed it."""
    from sisyphus.cli import app

    group = words[0]
    if words[1].startswith("-"):
        return ""
    is_of_context = group == "ralph" and words[1] in _ABOUT_CONTEXT
    if is_of_context and all(each.startswith("-") for each in arguments):
        return ""
    if not is_of_context and words[1] in app.names(group):
        return ""
    said = one_line(" ".join([words[1], *arguments] if is_of_context else [words[1]]), 60)
    there = ", ".join(f"`/{name} {each}`" for each in _OFFERED[group])
    return f"There is no `/{name} {said}`. There is {there}."


def _split(arguments: str) -> list[str]:
    """Splits arguments as a shell would; at blanks if a quote is not closed."""
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
