from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from doctor.scene import told
from sisyphus.doctor import statusline

if TYPE_CHECKING:
    from doctor.scene import Scene


def _line(command: str) -> dict[str, object]:
    return {"statusLine": {"type": "command", "command": command}}


GONE = "calls, is not there: the line stays empty"
LINES = [
    pytest.param("sisyphus statusline", [], id="there"),
    pytest.param("/gone/else statusline", [], id="another's"),
    pytest.param(
        "/gone/sisyphus statusline",
        [("problem", f"/gone/sisyphus, which ~/.claude/settings.json {GONE}")],
        id="gone",
    ),
]


@pytest.mark.parametrize(("command", "expected"), LINES)
def test_our_status_line_is_started(
    scene: Scene, command: str, expected: list[tuple[str, str]]
) -> None:
    scene.settings(_line(command))

    found = list(statusline.check(scene.case()))

    assert told(found) == expected
    assert all(one.hint == "`sisyphus install --only statusline`" for one in found if one.hint)


def test_that_of_the_strongest_file_is_shown(scene: Scene) -> None:
    scene.settings(_line("sisyphus statusline"))
    scene.settings(_line("/gone/sisyphus statusline"), scene.project / ".claude/settings.json")

    (found,) = statusline.check(scene.case())

    assert found.hint == "`sisyphus install --scope project --only statusline`"


THEIRS = [
    pytest.param("{project}/bin/sisyphus", True, id="a program of the project"),
    pytest.param("bin/sisyphus", True, id="a relative one"),
    pytest.param("{users}", False, id="the user's own"),
    pytest.param("sisyphus", False, id="the user's own by name"),
]


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize(("program", "is_theirs"), THEIRS)
def test_a_program_of_the_project_is_not_said_to_be_ours(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, program: str, is_theirs: bool, name: str
) -> None:
    monkeypatch.chdir(scene.project)
    scene.program(str(scene.project / "bin/sisyphus"))
    called = program.format(project=scene.project, users=scene.sisyphus)
    scene.settings(_line(f"{called} statusline"), scene.project / ".claude" / name)

    (found,) = statusline.check(scene.case())

    where = f".claude/{name}"
    theirs = f"it may be a stranger's: {called} ({where})"
    assert found.text == (theirs if is_theirs else f"ours, by {where}")


@pytest.mark.parametrize("value", [None, {}, {"statusLine": {}}, {"statusLine": {"command": 3}}])
def test_without_a_line_of_ours_there_is_nothing_to_say(scene: Scene, value: object) -> None:
    if isinstance(value, dict):
        scene.settings(value)

    assert list(statusline.check(scene.case())) == []
