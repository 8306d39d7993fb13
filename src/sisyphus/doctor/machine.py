"""Looks at the machine, at what sisyphus keeps on it, and at the project."""

import difflib
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch

from sisyphus import clients
from sisyphus.clients import installer, programs
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.clients.wired import Wired
from sisyphus.doctor import messages
from sisyphus.ground import bytecode, files, git, paths, settings, traces
from sisyphus.ground.settings import SETTINGS
from sisyphus.ground.store import LEAST_FREE_BYTES, Store
from sisyphus.ground.text import one_line
from sisyphus.loops import loops
from sisyphus.sessions import sessions
from sisyphus.sessions.notify import Notice
from sisyphus.terminal import show

_DAY = 24 * 3600
_LOG_BYTES = 300_000
"""How much of the log is read: a failure with its traceback has about 2 KB."""

_STAMP = "%Y-%m-%dT%H:%M:%S"
_STAMP_LENGTH = len("2026-01-31T12:00:00")

_MOST_FILES = 1_000
_MOST_PROBLEMS = 10

_PREFIX = "SISYPHUS_"


def program(start: str, project: str) -> Iterator[Finding]:
    """start: see `installation.Installation`. Of a program in the project nobody asks the version:
    nothing of a project is run."""
    python = messages.python(".".join(map(str, sys.version_info[:3])), sys.executable)
    yield Finding(messages.PROGRAM, Level.GOOD, python)
    if bytecode.is_missing():
        yield Finding(messages.PROGRAM, Level.WARNING, *messages.no_bytecode(bytecode.PACKAGE))
    found = shutil.which("sisyphus")
    if not found:
        yield Finding(messages.PROGRAM, Level.GOOD, messages.NOT_ON_PATH, messages.PUT_ON_PATH)
    elif programs.is_same(shlex.quote(found), start) or programs.find("sisyphus", project) != found:
        yield Finding(messages.PROGRAM, Level.GOOD, messages.on_path(found))
    else:
        from importlib import metadata  # 13 ms

        ours, its = metadata.version("sisyphus-hooks"), programs.answer(found).strip()
        if its == ours:
            yield Finding(messages.PROGRAM, Level.GOOD, messages.on_path(found))
        else:
            texts = messages.another_on_path(found, one_line(its, 40), ours)
            yield Finding(messages.PROGRAM, Level.WARNING, *texts)


def home(our_home: str) -> Iterator[Finding]:
    """our_home: our folder, by `show.our_folder`."""
    folder = paths.client_home()
    if not folder:
        yield _problem(messages.HOME, messages.NO_HOME, messages.SET_HOME)
    elif why := paths.why_unused(our_home):
        yield _problem(messages.HOME, *messages.home_is_unused(folder, why))
    else:
        yield from _folder(our_home)


def _folder(our_home: str) -> Iterator[Finding]:
    there = next(each for each in paths.ancestors(our_home) if os.path.lexists(each))
    if not os.path.isdir(there):
        yield _problem(messages.HOME, *messages.not_a_folder(there))
        return
    if not os.access(there, os.W_OK | os.X_OK):
        yield _problem(messages.HOME, *messages.not_writable(there))
        return
    disk = os.statvfs(there)
    free = disk.f_bavail * disk.f_frsize
    findings: list[Finding] = []
    if free < LEAST_FREE_BYTES:
        texts = messages.full_disk(our_home, free, LEAST_FREE_BYTES)
        findings.append(_problem(messages.HOME, *texts))
    if there == our_home:
        findings += _rights(our_home)
    yield from findings
    if not findings:
        is_there = there == our_home
        text = messages.good_home(our_home, free) if is_there else messages.no_home_yet(our_home)
        yield Finding(messages.HOME, Level.GOOD, text)


def _rights(our_home: str) -> Iterator[Finding]:
    """Yields what belongs to somebody else, as after `sudo sisyphus`, and what others may write."""
    names = [os.curdir, *sorted(os.listdir(our_home))[:_MOST_FILES]]
    user = os.getuid()
    foreign = [each for each in names if _owner(os.path.join(our_home, each), user) != user]
    if foreign and user:  # root may do everything
        yield Finding(messages.HOME, Level.WARNING, *messages.foreign(our_home, foreign))
    if os.stat(our_home).st_mode & 0o022:
        yield Finding(messages.HOME, Level.WARNING, *messages.open_to_others(our_home))


