"""Writes docs/settings.md from the settings in the code."""

from __future__ import annotations

from pathlib import Path

from sisyphus.configuring.page import page

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"

if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
