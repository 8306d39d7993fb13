from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boulder.kord.test_notes import JSON
from sisyphus.boulder.kord import record
from sisyphus.boulder.kord.notes import Notes

if TYPE_CHECKING:
    from sisyphus._types import Json

OURS = ["activePlan", "currentWave", "currentStory", "checkpoint", "progress", "todos"]
CHECKPOINT = {"timestamp": "2026-02-13T15:30:00Z", "message": "half way"}
TODO = {"id": "w2-s07", "content": "Add headers", "status": "in_progress"}
STORIES = {"S01": {"status": "completed", "wave": 1}, "S07": {"status": "in_progress", "wave": 2}}
FIELDS: Json = {
    "activePlan": "docs/kord/plans/audit.md",
    "currentWave": 2,
    "currentStory": "S07",
    "checkpoint": CHECKPOINT,
    "progress": {"totalStories": 12, "completedStories": 7, "stories": STORIES},
    "todos": [TODO],
}

PROBLEMS = [
    pytest.param({}, "", id="nothing"),
    pytest.param(FIELDS, "", id="all fields"),
    pytest.param(dict.fromkeys(OURS), "", id="all of them null"),
    pytest.param({"squad": 7}, "", id="a field of others"),
    pytest.param({"version": 1}, "", id="our version"),
    pytest.param({"activePlan": 7}, "activePlan is not a text", id="plan"),
    pytest.param({"currentWave": "2"}, "currentWave is not a number", id="wave"),
    pytest.param({"currentWave": True}, "currentWave is not a number", id="wave of truth"),
    pytest.param({"currentStory": 7}, "currentStory is not a text", id="story"),
    pytest.param({"checkpoint": "half"}, "checkpoint is not an object", id="checkpoint"),
    pytest.param({"checkpoint": {}}, "", id="an empty checkpoint"),
    pytest.param({"checkpoint": {"message": 7}}, "checkpoint has no message", id="message"),
    pytest.param({"progress": []}, "progress is not an object", id="progress"),
    pytest.param({"todos": {}}, "todos is not a list", id="todos"),
    pytest.param({"todos": [TODO, "dig"]}, "todos holds what is not an object", id="a bare todo"),
]


@pytest.mark.parametrize(("found", "expected"), PROBLEMS)
def test_a_record_is_usable_or_not(found: Json, expected: str) -> None:
    assert record.problem(found) == expected


def test_a_record_has_its_fields_in_their_order_and_leaves_out_what_is_not_known() -> None:
    assert list(record.render({"squad": "red"}, FIELDS)) == [*OURS, "squad"]
    assert record.render({}, {**dict.fromkeys(OURS), "todos": []}) == {"todos": []}


def test_fields_of_others_stay_at_every_level() -> None:
    theirs: Json = {
        "squad": {"name": "red"},
        "progress": {"eta": "May", "stories": {"S07": {"owner": "ann"}, "S99": {"gone": True}}},
    }

    rendered = record.render(theirs, FIELDS)

    assert rendered["squad"] == {"name": "red"}
    assert rendered["progress"] == {
        "eta": "May",
        "totalStories": 12,
        "completedStories": 7,
        "stories": {
            "S01": STORIES["S01"],
            "S07": {"owner": "ann", **STORIES["S07"]},
            "S99": {"gone": True},
        },
    }


WRONG_PROGRESS: list[object] = [None, 7, [], {"stories": []}, {"stories": {"S07": 1}}]


@pytest.mark.parametrize("found", WRONG_PROGRESS)
def test_a_progress_of_a_wrong_shape_is_written_anew(found: object) -> None:
    assert record.render({"progress": found}, FIELDS)["progress"] == FIELDS["progress"]


@given(st.dictionaries(st.sampled_from([*OURS, "squad", "notes"]) | st.text(max_size=5), JSON))
def test_no_field_of_others_is_lost_and_twice_the_same_is_the_same(found: Json) -> None:
    once = record.render(found, FIELDS)
    assert {name: once[name] for name in found if name not in OURS} == {
        name: value for name, value in found.items() if name not in OURS
    }
    assert record.render(once, FIELDS) == once
    assert list(record.render(once, FIELDS)) == list(once)


