"""What can be read in both themes, computed from the style sheet's own colours.

Contrast is that of WCAG 2.2, section 1.4.3: 4.5 for text of ordinary size, 3 for what is no text.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sisyphus.dashboard.rendering import HERE

STYLE = (Path(HERE) / "static" / "style.css").read_text(encoding="utf-8")
TEXT, SHAPE = 4.5, 3.0
SURFACES = ("ground", "panel", "raised")
SOFT = [("accent", "accent-soft"), ("good", "good-soft"), ("bad", "bad-soft"),
        ("warn", "warn-soft"), ("calm", "calm-soft")]  # fmt: skip


def _values(selector: str) -> dict[str, str]:
    """The custom properties that a block sets."""
    block = STYLE[STYLE.index(selector + " {") :].partition("}")[0]
    return dict(re.findall(r"--([a-z-]+): ([^;]+);", block))


LIGHT = _values(":root")
DARK = _values(':root[data-theme="dark"]')
THEMES = [pytest.param(LIGHT, id="light"), pytest.param(DARK, id="dark")]

ON_SURFACES = [(text, on) for on in SURFACES for text in ("text", "muted", "accent")]
COLOURS_ON_PANELS = [(name, on) for on in ("panel", "raised") for name, _ in SOFT]
BUTTONS = [("panel", "accent"), ("panel", "bad")]


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(c * share for c, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("text", "on"), [*ON_SURFACES, *COLOURS_ON_PANELS, *SOFT, *BUTTONS])
def test_text_can_be_read(theme: dict[str, str], text: str, on: str) -> None:
    assert _contrast(theme[text], theme[on]) >= TEXT


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("on", SURFACES)
def test_the_focus_can_be_seen(theme: dict[str, str], on: str) -> None:
    assert "outline: 2px solid var(--accent)" in STYLE
    assert _contrast(theme["accent"], theme[on]) >= SHAPE


def test_both_ways_to_the_dark_theme_lead_to_the_same_one() -> None:
    assert _values(':root:not([data-theme="light"])') == DARK
    assert set(DARK) == set(LIGHT)


def test_every_colour_that_is_used_is_there() -> None:
    assert set(re.findall(r"var\(--([a-z-]+)", STYLE)) <= set(LIGHT)


def test_whoever_wants_no_motion_has_none() -> None:
    calm = STYLE[STYLE.index("prefers-reduced-motion") :]
    moving = re.findall(r"^\.(\w+) \{[^}]*animation: (?!none)", STYLE, re.MULTILINE)
    assert moving
    assert all(f".{name} {{ animation: none; }}" in calm for name in moving)


def test_nothing_is_fetched_from_elsewhere() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
