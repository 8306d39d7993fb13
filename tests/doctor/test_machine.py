from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import told
from sisyphus.doctor import machine

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene

VERSIONS = [
    pytest.param((3, 11, 0), "ok", id="the oldest"),
    pytest.param((3, 13, 9), "ok", id="the newest"),
    pytest.param((3, 10, 14), "problem", id="too old"),
    pytest.param((3, 14, 0), "ok", id="newer than known"),
]


@pytest.mark.parametrize(("version", "state"), VERSIONS)
def test_pythons_version(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], state: str
) -> None:
    monkeypatch.setattr(sys, "version_info", version)

    assert [one.state for one in machine.python(scene.case())] == [state]


PYENV = '#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT="/x"\nexec "/x/libexec/pyenv" exec "$@"\n'
KINDS = [
    pytest.param("bin/sisyphus", "#!/x/python\nimport sys\n", "", id="straight to Python"),
    pytest.param("bin/sisyphus", "#!/x/python\nimport re\nimport sys\n", "old", id="old wrapper"),
    pytest.param(
        "bin/sisyphus", "#!/bin/sh\n'''exec' \"/a b/python\" \"$0\" \"$@\"\n' '''\n", "", id="space"
    ),
    pytest.param("bin/sisyphus", "#!/bin/sh\nexec python -m sisyphus\n", "shell", id="a script"),
    pytest.param("bin/sisyphus", PYENV, "pyenv", id="of pyenv, by its text"),
    pytest.param(".pyenv/shims/sisyphus", "", "pyenv", id="of pyenv, by its place"),
    pytest.param(".asdf/shims/sisyphus", "#!/usr/bin/env bash\n", "asdf", id="of asdf"),
    pytest.param("share/mise/shims/sisyphus", "", "mise", id="of mise"),
    pytest.param("shims/sisyphus", "#!/x/python\n", "", id="another folder of that name"),
    pytest.param("uv/archive-v0/x/bin/sisyphus", "#!/x/python\n", "passing", id="of uvx"),
    pytest.param(".cache/uv/x/sisyphus", "#!/x/python\n", "passing", id="of pipx run"),
]


@pytest.mark.parametrize(("name", "text", "kind"), KINDS)
def test_what_a_script_is(tmp_path: Path, name: str, text: str, kind: str) -> None:
    assert machine.kind(str(put(tmp_path / name, text))) == kind


def test_a_link_to_a_version_manager_is_its_shim(tmp_path: Path) -> None:
    link = tmp_path / "bin/sisyphus"
    put(tmp_path / "lib/mise", "\x7fELF")
    link.parent.mkdir()
    link.symlink_to(tmp_path / "lib/mise")

    assert machine.kind(str(link)) == "mise"


def test_the_wired_script_is_named_beside_that_of_the_shell(scene: Scene) -> None:
    other = scene.program("elsewhere/sisyphus")
    scene.wire(program=other)

    (found,) = machine.scripts(scene.case())

    assert (found.state, found.text) == ("ok", f"{other}; a shell starts {scene.sisyphus}")


def test_a_copy_that_will_be_removed_is_told(scene: Scene) -> None:
    scene.wire(program=scene.program(".cache/uv/x/sisyphus"))

    ((state, text),) = told(machine.scripts(scene.case()))

    assert (state, "a copy that is removed again" in text) == ("warning", True)


def test_no_script_for_the_shell_is_told(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.wire()
    monkeypatch.setenv("PATH", "/no/such")

    assert told(machine.scripts(scene.case())) == [("warning", "no `sisyphus` on your PATH")]


TIMES = [
    pytest.param(24.0, None, "ok", id="nothing to compare with"),
    pytest.param(24.0, 22.0, "ok", id="as quick"),
    pytest.param(33.0, 20.0, "warning", id="half as much again"),
    pytest.param(29.0, 20.0, "ok", id="a little slower"),
    pytest.param(140.0, 100.0, "ok", id="on a slow machine"),
    pytest.param(150.0, 100.0, "warning", id="slow on a slow machine"),
]


@pytest.mark.parametrize(("taken", "direct", "state"), TIMES)
def test_a_slow_way_to_the_script(taken: float, direct: float | None, state: str) -> None:
    found = machine.judge("/x/sisyphus", taken, 10.0, direct)

    assert found.state == state
    assert found.text.startswith(f"a quiet hook takes {taken:.0f} ms, bare Python 10 ms")


def test_a_shim_in_front_of_our_script_is_measured(scene: Scene) -> None:
    scene.wire(program=scene.program("shims/sisyphus"))
    scene.trials.times = {"shims": 90.0}

    ((state, text),) = told(machine.speed(scene.case()))

    assert (state, text.endswith("/shims/sisyphus costs 70 ms at every hook")) == ("warning", True)


def test_what_a_project_wires_is_not_measured(scene: Scene) -> None:
    program = scene.program("elsewhere/sisyphus")
    scene.wire(scene.project / ".claude/settings.json", program)
    scene.trials.times = {"elsewhere": 90.0}

    assert told(machine.speed(scene.case())) == []


def test_what_cannot_be_measured_is_told(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.trials, "milliseconds", lambda *_: None)

    ((_, text),) = told(machine.speed(scene.case()))

    assert text == f"{scene.sisyphus} could not be measured"
