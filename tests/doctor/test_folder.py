from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import mode, told
from sisyphus.doctor import folder

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene


def _ours(scene: Scene) -> Path:
    scene.ours.mkdir(parents=True)
    scene.ours.chmod(0o700)
    return scene.ours


def test_it_need_not_be_there_yet(scene: Scene) -> None:
    (found,) = folder.check(scene.case())

    assert (found.state, found.text) == ("ok", "~/.claude/.sisyphus is made by the first hook")


def test_it_may_be_a_link(scene: Scene) -> None:
    scene.claude.mkdir()
    target = scene.folder / "elsewhere"
    target.mkdir()
    scene.ours.symlink_to(target)

    (found,) = folder.check(scene.case())

    assert (found.state, found.text) == ("ok", f"~/.claude/.sisyphus, a link to {target}")


def test_a_link_to_nowhere_is_a_problem(scene: Scene) -> None:
    scene.claude.mkdir()
    scene.ours.symlink_to("/no/such")

    assert told(folder.check(scene.case())) == [
        ("problem", "~/.claude/.sisyphus is a link to nowhere")
    ]


def test_a_file_in_its_place_is_a_problem(scene: Scene) -> None:
    put(scene.ours, "")

    assert told(folder.check(scene.case())) == [("problem", "~/.claude/.sisyphus is no folder")]


def test_it_must_be_writable(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    _ours(scene)
    monkeypatch.setattr(os, "access", lambda *_: False)

    ((state, text),) = told(folder.check(scene.case()))

    assert (state, text) == ("problem", "~/.claude/.sisyphus is not writable for you")


def test_it_must_be_possible_to_make_it(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)

    ((state, text),) = told(folder.check(scene.case()))

    assert (state, text.endswith("is not writable for you, so nothing can be kept")) == (
        "problem",
        True,
    )


RIGHTS = [
    pytest.param("a.json", 0o600, [], id="as we write it"),
    pytest.param("a.json", 0o644, ["warning"], id="for all to read"),
    pytest.param("a.json", 0o660, ["problem"], id="for the group to write"),
    pytest.param("config.toml", 0o644, [], id="the user's own file"),
    pytest.param("config.toml", 0o666, ["problem"], id="the user's own file, for all to write"),
]


@pytest.mark.parametrize(("name", "rights", "states"), RIGHTS)
def test_rights_of_others(scene: Scene, name: str, rights: int, states: list[str]) -> None:
    path = put(_ours(scene) / name, "{}")
    path.chmod(rights)

    found = [one for one in folder.rights(scene.case()) if one.state != "ok"]

    assert [one.state for one in found] == states
    for one in found:
        assert one.fix is not None
        assert one.fix() == "took the rights of others from 1 file or folder"
        assert told(folder.rights(scene.case())) == []


def test_mending_follows_no_link(scene: Scene) -> None:
    outside = put(scene.folder / "outside", "")
    outside.chmod(0o666)
    (_ours(scene) / "link.json").symlink_to(outside)
    put(scene.ours / "a.json", "{}").chmod(0o666)

    for one in folder.rights(scene.case()):
        assert one.fix is not None
        one.fix()

    assert mode(outside) == 0o666
    assert mode(scene.ours / "a.json") == 0o600


def test_a_file_that_became_a_link_is_left_alone(scene: Scene) -> None:
    outside = put(scene.folder / "outside", "")
    outside.chmod(0o666)
    path = put(_ours(scene) / "a.json", "{}")
    path.chmod(0o666)
    (found,) = folder.rights(scene.case())
    path.unlink()
    path.symlink_to(outside)

    assert found.fix is not None
    found.fix()

    assert mode(outside) == 0o666


def test_files_of_another_user_are_a_problem(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    put(_ours(scene) / "a.json", "{}").chmod(0o600)
    monkeypatch.setattr(os, "getuid", lambda: 4_242)

    ((state, text),) = told(folder.rights(scene.case()))

    assert state == "problem"
    assert text == "2 files and folders are not yours, ~/.claude/.sisyphus first"


SPACE = [
    pytest.param(80_000_000_000, "ok", "80.0 GB free", id="enough"),
    pytest.param(50_000_000, "ok", "50 MB free", id="just enough"),
    pytest.param(49_000_000, "warning", "49 MB free", id="little"),
    pytest.param(900_000, "problem", "1 MB free: nothing can be kept", id="none"),
]


@pytest.mark.parametrize(("free", "state", "text"), SPACE)
def test_room_on_the_disk(free: int, state: str, text: str) -> None:
    found = folder.judge_space(free)

    assert (found.state, found.text) == (state, text)
