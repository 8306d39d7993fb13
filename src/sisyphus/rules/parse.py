"""A rule file -> a `Rule`: its scope, its place among the others, its text as it is sent."""

from __future__ import annotations

import os

from sisyphus.clients.claude_code_setup import is_excluded, native_globs
from sisyphus.documents import FRONTMATTER_CHARACTERS, BadFrontmatter, expand, parse
from sisyphus.errors import UnreadableError
from sisyphus.reading import DOCUMENT_BYTES, read_text
from sisyphus.rules import globs, keys
from sisyphus.rules.discover import Problem
from sisyphus.rules.sources import CLAUDE, COPILOT, HOME
from sisyphus.rules.wording import shorten
from sisyphus.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sisyphus._types import Json
    from sisyphus.rules.discover import Found
    from sisyphus.rules.globs import Compiled


class BadRule(ValueError):  # noqa: N818  # it names what was found, not that it was raised
    """A rule that is skipped. `line` counts from 1 in its file; 0 = the whole file. `cost`: the
    characters of frontmatter and of text that it took to find out, at most."""

    def __init__(self, reason: str, line: int = 0, cost: tuple[int, int] = (0, 0)) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.cost = cost


class Rule:
    """One rule.

    `scope`: the globs of each scoping key. `patterns`: each glob as written, with what it compiles
    to; None where the rule covers every file. `asked`: only its description asks for it, so it is
    never sent by itself. `body`: what is sent, includes resolved and cut to one reply. `length`:
    characters before the cut. `cost`: characters of frontmatter and of text that were read.
    `loaded`: Claude Code loads the file; `native`: for which files it then sends it by itself, None
    = for all that the rule covers.
    """

    __slots__ = (
        "always", "asked", "body", "cost", "description", "hash", "included", "label", "length",
        "loaded", "native", "path", "patterns", "priority", "problems", "scope", "source", "tags",
    )  # fmt: skip

    def __init__(self, found: Found, metadata: Json) -> None:
        self.path = found.path
        self.source = found.source
        self.label = found.label
        self.scope = _scope(found, metadata)
        says = keys.always(metadata)
        self.asked = says is False and not self.scope
        self.always = says is True or not (self.scope or self.asked) or found.source == COPILOT
        self.patterns = None if self.always else _patterns(self.scope)
        self.priority = keys.priority(metadata) or 0
        self.tags = keys.words(metadata, "tags")
        self.description = str(metadata.get("description") or "")
        self.problems: list[Problem] = []
        self.included: list[str] = []
        self.cost = (0, 0)
        self.body = self.hash = ""
        self.length = 0
        self.loaded = False
        self.native: list[Compiled] | None = []

    def note(self, text: str, line: int = 0) -> None:
        self.problems.append(Problem(self.label, self.path, text, line))


def load(found: Found, home: str, excludes: Collection[str] = ()) -> Rule:
    """Reads and parses one rule file; `home` bounds the includes of rules of the user's own.

    `excludes`: what the client is told not to load.
    Raises `BadRule` for one that is to be skipped.
    """
    text = _read(found)
    try:
        metadata, body = parse(text)
    except BadFrontmatter as error:
        cost = min(len(text), FRONTMATTER_CHARACTERS), len(text)
        raise BadRule(f"invalid frontmatter: {error.reason}", error.line, cost) from error
    rule = Rule(found, metadata)
    _fill(rule, text, body, home if found.source == HOME else found.bounds)
    _decide_owner(rule, excludes)
    _look_over(rule, metadata)
    return rule


def _read(found: Found) -> str:
    try:
        return read_text(found.path, DOCUMENT_BYTES, found.bounds)
    except UnreadableError as error:
        reason = str(error).removeprefix(f"{found.path}: ")
        raise BadRule(reason, cost=(0, _size(found.path))) from error


def _size(path: str) -> int:
    try:
        return min(os.path.getsize(path), DOCUMENT_BYTES)
    except OSError:
        return 0


def _scope(found: Found, metadata: Json) -> dict[str, list[str]]:
    if found.source == COPILOT:
        return {}
    try:
        return globs.scoping(metadata)
    except globs.BadGlob as error:
        raise BadRule(str(error)) from error


def _patterns(scope: dict[str, list[str]]) -> list[tuple[str, Compiled]]:
    try:
        return globs.compile_globs([glob for some in scope.values() for glob in some])
    except globs.BadGlob as error:
        raise BadRule(str(error)) from error


def _fill(rule: Rule, text: str, body: str, root: str) -> None:
    plain = body.replace("\r\n", "\n")
    expansion = expand(plain, rule.path, root)
    whole = expansion.text.strip("\n")
    line = _first_line(text, body, plain) if expansion.text == plain else 0
    rule.included = expansion.files
    rule.length = len(whole)
    rule.body = shorten(whole, rule.label, rule.path, line) if whole.strip() else ""
    rule.hash = fingerprint(rule.body)
    rule.cost = (len(text) - len(body), len(text) + len(expansion.text))
    for problem in expansion.problems:
        rule.note(f"include: {problem}")
    if not rule.body:
        rule.note("it has no text")
    elif rule.body != whole:
        rule.note(f"cut: its {len(whole):,} characters are more than one reply can carry")


def _decide_owner(rule: Rule, excludes: Collection[str]) -> None:
    rule.loaded = rule.source in (CLAUDE, HOME) and not is_excluded(rule.path, excludes)
    globs = native_globs(rule.scope, always=rule.always) if rule.loaded else []
    rule.native = None if globs is None else [one for _, one in _patterns({"paths": globs})]


def _first_line(text: str, body: str, plain: str) -> int:
    blank = len(plain) - len(plain.lstrip("\n"))
    return text.count("\n", 0, len(text) - len(body)) + blank + 1


def _look_over(rule: Rule, metadata: Json) -> None:
    """Notes what its author would want to know."""
    for key, meant in keys.misspelled(metadata).items():
        rule.note(f"the key '{key}' has no meaning; did you mean '{meant}'?")
    if keys.priority(metadata) is None:
        rule.note(f"priority is no number: {metadata['priority']!r}; it counts as 0")
    if rule.patterns and not any(includes for _, (includes, _, _) in rule.patterns):
        rule.note("every glob excludes: it covers no file. Put what it covers first, e.g. '**'")
