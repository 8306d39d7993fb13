"""What an installation or a removal would do, from what is on disk; nothing is changed here."""

from __future__ import annotations

from dataclasses import dataclass, field

from sisyphus.install import found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.folders import Left
    from sisyphus.install.found import Found
    from sisyphus.install.place import Place

INSTALL, UNINSTALL = "install", "uninstall"

WRITE = "write"
UPDATE = "update"
REPLACE = "replace"
EDIT = "edit"  # somebody else's file, of which a part is ours
REMOVE = "remove"
KEEP = "keep"  # ours, but not touched
SKIP = "skip"  # somebody else's
SAME = "same"


@dataclass(frozen=True)
class Step:
    """`keep`: contents that are to be found again after the file was changed."""

    path: str
    action: str
    before: Found
    after: bytes | None = None
    why: str = ""
    keep: tuple[bytes, ...] = ()

    @property
    def is_change(self) -> bool:
        return self.action in (WRITE, UPDATE, REPLACE, EDIT, REMOVE)


@dataclass(frozen=True)
class Plan:
    """`make` and `drop` are folders, in the order in which they are made or removed; `left` are
    folders of ours that are not empty -> what is in them. `record`: what is noted beside files and
    folders. `parts`: those that are there then; `offers`: those that are not and could be.
    `twice_by`: the settings file by which every hook will run a second time."""

    verb: str
    place: Place
    steps: tuple[Step, ...]
    make: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    left: Left = ()
    notes: tuple[str, ...] = ()
    record: Json = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    twice_by: str = ""

    @property
    def changes(self) -> list[Step]:
        return [step for step in self.steps if step.is_change]

    @property
    def edited(self) -> list[Step]:
        """Files of ours that were edited and are not touched."""
        return [s for s in self.steps if s.action == KEEP and s.before.kind == found.EDITED]
