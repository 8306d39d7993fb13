"""Asks git about a project, and lets it run nothing that the project names.

The `.git` of a download or of a shared folder is a stranger's, as all its files are. Its config
names commands: hooks, a file monitor, filters, a program for signatures, a transport that fetches
what is missing.
"""

from __future__ import annotations

import os

from sisyphus.ground import executables, paths, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SECONDS, _STATUS_SECONDS = 5.0, 60.0
"""The longest that we wait for git, and for its status in a large work tree."""

_MAX_BYTES = 16_000_000
"""The most bytes of output that are read: the names of about 200,000 files."""

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "diff.autoRefreshIndex=false",
    "i18n.logOutputEncoding=utf-8",
)
"""What names commands, or writes the index, for a question that we ask. Where a command has an
option against it, that is given there."""

_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",  # a name that no transport has
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
"""A partial clone fetches what is missing by a command of its config. A git from 2.44 on knows that
we do not want it, an earlier one finds no transport. Nothing is asked or written."""

_NONE_FOUND = 1
"""The exit code of `git config` where no setting has such a name."""

_UNFINISHED = (
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    (os.path.join("rebase-apply", "applying"), "am"),
    ("rebase-apply", "rebase"),
    ("rebase-merge", "rebase"),
)
"""What git leaves in its folder while a command of it is not finished."""

_FILTERS = r"^(filter|lfs\.extension)\."
"""The settings that name filters, and those that name more of them to `git-lfs`."""


SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})
"""Folders in which nobody works, where git does not say what it ignores."""


def head_moved_at(project: str) -> float:
    """Returns when HEAD last moved (a commit, a checkout, a reset), in seconds since 1970; 0 =
    unknown, or the HEAD of a repository that does not know this checkout. Starts no process."""
    if not is_checkout(project):
        return 0.0
    log = os.path.join(os.path.realpath(folder_of(project)), "logs", "HEAD")
    try:
        return os.stat(log).st_mtime if os.path.realpath(log) == log else 0.0
    except (OSError, ValueError):
        return 0.0


def is_checkout(project: str) -> bool:
    """Tells whether a folder is a checkout that its repository knows: it has a `.git` folder of its
    own, or its `.git` leads to one of git's folders that leads back, as that of a linked worktree
    and of a submodule does. What a `.git` alone says may be a stranger's word.

    After `git init --separate-git-dir`, and where `.git` is a link, nothing leads back, unless the
    user sets `core.worktree` there: such a folder is none. Starts no process.
    """
    mark = os.path.join(project, ".git")
    if not is_repository(project):
        return False
    if os.path.isdir(mark) and not os.path.islink(mark):
        return True
    folder = folder_of(project)
    # Only the folder's links are resolved: `.git` may be a link to the file of another worktree.
    places = os.path.dirname(pointer(os.path.join(folder, "gitdir"))), _work_tree(folder)
    real = os.path.realpath(project)
    return any(place and os.path.realpath(os.path.join(folder, place)) == real for place in places)


def folder_of(project: str) -> str:
    """Returns git's own folder for a checkout: `.git`, or what that file of a submodule or of a
    linked worktree names. Starts no process."""
    folder = os.path.join(project, ".git")
    return os.path.join(project, pointer(folder)) if os.path.isfile(folder) else folder


def common_folder(project: str) -> str:
    """Returns git's folder for all worktrees of a repository; "" = there is none. Starts no
    process."""
    if not is_repository(project):
        return ""
    folder = folder_of(project)
    return os.path.normpath(os.path.join(folder, pointer(os.path.join(folder, "commondir"))))


def pointer(file: str) -> str:
    """Returns the path that a file of git's names; "" if there is no such file."""
    return _beginning(file).removeprefix("gitdir:").strip()


def _beginning(file: str) -> str:
    """Returns the first characters of a file of git's; "" if there is no such file, or no path can
    have what is in it."""
    try:
        if not os.path.isfile(file):
            return ""
        with open(file, encoding="utf-8") as opened:
            text = opened.read(4096)
    except (OSError, ValueError):
        return ""
    return "" if "\0" in text else text


