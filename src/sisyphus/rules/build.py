"""Makes what the index file holds out of the rule files."""

from __future__ import annotations

import time

from sisyphus.quick_json import dumps
from sisyphus.rules.index import stamp
from sisyphus.rules.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.rules.index import Entry, Head
    from sisyphus.rules.parse import Rule


def build(root: str, home: str) -> tuple[Head, bytes]:
    """The first line's object, and the lines after it.

    The stamps are taken after the reading, the time before it: what changes meanwhile is then
    newer than the index.
    """
    made = time.time_ns()
    found = survey(root, home)
    stamps = {path: stamp(path) for path in found.watched}
    rules, bodies = _entries([rule for rule in found.rules if rule.body and not rule.asked])
    head: Head = {
        "made": made,
        "newest": max((known[0] for known in stamps.values() if known), default=0),
        "stamps": stamps,
        "problems": [(p.label, p.line, p.text) for p in found.problems],
        "rules": rules,
    }
    return head, bodies


def _entries(rules: list[Rule]) -> tuple[list[Entry], bytes]:
    entries: list[Entry] = []
    lines: list[bytes] = []
    at = 0
    for rule in rules:
        line = dumps(rule.body).encode() + b"\n"
        entries.append(_entry(rule, at, len(line)))
        lines.append(line)
        at += len(line)
    return entries, b"".join(lines)


def _entry(rule: Rule, at: int, size: int) -> Entry:
    return {
        "label": rule.label,
        "path": rule.path,
        "source": rule.source,
        "native": rule.native,
        "patterns": None if rule.patterns is None else [one for _, one in rule.patterns],
        "hash": rule.hash,
        "at": at,
        "size": size,
    }
