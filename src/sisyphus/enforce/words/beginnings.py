"""How a sentence begins or ends that says that work goes on: "Next: …", "Running the tests."."""

from __future__ import annotations

from sisyphus.enforce.words.english import NONE
from sisyphus.enforce.words.place import has_pair, is_finite
from sisyphus.enforce.words.prose import HEADING, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.words.sentences import Sentence

_LABELS = frozenset({"todo", "todos", "to do", "to-do", "open", "open items", "missing", "left"})
_NOT_NEXT = frozenset({"steps", "time", "to"})
_OPENERS = frozenset({"now", "so", "ok", "okay", "then", "and", "currently", "still", "meanwhile"})
_BUSY = frozenset({
    "running", "checking", "moving", "proceeding", "continuing", "starting", "implementing",
    "fixing", "adding", "updating", "writing", "working", "looking", "investigating", "reading",
    "beginning", "turning", "waiting", "launching", "retrying", "resuming",
})  # fmt: skip
_VERBS = frozenset({
    "gives", "shows", "takes", "works", "passes", "prints", "returns", "yields", "succeeds",
    "produces", "fails", "needs",
})  # fmt: skip
_MEANWHILE = frozenset({"still", "now", "currently", "also", "just"})
_AT_REST = frozenset({
    "stopping", "leaving", "ending", "waiting", "assuming", "hoping", "keeping", "using", "relying",
    "seeing", "referring", "thinking",
})  # fmt: skip
_FOR_YOU = frozenset({
    ("for", "you"), ("for", "your"), ("for", "instructions"), ("for", "further"), ("for", "new"),
    ("the", "next"),
})  # fmt: skip
_SUGGESTIONS = frozenset({
    ("i'd", "suggest"), ("i'd", "recommend"), ("i", "suggest"), ("i", "recommend"),
    ("would", "suggest"), ("would", "recommend"), ("you", "can"), ("you", "could"),
    ("you", "may"), ("you", "might"), ("you", "should"),
})  # fmt: skip
_SHORT = 8  # words of a sentence such as "Running the tests."
_SHORT_NEXT = 6  # and of "Tests next."


def find(sentence: Sentence, answer: list[str]) -> list[str]:
    """The words that say so; [] = none. `answer`: the words of a short sentence behind it."""
    if has_pair(sentence.words, _SUGGESTIONS):
        return []
    if _is_label(sentence, answer) or _is_busy(sentence) or _ends_with_next(sentence.words):
        return sentence.words
    for at, clause in enumerate(sentence.clauses):
        behind = sentence.clauses[at + 1].words if at + 1 < len(sentence.clauses) else answer
        if _begins_next(clause.words, behind) or _is_busy_now(clause.words):
            return clause.words
    return []


def _begins_next(words: list[str], behind: list[str]) -> bool:
    """ "Next: the docs", "on to the docs", but not "Next steps" or "Next: nothing"."""
    is_next = words[0] == "next" and _NOT_NEXT.isdisjoint(words[1:2])
    is_none = not NONE.isdisjoint((words[1:] or behind)[:1])
    return (is_next and not is_none) or words[:2] in (["on", "to"], ["now", "for"])


def _ends_with_next(words: list[str]) -> bool:
    """ "Tests next."."""
    return words[-1] == "next" and 1 < len(words) <= _SHORT_NEXT


def _is_label(sentence: Sentence, answer: list[str]) -> bool:
    """ "TODO: docs", a heading "To do", but not "Missing: nothing"."""
    first, *rest = sentence.clauses
    behind = rest[0].words if rest else answer
    is_label = first.mark == ":" or (sentence.kind == HEADING and not rest)
    return is_label and " ".join(first.words) in _LABELS and NONE.isdisjoint(behind[:1])


def _is_busy(sentence: Sentence) -> bool:
    """ "Running the tests." as a sentence; a list of what was done may have such items."""
    words = sentence.words
    start = 1 if words[0] in _OPENERS else 0
    return (
        sentence.kind == PARAGRAPH
        and len(words) <= _SHORT
        and not _BUSY.isdisjoint(words[start : start + 1])
        and not any(is_finite(word) or word in _VERBS for word in words)
        and not has_pair(words, _FOR_YOU)
    )


def _is_busy_now(words: list[str]) -> bool:
    """ "parsing now", "now parsing", "I'm still looking for …"."""
    now_first = words[0] == "now" and _is_gerund(words[1:2])
    return now_first or (words[-1] == "now" and _is_gerund(words[:1])) or _is_mine(words)


def _is_mine(words: list[str]) -> bool:
    """ "I'm adding", "we are still adding"."""
    for at, word in enumerate(words):
        if word in ("i'm", "we're") or words[at - 1 : at + 1] in (["i", "am"], ["we", "are"]):
            rest = [word for word in words[at + 1 : at + 3] if word not in _MEANWHILE]
            return _is_gerund(rest[:1]) and _AT_REST.isdisjoint(rest[:1])
    return False


def _is_gerund(words: list[str]) -> bool:
    word = "".join(words)
    return word.endswith("ing") and not word.endswith("thing")
