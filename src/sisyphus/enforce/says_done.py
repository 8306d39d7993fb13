"""Decides whether the last message of an agent says that the work is done.

A sentence says so if CLAIMS matches and nothing around the claim takes it back: DOUBTS up to its
end, EXCEPTIONS right after it. One sentence of WORK (something is left, fails, is planned, or needs
the user) outweighs all claims of the message.

It reads English. `enforce.claims` and `enforce.work` add a user's own phrases.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from sisyphus.ground import markdown

_CHARACTERS = 10_000
"""The most characters of the message's end that we read: more than a long report has."""

_SENTENCE = 400
"""The most characters of a sentence that we read: the patterns try many ways to match."""

_FINISHED = (
    r"done|completed?|rewritten|(?:finish|accomplish|fix|(?:re)?solv|correct|clos|implement|merg|"
    r"committ|push|shipp|deploy|publish|migrat|convert|upgrad|port|refactor|renam|restor|replac|"
    r"address)ed"
)
_STATE = (
    rf"(?:{_FINISHED}|seeded|installed|configured|covered|ticked|checked off|met|live|gone|green|"
    r"ready|working(?! on)|in(?: place|(?=[.,;:!]|$))|all set|"
    r"(?:wired |cleaned |set )?up(?: to date)?)\b"
)
_DID = (
    rf"(?:{_FINISHED}|(?:releas|add|updat|remov|delet|mov|chang|extract|creat)ed|rewrote|"
    r"wr(?:ote|itten)|built)\b"
)
_ANY_VERB = (  # in the past tense, without those of somebody who only looks or tries
    r"(?!(?:ne|inde|wait|want|us|tri|start|stop|paus|look|check|test|inspect|explor|examin|"
    r"investigat|analy[sz]|review|search|scann|trac|identifi|locat|notic|discover|observ|narrow|"
    r"isolat|reproduc|debugg|measur|compar|consider|plann|propos|suggest|decid|assum|ask|prepar|"
    r"open|queu|trigger|reach|receiv|encounter|fail|block|interrupt|revert|skipp|miss)ed\b)\w+ed\b"
)
_PAST = (
    rf"(?:{_ANY_VERB}|(?:done|(?:re)?(?:wr(?:ote|itten)|built)|made(?! an?\b)|put|split|cut|sent|"
    r"taken|given|drawn|gone through)\b)"
)
_SOON = r"(?:(?:now|all|both|also|again|just|already|been|\w+ly) )*"
_NO = r"(?:\b(?:no|none|nothing|zero)\b|(?<![\d.])\b0\b(?!\.\d))"
_LEFT = r"(?:(?:left|remains?|outstanding|missing|skipped|any ?(?:more|longer))\b|to do(?=[.!]|$))"
_TESTS = r"(?:tests?|specs?|suites?|builds?|checks?|ci|pipeline|lint|(?:the|last) run)\b"
_PASS = r"(?:(?:pass(?:es|ing|ed)?|succeed(?:s|ed)?|check out)\b|clean(?=[.,;:!)]| and\b|$))"
_TROUBLE = r"(?:errors?|failures?|problems?|issues?|warnings?|violations?|bugs?)\b"
_NEVER = r"(?:can't|cannot|(?:does|do|will) not|doesn't|don't|won't|never)"
_MISHAP = r"(?:happen|occur|crash|fail|hang|leak|flicker|break|block|freeze|overlap|deadlock)"
_BUT = r"\b(?:but|though|although|however|yet)\b.*"
_EXPLAINED = r"(?:done|implemented|configured|installed|deployed) (?:in|by|via|when|on)\b"
_READY = r"(?:done|completed?|finished|fixed|(?:re)?solved|implemented|merged|ready|working)\b"
_DOING = (  # somebody is at it: "still working" of a thing says that it works
    r"(?!\w*thing\b|pass|work(?!ing on)|us(?:ing|able)\b|(?:dur|accord|includ|exclud|exist)ing)"
    r"\w+ing\b"
)
_ACTING = (  # what an agent does, and a program hardly: "fixed, now returning 200"
    r"(?:check|look|runn|read|writ|add|fix|test|updat|wait|continu|verify|go|mov|start|work|build|"
    r"try|debugg|clean|review|investigat|trac)ing\b"
)
_OBJECT = (  # what follows a verb, and hardly a noun such as "logging"
    r"(?:at|in(?:to)?|through|over|with|(?:on)?to|from|back|down|out|around|across|against|after|"
    r"an?|my|your|its|this|that|these|those|each|every|whether|how|why|where|what)\b"
)
_NO_VERB = r"(?!.* (?:is|are|was|were|has|works?|worked|passes|passed|did|took)\b)[^,;:]* "
_ORDINAL = r"(?:first|second|third|next|previous)"
_CHECK = (
    r"\b(?:tests?|builds?|checks?|which|it|they|others?|ci|pipeline|lint|\d+|one|two|three|four)\b"
    r"(?: (?!that\b)\S+){0,3}?"
)
_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine)"

