from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import ours, put

from sisyphus.configuring import trace
from sisyphus.configuring.values import spelled
from sisyphus.settings import SETTINGS, load, variable

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.configuring.trace import Traced

STALE = "boulder.stale_days"


def _trace(home: Path, project: Path, key: str = STALE) -> Traced:
    return trace.trace(str(ours(home, "")), str(project), key)


def _own(home: Path, text: str) -> str:
    return str(put(ours(home, "config.toml"), text))


def _projects(project: Path, text: str) -> str:
    return str(put(project / ".claude/sisyphus.toml", text))


def test_a_setting_that_nobody_set_has_its_default(home: Path, project: Path) -> None:
    assert _trace(home, project) == trace.Traced(STALE, 14)


def test_the_users_own_value_is_in_force(home: Path, project: Path) -> None:
    path = _own(home, "[boulder]\nstale_days = 30\n")

    assert _trace(home, project) == trace.Traced(STALE, 30, "user", path)


def test_what_the_stronger_one_hides_is_told(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = _own(home, "[rules]\nenabled = true\n")
    projects = _projects(project, "[rules]\nenabled = false\n")
    monkeypatch.setenv("SISYPHUS_RULES_ENABLED", "1")

    found = _trace(home, project, "rules.enabled")

    assert (found.value, found.origin, found.where) == (
        True, "environment", "SISYPHUS_RULES_ENABLED",
    )  # fmt: skip
    assert [(one.where, one.value, one.why) for one in found.passed] == [
        (own, True, "the project's file is stronger"),
        (projects, False, "a variable is stronger"),
    ]


PASSED = [
    pytest.param("user", STALE, "-1", "-1 is not a whole number, 0 or more", id="bounds"),
    pytest.param("user", STALE, '"30"', '"30" is not a whole number, 0 or more', id="type"),
    pytest.param("user", "rules.enabled", "1979-05-27", "1979-05-27 is not true or false",
        id="a date",
    ),
    pytest.param("project", STALE, "30", "a project's file may only lower it", id="a project's"),
    pytest.param("environment", STALE, "soon", "'soon' is not a whole number, 0 or more",
        id="a word",
    ),
    pytest.param("environment", "notify.command", "x", "no variable may set it", id="no variable"),
    pytest.param(
        "environment", "enforce.max_iterations", "51", "a variable may only lower it", id="a limit"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("origin", "key", "value", "why"), PASSED)
def test_it_is_said_why_a_value_does_not_count(  # one a place
    home: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    origin: str,
    key: str,
    value: str,
    why: str,
) -> None:
    text = "[{}]\n{} = {}\n".format(*key.split("."), value)
    if origin == "user":
        _own(home, text)
    elif origin == "project":
        _projects(project, text)
    else:
        monkeypatch.setenv(variable(key), value)

    found = _trace(home, project, key)

    assert (found.value, found.origin) == (SETTINGS[key].default, "default")
    assert [one.why for one in found.passed] == [why]
    json.dumps(found.as_json(), allow_nan=False)


VALUES = (
    st.booleans() | st.integers(-2, 700) | st.floats(-1, 3) | st.sampled_from(["auto", "never", ""])
    | st.lists(st.sampled_from(["a", "b"]), max_size=2)
)  # fmt: skip
SOME = st.dictionaries(st.sampled_from(sorted(SETTINGS)), VALUES, max_size=8)


def _text(found: dict[str, Any]) -> str:
    rows: dict[str, list[str]] = {}
    for key, value in found.items():
        section, name = key.split(".")
        rows.setdefault(section, []).append(f"{name} = {spelled(value)}")
    return "".join(f"[{section}]\n" + "\n".join(lines) + "\n" for section, lines in rows.items())


@given(SOME, SOME, SOME)
def test_what_is_shown_is_what_hooks_take(
    tmp_path_factory: pytest.TempPathFactory,
    own: dict[str, Any],
    projects: dict[str, Any],
    named: dict[str, Any],
) -> None:
    folder = tmp_path_factory.mktemp("home")
    put(folder / "ours/config.toml", _text(own))
    put(folder / "project/.claude/sisyphus.toml", _text(projects))
    spelled_out = {variable(key): str(value) for key, value in named.items()}
    places = str(folder / "ours"), str(folder / "project")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in spelled_out.items():
            patch.setenv(name, value)
        in_force = load(*places)
        shown = {one.key: one.value for one in trace.trace_all(*places)}
        taken = {key: in_force.get(key) for key in SETTINGS}
    assert shown == taken
    assert not set(spelled_out) & set(os.environ)
