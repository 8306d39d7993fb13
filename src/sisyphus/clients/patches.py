"""The files that a patch of the tool `apply_patch` changes. On the quick path."""

from __future__ import annotations

from sisyphus.clients import values

_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")


def files(patch: str) -> list[str]:
    """Returns the files that a patch changes, as it names them."""
    lines = patch.split("\n") if patch else []
    found = (
        line[len(mark) :].strip() for line in lines for mark in _MARKS if line.startswith(mark)
    )
    return [name for name in found if values.path(name)]


def added(diff: str) -> str:
    """Returns the lines that a unified diff adds."""
    lines = diff.split("\n")
    return "\n".join(
        line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")
    )
