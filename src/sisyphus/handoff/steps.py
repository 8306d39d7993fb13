"""What the agent was doing: the step that it has said it will take, and what it said last. It reads
English, German and Japanese, outside code, and quotes as written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sisyphus.clients.transcript_records import AGENT, TranscriptLine
from sisyphus.ground.masking import masked_line
from sisyphus.handoff.sentences import QUOTED, TEXT, Quote, split, typed

_SENTENCES, _MESSAGES = 2, 30
"""The most sentences that we quote of a message, and how many of the last messages we read."""

_LEAD = (
    r"(?:(?:now|next|then|so|ok(?:ay)?|good|great|first|finally|perfect|alright|right|after that|"
    r"from here|with that done|up next)\b[,:.!]? *)*"
)
_BEGINS = (
    r"(?!(?:am|are|was|were|have|had|do|did|don't|can|can't|could|cannot|see|saw|understand|know|"
    r"knew|think|thought|believe|get|got|found|find|feel|hope|wish|agree|wonder|realize|notice|"
    r"remember|suspect|ran|wrote|rewrote|made|built|took|went|began|came|gave|kept|left|chose|"
    r"broke|stop|wait|pause|leave|expect|like|prefer|only|also|just|\w+ed)\b)\w"
)
_BEGINNING = (
    r"(?!(?:be|fail|gett|hav|leav|miss|pass|runn|see|stopp|wait|work)ing\b)(?!\w*thing\b)\w+ing\b"
)
"""Verbs with which a step begins. Others tell of what is or was: "Now I see", "Next I ran", "now
failing"."""

_ABOUT_TO = re.compile(
    rf"{_LEAD}(?:"
    r"(?:i|we)(?:'ll| will|(?:'m| am|'re| are) (?:going|about) to|"
    r" (?:still |now )?(?:need|have|want|plan|intend) to)\b|"
    r"let me\b|let's\b|next(?: up| steps?)?(?: is\b|[:,])|"
    r"(?:moving |going |proceeding )?(?:on|back) to\b(?! you\b)|"
    r"(?:remaining|todo|still to do|(?:what|all that)(?:'s| is) left)\b.*\w|"
    r"(?:the|my|our) next (?:step|thing|task|move)\b.{0,40}?(?:\b(?:is|will be|would be)\b|:)\s*+"
    r"(?!done\b|yours?\b|for you\b|not\b|blocked\b|clear\b|unclear\b)|"
    r"what remains(?: now)? is\b|that leaves\b(?!.*\b(?:unchanged|intact|alone)\b)|"
    rf"(?:i'm|i am|we're|we are) (?:now|next|currently) {_BEGINNING}|"
    r"(?:continuing|proceeding|carrying on|starting) with\b|turning to\b"
    r")|"
    rf"{_LEAD}(?:now|next)\b[,:]? *(?:(?:i|we)(?:'d| would| must| should)? {_BEGINS}|"
    rf"(?:(?:i'm|i am|we're|we are) )?{_BEGINNING}|for (?!the (?:bad|good) news)\w)",
    re.IGNORECASE,
)

_ABOUT_TO_IN_OTHERS = re.compile(
    r"(?:(?:gut|ok(?:ay)?|so|dann|danach|jetzt|nun|als nächstes|anschließend)\b[,:.!]? *)*"
    r"(?:ich (?:werde|muss (?:noch|jetzt|nun))\b|(?:werde|muss) ich\b|lass(?:t| mich| uns)\b|"
    r"(?:der |mein )?nächster? schritt(?: ist\b|:))|"
    r"(?:jetzt|nun|als nächstes)\b[,:]? *(?!(?:habe|hatte|sehe|sah|weiß|verstehe|bin|war|kann|"
    r"konnte|warte|glaube|denke|kenne|höre|lasse)\b)[a-zäöüß]+ (?:ich|wir)\b|"
    r"(?:次は|次に|次のステップ(?:は|として)|これから|続いて|続けて|今から)[^?\uff1f]*"
    r"(?<!待ち)(?<!待たせし)ます(?!か)\W*$",
    re.IGNORECASE,
)
"""The same in German and Japanese."""

