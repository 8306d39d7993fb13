from __future__ import annotations

import os
import sysconfig
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, put

from sisyphus.errors import SisyphusError
from sisyphus.install import script

if TYPE_CHECKING:
    from pathlib import Path


def _script(path: Path) -> str:
    put(path, "#!/bin/sh\n").chmod(0o755)
    return str(path)


def test_the_installation_knows_its_own_script() -> None:
    assert script.own("pytest") == COMMAND


def test_it_is_the_one_that_runs(tmp_path: Path) -> None:
    assert script.own(_script(tmp_path / "sisyphus")) == str(tmp_path / "sisyphus")


NO_SCRIPT = [
    pytest.param("-c", id="a command line"),
    pytest.param("/no/such/folder/sisyphus", id="gone"),
]


@pytest.mark.parametrize("started", NO_SCRIPT)
def test_another_program_is_not_taken_for_it(started: str) -> None:
    assert script.own(started) == COMMAND


def test_a_checkout_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path))
    assert script.own("-m") == ""


def test_what_a_shell_would_start_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    assert script.on_path() == ""
    _script(tmp_path / "sisyphus")
    assert script.on_path() == str(tmp_path / "sisyphus")


@pytest.fixture
def in_project(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The script of a project whose folder stands before the user's own on the PATH."""
    theirs, users = project / ".venv/bin", tmp_path / "bin"
    _script(users / "sisyphus")
    monkeypatch.setenv("PATH", f"{theirs}{os.pathsep}{users}")
    monkeypatch.chdir(project)
    return _script(theirs / "sisyphus")


def test_a_script_that_lies_in_the_project_is_passed_over(in_project: str, tmp_path: Path) -> None:
    users = str(tmp_path / "bin/sisyphus")
    assert script.on_path(users) == users
    assert script.on_path() == users
    assert script.on_path(in_project) == in_project


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_without_a_script_of_our_own_none_of_the_project_is_called(
    in_project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path))
    (tmp_path / "bin/sisyphus").unlink()
    assert os.access(in_project, os.X_OK)
    with pytest.raises(SisyphusError, match="there is no console script `sisyphus`"):
        script.called(scope)


