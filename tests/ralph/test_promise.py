from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sisyphus import markdown
from sisyphus.ralph import promise

T = "<promise>DONE</promise>"

KEPT = [
    pytest.param(T, id="the tag is all there is"),
    pytest.param(f"All is well.\n\n{T}", id="alone on the last line"),
    pytest.param(f"{T}\n\nThat was it.", id="alone on the first line"),
    pytest.param(f"Before.\n{T}\nAfter.", id="alone on a line in the middle"),
    pytest.param(f"  {T}  \n", id="white space around it"),
    pytest.param(f"Before.\r\n{T}\r\nAfter.", id="CRLF"),
    pytest.param(f"Before.\r{T}\rAfter.", id="CR alone"),
    pytest.param(f"\ufeff\n{T}", id="a byte order mark above it"),
    pytest.param("<promise>  DONE\t</promise>", id="white space inside the tag"),
    pytest.param("<promise>\nDONE\n</promise>", id="the tag on three lines"),
    pytest.param("<promise>\n\nDONE\n\n</promise>", id="empty lines inside the tag"),
    pytest.param(f"**{T}**", id="bold"),
    pytest.param(f"*{T}*", id="italic"),
    pytest.param(f"__{T}__", id="bold with underscores"),
    pytest.param(f"***{T}***", id="bold and italic"),
    pytest.param(f"{T}.", id="a full stop behind it"),
    pytest.param(f"{T}!", id="an exclamation mark behind it"),
    pytest.param(f"**{T}.**", id="a full stop within the emphasis"),
    pytest.param(f"**{T}**!\nMore.", id="a mark behind the emphasis, in the middle"),
    pytest.param(f"The task is complete. {T}", id="at the end, after a sentence"),
    pytest.param(f"All tests pass: {T}", id="at the end, after a colon"),
    pytest.param(f"Everything is finished and verified — {T}.", id="at the end, after a dash"),
    pytest.param(f"**Finished** {T}", id="at the end, after emphasis"),
    pytest.param(f"I did not skip a test. {T}", id="the negation is in the sentence before"),
    pytest.param(f"Is it done? {T}", id="the question is the sentence before"),
    pytest.param(f"- It is not pretty\n- Finished: {T}", id="the negation is in the item before"),
    pytest.param(f"I will go on.\n\nDone: {T}", id="the delay is in the paragraph before"),
    pytest.param(f"# Later\nDone: {T}", id="the delay is in the heading before"),
    pytest.param(f"No errors are left: {T}", id="no, but of something else"),
    pytest.param(f"- tests\n- {T}", id="the last item of a list"),
    pytest.param(f"1. tests\n\n   {T}\n2. more", id="alone in a numbered item"),
    pytest.param(f"- tests\n\n    {T}\n- more", id="indented as text of an item"),
    pytest.param(f"text\n    {T}\nmore", id="indented, but going on with a paragraph"),
    pytest.param(f"```\ncode\n```\n{T}", id="behind a fence"),
    pytest.param(f"~~~\ncode\n~~~\n{T}", id="behind a fence of tildes"),
    pytest.param(f"- a\n  ```\n  code\n{T}", id="the item ends, and its open fence with it"),
    pytest.param(f"``` not a fence ```\n{T}", id="a line of inline code that looks like a fence"),
    pytest.param(f"Run `make` first.\n{T}", id="behind inline code"),
    pytest.param(f"A ` alone.\n{T}", id="behind a lone backtick"),
    pytest.param(f"Escaped \\` and `x`.\n{T}", id="behind an escaped backtick"),
    pytest.param(f"<!-- note -->\n{T}", id="behind a comment"),
    pytest.param(f"<!-->\n{T}", id="behind the shortest comment"),
    pytest.param(f"a <!-- b\n{T}", id="a comment in mid-line that is never closed"),
    pytest.param(f"<!-- note --> {T}", id="after a comment, at the end"),
    pytest.param(f"> quoted\n\n{T}", id="behind a quotation"),
    pytest.param(f"> # quoted heading\n{T}", id="a quoted heading takes in no more lines"),
    pytest.param(f"> ```\n{T}", id="a fence in a quotation takes in no more lines"),
    pytest.param(f"I mention <promise> here.\n\n{T}", id="an open tag in an earlier paragraph"),
    pytest.param(f"{T}\n\n</promise>", id="a stray closing tag in a later paragraph"),
    pytest.param(f"<PROMISE>\n{T}", id="an upper-case tag is no tag"),
    pytest.param(f"<promise>OTHER</promise>\n{T}", id="another promise before it"),
    pytest.param(f"{T}\n{T}", id="twice"),
    pytest.param(f"Say {T} when done.\n\n{T}", id="mentioned first, then kept"),
    pytest.param(f"e.g. this and i.e. that: {T}", id="abbreviations end no sentence"),
    pytest.param(f"\0\n{T}", id="a NUL is an ordinary character"),
]

