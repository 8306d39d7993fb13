"""Looks at the files of a client that have our hooks, for `sisyphus doctor`: what they start, and
whether they are as this version writes them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sisyphus.clients import DEFAULT, hook_groups, installer, programs, slash_commands
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation, Source
from sisyphus.ground import files, git, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line

Json = dict[str, Any]

SHOWN, PATH_SHOWN = 80, 300
"""The most characters that are shown of a name and of a path from somebody's file."""


class HookFile(Record, frozen=True):
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


def scope(client: str, project: str, path: str, users: str) -> str:
    """Returns the scope of `install` that writes a client's file. For the user alone it hides from
    git what it adds to a project, by a block in git's exclude file. What git tracks is for
    everybody. Without a repository nothing is. users: the user's own file."""
    if path == users:
        return installer.USER
    exclude = git.exclude_file(project)
    if not exclude:
        return installer.LOCAL
    is_hidden = exclude_title(client) in _lines(exclude) and not git.tracked(project, [path])
    return installer.LOCAL if is_hidden else installer.PROJECT


def exclude_title(client: str) -> str:
    """Returns the first line of the block in git's exclude file that hides what `install` adds to
    a project for the user alone."""
    return "# sisyphus install" if client == DEFAULT else f"# sisyphus install: {client}"


def _lines(path: str) -> list[str]:
    try:
        return files.read(path).splitlines()
    except UnreadableError:
        return []


def find(
    client: str, wired: Mapping[str, Json], users: str, project: str, more: str = "."
) -> list[HookFile]:
    """wired: path → content of the files that have our hooks."""
    return [
        HookFile(client, path, content, scope(client, project, path, users), more)
        for path, content in wired.items()
    ]


def sources(
    client: str, files: Mapping[str, Callable[[], Json]], users: str, project: str, hooks: Json
) -> list[Source]:
    """Returns the sources among a client's files, for one that has the same file for everybody and
    for the user alone.

    files: path → what reads it, or raises `UnreadableError`. users: the user's own file. hooks: as
    for `source`.
    """
    found = []
    for path, read in files.items():
        if not os.path.lexists(path):
            continue
        where = scope(client, project, path, users)
        try:
            found += source(path, where, read(), hooks)
        except UnreadableError as error:
            found.append(Source(path, where, problem=str(error)))
    return found


def source(path: str, scope: str, content: Json, hooks: Json) -> list[Source]:
    """Returns the file as a source if its hooks call us, or might if its keys had the right types.
    hooks: event → groups, as `install` writes them."""
    if not hook_groups.has_ours(content):
        return []
    if problem := hook_groups.problem(content):
        return [Source(path, scope, problem=problem)]
    return [Source(path, scope, is_current=hook_groups.is_current(content, hooks))]


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


def no_program(title: str, word: str, client: str, scopes: Iterable[str]) -> Finding:
    """Says that a client that is wired is not here. What everybody gets who has a project is for
    those who have the client. scopes: of the `install` that wired it."""
    text = f"there is no `{word}` on the PATH."
    own = [scope for scope in dict.fromkeys(scopes) if scope != installer.PROJECT]
    if not own:
        return Finding(title, Level.GOOD, f"{text} What wires it is for those who have it.")
    out = " and ".join(f"`{installer.command('uninstall', client, scope)}`" for scope in own)
    return Finding(title, Level.WARNING, text, f"Install it, or take sisyphus out: {out}.")


def unanswered(subject: str, there: list[str], folder: str, client: str) -> Finding:
    """Says that our commands are in a folder, and no hooks. there: their files."""
    text = (
        f"{slash_commands.count(there)} in {shown(folder)}, and there are no hooks to answer them."
    )
    return Finding(subject, Level.WARNING, text, installer.mend("", client, installer.USER))


def shown(path: str) -> str:
    """Returns a path for a sentence."""
    return one_line(paths.display(path, ""))
