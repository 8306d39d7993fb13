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
    assert note.startswith("`sisyphus` is not on your PATH, so the plugin calls /v/bin/sisyphus: ")


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
    pytest.param("pipx/.cache/x/bin/sisyphus", id="pipx run"),
]


@pytest.mark.parametrize("place", PASSING)
def test_a_copy_that_will_be_removed_is_refused(tmp_path: Path, place: str) -> None:
    own, link = _script(tmp_path / place), tmp_path / "sisyphus"
    link.symlink_to(own)
    for path in (own, str(link)):
        with pytest.raises(SisyphusError, match="Install sisyphus first: `pipx install sisyphus`"):
            script.own(path)
