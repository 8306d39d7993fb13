from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import stored

from sisyphus.boulder.kord import todos
from sisyphus.boulder.kord.mirror import MAX_TODOS
from sisyphus.boulder.kord.notes import objects
from sisyphus.clients.tools import todo_change

if TYPE_CHECKING:
    from sisyphus._types import Json

RECORDED = Path(__file__).parents[2] / "data" / "payloads"
US, THEM = "9b2eef71-faf5-40bd-aa52-e8e326cb8084", "32ca109a-db85-484b-92e7-95098a10782f"


class Mirrored:
    """The todos of a plan; each method is a tool call of a session."""

    def __init__(self, *found: Json, **owners: str) -> None:
        self.todos = list(found)
        self.owners = owners

    def take(self, tool: str, given: Json, answer: Json, session: str = US) -> bool:
        return todos.take(self.todos, self.owners, todo_change(tool, given, answer), session)

    def create(self, name: object, subject: object, session: str = US) -> bool:
        return self.take("TaskCreate", {"subject": subject}, {"task": {"id": name}}, session)

    def update(self, name: object, session: str = US, **given: object) -> bool:
        return self.take("TaskUpdate", {"taskId": name, **given}, {"success": True}, session)

    def write(self, *listed: object, session: str = US) -> bool:
        return self.take("TodoWrite", {"todos": list(listed)}, {}, session)

    @property
    def lines(self) -> list[str]:
        return [f"{todo['id']} {todo['content']}: {todo['status']}" for todo in self.todos]


def a_todo(name: str = "1", content: str = "a", status: str = "pending", **more: object) -> Json:
    return {"id": name, "content": content, "status": status, **more}


def an_item(content: object, status: object = "pending") -> Json:
    return {"content": content, "status": status, "activeForm": "doing it"}


def recorded(mirrored: Mirrored, tool: str) -> bool:
    raw = stored(RECORDED / f"PostToolUse.{tool}.json")
    name, given, answer = raw["tool_name"], raw["tool_input"], raw["tool_response"]
    return mirrored.take(name, given, answer, raw["session_id"])


def test_recorded_tasks_are_mirrored_with_the_clients_id() -> None:
    known = Mirrored()
    assert recorded(known, "TaskCreate")
    assert known.todos == [{"id": "1", "content": "do x", "status": "pending"}]
    assert recorded(known, "TaskUpdate")
    assert known.lines == ["1 do x: completed"]
    assert known.owners == {"1": US}


def test_a_recorded_list_is_mirrored_without_its_active_form() -> None:
    known = Mirrored()
    assert recorded(known, "TodoWrite")
    assert known.todos == [{"id": "t1", "content": "x", "status": "pending"}]
    assert known.owners == {"t1": THEM}


def test_the_same_call_twice_changes_nothing() -> None:
    known = Mirrored()
    assert [known.create("1", "a") for _ in range(2)] == [True, False]
    assert [known.write(an_item("b")) for _ in range(2)] == [True, False]


def test_a_task_whose_id_another_session_uses_is_named_by_its_session() -> None:
    known = Mirrored()
    known.create("1", "theirs", THEM)
    known.create("1", "ours")
    assert known.lines == ["1 theirs: pending", "1@9b2eef71 ours: pending"]
    known.update("1", status="in_progress")
    assert known.lines == ["1 theirs: pending", "1@9b2eef71 ours: in_progress"]


def test_sessions_that_begin_alike_are_told_apart_by_their_whole_names() -> None:
    known = Mirrored(a_todo())
    for session in ("session-1", "session-2"):
        known.create("1", session, session)
    assert [todo["id"] for todo in known.todos] == ["1", "1@session-", "1@session-2"]
    assert not Mirrored(a_todo(), a_todo("1@one")).create("1", "no name is left", "one")


def test_a_task_that_is_created_again_begins_anew() -> None:
    known = Mirrored(a_todo(status="completed", note="kept"), **{"1": US})
    assert known.create("1", "b")
    assert known.todos == [a_todo("1", "b", note="kept")]


UPDATES = [
    pytest.param({"status": "in_progress"}, ["1 a: in_progress"], id="status"),
    pytest.param({"status": "deleted"}, [], id="deleted"),
    pytest.param({"subject": "b\nc"}, ["1 b c: pending"], id="subject"),
    pytest.param({"subject": " "}, ["1 a: pending"], id="an empty subject"),
    pytest.param({"subject": 3, "status": "odd"}, ["1 a: pending"], id="nothing that is known"),
    pytest.param({"status": ["completed"]}, ["1 a: pending"], id="a status that is no text"),
]


@pytest.mark.parametrize(("given", "lines"), UPDATES)
def test_a_task_is_updated(given: Json, lines: list[str]) -> None:
    known = Mirrored(a_todo(), **{"1": US})
    assert known.update("1", **given) == (lines != ["1 a: pending"])
    assert known.lines == lines
    assert bool(known.owners) == bool(lines)