def taken(found: Json, **known: object) -> Notes:
    notes = Notes(known)
    record.take_in(found, notes, (1, "S01"))
    return notes


def test_what_others_wrote_is_what_we_know() -> None:
    notes = taken(FIELDS)
    assert (notes.checkpoint, notes.todos) == (CHECKPOINT, [TODO])


@pytest.mark.parametrize(
    ("progress", "named"),
    [
        pytest.param(None, (2, "S07"), id="nothing else is said"),
        pytest.param({"stories": {"S02": {"status": "pending"}}}, (2, "S07"), id="another is left"),
        pytest.param(
            {"stories": {"S01": {"status": "completed"}, "S07": {"status": "in_progress"}}},
            (None, ""),
            id="it is the first that is left: a program wrote it",
        ),
    ],
)
def test_a_story_is_named_where_it_does_not_follow_from_the_progress(
    progress: Json | None, named: tuple[int | None, str]
) -> None:
    notes = taken({**FIELDS, "progress": progress})
    assert (notes.wave, notes.story) == named


def test_the_owner_of_a_todo_that_is_gone_is_forgotten() -> None:
    notes = taken(FIELDS, owners={"w2-s07": "s1", "t1": "s1"})
    assert notes.owners == {"w2-s07": "s1"}


def test_a_field_that_is_not_there_says_nothing() -> None:
    notes = taken({}, checkpoint=CHECKPOINT, todos=[TODO], owners={"w2-s07": "s1"}, wave=3)
    assert (notes.checkpoint, notes.todos, notes.wave) == (CHECKPOINT, [TODO], 3)
    assert notes.owners == {"w2-s07": "s1"}


def test_todos_that_were_all_taken_out_are_gone() -> None:
    assert taken({"todos": []}, todos=[TODO]).todos == []


OLDER = "2026-02-12T00:00:00Z"
NEWER = "2026-02-14T00:00:00Z"
CHECKPOINTS = [
    pytest.param({"timestamp": OLDER, "message": "old"}, "half way", id="of an old commit"),
    pytest.param({"timestamp": NEWER, "message": "new"}, "new", id="later"),
    pytest.param({**CHECKPOINT, "message": "put better"}, "put better", id="other words"),
    pytest.param({"message": "by hand"}, "by hand", id="without a time"),
]


@pytest.mark.parametrize(("found", "message"), CHECKPOINTS)
def test_the_later_checkpoint_counts(found: Json, message: str) -> None:
    notes = taken({"checkpoint": found}, checkpoint=CHECKPOINT, by="session-end")
    assert notes.checkpoint
    assert notes.checkpoint["message"] == message
    assert notes.by == ("session-end" if message == "half way" else "")


PLACES = [
    pytest.param({"currentWave": 1, "currentStory": "S01"}, None, "", id="as we wrote it"),
    pytest.param({"currentWave": 1, "currentStory": "S02"}, 1, "S02", id="another story"),
    pytest.param({"currentWave": 2}, 2, "", id="another wave"),
    pytest.param({}, None, "", id="taken out"),
]


@pytest.mark.parametrize(("found", "wave", "story"), PLACES)
def test_who_changes_wave_or_story_names_them(found: Json, wave: int | None, story: str) -> None:
    notes = taken(found)
    assert (notes.wave, notes.story) == (wave, story)


def test_what_is_still_said_of_the_plan_before_is_not_about_the_new_one() -> None:
    before = Notes({"checkpoint": CHECKPOINT, "todos": [TODO]})
    found = {**FIELDS, "activePlan": "other.md"}
    assert not {"checkpoint", "todos"} & set(record.without_what_was(found, before))
    new = {**found, "todos": [], "checkpoint": {"message": "new"}}
    assert record.without_what_was(new, before) == new


@given(st.dictionaries(st.sampled_from([*OURS, "squad"]), JSON), JSON)
def test_any_record_without_a_problem_can_be_taken_in(found: Json, shown: object) -> None:
    if not record.problem(found):
        notes = taken(found)
        record.take_in(found, notes, (shown, shown))
        assert Notes(notes.as_json()).as_json() == notes.as_json()
