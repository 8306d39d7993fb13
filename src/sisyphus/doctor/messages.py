"""Every sentence of `sisyphus doctor`, except those about a client."""

import os
import re
import shlex
import sys
from collections.abc import Iterable

from sisyphus import clients
from sisyphus.clients import installer
from sisyphus.clients.finding import Finding, Level
from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line

PROGRAM, HOME, DATABASE, LOG = "program", "home folder", "database", "log"
SETTINGS, PROJECT, RULES, HOOKS = "settings", "project", "rules", "hooks"
LOOPS = "loops"

MARKS = {Level.GOOD: "✓", Level.WARNING: "!", Level.PROBLEM: "✗"}

_PLAIN = re.compile(r"(?:~/)?[\w/.+-]+")
"""A path that a shell reads as it is."""

REINSTALL = "Install it again, for example with `uv tool install --force`."
UPDATE = "Update sisyphus, for example with `uv tool upgrade sisyphus-hooks`."


def path(name: str) -> str:
    return one_line(display(name, ""))


def word(name: str) -> str:
    """Returns a path as a word of a shell command."""
    return path(name) if _PLAIN.fullmatch(path(name)) else shlex.quote(one_line(name))


def all_is_well(clients: Iterable[str], *, is_live: bool) -> str:
    looked_at = [*clients, PROGRAM, HOME, DATABASE, LOG, SETTINGS, *(["a trial"] * is_live)]
    return f"All is well: {', '.join(looked_at)}."


def counts(findings: Iterable[Finding]) -> str:
    levels = [finding.level for finding in findings]
    parts = [
        f"{number} {level}{'s' * (number > 1)}"
        for level in (Level.PROBLEM, Level.WARNING)
        if (number := levels.count(level))
    ]
    return f"{' and '.join(parts)}. `sisyphus doctor -v` shows what is well, too."


# ---------------------------------------------------------------- clients


NO_CLIENT = "not installed."

NO_TODO_LIST = (
    "it offered the model of the last session here no todo list, so the plan is the only list of "
    "its work."
)
HAS_TODO_LIST = "it offered the model of the last session here a todo list besides the plan."


NOTHING_WIRED = "no client calls sisyphus."
WIRE = f"Run `{installer.command('install')}`."
INSTALL_CLIENT = f"Install one of them, then run `{installer.command('install')}`."


def nobody_here(names: list[str]) -> str:
    """names: of the clients that were looked for."""
    *others, last = (clients.wiring(name).TITLE for name in names)
    titles = f"{', '.join(others)} or {last}" if others else last
    return f"there is no {titles} here: nothing can call sisyphus."


def ran_without_settings(when: str) -> str:
    return (
        f"no client's settings call sisyphus. A hook last acted at {when}: by `--plugin-dir`, or "
        "before `sisyphus uninstall`."
    )


def other_is_wired(client: str) -> tuple[str, str]:
    return "not wired.", f"To use sisyphus there, too: `{installer.command('install', client)}`."


# ---------------------------------------------------------------- the program


def python(version: str, where: str) -> str:
    return f"Python {version}, {path(where)}."


NOT_ON_PATH = "your shell finds no `sisyphus`."
PUT_ON_PATH = f"To type it: {installer.ON_PATH}"


def no_bytecode(package: str) -> tuple[str, str]:
    return (
        "Python compiles sisyphus anew at each hook, which doubles its cost: "
        f"{path(package)} has no compiled files, or old ones.",
        f"Run `{shlex.quote(sys.executable)} -m compileall -q {shlex.quote(package)}` as the user "
        "who may write there.",
    )


def on_path(where: str) -> str:
    return f"your shell starts {path(where)}."


def another_on_path(where: str, its: str, ours: str) -> tuple[str, str]:
    return (
        f"your shell starts {path(where)}, version {its or 'unknown'}, and this is {ours}.",
        f"Update or remove that one: `{word(where)} --version` shows it.",
    )


# ---------------------------------------------------------------- the home folder

NO_HOME = "there is no home folder: hooks remember nothing."
SET_HOME = "Set HOME or CLAUDE_CONFIG_DIR."


def home_is_unused(folder: str, why: str) -> tuple[str, str]:
    return (
        f"{path(folder)} is not used, and hooks remember nothing here: {why}.",
        "Set CLAUDE_CONFIG_DIR to the absolute path of a folder outside.",
    )


def no_home_yet(folder: str) -> str:
    return f"{path(folder)} is not there yet. The first session makes it."


def not_a_folder(folder: str) -> tuple[str, str]:
    return (
        f"{path(folder)} is not a folder: hooks remember nothing.",
        f"Move it away: `mv {word(folder)} {word(folder + '.old')}`.",
    )


def not_writable(folder: str) -> tuple[str, str]:
    return (
        f"{path(folder)} cannot be written: hooks remember nothing.",
        f"`ls -ld {word(folder)}` shows whose it is. Make it yours, or set CLAUDE_CONFIG_DIR.",
    )


