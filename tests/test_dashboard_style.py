"""The colours of the dashboard, and its charts on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import Browser
from test_enforcing import DONE, configure
from world import World

from sisyphus.dashboard import app

AA = 4.5
"""The least contrast of small text: WCAG 2.2, success criterion 1.4.3."""

PHONE = 420
"""Pixels of a window. A chart of that width is shown as it is drawn, or a little smaller."""

CSS = (Path(app.__file__).parent / "static" / "style.css").read_text()
THEMES = {"light": 0, "dark by the system": 1, "dark by choice": 2}
SURFACES = ("ground", "panel", "raised")
PAIRS = [
    *((text, on) for text in ("text", "muted", "accent", "good", "bad", "warn", "calm")
      for on in SURFACES),
    *((name, f"{name}-soft") for name in ("accent", "good", "bad", "warn", "calm")),
    ("text", "calm-soft"), ("panel", "accent"),
]  # fmt: skip
"""Which text stands on what."""


def colours(theme: str) -> dict[str, str]:
    """The names of a theme → their colours, as six digits."""
    blocks = [each for each in re.findall(r"\{([^{}]*)\}", CSS) if "--ground" in each]
    found = dict(re.findall(r"--([\w-]+): #(\w+)", blocks[THEMES[theme]]))
    return {name: hex * 2 if len(hex) == 3 else hex for name, hex in found.items()}


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1, as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return sum(share * each for share, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read(theme: str) -> None:
    found = colours(theme)
    contrast = {}
    for text, on in PAIRS:
        dark, light = sorted(luminance(found[name]) for name in (text, on))
        contrast[text, on] = (light + 0.05) / (dark + 0.05)
    assert {pair: ratio for pair, ratio in contrast.items() if ratio < AA} == {}


def test_the_dark_themes_are_one() -> None:
    assert colours("dark by the system") == colours("dark by choice")


def test_a_chart_of_two_weeks_fits_a_phone(world: World, browser: Browser) -> None:
    world.cli("enforce", "on")
    configure(world, cooldown_seconds=0)
    world.start()
    world.stop(DONE)

    text = browser.get("/enforcement").text
    widths = [int(width) for width in re.findall(r'<svg viewBox="0 0 (\d+) ', text)]
    assert widths
    assert max(widths) <= PHONE
