from __future__ import annotations

import os
from typing import Any

import pytest

from ralph.past.log import AT, a_loop, ends, known, lives, ran, starts
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import removal, timeline
from sisyphus.state.files import append_line
from sisyphus.times import epoch, iso, local


def _at(minute: int) -> str:
    return iso(epoch(AT) + 60 * minute)


def _shown(minute: float) -> str:
    return local(epoch(AT) + 60 * minute, timeline.SECONDS)


def _note(number: int, decision: str = "blocked", text: str = "done", **fields: object) -> None:
    row = {
        "iteration": number, "started_at": _at(number - 1), "ended_at": _at(number),
        "decision": decision, "why": "no tag", **fields,
    }  # fmt: skip
    iterations.note(our_home(), "aaaaa", row, text)


def _text() -> str:
    [record] = known()
    return timeline.text(our_home(), record)


def test_a_loop_is_told_from_its_start_to_its_end() -> None:
    loop = a_loop()
    _note(1, tools=12, edits=1, tokens=45_210)
    _note(2, "ended", tools=1, edits=2)
    loop.iteration = 2
    ran(loop, after=4_320)

    folder = os.path.join(our_home(), "ralph", "transcripts")
    assert (
        _text()
        == f"""\
Loop aaaaa: make the tests pass
  started  {_shown(0)}
  project  /home/me/shop
  session  s1
  promise  DONE
  limit    50 iterations; at most 1,440 minutes

     1  {_shown(1)}  blocked: no tag
        1 min, 12 tool calls, 1 edit, 45,210 tokens
     2  {_shown(2)}  ended: no tag
        1 min, 1 tool call, 2 edits

Ended {_shown(72)} after 2 of 50 iterations and 1 h 12 min: its promise was kept.

Transcripts:
  {folder}/aaaaa_full.txt
  {folder}/aaaaa_iter_1.txt
  {folder}/aaaaa_iter_2.txt"""
    )


ENDS = [
    pytest.param(lp.MAX_ITERATIONS, "", "its last iteration was over.", id="iterations"),
    pytest.param(lp.LIMIT, "60 minutes", "a limit was reached (60 minutes).", id="limit"),
    pytest.param(lp.STUCK, "", "it made no progress any more.", id="stuck"),
    pytest.param(lp.CANCELLED, "by the user", "it was cancelled (by the user).", id="cancelled"),
    pytest.param(lp.ABANDONED, "", "its session was given up.", id="abandoned"),
    pytest.param(lp.ERROR, "a\nb", "its state could not be used (a b).", id="error"),
    pytest.param("eaten", "", "eaten.", id="an outcome of a later version"),
    pytest.param("", "", "nobody knows why.", id="no outcome"),
]


@pytest.mark.parametrize(("outcome", "reason", "words"), ENDS)
def test_an_end_is_told_in_plain_words(outcome: str, reason: str, words: str) -> None:
    ran(a_loop(), outcome, reason=reason)
    assert _text().endswith(f"Ended {_shown(1)} after 1 of 50 iterations and 1 min: {words}")


def test_a_loop_that_has_not_ended_says_where_it_is() -> None:
    loop = a_loop()
    loop.pause("user", 0)
    starts(lives(loop))
    assert _text().endswith("It has not ended: paused, iteration 1 of 50.")


def test_a_loop_without_an_end_is_lost() -> None:
    starts(a_loop())
    assert "  No iteration was noted.\n" in _text()
    assert _text().endswith("Lost: its end was never noted and its state file is gone.")


def test_an_end_without_a_start_is_told_as_well() -> None:
    ends(a_loop())
    assert _text() == (
        "Loop aaaaa\n  session  s1\n\n  No iteration was noted.\n\n"
        f"Ended {_shown(1)} after 1 iteration and 1 min: its promise was kept."
    )


def test_an_archived_loop_is_one_whose_end_nobody_saw() -> None:
    starts(a_loop())
    removal.archive(our_home(), "aaaaa", epoch(AT) + 60)
    assert _text().endswith(
        f"Archived {_shown(1)}: its end was never noted and its state file is gone."
    )


