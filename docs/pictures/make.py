"""Draws the pictures of the README anew, from what the real binary says: `make docs`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from plays import PLAYS  # noqa: E402
from svg import COLUMNS, drawn  # noqa: E402
from theatre import Theatre  # noqa: E402


def picture(name: str) -> str:
    """The SVG of one scene, played in a temporary home and project."""
    title, play = PLAYS[name]
    with tempfile.TemporaryDirectory(prefix="sisyphus-picture-") as folder:
        theatre = Theatre(Path(folder).resolve(), COLUMNS)
        play(theatre)
    return drawn(name, title, theatre.lines)


def main() -> None:
    for name in sys.argv[1:] or PLAYS:
        (HERE / f"{name}.svg").write_text(picture(name), encoding="utf-8")


if __name__ == "__main__":
    main()
