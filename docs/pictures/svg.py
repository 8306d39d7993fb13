"""A terminal's content as an SVG that needs nothing from elsewhere."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.terminal_theme import TerminalTheme

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.text import Text

COLUMNS = 96

_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_THEME = TerminalTheme(
    (30, 34, 42),
    (215, 218, 224),
    [
        (63, 68, 81), (224, 108, 117), (152, 195, 121), (229, 192, 123),
        (97, 175, 239), (198, 120, 221), (86, 182, 194), (171, 178, 191),
    ],
)  # fmt: skip
"""A dark ground of its own: the same on a light page and on a dark one."""

_FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: FONTS; font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-family: FONTS; font-size: 18px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
""".replace("FONTS", _FONTS)
"""That of rich loads a font from a content delivery network."""


def drawn(name: str, title: str, lines: Iterable[Text]) -> str:
    """The picture `name` of a terminal with that title and those lines."""
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False,
        color_system="truecolor", highlight=False, emoji=False, markup=False,
    )  # fmt: skip
    for line in lines:
        console.print(line)
    return console.export_svg(
        title=title, theme=_THEME, code_format=_FRAME, unique_id=f"sisyphus-{name}"
    )


def text_of(svg: str) -> list[str]:
    """What a picture says, line by line, without its blanks: how wide they are is the font's."""
    rows: dict[float, str] = {}
    picture = ET.fromstring(svg)  # noqa: S314  # our own
    for element in picture.iter("{http://www.w3.org/2000/svg}text"):
        row = float(element.get("y", "0"))
        rows[row] = rows.get(row, "") + re.sub(r"\s", "", element.text or "")
    return [text for _, text in sorted(rows.items()) if text]
