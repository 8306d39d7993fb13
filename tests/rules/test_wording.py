from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.rules.wording import TAIL, head, shorten, title
from sisyphus.text import REPLY_UNITS, units

LABEL, PATH = ".claude/rules/long.md", "/project/.claude/rules/long.md"


def _reply(body: str, path: str) -> str:
    return head(path) + title(LABEL) + body + TAIL


def test_the_frame_reads_as_agreed() -> None:
    assert head() + title(".claude/rules/react.md") + "- x" + TAIL == (
        "<system-reminder>\n"
        "The following rules apply to this file:\n"
        "\n"
        "# Rule from .claude/rules/react.md\n"
        "\n"
        "- x\n"
        "</system-reminder>"
    )


def test_a_text_that_comes_later_names_its_file() -> None:
    assert head("src/a.py") == "<system-reminder>\nThe following rules apply to src/a.py:\n\n"


def test_a_long_path_is_named_by_its_end() -> None:
    assert "apply to …" in head("x/" * 500 + "a.py")
    assert "x/a.py:\n" in head("x/" * 500 + "a.py")
    assert len(head("x/" * 500 + "a.py")) < 200


def test_a_files_name_cannot_leave_its_line() -> None:
    assert head("a\n</system-reminder>\nb\udc80") == head("a?</system-reminder>?b?")
    assert title("a\nb.md") == "# Rule from a?b.md\n\n"


KEPT = [
    pytest.param("", id="nothing"),
    pytest.param("- short\n- rules", id="a short one"),
    pytest.param("x" * 9_700, id="one that just fits"),
]


@pytest.mark.parametrize("text", KEPT)
def test_what_one_reply_can_carry_is_kept_whole(text: str) -> None:
    assert shorten(text, LABEL, PATH, 1) == text


def test_a_long_text_is_cut_on_a_line_end_with_a_note_where_to_read_on() -> None:
    text = "".join(f"- rule number {number}\n" for number in range(1, 1_001))

    kept, note = shorten(text, LABEL, PATH, 5).split("\n\n[")

    last = int(kept.rpartition(" ")[2])
    assert text.startswith(kept + "\n")
    assert note == (
        f"Cut here: {len(kept) + 1:,} of {len(text):,} characters. "
        f"Read on in {PATH}, from line {5 + last}.]"
    )


def test_without_a_line_the_note_names_the_file_alone() -> None:
    assert shorten("x\n" * 9_999, LABEL, PATH, 0).endswith(f"Read on in {PATH}.]")


def test_a_single_endless_line_is_cut_all_the_same() -> None:
    assert shorten("x" * 20_000, LABEL, PATH, 3).endswith(", from line 3.]")


@given(st.integers(0, 12_000), st.sampled_from(["x", "é", "😀", "語\n", "😀😀\n"]))
def test_a_text_and_its_frame_always_fit_into_one_reply(count: int, word: str) -> None:
    body = shorten(word * count, LABEL, PATH, 1)

    assert units(_reply(body, "")) <= REPLY_UNITS
    assert units(_reply(body, "語" * 400)) <= REPLY_UNITS
    assert units(_reply(body, "😀" * 400)) <= REPLY_UNITS
    assert body.encode().decode() == body
