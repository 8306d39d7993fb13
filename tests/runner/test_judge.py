"""What becomes of an iteration, by whole runs of a scripted client."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making import HANG_SECONDS, configure, ours, put
from ralph.repositories import a_repository, git

from runner import scripted
from runner.runs import DONE, Scene, is_gone, once_noted, wait_for
from runner.scripted import (
    append,
    entry,
    event,
    failing,
    init,
    plain,
    result,
    said,
    stderr,
    text,
    tool,
    write,
)
from sisyphus.checkpoint import handoffs
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.state import debug
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from runner.scripted import Entry

LOGIN = failing("Invalid API key · Please run /login", error="authentication_failed", status=401)
EDIT = tool("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})


def a_handoff(scene: Scene, **fields: Any) -> list[Any]:
    """A step: the client's hooks hand over."""
    path = handoffs.path(our_home(), str(scene.project))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    record = {
        "active": True, "level": "L2", "percent_at_checkpoint": 87, "occasion": "level",
        "timestamp": "2026-01-07T11:45:00.000Z", "handoff_file": ".claude/handoffs/a.md",
        "resume_summary": "half of it is done", "files_in_progress": [], **fields,
    }  # fmt: skip
    return scripted.handoff(path, record)


# --- promise ------------------------------------------------------------------------------------

NOT_KEPT = [
    pytest.param("DONE", id="a bare word"),
    pytest.param("I will say <promise>DONE</promise> later on", id="in mid-sentence"),
    pytest.param("```\n<promise>DONE</promise>\n```", id="in code"),
    pytest.param("<promise>DONT</promise>", id="another promise"),
]


@pytest.mark.parametrize("words", NOT_KEPT)
def test_a_promise_counts_by_the_same_law_as_elsewhere(scene: Scene, words: str) -> None:
    done = scene.run(said(words), completion_promise="DONE", max_iterations=1)

    assert done.run.status == "max_iterations"


def test_a_promise_before_the_last_message_counts(scene: Scene) -> None:
    said_early = entry(init(), text(DONE), text("bye", message="m2"), result("bye"))

    assert scene.run(said_early, completion_promise="DONE").exit_code == 0


def test_a_subagents_promise_does_not_count(scene: Scene) -> None:
    step = scripted.by_subagent(text(DONE))
    done = scene.run(
        entry(init(), step, text("x"), result("x")), completion_promise="DONE", max_iterations=1
    )

    assert done.run.status == "max_iterations"


def test_a_plain_client_can_promise_too(scene: Scene) -> None:
    assert scene.run(entry(plain(f"all is done\n{DONE}")), completion_promise="DONE").exit_code == 0


def test_a_command_must_succeed_as_well(scene: Scene) -> None:
    put(scene.project / "check.sh", "cat result; test -e good\n")
    done = scene.run(
        said(DONE, write("result", "2 failed\n")),
        said(DONE, write("good", ""), write("result", "fine")),
        completion_promise="DONE",
        verify="sh check.sh",
    )

    assert (done.exit_code, done.run.iteration) == (0, 2)
    assert "but `sh check.sh` says otherwise (exit code 1)" in scene.prompts[1]
    assert "    2 failed\n" in scene.prompts[1]
    assert "- Verified: exit code 1\n- Not done yet: `sh check.sh`" in scene.progress
    assert "- Verified: exit code 0\n" in scene.progress


def test_a_command_that_takes_too_long_says_so(scene: Scene) -> None:
    configure("ralph.verify_seconds", 1)
    scene.run(said(DONE), completion_promise="DONE", verify="sleep 60", max_iterations=1)

    assert "- Verified: it took longer than 1 s" in scene.progress


def test_ticked_items_must_pass_the_command_too(scene: Scene) -> None:
    scene.items("one")
    ticked = write("fix_plan.md", "- [x] one\n")
    done = scene.run(said("a", ticked), said("b", write("good", "")), verify="test -e good")

    assert (done.exit_code, done.run.iteration) == (0, 2)
    assert "Every item of fix_plan.md is ticked." in scene.prompts[1]


# --- checkpoint ---------------------------------------------------------------------------------


