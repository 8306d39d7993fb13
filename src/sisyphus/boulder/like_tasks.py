"""Finds lines that somebody meant as an open task and that are none: with a box in a heading, in
bold, in a table, without a bullet, with a blank too many, or drawn as another character.

Pure, one line at a time. `plan.py` asks it about the few lines that have a character of a box.
"""

import re

_SQUARES = "☐□▢◻⬜🔲◽▫❏❐❑❒⎕⬚▯🗆🞎"

_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\ufe0e\ufe0f"))
"""Characters that nobody sees. They keep a line from being a list item, or follow a square."""

_BLANK = r"(?:\\?\[\s++\\?\](?![(\[]|:\s*(?:<|\w+:/))|[［【〔]\s*+[\]］】〕]|\[\s*+[］】〕])"
_EMPTY = r"(?:\\?\[\\?\](?![(\[\w.:]))"
_MARKED = r"(?:\\?\[(?:\s++[xX!/>~]\s*|[xX!/>~]\s++)\](?![(\[])|\[[/>~]\](?=[\s*_~]|$))"
_SQUARE = rf"[{_SQUARES}]"
"""Boxes: with blanks alone, with nothing, with a mark and blanks or of a task in progress."""

_BULLET = (
    r"(?:[-+•·‣◦●○■◆▪▸►→➜–—−‐‑・]|#{1,6}|[①-⑳]"
    r"|[(（]?(?:[0-9０-９]{1,9}|[A-Za-z]|[一二三四五六七八九十]{1,3})[.):．）、：]"
    rf"|(?![{_SQUARES}])[\u2600-\u27bf\U0001f300-\U0001faff])"
)
_MARGIN = rf"[\s*_~>]*+(?:{_BULLET}[\s*_~]*+){{0,5}}+"
"""What may stand before a box: bullets of any kind, bold, headings, an emoji. Nothing is tried
twice: a banner of asterisks would take hours."""

_FIRST_BOX = re.compile(rf"{_MARGIN}(?:{_BLANK}|{_EMPTY}|{_MARKED}|{_SQUARE})")
_CELL_BOX = re.compile(
    r"(?:(?:[-*+•]|[0-9]{1,9}[.)])\s++)?+[*_~]*+"
    rf"(?:{_EMPTY}(?=[*_~]*$)|(?:{_BLANK}|{_MARKED}|{_SQUARE})(?=[\s*_~]|$))"
)
"""The start of a table's cell, or of a ticked task's text. What is no more than `[]` may be a type
or a value, unless it stands alone."""

_DONE_CELL = re.compile(r"\\?\[[xX!/>~-]\\?\]|[☑☒✅✔]")
"""A cell of a legend with another box than an open one."""

_LABEL_BOX = re.compile(
    rf"{_MARGIN}(?:(?:(?:Task|Step|Phase|Item) )?[A-Z]{{0,4}}[0-9.]++[:.)]?"
    r"|[^\W\d_]{1,20} ?[0-9.]++[:：])"
    rf"[*_]*+(?:\s++|(?<=：))(?:[–—-]\s++)?(?:{_BLANK}|{_SQUARE})(?:\s|$)"
)
"""A box behind a label, as in `T001 [ ] a` or `Étape 2: [ ] a`."""

_LAST_BOX = (
    r"(?!.*(?:\[[xX]\]|[☑✅=])).*(?<! is)(?<! as)(?<! to)"
    rf"\s(?:\\?\[\s\\?\]|{_SQUARE})$"
)
"""A box at the end of a line. Not of one that explains boxes, with another one or as a value."""

_LAST_IN_ITEM = re.compile(rf"(?:[-*+•]|[0-9]{{1,9}}[.)]|#{{1,6}})\s++{_LAST_BOX}")
_LAST_IN_CELL = re.compile(_LAST_BOX)

_OPEN = (
    "not started|not done|not yet|undone|unfinished|incomplete|unchecked|open|to[ -]?do|pending"
    "|planned|offen|nicht begonnen|ouvert|à faire|pendiente|abierto|pendente|aberto|da fare"
    "|aperto|te doen|do zrobienia|не начато|открыто"
    "|待办|未开始|未完成|待處理|未着手|未完了|未対応|미완료|대기"
)
_MEANING = re.compile(
    rf"[\s*_~`]*+(?:=|(?:means|stands for)\s++(?:an?|the|not|no|empty|{_OPEN})\b"
    rf"|[:：–—-]?\s*+(?:{_OPEN})(?: tasks?| items?)?"
    rf"[\s*_~`,;.|/·]*+(?:$|[\[［{_SQUARES}☑☒✅✔]))",
    re.IGNORECASE,
)
"""What follows a box that a legend explains: `[ ] = open`, `☐ open, ☑ done`."""


def is_like_open_task(line: str) -> bool:
    """Tells whether a line that is no task looks like an open one."""
    text = line.translate(_UNSEEN).strip()
    if "|" in text and _has_open_cell([cell.strip() for cell in text.split("|")]):
        return True
    if box := _FIRST_BOX.match(text):
        return not _MEANING.match(text, box.end())
    return bool(_LABEL_BOX.match(text) or _LAST_IN_ITEM.match(text))


def begins_with_open_box(text: str) -> bool:
    """Tells whether the text of a ticked task begins with an open box: it has two."""
    return _CELL_BOX.match(text.translate(_UNSEEN)) is not None


def _has_open_cell(cells: list[str]) -> bool:
    """Tells whether a row of a table, which is no legend, has a cell with an open box."""
    return any(map(_is_open_cell, cells)) and not _is_legend([cell for cell in cells if cell])


def _is_open_cell(cell: str) -> bool:
    return bool(_CELL_BOX.match(cell) or _LAST_IN_CELL.match(cell))


def _is_legend(cells: list[str]) -> bool:
    """Tells whether the cells of a row are a box and its meaning, or each of them is both."""
    mark, *meaning = cells
    box = _CELL_BOX.match(mark)
    if box and box.end() == len(mark):
        return len(meaning) == 1 and _MEANING.match(meaning[0]) is not None
    return all(_DONE_CELL.match(cell) or _is_explained(cell) for cell in cells)


def _is_explained(cell: str) -> bool:
    box = _CELL_BOX.match(cell)
    return box is not None and _MEANING.match(cell, box.end()) is not None