_LIST_AHEAD = re.compile(
    r"(?:next(?: steps?| up)?|remaining(?: work| steps)?|to-?do|still (?:open|to do)|"
    r"what(?:'s| is) left)\W*$",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\blet me (?:know|explain|summari[sz]e|recap)\b|\bfeel free\b|\b(?:happy|glad) to\b|"
    r"\bif you\b|"
    r"\byou (?:can|could|may|might|should|want|would|need|are|prefer)\b|\bup to you\b|\byou're\b|"
    r"\bshould you\b|\bwait(?:ing)? for\b|\byour (?:answer|reply|feedback|review|input)\b|\?\W*$|"
    r"\blasst? mich (?:wissen|erklären)\b|\b(?:wenn|falls) (?:du|sie)\b|\bdein(?:e|er)? antwort\b",
    re.IGNORECASE,
)

_NO_STEP = re.compile(
    r"\b(?:will|to|let's|let me|am|are)(?: \w+)? (?:not|never|no longer)\b|"
    r"'(?:ll|m|re) (?:not|never|no longer)\b|"
    r"(?:\b(?:will|to|let me|let's)|'ll) (?:just |now )?"
    r"(?:stop(?: here| now| at| until|\W*$)|wait\b|pause\b|leave\b|admit\b|apologi[sz]e\b|"
    r"thank\b|be (?:clear|honest|careful)\b|see(?: what you| how you|\W*$))|"
    r"\b(?:was|were) told\b|\bich werde\b.{0,80}\bnicht\b|\bwerde ich nicht\b",
    re.IGNORECASE,
)
"""What sounds like a step and is none: it is not taken, or it is to stop and wait."""

_NOTHING_LEFT = re.compile(
    r"\bnothing (?:else |more )?(?:is |was )?(?:left|remains|remaining|to do)\b|"
    r"\bno (?:work|tasks?|steps?) (?:is |are )?(?:left|remains?)\b",
    re.IGNORECASE,
)

_ABOUT_HANDOFF = re.compile(r"\b(?:hand-?offs?|hand(?:ed|ing)? over)\b", re.IGNORECASE)
"""What the agent says once it was told that its context is full."""


def announced(records: Sequence[TranscriptLine]) -> str:
    """Returns the step that the agent has said it will take, in its last message, if it has called
    no tool since, and the user has typed nothing and interrupted nothing; "" = it has said none."""
    for record in reversed(records):
        if record.calls or record.is_interrupt or typed(record):
            return ""
        if record.author == AGENT and record.texts:
            sentences = list(split(record.texts[-1][-TEXT:]))
            at = _step(sentences)
            return masked_line(sentences[at][1], QUOTED).rstrip(":") if at is not None else ""
    return ""


def last_words(records: Sequence[TranscriptLine]) -> list[Quote]:
    """Returns the end of the message in which the agent last said what it will do, and that of its
    last one, the oldest first. What it said before its user typed or interrupted it counts no more,
    nor does what it said of a call that was refused, or of a handoff."""
    found: list[Quote] = []
    refused: set[str] = set()
    is_void, left = False, _MESSAGES
    for record in reversed(records):
        if record.is_interrupt or typed(record) or left <= 0:
            break
        refused.update(result.id for result in record.results if result.is_refused)
        if record.calls:
            is_void = any(call.id in refused for call in record.calls)
        is_heard = record.author == AGENT and not is_void
        for text in reversed(record.texts if is_heard else ()):
            left -= 1
            words, is_step = _end(text[-TEXT:])
            if words and (is_step or not found):
                found.insert(0, Quote(False, record.at, masked_line(words, QUOTED)))
            if is_step:
                return found
    return found


def _end(text: str) -> tuple[str, bool]:
    """Returns the last words of a message that tell of the work, up to the step that it announces,
    and whether there is one."""
    sentences = [each for each in split(text) if not _ABOUT_HANDOFF.search(each[0])]
    at = _step(sentences)
    until = sentences[: len(sentences) if at is None else at + 1]
    telling = [quote for prose, quote in until if not _COURTESY.search(prose)][-_SENTENCES:]
    words = " ".join(telling)
    return (words if len(words) <= QUOTED else "".join(telling[-1:])), at is not None


def _step(sentences: list[tuple[str, str]]) -> int | None:
    """Returns the place of the last sentence that announces a step; None = there is none."""
    for at in reversed(range(len(sentences))):
        prose = sentences[at][0]
        heading = sentences[at - 1][0] if at else ""
        if _NOTHING_LEFT.search(prose):
            return None
        is_step = _ABOUT_TO.match(prose) or _ABOUT_TO_IN_OTHERS.match(prose)
        is_step = is_step or _LIST_AHEAD.match(heading)
        if is_step and not _COURTESY.search(prose) and not _NO_STEP.search(prose):
            return at
    return None
