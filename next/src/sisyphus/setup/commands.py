"""`sisyphus install`, `uninstall` and `plugin-path`: wire it into Claude Code, and take it out."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from sisyphus import git, paths
from sisyphus.cli import show
from sisyphus.clients.claude_code import native, wiring
from sisyphus.errors import SisyphusError
from sisyphus.setup import changes, messages, plugin, record
from sisyphus.setup.install import Files, Plan, Site, Wish, to_install, to_uninstall
from sisyphus.setup.record import Additions
from sisyphus.store import Store, open_store

DECLINED = 1


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"


ScopeOption = Annotated[
    Scope,
    typer.Option(
        help="user: all your projects (~/.claude/settings.json). project: this project and you "
        "alone (.claude/settings.local.json, kept out of `git status`)."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes and write nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def install(
    scope: ScopeOption = Scope.USER,
    project: show.Project = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Add sisyphus to Claude Code's settings: hooks, slash commands and the status line.

    Shows every change and asks first. All other settings stay as they are. To share sisyphus with
    a team, use the plugin: hooks in settings name a program on this machine.
    """
    root = show.project_root(project)
    site = _site(root, scope)
    if site.project and not paths.can_be_project(site.project):
        raise SisyphusError(messages.not_a_project(site.project))
    others = native.settings(site.home, root)
    lines = others if site.project else [native.settings_of(site.settings)]
    has_line = bool(site.project) and any("statusLine" in each for each in others)
    commands = plugin.commands()
    globs = _excludes(root, site.home)
    wish = Wish(plugin.hooks(), commands, plugin.start_command(), globs, has_line)
    recorded, files = _read(site, commands)
    plan = to_install(site, files, wish, _with_lost(recorded, site, root))
    if line := wiring.foreign_line(lines):
        plan.notes.append(messages.own_line(line))
    if name := wiring.enabled_plugin(others):
        plan.notes.append(messages.both_wired(name))
    for path in native.settings_paths(site.home, root):
        if path != site.settings and wiring.has_hooks(native.settings_of(path)):
            plan.notes.append(messages.also_in(path))
    if _confirm("install", site, plan, dry_run, yes):
        _carry_out("install", site, files, plan, recorded)
        show.line(messages.done("install", site.project, paths.our_home()))
    elif not (plan.files or dry_run) and plan.ours != recorded:  # the database was lost
        _carry_out("install", site, files, plan, recorded)


def _excludes(root: str, home: str) -> list[str]:
    from sisyphus.setup import excludes  # imported late: it loads a YAML parser

    return excludes.of_project(root, home)


def _with_lost(recorded: Additions, site: Site, root: str) -> Additions:
    """Returns the record, or if it is lost the excludes that must be ours."""
    from sisyphus.setup import excludes

    if recorded != Additions() or not wiring.has_hooks(native.settings_of(site.settings)):
        return recorded
    globs = native.rule_excludes(site.home, root)
    return replace(recorded, excludes=excludes.ours(globs, site.home))


def uninstall(
    scope: ScopeOption = Scope.USER,
    project: show.Project = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Take out of Claude Code's settings what `install` added, and nothing else.

    Plans, loops and logs stay. A session of an agent cannot do this.
    """
    if not show.asker().is_user:
        raise SisyphusError(messages.ONLY_USER)
    root = show.project_root(project)
    site = _site(root, scope)
    commands = plugin.commands()
    recorded, files = _read(site, commands)
    plan = to_uninstall(site, files, commands, _with_lost(recorded, site, root))
    with _store_copy() as store:
        others = [each for each in record.projects(store) if each != site.project]
    plan.notes.extend(messages.elsewhere(each) for each in others)
    if _confirm("uninstall", site, plan, dry_run, yes):
        _carry_out("uninstall", site, files, plan, recorded)
        show.line(messages.done("uninstall", site.project, paths.our_home()))
        for folder in (site.commands, os.path.dirname(site.commands)):
            changes.remove_if_empty(folder)


def plugin_path() -> None:
    """Print the folder of the plugin, for `claude --plugin-dir "$(sisyphus plugin-path)"`."""
    typer.echo(plugin.folder())


def _site(root: str, scope: Scope) -> Site:
    home = paths.client_home()
    if not home:
        raise SisyphusError(messages.NO_HOME)
    project = root if scope is Scope.PROJECT else ""
    return Site(
        home,
        project,
        wiring.settings_file(home, project),
        wiring.commands_folder(home, project),
        git.exclude_file(project) if project else "",
    )


def _read(site: Site, commands: dict[str, bytes]) -> tuple[Additions, Files]:
    """Returns what an earlier install added, and the files that matter."""
    with _store_copy() as store:
        ours = record.load(store, site.settings)
    return ours, {path: changes.read(path) for path in site.files(commands, ours)}


@contextmanager
def _store_copy() -> Iterator[Store]:
    """Opens a copy of the store: opening may write, and nobody has agreed to that yet."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sisyphus.db", "sisyphus.db-wal"):
            path = os.path.join(paths.our_home(), name)
            if os.path.isfile(path):
                shutil.copy(path, folder)
        with closing(open_store(folder)) as store:
            yield store


def _confirm(command: str, site: Site, plan: Plan, dry_run: bool, yes: bool) -> bool:
    """Shows the plan and asks the user; returns whether to carry it out.

    Raises `SisyphusError` if that is impossible or there is no terminal, `typer.Exit` if the user
    declines.
    """
    changes.check(plan.files, site.project)
    if plan.files:
        _show(command, site, plan)
    for note in plan.notes:
        show.line(note, "yellow")
    if not plan.files:
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


def _show(command: str, site: Site, plan: Plan) -> None:
    show.heading(messages.title(command, site.project))
    if site.settings in plan.files:
        show.line(messages.path(site.settings), indent=2)
    for entry in plan.entries:
        show.line(entry, indent=4)
    folders: dict[str, list[str]] = {}
    for path in plan.files:
        if path != site.settings:
            folders.setdefault(os.path.dirname(path), []).append(path)
    for folder, files in folders.items():
        show.line(messages.folder(folder, files), indent=2)


def _carry_out(command: str, site: Site, files: Files, plan: Plan, recorded: Additions) -> None:
    """Records what is ours and writes the files. If a file fails, the record stays as it was.

    files, recorded: the files and the record when the plan was made.
    """
    store = open_store(paths.our_home())
    if command == "install":
        show.need_memory(store)
    with store.write():
        if record.load(store, site.settings) != recorded:
            raise SisyphusError(messages.changed(site.settings))
        record.save(store, site.settings, site.project, plan.ours)
        changes.apply(files, plan.files)