# Each line of a row is a pattern of its own.
CLAIMS = {
    "terse": rf"""
        ^(?:\w+: |it's |it is |everything )?{_SOON}{_DID}
        ^{_ANY_VERB} (?:back |up |out )?(?:the|an?|all|both|each|every|\d+)\b
        ^(?:\w+ ){{1,3}}{_DID}(?=[.,:;!]|$)
        ^sorted(?=[.!])|^(?:that's (?:all|it|everything)|all (?:set|green|good|clean))\b
        ^(?:found\b.* and fixed|verified)\b""",
    "it is done": rf"""
        (?:\b(?:is|are|am|has|have)|'(?:s|re|m|ve)) {_SOON}(?!{_EXPLAINED}){_STATE}
        ^(?:both|all|every)\b.* (?:is|are) \w+(?:ed|en|ilt|wn|made)\b""",
    "I did it": rf"""
        \b(?:(?:i|we)(?:'ve| have)?|ha(?:s|ve) (?:\w+ )?been|(?:is|are) now) {_SOON}{_PAST}
        \b(?:is|are) now (?:\w+ly )?\w+(?:-\w+|[ai]ble|ic|ive|er)\b
        \bi(?:'ve)? (?:check|verifi|confirm|test|tri)ed (?:it|this|both|them|the fix|the result)\b
        \b(?:is|are) (?:all|both) {_DID}
        (?:,| and) {_DID} (?:it|them|the|an?|all|both)\b""",
    "tests pass": rf"""
        \b(?:(?:all|every|everything|both|it|types)\b|{_TESTS}).{{0,60}}? {_PASS}
        \b\d+ (?:tests? )?pass(?:ed|ing)\b|\bpasses(?=[.,;!]| and\b|$)
        \b(?:without|(?:reports?|with) (?:no|0|zero))(?: any| an?)? (?:\w+ )?{_TROUBLE}
        \bsuccessfully\b|^success(?=[.!])
        \beverything (?:compiles|builds|runs)\b""",
    "it works": rf"""
        \b(?:works|behaves|(?:and|they|all|both) work)\b(?! (?:by|like|with|for|if|only)\b)
        \bworked(?=[.,:;!])|\b(?:(?:ran|went) through|ran to completion|that should do it)\b
        \b(?:ran|runs) .{{0,20}}?as (?:it should|expected|intended)\b
        \b(?={_NEVER} {_MISHAP}s? (?:any ?more|any longer|again)\b)
        \b(?:now (?:\w+s|work)|can now)\b|(?<!right )\bnow(?=[.,:;(!]| \(| and\b|$)
        ^(?:the|your|both|all)\b.* again(?=[.!])
        \bno longer\b|\b(?:down|went) from\b""",
    "nothing left": rf"""
        {_NO}.{{0,40}} {_LEFT}
        \b(?:this|that) (?:completes|finishes|closes|resolves|fixes|solves|was the last)\b""",
}
DOUBTS = {
    "negated": rf"""
        (?:\b(?:not|never|unable|far from|hardly|barely|neither|nor)|n't)\b[^,]*$
        {_NO}(?! longer| (?:\w+ )?{_TROUBLE})(?!.{{0,40}} {_LEFT})""",
    "partial": rf"""
        \b(?:mostly|almost|nearly|part(?:ly|ially)?|half(?:way)?|most|some|several|only|so far)\b
        \b(?:up to (?!date)|locally|thirds|{_NUMBER} (?:out )?of|\d+ ?% (?:done|complete|of))\b
        ^(?:the |this )?(?:\w+ )?(?:part|phase|step|stage|milestone|skeleton|draft|prototype)\b
        \b(?:all|everything|both|every \w+) (?:but|except|apart from|other than|save)\b
        \bthe (?:{_ORDINAL}|{_NUMBER}) (?:\w+ )?(?:of|part|phase|step|tasks?|items?|version)\b""",
    "hedged": r"""
        \b(?:should(?! do it)|may|might|could|would|probably|perhaps|maybe|hopefully|likely)\b
        \b(?:seems?|looks?|appears?|doubt|supposed|says|said|claims|states)\b
        \bi (?:think|believe|guess|suggest|recommend|see|understand|know)\b
        \b(?:in (?:principle|theory)|according to)\b""",
    "conditional": r"""
        ^to (?!recap|sum|.*\b(?:i|we)\b)
        \b(?:if|when|once|unless|until|whether|as soon as|in case|how)\b
        \b(?:after|before|while|since|because)\b[^,]*$""",
    "planned": r"""
        \b(?:will|\w+'ll|going to|to be|being|must|needs?|let me|let's|can be|ha(?:s|ve) to)\b
        \b(?:try(?:ing)? to|definition|make sure|check that)\b""",
}
EXCEPTIONS = {
    "except": rf"""
        \b(?:except|apart from|other than|so far|only|in (?:principle|theory))\b|(?:\bnot|n't)\W*$
        {_BUT}(?:\bnot?\b|n't\b|\bun\w+ed\b)
        {_BUT}\b(?:same|still|slow|miss|need|reject|denied|fail|wrong|hang|crash)""",
    "partial": rf"""
        ^ (?:up |out )?(?:(?:some|most|half|part|several|a few)\b|(?:\w+ )?{_NUMBER} of\b)
        ^ (?:up |out )?(?:the|its|my|our) {_ORDINAL}\b
        ^ (?:with )?(?:\w+ )?(?:step|part|phase|stage) \w+
        ^ with (?:the|this|that|my) (?:\w+ )?(?:step|part|phase|stage|half)\b""",
    "conditional": r"^\W*(?:if|when|once|unless|until|as soon as|because)\b|\bto see (?:if|how)\b",
    "groundwork": r"""
        ^ (?:\w+ ){0,4}?(?:skeleton|scaffold\w*|stubs?|draft|to-?do list|plan|outline|boilerplate)\b
        ^ (?:\w+ ){0,4}?(?:a failing|prototype|reading|investigat\w+|analy[sz]\w+|research)\b""",
}
WORK = {
    "left": rf"""
        (?<!no )\bthere (?:is|are) .{{0,30}}\b(?:to do|(?<!the )left|missing)(?=\W*$|[.,;:!])
        \bone more thing (?:to|left|needs)\b
        ^(?:done|complete|progress|status)\W{{1,3}}\d+ (?:out )?of \d
        \bstill (?:needs?|ha(?:s|ve)|must|to|open|unclear|there|lacks?|in progress|do(?:es)?n't)\b
        \bstill (?:miss|fail|report|hang|break|brok|contain|crash|occur|happen|appear|throw|leak)
        \bstill (?:los|flicker|error|tim(?:es|ing) out|wrong|red\b|slow|empty|stuck|block)
        \bstill (?:return|give|show|get|print)s? (?:an? |the )?(?:[45]\d\d|error|old|wrong|empty)
        ^[^,;:]* (?:is|are|has|have|does|do)(?: not|n't)\W*$
        \b(?:is|are) (?:\w+ )?(?:left|missing|outstanding|pending|stuck|needed)\b
        \b(?:is|are) (?:\w+ )?un(?:tested|verified|finished)\b|\b(?:are|still) open\b|\bfor now\b
        \b(?:(?:is|are)(?: not|n't)|half|part(?:ly|ially)|almost|mostly|nearly) (?:\w+ )?{_READY}
        \b(?:ha(?:s|ve)|needs?) to be\b|\bha(?:s|ve) yet to\b
        (?:\b(?:not|nothing|none)|n't) (?:.{{0,30}} )?(?:yet|started|begun)\b
        \bha(?:s|ve)(?: not|n't) been (?!changed)
        \bremains?\b(?! (?:the|un|as|in|stable)|, (?:all|both) )
        (?<!ed )\bthe (?:remaining|others|other {_NUMBER}|next (?:one|error|problem|failure|task))\b
        \bthe rest (?:of|is|are|needs?|ha(?:s|ve)|will)\b(?! unchanged)""",
    "heading": r"""
        ^(?:remaining|to-?do|still (?:to do|open)|what(?:'s| is) (?:left|missing)|known issues)\b
        ^(?:open (?:items|points|tasks|questions)\b|not (?:yet )?done\b|outstanding\b|to do\W*$)
        ^next(?: steps?| up)?\s*(?::|$)(?!.*\b(?:optional|you)\b)
        ^(?:\w+: )?(?:open|pending|partial\w*|blocked|failed|incomplete|wip|not started)\W*$""",
    "fails": rf"""
        {_CHECK} (?:fails?|breaks?|hangs?|crash(?:es)?|times? out|(?:is|are|still) failing)\b
        (?<!fixed )(?<!from )(?<!the )(?<!all )\b[1-9]\d* (?:tests? )?(?:failed|failures|errors)\b
        \bthere (?:is|are) .{{0,30}}\b{_TROUBLE}
        \bwith an? (?:failure|error)\b|\b(?:is|are) (?:\w+ )?(?:red|broken)\b""",
    "planned": r"""
        \b(?:i|we)(?:'ll (?!be |leave )| will\b)
        \bnext,? i\b|^next,|\bnow (?:i|for the|to the)\b|[,;:] now the \w+\W*$|\blet me (?!know)
        (?:^|[,;:] |\band )on to (?:the|step|task|part|number)\b
        \b(?:moving (?:on|to)|i (?:start|must|need)|my plan)\b
        \bready to (?:start|begin|proceed|continue|implement)\b
        \b(?:(?:comes?|is|are) next|follows? (?:next|later|tomorrow|after|in))\b""",
    "running": rf"""
        (?:^|[,;:(] ?|\b(?:and|but) )(?:still|currently) {_DOING}
        ^(?:busy (?:with|on)|making (?:\w+ )?progress)\b
        \b{_TESTS} (?:is|are) (?:still |now )?running(?: now)?(?=[.,;!]|$)
        ^now {_DOING}|[,;:] (?:and )?now {_ACTING}
        ^(?:continuing|{_DOING} (?:the|on|for|full|all|up))\b
        ^(?:just |only )?{_DOING}{_NO_VERB}{_OBJECT}
        ^{_DOING}{_NO_VERB}now\W*$
        \b(?:i'm|i am|we're|we are) (?:(?:now|still|currently) )*(?:\w+ing|about|blocked|stuck)\b
        \b(?:i'm|i am|we're|we are) (?:busy|(?:half|mid|part )way|in the middle)\b
        \bin(?:[ -]progress| the background)\b|\b(?:is|are) (?:still )?working on\b""",
    "unable": r"""
        \bi (?:could not|couldn't|cannot|can't|am unable|was unable|wasn't able|haven't|have not)\b
        \bi did(?:n't| not) (?:manage|finish|complete|get|run|test|verify)\b
        \b(?:rolled|roll|reverted) (?:it|that|this|them|everything)(?: all)? ?back\b
        \b(?:i stop(?:ped)?|no way to|ran out of|(?:hit|reached) .{0,20} limit)\b""",
    "asks": r"""
        \?$|\bplease (?:confirm|advise|tell|provide|choose|decide|answer)\b
        \b(?:let me know|tell me) (?:which|how|what|whether)\b|\b(?:need your|send me|show me)\b""",
}


