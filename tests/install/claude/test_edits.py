from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus._types import Json  # noqa: TC001  # hypothesis reads annotations
from sisyphus.install.claude import edits, wanted
from sisyphus.install.claude.edits import Wanted

OURS = wanted.hooks("/bin/sisyphus", "user", None)
LINE = {"type": "command", "command": "/bin/sisyphus statusline"}
MINE = {"hooks": [{"type": "command", "command": "mine"}]}

WISHES = [
    pytest.param(Wanted(), id="nothing"),
    pytest.param(Wanted(OURS), id="hooks"),
    pytest.param(Wanted(None, LINE), id="the status line"),
    pytest.param(Wanted(None, None, ("**/a.md", "**/b.md")), id="excludes"),
    pytest.param(Wanted(OURS, LINE, ("**/a.md",)), id="all"),
]
TEXTS = [
    "{}",
    '{"a": 1}\n',
    '{\n  "hooks": {\n    "Stop": []\n  }\n}',
    '{"claudeMdExcludes": ["x"]}',
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("wish", WISHES)
def test_what_is_put_in_is_there_and_is_taken_out_again(text: str, wish: Wanted) -> None:
    after = edits.put_in(text, wish)
    values, added = json.loads(after), list(wish.excludes)
    assert edits.holds(values, wish, added)
    assert edits.take_out(after, added, json.loads(text)) == text


KEYS = st.sampled_from(["hooks", "model", "claudeMdExcludes", "z"])
GROUPS = st.lists(st.sampled_from([MINE, {}, {"matcher": "x", "hooks": []}]), max_size=2)
HOOKS = st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "SessionStart"]), GROUPS, max_size=3)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "hooks": HOOKS,
        "claudeMdExcludes": st.lists(st.text(max_size=3), max_size=2),
        "env": st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
    },
)
SHAPES = st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}])


@given(SETTINGS, SHAPES, st.sampled_from([case.values[0] for case in WISHES]))
def test_any_settings_come_back_byte_for_byte(
    settings: Json, shape: dict[str, str], wish: Wanted
) -> None:
    text = json.dumps(settings, **shape)  # type: ignore[arg-type]  # one shape at a time
    wish = Wanted(wish.hooks, wish.statusline, tuple(f"ours/{one}" for one in wish.excludes))
    after = edits.put_in(text, wish)
    assert edits.take_out(after, list(wish.excludes), settings) == text
    there = json.loads(after)
    assert [key for key in there if key in settings] == list(settings)


OLDER = [
    pytest.param("sisyphus hook stop", 10, "Stop", id="by name, another timeout"),
    pytest.param("/old/sisyphus hook stop", 900, "Stop", id="another path"),
    pytest.param("sisyphus hook gone", 5, "Notification", id="a retired event"),
    pytest.param("sisyphus hook post-tool-use", 10, "PostToolUse", id="an event a call"),
    pytest.param("sisyphus hook post-tool-batch", 10, "PostToolBatch", id="an earlier name"),
    pytest.param("sisyphus hook post-tool-use-failure", 10, "PostToolUseFailure", id="a failure"),
]


@pytest.mark.parametrize(("command", "timeout", "event"), OLDER)
def test_older_entries_go_and_foreign_ones_keep_their_order(
    command: str, timeout: int, event: str
) -> None:
    ours = {"type": "command", "command": command, "timeout": timeout}
    one, two = ({"type": "command", "command": name} for name in ("one", "two"))
    mixed = {"matcher": "x", "hooks": [one, ours, two]}
    settings = {"a": 1, "hooks": {event: [MINE, mixed, {"hooks": [ours]}]}, "b": 2}

    left = json.loads(edits.take_out(json.dumps(settings), [], {}))

    rest = {"matcher": "x", "hooks": [one, two]}
    assert left == {"a": 1, "hooks": {event: [MINE, rest]}, "b": 2}
    assert not edits.holds(settings, Wanted(OURS), [])


EMPTIED = [
    pytest.param({}, id="all of it goes"),
    pytest.param({"hooks": {}}, id="the empty object was there"),
    pytest.param({"hooks": {"Stop": []}}, id="the empty list was there"),
]


@pytest.mark.parametrize("held", EMPTIED)
def test_what_was_empty_before_is_left_empty(held: Json) -> None:
    """Whoever wrote the file since has written it anew, as the client does."""
    text = json.dumps(json.loads(edits.put_in(json.dumps(held), Wanted(OURS))), indent=4)
    assert json.loads(edits.take_out(text, [], held)) == held


def test_a_statusline_of_ours_keeps_its_other_fields() -> None:
    there = {"type": "command", "command": "sisyphus statusline", "padding": 2}
    assert wanted.statusline("/b/sisyphus", there) == {
        "type": "command",
        "command": "/b/sisyphus statusline",
        "padding": 2,
    }


NOT_OURS = [None, "x", {}, {"command": 3}, {"command": "mine"}, {"command": "sisyphus status"}]


@pytest.mark.parametrize("line", NOT_OURS)
def test_a_statusline_of_others_stays(line: object) -> None:
    text = json.dumps({"statusLine": line})
    assert not edits.is_ours(line)
    assert edits.take_out(text, [], {}) == text


NOT_EXACTLY = [
    pytest.param({"hooks": OURS}, Wanted(), id="too much"),
    pytest.param({}, Wanted(OURS), id="nothing"),
    pytest.param({"hooks": {**OURS, "Stop": OURS["Stop"] * 2}}, Wanted(OURS), id="twice"),
    pytest.param({"hooks": OURS, "statusLine": LINE}, Wanted(OURS), id="a line too much"),
    pytest.param({"claudeMdExcludes": ["ours"]}, Wanted(), id="a pattern too much"),
    pytest.param({"claudeMdExcludes": "ours"}, Wanted(None, None, ("ours",)), id="no list"),
]


@pytest.mark.parametrize(("values", "wish"), NOT_EXACTLY)
def test_anything_else_is_not_what_is_wanted(values: Json, wish: Wanted) -> None:
    assert not edits.holds(values, wish, ["ours"])


def test_patterns_that_the_user_took_out_are_not_there() -> None:
    assert edits.still_there({"claudeMdExcludes": ["b", "x"]}, ["a", "b"]) == ["b"]
    assert edits.still_there({"claudeMdExcludes": "a"}, ["a"]) == []
