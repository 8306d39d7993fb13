"""One project, wired for everybody who shares it and for this user alone."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from making import put

from install.claude.scene import install
from install.scene import did, ours, tree, uninstalled
from sisyphus.install import notes
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = [("project", "local"), ("local", "project")]
LISTS = [
    pytest.param(None, id="no file"),
    pytest.param("# mine\n/.claude/x\n", id="lines of the user's"),
]
MINE = "/.claude/commands/ralph-loop.md.mine"


def _cloned(project: Path, folder: Path, version: str = "") -> Path:
    """What a colleague gets who clones a project that is wired for everybody."""
    install(claude.of_project(str(project)))
    shutil.copytree(project, folder, dirs_exist_ok=True)
    for path in (folder / ".claude/commands").iterdir() if version else ():
        path.write_bytes(ours(version))
    (folder / ".git/info").mkdir(exist_ok=True)
    return folder


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize("go", ORDERS)
@pytest.mark.parametrize("come", ORDERS)
def test_nothing_is_left_in_whatever_order_they_come_and_go(
    project: Path, come: tuple[str, str], go: tuple[str, str], text: str | None
) -> None:
    places = {"project": claude.of_project, "local": claude.of_local}
    (project / ".git/info").mkdir()
    if text:
        put(project / ".git/info/exclude", text)
    before = tree(project)
    for scope in come:
        install(places[scope](str(project)))

    for scope in go:
        uninstalled(places[scope](str(project)))

    assert tree(project) == before


@pytest.mark.parametrize("come", ORDERS)
def test_what_is_for_everybody_is_not_hidden(project: Path, come: tuple[str, str]) -> None:
    places = {"project": claude.of_project, "local": claude.of_local}
    exclude = put(project / ".git/info/exclude", "# mine\n")
    for scope in come:
        install(places[scope](str(project)))
    assert exclude.read_text() == "# mine\n/.claude/settings.local.json\n"
    uninstalled(places["local"](str(project)))
    assert exclude.read_text() == "# mine\n"


@pytest.mark.parametrize("text", LISTS)
def test_what_is_this_users_alone_again_is_hidden_again(project: Path, text: str | None) -> None:
    (project / ".git/info").mkdir()
    if text:
        put(project / ".git/info/exclude", text)
    install(claude.of_local(str(project)))
    before = tree(project)
    install(claude.of_project(str(project)))

    uninstalled(claude.of_project(str(project)))

    assert tree(project) == before
    assert "\n/.claude/commands/ralph-loop.md\n" in (project / ".git/info/exclude").read_text()


def test_lines_that_came_meanwhile_stay_where_ours_are_put_back(project: Path) -> None:
    exclude = put(project / ".git/info/exclude", "# mine\n")
    install(claude.of_local(str(project)))
    install(claude.of_project(str(project)))
    put(exclude, exclude.read_text() + "/later\n")
    uninstalled(claude.of_project(str(project)))
    uninstalled(claude.of_project(str(project)))
    assert exclude.read_text().count("/.claude/commands/start-work.md\n") == 1
    uninstalled(claude.of_local(str(project)))
    assert exclude.read_text() == "# mine\n/later\n"


def test_lines_that_the_user_took_out_stay_out_where_nothing_is_for_everybody(
    project: Path,
) -> None:
    exclude = put(project / ".git/info/exclude", "# mine\n")
    install(claude.of_local(str(project)))
    put(exclude, "# mine\n")
    assert not uninstalled(claude.of_project(str(project))).changes
    assert exclude.read_text() == "# mine\n"


@pytest.mark.parametrize("version", ["", "0.0.9", "99.0.0"])
def test_files_that_a_team_committed_stay(project: Path, tmp_path: Path, version: str) -> None:
    place = claude.of_local(str(_cloned(project, tmp_path / "clone", version)))
    before = tree(tmp_path / "clone")

    done = install(place)

    commands = {name: one for name, one in did(done).items() if name.startswith("commands/")}
    assert set(commands.values()) == ({"keep"} if version else set())
    after = tree(tmp_path / "clone")
    assert {name: one for name, one in after.items() if name in before} == before
    assert not install(place).changes
    (note,) = [note for note in notes.of(uninstalled(place)) if "everybody" in note]
    assert note.endswith("`sisyphus uninstall --scope project` removes them.")
    assert tree(tmp_path / "clone") == before


def test_commands_that_a_team_has_are_not_offered(project: Path, tmp_path: Path) -> None:
    place = claude.of_local(str(_cloned(project, tmp_path / "clone")))
    assert install(place, Wish()).offers == ("statusline",)


@pytest.mark.parametrize("again", [True, False])
def test_what_is_this_users_alone_is_known_where_the_project_was_moved(
    project: Path, again: bool
) -> None:
    put(project / ".git/info/exclude", f"# mine\n{MINE}\n")
    install(claude.of_local(str(project)))
    moved = project.rename(project.parent / "moved")
    if again:
        install(claude.of_local(str(moved)))

    uninstalled(claude.of_local(str(moved)))

    assert list((moved / ".claude/commands").iterdir()) == []
    lines = (moved / ".git/info/exclude").read_text().splitlines()
    assert [line for line in lines if "commands" in line] == [MINE]


def test_commands_that_nobody_is_known_to_own_are_named(project: Path) -> None:
    put(project / ".gitignore", ".claude\n")
    install(claude.of_local(str(project)))
    moved = project.rename(project.parent / "moved")
    told = notes.of(uninstalled(claude.of_local(str(moved))))
    assert any("slash commands of ours stay" in note for note in told)
