from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import a_space, ours, put

from sisyphus.clients.base import Outcome
from sisyphus.opencode import reply

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json, Toast

TOAST: Toast = {
    "variant": "warning", "title": "sisyphus", "message": "go on", "seconds": 15, "countdown": 2,
}  # fmt: skip
GUARDS = {"abort_seconds": 3, "stability_seconds": 5}


def _outcome(**fields: object) -> Outcome:
    outcome = Outcome()
    for name, value in fields.items():
        setattr(outcome, name, value)
    return outcome


EXTRAS = [
    pytest.param({}, {}, id="nothing"),
    pytest.param({"messages": ["x"], "notes": ["y"]}, {}, id="what claude code has words for"),
    pytest.param({"toasts": [TOAST]}, {"toasts": [TOAST]}, id="a toast"),
    pytest.param({"keep": ["the plan"]}, {"keep": ["the plan"]}, id="what a summary must keep"),
    pytest.param({"reason": "go on"}, GUARDS, id="a reason to go on, with its guards"),
    pytest.param({"reason": ""}, GUARDS, id="an empty reason is one"),
    pytest.param({"wake_after": 30}, {"wake_after": 30, **GUARDS}, id="a rest, with its guards"),
    pytest.param({"wake_after": 0.0}, {"wake_after": 0.0, **GUARDS}, id="a rest of no time"),
]


@pytest.mark.parametrize(("fields", "extras"), EXTRAS)
def test_the_plugin_is_told_what_claude_code_has_no_words_for(
    project: Path, fields: dict[str, object], extras: Json
) -> None:
    assert reply.extras(_outcome(**fields), a_space(project).settings) == extras


def test_the_guards_are_the_users(home: Path, project: Path) -> None:
    put(ours(home, "config.toml"), "[enforce]\nabort_seconds = 7.5\n")
    found = reply.extras(Outcome(reason="go on"), a_space(project).settings)
    assert found == {**GUARDS, "abort_seconds": 7.5}
