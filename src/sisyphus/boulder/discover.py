"""Where a project's plan files are. Looks at names and file status only; opens nothing."""

from __future__ import annotations

import os
import stat
import time
from itertools import islice

from sisyphus.paths import main_checkout, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.workspace import Workspace

    Stamp = list[int]

PLAN_FILES = (".claude/PLAN.md", "PLAN.md")
PLAN_FOLDERS = ("docs/kord/plans", ".claude/plans")

MAX_ENTRIES = 2_000
"""Of one folder. Each plan costs every quiet hook a stat, and one hook a reading."""

_TICK_NS = 20_000_000
"""Two writes within one tick of the file system's clock (10 ms on Linux) leave the same time."""


def stamp_of(path: str) -> Stamp | None:
    """[modification time in ns, size] of a regular file; None for anything else.

    The time of a file that was written just now is 0: it may be written once more without a
    change of time, so it has to be read again.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return _stamp(found) if stat.S_ISREG(found.st_mode) else None


def file_stamp(path: str) -> Stamp:
    """[modification time in ns, size] of a file as it is; [] where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return []
    return [found.st_mtime_ns, found.st_size]


def is_unchanged(stamp: Stamp, seen: Stamp | None) -> bool:
    """Whether a file is certainly as it was when `seen` was taken."""
    return stamp[0] != 0 and stamp == seen


def standing_place(space: Workspace) -> str:
    """The root of the project whose book the plans of `space` are in.

    A linked worktree is its own project as soon as it has a plan; until then the plans that are
    followed in its main checkout are its plans, whichever of them is current there.
    """
    main = main_checkout(space.root)
    if not main or has_plans(space):
        return space.root
    from sisyphus.boulder.store import read_plans

    return main if read_plans(space.home, main).records else space.root


def at_its_place(space: Workspace) -> Workspace:
    """`space` as seen from there."""
    root = standing_place(space)
    if root == space.root:
        return space
    from sisyphus.workspace import Workspace

    return Workspace(root, now=space.now, client=space.client)


def has_plans(space: Workspace) -> bool:
    """Whether the project has a plan, or has had one that is followed."""
    from sisyphus.boulder.store import read_plans, record_in_project

    is_known = read_plans(space.home, space.root).records
    return bool(is_known or os.path.lexists(record_in_project(space.root)) or find_plans(space))


def find_plans(space: Workspace) -> dict[str, Stamp]:
    """The project's plan files with their stamps, newest first."""
    found: dict[str, Stamp] = {}
    for name in PLAN_FILES:
        path = os.path.join(space.root, *name.split("/"))
        if not _is_the_clients(space, path) and (stamp := stamp_of(path)):
            found[path] = stamp
    for name in PLAN_FOLDERS:
        folder = os.path.join(space.root, *name.split("/"))
        if not _is_the_clients(space, folder):
            found.update(plans_in(folder))
    return newest_first(found)


def plans_in(folder: str) -> dict[str, Stamp]:
    """The `*.md` files of one folder, of its first `MAX_ENTRIES`, without those below it."""
    try:
        with os.scandir(folder) as entries:
            first = islice(entries, MAX_ENTRIES)
            paths = [e.path for e in first if e.name.endswith(".md") and e.name[0] != "."]
    except (OSError, ValueError):
        return {}
    return {path: stamp for path in paths if (stamp := stamp_of(path))}


def newest_first(plans: dict[str, Stamp]) -> dict[str, Stamp]:
    return dict(sorted(plans.items(), key=lambda plan: plan[1][0] or time.time_ns(), reverse=True))


def may_be_plan(path: str) -> bool:
    """Whether a path is spelled like a plan file's: the question that every edit is asked."""
    slashed = "/" + path.replace(os.sep, "/")
    return slashed.endswith("/PLAN.md") or (
        slashed.endswith(".md") and slashed.rpartition("/")[0].endswith(PLAN_FOLDERS)
    )


def locate(space: Workspace, path: str) -> tuple[str, str] | None:
    """The project root of a plan file, and its path in that project; None for any other file."""
    if not may_be_plan(path) or _is_the_clients(space, path):
        return None
    folder, name = os.path.split(path)
    real = os.path.join(os.path.realpath(folder), name)
    for root, spelled in ((space.root, path), (space.root, real), ("", real)):
        top = root or project_root(os.path.dirname(real))
        if _is_plan_of(top, spelled):
            return top, spelled
    return None


def _is_plan_of(root: str, path: str) -> bool:
    start = root.rstrip(os.sep) + os.sep
    name = path.removeprefix(start).replace(os.sep, "/")
    folder, _, file = name.rpartition("/")
    is_named = name in PLAN_FILES or (folder in PLAN_FOLDERS and file.endswith(".md"))
    return path.startswith(start) and is_named


def _is_the_clients(space: Workspace, path: str) -> bool:
    """The client keeps plans of its own in its folder, which is `.claude` of the home folder."""
    homes = {space.home, os.path.realpath(space.home)}
    return any((path + os.sep).startswith(home.rstrip(os.sep) + os.sep) for home in homes)


def _stamp(found: os.stat_result) -> Stamp:
    is_settled = abs(time.time_ns() - found.st_mtime_ns) > _TICK_NS
    return [found.st_mtime_ns if is_settled else 0, found.st_size]
