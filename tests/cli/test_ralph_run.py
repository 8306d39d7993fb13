from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, HANG_SECONDS, ours, put
from runner import scripted
from runner.runs import DONE
from runner.scripted import said, write
from typer.testing import CliRunner

from sisyphus.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.runs import Scene

ON = ("--completion-promise", "DONE")


def test_a_run_tells_a_line_an_event(scene: Scene) -> None:
    scene.items("one", "two")
    ticked = write("fix_plan.md", "- [x] one\n- [ ] two\n")
    client = scene.play(said("a", ticked, tokens=420_000), said(DONE))
    code, out, err = scene.command("--prompt", "do it", *ON, "--client-command", client)

    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:5] == [
        "iteration 1 of 50: started: one",
        "iteration 1 of 50: goes on, context 42%, 1 left",
        "iteration 2 of 50: started: two",
        "iteration 2 of 50: completed: the promise was kept: DONE, 1 left",
        "Completed: the promise was kept: DONE.",
    ]
    assert lines[5].startswith("2 iterations, 1 of 2 items done, ")
    assert lines[6].endswith("/.claude/progress.txt")


def test_json_is_the_state_at_the_end(scene: Scene) -> None:
    client = scene.play(said(DONE))
    code, out, err = scene.command("--prompt", "do it", *ON, "--client-command", client, "--json")
    state = json.loads(out)

    assert (code, state["status"], state["iteration"]) == (0, "completed", 1)
    assert err.startswith("iteration 1 of 50: started\n")


def test_every_option_arrives(scene: Scene) -> None:
    put(scene.project / "task.md", "from a file")
    words = [
        "--prompt-file", str(scene.project / "task.md"), "--objective", "aim", *ON,
        "--max-iterations", "0", "--max-minutes", "5", "--max-tokens", "6", "--verify", "true",
        "--iteration-minutes", "7", "--json", "--", "--model", "haiku",
    ]  # fmt: skip
    scene.play(said(DONE))
    path = f"{scripted.on_path(scene.folder)}{os.pathsep}{os.environ['PATH']}"
    process = scene.start(*words, env={**os.environ, "PATH": path})
    out, _ = process.communicate(timeout=HANG_SECONDS)
    code, state = process.returncode, json.loads(out)

    assert code == 0
    assert (state["prompt"], state["objective"], state["max_iterations"]) == (
        "from a file",
        "aim",
        0,
    )
    assert state["options"] == {
        "max_minutes": 5, "max_tokens": 6, "iteration_minutes": 7, "verify": "true",
        "flags": ["--model", "haiku"],
    }  # fmt: skip


CODES = [
    pytest.param(said(DONE), [], 0, id="completed"),
    pytest.param(
        scripted.failing("no", error="authentication_failed", status=401), [], 1, id="fatal"
    ),
    pytest.param(said("a"), ["--max-iterations", "1"], 3, id="a limit"),
    pytest.param(said("a"), [], 3, id="no progress"),
    pytest.param(said("a"), ["--max-iterations", "x"], 2, id="wrong usage"),
    pytest.param(said("a"), ["--prompt-file", "x"], 1, id="two prompts"),
    pytest.param(said("a"), ["--", "--model", "haiku"], 1, id="flags for no client"),
    pytest.param(said("a"), ["--client-command", " "], 1, id="an empty command"),
    pytest.param(said("a"), ["--verify", ""], 1, id="an empty check"),
]


@pytest.mark.parametrize(("client", "words", "code"), CODES)
def test_the_exit_code_says_how_it_ended(
    scene: Scene, client: scripted.Entry, words: list[str], code: int
) -> None:
    command = scene.play(client)
    done = scene.command("--prompt", "x", *ON, "--client-command", command, *words)

    assert done[0] == code


def test_what_is_given_in_vain_is_said(scene: Scene) -> None:
    client = ("--prompt", "x", "--client-command", scene.play(said(DONE)))
    flags = scene.command(*client, "--", "--model", "haiku")
    empty = scene.command("--prompt", "x", "--client-command", "")
    scene.command(*client, "--max-iterations", "1")
    later = scene.command("--resume", "--max-iterations", "2", "--", "--model", "haiku")

    assert "flags behind `--` are for `claude -p`" in flags[2]
    assert "--client-command is empty" in empty[2]
    assert "has a client command of its own" in later[2]
    assert len(scene.prompts) == 1


# --- before the first client --------------------------------------------------------------------


def _directory(path: Path) -> None:
    path.mkdir()


def _binary(path: Path) -> None:
    path.write_bytes(b"- [ ] a\0\n")


def _large(path: Path) -> None:
    path.write_text("- [ ] a\n" * 700_000)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere.md")


def _outside(path: Path) -> None:
    path.symlink_to(put(path.parent.parent / "elsewhere.md", "- [ ] a\n"))


