"""Rule files, with nothing in them but what a test is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.rules.discover import Found
from sisyphus.rules.sources import CLAUDE

if TYPE_CHECKING:
    from pathlib import Path


def a_rule(*keys: str, body: str = "- Be kind.\n") -> str:
    """The text of a rule file with these lines of frontmatter."""
    return "".join(f"{line}\n" for line in ("---", *keys, "---")) + "\n" + body


def found(path: Path, root: Path, source: int = CLAUDE, bounds: str | None = None) -> Found:
    """`path` as the walk hands it over: a file of the project at `root`, unless said otherwise."""
    return Found(str(path), source, str(root), str(root) if bounds is None else bounds)