def _work_tree(folder: str) -> str:
    """Returns `core.worktree` of one of git's folders, as git writes it; "" = not set. A sparse
    checkout moves it into the second file. What a config includes is not read, nor what stands far
    down in it: git begins with `[core]`."""
    found = ""
    for name in ("config", "config.worktree"):
        section = ""
        for line in _beginning(os.path.join(folder, name)).split("\n"):
            if line.startswith("["):
                section = line.strip().lower()
            key, _, value = line.partition("=")
            if section == "[core]" and key.strip().lower() == "worktree":
                found = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    """Returns a value of git's config without quotes around it, and without backslashes before
    quotes and backslashes."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return "\\".join(part.replace('\\"', '"') for part in value.split("\\\\"))


def known_paths(project: str) -> list[str] | None:
    """Returns the absolute paths of the files that git tracks, even if they are deleted, and of
    those that it would add; None if git fails.

    It does not ask which of them have changed: to compare a file, `git status` and `git diff-index`
    run filters. A caller compares times.
    """
    result = _git(project, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if result is None:
        return None
    names = result.output.split("\0")[result.is_cut :]  # a cut may have left half a name
    return [os.path.join(project, name) for name in names if name]


def tracked(project: str, paths: Iterable[str]) -> list[str]:
    """Returns which of these absolute paths git tracks; none if git fails."""
    result = _git(project, "ls-files", "-z", "--", *paths)
    names = result.output.split("\0") if result else []
    return [os.path.join(project, name) for name in names if name]


def head(project: str) -> str:
    """Returns the commit that HEAD is at; "" if git fails, or nothing was committed yet."""
    result = _git(project, "rev-parse", "--verify", "--quiet", "HEAD")
    return result.output.strip() if result else ""


def is_repository(project: str) -> bool:
    """Tells whether a folder has a repository or is a linked worktree. Starts no process."""
    folder = os.path.join(project, ".git")
    is_there = paths.has_git(project)
    return is_there and (os.path.isfile(folder) or os.path.isfile(os.path.join(folder, "HEAD")))


def unfinished(project: str) -> str:
    """Returns the command that has stopped in the middle, such as "merge"; "" = none. Starts no
    process."""
    folder = folder_of(project)
    found = (what for name, what in _UNFINISHED if os.path.exists(os.path.join(folder, name)))
    return next(found, "")


def uncommitted(project: str) -> list[str] | None:
    """Returns the paths of the files that differ from the last commit, or that git would add,
    relative to the project; None if git fails, or takes too long. A submodule differs if it is at
    another commit; what was changed in it does not count.

    It runs the user's own filters, so it is for a user's command, not for a hook.
    """
    words = ("--porcelain", "-z", "--no-renames", "--untracked-files=all")
    result = _compare(project, "status", *words)
    return [entry[3:] for entry in result.output.split("\0") if entry] if result else None


def commits_since(project: str, commit: str) -> list[str]:
    """Returns the commits after one, newest first, each as "1a2b3c4 Subject"."""
    words = ("log", "--no-show-signature", "--format=%h %s", f"{commit}..HEAD", "--")
    result = _git(project, *words) if commit else None
    return result.output.splitlines() if result else []


def committed_since(project: str, since: float) -> list[str]:
    """Returns the absolute paths of the files that commits of the current branch have changed since
    a moment; none if git fails."""
    words = ("--no-show-signature", "--format=", "--name-only", "-z", f"--since=@{int(since)}")
    result = _git(project, "log", *words, "HEAD", "--")
    names = result.output.split("\0") if result else []
    return [os.path.join(project, name.strip("\n")) for name in names if name.strip("\n")]


def count_commits(project: str, since: float, line_start: str, but: str) -> int:
    """Returns how many commits since a moment have a line that begins so, on all branches but those
    that a glob names; 0 without git."""
    which = (f"--since=@{int(since)}", f"--grep=^{line_start}", "--basic-regexp")
    words = (*which, f"--exclude={but}", "--branches")
    done = _git(project, "rev-list", "--count", *words)
    return int(done.output) if done and done.code == 0 and done.output.strip().isdecimal() else 0


def diff(project: str, commit: str) -> str:
    """Returns how the tracked files differ from a commit; "" if git fails. For a user's command
    alone, as `uncommitted`."""
    words = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", commit, "--")
    result = _compare(project, "diff", *words)
    return result.output if result else ""


def changed_since(project: str, commit: str) -> list[str]:
    """Returns the absolute paths of the files that differ from a commit, committed or not, and of
    those that git would add; none if git fails. For a user's command alone, as `uncommitted`."""
    words = ("--no-ext-diff", "--no-textconv", "--name-only", "-z", "--no-renames", commit, "--")
    result = _compare(project, "diff", *words)
    names = [name for name in result.output.split("\0") if name] if result else []
    found = dict.fromkeys([*names, *(uncommitted(project) or ())])
    return [os.path.join(project, name) for name in found]


