"""Whether a message ends by asking the user something."""

from __future__ import annotations

from sisyphus.enforce.words.place import has_pair
from sisyphus.enforce.words.prose import HEADING, ITEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.enforce.words.sentences import Sentence

_COURTESY = frozenset({
    "let", "please", "thanks", "thank", "just", "tell", "happy", "feel", "otherwise",
})  # fmt: skip
"""First words of what may still follow a question."""

_REQUESTS = frozenset(
    (verb, word)
    for verb in ("know", "me")
    for word in ("which", "whether", "how", "what", "where", "who")
) | frozenset(
    ("please", verb)
    for verb in (
        "confirm", "choose", "decide", "advise", "clarify", "provide", "answer", "specify", "tell",
        "pick",
    )
)  # fmt: skip
_WAITS = frozenset({"need", "needs", "wait", "waiting", "await", "awaiting", "want"})
_ANSWERS = frozenset(
    ("your", answer)
    for answer in ("decision", "answer", "input", "reply", "confirmation", "choice", "approval")
)


def asks(backwards: Iterable[Sentence]) -> bool:
    """A question with a list of answers or with courtesies behind it is the end too.

    A heading asks nobody. `backwards`: from the last sentence on.
    """
    for at, sentence in enumerate(backwards):
        if sentence.is_question and sentence.kind != HEADING:
            return True
        if at == 0 and _requests(sentence):
            return True
        if sentence.kind != ITEM and sentence.words[0] not in _COURTESY:
            return False
    return False


def _requests(sentence: Sentence) -> bool:
    """ "Please confirm.", "Let me know which one you prefer.", "I need your decision."."""
    words = sentence.words
    waits = not _WAITS.isdisjoint(words) and has_pair(words, _ANSWERS)
    return waits or has_pair(words, _REQUESTS)
