"""Finds the client's folder, our folder inside it, and the project that a folder belongs to."""

import os

_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ID_LENGTH = 128


def user_home() -> str:
    """Returns the user's home folder; "" if there is none."""
    home = os.environ.get("HOME", os.path.expanduser("~"))
    return os.path.normpath(home) if os.path.isabs(home) else ""


def client_home() -> str:
    """Returns `$CLAUDE_CONFIG_DIR`, else `~/.claude`; "" if there is no home folder."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    if folder:
        return os.path.abspath(folder)
    home = user_home()
    return os.path.join(home, ".claude") if home else ""


def our_home(project: str = "") -> str:
    """Returns our folder in the client's. It is below `os.devnull`, and nothing can be read or
    written there, if there is no home folder or if that is inside `project` ("" = do not check)."""
    home = "" if project and is_home_in(project) else client_home()
    return os.path.join(home or os.devnull, ".sisyphus")


def is_home_in(project: str) -> bool:
    """Tells whether the environment puts the client's folder into a project. A project's settings
    can do that, and then the folder's content is not the user's.

    `~` and `~/.claude` as projects are fine: everything there is the user's.
    """
    home = user_home()
    if home and project == os.path.realpath(home):
        return False
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    if not folder:
        return bool(home and names(home, project))
    return is_inside(folder, project) or bool(names(os.path.abspath(folder), project))


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
        if os.path.lexists(os.path.join(each, ".git")):
            return each
        if not marked and _is_marked(each):
            marked = each
    return marked or start


def can_be_project(folder: str) -> bool:
    """Tells whether a folder is neither the user's home nor above it. A session may start there
    and is remembered, but it has no plans and no settings of its own."""
    home = user_home()
    return not (home and is_inside(home, folder))


def _is_marked(folder: str) -> bool:
    """Tells whether a folder has a plan, or a `.claude/` that is not the client's own."""
    config = os.path.join(folder, ".claude")
    own = os.path.realpath(client_home() or os.devnull)
    if os.path.isdir(config) and os.path.realpath(config) != own:
        return True
    return os.path.isfile(os.path.join(folder, "PLAN.md"))


def ancestors(folder: str) -> list[str]:
    """Returns the folder and its parents, nearest first."""
    folders = [folder]
    while (parent := os.path.dirname(folder)) != folder:
        folders.append(parent)
        folder = parent
    return folders


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
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def display(path: str, root: str) -> str:
    """Returns a path for people: relative to `root` ("" = no such folder), else from `~`, else
    absolute."""
    for base, prefix in ((root, ""), (os.path.expanduser("~"), "~/")):
        start = base.rstrip(os.sep) + os.sep
        if len(start) > 1 and path.startswith(start):
            return prefix + path[len(start) :].replace(os.sep, "/")
    return path


def is_id(text: str) -> bool:
    """Tells whether the id of a session or agent is safe in a file name."""
    return 0 < len(text) <= _ID_LENGTH and _ID_CHARACTERS.issuperset(text) and ".." not in text
