"""Rules that Claude Code would load whole at every session start, though we send them when they
apply: which of its settings keeps it from that."""

import re

from sisyphus import clients
from sisyphus.clients import CLAUDE_CODE
from sisyphus.errors import SisyphusError
from sisyphus.rules import globs, parse, sources
from sisyphus.rules.globs import Pattern

_SPECIAL = re.compile(r"[^\w\s/.,~-]")


def of_project(project: str, home: str) -> list[str]:
    """Globs for `claudeMdExcludes`: one for each such rule of the project and of the home folder.

    Reads the files itself: the stored index would be written, and `install --dry-run` writes
    nothing.
    """
    native = clients.native(CLAUDE_CODE)
    patterns = _compile(native.rule_excludes(home, project))
    room = parse.Room()
    found = []
    for file in sources.search(project, project, home, native).files:
        try:
            rule = parse.parse(file, native, patterns, frozenset(), room).rule
        except SisyphusError:
            continue  # `rules lint` names it
        if rule.loads_twice:
            found.append(_glob(rule.path))
    return found


def _compile(excludes: list[str]) -> list[Pattern]:
    found = []
    for glob in excludes:
        try:
            found += globs.compile_all([glob])
        except globs.BadGlob:
            continue
    return found


def _glob(path: str) -> str:
    """A glob that matches this file alone: in every project there may be a rule of this name. `?`
    is the one way to write a special character that all readers of globs agree on."""
    return _SPECIAL.sub("?", path)
