"""Decides which plan is meant: by the name that somebody typed, by a session, by what is open.

Without a name it is the first of these that is open: the session's own (after `/clear` that of the
session that ended), the one that `docs/kord/boulder.json` names, one that the user started in a
terminal, that of the package, the only one.
"""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.boulder import find, follow, messages, plan_status
from sisyphus.boulder import plans as plan_rows
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan_status import NONE, PlanStatus
from sisyphus.boulder.plans import DISMISSED, PlanRecord
from sisyphus.ground import files, paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import Record, replace
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import TypeVar

    from sisyphus.ground.store import Store
    from sisyphus.hook.session import Session

    Named = TypeVar("Named", PlanFile, PlanRecord)


class Search(Record):
    """The plans of a project that may be open, as their files are now.

    folder: the current one. own: the path of the session's plan, kord: of the one that
    `docs/kord/boulder.json` names; "" = there is none. rows: all records of the project. left_out:
    how many plans found no room: the oldest.
    """

    folder: str
    own: str
    kord: str
    rows: list[PlanRecord]
    files: list[PlanFile]
    left_out: int

    def next_files(self) -> list[PlanFile]:
        """Returns the plan that the next session follows, or all open ones if there is no reason
        to prefer one."""
        return self.choose(self.files, self.rows)

    def choose(self, files: Iterable[PlanFile], rows: Iterable[PlanRecord]) -> list[PlanFile]:
        """Does the same among these files and records. The plans of packages that do not contain
        the current folder count if there are no others."""
        open_files = [file for file in files if file.has_open_tasks]
        by_path = {file.path: file for file in open_files}
        chosen = [row.path for row in rows if row.is_chosen and row.is_open]
        for path in [self.own, self.kord, *chosen]:
            if path in by_path:
                return [by_path[path]]
        current = [file for file in open_files if self.is_of_current_package(file)]
        others = [file for file in open_files if not find.package_of(file.path, file.project)]
        return current[:1] or others or open_files

    def is_of_current_package(self, file: PlanFile) -> bool:
        package = find.package_of(file.path, file.project)
        return bool(package) and (os.path.realpath(self.folder) + os.sep).startswith(
            package + os.sep
        )


# ---------------------------------------------------------------- without a name


def of_project(
    store: Store,
    project: str,
    session: Session,
    now: float,
    folder: str = "",
    *,
    with_abandoned: bool = True,
) -> PlanStatus:
    """Returns the plan that a session follows, else one that is in use, else the one that the next
    session will follow, else one that is missing or has no tasks any more, else the one that was
    completed last. In a package, what the next session there will follow comes before a plan that
    is in use elsewhere.

    folder: the current one; "" = the project's root. with_abandoned: a plan counts whose file is
    gone and which nobody follows any more.
    """
    if own := of_session(store, project, session):
        return plan_status.of_record(store, own, now)
    found = search(store, project, folder or project)
    files = found.next_files()
    is_of_package = any(map(found.is_of_current_package, files))
    in_use = None if is_of_package else _in_use(store, found.rows)
    if in_use:
        file = next((file for file in found.files if file.path == in_use.path), None)
        result = plan_status.of_record(store, in_use, now, file)
    elif len(files) == 1:
        result = plan_status.of_known(store, files[0], now)
    elif files:
        result = PlanStatus(project, NONE, open_files=tuple(files))
    else:
        result = _without_tasks(store, project, found, now, with_abandoned=with_abandoned)
    return replace(result, left_out=found.left_out)


def of_session(store: Store, project: str, session: Session) -> PlanRecord | None:
    """Returns the open plan of the project that a session follows; None = it follows none."""
    own = plan_rows.of_session(store, session)
    is_here = own and own.project == project and own.is_open and os.path.isfile(own.path)
    return own if is_here else None


def followed_now(store: Store, session: Session, now: float) -> PlanRecord | None:
    """Returns the plan that a session works on, open or just completed, as its file is now: the
    row may not know yet what the same tool calls have ticked. None = it follows none."""
    own = plan_rows.of_session(store, session)
    return as_of_now(own, now) if own else None


def as_of_now(record: PlanRecord, now: float) -> PlanRecord:
    """Returns what the record of a plan will say once its file is looked at. It saves nothing."""
    return follow.compare(record, find.read(record.path, record.project), now).record or record


def search(store: Store, project: str, folder: str, own: PlanRecord | None = None) -> Search:
    """Reads the plans of a project that may be open, also those whose file is missing, and not
    those that were complete or cleared and have not changed since.

    folder: the current one. own: the plan of a session, which comes first; None = it follows none
    here.
    """
    return _search(store, project, folder, own.path if own and own.project == project else "")


