"""Continuous enforcement: what counts as the claim that the work is done."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pytest

from sisyphus.enforce.says_done import says_done

ENDINGS = tomllib.loads((Path(__file__).parent / "cases" / "endings.toml").read_text())
CLAIMS = [text for texts in ENDINGS["claim"].values() for text in texts]
OTHERS = [text for texts in ENDINGS["not"].values() for text in texts]
WRONG = ENDINGS["wrong"]
BLIND = tomllib.loads((Path(__file__).parent / "cases" / "endings_blind.toml").read_text())


def test_a_message_that_says_that_the_work_is_done_is_a_claim() -> None:
    assert [text for text in CLAIMS if not says_done(text)] == []


def test_a_message_that_says_that_work_is_left_is_not_a_claim() -> None:
    assert [text for text in OTHERS if says_done(text)] == []


def test_few_endings_are_read_wrongly() -> None:
    claims, others = CLAIMS + WRONG["claim"], OTHERS + WRONG["not"]
    right, false = sum(map(says_done, claims)), sum(map(says_done, others))

    assert right / (right + false) >= 0.97
    assert right / len(claims) >= 0.85


@pytest.mark.parametrize(
    ("part", "right", "false"),
    [("first", 97, 2), ("second", 44, 3), ("third", 23, 0), ("reports", 47, 0), ("fourth", 47, 0),
     ("fifth", 44, 1)],
)  # fmt: skip
def test_of_unforeseen_endings_no_more_are_read_wrongly(part: str, right: int, false: int) -> None:
    claims, others = BLIND[part]["claim"]["messages"], BLIND[part]["not"]["messages"]

    assert sum(map(says_done, claims)) >= right
    assert sum(map(says_done, others)) <= false


def test_the_users_phrases_count_too() -> None:
    assert says_done("Alles FERTIG.", claims=("fertig",))
    assert not says_done("The task is not fertig.", claims=("fertig",))
    assert not says_done("Alles fertig.", claims=("fertig",), work=("alles",))
    assert not says_done("The scraper is done. More crawling at night.", work=("crawling",))
    assert says_done("The toolbox is done.", claims=("",), work=("tool", " "))


def test_claims_in_code_and_quotations_do_not_count() -> None:
    for text in ("`Done.`", "```\nDone.\n```", "> Done.", "It prints “Done.”", '"Done."'):
        assert not says_done(text)


PIECES = """
a|“|"|`|. |no |now |but |after |all tests |1 of 1 |1. |every is |tests it they which |- [ ] |
The work is done but |Done.
"""


@pytest.mark.parametrize("piece", ["\n", "|", *PIECES.strip("\n").split("|")])
def test_a_long_message_is_read_in_linear_time(piece: str) -> None:
    start = time.process_time()
    says_done(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 20  # it takes less than one; quadratic time takes minutes
