"""The copy of a run in the project: for people, without keys and passwords."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.masking import masked
from sisyphus.runner.keep.state import VERSION
from sisyphus.state.files import check_version, load_json, read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus._types import Json
    from sisyphus.runner.keep.places import Places

_MAY_HOLD_KEYS = ("reason", "breaker", "options", "in_flight", "waiting", "last", "note")


def write(places: Places, now: Json) -> None:
    """Who writes is alone in the project, so that no lock need lie there. Raises `OSError` and
    `SisyphusError`."""
    check_named(places)
    places.prepare(places.state)
    found = load_json(places.state)
    check_version(places.state, found, VERSION)
    shown = {name: _masked(now[name]) if name in _MAY_HOLD_KEYS else now[name] for name in now}
    write_json(places.state, {**shown, **unknown(found, now)}, version=VERSION, indent=2)


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _masked(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_masked(one) for one in value]
    return masked(value) if isinstance(value, str) else value


def check_named(places: Places) -> None:
    """Of a file that the user named by hand nothing is moved away that is none of ours."""
    found = read_json(places.state)
    is_one = found is not None and (not found or _shows_a_run(found))
    if places.is_named and os.path.lexists(places.state) and not is_one:
        raise SisyphusError(
            f"{places.state} is no state file of a run, so it is left as it is. Let "
            "RALPH_STATE_FILE name another one, or unset it."
        )


def _shows_a_run(found: Json) -> bool:
    """Whether a run wrote it, or somebody by hand for a loop of his own."""
    is_written = isinstance(found.get("loop_id"), str) and "context_history" in found
    named, iteration = found.get("task_name"), found.get("iteration")
    return is_written or (isinstance(named, str) and type(iteration) is int)


def unknown(found: Json, known: Json) -> Json:
    """The fields of others."""
    return {name: value for name, value in found.items() if name not in known}