CONTEXTS = [
    pytest.param({"context": 43.4}, ", context 43 %", id="a number"),
    pytest.param({"context": 43}, ", context 43 %", id="a whole one"),
    pytest.param({"context": 0}, "", id="nothing"),
    pytest.param({"context": float("nan")}, "", id="no number"),
    pytest.param({"context": 10**400}, "", id="no percentage"),
    pytest.param({"context": "43"}, "", id="a text"),
    pytest.param({}, "", id="not known"),
]


@pytest.mark.parametrize(("fields", "shown"), CONTEXTS)
def test_how_full_the_context_was_is_told_where_it_is_known(
    fields: dict[str, Any], shown: str
) -> None:
    _note(1, tools=1, **fields)
    ran(a_loop())
    assert f"1 min, 1 tool call{shown}\n" in _text()


def test_no_promise_and_no_limit_are_said() -> None:
    loop = a_loop()
    loop.completion_promise, loop.max_iterations, loop.options = None, 0, {"max_minutes": 0}
    ran(loop)
    assert "  promise  none\n  limit    none\n" in _text()
    assert _text().endswith("its plan was done.")


def test_limits_and_checks_are_told_of_a_loop_that_is_over() -> None:
    loop = a_loop()
    loop.options = {"max_tokens": 9_000, "verify": "make test;\nfalse", "verify_checklist": True}
    ran(loop)
    assert (
        "  limit    50 iterations; at most 9,000 tokens; at most 1,440 minutes; "
        "checked by `make test; false`; checked by the checklist\n"
    ) in _text()


def test_of_many_transcripts_the_first_and_the_last_are_named() -> None:
    for number in range(1, 13):
        _note(number)
    ran(a_loop())
    [record] = known()
    assert len(timeline.timeline(our_home(), record)["transcripts"]) == 13
    assert _text().count("_iter_") == 2
    assert _text().endswith("aaaaa_iter_12.txt")


def test_an_iteration_that_was_noted_twice_has_two_lines_and_one_transcript() -> None:
    _note(1, "allowed")
    _note(1)
    ran(a_loop())
    assert _text().count("     1  ") == 2
    assert _text().count("_iter_1.txt") == 1


def test_rows_of_any_shape_are_shown() -> None:
    for row in (
        {"iteration": 1, "why": ["x"], "started_at": 7, "ended_at": "late", "tools": "many"},
        {"iteration": 2, "decision": "\x1b[31m", "tokens": -1, "tools": True},
    ):
        iterations.note(our_home(), "aaaaa", row, "")
    append_line(iterations.rows_path(our_home(), "aaaaa"), {"iteration": "x" * 50})
    ran(a_loop())
    assert all(line.isprintable() for line in _text().splitlines())


def test_in_json_it_is_the_record_with_rows_and_transcripts() -> None:
    _note(1)
    ran(a_loop())
    [record] = known()
    found = timeline.timeline(our_home(), record)
    assert found.items() > record.as_json().items()
    assert found["rows"] == iterations.rows(our_home(), "aaaaa")
    assert [os.path.basename(path) for path in found["transcripts"]] == [
        "aaaaa_full.txt",
        "aaaaa_iter_1.txt",
    ]


FOUND = [("abcde", "abcde"), ("abd", "abdaa"), ("b", "b"), ("bc", "bcdef")]


@pytest.mark.parametrize(("named", "loop_id"), FOUND)
def test_a_loop_is_found_by_its_id_or_how_it_begins(named: str, loop_id: str) -> None:
    for number, known_id in enumerate(("abcde", "abdaa", "b", "bcdef")):
        ran(a_loop(known_id, f"s{number}"))
    assert timeline.find(known(), named).loop_id == loop_id


NOT_FOUND = [
    pytest.param("zz", "no loop 'zz' is known. `sisyphus ralph log --all`", id="unknown"),
    pytest.param("a", "several loops begin with 'a'; name one of them: a0011, .*, …$", id="many"),
    pytest.param("a001", "name one of them: a0011, a0010$", id="two"),
]


@pytest.mark.parametrize(("named", "said"), NOT_FOUND)
def test_a_name_of_none_or_several_is_an_error(named: str, said: str) -> None:
    for number in range(12):
        ran(a_loop(f"a{number:04}", f"s{number}", minute=number))
    with pytest.raises(SisyphusError, match=said):
        timeline.find(known(), named)