def test_the_handoff_of_the_hooks_is_given_to_the_next_client(scene: Scene) -> None:
    scene.items("one", "two")
    done = scene.run(
        entry(init(), text("half", 870_000), a_handoff(scene), result("half")),
        said(DONE),
        completion_promise="DONE",
    )

    assert scene.told.events[1] == "checkpoint 1"
    assert "checkpoint L2 at 87%, handoff .claude/handoffs/a.md" in scene.progress
    assert "half of it is done" in scene.prompts[1]
    assert "Read `.claude/handoffs/a.md`" in scene.prompts[1]
    assert "### Step 1: You are resuming" in scene.prompts[1]
    assert done.exit_code == 0
    assert scene.state["context_checkpoint"]["active"] is False
    assert [row["checkpoint"] for row in scene.state["context_history"]] == [True, False]
    [known] = handoffs.read(our_home(), str(scene.project))
    assert (known["active"], known.get("closed")) == (False, "delivered")


def test_a_full_context_without_hooks_is_handed_over_by_the_runner(scene: Scene) -> None:
    done = scene.run(
        entry(init(), tool("Edit", {"file_path": "a.py"}, 880_000), result("half")),
        said(DONE),
        completion_promise="DONE",
    )

    assert done.exit_code == 0
    assert scene.state["context_history"][0] == {
        "iteration": 1, "peak_percent": 88, "checkpoint": True,
    }  # fmt: skip
    file = scene.state["context_checkpoint"]["handoff_file"]
    assert (scene.project / file).is_file()
    assert f"`{file}`" in scene.prompts[1]
    assert "88%" in scene.prompts[1]


def test_a_context_that_was_too_full_to_go_on_is_handed_over(scene: Scene) -> None:
    full = failing("Prompt is too long", error="invalid_request", cause="prompt_too_long")
    done = scene.run(full, said(DONE), completion_promise="DONE")

    assert scene.told.events[1] == "checkpoint 1"
    assert "CONTEXT CHECKPOINT RESUME" in scene.prompts[1]
    assert done.exit_code == 0


def test_a_promise_that_is_kept_needs_no_handoff(scene: Scene) -> None:
    done = scene.run(
        entry(init(), text(DONE, 900_000), a_handoff(scene), result(DONE)),
        completion_promise="DONE",
    )

    assert done.exit_code == 0
    assert handoffs.active(our_home(), str(scene.project)) == []
    assert scene.state["context_checkpoint"]["active"] is False


def test_when_the_run_is_over_nothing_that_it_wrote_is_open(scene: Scene) -> None:
    """Nor what an earlier iteration handed over and the one behind it never took."""
    full = entry(init(), tool("Edit", {"file_path": "a.py"}, 880_000), result("half"))
    empty = entry(plain(""), tool("Edit", {"file_path": "a.py"}, 880_000))
    scene.run(full, empty, said(DONE), completion_promise="DONE")
    known = handoffs.read(our_home(), str(scene.project))

    assert len(known) == 2
    assert all(one["in_run"] and not one["active"] for one in known)


def test_what_a_run_leaves_goes_when_another_takes_its_place(scene: Scene) -> None:
    full = entry(init(), tool("Edit", {"file_path": "a.py"}, 880_000), result("half"))
    scene.run(full, completion_promise="DONE", max_iterations=1)
    [left] = handoffs.active(our_home(), str(scene.project))
    scene.run(said("a"), completion_promise="DONE", max_iterations=1)

    assert left["in_run"] is True
    assert handoffs.active(our_home(), str(scene.project)) == []


def test_a_block_that_no_client_answered_to_is_given_again(scene: Scene) -> None:
    scene.run(
        entry(init(), text("half", 870_000), a_handoff(scene), result("half")),
        LOGIN,
        completion_promise="DONE",
    )
    assert scene.state["context_checkpoint"]["active"] is True

    scene.run(said(DONE), resume=True, client_command=scene.play(said("", plain("")), said(DONE)))
    assert "half of it is done" in scene.prompts[-1]
    assert scene.state["context_checkpoint"]["active"] is False


