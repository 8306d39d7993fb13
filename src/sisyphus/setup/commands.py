"""`sisyphus install`, `uninstall` and `plugin-path`: wire it into the clients, and take it out."""

import difflib
import os
import pwd
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from sisyphus import clients
from sisyphus.boulder.find import global_file
from sisyphus.clients import hook_files, hook_groups, programs
from sisyphus.clients.finding import Level
from sisyphus.clients.installation import Installation, Site
from sisyphus.ground import bytecode, git, paths
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.record import Record, replace
from sisyphus.ground.store import Store, open_store, open_to_read
from sisyphus.setup import changes, json_text, messages, plugin, record
from sisyphus.setup.install import Files, Plan, UneditableError, files_of, to_install, to_uninstall
from sisyphus.setup.record import Additions
from sisyphus.terminal import completion, show

DECLINED = 1
LEFT_OUT = 1
"""The exit code where a client is left out because its file cannot be edited, or does nothing."""

DIFF_CHARACTERS = 500
"""The most of a line of a difference that is shown."""

_STYLES = {"+": "green", "-": "red", "@": "dim"}


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


class Part(Record, frozen=True):
    """What a command changes for one client. before, recorded: the files and the record when the
    plan was made."""

    site: Site
    before: Files
    recorded: Additions
    plan: Plan


Failures = list[tuple[Site, UneditableError]]
"""The clients of which a file cannot be edited."""

