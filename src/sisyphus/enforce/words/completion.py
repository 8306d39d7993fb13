"""The completion law: which message says that the work is done.

A message says it by a completion word in its prose, in a sentence that does not take it back, and
nothing that stands behind it speaks of work ahead, or asks the user something. What is looked at
is the end of the message: of two sentences that disagree the later one counts.

Prose is what paragraphs, items and headings say. Code, comments, quotations, links and tables are
shown, not said. What a tool says ("done in 3 s", "the build is done") is not said of the work, and
a sentence in another language is left alone. The law by example: `tests/enforce/words/phrases.py`.
"""

from __future__ import annotations

from sisyphus.enforce.words.finding import Finding
from sisyphus.enforce.words.lists import CLAIMS, NO_WORDS, WORKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

END = 10_000
"""Characters at the end of a message that are looked at: more than models end a turn with."""


def find(text: str, claims: Sequence[str] = CLAIMS, works: Sequence[str] = WORKS) -> Finding:
    """What the message `text` says; `claims` and `works` are phrases as `lists.py` has them.

    Whatever the lists hold: what is no phrase is passed over. Linear in the length of the text.
    """
    from sisyphus.enforce.words.phrases import Phrases

    wanted = Phrases(claims)
    if not wanted.may_be_in(text[-END:]):
        return Finding(NO_WORDS)
    from sisyphus.enforce.words import judge, prose, sentences

    return judge.judge(sentences.backwards(prose.read(text, END)), wanted, Phrases(works))