def _search(store: Store, project: str, folder: str, own: str) -> Search:
    rows, kord = plan_rows.of_project(store, project), _kord_path(project)
    open_rows = [row for row in rows if row.is_open]
    settled = {row.path for row in rows if not row.is_open and find.has_stamp(row.path, row.stamp)}
    paths = [*find.of_project(project, folder), own, kord, *(row.path for row in open_rows)]
    order = [path for path in dict.fromkeys(paths) if path and path not in settled]
    always = {own, *(row.path for row in open_rows if row.is_chosen or row is open_rows[0])}
    first = {*always, kord}
    ranked = sorted(order, key=lambda path: (path not in first, *_rank(path)))
    found, left_out = find.read_some(ranked, project, always)
    places = {path: place for place, path in enumerate(order)}
    found.sort(key=lambda file: places[file.path])
    return Search(folder, own, kord, rows, found, len(left_out))


def _kord_path(project: str) -> str:
    if not find.has_kord_file(project):
        return ""
    from sisyphus.boulder import shared_file  # few projects have its file

    return shared_file.plan_path(project)


def _rank(path: str) -> tuple[bool, float]:
    """Orders plans by how much a session needs them: those of packages and of the root, then the
    newest."""
    return os.path.basename(path) != find.NAME, -files.modified_at(path)


def _in_use(store: Store, rows: list[PlanRecord]) -> PlanRecord | None:
    """Returns the open plan that a session follows which has not ended, if its file exists. If
    there are several, the one used last; none if the user has started another one in a terminal
    since. rows: of the project, the one used last first."""
    running = _followed(store)
    here = (row for row in rows if row.is_open and os.path.isfile(row.path))
    last = next((row for row in here if row.is_chosen or row.path in running), None)
    return last if last and last.path in running else None


def is_abandoned(store: Store, record: PlanRecord) -> bool:
    """Tells whether the file of a plan is gone, and no session follows it that has not ended."""
    return not os.path.isfile(record.path) and record.path not in _followed(store)


def _followed(store: Store) -> set[str]:
    """Returns the paths of the plans that sessions follow which have not ended."""
    numbers = {each.plan for each in sessions.with_plans(store)}
    return {row.path for number in numbers if (row := plan_rows.named(store, number))}


def _without_tasks(
    store: Store, project: str, found: Search, now: float, *, with_abandoned: bool
) -> PlanStatus:
    """Returns the plan to show where none has open tasks."""

    def counts(row: PlanRecord | None) -> bool:
        return row is not None and (with_abandoned or not is_abandoned(store, row))

    for row in sorted(found.rows, key=lambda row: not os.path.isfile(row.path)):
        if row.is_open and counts(row):
            return plan_status.of_record(store, row, now)
    ended = [each for each in plan_status.completed(store, project) if counts(each.record)]
    result = plan_status.with_stories(store, ended[0]) if ended else PlanStatus(project, NONE)
    cleared = tuple(
        row
        for row in found.rows
        if row.state == DISMISSED
        and row.completed < row.total
        and find.has_stamp(row.path, row.stamp)
    )
    unusable = tuple(file for file in found.files if file.is_unusable)
    return replace(result, cleared=cleared, unusable=unusable)


# ---------------------------------------------------------------- for a command


def to_start(
    store: Store, name: str, project: str, folder: str, home: str, session: Session
) -> PlanFile:
    """Returns the plan that `boulder start` means: the one with this name; without a name the
    session's own, the one that the next session follows, or the only one that was cleared. Raises
    `SisyphusError` if that is not one plan with open tasks."""
    if name.strip():
        file = named(store, name, project, folder, home)
        if not file.has_open_tasks:
            raise SisyphusError(messages.not_to_follow(file))
        return file
    found = search(store, project, folder, plan_rows.of_session(store, session))
    files = found.next_files()
    dismissed = [row.path for row in found.rows if row.state == DISMISSED]
    files = files or [f for f in find.read_some(dismissed, project)[0] if f.has_open_tasks]
    if len(files) == 1:
        return files[0]
    if files:
        plans = messages.counted([plan_status.record_of(file) for file in files])
        raise SisyphusError(f"Several plans are open. Name one: {plans}.")
    unusable = [messages.unusable(file) for file in found.files if file.is_unusable]
    offers = plan_status.offers(project, home)
    raise SisyphusError(" ".join(["No plan in its place has open tasks.", *unusable, *offers]))


def to_clear(store: Store, name: str, project: str, folder: str) -> PlanRecord:
    """Returns the open plan that a name means, whether its file exists or not: the one with this
    path, else with this name, else the only one whose name contains it. Raises `SisyphusError` if
    that is not one plan."""
    found = search(store, project, folder)
    rows = [row for row in found.rows if row.is_open]
    followed = {row.path for row in rows}
    new = [file for file in found.files if file.has_open_tasks and file.path not in followed]
    rows += map(plan_status.record_of, new)
    by_path = {row.path: row for row in rows}
    matches = [by_path[each] for each in _typed_paths(name, project, folder) if each in by_path][:1]
    name = _bare(name)
    matches = matches or _with_name(name, rows, exactly=True) or _with_name(name, rows)
    return _only(name, matches, rows)