UNKNOWN = [
    pytest.param({"status": "pending"}, ["5 Task 5: pending"], id="without a subject"),
    pytest.param({"status": "completed", "subject": "b"}, ["5 b: completed"], id="with one"),
    pytest.param({"status": "deleted"}, [], id="deleted"),
    pytest.param({"subject": "b"}, [], id="without a status"),
]


@pytest.mark.parametrize(("given", "lines"), UNKNOWN)
def test_a_task_that_nobody_saw_created_is_updated(given: Json, lines: list[str]) -> None:
    known = Mirrored()
    known.update("5", **given)
    assert known.lines == lines


def test_an_update_that_failed_changes_nothing() -> None:
    known = Mirrored(a_todo(), **{"1": US})
    assert not known.take("TaskUpdate", {"taskId": "1", "status": "deleted"}, {"success": False})
    assert known.take("TaskUpdate", {"taskId": "1", "status": "deleted"}, {})


LISTS = [
    pytest.param(
        [an_item("b", "completed"), an_item("a")],
        ["t2 b: completed", "t1 a: pending"],
        id="found by their words, in the client's order",
    ),
    pytest.param(
        [an_item("a2"), an_item("b", "in_progress")],
        ["t1 a2: pending", "t2 b: in_progress"],
        id="reworded: found by their place",
    ),
    pytest.param([an_item("b")], ["t2 b: pending"], id="one left"),
    pytest.param([], [], id="none left"),
    pytest.param(
        [an_item("a"), an_item("b"), an_item("a", "odd")],
        ["t1 a: pending", "t2 b: pending", "t3 a: pending"],
        id="one more that says the same",
    ),
    pytest.param(
        [an_item(3), an_item(" "), 7, an_item("c\x1b[0m\n" + "d" * 400)],
        ["t1 c [0m " + "d" * 293 + "…: pending"],
        id="what can be used",
    ),
]


@pytest.mark.parametrize(("listed", "lines"), LISTS)
def test_a_list_replaces_the_sessions_own(listed: list[object], lines: list[str]) -> None:
    known = Mirrored(a_todo("t1"), a_todo("t2", "b"), t1=US, t2=US)
    assert known.write(*listed)
    assert known.lines == lines
    assert set(known.owners) == {todo["id"] for todo in known.todos}


def test_completed_todos_stay_when_the_list_forgets_them() -> None:
    known = Mirrored()
    known.write(an_item("a", "completed"), an_item("b"))
    known.write(an_item("c"), an_item("d"))
    assert known.lines == ["t1 a: completed", "t2 c: pending", "t3 d: pending"]
    known.write()
    assert known.lines == ["t1 a: completed"]


def test_todos_of_others_keep_their_fields_and_their_order() -> None:
    others = [a_todo("w2-s07", due="soon"), a_todo("1", owner=3), {"note": "no id"}, {"id": ["1"]}]
    one, two, three, four = copy.deepcopy(others)
    known = Mirrored(one, a_todo("t1"), two, a_todo("t2", "b"), three, four, t1=US, t2=US)
    known.owners["1"] = THEM
    known.write(an_item("b"), an_item("x"), an_item("y"))
    known.create("1", "z")
    names = [todo.get("id") for todo in known.todos]
    assert names == ["w2-s07", "t2", "1", "t1", None, ["1"], "t3", "1@9b2eef71"]
    assert [
        todo for todo in known.todos if todo.get("id") in ("w2-s07", "1", None, ["1"])
    ] == others


def test_owners_of_todos_that_somebody_removed_are_forgotten() -> None:
    known = Mirrored(a_todo(), **{"1": US, "2": US})
    known.update("1", status="completed")
    assert known.owners == {"1": US}


MALFORMED: list[object] = [
    pytest.param("TodoWrite", {}, {}, id="no list"),
    pytest.param("TodoWrite", {"todos": {"content": "b"}}, {}, id="an object for a list"),
    pytest.param("TodoWrite", {"todos": [1, "b", None]}, {}, id="a list of other things"),
    pytest.param("TaskCreate", {"subject": "b"}, {}, id="no answer"),
    pytest.param("TaskCreate", {"subject": "b"}, {"task": "2"}, id="a task that is a text"),
    pytest.param("TaskCreate", {"subject": "b"}, {"task": {"id": 2}}, id="an id that is no text"),
    pytest.param("TaskCreate", {"subject": "b"}, {"task": {"id": "2\n"}}, id="an id of two lines"),
    pytest.param("TaskCreate", {"subject": "b"}, {"task": {"id": "2" * 65}}, id="a long id"),
    pytest.param("TaskCreate", {"subject": ["b"]}, {"task": {"id": "2"}}, id="no subject"),
    pytest.param("TaskUpdate", {"status": "completed"}, {}, id="no id"),
    pytest.param("TaskList", {"todos": []}, {}, id="another tool"),
]


