"""Finds the rules that apply to a file, and says why."""

from __future__ import annotations

import os

from sisyphus.ground import paths
from sisyphus.ground.record import Record
from sisyphus.rules.index import Index, Roots, current
from sisyphus.rules.pattern import last_match
from sisyphus.rules.rule import ALWAYS, BY_HAND, SISYPHUS, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.ground.store import Store

MAX_DEPTH = 10
"""The deepest folder whose own rules we read: each folder on the way to a file may have some."""

_CURSOR_RULES = os.path.join(".cursor", "rules")


class RuleMatch(Record):
    """A rule of an index and a file: whether it applies, and why in words. sender: who sends the
    rule for this file."""

    rule: Rule
    index: Index
    sender: str
    applies: bool
    why: str


def match(store: Store, roots: Roots, path: str, unscoped: str) -> Iterator[RuleMatch]:
    """Matches every rule with the file at `path`, in sending order.

    unscoped: the setting `rules.unscoped`.
    """
    is_below = bool(paths.names(path, os.path.realpath(roots.folder)))
    for folder in _folders(roots.project, path):
        index = current(store, roots, folder)
        inner = paths.names(path, folder)
        names = inner or paths.names(path, os.sep)
        for rule in index.rules:
            sender = _sender(rule, is_below=is_below)
            judgement = _judge(rule, names, unscoped, is_inside=bool(inner))
            yield RuleMatch(rule, index, sender, *judgement)


def _sender(rule: Rule, *, is_below: bool) -> str:
    """Returns who sends a rule for a file. is_below: the file is below the folder in which the
    session started. Claude Code matches its rules with no other file (measured)."""
    return SISYPHUS if rule.is_sent_below and not is_below else rule.sender


def _folders(project: str, path: str) -> list[str]:
    """Returns the project's root, and each folder on the way to the file that has
    `.cursor/rules`."""
    folders = [project]
    for name in paths.names(path, project):
        parts = name.split("/")[:-1][:MAX_DEPTH]
        inner = [os.path.join(project, *parts[:end]) for end in range(1, len(parts) + 1)]
        folders += [os.path.realpath(each) for each in inner if _has_rules(each)]
    return list(dict.fromkeys(folders))


def _has_rules(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, _CURSOR_RULES))


def _judge(rule: Rule, names: list[str], unscoped: str, *, is_inside: bool) -> tuple[bool, str]:
    """Decides whether a rule applies, and why.

    names: of the file, relative to the folder of the rules or, if it is outside, to `/`.
    """
    if not (is_inside or rule.is_home):
        return False, "the file is outside the project; only your own rules apply there"
    if rule.mode == ALWAYS:
        return True, "it applies to every file"
    if rule.mode == BY_HAND:
        return unscoped == "send", f'it has no globs, and rules.unscoped is "{unscoped}"'
    matches = [p for name in names if (p := last_match(rule.patterns, name))]
    if not matches:
        return False, "none of its globs matches"
    best = max(matches, key=lambda pattern: pattern.includes)  # one name is enough
    return best.includes, f"{'matched' if best.includes else 'excluded'} by {best.glob}"