def says_done(text: str, claims: Sequence[str] = (), work: Sequence[str] = ()) -> bool:
    """Tells whether a message says that the work is done. `claims` are further phrases that say so,
    `work` further ones that say that it goes on; case does not matter."""
    more_claims, more_work = _phrases(claims), _phrases(work)
    is_claimed = False
    for sentence in _sentences(text):
        troubles = _NO_TROUBLE.sub("", sentence)
        if _UNTICKED.search(sentence) or _WORK.search(troubles) or more_work.search(sentence):
            return False
        claim = _CLAIM.search(sentence) or more_claims.search(sentence)
        is_claimed = is_claimed or bool(claim and _holds(claim))
    return is_claimed


def _holds(claim: re.Match[str]) -> bool:
    """Tells whether nothing around a claim takes it back. What follows a colon only explains."""
    before, after = claim.string[: claim.end()], re.split("[:;]", claim.string[claim.end() :])
    return not _DOUBT.search(before) and not _EXCEPTION.search(after[0])


def _sentences(text: str) -> Iterator[str]:
    """Yields the sentences, headings, list items and table cells of the prose, without quotations
    and ornaments."""
    end = markdown.visible(text)[-_CHARACTERS:].lower()
    straight = end.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for piece in _END.split(_QUOTED.sub("…", straight)):
        words = piece.strip()
        if not _UNTICKED.search(words):
            words = " ".join(_ORNAMENT.sub("", words).split()).rstrip(_EMOJI)
        yield _ALL_OF_ALL.sub("everything", words[:_SENTENCE])