@pytest.mark.parametrize(("tool", "given", "answer"), MALFORMED)
def test_what_cannot_be_understood_is_ignored(tool: str, given: Json, answer: Json) -> None:
    known = Mirrored(a_todo(), **{"1": US})
    assert not known.take(tool, given, answer)
    assert known.lines == ["1 a: pending"]


def test_a_session_without_a_name_owns_nothing() -> None:
    assert not Mirrored().create("1", "a", session="")


def test_a_full_list_drops_what_is_completed_then_the_sessions_oldest() -> None:
    known = Mirrored(
        a_todo("hand", status="completed"),
        a_todo("theirs", status="completed"),
        a_todo("open"),
        theirs=THEM,
        open=THEM,
    )
    known.write(*(an_item(f"n{number}") for number in range(MAX_TODOS + 50)))
    assert len(known.todos) == len(known.owners) + 1 == MAX_TODOS
    assert [todo["id"] for todo in known.todos[:4]] == ["hand", "open", "t3", "t4"]


def test_what_is_finished_leaves_whoever_wrote_it() -> None:
    known = Mirrored(
        a_todo("1", status="completed"), a_todo("2"), a_todo("3", status="cancelled"),
        **{"1": US, "2": US},
    )  # fmt: skip
    assert todos.drop_finished(known.todos, known.owners)
    assert known.lines == ["2 a: pending"]
    assert known.owners == {"2": US}
    assert not todos.drop_finished(known.todos, known.owners)


def test_open_todos_are_those_that_say_something_and_are_not_finished() -> None:
    found: list[Json] = [
        a_todo("1", "a\nb", "in_progress", due="soon"), a_todo("2", status="completed"),
        {"id": 3, "content": "c", "status": None}, {"content": ""}, {},
    ]  # fmt: skip
    assert todos.open_todos(found) == [
        {"id": "1", "content": "a b", "status": "in_progress"},
        {"id": "", "content": "c", "status": "pending"},
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(JSON)
def test_of_any_value_the_objects_can_be_used(found: object) -> None:
    usable = objects(found)
    assert all(isinstance(todo, dict) for todo in usable)
    assert objects([found, {"id": "1"}])[-1] == {"id": "1"}
    todos.drop_finished(usable, {})
    assert len(todos.open_todos(usable)) <= len(usable)


IDS = st.sampled_from(["1", "2", "t1", "t2", "t3", f"1@{US[:8]}"])
SESSIONS = st.sampled_from([US, THEM])
STATUSES = st.sampled_from(["pending", "in_progress", "completed", "deleted", "odd"])
WORDS = st.sampled_from(["a", "b", "c", "", " d\n"]) | st.text(max_size=8)
ITEMS = st.fixed_dictionaries({}, optional={"content": WORDS | JSON, "status": STATUSES | JSON})
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "todos": st.lists(ITEMS | JSON, max_size=6) | JSON,
        "taskId": IDS | JSON,
        "subject": WORDS | JSON,
        "status": STATUSES | JSON,
    },
)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "task": st.fixed_dictionaries({"id": IDS | JSON}) | JSON,
        "success": st.booleans() | JSON,
    },
)
CALLS = st.lists(
    st.tuples(st.sampled_from(("TodoWrite", "TaskCreate", "TaskUpdate")), GIVEN, ANSWERS, SESSIONS),
    max_size=8,
)
WRITTEN: st.SearchStrategy[list[Json]] = st.lists(
    st.fixed_dictionaries({"id": IDS, "content": WORDS, "status": STATUSES, "due": JSON}),
    max_size=4,
    unique_by=lambda todo: str(todo["id"]),
)


@given(WRITTEN, st.dictionaries(IDS, SESSIONS), CALLS)
def test_whatever_is_called_ids_stay_unique_and_others_todos_as_they_were(
    written: list[Json], owners: dict[str, str], calls: list[tuple[str, Json, Json, str]]
) -> None:
    known = Mirrored(*written, **owners)
    for tool, tools_input, answer, session in calls:
        before = copy.deepcopy(known.todos), dict(known.owners)
        others = [todo for todo in known.todos if known.owners.get(todo["id"]) != session]
        as_they_were = repr(others)
        changed = known.take(tool, tools_input, answer, session)
        names = [todo["id"] for todo in known.todos]
        assert len(set(names)) == len(names)
        left = [todo for todo in known.todos if known.owners.get(todo["id"]) != session]
        assert repr(left) == as_they_were
        assert changed == (repr((known.todos, known.owners)) != repr(before))
        for todo in known.todos:
            if todo["id"] not in {one["id"] for one in before[0]}:
                assert set(todo) == {"id", "content", "status"}
                assert 0 < len(todo["content"]) <= 300