@pytest.mark.parametrize(
    "make", [_directory, os.mkfifo, _binary, _large, _dangling, _outside], ids=lambda f: f.__name__
)
def test_items_that_cannot_be_read_are_told_first(
    scene: Scene, make: Callable[[Path], None]
) -> None:
    make(scene.project / "fix_plan.md")
    code, out, err = scene.command("--prompt", "x", "--client-command", scene.play(said("a")))

    assert (code, out) == (1, "")
    assert err.startswith("error: the items cannot be read: ")
    assert scene.prompts == []


LIMITS = [
    pytest.param("--max-tokens", "1", "the limit of 1 token is", "--max-tokens N", id="tokens"),
    pytest.param("--max-iterations", "1", "1 iteration is", "--max-iterations N", id="iterations"),
]


@pytest.mark.parametrize(("option", "value", "why", "advice"), LIMITS)
def test_the_limit_that_is_in_the_way_is_named(
    scene: Scene, option: str, value: str, why: str, advice: str
) -> None:
    client = scene.play(said("a", tokens=10))
    _, out, _ = scene.command("--prompt", "x", option, value, "--client-command", client)

    assert why in out
    assert f"and a higher limit: `{advice}`." in out


def test_a_plan_without_items_is_told_first(scene: Scene) -> None:
    put(scene.project / "fix_plan.md", "# Plan\n\nwords\n")
    _, out, _ = scene.command("--prompt", "x", *ON, "--client-command", scene.play(said(DONE)))

    assert out.splitlines()[0] == (
        "note: fix_plan.md has no items (lines such as `- [ ] a task`); the prompt decides"
    )


def test_where_all_is_done_nothing_begins(scene: Scene) -> None:
    put(scene.project / "fix_plan.md", "- [x] one\n- [x] two\n")
    words = ("--prompt", "x", "--client-command", scene.play(said("a")))
    code, out, err = scene.command(*words)
    state = json.loads(scene.command(*words, "--json")[1])

    assert (code, err, scene.prompts) == (0, "", [])
    assert out.startswith("Nothing was started: every item of fix_plan.md is done already. ")
    assert not (scene.project / ".claude").exists()
    assert (state["status"], state["completed_items"]) == ("completed", ["one", "two"])


DECIDES = [
    pytest.param(ON, id="a promise"),
    pytest.param(("--verify", "true"), id="a check"),
]


@pytest.mark.parametrize("words", DECIDES)
def test_what_else_decides_is_asked_all_the_same(scene: Scene, words: tuple[str, ...]) -> None:
    put(scene.project / "fix_plan.md", "- [x] one\n")
    code, _, _ = scene.command("--prompt", "x", *words, "--client-command", scene.play(said(DONE)))
    assert (code, len(scene.prompts)) == (0, 1)


def test_a_run_that_was_left_is_named_before_it_is_replaced(scene: Scene) -> None:
    words = ("--prompt", "Mend it", *ON, "--client-command", scene.play(said("a"), said(DONE)))
    scene.command(*words, "--max-iterations", "1")
    _, out, _ = scene.command(*words)
    _, third, _ = scene.command(*words)

    assert out.splitlines()[0] == (
        "note: the run before (Mend it, iteration 1 of 1) ended at a limit; this one takes its "
        "place. (`sisyphus ralph run --resume` goes on with a run that was left.)"
    )
    assert "note:" not in third


def test_blocked_items_are_counted(scene: Scene) -> None:
    put(scene.project / "fix_plan.md", "- [ ] one\n- [!] two\n")
    ticked = write("fix_plan.md", "- [x] one\n- [!] two\n")
    _, out, _ = scene.command(
        "--prompt", "x", "--max-iterations", "1", "--client-command", scene.play(said("a", ticked))
    )

    assert "iteration 1 of 1: ended: the limit of 1 iteration is reached, 1 blocked" in out
    assert "1 iteration, 1 of 2 items done, 1 blocked, " in out
    assert "- **Remaining items**: 1 of 2 (fix_plan.md), 1 more blocked" in scene.prompt


def test_what_is_not_known_is_not_told(scene: Scene) -> None:
    out = scene.command("--prompt", "x", "--max-iterations", "2", "--client-command", "echo hi")[1]

    assert "iteration 1 of 2: goes on\n" in out
    assert "context" not in out


# --- nobody looks -------------------------------------------------------------------------------

GONE = [
    pytest.param("| true", id="a pipe whose reader is gone"),
    pytest.param(">&-", id="no stdout"),
    pytest.param(">/dev/full", id="a stdout that takes nothing"),
]


@pytest.mark.parametrize("where", GONE)
@pytest.mark.parametrize("flag", ["", "--json"])
def test_who_watches_ends_no_run(scene: Scene, tmp_path: Path, where: str, flag: str) -> None:
    client = scene.play(said("a"), said("b"), said(DONE))
    run = [COMMAND, "ralph", "run", "--project", str(scene.project), "--prompt", "x", *ON]
    words = shlex.join([*run, "--client-command", client])
    script = f"( {words} {flag}; echo $? > {tmp_path}/code ) {where}"
    done = _shell(script, tmp_path)

    assert (tmp_path / "code").read_text() == "0\n"
    assert "error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert scene.state["status"] == "completed"


INSIDE = [{"CLAUDECODE": "1"}, {"SISYPHUS_RUN": "abc12"}]


