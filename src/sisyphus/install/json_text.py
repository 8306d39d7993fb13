"""Strict JSON, read with the place of everything in the text, so that it can be edited there.

What is JSON is what the client's `JSON.parse` takes: no comments, no trailing commas, no NaN. One
byte order mark may stand before it; Claude Code 2.1.329 reads such a file.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from sisyphus.errors import SisyphusError
from sisyphus.install.json_tree import Member, Node

BOM = "\ufeff"
MAX_DEPTH = 100
"""Settings nest about six deep. Python's own stack carries some hundreds."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_BODY = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_WORD = re.compile(r"[^\W\d]\w*+")
_LITERALS = {"true": True, "false": False, "null": None}
_INT_DIGITS = 4000  # Python refuses to read integers of more than 4300; JavaScript has no integers
_STRANGE = {
    "//": "a comment: the client reads no comments here",
    "/*": "a comment: the client reads no comments here",
    "#": "a comment: the client reads no comments here",
    "'": "a single quote: JSON has double quotes alone",
    ",": "a comma too many",
    "NaN": "NaN: JSON has no such number",
    "Infinity": "Infinity: JSON has no such number",
    "-Infinity": "Infinity: JSON has no such number",
    "<<<<<<<": "a merge conflict",
    "=======": "a merge conflict",
    ">>>>>>>": "a merge conflict",
    BOM: "a second byte order mark",
}


class JsonTextError(SisyphusError):
    """Text that is no JSON; line and column count from 1, the column in characters."""

    def __init__(self, text: str, offset: int, what: str) -> None:
        self.line, self.column = position(text, offset)
        self.what = what
        super().__init__(f"line {self.line}, column {self.column}: {what}")


def parse(text: str) -> Node:
    """The tree of a text. Raises `JsonTextError`."""
    return _Reader(text).whole(int(text.startswith(BOM)))


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, counted from 1, without the byte order mark."""
    line_start = text.rfind("\n", 0, offset) + 1
    unseen = int(line_start == 0 and offset > 0 and text.startswith(BOM))
    return text.count("\n", 0, offset) + 1, offset - line_start + 1 - unseen


class _Reader:
    """Every method gets the offset at which something begins."""

    def __init__(self, text: str) -> None:
        self._text = text

    def whole(self, start: int) -> Node:
        node = self.value(self.skip(start), 0)
        at = self.skip(node.end)
        if at < len(self._text):
            self._fail_at(at, "text behind the end")
        return node

    def skip(self, at: int) -> int:
        """Where the next thing that is no white space stands."""
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        first = self._text[at : at + 1]
        if first in ("{", "[") and depth == MAX_DEPTH:
            self._fail(at, f"nested more than {MAX_DEPTH} deep")
        if first == "{":
            return self._object(at, depth + 1)
        if first == "[":
            return self._list(at, depth + 1)
        if first == '"':
            text, end = self._string(at)
            return Node("text", at, end, text)
        return self._word(at)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.skip(start + 1)
        while not self._text.startswith("}", at):
            members.append(self._member(at, depth))
            at = self._behind(members[-1].end, "}")
        value = {one.key: one.node.value for one in members}
        return Node("object", start, at + 1, value, members=tuple(members))

    def _list(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = self.skip(start + 1)
        while not self._text.startswith("]", at):
            items.append(self.value(at, depth))
            at = self._behind(items[-1].end, "]")
        return Node("list", start, at + 1, [one.value for one in items], items=tuple(items))

    def _member(self, at: int, depth: int) -> Member:
        if not self._text.startswith('"', at):
            self._fail_at(at, "a key without double quotes")
        key, end = self._string(at)
        colon = self.skip(end)
        if not self._text.startswith(":", colon):
            self._fail_at(colon, "a colon is missing before this")
        return Member(key, at, end, self.value(self.skip(colon + 1), depth))

    def _behind(self, end: int, closing: str) -> int:
        """Where the next part begins, or the closing bracket stands."""
        at = self.skip(end)
        if self._text.startswith(closing, at):
            return at
        if not self._text.startswith(",", at):
            self._fail_at(at, f"a comma or `{closing}` is missing before this")
        following = self.skip(at + 1)
        if self._text.startswith(("}", "]"), following):
            self._fail(at, "a trailing comma")
        return following

    def _string(self, at: int) -> tuple[str, int]:
        body = _BODY.match(self._text, at)
        end = body.end() if body else at
        if not self._text.startswith('"', end):
            self._fail_in_string(at, end)
        return json.loads(self._text[at : end + 1]), end + 1

    def _fail_in_string(self, at: int, end: int) -> NoReturn:
        if end == len(self._text):
            self._fail(at, "a text that is never closed")
        if self._text[end] == "\\":
            self._fail(end, "a backslash and behind it what JSON does not know")
        self._fail(end, "a line break, a tab or another control character in a text")

    def _word(self, at: int) -> Node:
        """A number or a literal."""
        if number := _NUMBER.match(self._text, at):
            return Node("number", at, number.end(), _read_number(number))
        word = _WORD.match(self._text, at)
        if word is None or word[0] not in _LITERALS:
            self._fail_at(at, "no value")
        return Node("literal", at, word.end(), _LITERALS[word[0]])

    def _fail_at(self, at: int, otherwise: str) -> NoReturn:
        """Names what stands there, where that says more than what is missing."""
        if at == len(self._text):
            self._fail(at, "the end comes too early" if self._text.strip() else "nothing but space")
        known = (what for begins, what in _STRANGE.items() if self._text.startswith(begins, at))
        self._fail(at, next(known, otherwise))

    def _fail(self, at: int, what: str) -> NoReturn:
        raise JsonTextError(self._text, at, what)


def _read_number(found: re.Match[str]) -> float:
    is_whole = found[1] is None and found[2] is None and len(found[0]) < _INT_DIGITS
    return int(found[0]) if is_whole else float(found[0])
