"""The line by which a file of ours is known again: the version that wrote it, and a checksum of
the rest, so that an edited file is told from an untouched one wherever it was copied to.

`// sisyphus 0.1.0 0123456789abcdef …` is the first line of a script; in Markdown, where it would
be part of the prompt, `# sisyphus …` is a comment below the frontmatter's opening line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SAYS = "written by `sisyphus install`, removed by `sisyphus uninstall`"
_LINE = re.compile(rb"(?://|#) sisyphus ([0-9][\w.+!-]{0,40}) ([0-9a-f]{16}) ")
_LOOKED_AT = 2  # the mark is the first line or the second


@dataclass(frozen=True)
class Mark:
    version: str
    intact: bool


def marked(text: str, version: str) -> bytes:
    """A file of ours: `text` with its mark."""
    is_markdown = text.startswith("---\n")
    comment = "#" if is_markdown else "//"
    line = f"{comment} sisyphus {version} {_checksum(text.encode())} {_SAYS}"
    lines = text.split("\n")
    return "\n".join([*lines[:is_markdown], line, *lines[is_markdown:]]).encode()


def read(data: bytes) -> Mark | None:
    """The mark of a file; None where it has none. Line ends do not matter: git changes them."""
    lines = unified(data).split(b"\n")
    for number, line in enumerate(lines[:_LOOKED_AT]):
        if found := _LINE.match(line):
            rest = b"\n".join(lines[:number] + lines[number + 1 :])
            return Mark(found[1].decode(), _checksum(rest).encode() == found[2])
    return None


def unified(data: bytes) -> bytes:
    """`data` with the line ends that we write."""
    return data.replace(b"\r\n", b"\n")


def is_newer(version: str, than: str) -> bool:
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]{1,9}", version)]


def _checksum(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()[:16]
