from __future__ import annotations

import re

from sisyphus.ralph import arguments
from sisyphus.ralph.help_text import HELP
from sisyphus.ralph.loop import MAX_MINUTES


def test_every_option_of_a_typed_loop_is_named() -> None:
    named = set(re.findall(r"--([a-z-]+)", HELP))

    assert named == set(arguments.OPTIONS) - {"force"}


def test_the_defaults_are_those_of_the_grammar() -> None:
    assert f"--max-iterations N ({arguments.MAX_ITERATIONS})" in HELP
    assert f"--max-minutes N ({MAX_MINUTES})" in HELP


def test_no_line_is_longer_than_a_terminal() -> None:
    assert max(map(len, HELP.splitlines())) <= 100


def test_columns_stay_columns_under_either_spelling_of_the_commands() -> None:
    rows = [line for line in HELP.splitlines() if line.startswith("  /")]
    bare = [line.replace("/sisyphus:", "/") for line in rows]

    assert len(rows) > 5
    for shown in (rows, bare):
        assert len({line.rindex("   ") for line in shown}) == 1
