"""Files that other programs may read, written from the memory after the commit.

Nobody of ours reads them back. A file is whole or not there. Of two writers the one that committed
last writes last: each renders its file from the memory while no other can change that.
"""

from __future__ import annotations

import os

from sisyphus.state import debug
from sisyphus.state.files import ensure_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.memory import Memory


def write(memory: Memory, path: str, render: Callable[[], bytes]) -> None:
    """Writes the file at `path` anew. What fails is logged: the memory has what counts."""
    try:
        ensure_folder(os.path.dirname(path))
        with memory.transaction():
            _replace(path, render())
    except Exception as error:  # noqa: BLE001  # the event itself is answered by now
        debug.log(f"not written: {path}: {type(error).__name__}: {error}")


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.tmp"
    if os.path.lexists(temporary):  # a killed writer's, or a link to lead us astray
        os.unlink(temporary)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(temporary, path)
