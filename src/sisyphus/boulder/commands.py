"""The boulder's slash commands, answered where they are typed: no model request is spent."""

from __future__ import annotations

import re

from sisyphus import bare_commands
from sisyphus.boulder import actions, answers, messages
from sisyphus.boulder.meant import NotFollowedError
from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.paths import display
from sisyphus.text import harmless, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import PlanStatus
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

    Command = Callable[[Workspace, str, str], tuple[str, str]]

NAMES = (
    "boulder-status", "boulder-clear", "boulder-switch", "boulder-list", "boulder-enforce",
    "start-work", "checkpoint",
)  # fmt: skip
_COMMAND = re.compile(rf"\s*/(sisyphus:)?({'|'.join(NAMES)})(?:\s+(.*))?", re.DOTALL)
_WITHOUT_ARGUMENT = ("boulder-status", "boulder-clear", "boulder-list")
_IN_REPO = "--in-repo"
_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s\"']+"
_OPTION = rf"--(?P<name>wave|story)(?:(?:=|\s+)(?P<value>{_VALUE})?)?"
_OPTION_FIRST = rf"{_OPTION}(?:\s+|$)"
_OPTION_LAST = rf"(?:^|\s){_OPTION}$"
_PARTS_USAGE = "--{name} needs a {name}, like `--wave 2 --story S07`. Quote a message that ends so."
_LIMIT = r"--(max-iterations|max-minutes|max-tokens)[= ]+([1-9][0-9]{0,8})(?= |$)"
_ENFORCE = rf"(off|on)((?: +{_LIMIT})*)"
_ENFORCE_USAGE = (
    "say /sisyphus:boulder-enforce off, or on with --max-iterations N, --max-minutes N or "
    "--max-tokens N."
)


def answer(payload: Payload, space: Workspace) -> Outcome | None:
    """The answer to a prompt that is one of our commands; None for any other prompt.

    `start-work` alone goes on to the model when it succeeds: there is work to start.
    """
    typed = _COMMAND.fullmatch(payload.prompt)
    if typed is None:
        return None
    command, argument = typed[2], (typed[3] or "").strip()
    is_sentence = argument and command in _WITHOUT_ARGUMENT  # that begins with the command's name
    if is_sentence or (not typed[1] and bare_commands.is_foreign(command, space)):
        return None
    try:
        if command == "start-work":
            return _start_work(space, argument, payload.session)
        text, note = _DO[command](space, argument, payload.session)
        return Outcome(reason=text, notes=[line(note)])
    except SisyphusError as error:
        is_ours = typed[1] or not isinstance(error, NotFollowedError)
        if command == "checkpoint" and not is_ours:
            return None  # a name that others use as well
        note = line(f"/{command} changed nothing: {error}")
        return Outcome(reason=harmless(str(error)), notes=[note])


def _status(space: Workspace, _: str, session: str) -> tuple[str, str]:
    from sisyphus.boulder.tables import list_text
    from sisyphus.boulder.view import status_text

    found = actions.status(space, session)
    text = (
        answers.to_choose(list_text(found["open_plans"], space.now))
        if found["open_plans"]
        else status_text(found, now=space.now, here=space.root)
    )
    return text, "answered /boulder-status"


def _list(space: Workspace, _: str, __: str) -> tuple[str, str]:
    from sisyphus.boulder.listing import boulders
    from sisyphus.boulder.tables import list_text

    return list_text(boulders(space), space.now), "answered /boulder-list"


def _clear(space: Workspace, _: str, session: str) -> tuple[str, str]:
    found = actions.clear(space, session)
    return answers.cleared(found), f"boulder cleared: {_place(found)}"


def _switch(space: Workspace, argument: str, session: str) -> tuple[str, str]:
    from sisyphus.boulder.view import started

    found = actions.switch(space, _unquoted(argument), session, by_user=True)
    return started(found, now=space.now), f"boulder switched to {_place(found)}"


def _checkpoint(space: Workspace, argument: str, session: str) -> tuple[str, str]:
    wave, story, message = _parts(argument)
    found = actions.checkpoint(space, message, wave=wave, story=story, session=session)
    noted = (found["checkpoint"] or {}).get("message")
    return answers.noted(found), f"boulder checkpoint: {noted}"


def _enforce(space: Workspace, argument: str, session: str) -> tuple[str, str]:
    """`on --max-iterations 40`, or `off`."""
    said = re.fullmatch(_ENFORCE, argument)
    if said is None:
        raise SisyphusError(_ENFORCE_USAGE)
    given = re.findall(_LIMIT, argument)
    limits = {name.replace("-", "_"): int(number) for name, number in given}
    found = actions.enforce(space, on=said[1] == "on", limits=limits, session=session)
    done = "enforced" if found["enforced"] else "not enforced any more"
    return answers.enforced(found), f"boulder {done}: {_place(found)}"


def _place(found: PlanStatus) -> str:
    """The plan's file, as it is named in its project."""
    return display(found["active_plan"] or "", found["project_root"] or "")


def _parts(argument: str) -> tuple[int | None, str, str]:
    """`--wave 2 --story S07 the message`, the options before or after it; raises `SisyphusError`
    where one has no value. Within the message they are words like any other."""
    given: dict[str, str] = {}
    while found := re.match(_OPTION_FIRST, argument) or re.search(_OPTION_LAST, argument):
        name, value = found["name"], _unquoted(found["value"] or "")
        if not value or (name == "wave" and not re.fullmatch("-?[0-9]{1,9}", value)):
            raise SisyphusError(_PARTS_USAGE.format(name=name))
        given[name] = value
        argument = (argument[: found.start()] + argument[found.end() :]).strip()
    wave = given.get("wave")
    return int(wave) if wave else None, given.get("story", ""), _unquoted(argument)


def _start_work(space: Workspace, argument: str, session: str) -> Outcome:
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.store import read_plans

    words = [word for word in argument.split() if word != _IN_REPO]
    in_repo = _IN_REPO in argument.split()
    name = _unquoted(" ".join(words) if in_repo else argument)
    status = actions.start(space, name, session, in_repo=in_repo, by_user=True)
    look = Look(status["active_plan"] or "", status["project_root"] or "")
    notes = read_plans(space.home, look.root).notes_of(look.path)
    text = messages.continuation(look, notes)
    told = messages.piece(look.path, text, gist=messages.gist(notes, text))
    begun = line(f"boulder started: {look.place}")
    return Outcome(texts=[told], messages=[messages.enabled(look)], notes=[begun])


def _unquoted(text: str) -> str:
    """`text` without the quotes around it, where they are around all of it."""
    is_quoted = len(text) > 1 and text[0] in "\"'" and text.find(text[0], 1) == len(text) - 1
    return text[1:-1] if is_quoted else text


_DO: dict[str, Command] = {
    "boulder-status": _status,
    "boulder-list": _list,
    "boulder-clear": _clear,
    "boulder-switch": _switch,
    "boulder-enforce": _enforce,
    "checkpoint": _checkpoint,
}
