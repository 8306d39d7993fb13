from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, put

from install.scene import in_project, installed, ours, uninstalled
from sisyphus.install import actions, notes, opencode, opencode_notes
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path

RESTART = "Restart OpenCode: it reads plugins and commands when it starts."


@pytest.fixture(autouse=True)
def _on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(COMMAND))


def test_after_an_installation_the_user_knows_what_comes(project: Path) -> None:
    restart, packages, git = notes.of(installed(in_project(project)))
    assert restart == RESTART
    assert "`npm install @opencode-ai/plugin`" in packages
    assert packages.endswith("Without a network that takes 73 s, at every start.")
    assert git.startswith("The files show in `git status`: ")


def test_where_nothing_was_done_there_is_nothing_to_know(project: Path) -> None:
    installed(in_project(project))
    assert notes.of(installed(in_project(project))) == []


def test_where_the_packages_are_there_nobody_waits(project: Path, home: Path) -> None:
    for folder in (project / ".opencode", home / ".config/opencode"):
        put(folder / "package-lock.json", '"@opencode-ai/plugin"')
        (folder / "node_modules").mkdir()
    assert len(notes.of(installed(in_project(project)))) == 2


def test_the_users_folder_shows_in_no_git_status(home: Path) -> None:
    (home / ".config/opencode/.git").mkdir(parents=True)
    assert len(notes.of(installed(opencode.of_user()))) == 2


def test_what_was_to_be_said_of_the_script_comes_first(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/bin")
    assert "is not on your PATH" in notes.of(installed(in_project(project)))[0]


def test_who_takes_it_out_hears_what_stays(project: Path) -> None:
    place = claude.of_user()
    actions.install(actions.plan_install(place, Wish()), Wish())
    kept = "What it remembers stays: ~/.claude/.sisyphus, ~/.claude/.boulder.json, and in projects"
    assert [n for n in notes.of(uninstalled(place)) if n.startswith(kept)] != []
    installed(in_project(project))
    assert not any("remembers" in n for n in notes.of(uninstalled(in_project(project))))


def test_a_second_plugin_is_told_of(project: Path, home: Path) -> None:
    installed(in_project(project))
    told = notes.of(installed(opencode.of_user()))
    assert told[-1].startswith(f"The plugin is in {project}/.opencode too.")
    assert f"`sisyphus uninstall --client opencode --project {project}` takes that" in told[-1]
    again = notes.of(installed(in_project(project)))
    assert [note.partition(" too.")[0] for note in again] == [
        f"The plugin is in {home}/.config/opencode"
    ]


def test_another_project_is_nobodys_second(project: Path, tmp_path: Path) -> None:
    installed(in_project(tmp_path / "other"))
    installed(in_project(project))
    assert opencode_notes.elsewhere(in_project(project)) == []


def test_a_folder_that_cannot_be_read_has_no_second(not_root: Path) -> None:
    folder = not_root / "home/.config/opencode/plugins"
    put(folder / "sisyphus.js", ours())
    place = in_project(not_root / "project")
    assert opencode_notes.elsewhere(place) == [str(folder.parent)]
    folder.chmod(0)
    assert opencode_notes.elsewhere(place) == []


LEFT = [
    pytest.param([".gitignore", "package.json"], " (OpenCode's own)", id="the client's"),
    pytest.param([".gitignore", "mine.txt"], "", id="the user's"),
    pytest.param(["\x1b]0;a\x07b"], "", id="hostile"),
]


@pytest.mark.parametrize(("names", "whose"), LEFT)
def test_what_stays_is_named(project: Path, names: list[str], whose: str) -> None:
    installed(in_project(project))
    for name in names:
        put(project / ".opencode" / name, "")
    restart, left = notes.of(uninstalled(in_project(project)))
    assert restart == RESTART
    told = ", ".join(names).replace("\x1b]0;a\x07b", "]0;a b")
    assert left == f"{project}/.opencode stays, for what is in it{whose}: {told}."


def test_of_much_that_stays_a_part_is_named(project: Path) -> None:
    installed(in_project(project))
    for number in range(12):
        put(project / f".opencode/{number:02}", "")
    _, left = notes.of(uninstalled(in_project(project)))
    assert left.endswith("08, 09 and 2 more.")


def test_who_looks_in_the_wrong_place_is_shown_the_right_one(project: Path) -> None:
    installed(opencode.of_user())
    (note,) = notes.of(uninstalled(in_project(project)))
    assert note == f"It is installed in {opencode.of_user().folder}."
    uninstalled(opencode.of_user())
    assert notes.of(uninstalled(in_project(project))) == []


def test_who_has_opencode_as_well_hears_of_it(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(COMMAND))
    told = "OpenCode is here too: `sisyphus install --client opencode`."
    place = claude.of_project(str(project))
    assert told not in notes.of(installed(place))
    uninstalled(place)
    (home / ".config/opencode").mkdir(parents=True)
    assert told in notes.of(installed(place))
    uninstalled(place)
    installed(opencode.of_user())
    assert told not in notes.of(installed(place))
    uninstalled(place)
    (elsewhere,) = notes.of(uninstalled(place))
    assert elsewhere == "It is installed for OpenCode: `sisyphus uninstall --client opencode`."
