from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from sisyphus.rules.backtracking import without_backtracking


def _source(glob: str) -> str:
    (pattern,) = GitIgnoreSpec.from_lines([glob]).patterns
    assert pattern.regex is not None
    return str(pattern.regex.pattern)


CALM = [
    pytest.param("*.py", id="one star"),
    pytest.param("src/a?.py", id="no star"),
    pytest.param("**/src/*.py", id="folders, then one star"),
    pytest.param("docs/", id="a folder"),
]


@pytest.mark.parametrize("glob", CALM)
def test_a_regex_that_cannot_backtrack_far_stays_as_it_is(glob: str) -> None:
    assert without_backtracking(_source(glob)) == _source(glob)


# An ordinary regex takes minutes to years for each of these.
ENDLESS = [
    pytest.param("*a" * 12 + "*b", "a" * 250, id="stars in a name"),
    pytest.param("**/a" * 12 + "/b", "a/" * 1_000 + "c", id="any folders"),
    pytest.param("a" + "**" * 12 + "b", "a" * 250, id="stars side by side"),
    pytest.param("**/*a*a*a*a/" * 6 + "b", ("a" * 60 + "/") * 30 + "c", id="both"),
    pytest.param("*[ab]" * 12 + "c", "ab" * 100, id="stars and classes"),
    pytest.param("*?" * 12 + "c", "ab" * 100, id="stars and question marks"),
]


@pytest.mark.parametrize(("glob", "path"), ENDLESS)
def test_a_hostile_glob_is_decided_at_once(glob: str, path: str) -> None:
    assert re.search(without_backtracking(_source(glob)), path) is None


def test_a_class_covers_no_slash_as_with_git() -> None:
    assert re.search(without_backtracking(_source("a[!b]c")), "a/c") is None
    assert re.search(without_backtracking(_source("a[+-9]c")), "a/c") is None
    assert re.search(without_backtracking(_source("a[!b]c")), "axc")


PARTS = ["a", "b", "*", "**", "?", "/", "/**/", "[ab]", "[a-c]", "x.py", r"\*", "]", "(g)"]
GLOBS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=9).map("".join)
PATHS = st.lists(st.text(st.sampled_from("abx.py*]("), min_size=1, max_size=5), min_size=1).map(
    "/".join
)


@given(GLOBS, PATHS)
def test_the_same_paths_match(glob: str, path: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pattern = next(iter(GitIgnoreSpec.from_lines([glob]).patterns), None)
        if pattern is None or pattern.regex is None:
            return
        calm = re.search(without_backtracking(str(pattern.regex.pattern)), path)

    assert (calm is None) == (pattern.regex.search(path) is None)
