from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint.telling import a_situation
from sisyphus.checkpoint.paper import handoff
from sisyphus.checkpoint.paper.sections import (
    CHARACTERS,
    SECTIONS,
    clean,
    notes,
    placeholder,
    render,
)

WRITTEN = """\
# Handoff

## Next Step

### Decisions

none of ours

## Notes

Anything.

### Decisions

- a, because of b

_Nothing noted yet: what was decided, and why._
#### in detail
### Tried And Rejected

_Nothing noted yet: what did not work, and why._

### Open Questions
Why?

### Own

words
"""


def test_what_the_model_wrote_is_read() -> None:
    assert notes(WRITTEN) == {
        "Decisions": "- a, because of b\n\n#### in detail",
        "Open Questions": "Why?\n\n### Own\n\nwords",
    }


NONE = [
    pytest.param("", id="nothing"),
    pytest.param("### Decisions\n\na", id="no notes"),
    pytest.param("## Notes\n\na", id="no section"),
    pytest.param(render({}), id="placeholders"),
    pytest.param(render({}).replace("\n", "\r\n"), id="other line ends"),
    pytest.param("## Notes\n" + "### Decisions\n" * 99_999, id="headings alone"),
]


@pytest.mark.parametrize("text", NONE)
def test_where_there_is_nothing_nothing_is_read(text: str) -> None:
    assert notes(text) == {}


def test_a_placeholder_says_what_belongs_there() -> None:
    assert placeholder("Decisions") == "_Nothing noted yet: what was decided, and why._"


TEXTS = st.text() | st.text(alphabet="#- Notes\nab`\r\t")
NOTES = st.dictionaries(st.sampled_from(list(SECTIONS)), TEXTS)


@given(NOTES)
def test_what_is_rendered_is_read_again(given_notes: dict[str, str]) -> None:
    once = notes(handoff.render(a_situation(notes=given_notes)))
    assert notes(handoff.render(a_situation(notes=once))) == once
    assert set(once) == {name for name, said in given_notes.items() if clean(said)}


@given(st.dictionaries(st.sampled_from(list(SECTIONS)), st.text(alphabet="ab c.\n-"), min_size=1))
def test_ordinary_words_stay_as_they_are(given_notes: dict[str, str]) -> None:
    said = {name: clean(text) for name, text in given_notes.items()}
    assert notes(render(given_notes)) == {name: text for name, text in said.items() if text}


def test_a_section_is_bounded() -> None:
    assert len(notes(render({"Decisions": "x" * 9_999}))["Decisions"]) == CHARACTERS


@pytest.mark.parametrize("line", ["## Notes", "### Decisions", "### Open Questions  "])
def test_headings_of_ours_in_a_note_end_it_not(line: str) -> None:
    found = notes(render({"Decisions": f"a\n{line}\nb"}))
    assert found == {"Decisions": f"a\n\\{line.rstrip()}\nb"}


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    notes(text)
    notes(f"## Notes\n{text}")
