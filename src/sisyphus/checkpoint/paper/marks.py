"""Texts of strangers inside a Markdown document: none of them can end what it stands in. Pure."""

from __future__ import annotations

import re

from sisyphus.text import harmless, one_line, sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_TICKS = 3  # in a row, in a path or command that anybody would write
_SPAN = re.compile(r"`[^`]+`")


def text(said: str, characters: int = 300) -> str:
    """`said` on one line, no longer than that, its comments none.

    Its backticks are none either where they do not enclose code spans two by two.
    """
    shown = one_line(sound(said), characters).replace("<!--", "(!--")
    return shown.replace("`", "'") if "`" in _SPAN.sub("", shown) else shown


def cell(said: str, characters: int = 300) -> str:
    """The same for the cell of a table, which a bar would end."""
    return text(said, characters).replace("|", "\\|")


def code(said: str, characters: int = 300) -> str:
    """`said` on one line as a code span, whatever backticks it holds; "" for nothing."""
    shown = one_line(sound(said), characters)
    if not shown:
        return ""
    if _longest_run(shown) > _TICKS:
        shown = shown.replace("`", "'")
    ticks = "`" * (_longest_run(shown) + 1)
    edge = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def fence(said: str) -> str:
    """`said` as a block of code that nothing in it closes. A line of it is no heading either for
    whoever looks for headings without knowing of fences."""
    shown = re.sub(r"(?m)^(?=#)", " ", harmless(sound(said).replace("\t", "    ")).strip("\n"))
    marks = "`" * max(_longest_run(shown) + 1, 3)
    return f"{marks}text\n{shown}\n{marks}"


def quote(said: str) -> str:
    """`said` as a block quote, its lines kept."""
    lines = harmless(sound(said)).strip().splitlines()
    return "\n".join(f"> {line.rstrip()}".rstrip() for line in lines)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What `cell` has made of each."""
    ruler = ["-" * max(len(name), 3) for name in head]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ruler, *rows))


def _longest_run(said: str) -> int:
    return max(map(len, re.findall("`+", said)), default=0)
