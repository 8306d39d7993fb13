from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opencode.stand_in import recorded
from sisyphus.clients import opencode_tools as tools

NAMES = [
    ("bash", "Bash"), ("read", "Read"), ("edit", "Edit"), ("write", "Write"), ("list", "LS"),
    ("multiedit", "MultiEdit"), ("apply_patch", "Edit"), ("patch", "Edit"), ("task", "Task"),
    ("todowrite", "TodoWrite"), ("question", "AskUserQuestion"), ("webfetch", "WebFetch"),
    ("skill", "skill"), ("linear_create_issue", "linear_create_issue"), ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("theirs", "name"), NAMES)
def test_a_tool_has_the_name_that_claude_code_gives_it(theirs: str, name: str) -> None:
    assert tools.name(theirs) == name


PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-one\n+two\n*** End Patch\n"

GIVEN = [
    pytest.param(
        "read",
        {"filePath": "/p/a.py", "offset": 3},
        {"file_path": "/p/a.py", "offset": 3},
        id="a file",
    ),
    pytest.param("read", {"filePath": "a.py"}, {"file_path": "/p/a.py"}, id="a relative path"),
    pytest.param("read", {"filePath": ""}, {"file_path": ""}, id="no path"),
    pytest.param("read", {"filePath": 7}, {"file_path": 7}, id="a path of a wrong kind"),
    pytest.param(
        "edit",
        {"filePath": "/p/a.py", "oldString": "x", "newString": "y", "replaceAll": True},
        {"file_path": "/p/a.py", "old_string": "x", "new_string": "y", "replace_all": True},
        id="an edit",
    ),
    pytest.param("bash", {"command": "ls"}, {"command": "ls"}, id="a command"),
    pytest.param("bash", {}, {}, id="nothing"),
    pytest.param("custom", {"anything": [1]}, {"anything": [1]}, id="another tool's"),
    pytest.param(
        "apply_patch",
        {"patchText": PATCH},
        {"file_path": "/p/src/a.py", "patchText": PATCH},
        id="a patch",
    ),
    pytest.param("patch", {"patchText": "x"}, {"patchText": "x"}, id="a patch of no file"),
    pytest.param("bash", {"patchText": PATCH}, {"patchText": PATCH}, id="no tool that patches"),
    pytest.param(
        "todowrite",
        {"todos": [{"content": "A", "status": "cancelled"}, {"content": "B"}, "C", None]},
        {"todos": [{"content": "B"}, "C", None]},
        id="a cancelled todo is taken out",
    ),
    pytest.param("todowrite", {"todos": "A"}, {"todos": "A"}, id="todos that are no list"),
]


@pytest.mark.parametrize(("tool", "args", "expected"), GIVEN)
def test_a_tool_is_given_what_claude_code_would_give_it(
    tool: str, args: dict[str, object], expected: dict[str, object]
) -> None:
    assert tools.given(tool, args, "/p") == expected


PATCHES = [
    pytest.param("*** Update File: a.py\n", "a.py", id="updated"),
    pytest.param("*** Add File: new/b.py", "new/b.py", id="added"),
    pytest.param("*** Delete File: c.py\r\n", "c.py", id="deleted, with another line end"),
    pytest.param("*** Add File: x\n*** Update File: y", "x", id="the first of two"),
    pytest.param("+*** Update File: a.py", "", id="in a line that is added"),
    pytest.param("+one\x0c*** Update File: a.py", "", id="behind a form feed of such a line"),
    pytest.param("", "", id="empty"),
    pytest.param(None, "", id="no text"),
]


@pytest.mark.parametrize(("text", "path"), PATCHES)
def test_a_patch_names_the_file_that_it_changes_first(text: object, path: str) -> None:
    assert tools.patched(text) == path


DIFF = "Index: /p/a\n====\n--- /p/a\n+++ /p/a\n@@ -1,3 +1,4 @@\n one\n-two\n+deux\n+zwei\n three\n"
HUNK = {"oldStart": 1, "newStart": 1, "lines": [" one", "-two", "+deux", "+zwei", " three"]}
SECOND = "Index: /p/b\n====\n--- /p/b\n+++ /p/b\n@@ -0,0 +1,1 @@\n+hello\n"