def test_where_the_folder_is_gone_the_path_still_counts(
    in_project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert script.on_path() == in_project


def test_a_link_to_our_own_script_is_as_good_and_lasts_longer(tmp_path: Path) -> None:
    own, link = _script(tmp_path / "venv/bin/sisyphus"), tmp_path / "sisyphus"
    link.symlink_to(own)
    assert script.for_user(own, str(link)) == str(link)
    assert script.for_project(own, str(link)) == ("sisyphus", "")


def test_a_shim_is_passed_by(tmp_path: Path) -> None:
    own, shim = _script(tmp_path / "versions/bin/sisyphus"), _script(tmp_path / "shims/sisyphus")
    assert script.for_user(own, shim) == own
    called, note = script.for_project(own, shim)
    assert called == "sisyphus"
    assert shim in note
    assert own in note


def test_one_that_is_not_on_path_is_called_by_its_path() -> None:
    assert script.for_user("/v/bin/sisyphus", "") == "/v/bin/sisyphus"
    called, note = script.for_project("/v/bin/sisyphus", "")
    assert called == "/v/bin/sisyphus"
    assert note.startswith("`sisyphus` is not on your PATH, so /v/bin/sisyphus is called: a ")


def test_the_one_on_path_will_do() -> None:
    assert script.for_user("", "/b/sisyphus") == "/b/sisyphus"
    assert script.for_project("", "/b/sisyphus") == ("sisyphus", "")


@pytest.mark.parametrize("way", [script.for_user, script.for_project])
def test_without_any_script_there_is_nothing_to_call(way: object) -> None:
    assert callable(way)
    with pytest.raises(SisyphusError, match="there is no console script `sisyphus`"):
        way("", "")


PASSING = [
    pytest.param(".cache/uv/archive-v0/x/bin/sisyphus", id="uvx"),
    pytest.param(".cache/pipx/x/bin/sisyphus", id="pipx run"),
    pytest.param("Library/Caches/pipx/x/bin/sisyphus", id="pipx run on macOS"),
    pytest.param("pipx/pipx/Cache/x/bin/sisyphus", id="pipx run on Windows"),
    pytest.param("pipx/.cache/x/bin/sisyphus", id="pipx run below its home"),
]


@pytest.mark.parametrize("place", PASSING)
def test_a_copy_that_will_be_removed_is_refused(tmp_path: Path, place: str) -> None:
    own, link = _script(tmp_path / place), tmp_path / "sisyphus"
    link.symlink_to(own)
    for path in (own, str(link)):
        with pytest.raises(SisyphusError, match=r"Install sisyphus first: `pipx install \.`"):
            script.own(path)


LASTING = [
    pytest.param(".cache/pypoetry/virtualenvs/x/bin/sisyphus", id="Poetry's"),
    pytest.param(".cache/venv/bin/sisyphus", id="a folder of the user's own"),
    pytest.param(".local/share/pipx/venvs/x/bin/sisyphus", id="pipx's"),
    pytest.param(".local/share/uv/tools/x/bin/sisyphus", id="uv's"),
]


@pytest.mark.parametrize("place", LASTING)
def test_one_that_stays_is_called_wherever_it_lies(tmp_path: Path, place: str) -> None:
    own = _script(tmp_path / place)
    assert script.own(own) == own


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_passing_copy_on_path_is_passed_over_where_there_is_an_own_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    passing = _script(tmp_path / "archive-v0/x/bin/sisyphus")
    monkeypatch.setenv("PATH", os.path.dirname(passing))
    assert script.called(scope)[0] == COMMAND
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path))
    with pytest.raises(SisyphusError, match="is a copy that will be removed again"):
        script.called(scope)


CONSOLE = "#!/v/bin/python\nfrom sisyphus.entry import main\n"

ON_PATH = [
    pytest.param("", "", "", id="nothing on PATH"),
    pytest.param("v/sisyphus", CONSOLE, "", id="our own"),
    pytest.param("shims/sisyphus", "#!/bin/sh\n", "a version manager's shim, which", id="a shim"),
    pytest.param("shims/sisyphus", CONSOLE, "another installation's", id="a folder of that name"),
    pytest.param("b/sisyphus", CONSOLE, "another installation's", id="another installation's"),
    pytest.param("b/sisyphus", "#!/bin/sh\n", "no console script of sisyphus", id="a wrapper"),
    pytest.param("b/sisyphus", "\x7fELF", "no console script of sisyphus", id="a binary"),
]


@pytest.mark.parametrize(("name", "text", "told"), ON_PATH)
def test_what_else_is_on_path_is_told(tmp_path: Path, name: str, text: str, told: str) -> None:
    own = _script(tmp_path / "v/sisyphus")
    found = str(put(tmp_path / name, text)) if name else ""
    note = script.of_others(own, found)
    assert bool(note) == bool(told)
    assert f"{found}, {told}" in note or not told
    assert note.endswith(f"{own} is called instead.") or not told


def test_a_shim_alone_is_told_too(tmp_path: Path) -> None:
    shim = _script(tmp_path / "shims/sisyphus")
    assert script.of_others("", shim).endswith("There is no other script here to call.")
    assert script.of_others("", _script(tmp_path / "bin/sisyphus")) == ""


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_only_what_is_shared_calls_by_name(
    scope: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(COMMAND))
    assert script.called(scope) == ("sisyphus" if scope == "project" else COMMAND, [])
    shim = _script(tmp_path / "shims/sisyphus")
    monkeypatch.setenv("PATH", os.path.dirname(shim))
    called, (note,) = script.called(scope)
    assert called == ("sisyphus" if scope == "project" else COMMAND)
    assert shim in note
