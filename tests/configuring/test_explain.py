from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.configuring import explain
from sisyphus.errors import SisyphusError
from sisyphus.settings import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

CHOSEN = [
    pytest.param("", list(SETTINGS), id="all"),
    pytest.param("rules.enabled", ["rules.enabled"], id="one"),
    pytest.param("rules", ["rules.enabled"], id="a section"),
]


@pytest.mark.parametrize(("name", "found"), CHOSEN)
def test_a_name_stands_for(name: str, found: list[str]) -> None:
    assert explain.chosen(name) == found


@pytest.mark.parametrize("name", ["rulez", "rules.", "rules.enabeld", "."])
def test_an_unknown_name_is_told_where_to_look(name: str) -> None:
    with pytest.raises(SisyphusError, match="`sisyphus config explain` lists them all"):
        explain.chosen(name)


def test_a_setting_is_explained_in_full(home: Path, project: Path) -> None:
    put(ours(home, "config.toml"), "[ralph]\nverify_seconds = 900\nno_progress = 3\n")
    shown = "~/.claude/.sisyphus/config.toml"

    def told(key: str) -> list[str]:
        row = explain.explain(str(ours(home, "")), str(project), key)
        return explain.text(row, str(project)).splitlines()

    assert told("ralph.verify_seconds") == [
        "Seconds that a `--verify` command may take, at most 600.",
        "",
        "takes:    a whole number from 1 to 600",
        "default:  300",
        "now:      300 (default)",
        "example:  sisyphus config set ralph.verify_seconds 600",
        "variable: SISYPHUS_RALPH_VERIFY_SECONDS",
        "set by:   you; a project or a variable may lower it",
        f"passed over: 900 in {shown}: 900 is not a whole number from 1 to 600",
    ]
    assert f"now:      3 ({shown})" in told("ralph.no_progress")
    assert told("notify.command")[-2:] == [
        "variable: none",
        "set by:   you alone",
    ]


WHO = [
    pytest.param("context.agents_md", "you, a project, a variable", id="anybody"),
    pytest.param("rules.enabled", "you; a project or a variable may switch it off", id="a switch"),
    pytest.param("ralph.no_progress", "you; a project or a variable may lower it", id="a limit"),
    pytest.param("notify.command", "you alone", id="a command"),
]


@pytest.mark.parametrize(("key", "who"), WHO)
def test_it_is_said_who_may_set_it(key: str, who: str) -> None:
    assert explain.who(key) == who
