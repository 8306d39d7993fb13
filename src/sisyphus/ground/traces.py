"""What lies beside the database and says that a session should go on: the state file of its loop,
and `hold.json` and `enforce.json` of its project. They are written for other programs, too. By them
a Stop sees what the database has lost.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, paths
from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Traces(Record):
    """The files that are there: of a session's loop, of the holds of its project, and of
    enforcement that is on in it; "" for each that is not so."""

    loop: str
    hold: str
    enforcement: str

    def __iter__(self) -> Iterator[str]:
        return iter((self.loop, self.hold, self.enforcement))


def loops_folder(our_home: str) -> str:
    return os.path.join(our_home, "ralph", "loops")


def loop_file(our_home: str, session: str) -> str:
    """session: its id, or `*` for a pattern of all of them."""
    return os.path.join(loops_folder(our_home), f"ralph-loop.{session}.local.md")


def hold_file(our_home: str, project: str) -> str:
    return os.path.join(paths.project_folder(our_home, project), "hold.json")


def enforcement_file(our_home: str, project: str) -> str:
    return os.path.join(paths.project_folder(our_home, project), "enforce.json")


def find(our_home: str, project: str, session: str) -> Traces:
    loop = loop_file(our_home, session)
    hold = enforcement = ""
    if os.path.lexists(paths.projects_folder(our_home)):
        hold, enforcement = hold_file(our_home, project), enforcement_file(our_home, project)
    return Traces(
        loop if os.path.lexists(loop) else "",
        hold if os.path.lexists(hold) else "",
        enforcement if enforcement and _is_on(enforcement) else "",
    )


def _is_on(enforcement: str) -> bool:
    """Reads no JSON: every Stop asks."""
    text = files.tail(enforcement, 1000)  # it has 200 bytes
    return b'"status": "' in text and b'"status": "OFF"' not in text
