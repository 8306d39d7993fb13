"""`sisyphus install`, `uninstall` and `plugin-path`: wire it into the clients, and take it out."""

import difflib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

import typer

from sisyphus import clients, git, paths
from sisyphus.boulder.find import global_file
from sisyphus.cli import completion, show
from sisyphus.clients import CLAUDE_CODE, CODEX, OPENCODE, QWEN, hook_groups
from sisyphus.clients.claude_code import native, wiring
from sisyphus.clients.codex import wiring as codex
from sisyphus.clients.findings import Level
from sisyphus.clients.opencode import wiring as opencode
from sisyphus.clients.qwen import wiring as qwen
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.setup import changes, json_text, messages, plugin, record
from sisyphus.setup.install import Files, Plan, Site, Wish, to_install, to_uninstall
from sisyphus.setup.record import Additions
from sisyphus.store import Store, open_store, open_to_read

DECLINED = 1
DIFF_CHARACTERS = 500
"""The most of a line of a difference that is shown."""

_STYLES = {"+": "green", "-": "red", "@": "dim"}


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


class Client(StrEnum):
    CLAUDE_CODE = CLAUDE_CODE
    OPENCODE = OPENCODE
    CODEX = CODEX
    QWEN = QWEN


@dataclass(frozen=True)
class Part:
    """What a command changes for one client. before, recorded: the files and the record when the
    plan was made."""

    site: Site
    before: Files
    recorded: Additions
    plan: Plan


