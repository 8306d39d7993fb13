from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import debug_log, put

from sisyphus.runner.task import progress

if TYPE_CHECKING:
    from pathlib import Path

NOON = 1_767_783_600.0
ROWS = [("Item", "one"), ("Outcome", "goes on"), ("Trouble", ""), ("Said last", "a\nb\x1b[0m")]


@pytest.mark.usefixtures("utc")
def test_an_entry_to_the_letter() -> None:
    assert (
        progress.entry(5, NOON, ROWS)
        == """\
## Iteration 5 — 2026-01-07 11:00

- Item: one
- Outcome: goes on
- Said last: a b [0m
"""
    )


def test_keys_and_passwords_are_masked() -> None:
    told = progress.entry(1, NOON, [("Trouble", "https://me:hunter22@x.org; TOKEN=abcdefgh")])

    assert "- Trouble: https://me:[masked]@x.org; TOKEN=[masked]\n" in told


def test_entries_are_read_back_with_what_the_model_added(tmp_path: Path) -> None:
    path = str(tmp_path / ".claude" / "progress.txt")
    for number in (1, 2, 3):
        progress.append(path, progress.entry(number, NOON, [("Item", f"item {number}")]))
        put(tmp_path / ".claude" / "progress.txt", _text(path) + f"mine {number}\n")
    second, third = progress.read_last(path)

    assert second.startswith("## Iteration 2 — ")
    assert second.endswith("- Item: item 2\nmine 2")
    assert third.endswith("- Item: item 3\nmine 3")


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_there_may_be_fewer(tmp_path: Path) -> None:
    path = put(tmp_path / "p.txt", "the user's own words\n")
    assert progress.read_last(str(path)) == []
    assert progress.read_last(str(tmp_path / "none")) == []

    progress.append(str(path), progress.entry(1, NOON, [("Item", "one")]))
    assert [one[:15] for one in progress.read_last(str(path))] == ["## Iteration 1 "]
    assert path.read_text().startswith("the user's own words\n\n## Iteration 1 ")


def test_a_line_without_an_end_stays_a_line(tmp_path: Path) -> None:
    path = put(tmp_path / "p.txt", "no end")
    progress.append(str(path), "## Iteration 1 — x\n")

    assert path.read_text() == "no end\n\n## Iteration 1 — x\n"


def test_an_entry_is_added_once_where_that_is_asked_for(tmp_path: Path) -> None:
    path, entry = str(tmp_path / "p.txt"), progress.entry(1, NOON, [("Item", "one")])
    for once in (False, True, True, False):
        progress.append(path, entry, once=once)

    assert _text(path).count("## Iteration 1") == 2


def test_entries_are_bounded(tmp_path: Path) -> None:
    long = put(tmp_path / "p.txt", "## Iteration 1 — x\n" + "word\n" * 9_000)
    [shown] = progress.read_last(str(long))

    assert len(shown) <= progress.ENTRY_CHARACTERS + len("\n[cut here]")
    assert shown.endswith("word\n[cut here]")


def test_of_a_long_file_the_end_is_read(tmp_path: Path) -> None:
    old = "## Iteration 1 — x\n" + "word\n" * progress.TAIL_BYTES
    path = put(tmp_path / "p.txt", old + "## Iteration 2 — y\n- Item: two\n")

    assert progress.read_last(str(path)) == ["## Iteration 2 — y\n- Item: two"]


def test_what_cannot_be_written_stops_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "p.txt").mkdir()
    progress.append(str(tmp_path / "p.txt"), "x")

    assert "progress.txt is not written" in debug_log(home)


@given(st.text())
def test_any_text_has_at_most_two_last_entries(text: str) -> None:
    assert len(progress.last_entries(text)) <= 2
