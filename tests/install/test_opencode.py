from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from making import COMMAND, put

from install.scene import JS, MD, in_project, ours
from sisyphus.errors import SisyphusError
from sisyphus.install import commands, found, marks, opencode
from sisyphus.install.place import Place

USERS = [
    pytest.param({}, ["~/.config/opencode"], id="the usual one"),
    pytest.param({"XDG_CONFIG_HOME": "/x"}, ["/x/opencode"], id="moved"),
    pytest.param({"XDG_CONFIG_HOME": ""}, ["~/.config/opencode"], id="nothing is no name"),
    pytest.param({"OPENCODE_CONFIG_DIR": "/o"}, ["/o", "~/.config/opencode"], id="one more"),
    pytest.param(
        {"OPENCODE_CONFIG_DIR": "/x/opencode/", "XDG_CONFIG_HOME": "/x"},
        ["/x/opencode"],
        id="the same, named twice",
    ),
]


@pytest.mark.parametrize(("environment", "folders"), USERS)
def test_the_users_folder_is_where_the_client_looks(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folders: list[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    expected = [os.path.expanduser(folder) for folder in folders]
    assert [place.folder for place in opencode.users()] == expected
    assert opencode.of_user() == Place("opencode", "user", expected[0], expected[0])


def test_a_projects_folder_is_in_it() -> None:
    assert opencode.of_project("/p") == Place("opencode", "project", "/p/.opencode", "/p")


CHOSEN = [
    pytest.param([], "commands", id="nothing there"),
    pytest.param(["command/"], "command", id="one spelling"),
    pytest.param(["commands/"], "commands", id="the other"),
    pytest.param(["command/a.md", "commands/"], "commands", id="both"),
    pytest.param(["command/ours.md", "commands/a.md"], "command", id="both, ours in one"),
    pytest.param(["command/", "commands"], "command", id="a file in the way of the other"),
]


@pytest.mark.parametrize(("paths", "name"), CHOSEN)
def test_the_folder_that_is_there_is_used(project: Path, paths: list[str], name: str) -> None:
    place = in_project(project)
    for path in paths:
        if path.endswith("/"):
            (project / ".opencode" / path).mkdir(parents=True)
        else:
            put(project / ".opencode" / path, ours() if path.endswith("ours.md") else MD)
    chosen = opencode.chosen(place, opencode.COMMANDS, ".md")
    assert os.path.relpath(chosen, place.folder) == name


IN_THE_WAY = [
    pytest.param(".opencode", id="the client's folder"),
    pytest.param(".opencode/commands", id="the one for commands"),
]


@pytest.mark.parametrize("path", IN_THE_WAY)
def test_a_file_where_a_folder_should_be_is_told(project: Path, path: str) -> None:
    put(project / path, "")
    with pytest.raises(SisyphusError, match=f"{path} is no folder. Move it away"):
        opencode.chosen(in_project(project), opencode.COMMANDS, ".md")


@pytest.mark.parametrize("path", IN_THE_WAY)
def test_a_link_that_leads_nowhere_is_told(project: Path, path: str) -> None:
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).symlink_to("nowhere")
    with pytest.raises(SisyphusError, match=f"{path} is no folder. Move it away"):
        opencode.chosen(in_project(project), opencode.COMMANDS, ".md")


@pytest.mark.parametrize("path", IN_THE_WAY)
def test_a_link_out_of_the_project_is_not_followed(
    project: Path, tmp_path: Path, path: str
) -> None:
    put(tmp_path / "other/commands/ours.md", ours())
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).symlink_to(tmp_path / "other")
    place = in_project(project)
    with pytest.raises(SisyphusError, match=f"leads to {tmp_path}/other.*, which is not in"):
        opencode.chosen(place, opencode.COMMANDS, ".md")
    assert opencode.existing(place, opencode.COMMANDS) == []


def test_a_link_within_the_project_is_followed(project: Path) -> None:
    (project / "tools/opencode/commands").mkdir(parents=True)
    (project / ".opencode").symlink_to("tools/opencode")
    chosen = opencode.chosen(in_project(project), opencode.COMMANDS, ".md")
    assert chosen == str(project / ".opencode/commands")


