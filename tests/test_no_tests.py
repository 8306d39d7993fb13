"""A test command that succeeded without running a test: the table of what runners print, and the
checks of loops and runs."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.loops import verify
from sisyphus.sessions.checks import is_test
from sisyphus.sessions.no_tests import ran_no_test

CASES = tomllib.loads((Path(__file__).parent / "cases" / "no_tests.toml").read_text())["case"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_outputs(case: dict[str, Any]) -> None:
    assert is_test(case["command"]) == (case["name"] != "not a test command")
    assert ran_no_test(case["command"], case["output"]) == case["ran_none"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_a_runner_that_ran_a_test_is_enough(case: dict[str, Any]) -> None:
    beside = f"\nno tests ran in 0.01s\n{case['output']}\n0 passing (1ms)\n"
    assert ran_no_test("make test", beside) == (case["ran_none"] or "is_doubt" in case)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_another_runner_that_ran_a_test_is_enough(case: dict[str, Any]) -> None:
    assert not ran_no_test(case["command"], f"{case['output']}\n===== 1 passed in 0.12s =====\n")
    assert not ran_no_test(case["command"], f"===== 1 passed in 0.12s =====\n{case['output']}")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_line_ends_of_windows(case: dict[str, Any]) -> None:
    output = case["output"].replace("\r\n", "\n").replace("\n", "\r\n")
    assert ran_no_test(case["command"], output) == case["ran_none"]


WORDS = sorted({word for case in CASES for word in re.split(r"(\W)", case["output"]) if word})


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=200).map("".join)))
def test_any_text_has_an_answer(output: str) -> None:
    assert ran_no_test("make test", output) in (True, False)


# Each is repeated to 100,000 characters, in one line and in many: a pattern that tries each place
# against all the others needs minutes for it.
HOSTILE = [
    "a", " ", "\n", "\r", "\x1b[", "\x1b]", "\x1b[0m", "s", ".", "s.", "1", "1.", "1 ", "- ", "=",
    "::", "::a ", "1 skipped, ", "ok ", "ok 1 # ", "Tests: ", "1 test ", "PASS\n", "0 pass\n",
    "1 skip\n", "# tests 1\n", "Benchmark", "skipped '", "Running (", "... ", "> a\n", "[a] ",
    "--- SKIP: a\n", "> Task :a:", "Ran 1 test in 1s\n\n", "Test Suites: \n", "ninja ",
    "ok 1\n---\nduration_ms: 1\n", "make: Nothing to be done for 'test'.\n",
    "ninja: no work to do.\n",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_long_outputs(text: str) -> None:
    for width in (60, 500, 100_000):
        line = (text * width)[:width]
        ran_no_test("make test", f"{line}\n" * (100_000 // (width + 1)))


def check(folder: Path, command: str) -> verify.Check:
    return verify.run(command, str(folder), 60)


def test_a_check_whose_tests_are_all_skipped_has_not_passed(tmp_path: Path) -> None:
    test = tmp_path / "test_a.py"
    test.write_text("import pytest\n\n@pytest.mark.skip\ndef test_a(): pass\n")
    command = f"'{sys.executable}' -m pytest -p no:cacheprovider --rootdir=."
    skipped = check(tmp_path, command)
    assert (skipped.has_passed, skipped.how) == (False, "exited 0, but ran no test")
    assert "1 skipped" in skipped.tail

    test.write_text(f"{test.read_text()}\ndef test_b(): print('no tests ran in 0.01s')\n")
    passed = check(tmp_path, f"{command} -s")
    assert (passed.has_passed, passed.how) == (True, "exited 0")
    assert "no tests ran in 0.01s" in passed.tail


def test_a_check_of_make_that_finds_a_file_of_that_name_has_not_passed(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@echo tested\n")
    assert check(tmp_path, "make test").how == "exited 0"
    (tmp_path / "test").touch()
    done = check(tmp_path, "make test")
    assert (done.has_passed, done.how) == (False, "exited 0, but ran no test")
    assert "up to date" in done.tail


def test_a_summary_above_the_tail_counts(tmp_path: Path) -> None:
    recipe = "test:\n\t@echo '=== 2 skipped in 0.1s ==='\n\t@seq 100\n"
    (tmp_path / "Makefile").write_text(recipe)
    done = check(tmp_path, "make test")
    assert (done.has_passed, done.how) == (False, "exited 0, but ran no test")
    assert "skipped" not in done.tail

    (tmp_path / "Makefile").write_text(recipe.replace("2 skipped", "1 passed, 1 skipped"))
    assert check(tmp_path, "make test").has_passed


def test_a_check_that_fails_says_how_it_failed(tmp_path: Path) -> None:
    done = check(tmp_path, f"'{sys.executable}' -m pytest -p no:cacheprovider --rootdir=.")
    assert (done.has_passed, done.how) == (False, "exited 5")
    assert "no tests ran" in done.tail


def test_a_check_that_is_no_test_needs_none(tmp_path: Path) -> None:
    assert check(tmp_path, "echo 'no tests ran in 0.00s'").has_passed
