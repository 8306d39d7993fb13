"""Reads the files that make a client call us, and says how they are, where clients are alike."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sisyphus.clients import DEFAULT, hook_groups, installer, programs, slash_commands
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation, Program
from sisyphus.clients.wired import ORGANISATION, Wired, shown
from sisyphus.ground import files, git
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

Json = dict[str, Any]

SHOWN, PATH_SHOWN = 80, 300
"""The most characters that are shown of a name and of a path from somebody's file."""


def find(
    client: str,
    loaders: Mapping[str, Callable[[], Json]],
    users: str,
    project: str,
    hooks: Json,
    again: str = ".",
) -> list[Wired]:
    """Reads those files of a client that are there.

    loaders: path → what reads it, or raises `UnreadableError`. users: the user's own file. hooks:
    event → groups, as `install` writes them. again: see `Wired`.
    """
    found = []
    for path, load in loaders.items():
        if not os.path.lexists(path):
            continue
        where = scope(client, project, path, users)
        try:
            content = load()
            problem = hook_groups.problem(content)
            is_current = bool(problem) or hook_groups.is_current(content, hooks)
        except (UnreadableError, RecursionError) as error:
            problem = (
                str(error) if isinstance(error, UnreadableError) else "it is nested too deeply"
            )
            found.append(Wired(client, path, where, problem=problem, again=again))
            continue
        found.append(Wired(client, path, where, content, problem, is_current, again=again))
    return found


def scope(client: str, project: str, path: str, users: str) -> str:
    """Returns the scope of the `install` that writes a file. The user's own is `user`. One outside
    of a repository, or hidden by our block in git's exclude file and not tracked, is `local`; all
    others are `project`. users: the user's own file."""
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


def both_run(title: str, files: Iterable[Wired], path: str) -> Iterator[str]:
    """Says which of these files wire us beside the one at `path`, in a client that runs equal
    commands twice. title: of the client."""
    for each in files:
        if each.is_ours and each.path != path:
            yield (
                f"{each.name} has hooks of sisyphus, too. {title} runs both at each event: keep "
                "one of them."
            )


def also_in(path: str) -> str:
    """Says that a second file wires us, in a client that runs equal commands once."""
    return (
        f"{shown(path)} has hooks of sisyphus, too. A command that is in both files runs once. "
        "If the commands differ, each event starts two processes: keep one of them."
    )


# ---------------------------------------------------------------- what `doctor` says


def command(verb: str, file: Wired) -> str:
    """Returns the command that installs or uninstalls us in a file; "" = none does."""
    if file.scope == ORGANISATION:
        return ""
    return installer.command(verb, file.client, file.scope)


def mend(file: Wired, start: str = "") -> str:
    """Returns what to do where a file does not wire us well. start: the words of the file that
    start another program, or none."""
    if file.scope == ORGANISATION:
        return "Ask whoever manages that file."
    return installer.mend(start, file.client, file.scope, file.again)


def check_program(found: Finding | None, program: Program, ours: list[Wired]) -> Iterator[Finding]:
    """Yields whether the client's program is there. If it is not, files of the user's own that wire
    the client are a warning. Shared ones are fine: they are for those who have it. found: by
    `programs.version_of`."""
    if found:
        yield found
    elif ours:
        text = f"there is no `{program.name}` on the PATH."
        others = (installer.PROJECT, ORGANISATION)
        own = [command("uninstall", each) for each in ours if each.scope not in others]
        if own:
            out = " and ".join(f"`{each}`" for each in dict.fromkeys(own))
            again = f"Install it, or take sisyphus out: {out}."
            yield Finding(program.title, Level.WARNING, text, again)
        else:
            text += " What wires it is for those who have it."
            yield Finding(program.title, Level.GOOD, text)


def check_missing(subject: str, file: Wired, hooks: Json) -> Iterator[Finding]:
    """Yields the events that a file does not wire. hooks: event → groups, as `install` writes
    them."""
    if missing := hook_groups.missing([file.content], hooks):
        text = f"not wired in {file.name}: {', '.join(missing)}."
        yield Finding(subject, Level.PROBLEM, text, mend(file))


def check_hooks(
    subject: str, file: Wired, hooks: Json, starts: Iterable[str], place: Installation
) -> Iterator[Finding]:
    """Yields what is wrong with the hooks of ours in a file; `check_missing` says which events
    it lacks. hooks: as for that one. starts: the words that start us there."""
    for start in starts:
        yield from check_start(subject, file, start, place)
    if events := hook_groups.different(file.content, hooks, file.starts[0]):
        names = ", ".join(one_line(each, SHOWN) for each in events)
        text = f"{file.name} has other hooks than this version installs: {names}."
        yield Finding(subject, Level.WARNING, text, mend(file))


def check_start(subject: str, file: Wired, start: str, place: Installation) -> list[Finding]:
    """Says what is wrong with the program that a file starts: it is not there, or another one."""
    name = one_line(start, PATH_SHOWN)
    if not programs.started_by(start):
        text = f"{file.name} starts {name}, and there is no such program: no event arrives."
        return [Finding(subject, Level.PROBLEM, text, mend(file, start))]
    if not programs.is_same(start, place.start):
        text = f"{file.name} starts {name}, and this command is {one_line(place.start)}."
        return [Finding(subject, Level.WARNING, text, mend(file, start))]
    return []


def wired_by(subject: str, hooks: Json, ours: list[Wired]) -> Finding:
    """Says that all is well. hooks: as for `check_missing`."""
    names = " and ".join(each.name for each in ours)
    return Finding(subject, Level.GOOD, f"{len(hooks)} events, wired by {names}.")


def twice(subject: str, ours: list[Wired], effect: str = "each runs") -> Finding:
    """Says that each of several files wires us, and what comes of it, in a clause."""
    text = f"wired twice, by {' and '.join(each.name for each in ours)}: {effect}."
    # What is shared is others' too: to take out the user's comes first.
    ours = sorted(ours, key=lambda each: (each.scope == installer.PROJECT, each.scope))
    outs = {each.name: command("uninstall", each) for each in ours}
    ways = " or ".join(f"`{out}` ({name})" for name, out in outs.items() if out)
    return Finding(subject, Level.WARNING, text, f"Take one of them out: {ways}.")


def broken(subject: str, file: Wired, correct: str) -> Finding:
    """Says that the client cannot use a file. correct: what to do."""
    text = f"{file.name} cannot be used: {one_line(file.problem)}."
    return Finding(subject, Level.PROBLEM, text, correct)


def check_commands(
    subject: str,
    ours: list[Wired],
    copies: Callable[[str], Mapping[str, bytes]],
    client: str,
    place: Installation,
    lack: str = ", and there are no hooks to answer them",
) -> Iterator[Finding]:
    """Yields how our slash commands are. Where the user's file wires us, the user's folder has
    them, and the project's need not.

    ours: the files that wire us, the user's first. copies: what the commands are, path → content,
    for the user ("") or a project. lack: what is said of commands that are there though no file
    wires us.
    """
    is_users = not ours or ours[0].scope == installer.USER
    wanted = copies("" if is_users else place.project)
    if ours:
        if install := command("install", ours[0]):
            yield from slash_commands.check(subject, wanted, install)
    elif there := slash_commands.ours(wanted):
        folder = shown(slash_commands.folder(wanted))
        text = f"{slash_commands.count(there)} in {folder}{lack}."
        yield Finding(subject, Level.WARNING, text, installer.mend("", client, installer.USER))
