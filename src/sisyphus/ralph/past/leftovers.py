"""What loops have left beside the history: transcripts, rows of iterations, checklists."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id
from sisyphus.ralph import iterations
from sisyphus.ralph.checklists import checklist_store
from sisyphus.state.files import read_json
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class LeftoverError(SisyphusError):
    """Files of loops that could not be removed; the history does not know the loops any more."""


_ENDS = ("_iterations.jsonl", "_full.txt", "_verify.txt")
_ITERATION = "_iter_"


def of_runs(ours: str) -> set[str]:
    """The loop ids of runs in fresh contexts, whose clients write beside the transcripts."""
    folder = os.path.join(ours, "ralph", "runs")
    found = (read_json(os.path.join(folder, n)) for n in _names(folder) if n.endswith(".json"))
    ids = (run.get("loop_id") for run in found if run)
    return {loop_id for loop_id in ids if isinstance(loop_id, str)}


def remove(ours: str, ids: Collection[str]) -> None:
    """Removes what these loops have left. Raises `LeftoverError` for what cannot be removed, when
    everything else is gone."""
    safe = set(filter(is_safe_id, ids))
    stays = [why for path in _transcripts(ours, safe) if (why := _unlink(path))]
    stays += [why for loop_id in safe if (why := _checklist(ours, loop_id))]
    if stays:
        more = f" (and {len(stays) - 1:,} more)" if len(stays) > 1 else ""
        raise LeftoverError(
            f"gone from the history, but not all files are: {stays[0]}{more}. Remove it by hand."
        )


def _transcripts(ours: str, ids: Collection[str]) -> Iterator[str]:
    folder = iterations.folder(ours)
    return (os.path.join(folder, name) for name in _names(folder) if _owner(name) in ids)


def _owner(name: str) -> str:
    """The id of the loop that a file is of; "" = of none."""
    for end in _ENDS:
        if name.endswith(end):
            return name[: -len(end)]
    loop_id, mark, rest = name.rpartition(_ITERATION)
    return loop_id if mark and rest[:1].isdecimal() else ""


def _checklist(ours: str, loop_id: str) -> str:
    """Why it stays; "" = it is gone. Its lock goes with it, as `Lock` expects of who holds it."""
    path = checklist_store.checklist_path(ours, loop_id)
    if not os.path.lexists(path + ".lock"):
        return _unlink(path)
    try:
        with Lock(path):
            return _unlink(path) or _unlink(path + ".lock")
    except (OSError, SisyphusError) as error:
        return str(error)


def _unlink(path: str) -> str:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
