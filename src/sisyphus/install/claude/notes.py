"""What is worth knowing about an installation for Claude Code beyond its files."""

from __future__ import annotations

import os

from sisyphus.clients import claude_code
from sisyphus.clients.claude_code_setup import EXCLUDES as EXCLUDES_KEY
from sisyphus.clients.claude_code_setup import STATUSLINE as STATUSLINE_KEY
from sisyphus.install import edited, manifest, removal, script, wiring
from sisyphus.install.claude import edits, git_exclude, plugin, slash_commands, versions
from sisyphus.install.claude import place as where
from sisyphus.install.claude.settings_step import CHANGED_SINCE
from sisyphus.install.place import LOCAL, PROJECT, USER
from sisyphus.install.plan import SKIP, UNINSTALL
from sisyphus.install.wish import EXCLUDES, HOOKS, STATUSLINE
from sisyphus.paths import client_home, project_root
from sisyphus.state.files import read_json
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.claude.edits import Wanted
    from sisyphus.install.claude.parts import Parts
    from sisyphus.install.claude.settings_file import SettingsFile
    from sisyphus.install.claude.versions import Version
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan, Step
    from sisyphus.install.wish import Wish

_SHOWN = 120

_LOOP = "ralph-loop.md"

_SHOWS = (
    "The files show in `git status`: commit them for everybody; `--scope local` is for you alone."
)
_NEEDS_US = (
    "Who shares {file} needs `sisyphus` on the PATH. Without it each hook fails there, which "
    "Claude Code says and passes over{more}."
)
_MAY_BE_FOR_ALL = (
    "{count} slash commands of ours stay, as they may be for everybody here: "
    "`sisyphus uninstall --scope project` removes them."
)
_OLDER = (
    "Claude Code {named} is older than {least}, with which sisyphus was measured, so each tool "
    "call starts a process. Upgrade it, then `sisyphus install` again: one for all calls."
)
_MAY_SHOW = "New files may show in `git status`: there is no .git/info/exclude to name them in."


def of_installing(
    place: Place, file: SettingsFile, held: Parts, wanted: Wanted, called: str
) -> list[str]:
    """Whole sentences for the user, in order."""
    notes = [*_of_links(file), *_of_git(place), *_of_sharing(place, file, wanted, called)]
    line = file.values.get(STATUSLINE_KEY)
    if STATUSLINE in held.wanted and line is not None and not edits.is_ours(line):
        notes.append("The `statusLine` that is set there is not ours: it stays as it is.")
    if HOOKS in held.wanted:
        notes += [*_of_plugin(place), *_of_mentions(file), *_elsewhere(place, called)]
    return notes


def of_version(version: Version | None) -> list[str]:
    if versions.has_batches(version):
        return []
    named = ".".join(map(str, version or ()))
    least = ".".join(map(str, versions.LEAST_BATCH_VERSION))
    return [_OLDER.format(named=named, least=least)]


def of_wish(place: Place, wish: Wish, wanted: Wanted) -> list[str]:
    """Why nothing comes of a part that the user named."""
    if not wish.is_final or EXCLUDES not in wish.parts or wanted.excludes:
        return []
    whose = "your own rules (`~/.claude/rules`)" if place.scope == USER else "the project's rules"
    return [f"Nothing to exclude: of {whose} Claude Code loads none that sisyphus sends, too."]


def _of_links(file: SettingsFile) -> list[str]:
    if file.path == file.named:
        return []
    return [f"{file.named} is a link: {file.path} is what changes."]


def _of_git(place: Place) -> list[str]:
    if place.scope == USER or not os.path.lexists(os.path.join(place.base, ".git")):
        return []
    if place.scope == PROJECT:
        return [_SHOWS]
    return [] if git_exclude.can_be_used(place.base) else [_MAY_SHOW]


def _of_sharing(place: Place, file: SettingsFile, wanted: Wanted, called: str) -> list[str]:
    """A path of this machine is told of elsewhere: `script.for_project`."""
    is_shared = place.scope == PROJECT and called == script.NAME
    if not is_shared or not (wanted.hooks or wanted.excludes):
        return []
    unsent = f", and nothing sends the rules in `{EXCLUDES_KEY}`" if wanted.excludes else ""
    return [_NEEDS_US.format(file=file.named, more=unsent)]


