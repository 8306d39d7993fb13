"""One look at a plan file: is it there, can it be read, what does it say."""

from __future__ import annotations

import os
import time
from binascii import crc32

from sisyphus.boulder.discover import stamp_of
from sisyphus.boulder.parser.names import plan_name
from sisyphus.boulder.parser.plan import Plan, parse
from sisyphus.errors import UnreadableError
from sisyphus.paths import display
from sisyphus.reading import PLAN_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from sisyphus.boulder.discover import Stamp

    State = Literal["missing", "unreadable", "no_tasks", "complete", "open"]

PLAN_LINES = 600_000
"""Lines cost time where characters do not: 5 MB of `-` and line ends took 3 s."""

_LINE_COST = PLAN_BYTES // PLAN_LINES

_SETTLED_SECONDS = 0.1
_TRIES = 5

_NOTHING = Plan("", ())


class Look:
    """What was seen of a plan file. `plan` is an empty one unless the file could be read."""

    __slots__ = ("crc", "lines", "name", "path", "plan", "problem", "root", "stamp")

    def __init__(self, path: str, root: str) -> None:
        self.path = path
        self.root = root
        self.stamp: Stamp | None = stamp_of(path)  # before the text, so that no change is missed
        self.plan = _NOTHING
        self.problem = ""  # why it could not be read
        self.crc = 0  # of the text
        self.lines = 0
        if self.stamp:
            self._read()
        self.name = plan_name(self.plan.title, path, root)

    def _read(self) -> None:
        try:
            text = self._text()
        except UnreadableError as error:
            self.problem = str(error)
            return
        self.crc = crc32(text.encode())
        self.plan = parse(text)

    def _text(self) -> str:
        is_below = self.path.startswith(self.root.rstrip(os.sep) + os.sep)
        text = read_text(self.path, PLAN_BYTES, inside=self.root if is_below else "")
        self.lines = text.count("\n") + text.count("\r")
        if self.lines > PLAN_LINES:
            raise UnreadableError(f"{self.path}: too large (over {PLAN_LINES:,} lines)")
        return text

    @property
    def state(self) -> State:
        if self.stamp is None:
            return "missing"
        if self.problem:
            return "unreadable"
        if not self.plan.has_tasks:
            return "no_tasks"
        return "complete" if self.plan.is_complete else "open"

    @property
    def changed_at(self) -> float:
        """When the file was changed, in epoch seconds; infinity for just now."""
        return self.stamp[0] / 1e9 if self.stamp and self.stamp[0] else float("inf")

    @property
    def place(self) -> str:
        """The path as people read it."""
        return display(self.path, self.root)


def settled(look: Look) -> Look:
    """`look` itself, or one of when the file was not being written any more.

    A writer that does not replace the file at once leaves its beginning for a moment: a plan whose
    first half is done looks complete then.
    """
    for _ in range(_TRIES):
        if time.time() - look.changed_at > _SETTLED_SECONDS:
            break
        time.sleep(_SETTLED_SECONDS)
        again = Look(look.path, look.root)
        if again.crc == look.crc and again.state == look.state:
            return again
        look = again
    return look


def affordable(plans: dict[str, Stamp], root: str) -> Iterator[Look]:
    """Looks at as many of `plans`, in their order, as one hook has the time for: 5 MB of them,
    or as many lines as one plan may have."""
    left = PLAN_BYTES
    for path, (_, size) in plans.items():
        if min(size, PLAN_BYTES) > left:
            return
        look = Look(path, root)
        left -= max(size, look.lines * _LINE_COST)
        yield look
