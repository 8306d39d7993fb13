from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.context.blocks import PART_UNITS, split, texts
from sisyphus.context.collect import Document
from sisyphus.session.waiting import arrange, compose, fit
from sisyphus.text import REPLY_UNITS, units


def _document(text: str, name: str = "README.md") -> Document:
    return Document(name, f"/p/{name}", text)


def test_the_block_is_the_one_that_was_asked_for() -> None:
    readme = texts(_document("How to build."), "1")
    agents = texts(_document("Be brief.", "AGENTS.md"), "2")
    assert compose(arrange([], [*readme, *agents])) == (
        "<system-reminder>\n"
        "The following project documentation is available:\n"
        "\n"
        "# README.md\n"
        "\n"
        "How to build.\n"
        "\n"
        "---\n"
        "\n"
        "# AGENTS.md\n"
        "\n"
        "Be brief.\n"
        "\n"
        "</system-reminder>"
    )


def test_each_document_has_its_kind_and_is_remembered() -> None:
    (readme,) = texts(_document("a"), "digest")
    (agents,) = texts(_document("a", "AGENTS.md"), "digest")
    (nested,) = texts(_document("a", "src/README.md"), "digest")
    assert [piece.kind for piece in (readme, agents, nested)] == ["readme", "agents", "readme"]
    assert (readme.hash, readme.path) == ("digest", "/p/README.md")


@pytest.mark.parametrize(("lines", "count"), [(2_000, 2), (5_000, 3)])
def test_a_long_document_says_which_part_it_is(lines: int, count: int) -> None:
    made = texts(_document("line\n" * lines), "digest")
    numbers = range(1, count + 1)
    titles = [piece.body.partition("\n")[0] for piece in made]
    assert titles == [f"# README.md (part {n} of {count})" for n in numbers]
    assert [piece.hash for piece in made] == [f"digest/{n}" for n in numbers]


def test_every_part_has_its_frame_and_goes_out_in_order() -> None:
    left = arrange([], texts(_document("line\n" * 4_999 + "line"), "digest"))
    for number in (1, 2, 3):
        text, _, left = fit(left)
        assert text.startswith("<system-reminder>\nThe following project documentation is")
        assert f"# README.md (part {number} of 3)\n\nline\n" in text
        assert text.endswith("line\n\n</system-reminder>")
        assert units(text) <= REPLY_UNITS
    assert left == []


SPLITS = [
    pytest.param("", 1, id="nothing is one empty part"),
    pytest.param("x" * PART_UNITS, 1, id="exactly one part"),
    pytest.param("x" * (PART_UNITS + 1), 2, id="one unit more"),
    pytest.param("😀" * (PART_UNITS // 2), 1, id="emoji count twice"),
    pytest.param("😀" * (PART_UNITS // 2 + 1), 2, id="one emoji more"),
    pytest.param("x" * PART_UNITS + "\n\n", 1, id="blank lines make no part"),
]


@pytest.mark.parametrize(("text", "parts"), SPLITS)
def test_parts_are_as_few_as_can_be(text: str, parts: int) -> None:
    assert len(split(text)) == parts


lines = st.lists(st.sampled_from(["", "a", "word " * 300, "😀" * 900, "é" * 2_500]), max_size=60)


@given(lines)
def test_no_line_is_torn_or_lost(every: list[str]) -> None:
    parts = split("\n".join(every))
    assert all(units(part) <= PART_UNITS for part in parts)
    assert [line for part in parts for line in part.split("\n") if line] == [x for x in every if x]


@given(st.integers(PART_UNITS, 60_000), st.sampled_from(["x", "😀", "é"]))
def test_a_line_that_is_too_long_is_cut_between_characters(count: int, character: str) -> None:
    parts = split(character * count)
    assert "".join(parts) == character * count
    assert all(re.fullmatch(f"{character}+", part) for part in parts)
