"""At Stop: may anything hold the session? Most sessions end here, before what decides is loaded."""

from __future__ import annotations

import os

from sisyphus.arbiter.situation import ALLOW, NO_LOOP
from sisyphus.boulder import enforcement
from sisyphus.clients import client_named
from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.quick_json import loads
from sisyphus.reading import open_regular
from sisyphus.session import client_process
from sisyphus.workspace import ENFORCEMENT, run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

READ_BYTES = 256_000
"""More of a transcript is looked through, and noted as read, by what decides."""


def on_stop(payload: Payload, space: Workspace) -> Outcome | None:
    """Lets a session stop that nothing holds; wherever that is not plain, the arbiter decides."""
    try:
        is_free = _is_free(payload, space)
    except (OSError, SisyphusError, ValueError, TypeError, AttributeError, RecursionError):
        is_free = False
    if is_free:
        if client_named(space.client).HAS_PROCESS:
            client_process.bind(space.ours, payload.session)
        return Outcome(notes=[f"{ALLOW}: {NO_LOOP}"])
    from sisyphus.arbiter import hooks

    return hooks.on_stop(payload, space)


def _is_free(payload: Payload, space: Workspace) -> bool:
    is_special = payload.is_subagent or payload.plans_only or run_id() or not payload.session
    if is_special or payload.background or payload.crons:
        return False
    if not space.settings.get("ralph.enabled") or os.path.lexists(space.project_file(ENFORCEMENT)):
        return False
    if enforcement.asked_for(space, payload.session) is not None:
        return False
    folder = os.path.join(space.ours, "ralph", "loops")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    if any(name.startswith(f"ralph-loop.{payload.session}.") for name in names):
        return False
    memory = {}
    if f"session-{payload.session}.json" in names:
        with open(os.path.join(folder, f"session-{payload.session}.json"), "rb") as file:
            memory = loads(file.read())
    is_read = memory.get("transcript") == payload.transcript
    offset = memory.get("offset", 0) if is_read else 0
    return not memory.get("news") and _starts_nothing(payload.transcript, offset)


def _starts_nothing(transcript: str, offset: int) -> bool:
    """Whether the little that is new in the transcript can start no loop."""
    if not os.path.exists(transcript):
        return True
    with open_regular(transcript) as file:
        if not 0 <= offset <= os.fstat(file.fileno()).st_size <= offset + READ_BYTES:
            return False
        file.seek(offset)
        return b"ralph" not in file.read()
