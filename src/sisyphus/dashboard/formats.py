"""How the dashboard writes numbers, times and texts. All of them are filters of its templates."""

from __future__ import annotations

import time
from datetime import datetime

from markdown_it import MarkdownIt
from markupsafe import Markup

from sisyphus.boulder.evidence import counts
from sisyphus.boulder.messages import failed
from sisyphus.ground.paths import display
from sisyphus.runner.report import short_cost, short_count, short_time
from sisyphus.sessions.messages import short

_MINUTE, _HOUR, _DAY = 60, 3600, 24 * 3600
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_MARKDOWN.disable("image")  # a picture of a stranger's would tell them who looks at it

_LONGEST = 200_000
"""The most characters of a text that is rendered as Markdown; what is longer is shown as it is."""


def ago(moment: float) -> str:
    """Returns how long ago a moment is: `now`, `3 min ago`, `2 h ago`, `5 days ago`."""
    seconds = time.time() - moment
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)} min ago"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)} h ago"
    days = int(seconds // _DAY)
    return f"{days} day{'' if days == 1 else 's'} ago"


def clock(moment: float) -> str:
    """Returns a local time of this machine: `2026-03-01 22:11:09`."""
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M:%S")


def when(moment: float) -> str:
    """Returns the time of a moment, with its day if that is not today: `03:33`, `Sun 01, 03:33`."""
    at, now = datetime.fromtimestamp(moment), datetime.now()
    days = f"{at:%a %d}, " if at.date() != now.date() else ""
    return f"{days}{at:%H:%M}"


def day(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%a %d")


def iso(moment: float) -> str:
    return datetime.fromtimestamp(moment).astimezone().isoformat(timespec="seconds")


def place(path: str) -> str:
    """Returns a path as people write it: `~/code/shop`."""
    return display(path, "")


def markdown(text: str) -> Markup:
    """Returns a stranger's Markdown as HTML. HTML in it stays text, pictures stay links, and links
    that run something are none."""
    if len(text) > _LONGEST:
        return Markup("<pre>{}</pre>").format(text)
    return Markup(_MARKDOWN.render(text))


FILTERS = {
    "ago": ago, "clock": clock, "day": day, "when": when, "iso": iso, "place": place,
    "markdown": markdown, "count": short_count, "dollars": short_cost, "duration": short_time,
    "short": short, "tally": counts, "failing": failed,
}  # fmt: skip
