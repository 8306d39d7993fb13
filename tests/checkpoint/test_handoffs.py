from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import at_once, ours, put, stored

from sisyphus.checkpoint import handoffs
from sisyphus.checkpoint.paper.resume import block
from sisyphus.errors import NewerVersionError
from sisyphus.paths import our_home

if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json

ROOT = "/home/user/project"


@pytest.fixture
def folder(home: Path) -> str:
    return str(ours(home, "")).rstrip("/")


def entry(name: str = "a.md", session: str = "s1", **fields: Any) -> Checkpoint:
    found: Checkpoint = {"active": True, "handoff_file": name, "session_id": session}
    found.update(fields)  # type: ignore[typeddict-item]  # a test names the fields it is about
    return found


def _index(folder: str) -> Path:
    return Path(handoffs.path(folder, ROOT))


def _anybody(_: Checkpoint) -> bool:
    return True


def _nobody(_: Checkpoint) -> bool:
    return False


def test_a_project_without_handoffs_costs_no_file(folder: str) -> None:
    assert handoffs.read(folder, ROOT) == []
    assert handoffs.open_of(folder, ROOT, "s1") is None
    assert handoffs.take(folder, ROOT, _anybody, "s2") is None
    assert not handoffs.close(folder, ROOT, _anybody)
    assert not os.path.exists(folder)


def test_a_handoff_supersedes_those_of_its_session(folder: str) -> None:
    for name, session in (("a.md", "s1"), ("b.md", "s2"), ("c.md", "s1")):
        handoffs.add(folder, ROOT, entry(name, session))

    first, second, third = handoffs.read(folder, ROOT)
    assert (first["active"], first["closed"]) == (False, handoffs.SUPERSEDED)
    assert second["active"]
    assert third["active"]
    assert handoffs.open_of(folder, ROOT, "s1") == third


def test_one_of_no_session_supersedes_none(folder: str) -> None:
    handoffs.add(folder, ROOT, entry("a.md", ""))
    handoffs.add(folder, ROOT, entry("b.md", ""))
    assert len(handoffs.active(folder, ROOT)) == 2


def test_the_latest_that_is_wanted_is_given_once(folder: str) -> None:
    for name, session in (("a.md", "s1"), ("b.md", "s2"), ("c.md", "s3")):
        handoffs.add(folder, ROOT, entry(name, session))

    def wanted(one: Checkpoint) -> bool:
        return one.get("session_id") != "s3"

    given_away = [handoffs.take(folder, ROOT, wanted, "s9") for _ in range(3)]

    assert [one and one["handoff_file"] for one in given_away] == ["b.md", "a.md", None]
    shut = handoffs.read(folder, ROOT)[1]
    assert (shut["closed"], shut["given_to"]) == (handoffs.DELIVERED, "s9")
    assert [one["handoff_file"] for one in handoffs.active(folder, ROOT)] == ["c.md"]


def _take(session: str, folder: str) -> bool:
    return handoffs.take(folder, ROOT, _anybody, session) is not None


def test_of_many_at_once_one_is_given_it(folder: str) -> None:
    handoffs.add(folder, ROOT, entry())
    names = [f"t{number}" for number in range(16)]
    assert sum(at_once(partial(_take, folder=folder), names)) == 1


def _add(number: int, folder: str) -> None:
    handoffs.add(folder, ROOT, entry(f"{number}.md", f"t{number}"))


def test_of_many_at_once_none_is_lost(folder: str) -> None:
    at_once(partial(_add, folder=folder), range(16))
    assert len(handoffs.active(folder, ROOT)) == 16


def test_what_is_closed_is_given_to_nobody(folder: str) -> None:
    handoffs.add(folder, ROOT, entry("a.md", "s1"))
    handoffs.add(folder, ROOT, entry("b.md", "s2"))

    assert handoffs.close(folder, ROOT, handoffs.of_session("s1"))
    assert not handoffs.close(folder, ROOT, handoffs.of_session("s1"))

    assert handoffs.read(folder, ROOT)[0]["closed"] == handoffs.DONE
    assert handoffs.take(folder, ROOT, handoffs.of_session("s1"), "s9") is None
    assert [one["session_id"] for one in handoffs.active(folder, ROOT)] == ["s2"]


def test_why_it_was_closed_stays(folder: str) -> None:
    handoffs.add(folder, ROOT, entry())
    handoffs.take(folder, ROOT, _anybody, "s9")
    handoffs.add(folder, ROOT, entry("b.md"))
    assert handoffs.read(folder, ROOT)[0]["closed"] == handoffs.DELIVERED


def test_what_let_its_session_stop_still_does(folder: str) -> None:
    handoffs.add(folder, ROOT, entry("a.md", lets_stop=True))
    handoffs.add(folder, ROOT, entry("b.md", "s2"))
    handoffs.add(folder, ROOT, entry("c.md"))
    found = handoffs.active(folder, ROOT)
    assert [one.get("lets_stop") for one in found] == [None, True]


def test_what_was_given_away_lets_nobody_stop(folder: str) -> None:
    handoffs.add(folder, ROOT, entry("a.md", lets_stop=True))
    handoffs.take(folder, ROOT, _anybody, "s1")
    handoffs.add(folder, ROOT, entry("b.md"))
    assert handoffs.active(folder, ROOT)[0].get("lets_stop") is None