def changes(project: str, between: str) -> str:
    """Returns how two commits differ; "" if git fails. between: as "OLD..NEW" or, from where the
    new one began, "OLD...NEW"."""
    words = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", between, "--")
    result = _git(project, "diff", *words, seconds=_STATUS_SECONDS)
    return result.output if result else ""


def exclude_file(project: str) -> str:
    """Returns the path of the list of files that only this checkout ignores, `.git/info/exclude`;
    "" if there is none. Where git fails, it is found if `.git` is a folder."""
    folder = os.path.join(project, ".git")
    result = _git(project, "rev-parse", "--git-path", "info/exclude")
    if result is None and os.path.isfile(os.path.join(folder, "HEAD")):
        return os.path.join(folder, "info", "exclude")
    path = result.output.rstrip("\n") if result else ""
    return os.path.normpath(os.path.join(project, path)) if path else ""


def is_installed(project: str) -> bool:
    """Tells whether there is a `git` on the PATH, outside of the project. Starts no process."""
    return bool(program(project)[0])


def _compare(project: str, command: str, *words: str) -> processes.CommandResult | None:
    """Runs `status` or `diff` without the filters of the project, and without asking submodules,
    which have hooks and filters of their own. None if it fails, or one cannot be switched off."""
    try:
        settings = [f"{key}={value}" for key, value in _filters(project).items()]
    except ValueError:
        return None
    words = (command, "--ignore-submodules=dirty", *words)
    return _git(project, *words, settings=settings, seconds=_STATUS_SECONDS)


def _filters(project: str) -> dict[str, str]:
    """Returns the settings of filters that the project's config sets, each with the value of the
    user's own config; "" = no such filter. Raises `ValueError` if one is not known, or has a name
    that cannot be given on the command line."""
    words = ("config", "--show-scope", "-z", "--get-regexp", _FILTERS)
    result = _git(project, *words, codes=(0, _NONE_FOUND))
    if result is None or result.is_cut:
        raise ValueError
    *fields, _ = result.output.split("\0")
    users, others = {}, {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=True):
        key, _, value = entry.partition("\n")
        if scope in {"system", "global"}:
            users[key] = value
        elif scope != "command":
            others[key] = value
    if any("=" in key or "\ufffd" in key for key in others):
        raise ValueError
    return {key: users.get(key, "") for key in others}


def _git(
    project: str,
    *words: str,
    settings: Iterable[str] = (),
    seconds: float = _SECONDS,
    codes: tuple[int, ...] = (0,),
) -> processes.CommandResult | None:
    """Runs git in a project; None if it is not installed, fails or takes too long.

    settings: more of them, as "key=value". codes: the exit codes of an answer.
    """
    options = [word for each in (*_SETTINGS, *settings) for word in ("-c", each)]
    try:
        git, path = program(project)
        if not git:
            return None
        command = [git, *options, *words]
        environ = _environment(project, path)
        result = processes.run(command, project, seconds, environ, tail=_MAX_BYTES, in_memory=True)
    except OSError:
        return None
    return result if result.code in codes else None


def program(project: str) -> tuple[str, str]:
    """Returns the path of git, "" = there is none, and the PATH for what git starts. One of the
    project does not count, nor one of the folder that we work in."""
    projects = project, os.getcwd()
    key = os.environ.get("PATH", ""), *projects
    if key not in _programs:
        found = executables.find("git", projects)
        _programs[key] = found, executables.search_path(projects)
    return _programs[key]


_programs: dict[tuple[str, ...], tuple[str, str]] = {}


def _environment(project: str, path: str) -> dict[str, str]:
    """Returns git's environment. What a git hook, or a project's settings, have set for git itself
    leads to another repository, or names commands; a home in the project has a config that does."""
    kept = {name: each for name, each in os.environ.items() if not name.startswith("GIT_")}
    strangers = paths.surroundings(os.path.realpath(project))
    for name in ("HOME", "XDG_CONFIG_HOME"):
        if name in kept and not paths.is_users(kept[name], strangers):
            del kept[name]
    return {**kept, **_VARIABLES, "PATH": path}
