from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.install import jsonc

if TYPE_CHECKING:
    from pathlib import Path

CONFIGURATIONS = [
    pytest.param('{"command": {"a": {}, "b": {}}}', {"a", "b"}, id="as its documents have it"),
    pytest.param('{"commands": {"a": {}}}', {"a"}, id="of the next version"),
    pytest.param('{"command": {"a": {} /* , "b": {} */}} // end', {"a"}, id="comments"),
    pytest.param('{"command": {"a": {},\n},}', {"a"}, id="trailing commas"),
    pytest.param('{"x": "// \\" /* ,}", "command": {"a": 1}}', {"a"}, id="comments in a text"),
    pytest.param('\ufeff{"command": {"a": {}}}', {"a"}, id="a byte order mark"),
    pytest.param('{"command": ["a"]}', set(), id="a list"),
    pytest.param('{"command": {"a": {}}', set(), id="cut short"),
    pytest.param('{"command": "', set(), id="a text that nobody closes"),
    pytest.param("[1]", set(), id="another list"),
    pytest.param("[" * 100_000, set(), id="nested too deeply"),
    pytest.param('"\\"' * 300_000, set(), id="quotes alone"),
    pytest.param("/*" * 300_000, set(), id="comments alone"),
    pytest.param("," * 300_000, set(), id="commas alone"),
]


@pytest.mark.parametrize(("text", "names"), CONFIGURATIONS)
def test_the_commands_of_a_configuration_are_found(
    tmp_path: Path, text: str, names: set[str]
) -> None:
    assert jsonc.commands(str(put(tmp_path / "opencode.jsonc", text))) == names


def test_without_a_configuration_there_is_none(tmp_path: Path) -> None:
    assert jsonc.commands(str(tmp_path / "opencode.json")) == set()
    assert jsonc.commands(str(tmp_path)) == set()


VALUES = st.recursive(
    st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(VALUES)
def test_plain_json_stays_as_it_is(value: object) -> None:
    assert json.loads(jsonc._plain(json.dumps(value, indent=1))) == value  # noqa: SLF001