def test_an_item_that_was_ticked_is_not_to_be_gone_on_with(scene: Scene) -> None:
    scene.items("one", "two")
    ticked = write("fix_plan.md", "- [x] one\n- [ ] two\n")
    item = {"current_todo_item": "one", "progress_on_item": "half", "next_step": "Go on with: one"}
    scene.run(
        entry(init(), text("x", 870_000), ticked, a_handoff(scene, **item), result("x")),
        said(DONE),
        completion_promise="DONE",
    )

    assert "- **Progress on it**: it is done and ticked" in scene.prompts[1]
    assert "Next step: Go on with: two" in scene.prompts[1]


def test_a_handoff_of_the_runner_counts_what_was_ticked(scene: Scene) -> None:
    scene.items("one", "two")
    ticked = write("fix_plan.md", "- [x] one\n- [ ] two\n")
    full = entry(init(), ticked, tool("Edit", {"file_path": "a.py"}, 880_000), result("half"))
    scene.run(full, max_iterations=1)
    handoff = scene.project / scene.state["context_checkpoint"]["handoff_file"]

    assert "1 of 2 are left" in handoff.read_text()


def test_when_all_is_done_nobody_is_handed_anything(scene: Scene) -> None:
    """Not even what the client that did the last of it never answered to."""
    scene.items("one")
    scene.run(
        entry(init(), text("half", 870_000), a_handoff(scene), result("half")),
        entry(plain(""), write("fix_plan.md", "- [x] one\n")),
    )

    assert scene.state["status"] == "completed"
    assert scene.state["context_checkpoint"]["active"] is False
    assert handoffs.active(our_home(), str(scene.project)) == []


def test_checkpoints_do_not_outlive_a_limit(scene: Scene) -> None:
    done = scene.run(
        entry(init(), text("half", 870_000), a_handoff(scene), result("half")), max_iterations=1
    )

    assert (done.exit_code, done.run.status) == (3, "max_iterations")
    assert scene.state["context_checkpoint"]["active"] is True
    assert scene.state["context_history"][0]["checkpoint"] is True


# --- failures -----------------------------------------------------------------------------------

