from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enforce.words.phrases import CLAIMS, DOES_NOT, OTHERWISE, SAYS_DONE
from sisyphus.enforce.words import lists, prose
from sisyphus.enforce.words.completion import END, find
from sisyphus.text import one_line

WORDS = [
    *("done", "complete", "finished", "all", "not", "never", "is", "I", "will", "if", "so", "and"),
    *("the", "tests", "almost", "80%", "3/5", "of", "5", "let me", "remaining", "next", "tool"),
    *(".", "?", "!", ",", ":", "\u2014", "\n", "\n\n", "\r\n", "- ", "- [ ] ", "## ", "> ", "`"),
    *("```", "~~~", '"', "'", "\u2019", "\u201c", "\u201d", "(", ")", "**", "<!--", "-->", "\x1b"),
    *("|", "<b>", "[a](b)", "\u2705", "\u5b8c\u6210", "\u00e9", "\0", "\ud800", "    "),
]
MESSAGES = st.one_of(
    st.text(),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=3)), max_size=40).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=40).map("".join),
)
PHRASES = st.lists(st.one_of(st.text(max_size=12), st.sampled_from(WORDS)), max_size=12)


@pytest.mark.parametrize("message", SAYS_DONE)
def test_these_say_that_the_work_is_done(message: str) -> None:
    found = find(message)

    assert found.says_done, found.why
    assert found.why == f"\u201c{found.claim}\u201d says that the work is done"


@pytest.mark.parametrize("message", DOES_NOT)
def test_these_do_not(message: str) -> None:
    found = find(message)

    assert not found.says_done, found.why
    assert found.claim == ""
    assert found.why


NEGATED = [
    "The task is not {}.",
    "The task isn't {}.",
    "The task isn\u2019t {} yet.",
    "The task is not yet {}.",
    "The task has never been {}.",
    "The task is hardly {}.",
    "The task cannot be called {}.",
    "The task is far from {}.",
    "The task is no longer {}.",
    "I don't think the task is {}.",
    "No task is {}.",
    "None of it is {}.",
    "Nothing is {}.",
    "The task is neither good nor {}.",
    "NOT {}!",
    "- **not** {}",
]


@pytest.mark.parametrize("word", ["done", "complete", "completed", "finished", "ready for review"])
@pytest.mark.parametrize("sentence", NEGATED)
def test_a_negated_word_says_nothing(sentence: str, word: str) -> None:
    assert find(f"The task is {word}.").says_done
    assert not find(sentence.format(word)).says_done


WHYS = [
    pytest.param("I am done.", "“I am done.” says that the work is done", id="done"),
    pytest.param("I changed it.", "no completion words", id="no word at all"),
    pytest.param("It prints `done`.", "no completion words", id="in code only"),
    pytest.param("It is not done.", "“done” is negated", id="negated"),
    pytest.param("Done? It is.", "“done” stands in a question", id="a question"),
    pytest.param(
        "All done. Go on?", "the message ends with a question to the user", id="asks the user"
    ),
    pytest.param("Once done, it rests.", "“done” depends on a condition", id="a condition"),
    pytest.param("It will be done.", "“done” is still ahead", id="ahead"),
    pytest.param("It is almost done.", "“done” is said of a part", id="a part"),
    pytest.param("You can get it done.", "“done” is left to the user", id="the user's"),
    pytest.param("Das ist done.", "“done” stands in a sentence of another language", id="German"),
    pytest.param("The build is done.", "“done” is said of a tool", id="a tool"),
    pytest.param("They said it is done.", "“done” is what somebody else says", id="reported"),
    pytest.param("A complete list.", "“complete” describes something", id="describes"),
    pytest.param("The tool is done.", "“done” stands beside “tool is done”", id="beside work"),
    pytest.param(
        "Step 1 is done. Now I'll implement `x` in the parser.",
        "work goes on: “i'll implement … in the parser”",
        id="goes on",
    ),
    pytest.param("- [x] done\n- [ ] docs", "work goes on: “[ ] docs”", id="an open box"),
    pytest.param("Well done! Is it done? Yes.", "“done” stands in a question", id="the last doubt"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "why"), WHYS)
def test_the_reason_is_said_in_plain_words(message: str, why: str) -> None:
    assert find(message).why == why


