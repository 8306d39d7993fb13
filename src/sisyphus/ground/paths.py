"""Finds the client's folder, our folder inside it, and the project that a folder belongs to."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

DATABASE = "sisyphus.db"
"""The name of the database, in our folder."""

_NO_HOME = "sisyphus has no home folder"
_NOT_ABSOLUTE = "CLAUDE_CONFIG_DIR is not an absolute path"
_INSIDE = "sisyphus does not use its home folder, because it is inside the project"
_AROUND = (
    "sisyphus does not use its home folder, because the environment leads into a repository or "
    "project that this one is part of"
)
"""Why our folder is not used. Texts without names: those are a stranger's."""

_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ID_LENGTH = 128


def user_home() -> str:
    """Returns the user's home folder; "" if there is none."""
    home = os.environ.get("HOME", os.path.expanduser("~"))
    return os.path.normpath(home) if _is_fixed(home) else ""


def client_home() -> str:
    """Returns `$CLAUDE_CONFIG_DIR`, else `~/.claude`; "" if there is no home folder."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    if folder:
        return os.path.abspath(folder)
    home = user_home()
    return os.path.join(home, ".claude") if home else ""


def our_home(project: str = "") -> str:
    """Returns our folder in the client's. It is below `os.devnull`, and nothing can be read or
    written there, if there is no home folder, or if a project may have chosen it: see `is_home_in`.
    project: "" = look at no project."""
    home = client_home()
    is_there = bool(home) and not home.startswith(os.devnull)
    why = _why_foreign(project) if is_there else _NO_HOME
    return os.path.join(f"{os.devnull}/{why}" if why else home, ".sisyphus")


def why_unused(our_home: str) -> str:
    """Returns why our folder is not used, for people; "" = it is. our_home: by `our_home()`."""
    folder = os.path.dirname(our_home)
    return folder[len(os.devnull) + 1 :] if folder.startswith(os.devnull) else ""


def is_home_in(project: str) -> bool:
    """Tells whether the environment puts the client's folder into a project, or into a folder with
    a mark of a project that this one is in: its superproject, the download that it came with. A
    project's settings can do that, and then the folder's content is not the user's. So can a
    relative path, which means another folder in each session.

    `~` and `~/.claude` as projects are fine: everything there is the user's. So is `/`, in which
    the home folder is that the system knows.
    """
    return bool(_why_foreign(project))


def _why_foreign(project: str) -> str:
    """Returns why the client's folder may not be the user's; "" = it is. project: "" = look at no
    project."""
    home, folder = user_home(), os.environ.get("CLAUDE_CONFIG_DIR", "")
    if folder and not _is_fixed(folder):
        return _NOT_ABSOLUTE
    if not project or (home and project == os.path.realpath(home)):
        return ""
    if not folder or folder == os.path.join(home, ".claude"):
        why = _INSIDE if home and names(home, project) else _why_around(home, project)
        return "" if why and _is_systems(home) else why
    if lies_in(folder, [project]):
        return _INSIDE
    return _AROUND if lies_in(folder, surroundings(project)) else ""


def _why_around(home: str, project: str) -> str:
    """Returns why the environment may have been led to a home in what the project is part of."""
    own = os.path.realpath(home or os.devnull)
    around = [each for each in ancestors(project)[1:] if each != own and _begins(each, own)]
    return _AROUND if any(has_git(each) or _is_marked(each) for each in around) else ""


def _is_systems(home: str) -> bool:
    """Tells whether the system, too, knows a folder as the user's home: then no project's settings
    have chosen it, though a project may be around it, such as `/` in a container."""
    import pwd  # imported late: few projects are around a home

    try:
        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir) == os.path.realpath(home)
    except KeyError:  # a container may run as a user that it does not know
        return False


def surroundings(project: str) -> list[str]:
    """Returns the folders whose files may come from the same stranger: the project, and each folder
    around it with a repository, `.claude/` or PLAN.md. Not the user's home, nor what is above that.
    project: links in it are resolved."""
    home = os.path.realpath(user_home() or os.devnull)
    found = []
    for each in ancestors(project):
        if each == home or (each != project and _begins(each, home)):
            break
        if each == project or has_git(each) or _is_marked(each):
            found.append(each)
    return found


def is_users(path: str, projects: Iterable[str]) -> bool:
    """Tells whether no project may have brought a file or folder: it is absolute, and in none of
    these projects, neither as written nor with its links resolved."""
    return _is_fixed(path) and not lies_in(path, projects)


def lies_in(path: str, roots: Iterable[str]) -> bool:
    """Tells whether a file or folder is one of `roots` or below one, as written or with its links
    resolved. The links of `roots` must be resolved."""
    starts = tuple(root.rstrip(os.sep) + os.sep for root in roots)
    spell = os.path.normpath, os.path.realpath
    return any((each(path) + os.sep).startswith(starts) for each in spell)


def _is_fixed(path: str) -> bool:
    """Tells whether a path means the same folder in every process: `/proc/self/cwd` is relative,
    too."""
    names = os.path.normpath(path).strip(os.sep).split(os.sep)
    return os.path.isabs(path) and names[0] != "proc"


def project_of(folder: str) -> str:
    """Returns the project of a folder: the git top level, else the nearest folder with `.claude/`
    or PLAN.md, else the folder itself.

    Links are resolved. The user's home is not a project, nor is a folder above it: a repository
    there has dotfiles in it, and the `.claude/` is the client's own.
    """
    start = os.path.realpath(folder)
    home = os.path.realpath(user_home() or os.devnull)
    marked = ""
    for each in ancestors(start):
        if each == home:
            break
        if has_git(each):
            return each
        if not marked and _is_marked(each):
            marked = each
    return marked or start


def has_git(folder: str) -> bool:
    """Tells whether a folder has a `.git` of git's own: a folder or a file with something in it.

    An empty one is not: the sandbox of a client puts one into each folder that a command may
    write to, while it runs, and leaves it there when it is killed (openai/codex#26463, #31599).
    """
    mark = os.path.join(folder, ".git")
    try:
        found = os.stat(mark)
        if stat.S_ISREG(found.st_mode):
            return found.st_size > 0
        with os.scandir(mark) as entries:
            return next(entries, None) is not None
    except PermissionError:
        return os.path.isdir(mark)  # one that may not be listed
    except (OSError, ValueError):
        return False


def can_be_project(folder: str) -> bool:
    """Tells whether a folder is neither the user's home nor above it. A session may start there
    and is remembered, but it has no plans and no settings of its own."""
    home = user_home()
    return not (home and is_inside(home, folder))


def _is_marked(folder: str) -> bool:
    """Tells whether a folder has a plan, or a `.claude/` that is not the client's own."""
    config = os.path.join(folder, ".claude")
    if os.path.isdir(config):
        own = os.path.realpath(client_home() or os.devnull)
        if os.path.realpath(config) != own:
            return True
    return os.path.isfile(os.path.join(folder, "PLAN.md"))


def ancestors(folder: str) -> list[str]:
    """Returns the folder and its parents, nearest first."""
    folders = [folder]
    while (parent := os.path.dirname(folder)) != folder:
        folders.append(parent)
        folder = parent
    return folders


def projects_folder(our_home: str) -> str:
    """Returns the folder, in ours, with a folder for each project."""
    return os.path.join(our_home, "projects")


def project_folder(our_home: str, project: str) -> str:
    """Returns the folder, in ours, with what we write about a project."""
    from sisyphus.ground.text import fingerprint  # imported late: few hooks need it

    return os.path.join(projects_folder(our_home), fingerprint(project))


def names(path: str, root: str) -> list[str]:
    """Returns the names of a file relative to `root`, with forward slashes; none if it is outside.

    A file that is reached through a link has two: as written, and with its links resolved. The
    links of `root` must be resolved.
    """
    start = root.rstrip(os.sep) + os.sep
    spellings = dict.fromkeys((os.path.normpath(path), os.path.realpath(path)))
    return [each[len(start) :].replace(os.sep, "/") for each in spellings if each.startswith(start)]


def is_inside(path: str, root: str) -> bool:
    """Tells whether `path`, with its links resolved, is `root` or below it."""
    return is_real_inside(os.path.realpath(path), root)


def is_real_inside(real: str, root: str) -> bool:
    """Does the same with an absolute path without links."""
    # A root that begins a path without links has none itself, and need not be resolved.
    return _begins(root, real) or _begins(os.path.realpath(root), real)


def _begins(root: str, path: str) -> bool:
    """Tells whether an absolute `root` is `path` or above it, by their names alone."""
    start = root.rstrip(os.sep) + os.sep
    return path == root or (os.path.isabs(root) and path.startswith(start))


def are_in_line(folder: str, other: str) -> bool:
    """Tells whether one of two folders, with links resolved, is the other or below it."""
    return is_inside(folder, other) or is_inside(other, folder)


def display(path: str, root: str) -> str:
    """Returns a path for people and the model, as `shortened`, but on one line, whatever a stranger
    has put into its names."""
    shown = shortened(path, root)
    if shown.isprintable() and "<" not in shown:
        return shown
    from sisyphus.ground.text import one_line  # imported late: such names are rare

    return one_line(shown, len(shown))


def shortened(path: str, root: str) -> str:
    """Returns a path relative to `root` ("" = no such folder), else from `~`, else absolute."""
    below = _below(path, root)
    if below:
        return below
    below = _below(path, os.path.expanduser("~"))
    return f"~/{below}" if below else path


def _below(path: str, folder: str) -> str:
    """Returns a path relative to a folder that it is below, with "/"; "" = it is not."""
    start = folder.rstrip(os.sep) + os.sep
    is_below = len(start) > 1 and path.startswith(start)
    return path[len(start) :].replace(os.sep, "/") if is_below else ""


def is_id(text: str) -> bool:
    """Tells whether the id of a session or agent is safe in a file name."""
    return 0 < len(text) <= _ID_LENGTH and _ID_CHARACTERS.issuperset(text) and ".." not in text
