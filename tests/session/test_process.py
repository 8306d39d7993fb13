from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, put

from session.processes import fake_ps, sleeping
from sisyphus.session import process as module
from sisyphus.session.process import Process, ancestors, from_json, identify, is_alive, linux_stat

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
WITH_PS = pytest.mark.skipif(shutil.which("ps") is None, reason="asks ps")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until it is killed."""
    with sleeping() as process:
        yield process


@pytest.fixture
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without /proc."""
    monkeypatch.setattr(sys, "platform", "darwin")


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()


@ON_LINUX
def test_a_process_is_known_by_its_pid_its_start_and_the_boot(
    child: subprocess.Popen[bytes],
) -> None:
    ticks, boot = identify(child.pid).started.split("-")

    uptime = float(Path("/proc/uptime").read_text().split()[0])
    assert 0 <= uptime - int(ticks) / os.sysconf("SC_CLK_TCK") + 0.1 < HANG_SECONDS
    assert Path("/proc/sys/kernel/random/boot_id").read_text().startswith(boot)
    assert len(boot) == 8
    assert identify(child.pid).is_same(identify(child.pid))
    assert not identify(os.getpid()).is_same(identify(child.pid))


def test_a_process_lives_until_it_has_ended(child: subprocess.Popen[bytes]) -> None:
    process = identify(child.pid)

    assert is_alive(process) is True
    _end(child)
    assert is_alive(process) is False
    assert identify(child.pid).started == ""


def test_a_process_that_nobody_has_asked_for_its_end_is_dead(
    child: subprocess.Popen[bytes],
) -> None:
    process = identify(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    assert is_alive(process) is False


def test_another_process_of_the_same_pid_is_not_the_one(child: subprocess.Popen[bytes]) -> None:
    assert is_alive(Process(child.pid, "1-abcdef01")) is False


def test_of_a_process_whose_start_is_unknown_only_the_end_is_certain(
    child: subprocess.Popen[bytes],
) -> None:
    assert is_alive(Process(child.pid)) is None
    _end(child)
    assert is_alive(Process(child.pid)) is False


SAME = [
    pytest.param(Process(7, "a"), Process(7, "a"), True, True, id="one process"),
    pytest.param(Process(7, "a"), Process(7, "b"), False, False, id="a reused pid"),
    pytest.param(Process(7, "a"), Process(8, "a"), False, False, id="another pid"),
    pytest.param(Process(7, "a"), Process(7, ""), False, True, id="an unknown start"),
    pytest.param(Process(7, ""), Process(7, ""), False, True, id="two unknown starts"),
]


@pytest.mark.parametrize(("one", "other", "is_same", "may_be"), SAME)
def test_two_are_one_only_if_both_starts_are_known(
    one: Process, other: Process, *, is_same: bool, may_be: bool
) -> None:
    assert (one.is_same(other), other.is_same(one)) == (is_same, is_same)
    assert (one.may_be(other), other.may_be(one)) == (may_be, may_be)


STRANGE: list[object] = [
    None, "7", [], {}, {"pid": 7}, {"pid": "7", "started": "a"}, {"pid": True, "started": "a"},
    {"pid": 0, "started": "a"}, {"pid": -7, "started": "a"}, {"pid": 10**12, "started": "a"},
    {"pid": 7.0, "started": "a"}, {"pid": 7, "started": 5}, {"pid": 7, "started": None},
]  # fmt: skip


@pytest.mark.parametrize("value", STRANGE, ids=repr)
def test_what_is_no_process_is_none(value: object) -> None:
    assert from_json(value) is None


def test_a_process_survives_its_file() -> None:
    read = from_json(Process(7, "a").as_json())

    assert read is not None
    assert read.is_same(Process(7, "a"))


@ON_LINUX
@pytest.mark.parametrize("name", ["x) R 1 (y", "two words", "((("])
def test_a_name_with_brackets_hides_nothing(tmp_path: Path, name: str) -> None:
    script = put(tmp_path / name, "#!/bin/sh\nread never\n")
    script.chmod(0o700)
    with subprocess.Popen([str(script)], stdin=subprocess.PIPE) as child:
        stat = linux_stat(child.pid)
        child.kill()

    assert stat is not None
    assert (stat[0], stat[2]) == (name, str(os.getpid()))


@ON_LINUX
def test_the_processes_above_us_begin_with_the_nearest() -> None:
    above = [found.pid for found in ancestors()]

    assert above[0] == os.getppid()
    assert 1 <= len(above) <= 32
    assert len(set(above)) == len(above)


@WITH_PS
@pytest.mark.usefixtures("_elsewhere")
def test_ps_tells_the_same(child: subprocess.Popen[bytes]) -> None:
    process = identify(child.pid)

    assert len(process.started.split()) == 5
    assert is_alive(process) is True
    assert next(ancestors()).pid == os.getppid()
    _end(child)
    assert is_alive(process) is False


@WITH_PS
@pytest.mark.usefixtures("_elsewhere")
def test_a_start_is_told_alike_in_every_language_and_zone(
    monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes]
) -> None:
    process = identify(child.pid)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")

    assert is_alive(process) is True


