"""How much of the context an item of work is likely to take. Pure.

    Trivial       under 50 lines     5-10 %   at most 10 in one iteration
    Simple        50-150            10-20 %   5
    Medium        150-300           20-40 %   3
    Complex       over 300          40-60 %   1
    Very Complex                    60 %+     must be split

What an item says of its size counts: `(complex)`, `size: medium`, `[S]`, `~200 LOC`, `200 lines`.
Else its words decide (`WORDS`; the largest wins), and many files or parts make it larger: four of
them by one step, ten by two. An item that says nothing is Medium.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TRIVIAL, SIMPLE, MEDIUM = "Trivial", "Simple", "Medium"
COMPLEX, VERY_COMPLEX = "Complex", "Very Complex"

NAMES = (TRIVIAL, SIMPLE, MEDIUM, COMPLEX, VERY_COMPLEX)

_TABLE = {
    TRIVIAL: (5, 10, 10),
    SIMPLE: (10, 20, 5),
    MEDIUM: (20, 40, 3),
    COMPLEX: (40, 60, 1),
    VERY_COMPLEX: (60, 100, 0),
}
"""Name -> the least and the most percent of the context, and the most items in an iteration."""

_LINES = ((50, TRIVIAL), (151, SIMPLE), (301, MEDIUM), (601, COMPLEX))
"""Below so many lines. An item of twice the lines that make one Complex is two of them."""

_LETTERS = {
    "XS": TRIVIAL, "S": SIMPLE, "M": MEDIUM, "L": COMPLEX, "XL": VERY_COMPLEX, "XXL": VERY_COMPLEX,
}  # fmt: skip

_SIZES = "trivial|simple|medium|very[ -]complex|complex"
_NAMED = rf"(?i)[(\[]({_SIZES})[)\]]|\b(?:size|complexity): *({_SIZES})\b"
_LETTERED = r"[(\[](X?S|M|X{0,2}L)[)\]]|\b[Ss]ize: *(X?S|M|X{0,2}L)\b"
_COUNTED = r"(?i)~?\b(\d{1,7})(?: *(?:-|to) *(\d{1,7}))? *(?:loc|lines(?: of code)?)\b"

WORDS = {
    VERY_COMPLEX: "rewrite?|overhaul|from scratch|entire (?:codebase|project|system|app)",
    COMPLEX: "refactor|redesign|restructure?|migrate?|integrate?|parallelize?|architecture",
    MEDIUM: "implement|build|create?|support|introduce?|convert|replace?|extend",
    TRIVIAL: "typo|rename?|bump|reword|spelling|whitespace|comment|changelog|format",
    SIMPLE: "fix|add|update?|remove?|delete?|document|log|check|adjust|change?",
}
"""What an item's words make of it; the first row with one of them decides. Trivial stands above
Simple, for it is `fix` that is said of a typo."""

_ENDINGS = "(?:s|es|d|ed|ing)?"
_THINGS = "(?:files?|modules?|components?|endpoints?|tables?|screens?|pages?|tests?|parts?)"
_CODE = "py|pyi|js|jsx|ts|tsx|go|rs|java|rb|c|h|cc|cpp|cs|php|css|html|sql|md|sh"
_FILE = rf"(?<![\w./-])[\w./-]*\w\.(?:{_CODE})\b"
_MANY, _VERY_MANY = 4, 10
_READ_CHARACTERS = 500

LEAST_COSTS = 3
"""Items of a size that were done before it is known what they take."""

_HOLDS = 75
"""Percent that an iteration has for items: three Medium ones of 25 %."""

_TOO_MUCH = 60
_LEAST_SPREAD = 0.1


class Estimate:
    """What an item takes: `low` to `high` percent of the context; `most_items` such ones fit into
    one iteration (0 = it must be split first). `why` names what it was judged by."""

    __slots__ = ("high", "low", "most_items", "name", "why")

    def __init__(self, name: str, low: int, high: int, most_items: int, why: str) -> None:
        self.name = name
        self.low = low
        self.high = high
        self.most_items = most_items
        self.why = why

    @property
    def percent(self) -> int:
        """In one number: the middle of the range, but not more than as many items as an iteration
        takes have room for."""
        middle = (self.low + self.high) // 2
        return min(middle, _HOLDS // self.most_items) if self.most_items else middle


def estimate(item: str) -> Estimate:
    """By its marks, else by its words and the files or parts it names, else Medium."""
    text = item[:_READ_CHARACTERS]
    name, why = _marked(text)
    if not name:
        name, why = _worded(text)
    return Estimate(name, *_TABLE[name], why)


def refine(estimate: Estimate, costs: Sequence[tuple[str, float]]) -> Estimate:
    """With what items of that size took in this run: (complexity's name, percent of the context).

    From three of them on their median and spread (twice the median deviation, at least a tenth of
    the median) stand in the place of the table's range.
    """
    own = [cost for name, cost in costs if name == estimate.name and cost > 0]
    if len(own) < LEAST_COSTS:
        return estimate
    middle = _median(own)
    spread = max(2 * _median([abs(cost - middle) for cost in own]), _LEAST_SPREAD * middle)
    low, high = max(round(middle - spread), 1), max(round(middle + spread), 1)
    most = 0 if middle >= _TOO_MUCH else min(max(int(_HOLDS / max(middle, 1)), 1), 10)
    return Estimate(estimate.name, low, high, most, f"{len(own)} earlier items of that size")


def fits(estimate: Estimate, percent_left: float) -> bool:
    """Whether the item is likely to be done in `percent_left` percent of the context."""
    return not must_split(estimate) and estimate.percent <= percent_left


def must_split(estimate: Estimate) -> bool:
    """Whether the item is too large for a context of its own."""
    return estimate.most_items == 0


def _marked(text: str) -> tuple[str, str]:
    """What the item says of its size, and in which words; ("", "") = nothing."""
    if found := re.search(_NAMED, text):
        return (found[1] or found[2]).replace("-", " ").title(), found[0]
    if found := re.search(_LETTERED, text):
        return _LETTERS[found[1] or found[2]], found[0]
    if found := re.search(_COUNTED, text):
        lines = int(found[2] or found[1])
        return next((name for most, name in _LINES if lines < most), VERY_COMPLEX), found[0]
    return "", ""


def _worded(text: str) -> tuple[str, str]:
    name, why = MEDIUM, "nothing in it tells more"
    for named, words in WORDS.items():
        if found := re.search(rf"(?i)\b(?:{words}){_ENDINGS}\b", text):
            name, why = named, f'"{found[0].lower()}"'
            break
    count = _parts(text)
    steps = (count >= _MANY) + (count >= _VERY_MANY)
    if not steps:
        return name, why
    larger = NAMES[min(NAMES.index(name) + steps, len(NAMES) - 1)]
    return larger, f"{why}, {count} files or parts"


def _parts(text: str) -> int:
    """How many files or parts an item is about: those it names, or the number it gives."""
    files = set(re.findall(_FILE, text))
    numbers = re.findall(rf"(?i)\b(\d{{1,4}}) (?:\w+ )?{_THINGS}\b", text)
    return max([len(files), _listed(text), *map(int, numbers)])


def _listed(text: str) -> int:
    """Three for `a, b and c`; 0 where nothing is listed."""
    head, joint, _ = text.partition(" and ")
    commas = re.split(r"[;:]|\. ", head)[-1].rstrip(" ,").count(",")
    return commas + 2 if joint and commas else 0


def _median(values: Sequence[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