def named(store: Store, name: str, project: str, folder: str, home: str) -> PlanFile:
    """Returns the plan that a name means: the one with this path, else with this name, else the
    only one whose name contains it; open ones first. Plan mode's plans come last, because they
    belong to all projects.

    folder: the current one. home: of the client. Raises `SisyphusError` if no plan has this name,
    or several have it.
    """
    from sisyphus.boulder import stray_plans  # imported late: only commands name one

    recorded = [row.path for row in plan_rows.of_project(store, project)]
    places = [
        *find.of_project(project, folder), *find.of_other_tools(project), *recorded,
        *stray_plans.paths_in(project),
    ]  # fmt: skip
    path = _existing_path(name, project, folder, places)
    name = _bare(name)
    nearest = sorted(dict.fromkeys(places), key=lambda each: _plain(name) not in _plain(each))
    own = [file for file in find.read_some(nearest, project, always=[path])[0] if file.stamp]
    matches = (
        [file for file in own if file.path == path]
        or _open_first(_with_name(name, own, exactly=True))
        or ([_read_anywhere(path, project, home)] if path else [])
        or _open_first(_with_name(name, own))
        or _of_plan_mode(name, project, home)
    )
    with_tasks = [file for file in own if file.plan and file.plan.total]
    return _only(name, _ordered(matches), _ordered(with_tasks))


def _only(name: str, matches: list[Named], others: Sequence[Named]) -> Named:
    """others: the plans that are named if none matches."""
    if len(matches) == 1:
        return matches[0]
    what = f'{"Several plans are" if matches else "No plan here is"} called "{name}".'
    raise SisyphusError(f"{what} {messages.there_are(matches or others)}")


def _bare(name: str) -> str:
    """Returns a name without quotes, `@` and the `…` of a name that was cut."""
    return name.strip().strip("'\"").removeprefix("@").strip("'\"").removesuffix("…")


def _typed_paths(name: str, project: str, folder: str) -> list[str]:
    """Returns the paths that a name may be: as it was typed, then without its `@`, each from the
    current folder, then from the project. A file may be called `@fix_plan.md`, and in a prompt `@`
    stands before any file."""
    spellings = map(os.path.expanduser, (name.strip().strip("'\""), _bare(name)))
    return [
        os.path.normpath(os.path.join(base, s)) for s in spellings for base in (folder, project)
    ]


def _existing_path(name: str, project: str, folder: str, own: Collection[str]) -> str:
    """Returns the file whose path a name is; "" if there is none. It prefers one in `own`."""
    existing = [path for path in _typed_paths(name, project, folder) if os.path.isfile(path)]
    return next((path for path in existing if path in own), existing[0] if existing else "")


def _read_anywhere(path: str, project: str, home: str) -> PlanFile:
    """Reads a plan that the user named by its path. It belongs to the project that contains it, a
    plan of plan mode to the project at hand."""
    folders = clients.plan_folders(home, project)
    is_here = paths.is_inside(path, project) or os.path.dirname(path) in folders
    return find.read(path, project if is_here else paths.project_of(os.path.dirname(path)))


def _of_plan_mode(name: str, project: str, home: str) -> list[PlanFile]:
    found, _ = find.read_some(find.of_plan_mode(project, home), project)
    return _open_first(_with_name(name, found, exactly=True) or _with_name(name, found))


def _with_name(name: str, plans: list[Named], *, exactly: bool = False) -> list[Named]:
    """Returns the plans that have this name, or unless `exactly` a name that contains it."""
    wanted, matches = _plain(name), []
    for plan in plans:
        stem = os.path.splitext(os.path.basename(plan.path))[0]
        names = [_plain(stem), _plain(plan.name)]
        if wanted in names if exactly else wanted and any(wanted in each for each in names):
            matches.append(plan)
    return matches


def _open_first(files: list[PlanFile]) -> list[PlanFile]:
    """Returns only the open ones if there are any."""
    return [file for file in files if file.has_open_tasks] or files


def _plain(name: str) -> str:
    """Returns a name without what people spell differently: case, blanks, `_`, `-`, `@`, `.md`."""
    words = "".join(c if c.isprintable() and c not in "_-" else " " for c in name.casefold())
    return " ".join(words.removesuffix(".md").removeprefix("@").split())


def _ordered(plans: list[PlanFile]) -> list[PlanFile]:
    """Returns the open ones first, then the newest."""
    newest = sorted(plans, key=lambda file: files.modified_at(file.path), reverse=True)
    return sorted(newest, key=lambda file: not file.has_open_tasks)
