from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from doctor.scene import told
from sisyphus.doctor import round_trip
from sisyphus.doctor.trial import Tried

if TYPE_CHECKING:
    from doctor.scene import Scene


def test_every_command_answers(scene: Scene) -> None:
    scene.wire()

    (found,) = round_trip.check(scene.case())

    assert (found.state, found.text) == ("ok", "10 hooks answered through `sh -c`")
    assert f"{scene.sisyphus} hook session-start" in scene.trials.ran


STOP = "sisyphus hook stop"
ANSWERS = [
    pytest.param(Tried(0, '{"decision": "block"}\n'), [], id="a reply"),
    pytest.param(Tried(127, error="not found\n"), ["exit code 127: not found"], id="not found"),
    pytest.param(
        Tried(1, error="Traceback\n  x\nImportError: y"),
        ["exit code 1: Traceback x ImportError: y"],
        id="broken",
    ),
    pytest.param(Tried(None, error="it did not end"), ["it did not end"], id="too slow"),
    pytest.param(Tried(0, "Hello"), ["it prints what is no JSON object: Hello"], id="no JSON"),
    pytest.param(Tried(0, "[1]"), ["it prints what is no JSON object: [1]"], id="no object"),
]


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_what_the_client_would_get(scene: Scene, answer: Tried, expected: list[str]) -> None:
    scene.wire()
    scene.trials.answers["hook stop"] = answer
    command = f"{scene.sisyphus} hook stop"

    failed = [("problem", f"{command}: {text}") for text in expected]
    both = failed + [(s, t.replace(STOP, f"{STOP}-failure")) for s, t in failed]
    assert sorted(told(round_trip.check(scene.case()))) == sorted(both)


def test_a_command_that_notes_nothing_is_not_ours(scene: Scene) -> None:
    scene.wire()
    scene.trials.notes = False

    found = told(round_trip.check(scene.case()))

    assert {state for state, _ in found} == {"warning"}
    assert len(found) == 8  # `hook idle` has nothing to note
    assert found[0][1].endswith("ends well but notes nothing")


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_program_that_a_project_names_is_not_run(scene: Scene, name: str) -> None:
    program = scene.program("elsewhere/sisyphus")
    scene.wire(scene.project / ".claude" / name, program)

    found = list(round_trip.check(scene.case()))

    assert scene.trials.ran == []
    assert {one.state for one in found} == {"ok"}
    assert found[0].text.startswith("not tried, for it may be a stranger's: ")


def test_our_own_program_is_run_for_a_project(scene: Scene) -> None:
    scene.wire(scene.project / ".claude/settings.json", "sisyphus")

    assert [one.state for one in round_trip.check(scene.case())] == ["ok"]
    assert len(scene.trials.ran) == 9


def test_a_command_line_of_the_users_own_is_not_run(scene: Scene) -> None:
    _wire_stop(scene, f"beep; {scene.sisyphus} hook stop")

    ((state, text),) = told(round_trip.check(scene.case()))

    assert (state, scene.trials.ran) == ("warning", [])
    assert text.startswith("not tried, for it is more than a call of ours: beep; ")


def _wire_stop(scene: Scene, command: str, name: str = "") -> None:
    entry = {"type": "command", "command": command}
    path = scene.project / ".claude" / name if name else None
    scene.settings({"hooks": {"Stop": [{"hooks": [entry]}]}}, path)


TRIED = [
    "/gone/python -m sisyphus hook stop",
    "sisyphus hook stop || true",
    "FOO=1 sisyphus hook stop 2>/dev/null || :",
    "uvx sisyphus hook stop",
    '"$HOME/bin/sisyphus" hook stop',
    "~/bin/sisyphus hook stop",
]


@pytest.mark.parametrize("command", TRIED)
def test_a_line_of_the_users_own_that_starts_one_program_is_tried(
    scene: Scene, command: str
) -> None:
    _wire_stop(scene, command)
    scene.trials.answers["hook stop"] = Tried(127, error="not found")

    ((state, text),) = told(round_trip.check(scene.case()))

    assert scene.trials.ran == [command]
    assert (state, text) == ("problem", f"{command}: exit code 127: not found")


@pytest.mark.parametrize("command", TRIED)
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_no_such_line_of_a_project_is_tried(scene: Scene, command: str, name: str) -> None:
    _wire_stop(scene, command.replace("stop", "stop ") + " || true", name)

    list(round_trip.check(scene.case()))

    assert scene.trials.ran == []


def test_a_line_of_the_users_own_starts_nothing_of_a_project(scene: Scene) -> None:
    program = scene.program(str(scene.project / "bin/sisyphus"))
    for command in (
        f"FOO=1 {program} hook stop",
        f"python3 {program} hook stop",
        "X=1 ./s hook stop",
    ):
        _wire_stop(scene, command)
        list(round_trip.check(scene.case()))

    assert scene.trials.ran == []
