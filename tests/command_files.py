"""Command files as the client's commands folder holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from sisyphus.install import marks

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "---\ndescription: A command\n---\n\nDo $ARGUMENTS\n"


def put_ours(folder: Path, name: str) -> Path:
    """As `sisyphus install` writes it; `folder` has the client's `commands`."""
    return put(folder / "commands" / f"{name}.md", marks.marked(TEXT, "0.1.0"))


def put_foreign(folder: Path, name: str) -> Path:
    return put(folder / "commands" / f"{name}.md", TEXT)


def put_skill(folder: Path, name: str) -> Path:
    return put(folder / "skills" / name / "SKILL.md", TEXT)
