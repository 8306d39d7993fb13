from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.views import export, stops
from sisyphus.ralph.past import records, timeline
from sisyphus.ralph.past.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

_HOSTILE = st.text(alphabet="`~ab\n\r\u2028|<>#*\\ \ud800\t", max_size=50)


@pytest.fixture
def _in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


def _loop(**more: object) -> Json:
    loop: Json = {
        "loop_id": "aaaaa", "prompt": "Fix it.", "is_cut": False, "criteria": [], "verify": "",
        "stops": [], "state": "Ended.", "project": "/home/ann/shop", "session_id": "s1",
        "started_at": "2026-11-20T15:00:00.000Z", "ended_at": "", "seconds": 75, "iterations": 2,
        "max_iterations": 50, "completion_promise": "DONE", "limits": [], "last_check": "",
    }  # fmt: skip
    return {**loop, **more}


def _stop(number: int, why: str = "") -> Json:
    row = {"iteration": number, "decision": "blocked", "why": why, "tokens": 1_200}
    return stops.stop(row)


def _outside(document: str) -> tuple[list[str], bool]:
    """The lines outside of fences, and whether the last fence was closed."""
    lines, fence = [], ""
    for line in re.split(r"\r\n|\r|\n", document):
        opened = re.match(r" {0,3}(`{3,})[^`]*$|(~{3,})", line)
        if fence:
            fence = "" if re.fullmatch(rf" {{0,3}}{fence}`*\s*", line) else fence
        elif opened:
            fence = opened[1] or opened[2]
        else:
            lines.append(line)
    return lines, not fence


@given(_HOSTILE, _HOSTILE, _HOSTILE, _HOSTILE)
def test_every_fence_closes_and_nothing_gets_out_of_it(
    prompt: str, said: str, verify: str, why: str
) -> None:
    texts = (prompt, said, verify)
    loop = _loop(prompt=f"§{prompt}", verify=f"§{verify}", stops=[_stop(1, why)])
    lines, is_closed = _outside(export.markdown(loop, {1: f"§{said}"}))
    assert is_closed
    assert not any("§" in line for line in lines), texts
    calm = _outside(export.markdown(_loop(prompt="§", verify="§", stops=[_stop(1, why)]), {1: "§"}))
    assert lines == calm[0]


def test_a_document_says_what_the_loop_was() -> None:
    loop = _loop(criteria=[{"id": "1", "text": "tests | pass", "status": "completed"}],
                 stops=[_stop(1, "not *yet*"), _stop(2)])  # fmt: skip
    text = export.markdown(loop, {1: "I looked.", 2: ""})
    for part in ("# Loop aaaaa", "| Duration | 1 min 15 s |", "| Iterations | 2 of 50 |",
                 "- [x] tests \\| pass", "### Iteration 1: went on", "- not \\*yet\\*",
                 "- 1,200 tokens", "```text\nI looked.\n```"):  # fmt: skip
        assert part in text


@pytest.mark.parametrize(
    ("text", "fence"), [("plain", "```"), ("```\ncode\n```", "````"), ("a`````b", "``````")]
)
def test_a_fence_is_longer_than_any_in_it(text: str, fence: str) -> None:
    assert export.fenced(text) == f"{fence}text\n{text}\n{fence}"


def test_a_text_that_was_left_out_is_told() -> None:
    assert "too long" in export.markdown(_loop(stops=[_stop(1)]), {})


def test_the_text_of_an_iteration_stands_once() -> None:
    text = export.markdown(_loop(stops=[_stop(1), _stop(1)]), {1: "I looked."})
    assert text.count("I looked.") == 1


MARKS = ["+ a", "- a", "* a", "1. a", "12) a", "--- a", "===", "# a", "> a", "+", "1."]


@pytest.mark.parametrize("why", MARKS)
def test_a_reason_that_begins_as_a_list_does_is_a_reason(why: str) -> None:
    text = export.markdown(_loop(stops=[_stop(1, why)]), {1: ""})
    [line] = [line for line in text.split("\n") if line.replace("\\", "") == f"- {why}"]
    assert re.match(r"- (\d+)?\\", line)


@pytest.mark.parametrize("why", ["a + b", "1 file", "3.5 tests", "v1. is it", "(1) a"])
def test_what_begins_nothing_reads_as_before(why: str) -> None:
    text = export.markdown(_loop(stops=[_stop(1, why)]), {1: ""})
    shown = re.sub(r"\\([^\w\s])", r"\1", text)
    assert f"\n- {why}\n" in shown


def _ended_at(moment: str) -> str:
    record = Record("aaaaa", "s1")
    record.status, record.outcome, record.ended_at = records.COMPLETED, "success", moment
    record.completion_promise = "DONE"
    return timeline.how_it_ended(record)


@pytest.mark.usefixtures("_in_tokyo")
def test_every_time_is_told_with_its_zone() -> None:
    row = {"iteration": 1, "ended_at": "2026-11-20T15:02:00.000Z", "decision": "ended"}
    end = "2026-11-20T15:03:09.000Z"
    loop = _loop(stops=[stops.stop(row)], ended_at=end, state=_ended_at(end))
    text = export.markdown(loop, {1: ""})
    assert re.findall(r"2026-.*", text) == [
        "2026-11-21 00:03:09 +0900: its promise was kept. |", "2026-11-21 00:00:00 +0900 |",
        "2026-11-21 00:03:09 +0900 |", "2026-11-21 00:02:00 +0900",
    ]  # fmt: skip
