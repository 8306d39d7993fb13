"""What a fresh-context run says of the iteration that this hook belongs to."""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.quick_json import loads
from sisyphus.reading import read_text
from sisyphus.state.files import read_json
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

STATE_FILE = os.path.join(".claude", "ralph-state.json")
STATE_BYTES = 4_000_000


def state(space: Workspace) -> Json:
    """What is known of this very run; {} = nothing. The runner's own record comes first: what lies
    in the project may have been rewritten there."""
    named = run_id()
    if not named:
        return {}
    records = os.path.join(space.ours, "ralph", "runs")
    found = [read_json(path) or {} for path in _files(records)] + [read_state(space.root)]
    return next((run for run in found if run.get("loop_id") == named), {})


def _files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.endswith(".json")]


def read_state(root: str) -> Json:
    """What the state file of the project's fresh-context run holds, {} where that is nothing."""
    try:
        found = loads(read_text(os.path.join(root, STATE_FILE), STATE_BYTES, root))
    except (UnreadableError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
