from __future__ import annotations

from sisyphus.rules.match import covers, decisive, order

PYTHON = (True, ".py/", "")
NOT_TESTS = (False, "/tests/", "^tests/")
SOURCES = (True, "/src/", "^src/")


def test_no_patterns_stand_for_every_file() -> None:
    assert covers(None, "any/thing")


def test_an_empty_list_of_patterns_covers_nothing() -> None:
    assert not covers([], "a.py")


def test_the_literal_alone_decides_where_there_is_no_regex() -> None:
    assert covers([PYTHON], "x/a.py")
    assert not covers([PYTHON], "x/a.pyi")


def test_the_regex_decides_where_the_literal_is_there() -> None:
    assert covers([SOURCES], "src/a")
    assert not covers([SOURCES], "lib/src/a")


def test_the_last_match_decides() -> None:
    assert decisive([PYTHON, NOT_TESTS], "tests/a.py") == 1
    assert decisive([PYTHON, NOT_TESTS], "src/a.py") == 0
    assert decisive([PYTHON, NOT_TESTS], "src/a.ts") is None
    assert not covers([PYTHON, NOT_TESTS], "tests/a.py")


def test_higher_priority_goes_first_then_the_source_then_the_name() -> None:
    rules = [(0, 4, "a"), (0, 2, "b"), (0, 2, "a"), (-1, 0, "z"), (10, 4, "y"), (0.5, 3, "x")]

    assert sorted(rules, key=lambda rule: order(*rule)) == [
        (10, 4, "y"),
        (0.5, 3, "x"),
        (0, 2, "a"),
        (0, 2, "b"),
        (0, 4, "a"),
        (-1, 0, "z"),
    ]