@pytest.mark.parametrize("variables", INSIDE, ids=["a session", "a run"])
def test_the_model_starts_no_runs(scene: Scene, variables: dict[str, str]) -> None:
    process = scene.start("--prompt", "x", env={**os.environ, **variables})
    _, err = process.communicate()

    assert process.returncode == 1
    assert "it is not run inside of one" in err


@pytest.mark.parametrize("name", ["run", "decide"])
def test_help_has_an_example_and_the_exit_codes(name: str) -> None:
    shown = CliRunner().invoke(app, ["ralph", name, "--help"], env={"COLUMNS": "100"}).output

    assert f"sisyphus ralph {name}" in shown
    assert "Exit codes: 0" in shown


# --- decide -------------------------------------------------------------------------------------

STATE = {"task_name": "x", "iteration": 1, "status": "running", "completion_promise": "DONE"}


def _decide(project: Path, output: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, "ralph", "decide", "--project", str(project), *words]
    return subprocess.run(command, input=output, capture_output=True, text=True, check=False)


def test_decide_reads_stdin(project: Path) -> None:
    put(project / ".claude" / "ralph-state.json", json.dumps(STATE))
    on, stop = _decide(project, "words"), _decide(project, DONE)

    assert (on.returncode, on.stdout) == (1, "go on: the work is not done yet\n")
    assert (stop.returncode, stop.stdout) == (0, "stop: the promise was kept: DONE\n")


def test_decide_reads_a_file_and_answers_in_json(project: Path, tmp_path: Path) -> None:
    put(project / ".claude" / "ralph-state.json", json.dumps(STATE))
    out = put(tmp_path / "out.txt", DONE)
    done = _decide(project, "", "--output", str(out), "--json")

    assert json.loads(done.stdout) == {
        "decision": "stop",
        "why": "stop: the promise was kept: DONE",
        "status": "completed",
    }


def test_decide_says_that_it_cannot_tell(project: Path) -> None:
    done = _decide(project, DONE)

    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith("cannot tell: there is no ")


def _shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        input=DONE,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )


def test_what_passes_is_waited_for_where_that_is_asked(project: Path) -> None:
    put(project / ".claude" / "ralph-state.json", json.dumps(STATE))
    process = subprocess.Popen(
        [COMMAND, "ralph", "decide", "--wait", "--output", "out.txt"],
        cwd=put(project / "out.txt", "API Error: 529").parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=HANG_SECONDS)

    assert (process.returncode, out) == (130, "")


DECIDE = f"{shlex.quote(COMMAND)} ralph decide"

FAULTS = [
    pytest.param(f"{DECIDE} --project /nonexistent", id="no project"),
    pytest.param(f"{DECIDE} --project /dev/null", id="a project that is a file"),
    pytest.param(f"{DECIDE} <&-", id="no stdin"),
    pytest.param(f"{DECIDE} --output /nonexistent", id="no output of the client"),
    pytest.param(f"{DECIDE} --output .", id="an output that is a folder"),
    pytest.param(f"mkdir gone; cd gone; rmdir ../gone; {DECIDE}", id="no folder"),
    pytest.param(f"echo '[' > .claude/ralph-state.json; {DECIDE}", id="a corrupt state"),
    pytest.param(f"echo '{{}}' > .claude/ralph-state.json; {DECIDE}", id="an empty state"),
    pytest.param(
        f"echo '{{\"version\": 99}}' > .claude/ralph-state.json; {DECIDE}", id="a newer state"
    ),
    pytest.param(f"rm -r .claude; echo > .claude; {DECIDE}", id="a file in the folder's place"),
    pytest.param(f"rm -r .claude; ln -s /tmp .claude; {DECIDE}", id="a link in its place"),
    pytest.param(f"rm .claude/*; mkdir .claude/ralph-state.json; {DECIDE}", id="no state file"),
    pytest.param(f"HOME=/dev/null CLAUDE_CONFIG_DIR=/dev/null {DECIDE}", id="no home"),
    pytest.param(f"{DECIDE} --no-such-option", id="wrong usage"),
    pytest.param(f"{DECIDE} --project /nonexistent >&-", id="no stdout either"),
    pytest.param(f"{DECIDE} --project /nonexistent --json", id="as JSON"),
]


@pytest.mark.parametrize("script", FAULTS)
def test_a_fault_of_ours_never_means_go_on(project: Path, script: str) -> None:
    put(project / ".claude" / "ralph-state.json", json.dumps(STATE))
    done = _shell(script, project)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_settings_that_cannot_be_read_are_those_of_nobody(home: Path, project: Path) -> None:
    put(project / ".claude" / "ralph-state.json", json.dumps(STATE))
    ours(home, "config.toml").mkdir(parents=True)

    assert _shell(DECIDE, project).returncode == 0


def test_a_decision_that_nobody_reads_is_one(project: Path) -> None:
    put(project / ".claude" / "ralph-state.json", json.dumps({**STATE, "max_iterations": 1}))

    assert _shell(f"{DECIDE} > /dev/full", project).returncode == 0
