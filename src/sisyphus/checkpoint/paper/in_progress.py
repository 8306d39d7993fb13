"""The files that were being worked on, and where in them."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from sisyphus.paths import display
from sisyphus.text import one_line
from sisyphus.work_tree import OWN_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import FileInProgress
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.checkpoint.seen.edits import Edit

FILES = 5

_RANGES = 5
_NEAR = 3  # lines between two ranges that are one to a reader
_DESCRIBED = 100
_LINE = 300
_UP = 2_000  # lines above an edit that are looked at

_MODIFIERS = (
    r"(?:(?:export|default|async|public|private|protected|internal|static|final|abstract|override"
    r"|virtual|inline|unsafe|extern|open|suspend|declare|pub(?:\([a-z]+\))?|const) )*+"
)
_DEFINITION = re.compile(
    rf"\s*{_MODIFIERS}(?:"
    r"(?:def|class|function\*?|func|fn|fun|interface|struct|enum|trait|impl|module|namespace|type"
    r"|sub|proc|protocol|extension|record|object|message|service|defmodule|defp?) +[\w\"'({*:]"
    r"|(?:let|var|const) +\w+ *=.*(?:=>|function)"
    r"|\w+ *= *(?:async )?(?:function|\([^)]*\) *=>|lambda)"
    r"|(?:describe|it|test|context)\(['\"`]"
    r"|(?:CREATE|ALTER) +[A-Z]"
    r")"
    r"|\s+(?:public|private|protected|static) [^;=]*\([^;]*$"
    r"|(?!(?:if|for|while|switch|else|return|print|elif)\b)"
    r"[A-Za-z_][\w:<>,&*\[\]]* [^;=()]*\([^;]*$"
)
_HEADING = re.compile(r"#{1,6} +\S")
_SECTION = re.compile(r"\[+[^]]+\]+\s*$")
_MARKDOWN = (".md", ".mdx", ".markdown", ".qmd")
_SECTIONED = (".toml", ".ini", ".cfg", ".conf")


def files_in_progress(s: Situation) -> list[FileInProgress]:
    """The files that were edited last, the latest first; bookkeeping of ours is no work."""
    edits = [edit for edit in s.work.edits if not _is_aside(edit.path, s)]
    latest = list(dict.fromkeys(edit.path for edit in reversed(edits)))[:FILES]
    return [_file(path, [e for e in edits if e.path == path], s) for path in latest]


def relative(path: str, root: str) -> str:
    """A full path as it is shown. Sessions may know the project by a link that leads to it."""
    shown = display(os.path.normpath(path), root) if root else path
    if not os.path.isabs(shown) or not root:
        return shown
    folder, name = os.path.split(shown)
    return display(os.path.join(os.path.realpath(folder), name), root)


def _is_aside(path: str, s: Situation) -> bool:
    """Files of ours, and the plan, whose boxes are ticked along the way."""
    plan = s.plan["active_plan"] if s.plan else ""
    return relative(path, s.root).startswith(OWN_FILES) or path == plan


def _file(path: str, edits: Sequence[Edit], s: Situation) -> FileInProgress:
    lines = s.text_of(path).splitlines()
    known = [edit for edit in edits if edit.start and (not lines or edit.start <= len(lines))]
    last = known[-1] if known else None
    found: FileInProgress = {
        "path": one_line(relative(path, s.root)),
        "lines": _lines(known, len(lines)),
        "description": _description(path, lines, last) if last else "",
    }
    if last:
        found["line"] = last.start
    return found


def _lines(edits: Sequence[Edit], length: int) -> str:
    """`45-60, 90-120`: what lies close together is one range, and there are only a few."""
    ranges = sorted((e.start, min(e.end, length) if length else e.end) for e in edits)
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and start <= joined[-1][1] + _NEAR:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    while len(joined) > _RANGES:
        gaps = [after[0] - before[1] for before, after in pairwise(joined)]
        at = gaps.index(min(gaps))
        joined[at : at + 2] = [(joined[at][0], joined[at + 1][1])]
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in joined)


def _description(path: str, lines: Sequence[str], edit: Edit) -> str:
    """The nearest definition or heading at or above the edit, else the first one in it, else its
    first line with words."""
    inside = range(edit.start, min(edit.end, len(lines)) + 1)
    worded = [number for number in inside if lines[number - 1].strip()]
    first = min(worded[0] if worded else edit.start, len(lines))
    near = [*range(first, max(first - _UP, 0), -1), *worded]
    defining = (number for number in near if _defines(path, lines[number - 1][:_LINE]))
    shown = lines[next(defining, first) - 1].strip() if lines else ""
    return one_line(shown.rstrip("{:").rstrip(), _DESCRIBED)


def _defines(path: str, line: str) -> bool:
    if path.endswith(_MARKDOWN):
        return bool(_HEADING.match(line))
    if path.endswith(_SECTIONED):
        return bool(_SECTION.match(line))
    return bool(_DEFINITION.match(line))
