from __future__ import annotations

import pytest

from sisyphus.doctor.finding import count, typed

WORDS = [
    pytest.param("~/.claude/.sisyphus", "~/.claude/.sisyphus", id="below the home folder"),
    pytest.param("~/a b/x", "~/'a b/x'", id="with a space"),
    pytest.param("docs/$(x).md", "'docs/$(x).md'", id="what a shell would run"),
    pytest.param("a;b", "'a;b'", id="two commands"),
    pytest.param("a\x1b[31m", r"$'a\x1b[31m'", id="a control character"),
    pytest.param("~/a'b\n\\", r"~/$'a\x27b\x0a\x5c'", id="a line end, a quote, a backslash"),
    pytest.param("a\udce4", r"$'a\xe4'", id="no UTF-8"),
    pytest.param("a\ud800", r"$'a\x3f'", id="no name of a file"),
    pytest.param("~x", "'~x'", id="no home folder of ours"),
]


@pytest.mark.parametrize(("word", "expected"), WORDS)
def test_a_hint_can_be_copied_into_a_shell(word: str, expected: str) -> None:
    assert typed(word) == expected


def test_one_is_not_many() -> None:
    assert [count(number, "file") for number in (0, 1, 2_000)] == [
        "0 files",
        "1 file",
        "2,000 files",
    ]
