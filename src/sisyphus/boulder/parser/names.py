"""What a plan is called. Pure."""

from __future__ import annotations

import os
import re

# Compiled where there is frontmatter only: each pattern costs a hook a tenth of a millisecond.
_RULER = r"(?m)^---[ \t]*$"
_KEY = r"(?m)^[^\s#:-][^:\n]*:(?:[ \t]|$)"
_NAME = r"(?m)^name[ \t]*:[ \t]+(.*)$"
_QUOTED = r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'"

_NAME_LENGTH = 1_000
_NO_SCALAR = tuple("|>[{&*!#%@`")


def plan_name(title: str, path: str, root: str) -> str:
    """The plan's own title, else its file's stem; `PLAN.md` is called like its project."""
    file = os.path.basename(path)
    untitled = os.path.basename(root) if file == "PLAN.md" else os.path.splitext(file)[0]
    return title or untitled or file


def read_frontmatter(text: str) -> tuple[int, str]:
    """Where the text after the frontmatter starts, and the name it gives; (0, "") without one.

    Only a one-line `name:` is read: importing yaml would cost a hook half of its time. What stands
    between two rulers without any key is no frontmatter; there may be tasks in it.
    """
    if not text.startswith("---"):
        return 0, ""
    ruler = re.compile(_RULER)
    first = ruler.match(text)
    last = ruler.search(text, first.end() + 1) if first else None
    if first is None or last is None:
        return 0, ""
    block = text[first.end() : last.start()]
    if not re.search(_KEY, block):
        return 0, ""
    name = re.search(_NAME, block)
    return last.end(), _scalar(name[1][:_NAME_LENGTH].strip()) if name else ""


def _scalar(value: str) -> str:
    """A YAML scalar as text; "" for null and for what is no one-line scalar."""
    if quoted := re.match(_QUOTED, value):
        if quoted[2] is not None:
            return quoted[2].replace("''", "'")
        return re.sub(r"\\(.)", r"\1", quoted[1])
    if value.startswith(_NO_SCALAR):
        return ""
    plain = re.split(r"[ \t]#", value, maxsplit=1)[0].strip()
    return "" if plain in ("~", "null", "Null", "NULL") else plain
