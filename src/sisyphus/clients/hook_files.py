"""Looks at the files of a client that have our hooks, for `sisyphus doctor`: what they start, and
whether they are as this version writes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sisyphus import git, paths
from sisyphus.clients import hook_groups, installer, programs
from sisyphus.clients.findings import Finding, Level
from sisyphus.clients.sites import Installation
from sisyphus.text import one_line

Json = dict[str, Any]

SHOWN, PATH_SHOWN = 80, 300
"""The most characters that are shown of a name and of a path from somebody's file."""


@dataclass(frozen=True)
class HookFile:
    """A file that wires us.

    client: the one that reads it. scope: of the `install` that writes it. more: what ends the
    sentence that tells the user to install again.
    """

    client: str
    path: str
    content: Json
    scope: str
    more: str = "."

    @property
    def name(self) -> str:
        return shown(self.path)

    def command(self, verb: str) -> str:
        return installer.command(verb, self.client, self.scope)

    def mend(self, start: str = "") -> str:
        """start: the words of the file that start another program, or none."""
        return installer.mend(start, self.client, self.scope, self.more)


def scope(project: str, path: str, users: str) -> str:
    """Returns the scope of `install` that writes a file. One that git has, or would add, is for
    everybody who has the project: it keeps from git what it writes for the user alone. users: the
    user's own file."""
    if path == users:
        return installer.USER
    return installer.PROJECT if git.shared(project, [path]) else installer.LOCAL


def find(
    client: str, wired: Mapping[str, Json], users: str, project: str, more: str = "."
) -> list[HookFile]:
    """wired: path → content of the files that have our hooks."""
    return [
        HookFile(client, path, content, scope(project, path, users), more)
        for path, content in wired.items()
    ]


def check(
    subject: str, file: HookFile, hooks: Json, starts: list[str], place: Installation
) -> Iterator[Finding]:
    """Yields what is wrong with our hooks in a file.

    hooks: event → groups, as `install` writes them. starts: the words that start us there.
    """
    if missing := hook_groups.missing([file.content], hooks):
        text = f"not wired in {file.name}: {', '.join(missing)}."
        yield Finding(subject, Level.PROBLEM, text, file.mend())
    for start in starts:
        name = one_line(start, PATH_SHOWN)
        if not programs.started_by(start):
            text = f"{file.name} starts {name}, and there is no such program: no event arrives."
            yield Finding(subject, Level.PROBLEM, text, file.mend(start))
        elif not programs.is_same(start, place.start):
            text = f"{file.name} starts {name}, and this command is {one_line(place.start)}."
            yield Finding(subject, Level.WARNING, text, file.mend(start))
    first = hook_groups.starts(file.content)[0]
    if events := hook_groups.different(file.content, hooks, first):
        names = ", ".join(one_line(each, SHOWN) for each in events)
        text = f"{file.name} has other hooks than this version installs: {names}."
        yield Finding(subject, Level.WARNING, text, file.mend())


def twice(subject: str, files: list[HookFile]) -> Finding:
    """Says that each of several files wires us, and that all of them run."""
    text = f"wired twice, by {' and '.join(each.name for each in files)}: each runs."
    # What is shared is others' too: to take out the user's comes first.
    files = sorted(files, key=lambda each: (each.scope == installer.PROJECT, each.scope))
    ways = " or ".join(f"`{each.command('uninstall')}` ({each.name})" for each in files)
    return Finding(subject, Level.WARNING, text, f"Take one of them out: {ways}.")


def also_in(path: str) -> str:
    """Says that a second file wires us, in a client that runs equal commands once."""
    return (
        f"{shown(path)} has hooks of sisyphus, too. A command that is in both files runs once. "
        "If the commands differ, each event starts two processes: keep one of them."
    )


def no_program(title: str, word: str, file: HookFile) -> Finding:
    mend = f"Install it, or take sisyphus out: `{file.command('uninstall')}`."
    return Finding(title, Level.WARNING, f"there is no `{word}` on the PATH.", mend)


def unanswered(subject: str, there: list[str], folder: str, client: str) -> Finding:
    """Says that our commands are in a folder, and no hooks. there: their files."""
    text = f"{len(there)} are in {shown(folder)}, and there are no hooks to answer them."
    return Finding(subject, Level.WARNING, text, installer.mend("", client, installer.USER))


def shown(path: str) -> str:
    """Returns a path for a sentence."""
    return one_line(paths.display(path, ""))