NOT_KEPT = [
    pytest.param("", promise.NO_TAG, id="nothing"),
    pytest.param("DONE", promise.NO_TAG, id="the bare word"),
    pytest.param("The promise is DONE", promise.NO_TAG, id="the words without a tag"),
    pytest.param("<PROMISE>DONE</PROMISE>", promise.NO_TAG, id="upper-case tag"),
    pytest.param("<Promise>DONE</promise>", promise.NO_TAG, id="half upper-case tag"),
    pytest.param('<promise id="1">DONE</promise>', promise.NO_TAG, id="attributed tag"),
    pytest.param("<promise >DONE</promise>", promise.NO_TAG, id="a space in the tag"),
    pytest.param("< promise>DONE</promise>", promise.NO_TAG, id="a space before the name"),
    pytest.param("&lt;promise&gt;DONE&lt;/promise&gt;", promise.NO_TAG, id="escaped tag"),
    pytest.param("<promise/>DONE", promise.NO_TAG, id="empty tag"),
    pytest.param("<promise>DONE", promise.MALFORMED, id="never closed"),
    pytest.param("<promise>DONE</promise", promise.MALFORMED, id="half closed"),
    pytest.param("<promise>DONE<promise>", promise.MALFORMED, id="closed by an opening tag"),
    pytest.param(f"<promise>{T}</promise>", promise.MALFORMED, id="nested"),
    pytest.param(f"<promise>\n{T}\n</promise>", promise.MALFORMED, id="nested over lines"),
    pytest.param(f"<promise>\n\n{T}\n\n</promise>", promise.MALFORMED, id="nested over paragraphs"),
    pytest.param(f"<promise>\n{T}", promise.MALFORMED, id="below an open tag"),
    pytest.param(f"<promise>X {T}", promise.MALFORMED, id="behind an open tag"),
    pytest.param(f"{T}</promise>", promise.MALFORMED, id="closed twice"),
    pytest.param(f"{T}\n</promise>", promise.MALFORMED, id="closed again on the next line"),
    pytest.param(f"</promise>{T}", promise.MALFORMED, id="behind a stray closing tag"),
    pytest.param("<promise>done</promise>", "`done`", id="another case"),
    pytest.param("<promise>DONE.</promise>", "`DONE.`", id="a full stop inside"),
    pytest.param("<promise>NOT DONE</promise>", "`NOT DONE`", id="another promise"),
    pytest.param("<promise></promise>", "``", id="an empty promise"),
    pytest.param("<promise>**DONE**</promise>", "`**DONE**`", id="emphasis inside the tag"),
    pytest.param("<promise>`DONE`</promise>", "``DONE``", id="code inside the tag"),
    pytest.param('<promise>"DONE"</promise>', '`"DONE"`', id="quotes inside the tag"),
    pytest.param("<promise>DO<!-- -->NE</promise>", "`DO<!-- -->NE`", id="a comment inside"),
    pytest.param(f"```\n{T}\n```", promise.SHOWN, id="in a fence"),
    pytest.param(f"```xml\n{T}\n```\nmore", promise.SHOWN, id="in a fence with a language"),
    pytest.param(f"~~~\n{T}\n~~~", promise.SHOWN, id="in a fence of tildes"),
    pytest.param(f"````\n```\n{T}\n````", promise.SHOWN, id="in a longer fence"),
    pytest.param(f"```\n    ```\n{T}", promise.SHOWN, id="the closing fence is too far in"),
    pytest.param(f"```\n``` x\n{T}", promise.SHOWN, id="a closing fence has no words"),
    pytest.param(f"```\n{T}", promise.SHOWN, id="in a fence that is never closed"),
    pytest.param(f"- a\n  ```\n  {T}\n  ```", promise.SHOWN, id="in the fence of an item"),
    pytest.param(f"- ```\n  {T}\n  ```", promise.SHOWN, id="in a fence that opens an item"),
    pytest.param(f"Output:\n\n    {T}\n\nas asked.", promise.SHOWN, id="in indented code"),
    pytest.param(f"Output:\n\n\t{T}\n", promise.SHOWN, id="in code indented by a tab"),
    pytest.param(f"`{T}`", promise.SHOWN, id="in inline code"),
    pytest.param(f"``a ` {T}``", promise.SHOWN, id="in inline code of two backticks"),
    pytest.param(f"`code\n{T}\ncode`", promise.SHOWN, id="in inline code over lines"),
    pytest.param(f"<!-- {T} -->", promise.SHOWN, id="in a comment"),
    pytest.param(f"<!--\n\n{T}\n\n-->", promise.SHOWN, id="in a comment over paragraphs"),
    pytest.param(f"<!--\n{T}", promise.SHOWN, id="in a comment that is never closed"),
    pytest.param(f"a <!-- {T} --> b", promise.SHOWN, id="in a comment in mid-line"),
    pytest.param(f"> {T}", promise.SHOWN, id="in a quotation"),
    pytest.param(f"   >{T}", promise.SHOWN, id="in an indented quotation"),
    pytest.param(f"> You said\n{T}", promise.SHOWN, id="a quotation goes on without its mark"),
    pytest.param(f"> a\nb\n{T}", promise.SHOWN, id="it goes on for several lines"),
    pytest.param(f"- > {T}", promise.SHOWN, id="in a quotation in an item"),
    pytest.param(f"> ```\n> {T}\n> ```", promise.SHOWN, id="in a fence in a quotation"),
    pytest.param(f"I say {T} now.", promise.IN_SENTENCE, id="in mid-sentence"),
    pytest.param(f"{T} is what I say.", promise.IN_SENTENCE, id="at the start of a sentence"),
    pytest.param(f"Done: {T}\n\nMore.", promise.IN_SENTENCE, id="at a line's end in the middle"),
    pytest.param(f"{T}?", promise.IN_SENTENCE, id="as a question"),
    pytest.param(f"Shall I say {T}?", promise.IN_SENTENCE, id="at the end of a question"),
    pytest.param(f"{T}, I hope", promise.IN_SENTENCE, id="words behind it"),
    pytest.param(f'"{T}"', promise.IN_SENTENCE, id="in quotes"),
    pytest.param(f"'{T}'", promise.IN_SENTENCE, id="in single quotes"),
    pytest.param(f"({T})", promise.IN_SENTENCE, id="in brackets"),
    pytest.param(f"~~{T}~~", promise.IN_SENTENCE, id="struck out"),
    pytest.param(f"[{T}](url)", promise.IN_SENTENCE, id="as a link"),
    pytest.param(f"| {T} |", promise.IN_SENTENCE, id="in a table"),
    pytest.param(f"{T}...", promise.IN_SENTENCE, id="trailing off"),
    pytest.param(f"{T} {T}", promise.MALFORMED, id="twice on one line"),
    pytest.param(f"Say\n{T} or\n{T} x", promise.IN_SENTENCE, id="in mid-sentence twice"),
    pytest.param(f"I will not say {T}", "`will`", id="negated"),
    pytest.param(f"I won't say {T}", "`won't`", id="negated, contracted"),
    pytest.param(f"I won\u2019t say {T}", "`won\u2019t`", id="negated with a curly apostrophe"),
    pytest.param(f"This cannot be {T}", "`cannot`", id="impossible"),
    pytest.param(f"There is no {T}", "`no`", id="none"),
    pytest.param(f"Without {T}", "`Without`", id="without"),
    pytest.param(f"When all pass: {T}", "`When`", id="conditioned by when"),
    pytest.param(f"If that is right, {T}", "`If`", id="conditioned by if"),
    pytest.param(f"Once finished, {T}", "`Once`", id="conditioned by once"),
    pytest.param(f"I would say {T}", "`would`", id="a condition"),
    pytest.param(f"Next I'll say {T}", "`Next`", id="postponed by next"),
    pytest.param(f"I'll say {T}", "`I'll`", id="postponed by a contraction"),
    pytest.param(f"I am going to say {T}", "`going to`", id="postponed by going to"),
    pytest.param(f"I still have to earn {T}", "`still`", id="postponed by still"),
    pytest.param(f"Almost: {T}", "`Almost`", id="almost"),
    pytest.param(f"Expected promise: {T}", "`Expected`", id="our own words repeated"),
    pytest.param(f"I was asked to output {T}", "`asked to output`", id="the task repeated"),
    pytest.param(f"I will say it\nlater: {T}", "`will`", id="a sentence over two lines"),
    pytest.param(f"I won't, e.g. today, say {T}", "`won't`", id="over an abbreviation"),
    pytest.param(f'He said "{T}', '`"`', id="behind an opening quote"),
]


