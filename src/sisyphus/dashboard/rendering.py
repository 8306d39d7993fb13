"""The templates, and how they spell what is shown."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sisyphus import __version__
from sisyphus.numbers import MOST
from sisyphus.paths import display
from sisyphus.text import sound
from sisyphus.times import duration, epoch, iso, local

HERE = os.path.dirname(os.path.abspath(__file__))

_MINUTES = "%Y-%m-%d %H:%M"
_THOUSAND, _MINUTE = 1_000, 60
_SIGNS = (("G", 10**9), ("M", 10**6), ("k", 10**3))
_UNKNOWN = "\N{EN DASH}"

_BACKTICKS = re.compile("`([^`]+)`")


def moment(value: object) -> float:
    """Epoch seconds of an ISO time or of epoch seconds; 0 for whatever is no time."""
    if isinstance(value, str):
        return epoch(value)
    return value if isinstance(value, (int, float)) else 0


def clock(value: object) -> str:
    return local(moment(value), _MINUTES)


def utc(value: object) -> str:
    found = moment(value)
    return iso(found) if local(found) else ""


def number(value: object) -> str:
    """`12,345`; a dash where nothing is known."""
    found = _figure(value)
    return _UNKNOWN if found is None else f"{found:,.1f}".removesuffix(".0")


def short(value: object) -> str:
    """`12.3 k`, `4.5 M`, `1.2 G`: a count where there is little room."""
    found = _figure(value)
    if found is None:
        return _UNKNOWN
    if round(found) < 10 * _THOUSAND:
        return f"{found:,.0f}"
    rounded = _rounded(found)
    sign, unit = next((sign, unit) for sign, unit in _SIGNS if rounded >= unit)
    return f"{_spelled(rounded / unit)} {sign}"


def percent(value: object) -> str:
    """Of a part of one."""
    found = _figure(value)
    return _UNKNOWN if found is None else f"{found:.0%}"


def milliseconds(value: object) -> str:
    found = _figure(value)
    if found is None:
        return _UNKNOWN
    rounded = _rounded(found)
    if rounded < _THOUSAND:
        return f"{_spelled(rounded)} ms"
    whole = rounded / _THOUSAND
    return f"{_spelled(whole)} s" if whole < _MINUTE else duration(found / _THOUSAND)


def seconds(value: object) -> str:
    found = _figure(value)
    return _UNKNOWN if found is None else duration(found)


def counted(value: object, noun: str) -> str:
    """`1 loop`, `12 loops`."""
    return f"{short(value)} {noun}{'s' * (_figure(value) != 1)}"


def ago(value: object, now: float) -> str:
    """`2 h 3 min ago`, to the minute; a dash where nothing is known. `now` in epoch seconds."""
    found = moment(value)
    if not local(found):
        return _UNKNOWN
    minutes = (now - found) // _MINUTE
    return f"{duration(minutes * _MINUTE)} ago" if minutes > 0 else "just now"


def coded(value: object) -> Markup:
    """What stands between backticks is code."""
    parts = _BACKTICKS.split(str(value))
    code = Markup("<code>{}</code>")
    return Markup().join(code.format(x) if n % 2 else escape(x) for n, x in enumerate(parts))


def place(value: object) -> str:
    """A path, `~/…` in the home folder."""
    path = str(value or "")
    return display(path, path)


def segment(value: object) -> str:
    """As a part of a path."""
    return quote(sound(str(value)), safe="")


def _figure(value: object) -> float | None:
    """None for whatever is no number, or none that somebody could mean: files may hold `NaN`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if -MOST < value < MOST else None


def _rounded(value: float) -> float:
    """To three digits: before a unit is chosen, so that none is full of itself (`1,000 ms`)."""
    return float(f"{value:.3g}")


def _spelled(value: float) -> str:
    """With up to two decimal places."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(os.path.join(HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: sound(value) if type(value) is str else value,
    )
    made.filters |= {
        "clock": clock, "utc": utc, "number": number, "short": short, "percent": percent,
        "milliseconds": milliseconds, "seconds": seconds, "segment": segment, "coded": coded,
        "place": place, "counted": counted, "ago": ago,
    }  # fmt: skip
    made.globals["version"] = __version__
    return made


TEMPLATES = _environment()
