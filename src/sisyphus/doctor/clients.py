"""The coding agents on this machine and their versions."""

from __future__ import annotations

import os
import re

from sisyphus.doctor.finding import Finding, ok, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

CHECK = "client"

MEASURED = {"claude": (2, 1, 329), "opencode": (1, 18, 33)}
"""The versions whose behaviour we rely on."""

NAMES = {"claude": "Claude Code", "opencode": "OpenCode"}

_ELSEWHERE = {"claude": ("~/.claude/local/claude",), "opencode": ("~/.opencode/bin/opencode",)}
"""Where their own installers put them, beside the PATH."""

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


def check(case: Case) -> Iterator[Finding]:
    there = {name: path for name in MEASURED if (path := place(case, name))}
    for name, path in there.items():
        yield _judged(case, name, path)
    if not there:
        yield warning(
            CHECK,
            "neither `claude` nor `opencode` is on your PATH",
            "Install one; or put it on the PATH where it is installed",
        )


def place(case: Case, name: str) -> str:
    """Where a client is; "" = not found."""
    ways = (name, *map(os.path.expanduser, _ELSEWHERE[name]))
    return next((path for one in ways if (path := case.programs.which(one))), "")


def _judged(case: Case, name: str, path: str) -> Finding:
    tried = case.trials.version(path)
    version = _VERSION.search(tried.output)
    if tried.code != 0 or not version:
        why = tried.error or tried.output or f"exit code {tried.code}"
        return warning(CHECK, f"{path} --version fails: {why}", f"Try it: `{name} --version`")
    numbers = tuple(map(int, version.groups()))
    text = f"{NAMES[name]} {version[0]} ({path})"
    if numbers >= MEASURED[name]:
        return ok(CHECK, text)
    known = ".".join(map(str, MEASURED[name]))
    return Finding(CHECK, "ok", text, f"Older than {known}, with which sisyphus was measured")
