"""What a run promises at its edges: failures half-way, others at its rows, audits, the screen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_run import ACCEPT, ALL, KEEP, LIMIT, LOGIN, PLAN, PROMISE, Runs, done, runs, wait_for
from world import SISYPHUS

from sisyphus import processes

__all__ = ["runs"]

NETWORK = {"error": "server_error", "text": "API Error: Connection refused (ECONNREFUSED)"}
CLEAN = [["say", "<audit>complete</audit>"]]


def statement(runs: Runs, name: str, sql: str) -> str:
    """A shell command that runs an SQL statement on the store; `{now}` is the time."""
    file = runs.world.root / name
    file.write_text(
        "import os, sqlite3, time\n"
        "path = os.path.expanduser('~/.claude/.sisyphus/sisyphus.db')\n"
        f"sqlite3.connect(path, isolation_level=None).execute({sql!r}.format(now=time.time()))\n"
    )
    return f"{sys.executable} {file}"


def session_of(runs: Runs) -> str:
    words: list[str] = runs.calls[-1]["words"]
    return words[words.index("--session-id") + 1]


# ---------------------------------------------------------------- failures half-way


def test_a_full_context_and_a_limit_at_once(runs: Runs) -> None:
    full = [["write", ["cart.py", "1"]], ["checkpoint", 87], ["say", "x"], ["fail", LIMIT]]

    assert runs.run(processes=[full, *ALL]).code == 0
    assert "CONTEXT CHECKPOINT RESUME" in runs.prompts[1]
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3]


def test_a_failure_half_way_leaves_a_handoff(runs: Runs) -> None:
    half = [["write", ["cart.py", "1"]], ["checkpoint", 50], ["say", "x"], ["fail", NETWORK]]

    assert runs.run(processes=[half, *ALL]).code == 0
    assert "CONTEXT CHECKPOINT RESUME" in runs.prompts[1]


@pytest.mark.parametrize(("failure", "code", "used"), [(LOGIN, 1, 1), (NETWORK, 0, 2)])
def test_a_check_alone_proves_nothing_if_the_client_failed(
    runs: Runs, failure: dict[str, object], code: int, used: int
) -> None:
    (runs.world.project / "fix_plan.md").unlink()

    answer = runs.run(
        "--verify", "true", "--", "Build", processes=[[["fail", failure]], [["say", "x"]]]
    )

    assert answer.code == code
    assert len(runs.calls) == used


def test_the_last_item_counts_though_the_client_failed_after_it(runs: Runs) -> None:
    assert runs.run(processes=[*ALL[:2], [*ALL[2], ["fail", NETWORK]]]).code == 0
    assert runs.state["completed_items"] == ["cart", "total", "receipt"]


def test_a_promise_does_not_count_without_the_plan(runs: Runs) -> None:
    gone = [["run", "rm fix_plan.md"], ["say", KEEP]]

    assert runs.run(*PROMISE, "--max-iterations", "1", processes=[gone]).code == 3


def test_items_that_are_set_aside_do_not_open_the_breaker(runs: Runs) -> None:
    items = [f"i{number}" for number in range(7)]
    runs.world.write("fix_plan.md", "".join(f"- [ ] {item}\n" for item in items))
    blocked = [[["say", f"<blocked>key {number}</blocked>"]] for number in range(6)]

    assert runs.run(processes=[*blocked, done("i6")]).code == 4
    assert len(runs.calls) == 7


def test_a_denied_edit_elsewhere_with_a_question_is_only_blocked(runs: Runs) -> None:
    denied = [["deny", ["Write", "/etc/x"]], ["say", "<blocked>who may write /etc/x?</blocked>"]]

    assert runs.run(processes=[denied, *ALL[1:]]).code == 4


def test_a_check_that_fails_at_the_start_is_the_first_work(runs: Runs) -> None:
    runs.world.write("fix_plan.md", "- [x] cart\n")
    check = "echo n >> count; test -f ok || exit 3"

    assert runs.run("--verify", check, processes=[[["write", ["ok", ""]]]]).code == 0
    assert "exited 3" in runs.prompts[0]
    assert (runs.world.project / "count").read_text().count("n") == 2


# ---------------------------------------------------------------- the store, the screen, the time


def test_a_store_that_is_locked_for_long_does_not_end_the_night(runs: Runs) -> None:
    lock = runs.world.root / "lock.py"
    lock.write_text(
        "import os, sqlite3, sys, time\n"
        "path = os.path.expanduser('~/.claude/.sisyphus/sisyphus.db')\n"
        "store = sqlite3.connect(path, isolation_level=None)\n"
        "store.execute('BEGIN IMMEDIATE')\n"
        "time.sleep(5)\n"
    )
    hold = f"setsid {sys.executable} {lock} >/dev/null 2>&1 & sleep 0.5"

    assert runs.run(processes=[[["run", hold], *ALL[0]], *ALL[1:]]).code == 0


def test_lines_that_cannot_be_logged_stop_no_run(runs: Runs) -> None:
    (runs.world.ours / "logs" / "sessions.jsonl").mkdir(parents=True)

    assert runs.run(processes=ALL).code == 0


@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_run_goes_on_where_nobody_reads(runs: Runs, is_pipe: bool) -> None:
    runs.script(*ALL)
    command: list[str | Path] = [SISYPHUS, "ralph", "run", *ACCEPT]
    if is_pipe:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert process.stdout
        process.stdout.close()
        assert process.wait(30) == 0
    else:
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=full, check=False)
        assert done.returncode == 0
    assert "[x] receipt" in (runs.world.project / "fix_plan.md").read_text()


def test_a_plan_that_no_session_has_followed_has_the_items(runs: Runs) -> None:
    (runs.world.project / "fix_plan.md").rename(runs.world.project / "PLAN.md")
    do_all = "sed -i.old 's/\\[ \\]/[x]/' PLAN.md && rm PLAN.md.old"

    answer = runs.run(processes=[[["run", do_all]]])

    assert "It ends when all of PLAN.md is done" in answer.out
    assert answer.code == 0


def test_a_run_says_where_it_looked_for_items(runs: Runs) -> None:
    runs.world.write("api/fix_plan.md", PLAN)
    (runs.world.project / "fix_plan.md").unlink()

    answer = runs.run("--project", "api")

    assert answer.code == 2
    assert f"no fix_plan.md is in {runs.world.project}," in answer.err


def test_no_run_in_the_home_folder(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path.home()
    (home / "fix_plan.md").write_text(PLAN)
    monkeypatch.chdir(home)

    answer = runs.run(processes=ALL)

    assert answer.code == 1
    assert "Your home folder is never a project" in answer.err


def test_a_resumed_run_says_which_iteration_is_next(runs: Runs) -> None:
    assert runs.run("--max-iterations", "1", processes=ALL).code == 3

    answer = runs.resume("--max-iterations", "9", processes=ALL[1:])

    assert "goes on with iteration 2 of 9." in answer.out


def test_changes_of_a_run_that_waits_are_named(runs: Runs) -> None:
    runs.git()
    last = [["write", ["cart.py", "1"]], ["signal", "SIGTERM"], ["sleep", 5]]
    assert runs.run(processes=[last]).code == 130
    id = runs.id

    answer = runs.run(processes=ALL)

    assert f"To go on with run {id}, whose work this may be" in answer.err


def test_a_pause_from_another_terminal_does_not_use_up_the_time(runs: Runs) -> None:
    old = statement(runs, "a.py", "UPDATE loop SET started_at = {now} - 58")
    paused = "UPDATE loop SET counters = json_set(counters, '$.paused_seconds', 1000.0)"
    slow = [["run", statement(runs, "b.py", paused)], ["sleep", 3], *ALL[1]]

    answer = runs.run("--max-minutes", "1", processes=[[*ALL[0], ["run", old]], slow, ALL[2]])

    assert answer.code == 0
    assert len(runs.calls) == 3


def test_a_result_that_was_reported_counts_though_the_run_ends_then(runs: Runs) -> None:
    last = [*ALL[0], ["result", None], ["signal", "SIGTERM"], ["sleep", 5]]

    assert runs.run(processes=[last]).code == 130
    assert runs.resume(processes=ALL[1:]).code == 0
    assert [row["item"] for row in runs.log()] == ["cart", "total", "receipt"]


# ---------------------------------------------------------------- audits


@pytest.mark.parametrize("most", ["3", "4"])
def test_audits_do_not_count_as_iterations(runs: Runs, most: str) -> None:
    words = ("--max-iterations", most, "--audit", "2")

    assert runs.run(*words, processes=[*ALL, CLEAN, CLEAN]).code == 0


def test_five_audits_in_vain_and_a_resume(runs: Runs) -> None:
    vague = [["say", "I am not sure."]]
    assert runs.run("--audit", "1", processes=[*ALL, *[vague] * 5]).code == 3

    answer = runs.resume(processes=[CLEAN])

    assert answer.code == 0
    assert answer.out.startswith(f"Run {runs.id} goes on with audit 6.\n")
    assert len(runs.calls) == 3 + 5 + 1


def test_five_audits_in_vain_and_no_more(runs: Runs) -> None:
    vague = [["say", "I am not sure."]]
    assert runs.run("--audit", "1", processes=[*ALL, *[vague] * 5]).code == 3

    assert runs.resume("--audit", "0").code == 0
    assert len(runs.calls) == 3 + 5


def test_the_time_ends_an_audit_too(runs: Runs) -> None:
    old = statement(runs, "a.py", "UPDATE loop SET started_at = {now} - 58")
    last = [*ALL[2], ["run", old]]

    answer = runs.run(
        "--max-minutes", "1", "--audit", "1", processes=[*ALL[:2], last, [["sleep", 20]]]
    )

    assert answer.code == 3
    assert runs.state["status"] == "limit"


# ---------------------------------------------------------------- others at the same run


def test_a_cancel_during_the_last_check_counts(runs: Runs) -> None:
    runs.world.write("fix_plan.md", "- [x] cart\n")

    answer = runs.run("--verify", f"{SISYPHUS} ralph cancel >&2")

    assert answer.code == 130
    assert [each["outcome"] for each in runs.world.ended()] == ["cancelled"]


def test_a_client_of_a_cancelled_run_whose_runner_died_is_ended(runs: Runs) -> None:
    runs.script([["run", "echo $PPID > client"], ["write", ["started", ""]], ["sleep", 60]])
    process = runs.process()
    wait_for(runs.world.project / "started")
    os.kill(process.pid, signal.SIGSTOP)
    runs.world.cli("ralph", "cancel", runs.id)
    process.kill()
    process.wait()

    assert runs.run(processes=ALL).code == 0
    assert not processes.key(int((runs.world.project / "client").read_text()))


def test_a_user_may_go_on_in_the_session_of_a_run_that_waits(runs: Runs) -> None:
    blocked = [["say", "<blocked>a key</blocked>"]]
    assert runs.run(processes=[blocked] * 3).code == 4

    answer = runs.world.cli(
        "ralph", "start", "--completion-promise", "X", "--session-id", session_of(runs), "--", "Go"
    )

    assert answer.code == 0, answer


def test_a_plan_that_was_written_since_is_taken_up(runs: Runs) -> None:
    (runs.world.project / "fix_plan.md").unlink()
    first = runs.run(
        "--verify", "test -f ok", "--max-iterations", "1", "--", "Build", processes=[[["say", "x"]]]
    )
    assert first.code == 3
    runs.world.write("fix_plan.md", PLAN)

    assert runs.resume("--max-iterations", "9", processes=[*ALL, [["write", ["ok", ""]]]]).code == 0
    assert runs.items[1] == "cart"


def test_what_the_agent_needs_is_masked_everywhere(runs: Runs) -> None:
    secret = "sk-ant-api03-abcdef1234567890abcdef"
    runs.run(processes=[[["say", f"<blocked>rotate {secret}</blocked>"]], *ALL[1:]])

    for words in (("ralph", "log", runs.id, "--json"), ("ralph", "list"), ("status", "--json")):
        assert secret not in runs.world.cli(*words).out


# ---------------------------------------------------------------- git


def test_a_git_that_does_not_answer_is_no_clean_tree(runs: Runs) -> None:
    runs.git()
    program = runs.folder / "bin" / "git"
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True)
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *status*) exit 1;; esac\nexec {real.stdout.strip()} "$@"\n'
    )
    program.chmod(0o755)

    answer = runs.run(processes=ALL)

    assert answer.code == 1
    assert "git does not say which files are committed" in answer.err


def test_without_git_on_the_path_it_says_so(runs: Runs) -> None:
    runs.git()
    runs.world.setenv("PATH", str(runs.folder / "bin"))

    answer = runs.run(processes=ALL)

    assert answer.code == 1
    assert answer.err.startswith(
        "error: There is no `git` on the PATH to say which files are committed. Install it, or "
    )


def test_time_of_a_run_is_said_in_words(runs: Runs) -> None:
    old = statement(runs, "a.py", "UPDATE loop SET started_at = {now} - 61")

    answer = runs.run("--max-minutes", "1", processes=[[["run", old]]])

    assert "its 1 minute is up" in answer.out
