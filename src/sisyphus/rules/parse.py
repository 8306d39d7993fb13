"""Parses a rule file into a `Rule` and the text that we send."""

from collections.abc import Iterator, Sequence, Set
from difflib import get_close_matches
from typing import Any

from sisyphus.clients.base import Native
from sisyphus.ground import files, frontmatter
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import fingerprint, one_line
from sisyphus.rules import globs, includes, messages, sources
from sisyphus.rules.includes import Expansion
from sisyphus.rules.keys import KEYS, SCOPING_KEYS
from sisyphus.rules.keys import lines as lines_of_keys
from sisyphus.rules.keys import read as read_keys
from sisyphus.rules.pattern import Pattern, last_match
from sisyphus.rules.rule import ALWAYS, BY_GLOBS, BY_HAND, CLIENT, NOBODY, SISYPHUS, Rule
from sisyphus.rules.sources import CURSOR, HOME, RuleFile

MAX_PRIORITY = 10**9
"""A priority is smaller, so that it can be stored and printed as a number."""

_ALIASES = {"files": "globs", "match": "globs", "include": "globs", "pattern": "globs"}


class Room(Record):
    """The part of a folder's rules that we may still read. All of it takes two seconds, once.

    characters: of their texts with includes. yaml: characters of their frontmatter, which is slow.
    includes: lines that include a file; each costs one `stat` in every hook that touches a file.
    """

    rules: int = 2_000
    characters: int = 2_000_000
    yaml: int = 100_000
    includes: int = 1_000

    @classmethod
    def below_root(cls) -> "Room":
        """Returns the room of a folder below the root: up to ten of them are on the way to a
        file."""
        return cls(sources.MAX_NESTED, 200_000, 10_000, 100)

    def check(self) -> None:
        """Raises `UnreadableError` if nothing is left."""
        if min(self.rules, self.characters, self.yaml) <= 0:
            raise UnreadableError("the rules here are too many, or too long")


class ParsedRule(Record):
    """A rule as the index stores it.

    text: what we send. dependencies: other files whose change makes the rule stale.
    """

    rule: Rule
    text: str
    dependencies: Sequence[str]


def parse(
    file: RuleFile, client: Native, excludes: Sequence[Pattern], loaded: Set[str], room: Room
) -> ParsedRule:
    """Parses one rule file.

    excludes: patterns of absolute paths that the client does not load. loaded: fingerprints of the
    texts that it loads at session start. room: is reduced by what is read.
    Raises `SisyphusError` if the rule must be skipped.
    """
    room.check()
    room.rules -= 1
    source = files.read(file.path, inside="" if file.source is HOME else file.bounds)
    room.characters -= len(source)
    data, lines, body = _split(file, source, room)
    keys = {key: some for key in SCOPING_KEYS if (some := globs.parse_list(data.get(key)))}
    mode = _mode(file, data, keys)
    first_line = 1 + source.count("\n") - body.count("\n")
    most = min(room.includes, includes.MAX_FILES)
    expansion = Expansion(file.bounds, first_line, room=most)
    whole = expansion.expand(body, file.path).strip("\n")
    room.characters -= expansion.characters
    room.includes -= most - expansion.room
    text = messages.shorten(whole, file.label) if whole.strip() else ""
    hash = fingerprint(text) if text else ""
    is_excluded = last_match(excludes, file.path.lstrip("/")) is not None
    is_loaded = client.reads_rules_in(file.source.place) and not is_excluded
    is_copy = bool({hash, fingerprint(source.strip("\n"))} & loaded)  # of a file that it loads
    is_native = is_copy or (is_loaded and client.sends_rule(keys, always=mode == ALWAYS))
    is_matched = is_native and not is_copy and mode != ALWAYS
    rule = Rule(
        label=file.label,
        path=file.path,
        is_home=file.source is HOME,
        mode=mode,
        keys=keys,
        lines=lines,
        patterns=list(globs.compile_all(glob for some in keys.values() for glob in some)),
        priority=_number(data.get("priority")) or 0,
        tags=_tags(data),
        description=one_line(str(data.get("description") or "")),
        hash=hash,
        length=len(whole),
        sender=CLIENT if is_native else SISYPHUS if text else NOBODY,
        is_sent_below=is_matched and client.MATCHES_BELOW_ALONE,
        loads_twice=is_loaded and not is_native,
        problems=[*expansion.problems],
    )
    rule.problems += _warnings(rule, data)
    if text != whole:
        rule.problems.append(
            (0, f"its {len(whole):,} characters are too many for a reply; the rest is cut")
        )
    return ParsedRule(rule, text, expansion.files)


def _split(file: RuleFile, source: str, room: Room) -> tuple[dict[str, Any], dict[str, int], str]:
    """Splits a rule into its keys, their lines in the file, and its body."""
    if file.source.is_always:
        return {}, {}, source  # its client reads no frontmatter in it
    head, body = frontmatter.split(source)
    if not head:
        return {}, {}, body
    room.yaml -= len(head)
    first = 1 + source.count("\n", 0, source.index(head))
    lines = {key: first + number for key, number in lines_of_keys(head).items()}
    return read_keys(head, by_lines=file.source is CURSOR), lines, body


def _mode(file: RuleFile, data: dict[str, Any], keys: dict[str, list[str]]) -> str:
    always = data.get("alwaysApply")
    if file.source.is_always or str(always).lower() == "true":
        return ALWAYS
    if keys:
        return BY_GLOBS
    return BY_HAND if file.source.needs_globs or always is not None else ALWAYS


def _number(value: Any) -> float | None:
    """Returns a number below `MAX_PRIORITY`; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < MAX_PRIORITY else None  # False for NaN


def _tags(data: dict[str, Any]) -> list[str]:
    value = data.get("tags")
    tags = value.split(",") if isinstance(value, str) else value
    return [one_line(str(tag)) for tag in tags] if isinstance(tags, list) else []


def _warnings(rule: Rule, data: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yields warnings about a rule that works all the same, each with its line."""
    for key in data:
        folded = key.lower().replace("-", "_")
        near = [_ALIASES[folded]] if folded in _ALIASES else get_close_matches(key, KEYS, 1, 0.75)
        if key not in KEYS and near:
            problem = f"unknown key '{key}'; did you mean '{near[0]}'?"
            yield rule.lines.get(key, 0), problem
    if "priority" in data and _number(data["priority"]) is None:
        wrong = f"{data['priority']!r} counts as 0"
        problem = f"priority must be a number below {MAX_PRIORITY:,}; {wrong}"
        yield rule.lines.get("priority", 0), problem
    for key, some in rule.keys.items():
        text = ",".join(some)
        if text.startswith("[") and text.count("[") > text.count("]"):
            yield rule.lines.get(key, 0), f"the list of '{key}' is not closed; add a ] at its end"
        if text.count("{") > text.count("}"):
            yield rule.lines.get(key, 0), f"a brace of '{key}' is not closed; add a }} to it"
    if rule.patterns and not any(pattern.includes for pattern in rule.patterns):
        yield (
            rule.lines.get(next(iter(rule.keys)), 0),
            "every glob excludes, so the rule covers no file; "
            "first add a glob that includes, such as '**'",
        )
    if not rule.hash:
        yield 0, "it has no text"
