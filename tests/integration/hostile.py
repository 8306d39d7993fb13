"""What may stand where a hook expects a file, and how to make a disk that refuses."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SENTENCE = "The word that must not come out is Abracadabra."


def stand_in(path: Path, kind: str, outside: Path) -> None:
    """Puts something of `kind` where `path` is; `outside` is a file beyond the project."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    KINDS[kind](path, outside)


def _folder(path: Path, _: Path) -> None:
    (path / "inside").mkdir(parents=True)


def _large(path: Path, _: Path) -> None:
    path.touch()
    os.truncate(path, 3 << 30)


def _locked(path: Path, _: Path) -> None:
    path.write_text(SENTENCE, "utf-8")
    path.chmod(0)


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "a FIFO": lambda path, _: os.mkfifo(path),
    "a folder": _folder,
    "a link to a device without end": lambda path, _: path.symlink_to("/dev/zero"),
    "a link to a file outside": lambda path, outside: path.symlink_to(outside),
    "a link to nothing": lambda path, _: path.symlink_to("nowhere"),
    "a link to itself": lambda path, _: path.symlink_to(path.name),
    "3 GB of NUL bytes": _large,
    "latin-1": lambda path, _: path.write_bytes("# Größe\n- [ ] eins\n".encode("latin-1")),
    "random bytes": lambda path, _: path.write_bytes(bytes(range(256)) * 20),
    "one line of 900 KB": lambda path, _: path.write_text("- [ ] x" * 130_000, "utf-8"),
    "a file of one brace": lambda path, _: path.write_text("---\n{", "utf-8"),
    "a file nobody may read": _locked,
}


def no_rights() -> None:
    """Run in a child as root: makes permission bits count there, too."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        _LIBC.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


_LIBC = ctypes.CDLL(None)


def full_after(size: int) -> Callable[[], None]:
    """For a child: a file cannot grow over `size` bytes, as on a full disk."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit
