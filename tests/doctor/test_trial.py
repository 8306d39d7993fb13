from __future__ import annotations

import os
import shlex
import sys
import time
from typing import TYPE_CHECKING

from making import HANG_SECONDS, put

from sisyphus.doctor.pipes import MOST_BYTES
from sisyphus.doctor.trial import Trials, environment
from sisyphus.session.process import identify, is_alive

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PYTHON = shlex.quote(sys.executable)


def test_a_command_runs_as_the_client_runs_it(tmp_path: Path) -> None:
    tried = Trials().as_hook('cat; echo "$CLAUDE_CONFIG_DIR"; exit 3', "given\n", str(tmp_path))

    assert (tried.code, tried.output) == (3, f"given\n{tmp_path}\n")


def test_nothing_of_a_session_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_PID", "12")
    monkeypatch.setenv("SISYPHUS_DISABLE", "1")
    monkeypatch.setenv("LANG", "C")

    kept = environment("/x")

    assert {name for name in kept if name.startswith(("CLAUDE", "SISYPHUS"))} == {
        "CLAUDE_CONFIG_DIR"
    }
    assert (kept["LANG"], kept["HOME"]) == ("C", os.environ["HOME"])


def test_what_cannot_be_started_says_why() -> None:
    tried = Trials().run(["/no/such/program"])

    assert (tried.code, tried.error) == (None, "No such file or directory")


def test_what_does_not_end_is_ended() -> None:
    tried = Trials().run([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)

    assert (tried.code, tried.error) == (None, "it did not end within 0.2 s")


_CLIENT = """#!/bin/sh
mkdir -p "$XDG_CONFIG_HOME/client" "$CLAUDE_CONFIG_DIR/client" && pwd && echo 1.2.3
"""
_BEHIND_A_MANAGER = """#!/bin/sh
test -z "$XDG_DATA_HOME" && echo 1.2.3
"""


def _ends(pid: int) -> bool:
    """A signal takes a moment."""
    process, end = identify(pid), time.monotonic() + HANG_SECONDS
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.01)
    return is_alive(process) is not True


def test_what_a_shim_has_started_is_ended_with_it(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    command = f"sleep 60 & echo $! > {shlex.quote(str(marker))}; wait"

    assert Trials().run(["/bin/sh", "-c", command], seconds=0.5).code is None

    assert _ends(int(marker.read_text()))


def test_what_it_left_behind_is_ended_though_itself_has_gone(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    command = f"sleep 60 & echo $! > {shlex.quote(str(marker))}; exit 0"

    assert Trials().run(["/bin/sh", "-c", command], seconds=0.5).code is None

    assert _ends(int(marker.read_text()))


def test_what_a_command_says_is_kept_up_to_a_bound() -> None:
    text = "import sys; print('x' * 3_000_000); print('y' * 3_000_000, file=sys.stderr)"

    tried = Trials().run([sys.executable, "-c", text])

    assert (tried.code, len(tried.output), len(tried.error)) == (0, MOST_BYTES, MOST_BYTES)


def test_one_that_does_not_listen_is_no_fault() -> None:
    assert Trials().run([sys.executable, "-c", "pass"], "hello").code == 0


def test_to_ask_for_a_version_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    client = put(tmp_path / "client", _CLIENT)
    client.chmod(0o755)

    tried = Trials().version(str(client))

    folder, version = tried.output.split()
    assert version == "1.2.3"
    assert not os.path.exists(folder)
    assert list(home.iterdir()) == []


def test_a_version_manager_is_asked_in_its_own_surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    client = put(tmp_path / "client", _BEHIND_A_MANAGER)
    client.chmod(0o755)

    assert Trials().version(str(client)).output == "1.2.3\n"


def test_nothing_is_looked_for_or_asked_where_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    text = '#!/bin/sh\ntest "$XDG_DATA_HOME" && exit 1\necho "$(pwd) $PWD $PATH"\n'
    client = put(tmp_path / "client", text)
    client.chmod(0o755)

    assert Trials("/trusted").version(str(client)).output == "/ / /trusted\n"


def test_what_is_measured_takes_some_time() -> None:
    taken = Trials().milliseconds(f"{PYTHON} -I -c pass")

    assert taken is not None
    assert taken > 0


def test_what_fails_is_not_measured() -> None:
    assert Trials().milliseconds("exit 1") is None


def test_a_folder_that_it_wrote_into_is_gone_afterwards(tmp_path: Path) -> None:
    told = tmp_path / "told"

    Trials().milliseconds(f"pwd >> {shlex.quote(str(told))}")

    folders = set(told.read_text().split())
    assert len(folders) == 1
    assert not os.path.exists(folders.pop())
