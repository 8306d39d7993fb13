from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from doctor.scene import told
from sisyphus import __version__
from sisyphus.doctor import opencode, wired
from sisyphus.install import marks

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene


def _plugin(scene: Scene, command: str = "", version: str = __version__) -> bytes:
    return marks.marked(f'const SISYPHUS = "{command or scene.sisyphus}"\n', version)


def _user(scene: Scene) -> Path:
    return scene.home / ".config/opencode/plugins/sisyphus.js"


def test_its_plugin_wires_it(scene: Scene) -> None:
    put(_user(scene), _plugin(scene))

    assert [one.text for one in opencode.check(scene.case())] == [
        "wired by ~/.config/opencode/plugins/sisyphus.js"
    ]


def test_then_claude_code_need_not_be_wired(scene: Scene) -> None:
    put(_user(scene), _plugin(scene))

    assert told(wired.check(scene.case())) == []


def test_without_it_nothing_is_said(scene: Scene) -> None:
    put(_user(scene), "// another's\n")

    assert list(opencode.check(scene.case())) == []


def test_two_plugins_run_twice(scene: Scene) -> None:
    put(_user(scene), _plugin(scene))
    put(scene.project / ".opencode/plugin/sisyphus.js", _plugin(scene))

    ((state, text),) = told(opencode.check(scene.case()))

    assert state == "problem"
    assert text.startswith("two plugins of ours are loaded: ")


def test_a_command_that_is_gone_is_a_problem(scene: Scene) -> None:
    put(_user(scene), _plugin(scene, "/no/such/sisyphus"))

    ((state, text),) = told(opencode.check(scene.case()))

    assert (state, text) == (
        "problem",
        "~/.config/opencode/plugins/sisyphus.js calls /no/such/sisyphus, which is not there",
    )


def test_an_older_plugin_is_told(scene: Scene) -> None:
    put(_user(scene), _plugin(scene, version="0.0.1"))

    ((state, text),) = told(opencode.check(scene.case()))

    assert (state, f"is of sisyphus 0.0.1; this is {__version__}" in text) == ("warning", True)


def test_an_edited_plugin_is_told(scene: Scene) -> None:
    put(_user(scene), _plugin(scene) + b"// mine\n")

    ((state, text),) = told(opencode.check(scene.case()))

    assert (state, text.endswith("changed since sisyphus wrote it")) == ("warning", True)
