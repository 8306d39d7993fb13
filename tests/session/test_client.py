from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import at_once, debug_log, ours, put, stored

from session.processes import fake_ps, nobody_above, sleeping
from sisyphus import state
from sisyphus.paths import is_safe_id
from sisyphus.session import client
from sisyphus.session.binding import bound
from sisyphus.session.process import identify
from sisyphus.session.store import SessionStore
from sisyphus.state.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = 1_000_000.0
SESSIONS = "ralph/sessions"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def folder(home: Path) -> str:
    return str(ours(home, ""))


@pytest.fixture(autouse=True)
def pid(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The process that plays the client, named as it names itself."""
    nobody_above(monkeypatch)
    with sleeping() as process:
        monkeypatch.setenv("CLAUDE_PID", str(process.pid))
        yield process.pid


def _file(home: Path, pid: int) -> Path:
    return ours(home, f"{SESSIONS}/ppid_{pid}.id")


def _session(home: Path, session: str = "s1") -> dict[str, object]:
    return stored(ours(home, f"sessions/{session}.json"))


def test_a_session_is_bound_to_the_client_that_runs_it(home: Path, folder: str, pid: int) -> None:
    client.bind(folder, "s1", NOW)

    assert _file(home, pid).read_bytes() == b"s1\n"
    assert _file(home, pid).stat().st_mode & 0o777 == 0o600
    assert _file(home, pid).parent.stat().st_mode & 0o777 == 0o700
    assert _session(home) == {
        "process": {"pid": pid, "started": identify(pid).started},
        "process_before": None,
        "bound_at": NOW,
        "version": 1,
    }
    assert bound(folder, identify(pid)) == "s1"
    assert debug_log(home) == ""


def test_where_nothing_changed_nothing_is_written_and_nobody_waited_for(
    home: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.bind(folder, "s1", NOW)
    before = {path: path.stat().st_mtime_ns for path in ours(home, "").rglob("*")}
    monkeypatch.setattr(state, "lock_deadline", 0.0)

    with Lock(str(ours(home, "sessions/s1.json"))), Lock(str(ours(home, f"{SESSIONS}/ppid"))):
        client.bind(folder, "s1", NOW + 1)

    assert {path: path.stat().st_mtime_ns for path in ours(home, "").rglob("*")} == before


def test_the_file_of_a_process_follows_it_into_its_next_session(
    home: Path, folder: str, pid: int
) -> None:
    client.bind(folder, "s1", NOW)
    client.bind(folder, "s2", NOW)

    assert _file(home, pid).read_bytes() == b"s2\n"
    assert bound(folder, identify(pid)) == "s2"


def test_a_session_remembers_which_process_it_was_taken_from(
    home: Path, folder: str, pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.bind(folder, "s1", NOW)
    former = identify(pid)
    with sleeping() as another:
        monkeypatch.setenv("CLAUDE_PID", str(another.pid))
        client.bind(folder, "s1", NOW + 60)

        assert bound(folder, identify(another.pid)) == "s1"
    assert _session(home)["process_before"] == former.as_json()
    assert _session(home)["bound_at"] == NOW + 60
    assert bound(folder, former) == ""


def test_a_session_file_keeps_what_others_wrote(home: Path, folder: str) -> None:
    put(ours(home, "sessions/s1.json"), '{"sent": ["x"], "later": 1, "version": 1}')
    client.bind(folder, "s1", NOW)

    assert (_session(home)["sent"], _session(home)["later"]) == (["x"], 1)


def test_a_pid_that_is_reused_is_nobodys(folder: str, pid: int) -> None:
    client.bind(folder, "s1", NOW)
    stale = {"process": {"pid": pid, "started": "1-abcdef01"}}
    with SessionStore(folder, "s1") as held:
        held.set(**stale)
        held.save()

    assert bound(folder, identify(pid)) == ""
    assert client.current_session(folder) == ""


def test_an_unknown_start_does_not_make_another_process(
    home: Path, folder: str, pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.bind(folder, "s1", NOW)
    known = _session(home)["process"]
    _file(home, pid).unlink()
    monkeypatch.setattr(sys, "platform", "win32")
    client.bind(folder, "s1", NOW + 60)

    assert _session(home)["process"] == known
    assert _session(home)["bound_at"] == NOW
    assert _file(home, pid).read_bytes() == b"s1\n"


def test_a_start_that_becomes_known_is_noted(
    home: Path, folder: str, pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as windows:
        windows.setattr(sys, "platform", "win32")
        client.bind(folder, "s1", NOW)
        assert _session(home)["process"] == {"pid": pid, "started": ""}
        assert bound(folder, identify(pid)) == ""
    _file(home, pid).unlink()
    client.bind(folder, "s1", NOW + 60)

    assert _session(home)["process"] == identify(pid).as_json()
    assert _session(home)["bound_at"] == NOW


def test_a_start_that_ps_tells_at_last_is_noted(
    home: Path, folder: str, pid: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    fake_ps(tmp_path, monkeypatch, "echo busy >&2; exit 1")
    client.bind(folder, "s1", NOW)
    assert _session(home)["process"] == {"pid": pid, "started": ""}
    _file(home, pid).unlink()
    fake_ps(tmp_path, monkeypatch, "echo 'S Fri Nov 20 21:20:25 2026'")
    client.bind(folder, "s1", NOW)

    assert _session(home)["process"] == {"pid": pid, "started": "Fri Nov 20 21:20:25 2026"}


def test_without_a_client_nothing_is_left(
    home: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_PID")
    client.bind(folder, "s1", NOW)
    client.unbind(folder, "s1")

    assert client.client_process() is None
    assert not ours(home, "").exists()


HOSTILE = [
    pytest.param(b"../x\n", id="a path"),
    pytest.param(b"..", id="the folder above"),
    pytest.param(b"", id="nothing"),
    pytest.param(b"\n", id="an empty line"),
    pytest.param(b"s1\ns2\n", id="two lines"),
    pytest.param(b"s1\r\n", id="another line end"),
    pytest.param(b" s1\n", id="a space"),
    pytest.param(b"s" * 129, id="a long id"),
    pytest.param(b"s" * 10_000_000, id="a large file"),
    pytest.param(b"\xff\xfe\0", id="no text"),
    pytest.param("\N{LATIN SMALL LETTER LONG S}1".encode(), id="a letter like another"),
]


@pytest.mark.parametrize("content", HOSTILE)
def test_a_file_that_names_no_session_is_replaced(
    home: Path, folder: str, pid: int, content: bytes
) -> None:
    put(_file(home, pid), content)

    assert client.session_named(folder, pid) == ""
    assert bound(folder, identify(pid)) == ""
    client.unbind(folder, "s1")
    client.bind(folder, "s1", NOW)
    assert _file(home, pid).read_bytes() == b"s1\n"
    assert debug_log(home) == ""


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _full_folder(path: Path) -> None:
    put(path / "inside", "x")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "missing")


@pytest.mark.parametrize("make", [_fifo, _full_folder, _loop, _link_to_nothing])
def test_what_is_no_file_is_replaced(
    home: Path, folder: str, pid: int, make: Callable[[Path], None]
) -> None:
    _file(home, pid).parent.mkdir(parents=True)
    make(_file(home, pid))

    assert client.session_named(folder, pid) == ""
    client.bind(folder, "s1", NOW)
    assert _file(home, pid).read_bytes() == b"s1\n"
    assert not (_file(home, pid).parent / "missing").exists()


@given(st.binary(max_size=300))
def test_whatever_the_file_holds_only_a_safe_id_is_read(content: bytes) -> None:
    folder = os.environ["CLAUDE_CONFIG_DIR"]
    put(Path(client.ppid_path(folder, 7)), content)
    named = client.session_named(folder, 7)

    assert named == "" or is_safe_id(named)
    if is_safe_id(content.decode("ascii", "replace")):
        assert named.encode() == content


GARBAGE = ["", "no json", "[]", "null", '{"process": 5}', '{"process": {"pid": "7"}}', "\udcff"]


@pytest.mark.parametrize("content", GARBAGE)
def test_a_strange_session_file_binds_nobody_and_is_mended(
    home: Path, folder: str, pid: int, content: str
) -> None:
    put(_file(home, pid), "s1\n")
    put(ours(home, "sessions/s1.json"), content.encode("utf-8", "surrogateescape"))

    assert bound(folder, identify(pid)) == ""
    assert client.current_session(folder) == ""
    _file(home, pid).unlink()
    client.bind(folder, "s1", NOW)
    assert bound(folder, identify(pid)) == "s1"


def test_a_session_that_cannot_be_bound_is_no_failure(home: Path, folder: str) -> None:
    put(ours(home, "ralph"), "a file in the place of the folder")
    client.bind(folder, "s1", NOW)

    assert "session s1 is not bound to its client" in debug_log(home)


def test_a_session_of_a_newer_version_is_left_alone(home: Path, folder: str, pid: int) -> None:
    put(ours(home, "sessions/s1.json"), '{"version": 99}')
    client.bind(folder, "s1", NOW)

    assert _session(home) == {"version": 99}
    assert not _file(home, pid).exists()
    assert "newer sisyphus" in debug_log(home)


def _bind(session: str) -> None:
    client.bind(str(Path(os.environ["CLAUDE_CONFIG_DIR"]) / ".sisyphus"), session, NOW)


def test_of_many_that_bind_at_once_one_is_last(home: Path, pid: int) -> None:
    at_once(_bind, [f"s{number}" for number in range(12)])

    names = {path.name for path in _file(home, pid).parent.iterdir()}
    assert names == {f"ppid_{pid}.id", "ppid.lock"}
    assert _file(home, pid).read_text().strip() in {f"s{number}" for number in range(12)}
    assert debug_log(home) == ""


@pytest.mark.parametrize(("inside", "is_left"), [("s1", False), ("s2", True)])
def test_the_end_of_a_session_removes_its_own_file_alone(
    home: Path, folder: str, pid: int, inside: str, *, is_left: bool
) -> None:
    client.bind(folder, inside, NOW)
    client.unbind(folder, "s1")

    assert _file(home, pid).exists() is is_left
    client.unbind(folder, "s1")  # nothing is left to do


NO_PID = [
    "",
    "0",
    "00",
    "1; rm",
    "-5",
    "12.5",
    " 12",
    "12\n",
    "\N{ARABIC-INDIC DIGIT THREE}",
    "\N{FULLWIDTH DIGIT ONE}",
    "9" * 11,
    "x",
]


@pytest.mark.parametrize("named", NO_PID)
def test_what_is_no_pid_names_nobody(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("CLAUDE_PID", named)

    assert client.client_pid() == 0
    assert not client.is_inside_client()


def test_a_pid_that_nobody_has_is_a_process_without_a_start(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PID", "4000000000")
    process = client.client_process()

    assert process is not None
    assert (process.pid, process.started) == (4_000_000_000, "")
    assert bound(folder, process) == ""


SESSION_IN_COMMAND = [
    pytest.param("s9", "s9", id="the client says it"),
    pytest.param("../x", "s1", id="an unsafe id"),
    pytest.param("", "s1", id="the process says it"),
]


@pytest.mark.parametrize(("named", "expected"), SESSION_IN_COMMAND)
def test_a_command_is_about_the_session_around_it(
    folder: str, monkeypatch: pytest.MonkeyPatch, named: str, expected: str
) -> None:
    client.bind(folder, "s1", NOW)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", named)

    assert client.current_session(folder) == expected


OTHER_CLIENT = [
    pytest.param("", "ses_1", "ses_1", id="another client says it"),
    pytest.param("s9", "ses_1", "s9", id="this one inside of the other"),
    pytest.param("../x", "ses_1", "ses_1", id="an unsafe id of this one"),
    pytest.param("", "../x", "s1", id="an unsafe id of the other"),
    pytest.param("", "", "s1", id="neither"),
]


@pytest.mark.parametrize(("here", "there", "expected"), OTHER_CLIENT)
def test_a_command_may_come_from_another_clients_shell(
    folder: str, monkeypatch: pytest.MonkeyPatch, here: str, there: str, expected: str
) -> None:
    client.bind(folder, "s1", NOW)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", here)
    monkeypatch.setenv(client.SESSION, there)

    assert client.current_session(folder) == expected


def test_outside_of_a_client_there_is_no_session(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.bind(folder, "s1", NOW)
    monkeypatch.delenv("CLAUDE_PID")

    assert client.current_session(folder) == ""
    assert not client.is_inside_client()


INSIDE = [("CLAUDECODE", "1"), ("CLAUDE_PID", "7"), ("SISYPHUS_SESSION_ID", "ses_1")]


@pytest.mark.parametrize(("name", "value"), INSIDE)
def test_inside_of_a_client_the_environment_says_so(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv("CLAUDE_PID")
    monkeypatch.setenv(name, value)

    assert client.is_inside_client()


ASK = """
import sys
from sisyphus.session import client
found = client.client_process()
print(found.pid if found else 0, client.current_session(sys.argv[1]), client.is_inside_client())
"""


def _ask_below(command: list[str], script: Path, folder: str) -> tuple[int, list[str]]:
    """Pid of `command`, which runs `script`, and what a process two shells below it found."""
    inner = f"'{sys.executable}' -c '{ASK}' '{folder}'; :"
    put(script, '#!/bin/sh\n/bin/sh -c "$ASKED"; :\n').chmod(0o700)
    environment = {**os.environ, "ASKED": inner}
    environment.pop("CLAUDE_PID", None)
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        return process.pid, process.stdout.read().decode().split(maxsplit=2)


@ON_LINUX
def test_the_client_is_found_above_a_command(tmp_path: Path, folder: str) -> None:
    script = tmp_path / "claude"
    pid, said = _ask_below([str(script)], script, folder)

    assert said == [str(pid), "True"]


@ON_LINUX
def test_the_clients_script_is_found_above_a_command(tmp_path: Path, folder: str) -> None:
    script, node = tmp_path / "claude-code" / "cli.js", tmp_path / "node"
    node.symlink_to("/bin/sh")
    pid, said = _ask_below([str(node), str(script)], script, folder)

    assert said == [str(pid), "True"]


@ON_LINUX
def test_another_program_above_a_command_is_not_the_client(tmp_path: Path, folder: str) -> None:
    script = tmp_path / "claudette"
    pid, said = _ask_below([str(script)], script, folder)

    assert said[0] != str(pid)


@ON_LINUX
def test_a_client_by_another_name_is_found_where_it_was_bound(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    client.bind(folder, "s1", NOW)
    script = tmp_path / "claudette"
    _, said = _ask_below([str(script)], script, folder)

    assert said == [str(os.getpid()), "s1", "True\n"]


@ON_LINUX
def test_a_file_of_another_process_of_the_same_pid_makes_no_client(
    tmp_path: Path, folder: str, home: Path
) -> None:
    put(_file(home, os.getpid()), "s1\n")
    put(ours(home, "sessions/s1.json"), f'{{"process": {{"pid": {os.getpid()}, "started": "x"}}}}')
    script = tmp_path / "claudette"
    _, said = _ask_below([str(script)], script, folder)

    assert said[0] != str(os.getpid())


def test_what_cannot_be_read_below_proc_is_empty() -> None:
    assert client.read_proc("self", 10) == b""
    assert client.read_proc("missing", 10) == b""