@pytest.mark.parametrize("text", KEPT)
def test_these_words_keep_the_promise(text: str) -> None:
    found = promise.find(text, "DONE")

    assert (found.kept, found.reason) == (True, "")


@pytest.mark.parametrize(("text", "why"), NOT_KEPT)
def test_these_do_not_and_it_is_said_why(text: str, why: str) -> None:
    found = promise.find(text, "DONE")

    assert not found.kept
    assert why in found.reason


TOKENS = [
    pytest.param("ALL TESTS PASS", "ALL TESTS PASS", id="several words"),
    pytest.param("ALL  TESTS\nPASS", " ALL TESTS PASS ", id="white space is folded on both sides"),
    pytest.param("a < b > c", "a < b > c", id="angle brackets"),
    pytest.param('say "yes"', 'say "yes"', id="quotes"),
    pytest.param("fertig für heute ✓", "fertig für heute ✓", id="letters of other languages"),
    pytest.param("`x` is 1", "`x` is 1", id="backticks that belong to the promise"),
    pytest.param(".*", ".*", id="characters of regular expressions"),
]


@pytest.mark.parametrize(("said", "wanted"), TOKENS)
def test_a_promise_may_be_any_text(said: str, wanted: str) -> None:
    assert promise.kept(f"<promise>{said}</promise>", wanted)


