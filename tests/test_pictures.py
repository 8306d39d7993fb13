"""The pictures of the README show what the real binary says today."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
sys.path.insert(0, str(PICTURES))

from make import picture  # noqa: E402
from plays import PLAYS  # noqa: E402
from svg import text_of  # noqa: E402


@pytest.mark.parametrize("name", PLAYS)
def test_a_picture_shows_what_the_binary_says(name: str) -> None:
    """Only what stands in it is compared: how it is drawn is up to rich's version."""
    kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")

    assert text_of(picture(name)) == text_of(kept), "`make docs` draws them anew"


@pytest.mark.parametrize("name", PLAYS)
def test_a_picture_needs_nothing_from_elsewhere_and_tells_of_nobodys_machine(name: str) -> None:
    kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")

    assert "http" not in kept.replace("http://www.w3.org/2000/svg", "")
    assert "/tmp" not in kept  # noqa: S108
    assert "/home/" not in kept


def test_nothing_but_the_scenes_is_kept() -> None:
    assert {path.stem for path in PICTURES.glob("*.svg")} == set(PLAYS)
