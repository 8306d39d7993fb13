from __future__ import annotations

import pytest
from ralph.lines import prompt, read

from checkpoint.telling import broke, called, failed, ran
from sisyphus.checkpoint.seen import work
from sisyphus.checkpoint.seen.shell import Shell
from sisyphus.clients.base import SHELL
from sisyphus.transcript import Call, Result


def _work(*calls: list[dict[str, object]]) -> work.Work:
    return work.read(read(*(record for call in calls for record in call)))


def _failed(*calls: list[dict[str, object]]) -> str:
    found = _work(*calls).failed
    return found.command if found else ""


FAILED = [
    pytest.param([broke("./run")], "./run", id="it failed"),
    pytest.param([broke("./run"), ran("./run")], "", id="and succeeded afterwards"),
    pytest.param([broke("./run"), ran("./run  2>&1 | tail")], "", id="with less output"),
    pytest.param([ran("./run"), broke("./run")], "./run", id="and failed again"),
    pytest.param([broke("./a"), broke("./b")], "./b", id="the last one"),
    pytest.param([broke("./a"), broke("./b"), ran("./b")], "./a", id="that is not mended"),
    pytest.param([broke("./a"), broke("./b"), broke("./a")], "./a", id="by its last run"),
    pytest.param([broke("./run"), broke("ls nowhere")], "./run", id="looking is no work"),
    pytest.param([broke("ls nowhere")], "ls nowhere", id="unless nothing else failed"),
    pytest.param([ran("pytest | tail", "1 failed")], "pytest | tail", id="its exit code hidden"),
    pytest.param([broke("pytest"), ran("pytest | tail", "...")], "pytest", id="no proof"),
    pytest.param([broke("pytest"), ran("pytest | tail", "2 passed")], "", id="proof of it"),
    pytest.param([broke("sleep 9", "Command timed out after 1s", 143)], "sleep 9", id="timed out"),
    pytest.param([failed("Bash", {"command": "x"}, "<tool_use_error>no</tool_use_error>")], "",
        id="not understood"),
    pytest.param([failed("Bash", {"command": "x"}, "The user doesn't want to proceed")], "",
        id="refused by the user"),
    pytest.param([failed("PowerShell", {"command": "x"}, "Exit code 1")], "x", id="another shell"),
    pytest.param([failed("Bash", {"command": 7}, "Exit code 1")], "", id="no command"),
    pytest.param([broke("./run"), ran("./run", interrupted=True)], "./run", id="interrupted"),
    pytest.param([ran("./run")], "", id="none failed"),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "command"), FAILED)
def test_the_last_failing_command_is_told(
    calls: list[list[dict[str, object]]], command: str
) -> None:
    assert _failed(*calls) == command


def test_with_its_time_and_its_last_lines() -> None:
    found = _work(broke("./run", "\x1b[31mred\x1b[0m\n" + "line\n" * 999 + "the end")).failed
    assert found is not None
    assert found.at == "2026-11-20T15:00:00.000Z"
    assert found.output.endswith("line\nthe end")
    assert len(found.output) <= 1_500


def test_both_outputs_of_a_command_are_kept() -> None:
    (found,) = _work(ran("./run", "out\n", stderr="err\n")).commands
    assert (found.command, found.ok, found.output) == ("./run", True, "out\nerr")


def test_of_a_client_that_notes_nothing_what_the_model_read() -> None:
    (found,) = _work(called("Bash", {"command": "./run"}, None, "text")).commands
    assert found.output == "text"


VERIFIED = [
    pytest.param([ran("pytest")], [("pytest", True, True)], id="passed"),
    pytest.param([broke("pytest")], [("pytest", False, True)], id="failed"),
    pytest.param([ran("ls")], [], id="no check"),
    pytest.param(
        [ran("pytest"), ran("ruff check"), broke("pytest")],
        [("ruff check", True, True), ("pytest", False, True)], id="the last run, newest last",
    ),
    pytest.param(
        [broke("pytest"), ran("pytest | tail", "2 passed")], [("pytest | tail", True, True)],
        id="of one spelling",
    ),
    pytest.param([ran("make | cat", "cc x")], [("make | cat", True, False)], id="hidden"),
    pytest.param([ran("make || true", "error: x")], [("make || true", False, True)], id="told"),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "checks"), VERIFIED)
def test_checks_are_told_by_their_last_run(
    calls: list[list[dict[str, object]]], checks: list[tuple[str, bool, bool]]
) -> None:
    found = _work(*calls).verified
    assert [(check.command, check.ok, check.is_sure) for check in found] == checks


def test_of_many_commands_and_checks_the_last_ones() -> None:
    found = _work(*(ran(f"pytest {number}") for number in range(300)))
    assert [check.command for check in found.verified] == [f"pytest {n}" for n in range(290, 300)]
    assert len(found.commands) == 200


def test_of_many_outputs_only_those_are_judged_that_are_kept() -> None:
    judged: list[str] = []
    shell = Shell(judged.append)
    for number in range(1_000):
        command = f"pytest {number} | tail"
        call = Call("c", "Bash", SHELL, {"command": command}, "", command)
        shell.take(call, Result("c", str(number), {}, failed=False), "")
    assert not judged
    shell.commands(), shell.verified(), shell.failed()
    assert judged == [str(number) for number in range(800, 1_000)]


def test_a_check_that_is_no_longer_among_the_commands_is_judged_as_well() -> None:
    calls = [ran("pytest | tail", "1 failed"), *(ran("ls") for _ in range(300))]
    (check,) = _work(*calls).verified
    assert (check.command, check.ok) == ("pytest | tail", False)


def _ended(code: int, call: str = "toolu_1") -> list[dict[str, object]]:
    text = f"""<task-notification>
<task-id>b1</task-id>
<tool-use-id>{call}</tool-use-id>
<status>completed</status>
<summary>Background command "run" completed (exit code {code})</summary>
</task-notification>"""
    return [prompt(text, turnOrigin="task_notification")]


BEHIND = ran("make test", backgroundTaskId="b1")
BACKGROUND = [
    pytest.param([BEHIND], [], id="it runs"),
    pytest.param([BEHIND, _ended(0)], [True], id="it succeeded"),
    pytest.param([BEHIND, _ended(2)], [False], id="it failed"),
    pytest.param([BEHIND, _ended(2, "toolu_2")], [], id="another one ended"),
    pytest.param([BEHIND, [prompt("hello")]], [], id="the user speaks"),
    pytest.param([_ended(2)], [], id="nobody knows of it"),
]


@pytest.mark.parametrize(("calls", "ends"), BACKGROUND)
def test_a_command_in_the_background_counts_when_it_has_ended(
    calls: list[list[dict[str, object]]], ends: list[bool]
) -> None:
    assert [check.ok for check in _work(*calls).verified] == ends