def foreign(folder: str, names: list[str]) -> tuple[str, str]:
    shown = ", ".join(one_line(name, 40) for name in names[:3])
    return (
        f"{path(folder)} has files that are not yours: {shown}.",
        f'Run `sudo chown -R "$USER" {word(folder)}`.',
    )


def open_to_others(folder: str) -> tuple[str, str]:
    return f"others can write {path(folder)}.", f"Run `chmod go-w {word(folder)}`."


def full_disk(folder: str, free: int, least: int) -> tuple[str, str]:
    return (
        f"the disk of {path(folder)} has {free:,} bytes free. With less than {least:,} hooks "
        "remember nothing.",
        "Make room.",
    )


def good_home(folder: str, free: int) -> str:
    return f"{path(folder)}, with {free / 1e9:.1f} GB free."


# ---------------------------------------------------------------- the database and the log


def no_database(name: str) -> str:
    return f"{path(name)} is not there yet. The first session makes it."


NO_FILE = "it is not a file"


def unread_database(name: str, why: str) -> tuple[str, str]:
    return (
        f"{path(name)} could not be copied, to look at it: {why}.",
        f"See `ls -l {word(name)}`; `df`.",
    )


def damaged_database(name: str, why: str) -> tuple[str, str]:
    aside = word(f"{os.path.dirname(name)}/damaged")
    return (
        f"{path(name)} cannot be used: {why}.",
        f"Close your sessions, then `mkdir {aside} && mv {word(name)}* {aside}`. Plans are read "
        "again from their files.",
    )


def later_database(name: str) -> tuple[str, str]:
    return f"{path(name)} was made by a later version: hooks remember nothing.", UPDATE


def earlier_database(name: str) -> str:
    return f"{path(name)} is of an earlier version. The next session sets it aside."


def good_database(name: str, size: int) -> str:
    return f"{path(name)}, {size / 1e6:.1f} MB."


def set_aside(number: int, name: str) -> tuple[str, str]:
    files = "an older one was" if number == 1 else f"{number} older ones were"
    return f"{files} set aside.", f"If you do not need them: `rm {word(name)}.*`"


def find_locker(name: str) -> str:
    """Says what to do about a process that has locked the database."""
    return f"Find it: `fuser {word(name)}`. Wait until it is done, or end it."


def failures(number: int, last: str, log: str, database: str = "") -> tuple[str, str]:
    """database: its path if another process had locked it the last time; "" = it was not that."""
    times = "1 failure" if number == 1 else f"{number} failures"
    return (
        f"{times} in the last day, the last one: {last}",
        f"Another process has locked the database. {find_locker(database)}"
        if database
        else f"Read the end of {path(log)}: `tail -n 50 {word(log)}`.",
    )


def good_log(log: str) -> str:
    return f"no failure in the last day, by {path(log)}."


# ---------------------------------------------------------------- settings, project, rules

GOOD_SETTINGS = "all are valid."
CORRECT = "Correct it there. `sisyphus config` lists all settings."
UNSET_SWITCH = "Run `unset SISYPHUS_DISABLE`."


def switch_on(name: str, variable: str) -> str:
    """variable: the one that switches them off; "" = a file does."""
    way = f"run `unset {variable}`" if variable else f"take {name} out there"
    return f"To switch them on, {way}."


def unknown_variable(name: str, likely: str) -> tuple[str, str]:
    shown = one_line(name, 80)
    mend = f"Do you mean {likely}?" if likely else f"Run `unset {shown}`."
    return f"{shown} is in your environment, and there is no such setting.", mend


def project(root: str, why: str) -> str:
    return f"{path(root)}, because {why}."


NO_GIT = (
    "there is no `git` on the PATH, and the project is a repository: `ralph run` does not see what "
    "is committed, and files that git ignores count as an agent's progress.",
    "Install it, or put its folder on the PATH.",
)
NO_PROJECT = (
    "you are in your home folder, or above it: that is no project.",
    "Go to a project's folder, or give `--project`.",
)


def loads_twice(client: str, number: int, scope: str = "") -> tuple[str, str]:
    """scope: that of the user's own file that has our hooks; "" = only what everybody gets has
    them, in which no rule can be named."""
    rules, they, them = "a rule", "it applies", "it"
    if number > 1:
        rules, they, them = f"{number} rules", "they apply", "them"
    install = installer.command("install", client, scope or installer.LOCAL)
    title = clients.wiring(client).TITLE
    return (
        f"{title} loads {rules} at each start that sisyphus sends when {they}.",
        f"Run `{install}`: it tells {title} to leave {them} out."
        if scope
        else f"To prevent that on this machine: `{install}`.",
    )


# ---------------------------------------------------------------- loops


def foreign_state_files(files: list[str]) -> tuple[str, str]:
    """files: state files that belong to no loop."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return (
        f"{path(files[0])}{more}: no loop of ours has this state file, and a file starts none.",
        f"Start the loop with /ralph-loop or `sisyphus ralph start`, and `rm {word(files[0])}`.",
    )