def _owner(path: str, user: int) -> int:
    """Returns whose a file is. One that a hook has removed meanwhile was ours."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return user


def state_files(store: Store, our_home: str) -> Iterator[Finding]:
    """Yields the state files of loops that no row names: another program has put them there."""
    folder, pattern = traces.loops_folder(our_home), os.path.basename(traces.loop_file("", "*"))
    try:
        names = sorted(os.listdir(folder))[:_MOST_FILES]
    except OSError:
        return
    known = {os.path.basename(file) for file in loops.all_files(store)}
    files = [each for each in names if fnmatch(each, pattern) and each not in known]
    if files:
        texts = messages.foreign_state_files([os.path.join(folder, each) for each in files])
        yield Finding(messages.LOOPS, Level.WARNING, *texts)


_LOCKED = "database is locked"
"""How SQLite says that another process has the lock."""


def log(our_home: str, now: float) -> Iterator[Finding]:
    """Yields what has failed in the last day. What is wrong with settings and rules is in the log
    too, and said elsewhere."""
    path = os.path.join(our_home, "logs", "debug.log")
    entries = [each for each in _entries(path, now) if not each.startswith(("settings:", "rules:"))]
    if entries:
        last = one_line(entries[-1], 160)
        database = os.path.join(our_home, paths.DATABASE) if entries[-1].endswith(_LOCKED) else ""
        texts = messages.failures(len(entries), last, path, database)
        yield Finding(messages.LOG, Level.WARNING, *texts)
    else:
        yield Finding(messages.LOG, Level.GOOD, messages.good_log(path))


def _entries(path: str, now: float) -> list[str]:
    """Returns the first lines of the log's entries of the last day."""
    try:
        with files.open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_BYTES))
            lines = file.read(_LOG_BYTES).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return []
    since = time.strftime(_STAMP, time.localtime(now - _DAY))
    return [
        line[_STAMP_LENGTH + 1 :]
        for line in lines
        if line[:1].isdecimal() and line[:_STAMP_LENGTH] >= since
    ]


def configuration(place: show.Place, problems: Sequence[str]) -> Iterator[Finding]:
    """problems: what is wrong with the settings, by `settings.load`."""
    findings = [
        Finding(messages.SETTINGS, Level.WARNING, one_line(each), messages.CORRECT)
        for each in problems[:_MOST_PROBLEMS]
    ]
    if settings.is_disabled(os.environ):
        findings.append(_problem(messages.SETTINGS, show.ALL_OFF, messages.UNSET_SWITCH))
    findings += _parts(place)
    findings += _variables()
    yield from findings
    if not findings:
        yield Finding(messages.SETTINGS, Level.GOOD, messages.GOOD_SETTINGS)


def _parts(place: show.Place) -> Iterator[Finding]:
    """Yields the parts that are off. What the user's own file says, the user wants."""
    own = os.path.join(place.our_home, "config.toml")
    for name in show.PARTS:
        for layer, text in show.parts_off(place, name):
            level = Level.GOOD if layer == own else Level.WARNING
            variable = layer if layer == settings.variable(name) else ""
            mend = messages.switch_on(name, variable)
            yield Finding(messages.SETTINGS, level, one_line(text), mend)


def _variables() -> Iterator[Finding]:
    """Yields the variables that look like ours and are not."""
    ours = [settings.variable(name) for name in SETTINGS]
    others = [f"{_PREFIX}{name.upper()}" for name in Notice.FIELDS]
    known = {*ours, *others, "SISYPHUS_DISABLE", "SISYPHUS_WORKER"}
    of_clients = tuple(start for name in clients.NAMES for start in clients.payload(name).VARIABLES)
    for name in sorted(os.environ):
        if name.startswith(_PREFIX) and name not in known and not name.startswith(of_clients):
            likely = difflib.get_close_matches(name[:80], [*ours, "SISYPHUS_DISABLE"], 1)
            texts = messages.unknown_variable(name, "".join(likely))
            yield Finding(messages.SETTINGS, Level.WARNING, *texts)


def project(root: str) -> Iterator[Finding]:
    if not paths.can_be_project(root):
        yield Finding(messages.PROJECT, Level.GOOD, *messages.NO_PROJECT)
        return
    marks = (".claude", "PLAN.md")
    found = (each for each in marks if os.path.lexists(os.path.join(root, each)))
    mark = ".git" if paths.has_git(root) else next(found, "")
    why = f"it has {mark}" if mark else "you are in it, and no folder above has a repository"
    yield Finding(messages.PROJECT, Level.GOOD, messages.project(root, why))
    if git.is_repository(root) and not git.is_installed(root):
        yield Finding(messages.PROJECT, Level.WARNING, *messages.NO_GIT)


def todo_list(store: Store, root: str) -> Iterator[Finding]:
    """Yields whether the model of the project's last session had a todo list of its own."""
    session = sessions.latest(store, root)
    if not session.transcript:
        return
    has_one = clients.transcript(session.client).has_todo_list(session.transcript)
    if has_one is not None:
        text = messages.HAS_TODO_LIST if has_one else messages.NO_TODO_LIST
        yield Finding(clients.wiring(session.client).TITLE, Level.GOOD, text)


def rules(client: str, place: Installation, files: list[Wired]) -> Iterator[Finding]:
    """Yields that a client loads rules which we send, if its settings can leave them out. For all
    who share a project, `install` leaves out none."""
    if not clients.native(client).RULES_SETTING:
        return
    from sisyphus.setup import left_out  # imported late: it loads a YAML parser

    wired = [each.path for each in files if each.calls_us]
    projects = {installer.USER: "", installer.LOCAL: place.project}
    scopes = [
        scope
        for scope, root in projects.items()
        if clients.wiring(client).site(place, root, is_shared=False).file in wired
    ]
    if number := len(left_out.of_project(client, place.project, place.home)):
        level = Level.WARNING if scopes else Level.GOOD
        texts = messages.loads_twice(client, number, *scopes[:1])
        yield Finding(messages.RULES, level, *texts)


def _problem(subject: str, text: str, mend: str) -> Finding:
    return Finding(subject, Level.PROBLEM, text, mend)
