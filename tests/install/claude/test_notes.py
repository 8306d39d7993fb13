from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign
from making import put

from install.claude.scene import install, values, write
from install.scene import uninstalled
from sisyphus.install import actions, notes
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from sisyphus.install.place import Place


def test_where_git_cannot_be_told_the_user_is(project: Path) -> None:
    (note,) = [n for n in install(claude.of_local(str(project))).notes if "git status" in n]
    assert note.startswith("New files may show in `git status`: ")


def test_the_plugin_beside_it_is_told_of(place: Place, home: Path) -> None:
    path = put(home / ".claude/settings.json", '{"enabledPlugins": {"sisyphus@sisyphus": true}}')
    done = actions.plan_install(place, Wish())
    assert done.twice_by == str(path)
    assert any("its own stays silent: `claude plugin uninstall" in n for n in done.notes)
    only = Wish(parts=frozenset({"statusline"}))
    assert actions.plan_install(place, only).twice_by == ""


def test_a_hook_of_the_users_that_calls_us_is_told_of(place: Place) -> None:
    theirs = {"type": "command", "command": "sisyphus hook stop || true"}
    write(place, {"hooks": {"Stop": [{"hooks": [theirs]}]}})
    (note,) = [n for n in install(place).notes if "of your own" in n]
    assert note.endswith("it runs twice: sisyphus hook stop || true")
    uninstalled(place)
    assert values(place) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_who_looks_in_the_wrong_scope_is_shown_the_right_one(project: Path) -> None:
    shared, own = claude.of_project(str(project)), claude.of_local(str(project))
    install(own)
    assert notes.of(uninstalled(shared)) == ["It is installed for you alone here: `--scope local`."]
    uninstalled(own)
    install(shared)
    assert notes.of(uninstalled(own)) == ["It is installed for everybody here: `--scope project`."]
    assert notes.of(uninstalled(claude.of_user())) == [f"It is installed in {shared.folder}."]


FILES = [
    pytest.param("project", ", for everybody", id="the project's"),
    pytest.param("local", "", id="the user's own in a project"),
]


def _wired(project: Path, scope: str, command: str) -> Place:
    places = {"project": claude.of_project, "local": claude.of_local}
    wired = places[scope](str(project))
    write(wired, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    return wired


@pytest.mark.parametrize(("other", "whose"), FILES)
def test_the_command_that_takes_other_hooks_away_is_named(
    project: Path, other: str, whose: str
) -> None:
    wired = _wired(project, other, "/elsewhere/sisyphus hook stop")

    done = actions.plan_install(claude.of_user(), Wish())

    (note,) = [one for one in done.notes if "with another path" in one]
    assert claude.settings(wired) in note
    assert note.endswith(f"`sisyphus uninstall --scope {other}` takes those away{whose}.")


@pytest.mark.parametrize("other", ["project", "local"])
def test_hooks_that_stay_silent_beside_the_users_own_are_no_news(project: Path, other: str) -> None:
    _wired(project, other, f"/elsewhere/sisyphus hook stop --scope {other}")

    assert not [n for n in actions.plan_install(claude.of_user(), Wish()).notes if "twice" in n]


def test_who_has_a_loop_command_already_hears_how_ours_begins(place: Place) -> None:
    put_foreign(Path(place.folder), "ralph-loop")
    (note,) = [n for n in notes.of(install(place)) if "a command of your own" in n]
    assert "`sisyphus ralph start TASK`" in note


@pytest.mark.parametrize(
    ("wish", "is_told"),
    [
        pytest.param(Wish(parts=frozenset({"excludes"}), is_final=True), True, id="asked for"),
        pytest.param(Wish(parts=frozenset({"excludes"})), False, id="one of all parts"),
        pytest.param(Wish(is_final=True), False, id="another part"),
    ],
)
def test_why_nothing_is_excluded(place: Place, wish: Wish, *, is_told: bool) -> None:
    told = [n for n in install(place, wish).notes if n.startswith("Nothing to exclude: ")]
    assert len(told) == is_told
