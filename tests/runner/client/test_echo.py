from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.runner.client import echo

PROMPT = "# Task\n\none\ntwo\nthree\n\nfour\n<promise>DONE</promise>\n"
ECHO = "\n".join([""] * 8)

SAID = [
    pytest.param(PROMPT, "", id="the whole prompt"),
    pytest.param(f"$ agent\n{PROMPT}$ done", "$ agent\n$ done", id="among its own words"),
    pytest.param(PROMPT * 2, "", id="twice"),
    pytest.param("two\n three \nfour\n", "two\n three \nfour\n", id="too little of it"),
    pytest.param(PROMPT.replace("\n", "  \n  "), "", id="other spaces"),
    pytest.param(PROMPT.partition("# Task")[2], "", id="its end"),
    pytest.param(
        f"{PROMPT}\nI did it.\n<promise>DONE</promise>",
        "I did it.\n<promise>DONE</promise>",
        id="and a promise of its own",
    ),
    pytest.param(
        "four\n<promise>DONE</promise>", "four\n<promise>DONE</promise>", id="a line or two alike"
    ),
]


@pytest.mark.parametrize(("said", "left"), SAID)
def test_what_repeats_the_prompt_is_taken_out(said: str, left: str) -> None:
    found = echo.without(said, PROMPT)
    assert [line for line in found.split("\n") if line.strip()] == [
        line for line in left.split("\n") if line.strip()
    ]


SHORT = [
    pytest.param("do it\nsay\n<promise>A</promise>", "", id="all of a short prompt"),
    pytest.param("<promise>A</promise>", "<promise>A</promise>", id="its last line"),
]


@pytest.mark.parametrize(("said", "left"), SHORT)
def test_of_a_short_prompt_all_must_be_there(said: str, left: str) -> None:
    assert echo.without(said, "do it\nsay\n<promise>A</promise>\n").strip() == left


def test_one_line_of_a_prompt_is_no_repetition() -> None:
    assert echo.without("do it", "do it") == "do it"


@given(st.text(alphabet="ab\n ", max_size=60), st.text(alphabet="ab\n ", max_size=60))
def test_lines_stay_where_they_are(said: str, prompt: str) -> None:
    left = echo.without(said, prompt).split("\n")
    assert len(left) == len(said.split("\n"))
    assert all(line in ("", was) for line, was in zip(left, said.split("\n"), strict=True))