CLAIMED = [
    pytest.param("**State:** done", "**State:** done", id="emphasis that is not around it all"),
    pytest.param("**All done!**", "All done!", id="emphasis around it all"),
    pytest.param("## All done", "All done", id="a heading"),
    pytest.param("The work\nis\n\tdone.", "The work is done.", id="white space is folded"),
    pytest.param("It is\x1b[31m done.", "It is [31m done.", id="no control characters"),
    pytest.param("`a.py` is done.", "`a.py` is done.", id="code is shown"),
    pytest.param("x " * 80 + "; it is done.", "it is done.", id="from its clause on"),
    pytest.param("It is done " + "x" * 200, ("It is done " + "x" * 200)[:120], id="cut"),
]


@pytest.mark.parametrize(("message", "claim"), CLAIMED)
def test_the_claim_is_the_sentence_on_one_line(message: str, claim: str) -> None:
    assert find(message).claim == claim


def test_the_lists_are_the_callers() -> None:
    assert find("Shipped.", claims=["shipped"]).says_done
    assert find("I shipped it.", claims=["shipp*"]).says_done
    assert find("Done. Polishing the docs.", works=["polish*"]).why.startswith("work goes on")
    assert find("Let me see. Done, let me out.", works=[]).says_done
    assert not find("All done.", claims=[]).says_done


ODD = [
    pytest.param([""], id="an empty entry"),
    pytest.param(["   ", "\n"], id="white space"),
    pytest.param(["*", "**", "a*b", "* a"], id="stars in wrong places"),
    pytest.param(["(a+)+$", "[", "\\", ".*", "(?P<x>"], id="marks of regular expressions"),
    pytest.param(["\0"], id="what stands for hidden text"),
    pytest.param(["d" * 101], id="too long an entry"),
    pytest.param([f"x{n}" for n in range(10_000)], id="ten thousand entries"),
    pytest.param([1, None, ["done"]], id="no strings"),
]


@pytest.mark.parametrize("entries", ODD)
def test_entries_that_are_no_phrases_say_nothing(entries: list[str]) -> None:
    assert not find("It is done, `a` (b). [", claims=entries).says_done
    assert find("It is done, (b).", works=entries).says_done


def test_only_the_end_of_a_message_is_looked_at() -> None:
    filler = "I changed a file.\n" * 20_000

    assert find(filler + "All done.").says_done
    assert find("All done.\n" + filler).why == "no completion words"
    assert len(prose.end_of(filler, END)) <= END


def test_a_long_block_of_code_stays_code() -> None:
    code = "All done.\n" * (END // 5)

    assert not find(f"Here it is:\n\n```\n{code}```\n").says_done
    assert not find(f"Here it is:\n\n```\n{code}").says_done
    assert find(f"Here it is:\n\n```\n{code}```\n\nAll done.").says_done


@given(message=MESSAGES, claims=PHRASES, works=PHRASES)
def test_nothing_raises(message: str, claims: list[str], works: list[str]) -> None:
    find(message, claims, works)


@given(message=MESSAGES)
def test_the_claim_stands_in_the_message(message: str) -> None:
    found = find(message)

    assert found.claim in one_line(message)
    assert len(found.claim) <= 120
    assert found.says_done == (found.claim != "")
    assert "\n" not in found.why


@given(message=MESSAGES)
def test_the_same_message_has_the_same_answer(message: str) -> None:
    first, second = find(message), find(message)

    assert (first.says_done, first.claim, first.why) == (
        second.says_done,
        second.claim,
        second.why,
    )


CLAIMING = st.one_of(MESSAGES, st.sampled_from([*CLAIMS.values(), *OTHERWISE.values()]))


@given(message=CLAIMING)
def test_what_stands_in_a_fence_says_nothing(message: str) -> None:
    fence = "`" * (3 + message.count("`"))

    assert not find(f"{fence}\n{message}\n{fence}").says_done


@given(message=CLAIMING)
def test_what_is_quoted_says_nothing(message: str) -> None:
    lines = message.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    assert not find("\n".join(f"> {line}" for line in lines)).says_done


@given(message=st.sampled_from([*CLAIMS.values()]))
def test_announced_work_takes_a_claim_back(message: str) -> None:
    assert not find(f"{message}\n\nNow I'll write the docs.").says_done
    assert not find(f"{message}\n\nShall I go on?").says_done


def test_the_lists_are_spelled_as_they_are_searched() -> None:
    assert all(phrase == phrase.lower().strip() for phrase in (*lists.CLAIMS, *lists.WORKS))