MOMENT = "Fri Nov 20 21:20:25 2026"
PS_SAYS = [
    pytest.param(f"echo 'S+   {MOMENT}'", True, id="the process"),
    pytest.param("echo 'S    Fri Nov 20 21:20:26 2026'", False, id="a later one"),
    pytest.param(f"echo 'Z    {MOMENT}'", False, id="a dead one"),
    pytest.param("exit 1", False, id="none"),
    pytest.param("echo 'S'", None, id="no start"),
    pytest.param("echo 'no such option' >&2; exit 1", None, id="a complaint"),
    pytest.param("printf '\\377\\376'", None, id="no text"),
]


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize(("script", "expected"), PS_SAYS)
def test_what_ps_says_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, *, expected: bool | None
) -> None:
    fake_ps(tmp_path, monkeypatch, script)

    assert is_alive(Process(7, MOMENT)) is expected


@pytest.mark.usefixtures("_elsewhere")
def test_a_ps_that_hangs_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ps(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(module, "PS_SECONDS", 0.05)

    assert identify(7).started == ""
    assert is_alive(Process(7, MOMENT)) is None


@pytest.mark.usefixtures("_elsewhere")
def test_without_ps_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert is_alive(Process(os.getpid(), MOMENT)) is None
    assert list(ancestors()) == []


def test_windows_is_never_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes]
) -> None:
    fake_ps(tmp_path, monkeypatch, "touch asked")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "platform", "win32")

    assert is_alive(Process(child.pid, "a")) is None
    assert identify(child.pid).started == ""
    assert list(ancestors()) == []
    assert not (tmp_path / "asked").exists()
    assert child.poll() is None


@ON_LINUX
def test_without_proc_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sisyphus.session.process.read_proc", lambda *_: b"")
    monkeypatch.setattr(os.path, "exists", lambda _: False)

    assert identify(os.getpid()).started == ""
    assert is_alive(Process(os.getpid(), "1-a")) is None


@pytest.mark.usefixtures("_elsewhere")
def test_parents_that_go_in_a_circle_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = os.getppid()
    lines = [f"{above} 4000001 sh", f"4000001 {above} bash", "noise", "x y z", "5 6"]
    fake_ps(tmp_path, monkeypatch, "cat <<'END'\n" + "\n".join(lines) + "\nEND")

    pids = [found.pid for found in itertools.islice(ancestors(), 1_000)]

    assert pids[:3] == [above, 4000001, above]
    assert len(pids) == 32


CLIENTS = [
    pytest.param("claude", "claude", True, id="its command"),
    pytest.param("/opt/My Tools/bin/claude", "", True, id="with its path"),
    pytest.param("claude.exe", "", True, id="its binary"),
    pytest.param("2.1.329", "claude --resume", True, id="a binary named by its version"),
    pytest.param("node", "node /usr/lib/@anthropic-ai/claude-code/cli.js", True, id="its script"),
    pytest.param("node", "node --no-warnings /usr/bin/claude -p x", True, id="its linked script"),
    pytest.param("MainThread", "/usr/bin/node /usr/bin/claude", True, id="a renamed interpreter"),
    pytest.param("node", "node /srv/claude-tools/server.js", False, id="another script"),
    pytest.param("node", "node", False, id="an interpreter alone"),
    pytest.param("vim", "vim claude", False, id="an editor of a file of its name"),
    pytest.param("sh", "/bin/sh -c claude", False, id="a shell that calls it"),
    pytest.param("Claude", "/Applications/Claude.app/Claude", False, id="the desktop application"),
    pytest.param("claude-desktop", "", False, id="a longer name"),
    pytest.param("sh", "", False, id="no command line"),
]


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize(("name", "line", "is_client"), CLIENTS)
def test_the_client_is_recognized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str, *, is_client: bool
) -> None:
    args = f"case \"$*\" in *args*) echo '{line}';; *) echo '{os.getppid()} 0 {name}';; esac"
    fake_ps(tmp_path, monkeypatch, args)
    (found,) = ancestors()

    assert found.is_client is is_client