def test_the_users_own_folder_may_be_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dotfiles/command").mkdir(parents=True)
    (tmp_path / "opencode").symlink_to("dotfiles")
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(tmp_path / "opencode"))
    chosen = opencode.chosen(opencode.of_user(), opencode.COMMANDS, ".md")
    assert chosen == str(tmp_path / "opencode/command")


def test_the_plugin_and_every_command_belong_there(project: Path) -> None:
    path, files, _ = opencode.wanted(in_project(project))
    names = {os.path.relpath(name, project / ".opencode") for name in files}
    assert path == str(project / ".opencode/plugins/sisyphus.js")
    assert names == {"plugins/sisyphus.js", *(f"commands/{name}.md" for name in commands.texts())}
    assert all((mark := marks.read(data)) and mark.intact for data in files.values())


@pytest.mark.usefixtures("home")
def test_the_users_plugin_calls_the_script_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/bin")
    text, notes = opencode.plugin(opencode.of_user())
    assert f"\nconst SISYPHUS = {json.dumps(COMMAND)}\n" in text
    assert notes == []


def test_a_projects_plugin_calls_what_everybody_has(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(COMMAND))
    text, notes = opencode.plugin(in_project(project))
    assert '\nconst SISYPHUS = "sisyphus"\n' in text
    assert notes == []


def test_it_is_told_where_that_cannot_be(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/bin")
    text, (note,) = opencode.plugin(in_project(project))
    assert f"\nconst SISYPHUS = {json.dumps(COMMAND)}\n" in text
    assert "is not on your PATH" in note


def test_a_path_is_spelled_as_a_script_needs_it() -> None:
    path = 'C:\\Users\\a "b" \\1\n'
    text = opencode.calling('// x\nconst SISYPHUS = "sisyphus"\n', path)
    assert text == f"// x\nconst SISYPHUS = {json.dumps(path)}\n"


def test_a_plugin_without_that_line_is_broken() -> None:
    with pytest.raises(SisyphusError, match="broken"):
        opencode.calling(JS, "sisyphus")


def test_names_that_others_use_are_taken(home: Path, project: Path) -> None:
    own = home / ".config/opencode"
    put(project / ".opencode/command/a.md", MD)
    put(project / ".opencode/commands/b.md", ours() + b"edited")
    put(project / ".opencode/opencode.json", '{"command": {"c": {}}}')
    put(project / "opencode.jsonc", '{"command": {"d": {}}} // mine')
    put(own / "commands/e.md", MD)
    put(own / "opencode.json", '{"command": {"f": {}}}')
    places = {name: str(path) for name, path in opencode.taken(in_project(project)).items()}
    assert places == {
        "a": str(project / ".opencode/command/a.md"),
        "c": str(project / ".opencode/opencode.json"),
        "d": str(project / "opencode.jsonc"),
        "e": str(own / "commands/e.md"),
        "f": str(own / "opencode.json"),
    }
    assert set(opencode.taken(opencode.of_user())) == {"e", "f"}


PACKAGES = [
    pytest.param([], True, id="never started"),
    pytest.param(["package-lock.json"], True, id="no packages"),
    pytest.param(["node_modules/x"], True, id="no lock file"),
    pytest.param(["package-lock.json", "node_modules/x"], False, id="done"),
]


@pytest.mark.parametrize(("names", "awaits"), PACKAGES)
def test_it_is_known_whether_the_client_will_fetch_packages(
    home: Path, project: Path, names: list[str], awaits: bool
) -> None:
    lock = '{"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1"}}}}'
    for name in names:
        put(home / ".config/opencode" / name, lock)
    assert opencode.awaits_packages(opencode.of_user()) is awaits
    assert opencode.awaits_packages(in_project(project))
    for name in names:
        put(project / ".opencode" / name, lock)
    assert opencode.awaits_packages(in_project(project)) is awaits


def test_nothing_that_is_shipped_is_foreign(project: Path) -> None:
    _, files, _ = opencode.wanted(in_project(project))
    for path, data in files.items():
        assert found.look(str(put(Path(path), data))).kind == found.OURS