HUNKS = [
    pytest.param(DIFF, [HUNK], id="one"),
    pytest.param("", [], id="nothing"),
    pytest.param("Index: /p/a\n====\n", [], id="a head alone"),
    pytest.param(f"{DIFF}\n{SECOND}", [HUNK], id="of the first of two files"),
    pytest.param(
        DIFF + "@@ -9 +10,2 @@ def f\n+x",
        [HUNK, {"oldStart": 9, "newStart": 10, "lines": ["+x"]}],
        id="two of one file",
    ),
    pytest.param(
        "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b",
        [{"oldStart": 1, "newStart": 1, "lines": ["-a", "\\ No newline at end of file", "+b"]}],
        id="without a line end at the end",
    ),
    pytest.param(
        "@@ -1 +1 @@\n+a\x0cb\x85c\u2028d",
        [{"oldStart": 1, "newStart": 1, "lines": ["+a\x0cb\x85c\u2028d"]}],
        id="what only looks like a line end",
    ),
    pytest.param("@@ x\n+a", [{"oldStart": 1, "newStart": 1, "lines": ["+a"]}], id="no numbers"),
    pytest.param(
        f"@@ -{'9' * 10} +\N{ARABIC-INDIC DIGIT THREE} @@\n+a",
        [{"oldStart": 1, "newStart": 1, "lines": ["+a"]}],
        id="numbers that are none",
    ),
]


@pytest.mark.parametrize(("diff", "hunks"), HUNKS)
def test_a_diff_is_taken_apart(diff: str, hunks: list[object]) -> None:
    assert list(tools.hunks(diff)) == hunks


@given(st.text(alphabet="@-+ ,1Ix\n\\\x0c\u2028", max_size=200))
def test_any_diff_is_hunks_of_signed_lines(diff: str) -> None:
    for hunk in tools.hunks(diff):
        assert set(hunk) == {"oldStart", "newStart", "lines"}
        assert all(line[0] in " +-\\" for line in hunk["lines"])
        assert "\n" not in "".join(hunk["lines"])


def _answer(name: str) -> object:
    told = recorded(name)["opencode"]["tool"]
    return tools.answer(told["tool"], told["args"], told["output"], told["metadata"])


ANSWERS = [
    ("read", {}),
    ("write", {}),
    ("bash", {"stdout": "hi\n", "stderr": "", "interrupted": False}),
    ("edit", {"filePath": "/home/user/project/a.py", "structuredPatch": [HUNK]}),
    ("apply_patch", {"filePath": None, "structuredPatch": [HUNK]}),
    ("task", {}),
]


@pytest.mark.parametrize(("tool", "expected"), ANSWERS)
def test_what_a_tool_did_is_noted_as_claude_code_does(tool: str, expected: object) -> None:
    assert _answer(f"post-tool-use.{tool}") == expected


def test_todos_are_noted_without_those_that_were_cancelled() -> None:
    answer = _answer("post-tool-use.todowrite")
    assert isinstance(answer, dict)
    assert [todo["content"] for todo in answer["newTodos"]] == ["A", "B", "C"]


NO_DIFF = [
    pytest.param({}, id="nothing"),
    pytest.param({"filediff": {"patch": 7}, "diff": None}, id="no texts"),
    pytest.param({"filediff": [], "files": {}}, id="other kinds"),
    pytest.param({"files": []}, id="no files"),
    pytest.param({"files": ["a.py"]}, id="files that are none"),
]


@pytest.mark.parametrize("metadata", NO_DIFF)
def test_an_edit_that_tells_no_diff_is_noted_by_nothing(metadata: dict[str, object]) -> None:
    assert tools.answer("edit", {"filePath": "/p/a"}, "", metadata) == {}


def test_an_edit_may_tell_its_diff_in_the_older_place() -> None:
    noted = tools.answer("edit", {"filePath": "/p/a"}, "", {"filediff": {}, "diff": DIFF})
    assert noted == {"filePath": "/p/a", "structuredPatch": [HUNK]}


FAILURES = [
    pytest.param("bash", {"exit": 3}, "Exit code 3", id="a command that failed"),
    pytest.param("bash", {"exit": 0}, "", id="one that did not"),
    pytest.param("bash", {"exit": None}, "", id="one that was aborted"),
    pytest.param("bash", {"exit": True}, "", id="no number"),
    pytest.param("bash", {}, "", id="nothing is told"),
    pytest.param("read", {"exit": 3}, "", id="another tool"),
]


@pytest.mark.parametrize(("tool", "metadata", "how"), FAILURES)
def test_a_command_has_failed_where_its_exit_code_says_so(
    tool: str, metadata: dict[str, object], how: str
) -> None:
    assert tools.failure(tool, metadata) == how


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["filePath", "patchText", "todos", "exit", "files", "filediff", "diff", "patch", "status"]
)


@given(
    st.sampled_from([theirs for theirs, _ in NAMES]),
    st.dictionaries(FIELDS, ANYTHING, max_size=5),
    st.dictionaries(FIELDS, ANYTHING, max_size=5),
)
def test_whatever_a_tool_says_it_is_understood(
    tool: str, args: dict[str, object], metadata: dict[str, object]
) -> None:
    json.dumps(tools.given(tool, args, "/p"))
    json.dumps(tools.answer(tool, args, "", metadata))
    assert isinstance(tools.failure(tool, metadata), str)