def _of_plugin(place: Place) -> list[str]:
    path = plugin_in(place)
    if not path:
        return []
    note = f"The plugin is on in {path} too, so every event starts two processes"
    return [f"{note}, of which its own stays silent: `{plugin.UNINSTALL}` takes it away."]


def plugin_in(place: Place) -> str:
    """The settings file that switches the plugin on; "" = none."""
    return plugin.enabled_in(project_of(place))


def project_of(place: Place) -> str:
    """The root of the project that the place is in, or that the user is in."""
    if place.scope != USER:
        return place.base
    try:
        return project_root(os.getcwd())
    except OSError:
        return place.folder


def _of_mentions(file: SettingsFile) -> list[str]:
    """Hooks of the user's own that call us in their own way."""
    theirs = [one for one in wiring.commands(file.values) if not wiring.called_event(one.command)]
    return [
        f"A hook of your own for {wired.event} calls sisyphus too, so it runs twice: "
        f"{one_line(wired.command, _SHOWN)}"
        for wired in theirs
        if wiring.mentioned_event(wired.command)
    ]


def _elsewhere(place: Place, called: str) -> list[str]:
    """Settings of the project that call us by another path and do not say whose they are: those
    that do, `--scope project`, stay silent beside the user's own."""
    if place.scope != USER:
        return []
    root = project_of(place)
    return [
        f"The hooks are in {path} too, with another path, so each runs twice: "
        f"`{removal.command(path, client_home())}` takes those away"
        f"{', for everybody' * (path == where.settings(where.of_project(root)))}."
        for path in claude_code.settings_paths(client_home(), root, root)
        if path != where.settings(place) and _calls_another(path, called)
    ]


def _calls_another(path: str, called: str) -> bool:
    found = wiring.entries(read_json(path) or {})
    ours = (wired.command for wired in found if not wiring.scope(wired.command))
    return any(wiring.program(command) != called for command in ours)


def of_removing(place: Place, file: SettingsFile, steps: list[Step], noted: Json) -> list[str]:
    notes = [f"{step.path}: {CHANGED_SINCE}." for step in steps if step.why == CHANGED_SINCE]
    notes += [*_of_patterns(file, steps, noted), *_of_shared_commands(place, noted)]
    if not steps and place.scope == LOCAL and manifest.noted(where.of_project(place.base)):
        notes.append("It is installed for everybody here: `--scope project`.")
    if not steps and place.scope == PROJECT and manifest.noted(where.of_local(place.base)):
        notes.append("It is installed for you alone here: `--scope local`.")
    return notes


def _of_patterns(file: SettingsFile, steps: list[Step], noted: Json) -> list[str]:
    """They bear no mark."""
    is_changed = any(step.path == file.path for step in steps)
    if not is_changed or edited.is_noted(noted, file.named) or not file.values.get(EXCLUDES_KEY):
        return []
    return [f"`{EXCLUDES_KEY}` in {file.named} stays: which of it is ours is not known."]


def _of_shared_commands(place: Place, noted: Json) -> list[str]:
    count = len(slash_commands.shared(place, noted))
    if not count or manifest.noted(where.of_project(place.base)):
        return []
    return [_MAY_BE_FOR_ALL.format(count=count)]


def of(done: Plan, *, is_done: bool = True) -> list[str]:
    """What is said at the end."""
    if done.verb == UNINSTALL or not done.parts:
        return []
    return [*_of_own_loop(done), *(_of_sessions(done) if is_done else [])]


def _of_own_loop(done: Plan) -> list[str]:
    if not any(s.action == SKIP and os.path.basename(s.path) == _LOOP for s in done.steps):
        return []
    how = "`sisyphus ralph start TASK` in a terminal"
    scope = f" --scope {done.place.scope}" * (done.place.scope != USER)
    again = f"rename yours, and `sisyphus install --only commands{scope}` again"
    return [f"/ralph-loop is a command of your own. A loop of ours begins with {how}; or {again}."]


def _of_sessions(done: Plan) -> list[str]:
    if not done.changes:
        return []
    if HOOKS not in done.parts:
        return [f"No hook calls sisyphus from {done.place.folder}: `sisyphus install` wires them."]
    return ["Sessions that start from now on have it. `sisyphus doctor` looks whether all is well."]
