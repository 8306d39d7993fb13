"""The one plan in use: `HOME/.boulder.json`, a copy of its record for everybody to read.

Whoever needs this file's lock and a book's takes the book's first, and never two books'.
"""

from __future__ import annotations

import os

from sisyphus.boulder.record import is_newer, is_path, joined, valid_record
from sisyphus.boulder.store import read_plans
from sisyphus.paths import project_root
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json


def global_path(home: str) -> str:
    return os.path.join(home, ".boulder.json")


def read_global(home: str) -> Json | None:
    """The record of the plan in use, whoever wrote it, its paths spelled as ours are."""
    return _respelled(valid_record(read_json(global_path(home)) or {}))


def copy_to_global(home: str, record: Json, replaces: Callable[[Json], bool]) -> Json | None:
    """Makes the global file tell of `record`. What another tool added to the copy of the same plan
    goes into `record`; what is no boulder at all is set aside.

    Another plan is replaced where `replaces` says so of its record, which is returned either way.
    """
    from sisyphus.state.files import set_aside, update_json

    others: list[Json] = []
    path = global_path(home)

    def change(found: Json) -> Json | None:
        known = _respelled(valid_record(found))
        if found and not known:
            set_aside(path)
        if known and is_newer(found):
            return None
        if known and known["active_plan"] != record["active_plan"]:
            others.append(known)
            return record if replaces(known) else None
        record.update(joined(known, record) if known else {})
        return record

    update_json(path, change, version=None, indent=2)
    return others[0] if others else None


def update_global(home: str, record: Json) -> None:
    """Brings the global file up to date if it tells of this plan."""
    found = read_global(home)
    if found and found["active_plan"] == record["active_plan"]:
        copy_to_global(home, record, lambda _: False)


def move_global(home: str, path: str, record: Json) -> None:
    """If the global file tells of the plan at `path`, which lies elsewhere by now, it follows."""
    found = read_global(home)
    if found and found["active_plan"] == path:
        copy_to_global(home, record, lambda other: bool(other["active_plan"] == path))


def clear_global(home: str, path: str) -> None:
    """Removes the global file if it tells of the plan at `path`."""
    from sisyphus.state.lock import Lock

    found = read_global(home)
    if found is None or found["active_plan"] != path:
        return
    with Lock(global_path(home)):
        found = read_global(home)
        if found and found["active_plan"] == path:
            os.unlink(global_path(home))


def keep_other_project(home: str, root: str) -> None:
    """What the global file tells of another project goes into that project's book, so that
    nothing is lost when the file moves."""
    found = read_global(home)
    if found is None or found["project_root"] == root:
        return
    path, other_root = found["active_plan"], found["project_root"]
    known = read_plans(home, other_root).records.get(path)
    if known and joined(found, known) == known:
        return
    from sisyphus.boulder.book import Book

    with Book(home, other_root) as book:
        if read_global(home) != found:
            return  # it ended or moved in the meantime
        known = book.records.get(path)
        book.records[path] = joined(found, known) if known else found
        book.current = book.current or path


def _respelled(record: Json | None) -> Json | None:
    """The project's root without links, as ours are spelled, and the plan's path below it."""
    if record is None:
        return None
    root, path = record["project_root"], record["active_plan"]
    if not is_path(root):
        return {**record, "project_root": project_root(os.path.dirname(path))}
    real = os.path.realpath(root)
    below = path.removeprefix(root.rstrip(os.sep) + os.sep)
    spelled = path if below == path else os.path.join(real, below)
    return {**record, "project_root": real, "active_plan": spelled}