ClientOption = Annotated[
    show.Client | None,
    typer.Option(
        "--client",
        help="One client alone. Without it: each one that is here.",
        show_default=False,
    ),
]
ScopeOption = Annotated[
    Scope,
    typer.Option(
        help="user: all your projects. local: this project, for you alone, kept out of `git "
        "status`. project: this project, for everybody who has it; they need sisyphus, too."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show the changes, line by line, and write nothing.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def install(
    client: ClientOption = None,
    scope: ScopeOption = Scope.USER,
    project: show.Project = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Add sisyphus to your clients: hooks or a plugin, slash commands or skills, a status line.

    Shows what changes and asks first. All other settings stay as they are.
    """
    place = _place(project, scope)
    if scope is not Scope.USER and not paths.can_be_project(place.project):
        raise SisyphusError(messages.not_a_project(place.project))
    here = [
        name
        for name in clients.NAMES
        if _is_here(name, place) or (scope is Scope.PROJECT and _is_wired(name, place))
    ]
    names = [str(client)] if client else here or [clients.DEFAULT]
    parts, failures = _parts(
        _sites(names, place, scope), partial(_install_part, place=place, scope=scope)
    )
    if not parts:
        raise failures[0][1]
    notes = [*_foreign_home(place.home), *_notes(parts, failures)]
    if not (client or here):
        notes.append(messages.nobody_here(names[0]))
    changed = [part.site.client for part in parts if part.plan.files]
    if scope is Scope.PROJECT and changed:
        notes.extend(_notes_for_everybody(changed, place))
    if _confirm("install", parts, notes, scope, dry_run, yes):
        _carry_out("install", parts)
        if bytecode.is_missing():
            bytecode.make()
        done = [part.site.client for part in parts]
        show.line(
            messages.installed(done, scope, parts[0].site.project, is_known=bool(client or here))
        )
    elif not dry_run and _has_new_record(parts):
        _carry_out("install", parts)  # the database was lost
    if failures:
        raise typer.Exit(LEFT_OUT)


def _foreign_home(home: str) -> Iterator[str]:
    """Yields that root installs into somebody else's home, as `sudo` does where it keeps HOME."""
    if os.geteuid() == 0:
        there = next(each for each in paths.ancestors(home) if os.path.exists(each))
        if owner := os.stat(there).st_uid:
            yield messages.foreign_home(home, _user_name(owner))


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # a container need not know all
        return f"user {number}"


def _place(project: str, scope: Scope) -> Installation:
    """Returns where the command runs, and what it installs. Raises `SisyphusError` if there is no
    home."""
    home, root = paths.client_home(), show.project_root(project)
    if not home:
        raise SisyphusError(messages.NO_HOME)
    return plugin.installation(home, root, is_shared=scope is Scope.PROJECT)


def _is_here(client: str, place: Installation) -> bool:
    return clients.wiring(client).is_here(place.home, place.project)


def _is_wired(client: str, place: Installation) -> bool:
    return any(each.is_ours for each in clients.wiring(client).read(place))


def _parts(
    sites: list[Site], plan: Callable[[Site, list[Part]], Part]
) -> tuple[list[Part], Failures]:
    """Returns what changes for each client. One whose file cannot be edited keeps none of the
    others from going on. plan: takes the parts that are carried out before."""
    parts: list[Part] = []
    failures: Failures = []
    for site in sites:
        try:
            part = plan(site, parts)
            changes.check(part.plan.files, site.project)
        except UneditableError as error:
            failures.append((site, error))
        else:
            parts.append(part)
    return parts, failures


def _install_part(site: Site, earlier: list[Part], *, place: Installation, scope: Scope) -> Part:
    recorded, files = _read(site, earlier)
    ours = _with_lost(recorded, site, files, place)
    is_shared = scope is Scope.PROJECT  # then the rules lie elsewhere for each who has them
    globs = [] if is_shared else _left_out(site.client, place)
    plan = to_install(site, files, ours, globs, is_shared=is_shared)
    plan.notes.extend(clients.wiring(site.client).notes(site, place))
    plan.notes.extend(_effects(site, files, plan))
    plan.notes.extend(_version_note(site.client, place.project))
    return Part(site, files, recorded, _with_folders(plan, recorded))


def _notes(parts: list[Part], failures: Failures) -> list[str]:
    left_out = [messages.left_out(site.client, error.what, error.mend) for site, error in failures]
    return left_out + [note for part in parts for note in part.plan.notes]


def _has_new_record(parts: list[Part]) -> bool:
    return any(part.plan.ours != part.recorded for part in parts)


def _notes_for_everybody(names: list[str], place: Installation) -> Iterator[str]:
    """names: of the clients for which everybody gets it who has the project."""
    yield messages.shared(names)
    yield from (messages.loads_rules(name) for name in names if _left_out(name, place))


def _left_out(client: str, place: Installation) -> list[str]:
    """Returns globs of the rules that the client is to leave out, if its settings can do that."""
    if not clients.native(client).RULES_SETTING:
        return []
    from sisyphus.setup import left_out  # imported late: it loads a YAML parser

    return left_out.of_project(client, place.project, place.home)


def _effects(site: Site, before: Files, plan: Plan) -> Iterator[str]:
    """Yields what the client does because the file changes that makes it call us."""
    if site.file in plan.files:
        changed = before[site.file], plan.files[site.file]
        yield from clients.wiring(site.client).effects(site, *changed)


def _version_note(client: str, root: str) -> Iterator[str]:
    """Yields that the client is too old, or does not say how old it is."""
    found = programs.version_of(clients.wiring(client).CLIENT, root)
    if found and found.level is not Level.GOOD:
        yield f"{found.subject}: {found.text} {found.mend}"


def _with_lost(recorded: Additions, site: Site, files: Files, place: Installation) -> Additions:
    """Returns the record, or if it is lost the globs that must be ours."""
    globs = clients.rules_left_out(site.client, place.home, place.project)
    if recorded != Additions() or not globs or not _has_ours(files.get(site.settings)):
        return recorded
    from sisyphus.setup import left_out

    return replace(recorded, excludes=left_out.ours(site.client, globs, place.home))


def _has_ours(data: bytes | None) -> bool:
    try:
        return hook_groups.has_ours(json_text.load(data or b""))
    except UnreadableError:
        return False


def _with_folders(plan: Plan, recorded: Additions) -> Plan:
    """Returns the plan with the folders that it makes, and those that were made before."""
    made = dict.fromkeys([*recorded.folders, *changes.missing_folders(plan.files)])
    return replace(plan, ours=replace(plan.ours, folders=list(made)))


def uninstall(
    client: ClientOption = None,
    scope: ScopeOption = Scope.USER,
    project: show.Project = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Take out of all clients what `install` added, and nothing else.

    Plans, loops, logs and handoffs stay. A session of an agent cannot do this.
    """
    if not show.asker().is_user:
        raise SisyphusError(messages.ONLY_USER)
    place = _place(project, scope)
    with _store_copy() as store:
        recorded_places = record.places(store)
    known = {name for _, _, name in recorded_places}
    here = [
        name
        for name in clients.NAMES
        if name in known or _is_here(name, place) or _is_wired(name, place)
    ]
    names = [str(client)] if client else here or [clients.DEFAULT]
    sites = _sites(names, place, scope)
    parts, failures = _parts(sites, partial(_uninstall_part, place=place, scope=scope))
    recorded_files = {file for _, file, _ in recorded_places}
    if not client:
        failures = [
            (site, error)
            for site, error in failures
            if site.file in recorded_files or _names_us(site)
        ]
    if failures and not any(part.plan.files for part in parts):
        raise failures[0][1]
    others = _elsewhere(place, sites, recorded_places)
    notes = _notes(parts, failures)
    named = [(root, where, name if client else "") for root, where, name in others]
    notes.extend(messages.elsewhere(*each) for each in dict.fromkeys(named))
    if _confirm("uninstall", parts, notes, scope, dry_run, yes):
        _carry_out("uninstall", parts)
        for path in completion.files():
            is_whole = completion.is_script(path)
            show.line(messages.completion_stays(path, is_whole=is_whole), "yellow")
        left = filter(os.path.exists, [global_file()])
        show.line(messages.uninstalled(paths.our_home(), left))
        changes.remove_empty(folder for part in parts for folder in _made(part))
    elif not dry_run and _has_new_record(parts):
        _carry_out("uninstall", parts)  # somebody has deleted the files


def _elsewhere(
    place: Installation, sites: list[Site], recorded: list[tuple[str, str, str]]
) -> list[tuple[str, Scope, str]]:
    """Returns where else sisyphus is installed, and for which client: by the record and, in this
    project, by the files that others may have installed."""
    files = {
        file: (*_where(place, root, file, name), name)
        for root, file, name in recorded
        if not root or os.path.isdir(root)
    }
    for site in sites:
        for each in clients.wiring(site.client).read(place):
            if each.may_call_us and each.path and each.path not in files:
                root = "" if each.scope == Scope.USER else place.project
                files[each.path] = (root, Scope(each.scope), site.client)
    done = {site.file for site in sites}
    return [each for file, each in files.items() if file not in done]


def _uninstall_part(site: Site, earlier: list[Part], *, place: Installation, scope: Scope) -> Part:
    recorded, files = _read(site, earlier)
    ours = _with_lost(recorded, site, files, place)
    plan = to_uninstall(site, files, ours, is_shared=scope is Scope.PROJECT)
    plan.notes.extend(_effects(site, files, plan))
    return Part(site, files, recorded, plan)


def _names_us(site: Site) -> bool:
    """Tells whether a file that `install` writes is there and has our name in it."""
    for path in (site.file, *site.copies):
        with suppress(UneditableError):
            if b"sisyphus" in (changes.read(path) or b""):
                return True
    return False


def _made(part: Part) -> list[str]:
    """Returns the folders that `install` made; if its record is lost, those that hold nothing but
    what it writes."""
    if part.recorded != Additions():
        return part.recorded.folders
    return [os.path.dirname(path) for path in part.site.copies]


def _where(place: Installation, project: str, file: str, client: str) -> tuple[str, Scope]:
    """Returns the options with which `uninstall` finds what is installed there. Some clients have a
    file of their own for what everybody gets."""
    if not project:
        return "", Scope.USER
    own, shared = (
        clients.wiring(client).site(place, project, is_shared=is_shared).file
        for is_shared in (False, True)
    )
    if own != shared:
        return project, Scope.PROJECT if file == shared else Scope.LOCAL
    return project, Scope(hook_files.scope(client, project, file, ""))


def plugin_path() -> None:
    """Print the folder of the plugin, for `claude --plugin-dir "$(sisyphus plugin-path)"`."""
    typer.echo(plugin.folder())


def _sites(names: list[str], place: Installation, scope: Scope) -> list[Site]:
    """Returns where to install, for each of the clients."""
    project = "" if scope is Scope.USER else place.project
    is_shared = scope is Scope.PROJECT
    sites = [clients.wiring(name).site(place, project, is_shared=is_shared) for name in names]
    if not all(os.path.isabs(site.file) for site in sites):
        raise SisyphusError(messages.NO_HOME)
    if scope is Scope.USER:
        return sites
    ignore = git.exclude_file(project)
    sites = [replace(site, ignore=ignore) for site in sites]
    return sites if is_shared else [_without_tracked(site) for site in sites]


def _without_tracked(site: Site) -> Site:
    """Leaves out the files that everybody gets who has the project."""
    shared = git.tracked(site.project, site.copies)
    copies = {path: data for path, data in site.copies.items() if path not in shared}
    return replace(site, copies=copies)


def _read(site: Site, parts: list[Part]) -> tuple[Additions, Files]:
    """Returns what an earlier install added, and the files that matter, as they are when `parts`
    are carried out."""
    with _store_copy() as store:
        ours = record.load(store, site.file)
    planned = {path: data for part in parts for path, data in part.plan.files.items()}
    files = files_of(site, ours)
    return ours, {path: planned[path] if path in planned else changes.read(path) for path in files}


@contextmanager
def _store_copy() -> Iterator[Store]:
    """Opens a copy of the store: opening may write, and nobody has agreed to that yet."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sisyphus.db", "sisyphus.db-wal"):
            path = os.path.join(paths.our_home(), name)
            if os.path.isfile(path):
                shutil.copy(path, folder)
        with closing(open_to_read(folder) or open_store(folder)) as store:
            yield store


def _confirm(
    command: str, parts: list[Part], notes: list[str], scope: Scope, dry_run: bool, yes: bool
) -> bool:
    """Shows the plans and asks the user; returns whether to carry them out.

    Raises `SisyphusError` if there is no terminal, `typer.Exit` if the user declines.
    """
    has_changes = any(part.plan.files for part in parts)
    if has_changes:
        _show(command, parts, scope)
    if dry_run:
        _show_lines(parts)
    for note in notes:
        show.line(note, "yellow")
    if not has_changes:
        show.line(messages.NOTHING_TO_DO[command])
        return False
    if dry_run:
        show.line(messages.DRY_RUN)
        return False
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise SisyphusError(messages.no_terminal(command))
    if not typer.confirm(messages.QUESTION, default=command == "install"):
        show.line(messages.DECLINED)
        raise typer.Exit(DECLINED)
    return True


def _show(command: str, parts: list[Part], scope: Scope) -> None:
    show.heading(messages.title(command, parts[0].site.project, scope))
    folders: dict[str, dict[str, None]] = {}
    for part in parts:
        settings = part.site.settings
        if settings in part.plan.files:
            show.line(messages.path(settings), indent=2)
        for entry in part.plan.entries:
            show.line(entry, indent=4)
        for path in part.plan.files:
            if path != settings:
                shown = _whole(path, part.site.commands)
                folders.setdefault(os.path.dirname(shown), {})[shown] = None
    for folder, files in folders.items():
        show.line(messages.folder(folder, files), indent=2)


def _cut(line: str) -> str:
    return line if len(line) <= DIFF_CHARACTERS else f"{line[:DIFF_CHARACTERS]}…"


def _whole(path: str, commands: str) -> str:
    """Returns the slash command or skill, a file or a folder, that a file belongs to; any other
    file itself. commands: the folder that has them."""
    if not paths.is_inside(path, commands):
        return path
    return os.path.join(commands, os.path.relpath(path, commands).split(os.sep)[0])


def _show_lines(parts: list[Part]) -> None:
    """Prints how the lines of files change that were there before."""
    for part in parts:
        for path, new in part.plan.files.items():
            old = part.before[path]
            if old is None or new is None:
                continue
            before, after = (each.decode("utf-8", "replace").splitlines() for each in (old, new))
            name = messages.path(path)
            for line in difflib.unified_diff(before, after, name, name, lineterm=""):
                show.line(_cut(line), _STYLES.get(line[:1], ""))


def _carry_out(command: str, parts: list[Part]) -> None:
    """Records what is ours and writes the files, one client after the other. If a file fails, the
    record of its client stays as it was. Without a database uninstall changes the files alone."""
    store = open_store(paths.our_home())
    if command == "install":
        show.need_memory(store)
    for part in parts:
        with store.write():
            if store.is_durable:
                _record(store, part)
            changes.apply(part.before, part.plan.files)
    if not store.is_durable:
        show.line(messages.record_stays(store.problem), "yellow")


def _record(store: Store, part: Part) -> None:
    site = part.site
    if record.load(store, site.file) != part.recorded:
        raise SisyphusError(messages.changed(site.file))
    record.save(store, site.client, site.file, site.project, part.plan.ours)
