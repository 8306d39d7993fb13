"""Finds the rules that Claude Code would load whole at every session start although we send them
when they apply, and the globs in its settings that keep it from doing so."""

import re

from sisyphus import clients
from sisyphus.clients import CLAUDE_CODE
from sisyphus.errors import SisyphusError
from sisyphus.rules import globs, parse, sources
from sisyphus.rules.globs import Pattern

_SPECIAL = re.compile(r"[^\w\s/.,~-]")


def of_project(project: str, home: str) -> list[str]:
    """Returns globs for `claudeMdExcludes`: one for each such rule of the project and the home
    folder.

    Reads the files itself: the stored index would be written, and `install --dry-run` writes
    nothing.
    """
    native = clients.native(CLAUDE_CODE)
    patterns = _compile(native.rule_excludes(home, project))
    room = parse.Room()
    excludes = []
    for file in sources.search(project, project, home, native).files:
        try:
            rule = parse.parse(file, native, patterns, frozenset(), room).rule
        except SisyphusError:
            continue  # `rules lint` names it
        if rule.loads_twice:
            excludes.append(_glob(rule.path))
    return excludes


def _compile(excludes: list[str]) -> list[Pattern]:
    """Compiles the globs of the client's settings; leaves out those that are invalid."""
    patterns: list[Pattern] = []
    for glob in excludes:
        try:
            patterns += globs.compile_all([glob])
        except globs.BadGlob:
            continue
    return patterns


def _glob(path: str) -> str:
    """Returns a glob that matches this file alone: any project may have a rule of this name. Only
    `?` matches a special character in every dialect of globs."""
    return _SPECIAL.sub("?", path)