def test_what_was_given_to_a_session_waits_again(folder: str) -> None:
    handoffs.add(folder, ROOT, entry())
    handoffs.take(folder, ROOT, _anybody, "s9")
    assert not handoffs.give_back(folder, ROOT, "s8")
    assert handoffs.give_back(folder, ROOT, "s9")
    assert handoffs.take(folder, ROOT, _anybody, "s10") is not None
    assert not handoffs.give_back(folder, ROOT, "s9")


def test_of_those_that_it_was_given_the_last_waits_again(folder: str) -> None:
    """It has worked behind the one before."""
    for name in ("a.md", "b.md"):
        handoffs.add(folder, ROOT, entry(name))
        handoffs.take(folder, ROOT, _anybody, "s9")
    handoffs.give_back(folder, ROOT, "s9")
    assert [one["handoff_file"] for one in handoffs.active(folder, ROOT)] == ["b.md"]


def test_what_is_done_is_not_given_back(folder: str) -> None:
    handoffs.add(folder, ROOT, entry(given_to="s9"))
    handoffs.close(folder, ROOT, _anybody)
    assert not handoffs.give_back(folder, ROOT, "s9")


def test_one_that_waits_is_kept_longer_than_those_that_do_not(folder: str) -> None:
    handoffs.add(folder, ROOT, entry("open.md", "s0"))
    for number in range(handoffs.KEPT + 3):
        handoffs.add(folder, ROOT, entry(f"{number}.md", "s1"))
    found = [one["handoff_file"] for one in handoffs.read(folder, ROOT)]
    assert (len(found), found[0], found[1]) == (handoffs.KEPT, "open.md", "4.md")


def test_of_very_many_the_latest_are_kept(folder: str) -> None:
    for number in range(handoffs.KEPT + 3):
        handoffs.add(folder, ROOT, entry(f"{number}.md", f"t{number}"))
    found = handoffs.read(folder, ROOT)
    assert len(found) == handoffs.KEPT
    assert found[0]["handoff_file"] == "3.md"


def test_nobody_else_reads_them(folder: str) -> None:
    handoffs.add(folder, ROOT, entry())
    assert _index(folder).stat().st_mode & 0o777 == 0o600
    assert _index(folder).parent.stat().st_mode & 0o777 == 0o700


def test_what_another_version_added_stays(folder: str) -> None:
    put(_index(folder), json.dumps({"else": 7, "handoffs": [entry(mark="x")]}))
    handoffs.add(folder, ROOT, entry("b.md", "s2"))
    found = stored(_index(folder))
    assert (found["else"], found["handoffs"][0]["mark"]) == (7, "x")


CHANGES = [
    pytest.param(lambda ours_: handoffs.add(ours_, ROOT, entry("b.md")), id="to add one"),
    pytest.param(lambda ours_: handoffs.take(ours_, ROOT, _anybody, "s2"), id="to give one"),
    pytest.param(lambda ours_: handoffs.close(ours_, ROOT, _anybody), id="to close one"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_newer_version_wrote_stays(folder: str, change: Any) -> None:
    newer = {"version": 2, "handoffs": [entry()]}
    put(_index(folder), json.dumps(newer))
    with pytest.raises(NewerVersionError):
        change(folder)
    assert stored(_index(folder)) == newer


@pytest.mark.parametrize("text", ["{", "[]", "7", "\ufeff"])
def test_what_is_unreadable_is_set_aside(folder: str, text: str) -> None:
    put(_index(folder), text)
    assert handoffs.read(folder, ROOT) == []
    handoffs.add(folder, ROOT, entry())
    assert len(handoffs.read(folder, ROOT)) == 1
    [kept] = _index(folder).parent.glob("handoffs.json.corrupt-*")
    assert kept.read_text("utf-8") == text


def test_what_nobody_wants_is_left_alone(folder: str) -> None:
    handoffs.add(folder, ROOT, entry())
    before = _index(folder).stat().st_ino
    assert handoffs.take(folder, ROOT, _nobody, "s2") is None
    assert not handoffs.close(folder, ROOT, _nobody)
    assert _index(folder).stat().st_ino == before


def test_one_that_went_meanwhile_is_given_to_nobody(folder: str) -> None:
    """Another session was quicker than the lock."""
    handoffs.add(folder, ROOT, entry())
    asked: list[str] = []

    def once(one: Checkpoint) -> bool:
        asked.append(one["handoff_file"])
        return len(asked) == 1

    assert handoffs.take(folder, ROOT, once, "s2") is None
    assert len(handoffs.active(folder, ROOT)) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    [
        "active", "handoff_file", "session_id", "timestamp", "level", "percent_at_checkpoint",
        "files_in_progress", "occasion", "in_run",
    ]
)  # fmt: skip
some_entries = st.lists(st.dictionaries(fields, json_values, max_size=6) | json_values, max_size=4)
indices = st.fixed_dictionaries({"handoffs": some_entries | json_values})


@given(indices)
def test_whatever_is_in_the_file_its_entries_can_be_worked_with(found: Json) -> None:
    folder = our_home()
    put(_index(folder), json.dumps(found))
    handoffs.close(folder, ROOT, handoffs.of_session("s2"))
    handoffs.take(folder, ROOT, handoffs.of_session("s1"), "s9")
    handoffs.give_back(folder, ROOT, "s9")
    handoffs.add(folder, ROOT, entry())
    for one in handoffs.read(folder, ROOT):
        for field in ("handoff_file", "session_id", "timestamp"):
            assert isinstance(one.get(field, ""), str)
        assert block(one)
