"""Wired by the client's settings instead of by a plugin: commands have no prefix there."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from command_files import TEXT, put_foreign, put_ours

from e2e.client import plugin_folder
from e2e.script import say, skill, use
from e2e.texts import COMPLETE, GO_ON

if TYPE_CHECKING:
    from e2e.desk import Desk

ARGUMENTS = '"do it" --completion-promise "DONE"'
TYPED = f"/ralph-loop {ARGUMENTS}"
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
NOT_YET = say("Not yet.")


@pytest.fixture
def wired(desk: Desk) -> Desk:
    """Without a plugin: the same hooks in the user's settings."""
    hooks = json.loads((plugin_folder() / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    desk.write_home("settings.json", json.dumps({"hooks": hooks}))
    return replace(desk, plugins=[])


@pytest.mark.parametrize("place", ["user", "project"])
def test_a_command_of_ours_starts_a_loop_under_its_plain_name(wired: Desk, place: str) -> None:
    put_ours((wired.home if place == "user" else wired.project) / ".claude", "ralph-loop")

    run = wired.run(TYPED, turns=[NOT_YET, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, True, True]
    assert COMPLETE in run.told


def test_so_does_the_models_call_of_it(wired: Desk) -> None:
    put_ours(wired.home / ".claude", "ralph-loop")
    started = use(skill("ralph-loop", ARGUMENTS))

    run = wired.run("please loop", turns=[started, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, False, True]


def test_a_users_own_command_of_the_name_starts_none(wired: Desk) -> None:
    put_foreign(wired.home / ".claude", "ralph-loop")
    put_ours(wired.project / ".claude", "ralph-loop")

    run = wired.run(TYPED, turns=[NOT_YET])

    assert f"Do {ARGUMENTS}" in run.requests[0].text


def test_a_users_own_skill_of_the_name_comes_first(wired: Desk) -> None:
    put_ours(wired.home / ".claude", "ralph-loop")
    wired.write(".claude/skills/ralph-loop/SKILL.md", TEXT.replace("Do ", "Skilfully do "))

    run = wired.run(TYPED, turns=[NOT_YET])

    assert f"Skilfully do {ARGUMENTS}" in run.requests[0].text


def test_a_command_is_answered_under_its_plain_name(wired: Desk) -> None:
    put_ours(wired.home / ".claude", "ralph-help")

    run = wired.run("/ralph-help", turns=[])

    assert "  /ralph-loop " in run.result
    assert "/sisyphus:" not in run.result


def test_whoever_has_the_plugin_as_well_is_told(wired: Desk) -> None:
    wired.write_home(".sisyphus/installs.json", "{}")
    both = replace(wired, plugins=[plugin_folder()])

    run = both.run("hello", turns=[say("hi")])

    assert run.told.count("sisyphus is wired twice") == 1
    assert "by ~/.claude/settings.json" in run.told
    assert "wired twice" not in wired.run("hello", turns=[say("hi")]).told


def _share(desk: Desk) -> None:
    """The project's own settings call us as well, as `sisyphus install --scope project` has it."""
    hooks = json.loads((plugin_folder() / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    for group in (group for groups in hooks.values() for group in groups):
        for hook in group["hooks"]:
            hook["command"] += " --scope project"
    desk.write(".claude/settings.json", json.dumps({"hooks": hooks}))


@pytest.mark.parametrize("other", ["plugin", "project"])
def test_a_stop_that_two_wirings_hear_counts_once(desk: Desk, wired: Desk, other: str) -> None:
    if other == "project":
        _share(wired)
    both = desk if other == "plugin" else wired

    run = both.run(f"/sisyphus:ralph-loop {ARGUMENTS}", turns=[NOT_YET, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, True, True]
    assert "teration 2 of" in run.requests[1].last
    assert "teration 3 of" in run.requests[2].last