FATAL = [
    pytest.param(LOGIN, "the client is not logged in", id="authentication"),
    pytest.param(
        failing("model: no-such", error="invalid_request", status=404, cause="model_not_found"),
        "the model does not exist",
        id="model",
    ),
    pytest.param(
        failing("Credit balance is too low", error="billing_error", status=400),
        "account has nothing",
        id="billing",
    ),
    pytest.param(
        entry(stderr("ENOSPC: no space left on device, write"), exit_code=1),
        "nothing can be written",
        id="disk",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("failure", "why"), FATAL)
def test_a_fatal_failure_ends_the_run_with_words(scene: Scene, failure: Entry, why: str) -> None:
    done = scene.run(failure, completion_promise="DONE")

    assert (done.exit_code, done.run.status) == (1, "fatal_error")
    assert why in done.run.reason
    assert f"- Outcome: fatal error: {why}" in scene.progress or why in scene.progress
    assert (scene.state["judged"], scene.state["context_history"]) == (0, [])


def test_a_client_that_tells_it_in_plain_words_is_understood(scene: Scene) -> None:
    told = "echo 'Invalid API key · Please run /login'; exit 1"
    done = scene.run(client_command=f"cat > /dev/null; {told}")
    assert (done.exit_code, done.run.status) == (1, "fatal_error")
    assert "not logged in" in done.run.reason


def test_a_client_that_does_not_exist_is_fatal(scene: Scene) -> None:
    done = scene.run(client_command="/no/such/client")

    assert (done.exit_code, done.run.status) == (1, "fatal_error")
    assert "cannot be run" in done.run.reason


def test_a_client_that_goes_away_is_fatal(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    program = scene.folder / "bin" / "claude"
    scene.play(said("a", ["event", {"type": "x"}]))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    program.write_text(program.read_text().replace("exec ", f"rm -f {program}; exec "))
    done = scene.run(completion_promise="DONE")

    assert (done.exit_code, done.run.status, done.run.iteration) == (1, "fatal_error", 2)
    assert "there is no `claude` on the PATH" in done.run.reason


def test_a_place_for_what_it_says_is_needed(scene: Scene, home: Path) -> None:
    put(ours(home, "ralph/transcripts"), "a file in the way of the folder")
    done = scene.run(said(DONE), completion_promise="DONE")

    assert (done.exit_code, done.run.status) == (1, "fatal_error")
    assert "nothing can be written" in done.run.reason


def test_what_was_done_before_a_fatal_failure_is_handed_over(scene: Scene) -> None:
    scene.run(entry(init(), EDIT, *LOGIN["steps"][1:], exit_code=1), completion_promise="DONE")
    done = scene.run(resume=True, client_command=scene.play(said(""), said(DONE)))

    assert (done.exit_code, done.run.iteration) == (0, 1)
    assert "CONTEXT CHECKPOINT RESUME" in scene.prompts[1]


def test_a_crash_is_an_iteration_that_went_wrong(scene: Scene) -> None:
    done = scene.run(entry(init(), exit_code=7), said(DONE), completion_promise="DONE")

    assert scene.told.events[:2] == ["started 1", "go_on 1"]
    assert "- Trouble: the client failed: exit code 7" in scene.progress
    assert (done.exit_code, done.run.iteration) == (0, 2)


def test_a_checkpoint_that_no_handoff_can_be_written_for_is_an_iteration(scene: Scene) -> None:
    put(scene.project / ".claude" / "handoffs", "a file in the way of the folder")
    full = entry(init(), tool("Edit", {"file_path": "a.py"}, 880_000), result("half"))
    done = scene.run(full, said(DONE), completion_promise="DONE")

    assert done.exit_code == 0
    assert scene.state["context_history"][0]["peak_percent"] == 88


def test_where_nothing_can_be_kept_the_run_ends_with_words(scene: Scene) -> None:
    """And not with a client that nobody watches."""
    record = Places(Workspace(str(scene.project))).record
    harm = once_noted(f"mkdir -p {record}.tmp/x")
    client = f"{harm}; {scene.play(said('a', tokens=900_000))}"
    code, _, err = scene.command("--prompt", "x", "--client-command", client)

    assert code == 1
    assert err.startswith("error: the run cannot keep what it did: ")
    assert "sisyphus ralph run --resume" in err


def test_a_client_of_a_run_that_breaks_is_ended(scene: Scene) -> None:
    record = Places(Workspace(str(scene.project))).record
    scene.items("one")
    again = [tool("Edit", {"file_path": "a.py"}, 880_000), text("x", message="m"), result("x")]
    second = once_noted(f"mkdir -p {record}.tmp/x", run=2)
    client = scene.play(entry(init(), *again), entry(init(), text("I read it"), scripted.forever()))
    code, _, err = scene.command(
        "--prompt", "x", "--client-command", f"{second}; {client}", "--completion-promise", "DONE"
    )
    [_, given] = scripted.runs(scene.folder)
    shutil.rmtree(f"{record}.tmp")
    done = scene.run(resume=True, client_command=scene.play(*[said("")] * 2, said(DONE)))

    assert (code, is_gone(given["pid"])) == (1, True)
    assert err.startswith("error: the run cannot keep what it did: ")
    assert (done.exit_code, done.run.iteration, len(scene.prompts)) == (0, 2, 3)


def test_a_fault_of_ours_is_said_and_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sisyphus.runner.stuck.count", lambda *_: 1 / 0)
    with pytest.raises(SisyphusError, match="a fault of ours ended the run: ZeroDivisionError"):
        scene.run(said("a", tokens=500), completion_promise="DONE")

    assert (scene.state["status"], scene.state["tokens"]) == ("fatal_error", 0)
    assert "ZeroDivisionError" in scene.state["reason"]


def test_a_project_that_takes_no_file_any_more_ends_it_with_words(scene: Scene) -> None:
    harm = once_noted("mv .claude aside; touch .claude")
    client = f"{harm}; {scene.play(said('a'))}"
    code, out, _ = scene.command("--prompt", "x", "--client-command", client)

    assert code == 1
    assert "Ended by a fatal error: nothing can be written to the disk: " in out
    assert out.count("is not kept up to date") == 1


HARM = [
    pytest.param("echo '{\"version\": 99}' > .claude/ralph-state.json", id="a newer version"),
    pytest.param("mkdir -p .claude/ralph-state.json.tmp/x", id="a folder in its way"),
    pytest.param("ln -sf /nowhere/x .claude/ralph-state.json", id="a link"),
]


@pytest.mark.parametrize("harm", HARM)
def test_the_copy_in_the_project_ends_no_run(scene: Scene, harm: str) -> None:
    places = Places(Workspace(str(scene.project)))
    client = f"{once_noted(harm)}; {scene.play(said('a'), said('b'), said(DONE))}"
    done = scene.run(client_command=client, completion_promise="DONE")
    [note] = scene.told.notes

    assert (done.exit_code, done.run.iteration, done.run.judged) == (0, 3, 3)
    assert "ralph-state.json is not kept up to date: " in note
    assert "ralph-state.json is not kept up to date: " in Path(debug.log_path()).read_text()
    assert store.glance(places).status == "completed"


def test_a_state_that_the_model_garbles_is_written_anew(scene: Scene) -> None:
    client = f"echo '{{' > .claude/ralph-state.json; {scene.play(said(DONE))}"
    done = scene.run(client_command=client, completion_promise="DONE")

    assert (done.exit_code, scene.state["status"]) == (0, "completed")


def test_a_link_that_the_model_puts_is_not_followed(scene: Scene, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", "theirs")
    client = f"ln -sf {outside} .claude/progress.txt; {scene.play(said('a'), said(DONE))}"
    done = scene.run(client_command=client, completion_promise="DONE")

    assert (done.exit_code, done.run.iteration) == (0, 2)
    assert "progress.txt is a link that leaves the project" in scene.told.notes[0]
    assert outside.read_text() == "theirs"


def test_an_interrupted_check_leaves_the_iteration_to_whoever_resumes(scene: Scene) -> None:
    client = scene.play(said(DONE))
    words = ("--prompt", "x", "--completion-promise", "DONE", "--client-command", client)
    process = scene.start(*words, "--verify", "touch checking; sleep 60")
    wait_for((scene.project / "checking").exists)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_SECONDS)
    done = scene.run(resume=True, verify="true")

    assert process.returncode == 130
    assert (done.exit_code, done.run.iteration, len(scene.prompts)) == (0, 1, 1)


ENDS = [
    pytest.param([signal.SIGTERM], id="asked"),
    pytest.param([signal.SIGINT, signal.SIGINT], id="asked twice"),
    pytest.param([signal.SIGQUIT], id="by the keyboard"),
    pytest.param([signal.SIGKILL], id="killed"),
]


@pytest.mark.parametrize("signals", ENDS)
def test_whatever_ends_a_check_nothing_is_counted_twice(
    scene: Scene, signals: list[signal.Signals]
) -> None:
    scene.items("implement it")
    ticked = write("fix_plan.md", "- [x] implement it\n")
    steps = [init(), text("a", 20_000), text("b", 230_000, "m2"), ticked, result("b")]
    process = scene.start(
        "--prompt", "x", "--client-command", scene.play(entry(*steps)),
        "--verify", "touch checking; sleep 60",
    )  # fmt: skip
    wait_for((scene.project / "checking").exists)
    for number in signals:
        process.send_signal(number)
    process.communicate(timeout=HANG_SECONDS)
    before = scene.state
    done = scene.run(resume=True, verify="true")

    assert (before["tokens"], before["item_costs"], before["completed_items"]) == (0, [], [])
    assert (done.exit_code, done.run.judged, len(scene.prompts)) == (0, 1, 1)
    assert done.run.tokens == 250_002
    assert done.run.item_costs == [("Medium", 21.0)]
    assert done.run.completed_items == ["implement it"]


def test_what_was_not_saved_has_not_happened(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Ctrl-C comes while an iteration is judged."""
    with monkeypatch.context() as patched:
        patched.setattr("sisyphus.runner.stuck.count", _interrupted)
        done = scene.run(said("a", tokens=500), completion_promise="DONE")
    again = scene.run(resume=True, max_iterations=1)

    assert (done.exit_code, done.run.tokens) == (130, 0)
    assert (again.run.judged, again.run.tokens, len(scene.prompts)) == (1, 501, 1)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_check_that_a_closing_terminal_ended_is_made_again(scene: Scene) -> None:
    command = "if test -e checking; then exit 0; fi; touch checking; sleep 60"
    process = scene.start(
        "--prompt", "x", "--completion-promise", "DONE", "--client-command",
        scene.play(said(DONE)), "--verify", command,
    )  # fmt: skip
    wait_for((scene.project / "checking").exists)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=HANG_SECONDS)

    assert (process.returncode, scene.state["status"], len(scene.prompts)) == (0, "completed", 1)


KEY = "ghp_" + "a1B2" * 9


def test_no_key_is_kept_where_others_read(scene: Scene) -> None:
    """Neither of an error, nor of what the model said."""
    error = entry(stderr(f"no access to https://user:{KEY}@host: sk-ant-{KEY}"), exit_code=1)
    scene.run(error, said(f"I used {KEY}"), completion_promise="DONE", max_iterations=3)
    folder = scene.project / ".claude"
    found = "".join(path.read_text() for path in folder.rglob("*") if path.is_file())

    assert KEY not in found + "".join(scene.prompts)
    assert "no access to https://" in found
    assert "I used [masked]" in found


def test_a_file_of_ours_that_is_gone_is_not_the_clients_fault(scene: Scene) -> None:
    client = f"rm -f .claude/PROMPT.md; mkdir -p .claude/PROMPT.md/x; {scene.play(said('a'))}"
    done = scene.run(client_command=client, completion_promise="DONE")

    assert (done.exit_code, done.run.iteration) == (1, 2)
    assert done.run.reason.startswith("nothing can be written to the disk: ")


def test_a_client_that_had_ended_by_itself_is_judged(scene: Scene) -> None:
    """Of another kind, that tells nothing of its end; the user did not wait for the check."""
    process = scene.start(
        "--prompt", "x", "--completion-promise", "DONE", "--client-command",
        scene.play(entry(plain(DONE))), "--verify", "touch checking; sleep 60",
    )  # fmt: skip
    wait_for((scene.project / "checking").exists)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_SECONDS)
    done = scene.run(resume=True, verify="true")

    assert (process.returncode, done.exit_code, len(scene.prompts)) == (130, 0, 1)


def test_the_session_that_the_client_tells_is_the_one(scene: Scene) -> None:
    step = a_handoff(scene, session_id="theirs")
    told = event({"type": "system", "subtype": "init", "session_id": "theirs"})
    end = event({"type": "result", "subtype": "success", "session_id": "theirs", "result": "x"})
    scene.run(entry(told, step, end), completion_promise="DONE", max_iterations=1)

    assert scene.state["context_checkpoint"]["resume_summary"] == "half of it is done"


# --- limits -------------------------------------------------------------------------------------


def test_tokens_are_a_limit(scene: Scene) -> None:
    done = scene.run(said("a", tokens=600), max_tokens=1_000)

    assert (done.exit_code, done.run.iteration) == (3, 2)
    assert done.run.reason.startswith("the limit of 1,000 tokens is reached (1,2")


def test_minutes_are_a_limit(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an iteration that takes as long as there is time, and is ended then."""
    rests = scripted.rests
    monkeypatch.setattr("sisyphus.runner.client.follow._is_over", lambda _: rests(scene.folder))
    done = scene.run(entry(init(), EDIT, scripted.forever()), max_iterations=1)

    assert done.exit_code == 3
    assert "- Trouble: the time of the iteration was over" in scene.progress
    assert scene.state["context_checkpoint"]["active"] is True


# --- breaker ------------------------------------------------------------------------------------


def test_without_progress_the_breaker_opens_with_a_handoff(scene: Scene) -> None:
    done = scene.run(said("nothing", EDIT), completion_promise="DONE")

    assert (done.exit_code, done.run.status, done.run.iteration) == (3, "circuit_breaker", 5)
    assert done.run.reason.startswith("5 iterations without progress")
    assert scene.state["no_change_count"] == 5
    assert scene.state["context_checkpoint"]["occasion"] == "breaker"
    assert (scene.project / scene.state["context_checkpoint"]["handoff_file"]).is_file()


def test_a_change_of_the_tree_is_progress(scene: Scene) -> None:
    done = scene.run(said("a", append("a.txt", "x")), completion_promise="DONE", max_iterations=6)

    assert done.run.status == "max_iterations"
    assert scene.state["no_change_count"] == 0
    assert "- Files changed: 1\n" in scene.progress


GIT = "git -c user.name=A -c user.email=a@example.org"


def test_a_commit_is_progress(scene: Scene) -> None:
    a_repository(scene.project)
    before = scene.run(said("a"), completion_promise="DONE", max_iterations=1)
    put(scene.project / "new.txt", "x")
    git(scene.project, "add", "-A")
    git(scene.project, "commit", "-qm", "x")
    scene.run(resume=True, max_iterations=2)

    assert before.run.no_change_count == 1
    assert scene.state["no_change_count"] == 0


def test_the_same_error_opens_the_breaker_too(scene: Scene) -> None:
    told = {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "E1: no such x"}
    failed = event({"type": "user", "message": {"role": "user", "content": [told]}})
    done = scene.run(said("a", append("a.txt", "x"), failed), completion_promise="DONE")

    assert (done.exit_code, done.run.status) == (3, "circuit_breaker")
    assert done.run.reason == "the same error 5 times: E1: no such x"
    assert len(set(scene.state["error_hashes"])) == 1
    assert len(scene.state["error_hashes"]) == 5


IGNORES = [pytest.param(True, id="git sees our files"), pytest.param(False, id="it does not")]


@pytest.mark.parametrize("seen", IGNORES)
@pytest.mark.parametrize(
    ("end", "why"),
    [("true", "5 iterations without progress"), ("echo no >&2; exit 7", "the same error 5 times")],
)
def test_a_commit_of_our_own_files_is_no_progress(
    scene: Scene, end: str, why: str, *, seen: bool
) -> None:
    a_repository(scene.project)
    if seen:
        put(scene.project / ".claude" / ".gitignore", "")
        git(scene.project, "add", "-A")
        git(scene.project, "commit", "-qm", "theirs")
    client = f"cat > /dev/null; git add -A; {GIT} commit -q --allow-empty -m wip; {end}"
    done = scene.run(client_command=client, completion_promise="DONE", max_iterations=8)

    assert (done.run.status, done.run.iteration) == ("circuit_breaker", 5)
    assert done.run.reason.startswith(why)
    assert (git(scene.project, "ls-files", ".claude").count("progress.txt") == 1) is seen


def test_a_breaker_is_closed_by_whoever_resumes(scene: Scene) -> None:
    scene.run(said("nothing"), completion_promise="DONE")
    done = scene.run(resume=True, client_command=scene.play(*[said("")] * 5, said(DONE)))

    assert (done.exit_code, done.run.iteration) == (0, 6)


def test_of_two_equal_items_each_counts(scene: Scene) -> None:
    scene.items("test it", "test it")
    first, both = "- [x] test it\n- [ ] test it\n", "- [x] test it\n- [x] test it\n"
    scene.run(said("a", write("fix_plan.md", first)), said("b", write("fix_plan.md", both)))

    assert scene.progress.count("; done: test it\n") == 2


# --- items --------------------------------------------------------------------------------------


def test_what_an_item_took_is_kept_by_its_size(scene: Scene) -> None:
    scene.items("implement it")
    scene.run(
        entry(
            init(), text("a", 20_000), text("b", 230_000, "m2"),
            write("fix_plan.md", "- [x] implement it\n"), result("b"),
        )
    )  # fmt: skip

    assert scene.state["item_costs"] == [{"complexity": "Medium", "percent": 21.0}]
    assert "; done: implement it" in scene.progress


def test_the_state_while_the_client_works_names_its_item(scene: Scene, tmp_path: Path) -> None:
    scene.items("one")
    copy = tmp_path / "copy.json"
    client = f"cp .claude/ralph-state.json {copy}; {scene.play(said(DONE))}"
    scene.run(client_command=client, completion_promise="DONE")
    state = json.loads(copy.read_text())

    assert (state["status"], state["in_flight"]["item"]) == ("running", "one")
    assert state["todo_items"] == ["one"]
