"""Keeps a run, so that a runner that is killed at any point loses nothing.

It is written twice, each file whole or not at all: first into our own folder, then into the
project. The former counts. What runs a command or ends a process is read from it alone: a project
and the model in it may write the latter. That is a copy for people, without keys and passwords:
whatever becomes of it, the run goes on. The fields of others are kept there.
"""

from __future__ import annotations

import os

from sisyphus.errors import LockedError, NewerVersionError, SisyphusError
from sisyphus.runner.keep import foreign, public_copy
from sisyphus.runner.keep.state import COMPLETED, VERSION, Run
from sisyphus.state.files import (
    check_version,
    ensure_folder,
    read_json,
    set_aside,
    update_json,
)
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from sisyphus._types import Json
    from sisyphus.runner.keep.places import Places


class Loaded:
    """`run` None: there is none. `is_ours`: a run of this user wrote it. `notes`: for the user."""

    __slots__ = ("is_ours", "notes", "run")

    def __init__(self, run: Run | None, notes: list[str], *, is_ours: bool) -> None:
        self.run = run
        self.notes = notes
        self.is_ours = is_ours


def load(places: Places, *, own_counts: bool = False) -> Loaded:
    """The run of this project. With `own_counts`, where the copy in the project speaks of another
    one, ours that has not been completed: else whoever changes a word there takes away its checks
    and limits. Raises `SisyphusError`."""
    public_copy.check_named(places)
    notes: list[str] = []
    own = _read(places.record, notes)
    try:
        public = _read(places.state, notes)
    except NewerVersionError as error:
        if not own:
            raise
        public = {}
        notes.append(f"{error}. The run goes on without it")
    is_other = bool(public) and public.get("loop_id") != own.get("loop_id")
    is_open = own_counts and own.get("status") != COMPLETED
    if Run(own).loop_id and is_other and is_open:
        notes.append(f"{places.state} speaks of another run; the one that began here counts")
        public, is_other = {}, False
    if Run(own).loop_id and not is_other:
        known = {**Run().as_json(), **own}
        return Loaded(Run({**own, **public_copy.unknown(public, known)}), notes, is_ours=True)
    if not public:
        return Loaded(None, notes, is_ours=False)
    return Loaded(Run(foreign.harmless(places, public)), notes, is_ours=False)


def last_saved(places: Places) -> Run | None:
    """What was kept last of the run at work."""
    found = read_json(places.record)
    return Run(found) if found else None


def glance(places: Places) -> Run:
    """The run as it is now, for a look from outside; nothing is set aside."""
    return Run(read_json(places.record) or read_json(places.state))


def save(places: Places, run: Run, *, keep_record: bool = True) -> str:
    """Why the project's copy is not up to date; "" = it is. Raises `SisyphusError` and `OSError`
    for the record, and without one for the copy."""
    now = {**run.as_json(), "version": VERSION}
    if not keep_record:
        public_copy.write(places, now)
        return ""
    update_json(places.record, lambda _: now)
    try:
        public_copy.write(places, now)
    except (OSError, SisyphusError, ValueError, RecursionError) as error:
        return str(error)
    return ""


def retire(places: Places) -> str:
    """Puts the record of the run before aside, under the name of its loop; returns that."""
    name = Run(read_json(places.record)).loop_id
    if name:
        os.replace(places.record, os.path.join(places.runs, f"{name}.json"))
    return name


def check_writable(places: Places) -> None:
    """Raises `SisyphusError` before anything has begun."""
    public_copy.check_named(places)
    record = read_json(places.record)
    path, found = (places.record, record) if record else (places.state, read_json(places.state))
    check_version(path, found or {}, VERSION)


def _read(path: str, notes: list[str]) -> Json:
    found = read_json(path)
    if found is None and os.path.lexists(path):
        try:
            set_aside(path)
        except OSError as error:
            notes.append(f"{path} could not be read, nor be set aside: {error.strerror}")
            return {}
        notes.append(f"{path} could not be read; it was set aside beside it as .corrupt-…")
    check_version(path, found or {}, VERSION)
    return found or {}


class Alone:
    """Held in a `with` block by the one runner of a project. Raises `SisyphusError` where another
    one lives; a lock dies with its holder."""

    __slots__ = ("_lock", "_places")

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lock = Lock(places.running, wait=0)

    def __enter__(self) -> None:
        folder = os.path.dirname(self._places.running)
        try:
            ensure_folder(folder)
            self._lock.__enter__()
        except LockedError as error:
            raise SisyphusError(_busy(self._places)) from error
        except OSError as error:
            raise SisyphusError(
                f"a run keeps its record in {folder}, and nothing can be written there: "
                f"{error.strerror}. Put that right, then begin again."
            ) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.__exit__(kind, error, trace)


def _busy(places: Places) -> str:
    run = glance(places)
    runner = run.extra.get("runner")
    pid = runner.get("pid") if isinstance(runner, dict) else None
    stop = f"`kill -INT {pid}`" if type(pid) is int else "Ctrl-C where it runs"
    return (
        f"a run is at work in this project already: {run.task_name or 'a task'} (iteration "
        f"{run.iteration} {run.of_most}). Watch it with `tail -f {places.progress}`, "
        f"end it with {stop}."
    )
