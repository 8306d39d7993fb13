from __future__ import annotations

import os
import signal
import tempfile
import threading
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, put

from doctor.live.fake_client import Client
from doctor.scene import told
from sisyphus.doctor.live.judge import PLAYED
from sisyphus.doctor.live.prove import device_policies, prove
from sisyphus.doctor.trial import Trials
from sisyphus.session import process

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene
    from sisyphus.doctor.finding import Finding

ALL = tuple(PLAYED)
EVENTS = tuple(PLAYED.values())[:-1]
NOT_REACHED = "the client was run, and sisyphus was not reached at"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def _prove(scene: Scene, client: Client, seconds: float = HANG_SECONDS) -> list[Finding]:
    scene.program("claude", client.program())
    return prove(scene.case(), seconds)


RUNS = [
    pytest.param(Client(notes=ALL), [], id="all reached"),
    pytest.param(Client(notes=ALL[:-1]), [("problem", f"{NOT_REACHED} SessionEnd")], id="but one"),
    pytest.param(Client(), [("problem", f"{NOT_REACHED} any event")], id="none"),
    pytest.param(
        Client(notes=("session-end",), failed=EVENTS),
        [
            ("problem", f"{', '.join(EVENTS)}: `x` ended with exit code 127 (not found)"),
        ],
        id="not found by the client",
    ),
    pytest.param(
        Client(notes=ALL[1:], hung=("SessionStart",)),
        [("problem", "SessionStart: `x` took longer than its `timeout`")],
        id="a hook that hangs",
    ),
    pytest.param(
        Client(code=3, says="bad\x1b flag"),
        [("problem", "the client ended with exit code 3: bad flag")],
        id="the client fails",
    ),
    pytest.param(
        Client(asks=False, notes=ALL),
        [("problem", "the client ended without asking the model")],
        id="the model is not asked",
    ),
    pytest.param(
        Client(notes=ALL, astray="http://example.com/key"),
        [("warning", "the client wanted to reach http://example.com/key; it was not let out")],
        id="another host",
    ),
]


@pytest.mark.parametrize(("client", "expected"), RUNS)
def test_what_a_run_leaves_is_told(
    scene: Scene, client: Client, expected: list[tuple[str, str]]
) -> None:
    assert told(_prove(scene, client)) == expected


def test_a_command_line_of_the_users_own_is_left_out_and_not_missed(scene: Scene) -> None:
    entry = {"type": "command", "command": "beep; sisyphus hook stop"}
    scene.settings({"hooks": {"Stop": [{"hooks": [entry]}]}})
    notes = tuple(name for name in ALL if name != "stop")

    found = _prove(scene, Client(notes=notes))

    assert told(found) == []
    assert "not tried at Stop" in found[0].text


def test_a_file_that_the_client_does_not_accept_is_not_on_the_stage(scene: Scene) -> None:
    scene.wire()
    scene.program("claude", Client(notes=ALL, drops="home/settings.json").program())
    case = scene.case()
    case.trials = Trials()

    found = prove(case, HANG_SECONDS)

    assert [state for state, _ in told(found)] == ["problem", "problem"]
    assert found[0].text.startswith("Claude Code does not accept ~/.claude/settings.json: ")
    assert found[1].text == f"{NOT_REACHED} any event"


def test_nothing_is_left_behind(scene: Scene, temporary: Path) -> None:
    scene.wire()
    before = sorted(scene.home.rglob("*"))

    _prove(scene, Client(notes=ALL))

    assert sorted(scene.home.rglob("*")) == before
    assert list(temporary.iterdir()) == []


def test_a_client_that_hangs_is_ended_with_its_children(
    scene: Scene, tmp_path: Path, temporary: Path
) -> None:
    pids = tmp_path / "pids"

    found = _prove(scene, Client(hangs=str(pids)), seconds=3.0)

    assert told(found) == [("problem", "the client did not end in time")]
    assert _running(pids) == []
    assert list(temporary.iterdir()) == []


def test_ctrl_c_takes_effect_when_all_is_gone(
    scene: Scene, tmp_path: Path, temporary: Path
) -> None:
    pids = tmp_path / "pids"
    threading.Thread(target=_interrupt, args=(pids,), daemon=True).start()

    with pytest.raises(KeyboardInterrupt):
        _prove(scene, Client(hangs=str(pids)))

    assert _running(pids) == []
    assert list(temporary.iterdir()) == []


def _interrupt(pids: Path) -> None:
    """As soon as the client hangs."""
    while not pids.exists() or not pids.read_text(encoding="utf-8"):
        threading.Event().wait(0.02)
    os.kill(os.getpid(), signal.SIGINT)


def _running(pids: Path) -> list[int]:
    text = pids.read_text(encoding="utf-8") if pids.exists() else ""  # not even begun
    numbers = map(int, text.split())
    return [pid for pid in numbers if process.is_alive(process.identify(pid))]


def test_without_a_client_nothing_is_run(scene: Scene) -> None:
    (scene.bin / "claude").unlink()

    assert told(prove(scene.case())) == [("warning", "there is no Claude Code to run")]


def test_with_opencode_alone_it_says_what_it_is_for(scene: Scene) -> None:
    (scene.bin / "claude").unlink()
    scene.program("opencode")

    [found] = prove(scene.case())

    assert found.hint.startswith("Only Claude Code is run here")


def test_a_policy_of_the_device_is_found_for_all_and_for_one(tmp_path: Path) -> None:
    name = "com.anthropic.claudecode.plist"
    for path in (name, "ann/com.example.plist", f"ann/{name}"):
        put(tmp_path / path, "")

    assert list(device_policies(str(tmp_path))) == [
        str(tmp_path / path) for path in (name, f"ann/{name}")
    ]


def test_a_client_that_is_no_program_is_told(scene: Scene) -> None:
    scene.program("claude", "#!/no/such/interpreter\n")

    [found] = prove(scene.case())

    assert (found.state, "could not be run: No such file" in found.text) == ("problem", True)


def test_an_organisations_settings_forbid_it(scene: Scene, tmp_path: Path) -> None:
    path = put(scene.managed / "managed-settings.json", '{"env": {}}')

    [found] = _prove(scene, Client(hangs=str(tmp_path / "pids")))

    assert (found.state, found.text) == (
        "warning",
        f"not run: {path} may lead the client's requests elsewhere",
    )
