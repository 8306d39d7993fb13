from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder import record
from sisyphus.boulder.parser.plan import parse

if TYPE_CHECKING:
    from sisyphus._types import Json

NOW = 1_000_000_000.0
DAY = 86_400


def a_record(**fields: object) -> Json:
    return {**record.new_record("/p/PLAN.md", "/p", NOW), **fields}


def test_a_record_has_the_seven_fields_of_the_boulder() -> None:
    assert list(a_record()) == [
        "active_plan",
        "project_root",
        "plan_name",
        "started_at",
        "session_ids",
        "progress",
        "metadata",
    ]
    assert a_record()["started_at"] == "2001-09-09T01:46:40Z"


def test_a_valid_record_is_taken_as_it_is_with_its_unknown_fields() -> None:
    found = a_record(squad="red", session_ids=["a"], metadata={"x": 1})
    assert record.valid_record(found) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from([*a_record(), "unknown"])


@given(st.dictionaries(FIELDS, JSON))
def test_whatever_is_found_becomes_a_record_with_right_types_or_none(found: Json) -> None:
    assert record.valid_record(found) is None or "active_plan" in found
    valid = record.valid_record({**found, "active_plan": "/p/PLAN.md"})
    assert valid
    for name in ("project_root", "plan_name", "started_at"):
        assert valid[name] == (found.get(name) if isinstance(found.get(name), str) else "")
    assert all(isinstance(session, str) for session in valid["session_ids"])
    assert {name: type(count) for name, count in valid["progress"].items()} == {
        "total": int,
        "completed": int,
    }
    assert isinstance(valid["metadata"], dict)
    assert valid.get("unknown") == found.get("unknown")


def test_two_records_of_a_plan_join_without_loss() -> None:
    old = a_record(session_ids=["a", "b"], metadata={"x": 1, "y": 1}, squad="red", plan_name="old")
    new = a_record(session_ids=["b", "c"], metadata={"y": 2}, plan_name="new")
    joined = record.joined(old, new)
    assert joined["session_ids"] == ["a", "b", "c"]
    assert joined["metadata"] == {"x": 1, "y": 2}
    assert (joined["squad"], joined["plan_name"]) == ("red", "new")


def test_progress_that_is_the_same_changes_nothing() -> None:
    known = a_record()
    plan = parse("- [x] a\n- [ ] b\n")
    assert record.note_progress(known, plan, "p", NOW + 1)
    before = {**known}
    assert not record.note_progress(known, plan, "p", NOW + 2)
    assert known == before


def test_a_new_name_of_the_plan_is_noted() -> None:
    known = a_record()
    record.note_progress(known, parse(""), "renamed", NOW)
    assert known["plan_name"] == "renamed"


def test_a_session_is_noted_once_and_an_unknown_one_not_at_all() -> None:
    known = a_record()
    for session in ("a", "b", "a", ""):
        record.add_session(known, session, NOW + 60)
    assert known["session_ids"] == ["a", "b"]
    assert known["metadata"] == {"updated_at": "2001-09-09T01:47:40Z"}


def test_only_a_session_that_worked_on_the_plan_ends() -> None:
    known = a_record(session_ids=["a", "b"])
    assert [record.end_session(known, s) for s in ("a", "a", "c")] == [True, False, False]
    assert known["metadata"]["ended_sessions"] == ["a"]


STALE = [
    pytest.param({}, 15, True, id="old and without sessions"),
    pytest.param({}, 13, False, id="not old enough"),
    pytest.param({"session_ids": ["a"]}, 15, False, id="a session may be alive"),
    pytest.param({"metadata": {"ended_sessions": ["a"]}}, 15, True, id="started_at counts"),
    pytest.param({"metadata": {"updated_at": 7}}, 15, True, id="a wrong time is none"),
    pytest.param({"started_at": "", "metadata": {}}, 15, True, id="no time at all"),
]


@pytest.mark.parametrize(("fields", "days", "stale"), STALE)
def test_a_record_is_stale(fields: Json, days: int, stale: bool) -> None:
    now = NOW + days * DAY
    assert record.is_stale(a_record(**fields), NOW, now, 14) is stale


def test_a_record_whose_file_changed_is_not_stale() -> None:
    now = NOW + 15 * DAY
    assert not record.is_stale(a_record(), now - DAY, now, 14)
    assert not record.is_stale(a_record(), float("inf"), now, 14)