ClientOption = Annotated[
    Client | None,
    typer.Option(
        "--client",
        help="One client alone. Without it: Claude Code, and each other one that is here.",
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
    """Add sisyphus to Claude Code, OpenCode, Codex and Qwen Code: hooks or a plugin, slash commands
    or skills, a status line.

    Shows what changes and asks first. All other settings stay as they are.
    """
    root = show.project_root(project)
    sites = _sites(client, root, scope)
    if sites[0].project and not paths.can_be_project(root):
        raise SisyphusError(messages.not_a_project(root))
    parts: list[Part] = []
    for site in sites:
        recorded, files = _read(site, parts)
        ours = _with_lost(recorded, site, root) if site.client == CLAUDE_CODE else recorded
        plan = to_install(site, files, ours, _wish(site, root, scope))
        plan.notes.extend(_notes(site, root, plan))
        plan.notes.extend(_trust_note(site, files, plan))
        plan.notes.extend(_version_note(site.client, root))
        parts.append(Part(site, files, recorded, _with_folders(plan, recorded)))
    changed = [part.site.client for part in parts if part.plan.files]
    if scope is Scope.PROJECT and changed:
        parts[-1].plan.notes.append(messages.shared(changed))
    if _confirm("install", parts, scope, dry_run, yes):
        _carry_out("install", parts)
        show.line(messages.installed([each.client for each in sites], scope))
    elif not dry_run and any(part.plan.ours != part.recorded for part in parts):
        _carry_out("install", parts)  # the database was lost


def _wish(site: Site, root: str, scope: Scope) -> Wish | None:
    """The rules of a project lie elsewhere for each who shares it, so no globs name them there."""
    if site.client == CODEX:
        return Wish(codex.HOOKS, [], has_line=True)  # it has no status line of ours
    if site.client == QWEN:
        return Wish(qwen.HOOKS, [], has_line=True)
    if site.client == OPENCODE:
        return None
    home = paths.client_home()
    has_line = bool(site.project) and any(
        "statusLine" in each for each in native.settings(home, root)
    )
    globs = [] if scope is Scope.PROJECT else _excludes(root, home)
    return Wish(plugin.hooks(), globs, has_line)


def _notes(site: Site, root: str, plan: Plan) -> Iterator[str]:
    if site.client == CODEX:
        return _codex_notes(site, root)
    if site.client == QWEN:
        return (messages.also_in(path) for path in qwen.wired(root) if path != site.settings)
    return _opencode_notes(site, plan) if site.client == OPENCODE else _claude_notes(site, root)


def _claude_notes(site: Site, root: str) -> Iterator[str]:
    home = paths.client_home()
    others = native.settings(home, root)
    lines = others if site.project else [native.settings_of(site.settings)]
    if line := wiring.foreign_line(lines):
        yield messages.own_line(line)
    if name := wiring.enabled_plugin(others):
        yield messages.both_wired(name)
    for path in native.settings_paths(home, root):
        if path != site.settings and hook_groups.has_ours(native.settings_of(path)):
            yield messages.also_in(path)


def _version_note(client: str, root: str) -> Iterator[str]:
    """Yields that the client is too old, or does not say how old it is."""
    found = clients.checkup(client).version(root)
    if found and found.level is not Level.GOOD:
        yield f"{found.subject}: {found.text} {found.mend}"


def _opencode_notes(site: Site, plan: Plan) -> Iterator[str]:
    if site.file in plan.files:
        yield messages.FETCHES


def _codex_notes(site: Site, root: str) -> Iterator[str]:
    try:
        keys = codex.unknown_keys(codex.load(site.settings))
    except UnreadableError:  # there is no file yet
        keys = []
    if keys:
        yield messages.unknown_key(site.settings, keys[0])
    for path in codex.wired(root):
        if path != site.settings:
            yield messages.runs_both(path)


def _trust_note(site: Site, before: Files, plan: Plan) -> Iterator[str]:
    if site.client == CODEX and (new := plan.files.get(site.settings)):
        old = before[site.settings] or b""
        if codex.has_moved(json_text.load(old), json_text.load(new)):
            yield messages.moved(site.settings)


def _excludes(root: str, home: str) -> list[str]:
    from sisyphus.setup import excludes  # imported late: it loads a YAML parser

    return excludes.of_project(root, home)


def _with_lost(recorded: Additions, site: Site, root: str) -> Additions:
    """Returns the record, or if it is lost the excludes that must be ours."""
    from sisyphus.setup import excludes

    if recorded != Additions() or not hook_groups.has_ours(native.settings_of(site.settings)):
        return recorded
    home = paths.client_home()
    globs = native.rule_excludes(home, root)
    return replace(recorded, excludes=excludes.ours(globs, home))


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
    root = show.project_root(project)
    parts: list[Part] = []
    for site in _sites(client, root, scope):
        recorded, files = _read(site, parts)
        ours = _with_lost(recorded, site, root) if site.client == CLAUDE_CODE else recorded
        plan = to_uninstall(site, files, ours)
        plan.notes.extend(_trust_note(site, files, plan))
        parts.append(Part(site, files, recorded, plan))
    with _store_copy() as store:
        here = {part.site.file for part in parts}
        others = [
            (*_place(project, file, name), name if client else "")
            for project, file, name in record.places(store)
            if file not in here
        ]
    parts[-1].plan.notes.extend(messages.elsewhere(*each) for each in dict.fromkeys(others))
    if _confirm("uninstall", parts, scope, dry_run, yes):
        _carry_out("uninstall", parts)
        for path in completion.files():
            show.line(messages.completion_stays(path), "yellow")
        left = filter(os.path.exists, [global_file()])
        show.line(messages.uninstalled(paths.our_home(), left))
        changes.remove_empty(folder for part in parts for folder in _made(part))


def _made(part: Part) -> list[str]:
    """Returns the folders that `install` made; if its record is lost, those that hold nothing but
    what it writes."""
    if part.recorded != Additions():
        return part.recorded.folders
    return [os.path.dirname(path) for path in part.site.copies]


def _place(project: str, file: str, client: str) -> tuple[str, Scope]:
    """Returns the options with which `uninstall` finds what is installed there. Claude Code has a
    file for what everybody gets; in those of the others git has it."""
    if not project:
        return "", Scope.USER
    if client == CLAUDE_CODE:
        is_shared = file == wiring.settings_file("", project, is_shared=True)
    else:
        is_shared = bool(git.tracked(project, [file]))
    return project, Scope.PROJECT if is_shared else Scope.LOCAL


def plugin_path() -> None:
    """Print the folder of the plugin, for `claude --plugin-dir "$(sisyphus plugin-path)"`."""
    typer.echo(plugin.folder())


def _sites(client: Client | None, root: str, scope: Scope) -> list[Site]:
    """Returns where to install: for the client, or for each that the user has."""
    home = paths.client_home()
    project = "" if scope is Scope.USER else root
    is_shared = scope is Scope.PROJECT
    ignore = git.exclude_file(project) if scope is Scope.LOCAL else ""
    commands = plugin.commands()
    start = plugin.NAME if is_shared else plugin.start_command()
    sites = []
    if client in (None, Client.CLAUDE_CODE):
        settings = wiring.settings_file(home, project, is_shared=is_shared)
        folder = wiring.commands_folder(home, project)
        copies = {os.path.join(folder, name): data for name, data in commands.items()}
        sites.append(Site(CLAUDE_CODE, project, settings, settings, start, copies, ignore))
    if client is Client.OPENCODE or (client is None and opencode.is_here(project)):
        file = opencode.plugin_file(project)
        copies = opencode.copies(project, commands, start)
        sites.append(Site(OPENCODE, project, file, "", start, copies, ignore))
    if client is Client.CODEX or (client is None and codex.is_here(project)):
        file = codex.hooks_file(project)
        start = start if is_shared else codex.start_with_home(start, home)
        copies = codex.copies(project, commands)
        sites.append(Site(CODEX, project, file, file, start, copies, ignore))
    if client is Client.QWEN or (client is None and qwen.is_here(project)):
        file = qwen.settings_file(project)
        start = plugin.NAME if is_shared else plugin.start_command()
        copies = qwen.copies(project, commands)
        sites.append(Site(QWEN, project, file, file, start, copies, ignore))
    if scope is Scope.LOCAL:
        sites = [_without_tracked(site) for site in sites]
    if not home or not all(os.path.isabs(site.file) for site in sites):
        raise SisyphusError(messages.NO_HOME)
    return sites


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
    files = site.files(ours)
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


def _confirm(command: str, parts: list[Part], scope: Scope, dry_run: bool, yes: bool) -> bool:
    """Shows the plans and asks the user; returns whether to carry them out.

    Raises `SisyphusError` if that is impossible or there is no terminal, `typer.Exit` if the user
    declines.
    """
    for part in parts:
        changes.check(part.plan.files, part.site.project)
    has_changes = any(part.plan.files for part in parts)
    if has_changes:
        _show(command, parts, scope)
    if dry_run:
        _show_lines(parts)
    for note in (note for part in parts for note in part.plan.notes):
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
                shown = codex.skill_folder(path)
                folders.setdefault(os.path.dirname(shown), {})[shown] = None
    for folder, files in folders.items():
        show.line(messages.folder(folder, files), indent=2)


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
                show.line(line[:DIFF_CHARACTERS], _STYLES.get(line[:1], ""))


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
