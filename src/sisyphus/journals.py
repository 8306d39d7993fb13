"""The journals that there are. The name of a session is whatever a file is called: only those that
could be an id count."""

from __future__ import annotations

import os
import stat

from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_START, _END = "journal-", ".jsonl"


def listed(folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Session, path and state of each journal in `folder`; what cannot be asked is passed over."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        session = name[len(_START) : -len(_END)]
        if name == f"{_START}{session}{_END}" and is_safe_id(session):
            path = os.path.join(folder, name)
            state = _state(path)
            if state and stat.S_ISREG(state.st_mode):
                yield session, path, state


def _state(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # gone meanwhile, or a link to nowhere
        return None
