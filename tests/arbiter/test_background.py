from __future__ import annotations

import pytest

from sisyphus.arbiter.background import BEFORE_LOOP, excuses, pending

RUNNING = {"id": "b1", "type": "shell", "status": "running", "command": "sleep 3"}

PENDING = [
    pytest.param([], [], id="none"),
    pytest.param([RUNNING], ["b1"], id="one that runs"),
    pytest.param([{**RUNNING, "status": "completed"}], [], id="one that has ended"),
    pytest.param([{**RUNNING, "status": "killed"}, RUNNING], ["b1"], id="one of two"),
    pytest.param([{"id": "b1"}], ["b1"], id="no status"),
    pytest.param([{**RUNNING, "status": "waiting"}], ["b1"], id="a new status"),
    pytest.param([{"status": []}], ['{"status": []}'], id="no id, a strange status"),
    pytest.param([{"cron": "* *"}], ['{"cron": "* *"}'], id="an object without an id"),
    pytest.param(["b2", 7, None], ["b2", "7", "null"], id="no objects"),
]


def _nested(depth: int) -> object:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_a_hostile_payload_gives_few_and_short_names() -> None:
    assert pending([_nested(100_000)]) == ["?"]
    assert pending([{"id": "x" * 10_000_000}]) == ["x" * 100]
    assert len(pending([{"id": str(number)} for number in range(5_000)])) == 100


@pytest.mark.parametrize(("tasks", "names"), PENDING)
def test_which_tasks_are_pending(tasks: list[object], names: list[str]) -> None:
    assert pending(tasks) == names


NOW, WAIT = 10_000.0, 600.0
EXCUSES = [
    pytest.param({}, True, id="it is new"),
    pytest.param({"b1": NOW - 599}, True, id="it excused for less than ten minutes"),
    pytest.param({"b1": NOW - 600}, False, id="it excused for ten minutes"),
    pytest.param({"b1": BEFORE_LOOP}, False, id="it ran before the loop"),
    pytest.param({"b1": NOW + 60}, False, id="the clock went back"),
    pytest.param({"b1": float("nan")}, False, id="a time that is none"),
    pytest.param({"b9": BEFORE_LOOP}, True, id="another one ran before the loop"),
]


@pytest.mark.parametrize(("known", "excused"), EXCUSES)
def test_which_tasks_excuse(known: dict[str, float], excused: bool) -> None:
    found, later = excuses(["b1"], known, in_loop=True, now=NOW, wait=WAIT)

    assert found == (["b1"] if excused else [])
    assert list(later) == ["b1"]


def test_the_first_excuse_is_remembered() -> None:
    _, later = excuses(["b1"], {}, in_loop=True, now=NOW, wait=WAIT)
    assert later == {"b1": NOW}

    found, later = excuses(["b1"], later, in_loop=True, now=NOW + 599, wait=WAIT)
    assert (found, later) == (["b1"], {"b1": NOW})


def test_outside_a_loop_nothing_excuses_and_nothing_will() -> None:
    found, later = excuses(["b1"], {}, in_loop=False, now=NOW, wait=WAIT)

    assert (found, later) == ([], {"b1": BEFORE_LOOP})


def test_one_task_that_excuses_is_enough() -> None:
    found, _ = excuses(["b1", "b2"], {"b1": BEFORE_LOOP}, in_loop=True, now=NOW, wait=WAIT)

    assert found == ["b2"]


def test_with_no_wait_nothing_excuses() -> None:
    assert excuses(["b1"], {}, in_loop=True, now=NOW, wait=0)[0] == []
