"""Our entries among the hooks of a client's settings. Their command is their mark.

An entry is ours where its command is a program named `sisyphus` with the two words `hook EVENT`,
perhaps `--scope SCOPE`, and nothing else: what was copied by hand from `hooks.json` as well as what
an older version wrote with another path. One word more (`… || true`) makes it the user's own; so
does whatever /bin/sh would read as more than plain words, for a command of ours may be run.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sisyphus.clients import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

NAME = "sisyphus"
PROGRAMS = (NAME, "sisyphus.exe")

_KEBAB = r"[a-z]+(?:-[a-z]+)*"
_MENTION = re.compile(rf"""\bsisyphus(?:\.exe)?["']?[ \t]+hook[ \t]+({_KEBAB})""")
_LONGEST = 4_096  # characters of a command that is looked at: a path of Linux

_NEVER = r"\0-\x1f\x7f\ud800-\udfff"  # in no path that a settings file can tell
_WORD = rf"""(?:[\w@%+=:,./-]|\\[ -~]|'[^'{_NEVER}]*'|"[^"$`\\!{_NEVER}]*")+"""
_OURS = re.compile(
    rf"[ \t]*(?![A-Za-z_]\w*\+?=)({_WORD})[ \t]+"
    rf"(?:hook[ \t]+({_KEBAB})(?:[ \t]+--scope[ \t]+({_KEBAB}))?|statusline)[ \t]*",
    re.ASCII,
)
"""What is plain words to every shell, and no `NAME=value` in front of another program. Outside
quotes that is ASCII alone: shells do not agree on which other characters are blanks."""

_NO_PROGRAM = ("-", "+", "%")
"""So begins what a shell, or the interpreter that a script names, takes for an option or a job."""

_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"([^"]*)\"""")


class Wired(NamedTuple):
    """One entry of ours. `event` in the client's words; `fields` is the entry itself."""

    event: str
    matcher: str
    command: str
    fields: Json


def called_event(command: str) -> str:
    """The event that a command of ours names, in kebab case; "" = the command is not ours."""
    return _split(command)[1]


def scope(command: str) -> str:
    """Whose entry a command of ours says that it is; "" = it does not."""
    found = _OURS.fullmatch(command) if called_event(command) else None
    return (found[3] if found else "") or ""


def program(command: str) -> str:
    """The program of a command of ours, unquoted; "" = the command is not ours."""
    program, event = _split(command)
    return program if event else ""


def is_statusline(command: str) -> bool:
    """Whether the command of a `statusLine` is ours."""
    return bool(statusline(command))


def statusline(command: str) -> str:
    """The program of a `statusLine` of ours, unquoted; "" = it is not ours."""
    program, event = _split(command)
    return "" if event else program


def mentioned_event(command: str) -> str:
    """The event that a command calls us with, ours or the user's own (`sisyphus hook x || true`);
    "" = none."""
    found = _MENTION.search(command[:_LONGEST]) if NAME in command else None
    return found[1] if found else ""


def entries(settings: Json) -> Iterator[Wired]:
    """Our entries, in their order. What has another shape than the client's is passed over."""
    return (wired for wired in commands(settings) if called_event(wired.command))


def commands(settings: Json) -> Iterator[Wired]:
    """The entries of everybody that run a command, in their order."""
    for event, matcher, hook in claude_code.wired(settings):
        if isinstance(command := hook.get("command"), str):
            yield Wired(event, matcher, command, hook)


def _split(command: str) -> tuple[str, str]:
    """Program and event ("" of the status line), as /bin/sh reads them; two "" = it is not ours."""
    if NAME not in command or len(command) > _LONGEST:
        return "", ""
    found = _OURS.fullmatch(command)
    program = _QUOTED.sub(r"\1\2\3", found[1]) if found else ""
    is_named = program.replace("\\", "/").rpartition("/")[2] in PROGRAMS
    if not found or not is_named or program.startswith(_NO_PROGRAM):
        return "", ""
    return program, found[2] or ""
