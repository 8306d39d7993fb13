"""Command lines of the user's own around a call of ours: `X=1 nice sisyphus hook stop || true`."""

from __future__ import annotations

import os
import re
import shlex

_VARIABLE = r"\$(?:\w++|\{\w++\})"
_IN_QUOTES = rf"""(?:[^"`\\$\n]|{_VARIABLE})*+"""
_PIECE = rf"""(?:[\w@%+:,./=-]|\\[ -~]|'[^'\n]*+'|"{_IN_QUOTES}"|{_VARIABLE})"""
_SET = rf"(?:[A-Za-z_]\w*={_PIECE}*[ \t]+)*"
_PROGRAM = rf"(?![+-])(?:~/)?{_PIECE}+"
_CALL = r"hook[ \t]+[a-z-]++(?:[ \t]+--scope[ \t]+[a-z]++)?"
_END = r"(?:[ \t]+2>[ \t]*/dev/null)?(?:[ \t]*\|\|[ \t]*(?:true|:|exit 0))?"
_LINE = re.compile(
    rf"[ \t]*{_SET}({_PROGRAM}(?:[ \t]+{_PIECE}+)*[ \t]+{_CALL}){_END}[ \t]*", re.ASCII
)
"""Variables, one program, its words, ours behind them, and that a failure does not matter."""

_LONGEST = 1_000


def words(command: str) -> list[str]:
    """The words of a line that starts one program and hands it `hook EVENT` at the end, as
    /bin/sh reads them; [] = it is more than that."""
    found = _LINE.fullmatch(command) if len(command) <= _LONGEST else None
    try:
        parts = shlex.split(found[1]) if found else []
    except ValueError:  # a quote that a backslash opened
        return []
    return [os.path.expanduser(os.path.expandvars(part)) for part in parts]
