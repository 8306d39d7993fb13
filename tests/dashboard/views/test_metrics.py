from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.desk import Loops
from sisyphus.dashboard.views.metrics import BUCKETS, Family, Sample, metrics, text
from sisyphus.dashboard.views.tally import Tally
from sisyphus.ralph.past import records
from sisyphus.ralph.past.records import Record
from sisyphus.upkeep.summary import Summary

if TYPE_CHECKING:
    from sisyphus._types import Json

Read = dict[tuple[str, frozenset[tuple[str, str]]], float]

_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)",?')
_LINE = re.compile(r"([a-z_]+)(?:\{(.*)\})? ([-+.\dInfe]+)", re.DOTALL)
_MEANT = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def _read(told: str) -> Read:
    """The samples of a text as the format's own description has it."""
    found: Read = {}
    for line in told.removesuffix("\n").split("\n"):
        if line.startswith("#"):
            assert re.match(r"# (HELP|TYPE) [a-z_]+ .", line)
            continue
        whole = _LINE.fullmatch(line)
        assert whole, line
        labels = whole[2] or ""
        assert _LABEL.sub("", labels) == ""
        pairs = [(n, re.sub(r"\\.", lambda m: _MEANT[m[0]], v)) for n, v in _LABEL.findall(labels)]
        key = (whole[1], frozenset(pairs))
        assert key not in found
        found[key] = float(whole[3])
    return found


def _key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


@given(st.text(), st.text())
def test_any_name_can_be_a_label(one: str, other: str) -> None:
    labels = (("plan", one), ("project", other))
    found = _read(text([Family("tasks", "gauge", "Tasks.", [Sample("", labels, 3)])]))
    clean = [name.encode("utf-8", "replace").decode() for name in (one, other)]
    assert found == {_key("tasks", plan=clean[0], project=clean[1]): 3}


def test_a_family_without_samples_is_left_out() -> None:
    assert text([Family("tasks", "gauge", "Tasks.", [])]) == ""


@pytest.mark.parametrize(
    ("value", "spelled"), [(0, "0"), (10**14, "100000000000000"), (0.25, "0.25"), (1e21, "1e+21")]
)
def test_numbers_are_whole_where_they_can_be(value: float, spelled: str) -> None:
    told = text([Family("n", "gauge", "N.", [Sample("", (), value)])])
    assert told == f"# HELP n N.\n# TYPE n gauge\nn {spelled}\n"


def _session(name: str, *times: float) -> Summary:
    one = Summary(name)
    for ms in times:
        one.take({"at": 1, "event": "stop", "ms": ms, "blocked": True, "sent": 10})
    return one


def _loop(name: str, status: str, outcome: str = "") -> Record:
    record = Record(name, "s1")
    record.status, record.outcome = status, outcome
    return record


def _row(session: str, health: str, tokens: int) -> Json:
    return {"session_id": session, "health": health, "tokens": tokens}


def test_everything_is_told() -> None:
    loops = [
        _loop("l1", records.ACTIVE), _loop("l2", records.PAUSED), _loop("l3", records.LOST),
        _loop("l4", records.COMPLETED, "success"), _loop("l5", records.COMPLETED, "success"),
    ]  # fmt: skip
    rows = [
        _row("s1", "alive", 200), _row("s1", "alive", 500), _row("s2", "gone", 1_000),
        _row("s3", "stale", 0),
    ]  # fmt: skip
    plan = {"plan_name": 'a "b"', "project_root": "/p", "completed": 2, "total": 5}
    sums, tally = [_session("s1", 5, 40), _session("s2", 2_000)], Tally()
    tally.see(list, list)
    tally.see(lambda: sums, lambda: loops)
    found = _read(metrics(tally, sums, Loops(loops, rows), [plan, plan], "1.2.3"))
    buckets = {k: v for k, v in found.items() if k[0].endswith("_bucket")}
    assert {k: v for k, v in found.items() if k not in buckets} == {
        _key("sisyphus_build_info", version="1.2.3"): 1,
        _key("sisyphus_loops_active"): 2,
        _key("sisyphus_loops_paused"): 1,
        _key("sisyphus_loops_lost"): 1,
        _key("sisyphus_loops_client_gone"): 2,
        _key("sisyphus_loops_active_tokens"): 1_500,
        _key("sisyphus_loops", outcome="success"): 2,
        _key("sisyphus_loops_ended_total", outcome="success"): 2,
        _key("sisyphus_sessions"): 2,
        _key("sisyphus_hooks_total", event="stop"): 3,
        _key("sisyphus_hook_duration_seconds_sum", event="stop"): 2.045,
        _key("sisyphus_hook_duration_seconds_count", event="stop"): 3,
        _key("sisyphus_blocks_total"): 3,
        _key("sisyphus_sent_characters"): 30,
        _key("sisyphus_plan_tasks", plan='a "b"', project="/p", state="completed"): 2,
        _key("sisyphus_plan_tasks", plan='a "b"', project="/p", state="open"): 3,
    }
    by_end = {float(dict(labels)["le"]): value for (_, labels), value in buckets.items()}
    assert list(by_end) == [*BUCKETS, float("inf")]
    assert (by_end[0.005], by_end[0.025], by_end[0.05], by_end[2.5]) == (1, 1, 2, 3)
    assert by_end[float("inf")] == 3


def test_only_so_many_plans_are_told() -> None:
    plans = [
        {"plan_name": f"p{n}", "project_root": "/p", "completed": 0, "total": 1} for n in range(500)
    ]
    found = _read(metrics(Tally(), [], Loops([], []), plans, "1"))
    assert sum(name == "sisyphus_plan_tasks" for name, _ in found) == 200


def test_what_files_hold_is_a_gauge_and_a_counter_says_since_when() -> None:
    """Files are purged: a total of theirs would fall."""
    sums, tally = [_session("s1", 5)], Tally()
    loops = [_loop("l1", records.COMPLETED, "success")]
    tally.see(lambda: sums, lambda: loops)
    told = metrics(tally, sums, Loops(loops, []), [], "1")
    found = _read(told)
    assert found[_key("sisyphus_loops", outcome="success")] == 1
    assert found[_key("sisyphus_loops_ended_total", outcome="success")] == 0
    assert found[_key("sisyphus_hook_duration_seconds_count", event="stop")] == 0
    kinds = dict(re.findall(r"# TYPE (\S+) (\S+)", told))
    helps = dict(re.findall(r"# HELP (\S+) (.+)", told))
    since = {name for name, text in helps.items() if "from 0 since this dashboard" in text}
    assert since == {name for name, kind in kinds.items() if kind != "gauge"}
    assert since == {name for name in kinds if name.endswith(("_total", "_seconds"))}
