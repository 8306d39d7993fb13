"""Finds the rules that a client would load whole at every session start although we send them when
they apply, and the globs in its settings that keep it from doing so."""

import glob
import os
import re
from collections.abc import Iterable

from sisyphus import clients
from sisyphus.ground import paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.rules import globs, parse, sources
from sisyphus.rules.pattern import Pattern

_SPECIAL = re.compile(r"[^\w\s/.,~-]")
_ONE_FILE = re.compile(r"/[\w\s/.,~?-]+")


def of_project(client: str, project: str, home: str) -> list[str]:
    """Returns globs for the client's settings: one for each such rule of the project and the home
    folder."""
    return _globs(client, project, home, clients.rules_left_out(client, home, project))


def ours(client: str, every: Iterable[str], home: str) -> list[str]:
    """Returns those of the globs that `of_project` gives for any project: we added them, even if
    no record says so."""
    own = []
    for each in every:
        files = glob.glob(each) if _ONE_FILE.fullmatch(each) else []
        folders = {paths.project_of(os.path.dirname(file)) for file in files}
        if any(each in _globs(client, folder, home, []) for folder in folders):
            own.append(each)
    return own


def _globs(client: str, project: str, home: str, known: list[str]) -> list[str]:
    """Reads the files itself: the stored index would be written, and `install --dry-run` writes
    nothing."""
    native = clients.native(client)
    patterns = _compile(known)
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


def _compile(every: list[str]) -> list[Pattern]:
    """Compiles the globs of the client's settings; leaves out those that are invalid."""
    patterns: list[Pattern] = []
    for each in every:
        try:
            patterns += globs.compile_all([each])
        except globs.BadGlob:
            continue
    return patterns


def _glob(path: str) -> str:
    """Returns a glob that matches this file alone: any project may have a rule of this name. Only
    `?` matches a special character in every dialect of globs."""
    return _SPECIAL.sub("?", path)