def _phrases(phrases: Sequence[str]) -> re.Pattern[str]:
    """Returns a pattern of the phrases as whole words. It never matches if there are none."""
    return _either(rf"(?<!\w){re.escape(p.strip().lower())}(?!\w)" for p in phrases if p.strip())


def _either(rows: Iterable[str]) -> re.Pattern[str]:
    patterns = [line.strip() for row in rows for line in row.splitlines() if line.strip()]
    return re.compile("|".join(patterns) or "(?!)")


_CLAIM, _DOUBT, _EXCEPTION, _WORK = (
    _either(table.values()) for table in (CLAIMS, DOUBTS, EXCEPTIONS, WORK)
)
_NO_TROUBLE = re.compile(
    rf"(?:{_NO}(?! way|.* yet\b)|\b(?:if|when|where|whose|why|used to)\b|"
    r"(?:\b(?:not|never|no longer)|n't) (?:fail|break|hang|crash))[^,;:?]*"
)
_ALL_OF_ALL = re.compile(r"(?:\b\w+ )?\b(\d+) (?:out )?of \1\b")
_UNTICKED = re.compile(r"^(?:[-*+] |\d+[.)] )?\s*(?:\[ \]|[❌⏳🚧])|[❌⏳🚧]$")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”")
_END = re.compile(r"(?<=[.!?;])[\"')*_]*\s+|[|\n]")
_EMOJI = " ✅✔☑🎉🚀👍✨💯\ufe0f"
_ORNAMENT = re.compile(r"^(?:\d+[.)]\s)?[^\w(]+|[*_#`]+")
