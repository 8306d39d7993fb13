"""Which shell commands Copilot CLI lets an agent run that nobody watches, as measured on 1.0.102.

Without an option it runs those that only read, and those that the user has allowed for the
repository: its terminal writes them into a file of the user's. `make:*` there allows `make` with
any words, `pytest` and `git commit` the same for less. Each part of `cd app && make` is looked at.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator

from sisyphus.clients import json_files, values
from sisyphus.clients.copilot import places
from sisyphus.ground import git, paths, quoting

_READING = frozenset((
    "ls", "cat", "echo", "grep", "diff", "find", "head", "tail", "rg", "sort", "stat", "cut", "tr",
    "date", "pwd", "which", "file", "du", "true", "false", "expr", "cd", "uniq", "basename", "wc",
    "sed",
    "git",
    "for", "case", "esac", "do", "done", "if", "then", "elif", "else", "fi", "while", "until",
))  # fmt: skip
"""Programs that it runs without being allowed to (measured; of git, some forms), and words of the
shell, behind which nobody looks."""

_PART = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[<>]&|&>|[^;&|\n])+""")
"""A command between two operators of the shell."""

_BEFORE = re.compile(r"(?:(?:\w+=\S*|!)\s+)*+")
"""What may stand before a program."""

_PROGRAM = re.compile(r"[A-Za-z_./][\w./+-]*")

_NAMES, _CHARACTERS = 3, 80
"""The most commands that a warning names, and of how many characters a command is shown."""

_MOST = 500
"""So many commands are looked at: the plan may be a stranger's."""


def why_not_allowed(commands: Iterable[str], project: str, mode: str, wider: str) -> str:
    """Says which of these commands the agent may not run in a mode, and what to do; "" = none.
    wider: the mode that allows them."""
    known = frozenset(_allowed(project))
    missing = {each: _missing(each, known) for each in [*dict.fromkeys(commands)][:_MOST]}
    refused = [quoting.code(each, _CHARACTERS) for each, names in missing.items() if names]
    if not refused:
        return ""
    more = f" and {len(refused) - _NAMES:,} more" if len(refused) > _NAMES else ""
    new = [*dict.fromkeys(f"{name}:*" for names in missing.values() for name in names)][:_MOST]
    approval = {"kind": "commands", "commandIdentifiers": new}
    entry = {_place(project): {"tool_approvals": [approval]}}
    return (
        f"In {mode}, the agent of Copilot CLI may not run {', '.join(refused[:_NAMES])}{more}: you "
        f'have not allowed it. Give --permission-mode {wider}, or put into "locations" of '
        f"{paths.display(_file(), '')}: {json.dumps(entry)}"
    )


def _file() -> str:
    return os.path.join(places.copilot_home(), "permissions-config.json")


def _place(project: str) -> str:
    """Returns the folder under which the client keeps what is allowed in a project: that of the
    repository, of a linked worktree its main one (measured)."""
    root = next((each for each in paths.ancestors(project) if git.is_repository(each)), "")
    return os.path.dirname(git.common_folder(root)) if root else project


def _allowed(project: str) -> Iterator[str]:
    """Yields the names of the commands that the user has allowed."""
    locations = values.mapping(json_files.read_or_empty(_file()).get("locations"))
    place = values.mapping(locations.get(_place(project)))
    for each in values.items(place.get("tool_approvals")):
        approval = values.mapping(each)
        if approval.get("kind") == "commands":
            yield from map(values.text, values.items(approval.get("commandIdentifiers")))


def _missing(command: str, known: frozenset[str]) -> list[str]:
    """Returns the programs of a command that the agent may not run."""
    found = []
    for part in _PART.findall(command):
        words = _BEFORE.sub("", part.strip(), count=1).split()
        is_plain = bool(words) and bool(_PROGRAM.fullmatch(words[0])) and words[0] not in _READING
        if is_plain and known.isdisjoint((f"{words[0]}:*", words[0], " ".join(words[:2]))):
            found.append(words[0])
    return found
