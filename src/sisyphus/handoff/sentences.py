"""Sentences of the agent and the user that the next session needs: what was decided, and what was
rejected. It reads English, outside code, and quotes as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sisyphus.clients.transcript_records import AGENT, PROMPT, TranscriptLine
from sisyphus.ground import markdown
from sisyphus.ground.masking import masked_line
from sisyphus.ground.record import Record

MAX_DECISIONS = 20

TEXT, _MATCHED, QUOTED = 20_000, 500, 300
"""The most characters that we read of a message and of a sentence, and that we quote."""

_ALL_TEXTS = 1_000_000
"""The most characters of messages that we search for decisions: a second at most, on odd texts."""

_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)[\"')\]*_]*\s+|(?<=[。\uff01\uff1f])|"
    r"\n(?![ \t]*[a-z(])|(?<=\n)[ \t]*\n"
)
"""The end of a sentence. A line that starts with a small letter goes on with the one before."""

_MARKS = re.compile(r"(?:[\s>*_#|-]|\d+[.)]\s|\[.\]\s)+")
_DECIDED = re.compile(
    r"\b(?:decided|decision|reject(?:ed|ing)|rul(?:ed|ing) out|discarded|abandon(?:ed|ing)|gave up|"
    r"settled on|dead end|not an option|not viable|off the table|overkill|scratch that|ended up|"
    r"agreed (?:to|on|that)|(?:made no|no) difference|went with|opted|backed out|reverted)\b|"
    r"\b(?:(?:does|did|do|would|could)(?:n't| not)|won't|will not|can't|cannot) (?:work|help)\b|"
    r"\b(?:won't|isn't|not using|not use)\b.{1,160}\b(?:because|since)\b|"
    r"\b(?:tried|considered|thought about)\b.{1,160}\b(?:but|dropped|rejected)\b|"
    r"\b(?:picked|chose|going with)\b.{1,100}\b(?:over|because|since)\b|"
    r"\bdropped\b.{0,30}(?:,|\b(?:because|since|as)\b)",
    re.IGNORECASE | re.DOTALL,
)
_CHOSE = re.compile(
    r"\b(?:instead of|rather than|chose|chosen|go(?:ing)? with|stick(?:ing)? with|from now on|"
    r"(?:do not|don't|never|always|not) (?:use|add|touch|change)|let's (?:not|drop|keep|skip)|"
    r"(?:i'm|we're|i am|we are) (?:keeping|leaving|skipping|dropping|not using))\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"(?:if|should|shall|whether)\b|.*(?:\b(?:not|yet to|to be)|n't) (?:yet |been )*decided\b|"
    r".*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_COURSE = re.compile(
    r"\b(?:forget (?:that|it|this|about|the)|never ?mind|scrap (?:that|it|this)|scratch that|"
    r"(?:stop|drop|leave|abandon) (?:that|it|this|working|the)|stop\b(?=[,.!;])|"
    r"(?:do not|don't) (?:go on|continue|finish)|instead)\b",
    re.IGNORECASE,
)
"""The user wants something else than what was begun."""

_PASTE_TAG = re.compile(r"</?pasted_content\b[^>\n]{0,100}>")
_PASTE = re.compile(r"<pasted_content\b.*?(?:</pasted_content\b[^>\n]{0,100}>|\Z)", re.DOTALL)
"""What a user pasted, as the client records it (measured on 2.1.329)."""


class Quote(Record):
    """What the user or the agent said, masked."""

    is_users: bool
    at: float
    text: str


def typed(record: TranscriptLine) -> str:
    """Returns what a person asked for in a record; "" = nothing."""
    if record.author != PROMPT or not record.is_personal:
        return ""
    if command := record.command:
        return f"/{command.name} {command.arguments}" if command.arguments else ""
    return _PASTE_TAG.sub("", "\n".join(record.texts)).strip()


def changes_course(prompt: str) -> bool:
    """Tells whether a prompt says that what was begun is not to go on."""
    return bool(_OTHER_COURSE.search(prompt.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))


def decisions(records: Sequence[TranscriptLine]) -> list[Quote]:
    """Returns what was decided and rejected, each once. If there is too much, the user's words and
    what says so clearly go first, then what was said last."""
    found: dict[str, tuple[bool, int, Quote]] = {}
    for is_users, at, text in _messages(records):
        for prose, quote in split(text):
            if _is_decision(prose) and not _UNDECIDED.match(prose):
                is_first = is_users or bool(_DECIDED.search(prose))
                found.setdefault(quote, (is_first, len(found), Quote(is_users, at, quote)))
    best = sorted(found.values(), key=lambda each: each[:2])[-MAX_DECISIONS:]
    quotes = [quote for _, _, quote in sorted(best, key=lambda each: each[1])]
    return [Quote(each.is_users, each.at, masked_line(each.text, QUOTED)) for each in quotes]


def _messages(records: Sequence[TranscriptLine]) -> list[tuple[bool, float, str]]:
    """Returns the last messages that may decide something: whether it is the user's, its time and
    its text."""
    found: list[tuple[bool, float, str]] = []
    left = _ALL_TEXTS
    for record in reversed(records):
        words = _own_words(record) if typed(record) else ""
        texts = (words,) if words else record.texts if record.author == AGENT else ()
        for text in reversed(texts):
            if left > 0 and _is_decision(text[:TEXT]):
                found.append((bool(words), record.at, text))
                left -= len(text[:TEXT])
    return found[::-1]


def _own_words(record: TranscriptLine) -> str:
    """Returns what a person typed, without what they pasted: others may have decided that."""
    return typed(record) if record.command else _PASTE.sub("", "\n".join(record.texts))


def _is_decision(text: str) -> bool:
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return bool(_DECIDED.search(text) or _CHOSE.search(text))


def split(text: str) -> Iterator[tuple[str, str]]:
    """Yields each sentence without the marks of lists: with blanks in place of code and straight
    apostrophes, and as it is written."""
    text = text[:TEXT].replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    all_prose = markdown.visible(text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    start = 0
    for end in (*(found.end() for found in _END.finditer(all_prose)), len(all_prose)):
        marks = _MARKS.match(text, start, end)
        first = marks.end() if marks else start
        if prose := all_prose[first:end].strip():
            yield prose[:_MATCHED], text[first:end].strip()
        start = end