@pytest.mark.parametrize("wanted", ["", " ", "\n"])
def test_an_empty_promise_is_never_kept(wanted: str) -> None:
    found = promise.find(f"<promise>{wanted}</promise>", wanted)

    assert (found.kept, found.reason) == (False, promise.NO_PROMISE)


def test_of_an_impossibly_long_message_the_end_counts() -> None:
    long = "word " * (promise.LONGEST_MESSAGE // 4)

    assert promise.kept(f"{long}\n\n{T}", "DONE")
    assert not promise.kept(f"{T}\n\n{long}", "DONE")


HOSTILE = [
    *("`", "` `` ", "<promise>", T, f"x{T}\n", "<!--", "a <!--`", "\n", " ", "\t", "a\n", "> a\n"),
    *("- ", "- a\n", "1. ", "```\n", "~~~", "n'", "no,", ". ", "*", "_", "   \n", "</promise>"),
    *("\\", "a\n\n", "\r", "\0", "#", "|", "<promise>DONE</promise", "e.g. ", '"', "\u2028"),
]


@pytest.mark.parametrize("part", HOSTILE, ids=repr)
@pytest.mark.parametrize("form", ["{}\n\nOk " + T, T + "x\n{}", "{}" + T])
def test_hundreds_of_thousands_of_anything_are_read_in_one_pass(part: str, form: str) -> None:
    """Nothing is timed: what is not linear would not end."""
    text = form.format(part * (400_000 // len(part)))

    promise.find(text, "DONE")


words = st.text(st.sampled_from("abc DONE.!?\n`~>*-#<> \t'\"1"), max_size=40)
PARTS = (T, "<promise>", "</promise>", "```", "\n", "\n\n", "> ", "- ", "    ", "`", "<!--", "-->")
pieces = st.lists(st.sampled_from((*PARTS, "not ", "text ", ". ", "**")), max_size=14).map("".join)


@given(words, words)
def test_a_tag_between_empty_lines_and_plain_words_always_counts(before: str, after: str) -> None:
    plain = str.maketrans("", "", "`~<>")
    head = " ".join(before.translate(plain).split()).lstrip("-# 1*.")
    tail = after.translate(plain)

    assert promise.kept(f"{head}\n\n{T}\n\n{tail}", "DONE")


@given(pieces)
@example("")
def test_what_is_in_a_fence_or_a_comment_never_counts(text: str) -> None:
    inside = text.replace("```", "").replace("-->", "")

    assert not promise.kept(f"```\n{inside}\n", "DONE")
    assert not promise.kept(f"<!--\n{inside}", "DONE")


@given(pieces)
def test_a_quotation_never_counts(text: str) -> None:
    assert not promise.kept("".join(f"> {line}\n" for line in text.split("\n")), "DONE")


@given(pieces)
def test_a_kept_promise_needs_its_tag(text: str) -> None:
    assert promise.kept(text, "DONE") <= (T in text)
    assert not promise.kept(text, "ANOTHER")


@given(pieces)
def test_line_ends_do_not_matter(text: str) -> None:
    assert promise.kept(text, "DONE") == promise.kept(text.replace("\n", "\r\n"), "DONE")


@given(st.text(), st.text())
def test_no_text_is_too_strange(text: str, wanted: str) -> None:
    found = promise.find(text, wanted)

    assert found.kept == (found.reason == "")


@given(pieces)
def test_hiding_keeps_every_place(text: str) -> None:
    said = markdown.read(text)

    assert len(said.text) == len(said.source)
    assert all(a in (b, markdown.HIDDEN) for a, b in zip(said.text, said.source, strict=True))
    assert said.begins == sorted(said.begins)
