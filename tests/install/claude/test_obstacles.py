from __future__ import annotations

import json

import pytest

from sisyphus.install.claude import obstacles
from sisyphus.install.claude.edits import Wanted

ALL = Wanted({"Stop": [{}]}, {"command": "x"}, ("a",))
OURS = '{"command": "sisyphus hook z"}'
GROUP = f'{{"hooks": [{OURS}]}}'
TWICE = f'{{"hooks": [{OURS}], "hooks": []}}'

IN_THE_WAY = [
    pytest.param('{"hooks": 1}', 'line 1, column 11: "hooks" holds no object', id="hooks"),
    pytest.param('{\n "claudeMdExcludes": {}}', 'line 2, column 22: "claudeMd', id="excludes"),
    pytest.param('{"hooks": {"Stop": 1}}', 'line 1, column 12: "Stop" holds no list', id="event"),
    pytest.param('{"statusLine": 1, "statusLine": 2}', "column 19: the key", id="twice"),
    pytest.param('{"hooks": {"Stop": [], "Stop": []}}', 'the key "Stop" stands', id="event twice"),
    pytest.param(
        '{"statusLine": {"padding": 1e999}}', 'column 28: a number in "statusLine"', id="number"
    ),
    pytest.param(f'{{"hooks": {{"Z": [{GROUP}], "Z": []}}}}', 'the key "Z"', id="ours"),
    pytest.param(f'{{"hooks": {{"Z": [{TWICE}]}}}}', 'the key "hooks"', id="group"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), IN_THE_WAY)
def test_what_is_in_the_way_is_told_with_its_place(text: str, told: str) -> None:
    assert told in obstacles.first(text, ALL)


HARMLESS = [
    pytest.param({}, id="nothing"),
    pytest.param({"hooks": {"Stop": [], "Z": None}}, id="an event that is not wanted"),
    pytest.param({"hooks": {"Stop": [1, {"hooks": 2}]}}, id="strange groups"),
    pytest.param({"statusLine": 7}, id="a strange status line"),
    pytest.param({"statusLine": {"padding": 1.5, "x": [10**300]}}, id="numbers"),
]


@pytest.mark.parametrize("values", HARMLESS)
def test_nothing_else_is_in_the_way(values: object) -> None:
    assert obstacles.first(json.dumps(values), ALL) == ""


def test_who_wants_nothing_there_is_hindered_by_no_type() -> None:
    text = '{"hooks": [], "claudeMdExcludes": 1, "statusLine": 1e999}'
    assert obstacles.first(text, Wanted()) == ""
