"""`sisyphus doctor`: looks whether all is well, and says what to do where it is not."""

import os
import time
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from sisyphus import clients
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.clients.wired import Wired
from sisyphus.doctor import database, machine, messages
from sisyphus.ground import paths, settings
from sisyphus.ground.errors import SisyphusError
from sisyphus.setup import plugin
from sisyphus.terminal import show

FOUND = 1
_RECENT_SECONDS = 7 * 24 * 3600

_STYLES = {Level.GOOD: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}


def doctor(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what is well, too.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Also start your client once, with a model that is played on this machine, to see "
            "whether its hooks reach sisyphus. Nothing is sent anywhere, nothing is billed.",
        ),
    ] = False,
    client: Annotated[
        show.Client | None,
        typer.Option("--client", help="Look at one client alone.", show_default=False),
    ] = None,
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """Check that sisyphus works here: clients, hooks, database, settings.

    Says what is wrong and what to do about it, and changes nothing. Exits 1 if there is a problem.
    """
    names = (str(client),) if client else clients.NAMES
    root = show.project_root(project)
    our_home = show.our_folder(root)
    with database.copy(our_home) as copy:
        values, problems = settings.load(copy.store, our_home, root, os.environ)
        folder = os.path.abspath(project or os.getcwd())
        place = show.Place(root, paths.client_home(), copy.store, values, folder, our_home)
        installation, findings = _installation(place)
        files = {name: clients.wiring(name).read(installation) for name in names if installation}
        wired = [name for name, every in files.items() if any(each.is_ours for each in every)]
        findings += _clients(place, installation, files, wired) if installation else []
        findings += _machine(place, copy, problems)
        trials = list(_live(place, wired)) if live else []
        findings += trials
    findings.sort(key=_comes_later)
    has_problem = any(each.level is Level.PROBLEM for each in findings)
    if as_json:
        show.as_json({"ok": not has_problem, "findings": [_as_dict(each) for each in findings]})
    else:
        titles = [clients.wiring(each).TITLE for each in wired]
        bad = sorted(filter(_is_bad, findings), key=lambda each: each.level is Level.WARNING)
        shown = findings if verbose else [*bad, *(each for each in trials if not _is_bad(each))]
        _print(shown)
        show.line(messages.counts(bad) if bad else messages.all_is_well(titles, is_live=live))
    if has_problem:
        raise typer.Exit(FOUND)


# ---------------------------------------------------------------- what is looked at


def _installation(place: show.Place) -> tuple[Installation | None, list[Finding]]:
    """Returns what `install` would put here; None, and why, if we have no home, or no files of our
    own. That there is no home is said elsewhere."""
    if not place.home:
        return None, []
    try:
        return plugin.installation(place.home, place.project), []
    except SisyphusError as error:  # the plugin's files are missing
        return None, [Finding(messages.PROGRAM, Level.PROBLEM, str(error), messages.REINSTALL)]


def _clients(
    place: show.Place, installation: Installation, files: dict[str, list[Wired]], wired: list[str]
) -> Iterator[Finding]:
    """Yields what there is to say of each client's wiring. files: of each, see
    `clients.base.Wiring.read`. wired: the names of those that are."""
    here = [
        each
        for each in files
        if each in wired or clients.wiring(each).is_here(place.home, place.project)
    ]
    if not wired:
        yield _nothing_wired(place, files, here)
    for name, every in files.items():
        wiring = clients.wiring(name)
        if name not in here:
            yield Finding(wiring.TITLE, Level.GOOD, messages.NO_CLIENT)
            continue
        yield from wiring.look(installation, every)
        if wired and name not in wired:
            yield Finding(wiring.TITLE, Level.GOOD, *messages.other_is_wired(name))
    for name in wired:
        yield from machine.rules(name, installation, files[name])


def _nothing_wired(place: show.Place, names: Iterable[str], here: list[str]) -> Finding:
    """Where hooks act all the same, somebody starts the client with `--plugin-dir`."""
    row = place.store.one("SELECT max(at) FROM event WHERE at > ?", time.time() - _RECENT_SECONDS)
    if row and row[0]:
        text = messages.ran_without_settings(show.clock(row[0]))
        return Finding(messages.HOOKS, Level.WARNING, text, messages.WIRE)
    if not here:
        return Finding(
            messages.HOOKS,
            Level.PROBLEM,
            messages.nobody_here(list(names)),
            messages.INSTALL_CLIENT,
        )
    return Finding(messages.HOOKS, Level.PROBLEM, messages.NOTHING_WIRED, messages.WIRE)


def _machine(place: show.Place, copy: database.Copy, problems: list[str]) -> Iterator[Finding]:
    yield from machine.program(plugin.start_command(), place.project)
    yield from machine.home(place.our_home)
    if not place.our_home.startswith(os.devnull):
        yield from database.look(copy, place.our_home)
        if database.is_whole(copy, place.our_home):
            yield from machine.state_files(place.store, place.our_home)
        yield from machine.log(place.our_home, time.time())
    yield from machine.configuration(place, problems)
    yield from machine.project(place.project)
    yield from machine.todo_list(place.store, place.project)


def _live(place: show.Place, wired: list[str]) -> Iterator[Finding]:
    from sisyphus.doctor import trial  # imported late: it is seldom needed

    for name in wired:
        yield from trial.play(name, place)


def _comes_later(finding: Finding) -> bool:
    """A home folder that cannot be used comes first: until it can, `install` fails, too."""
    return not (finding.subject == messages.HOME and finding.level is Level.PROBLEM)


# ---------------------------------------------------------------- what is shown


def _is_bad(finding: Finding) -> bool:
    return finding.level is not Level.GOOD


def _print(findings: Iterable[Finding]) -> None:
    for finding in findings:
        text = f"{finding.subject}: {finding.text}"
        show.line(text, _STYLES[finding.level], mark=messages.MARKS[finding.level])
        if finding.mend:
            show.line(finding.mend, indent=4)


def _as_dict(finding: Finding) -> dict[str, str]:
    return {
        "subject": finding.subject,
        "level": finding.level,
        "text": finding.text,
        "mend": finding.mend,
    }
