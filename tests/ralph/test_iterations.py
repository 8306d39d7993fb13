from __future__ import annotations

import stat
from pathlib import Path

import pytest
from making import debug_log, ours, put

from ralph.past.log import AT
from sisyphus.paths import our_home
from sisyphus.ralph import iterations

FOLDER = "ralph/transcripts"


def _note(text: str, number: object = 1, loop_id: str = "aaaaa", **fields: object) -> None:
    row = {"iteration": number, "ended_at": AT, "decision": "blocked", **fields}
    iterations.note(our_home(), loop_id, row, text)


def _file(home: Path, name: str) -> str:
    return ours(home, f"{FOLDER}/{name}").read_text()


def _rows(loop_id: str = "aaaaa") -> list[object]:
    return [row["iteration"] for row in iterations.rows(our_home(), loop_id)]


def test_an_iteration_has_a_row_and_a_text(home: Path) -> None:
    _note("I looked.\n\n[Read a.py]\n", why="no tag", tools=1)

    assert iterations.rows(our_home(), "aaaaa") == [
        {"iteration": 1, "ended_at": AT, "decision": "blocked", "why": "no tag", "tools": 1}
    ]
    assert _file(home, "aaaaa_iter_1.txt") == "I looked.\n\n[Read a.py]\n"


def test_the_whole_loop_is_one_text_under_headings(home: Path) -> None:
    _note("one", 1)
    _note("two", 2, decision="ended\nnow")

    text = iterations.full_text(our_home(), "aaaaa")
    assert text == (
        f"=== iteration 1 {AT} blocked ===\n\none\n\n=== iteration 2 {AT} ended now ===\n\ntwo\n"
    )
    assert text == _file(home, "aaaaa_full.txt")


def test_an_iteration_that_is_noted_again_goes_on(home: Path) -> None:
    _note("one", decision="allowed")
    _note("more")

    assert _file(home, "aaaaa_iter_1.txt") == "one\n\nmore\n"
    assert _rows() == [1, 1]


def test_an_iteration_without_a_text_has_a_row_alone(home: Path) -> None:
    _note(" \n")
    assert _rows() == [1]
    assert [path.name for path in ours(home, FOLDER).iterdir()] == ["aaaaa_iterations.jsonl"]


def test_loops_do_not_mix() -> None:
    _note("one", loop_id="aaaaa")
    _note("two", loop_id="bbbbb")
    assert "two" not in iterations.full_text(our_home(), "aaaaa")
    assert _rows("bbbbb") == [1]


def test_what_is_kept_is_its_users_alone(home: Path) -> None:
    _note("one")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in ours(home, FOLDER).iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(ours(home, FOLDER).stat().st_mode) == 0o700


def test_a_long_iteration_is_cut_once(home: Path) -> None:
    _note("é" * 150_000)
    _note("é" * 60_000)
    _note("é")

    kept = _file(home, "aaaaa_iter_1.txt")
    assert kept.count("é") == pytest.approx(200_000, abs=10)
    assert kept.endswith(iterations.CUT)
    assert kept.count(iterations.CUT) == 1
    full = iterations.full_text(our_home(), "aaaaa")
    assert (full.count(iterations.CUT), full.count("=== iteration 1 ")) == (1, 2)
    assert _rows() == [1, 1, 1]


def test_the_whole_text_ends_at_20_megabytes_with_a_note(home: Path) -> None:
    put(ours(home, f"{FOLDER}/aaaaa_full.txt"), "é" * 9_999_950)
    for number in (1, 2, 3):
        _note("é" * 1_000, number)

    full = ours(home, f"{FOLDER}/aaaaa_full.txt")
    assert full.read_text().count(iterations.FULL) == 1
    assert full.read_text().endswith(iterations.FULL)
    assert full.stat().st_size < 20_000_100
    assert _file(home, "aaaaa_iter_3.txt").count("é") == 1_000


def test_half_a_surrogate_pair_is_no_obstacle(home: Path) -> None:
    _note("a\ud83db", why="\ud83d")
    assert _file(home, "aaaaa_iter_1.txt") == "a?b\n"
    assert iterations.rows(our_home(), "aaaaa")[0]["why"] == "?"


REFUSED = [
    pytest.param("../../x", 1, id="a path"),
    pytest.param("", 1, id="no id"),
    pytest.param("aaaaa", "1", id="a text for a number"),
    pytest.param("aaaaa", None, id="no number"),
    pytest.param("aaaaa", True, id="a truth for a number"),
    pytest.param("aaaaa", -1, id="a number below zero"),
]


@pytest.mark.parametrize(("loop_id", "number"), REFUSED)
def test_what_names_no_file_is_not_noted(home: Path, loop_id: str, number: object) -> None:
    _note("text", number, loop_id)
    assert not ours(home, "ralph").exists()
    assert "cannot be noted" in debug_log(home)


def test_a_loop_of_no_name_has_nothing() -> None:
    assert iterations.rows(our_home(), "../x") == []
    assert iterations.full_text(our_home(), "../x") == ""
    assert iterations.full_text(our_home(), "never") == ""


OBSTACLES = [
    pytest.param("ralph", "a file in the place of a folder", id="folder"),
    pytest.param(f"{FOLDER}/aaaaa_iterations.jsonl/x", "", id="rows"),
    pytest.param(f"{FOLDER}/aaaaa_iter_1.txt/x", "", id="text"),
    pytest.param(f"{FOLDER}/aaaaa_full.txt/x", "", id="the whole text"),
]


@pytest.mark.parametrize(("name", "content"), OBSTACLES)
def test_where_nothing_can_be_written_nothing_is_raised(
    home: Path, name: str, content: str
) -> None:
    put(ours(home, name), content)
    _note("text")
    assert "iteration 1 of loop aaaaa: " in debug_log(home)


def test_a_row_that_is_no_json_is_not_noted(home: Path) -> None:
    _note("text", odd=object())
    assert "TypeError" in debug_log(home)


def test_rows_that_are_torn_are_passed_over(home: Path) -> None:
    put(ours(home, f"{FOLDER}/aaaaa_iterations.jsonl"), '{"iteration": 1}\n{"itera\n[]\n')
    assert _rows() == [1]


def test_each_kind_of_file_lies_beside_the_others() -> None:
    ours_ = our_home()
    paths = [
        iterations.rows_path(ours_, "a"), iterations.text_path(ours_, "a", 3),
        iterations.full_path(ours_, "a"), iterations.verify_path(ours_, "a"),
    ]  # fmt: skip
    assert [Path(path).relative_to(ours_).as_posix() for path in paths] == [
        f"{FOLDER}/a_iterations.jsonl",
        f"{FOLDER}/a_iter_3.txt",
        f"{FOLDER}/a_full.txt",
        f"{FOLDER}/a_verify.txt",
    ]
