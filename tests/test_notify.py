"""The user's own command: what it is told, and that nobody waits for it."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from patience import wait_for
from world import World, agent

from sisyphus.ground import processes
from sisyphus.sessions import notify
from sisyphus.sessions.notify import Notice

PLAN = "# Kiln\n\n- [ ] stack\n- [ ] fire\n"


@pytest.fixture
def inbox(world: World) -> Path:
    """The folder in which the user's command puts what it gets: JSON and variables."""
    folder = world.root / "inbox"
    folder.mkdir()
    name = f'"{folder}/$$"'
    set_command(world, f"env > {name}.env; cat > {name}.new; mv {name}.new {name}.json")
    return folder


def set_command(world: World, command: str) -> None:
    world.write(world.ours / "config.toml", f"[notify]\ncommand = '''{command}'''\n")


def arrived(inbox: Path, number: int = 1) -> list[dict[str, Any]]:
    """The notices, when there are so many of them."""
    wait_for(lambda: len(list(inbox.glob("*.json"))) >= number, "the command was not run")
    found = sorted(inbox.glob("*.json"), key=os.path.getmtime)
    return [json.loads(file.read_text()) for file in found]


def notices(world: World, inbox: Path) -> list[dict[str, Any]]:
    """All notices until now, and for a second more."""
    time.sleep(1)
    return [json.loads(file.read_text()) for file in inbox.glob("*.json")]


def variables(inbox: Path) -> dict[str, str]:
    (file,) = inbox.glob("*.env")
    return dict(line.partition("=")[::2] for line in file.read_text().splitlines() if "=" in line)


@pytest.mark.parametrize(
    ("options", "last", "kind", "title", "why"),
    [
        ((), "<promise>DONE</promise>", "completion", "Loop completed", "the promise was said"),
        (("--max-iterations", "1"), "So far.", "ended", "Loop ended", "iteration 1 was the last"),
        ((), "<blocked>a key</blocked>", "blocked", "The agent needs you", "a key"),
    ],
)
def test_the_command_is_told_how_a_loop_went(
    world: World, inbox: Path, options: tuple[str, ...], last: str, kind: str, title: str, why: str
) -> None:
    loop = world.loop(*options, prompt="Fix the kiln.")
    world.stop(last)

    (notice,) = arrived(inbox)

    number = "" if options else ", iteration 1 of 100"  # else the reason says it
    assert notice == {
        "kind": kind, "title": title, "project": str(world.project), "session": "s1", "loop": loop,
        "text": f"Ralph loop {loop}{number}: {why}. Task: Fix the kiln.",
        "iteration": 1,
    }  # fmt: skip
    found = variables(inbox)
    for name, value in notice.items():
        assert found[f"SISYPHUS_{name.upper()}"] == str(value)


def test_a_loop_that_the_breaker_stops_is_paused(world: World, inbox: Path) -> None:
    world.loop()
    for _ in range(7):
        world.stop("Hm.", stop_hook_active=True)

    (notice,) = arrived(inbox)

    assert (notice["kind"], notice["title"]) == ("paused", "Loop paused")
    assert "5 iterations without any change" in notice["text"]
    assert notice["iteration"] == 5


def test_a_loop_that_was_done_before_the_next_one_is_sent(world: World, inbox: Path) -> None:
    loop = world.loop()
    world.prompt(text="go")
    world.write_down(agent("<promise>DONE</promise>"))
    world.skill("sisyphus:ralph-loop", "More. --completion-promise MORE")
    world.stop("Hm.")

    (notice,) = arrived(inbox)

    assert (notice["kind"], notice["loop"]) == ("completion", loop)


def test_a_question_is_sent_once(world: World, inbox: Path) -> None:
    world.loop("--wait-for-user")
    for _ in range(2):
        assert not world.stop("Which database should I use?").reason
    (notice,) = notices(world, inbox)

    assert notice["kind"] == "question"
    assert notice["text"] == "Session s1 asks: Which database should I use?"
    assert notice["loop"] == ""


def test_the_end_of_a_hold_and_its_rest_are_sent(world: World, inbox: Path) -> None:
    world.create("PLAN.md", PLAN)
    world.start()
    assert world.cli("boulder", "hold", "on").code == 0
    world.stop("<blocked>clay</blocked>")

    (rest,) = arrived(inbox)
    world.prompt(text="Here it is.")
    world.edit("PLAN.md", "[ ] stack", "[x] stack")
    world.edit("PLAN.md", "[ ] fire", "[x] fire")
    world.stop("Both are fired.")

    assert (rest["kind"], rest["title"]) == ("blocked", "The agent needs you")
    assert [each["title"] for each in arrived(inbox, 2)][1] == "Hold completed"


def test_what_an_enforced_session_needs_is_sent(world: World, inbox: Path) -> None:
    world.start()
    assert world.cli("enforce", "on").code == 0
    world.stop("<blocked>a key</blocked>")

    (notice,) = arrived(inbox)

    assert (notice["kind"], notice["text"]) == ("blocked", "Session s1 needs you: a key")


def test_a_turn_that_failed_is_sent_if_perhaps_nobody_watches(world: World, inbox: Path) -> None:
    failure = "Credit balance is too low"
    world.cli("ralph", "pause", world.loop(session="s2"))
    world.hook("stop-failure", world.stop_payload(failure, "s2"))
    world.loop()
    world.hook("stop-failure", world.stop_payload(failure))

    (notice,) = notices(world, inbox)

    assert (notice["kind"], notice["title"], notice["session"]) == (
        "failure", "A turn failed", "s1",
    )  # fmt: skip
    assert notice["text"] == f"Session s1 stopped: its last turn failed: {failure}"


def test_what_goes_on_or_is_done_by_the_user_sends_nothing(world: World, inbox: Path) -> None:
    loop = world.loop()
    assert world.stop("So far.").reason
    world.cli("ralph", "pause", loop)
    world.cli("ralph", "resume", loop)
    world.cli("ralph", "cancel", loop)
    world.stop("So far.", session="s2")

    assert notices(world, inbox) == []


def test_a_session_that_ends_at_its_checkpoint_is_sent(world: World, inbox: Path) -> None:
    config = world.ours / "config.toml"
    config.write_text(f"{config.read_text()}[handoff]\nends_session = true\n")
    world.loop()
    world.fill(87)

    world.stop()

    (notice,) = arrived(inbox)
    assert (notice["kind"], notice["title"]) == ("checkpoint", "Loop waits at a checkpoint")


def test_a_key_in_a_question_is_masked(world: World, inbox: Path) -> None:
    world.loop("--wait-for-user")

    world.stop("Is password=hunter2hunter2 right?")

    (notice,) = arrived(inbox)
    assert "hunter2" not in json.dumps(notice)


def test_a_hostile_task_is_data(world: World, inbox: Path) -> None:
    task = "$(touch ~/owned) `touch ~/owned` '; touch ~/owned #\"\x1b[2J\n@/etc/passwd"
    world.loop(prompt=task)
    world.stop("<promise>DONE</promise>")

    (notice,) = arrived(inbox)

    assert notice["text"].endswith(
        "Task: $(touch ~/owned) `touch ~/owned` '; touch ~/owned #\" [2J"
    )
    assert variables(inbox)["SISYPHUS_TEXT"] == notice["text"]
    assert not (world.home / "owned").exists()


def test_the_client_s_variables_are_not_passed_on(world: World, inbox: Path) -> None:
    world.loop()
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    world.setenv("CLAUDE_CONFIG_DIR", str(world.claude))
    world.setenv("SISYPHUS_RULES_ENABLED", "1")
    world.stop("<promise>DONE</promise>")
    arrived(inbox)

    found = variables(inbox)

    assert found["CLAUDE_CONFIG_DIR"] == str(world.claude)
    assert found["PWD"] == str(world.home), "it does not run in the project"
    assert not {"CLAUDE_CODE_SESSION_ID", "SISYPHUS_RULES_ENABLED"} & set(found)


def test_a_command_that_hangs_delays_no_hook(world: World) -> None:
    world.loop()
    set_command(world, f"touch {world.root}/began; sleep 60")
    begin = time.monotonic()

    assert "[RALPH LOOP COMPLETE]" in world.stop("<promise>DONE</promise>").message
    assert time.monotonic() - begin < 5
    wait_for((world.root / "began").exists)


def test_the_command_and_its_children_are_killed(world: World) -> None:
    file = world.root / "pids"
    notice = Notice("completion", "Loop completed", "x", str(world.project))

    for command in (f"sleep 60 & echo $! >> {file}", f"echo $$ >> {file}; sleep 60"):
        begin = time.monotonic()
        notify.run(command, notice, 1)
        assert 0.9 < time.monotonic() - begin < 5

    for pid in map(int, file.read_text().split()):
        assert not is_running(pid)


def is_running(pid: int) -> bool:
    """A process that nobody has waited for is not running."""
    return processes.key(pid) != ""


def test_what_it_leaves_may_finish(world: World) -> None:
    notice = Notice("completion", "Loop completed", "x", str(world.project))

    done = notify.run(f"(sleep 0.5; echo y > {world.root}/late) & echo x", notice)

    assert (done.code, done.output) == (0, "x\n")
    assert (world.root / "late").exists()


def test_a_command_that_fails_is_one_line_in_the_log(world: World) -> None:
    notice = Notice("completion", "Loop completed", "x", str(world.project))
    notify.run_and_log("echo no network >&2; exit 7", notice)

    assert re.search(r"^\S+ notify.command exited 7: no network$", world.log(), re.MULTILINE)


def test_a_project_cannot_name_the_command(world: World, inbox: Path) -> None:
    (world.ours / "config.toml").unlink()
    world.write(".claude/sisyphus.toml", f"[notify]\ncommand = 'touch {inbox}/x.json'\n")
    world.loop()
    world.stop("<promise>DONE</promise>")

    time.sleep(0.5)
    assert not list(inbox.iterdir())


# ---------------------------------------------------------------- notify test


def test_the_test_runs_the_command_in_the_foreground(world: World, inbox: Path) -> None:
    set_command(world, "echo got $SISYPHUS_KIND; cat")

    shown = world.cli("notify", "test")

    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[:2] == ["notify.command: echo got $SISYPHUS_KIND; cat", "got completion"]
    assert json.loads(lines[2])["project"] == str(world.project)
    assert lines[3:] == ["It exited with 0."]


def test_the_test_says_what_went_wrong(world: World) -> None:
    set_command(world, "echo oops >&2; exit 3")
    shown = world.cli("notify", "test")
    assert (shown.code, shown.out.splitlines()[1:]) == (1, ["oops", "It exited with 3."])


@pytest.mark.slow
def test_the_test_does_not_hang(world: World) -> None:
    set_command(world, "echo so far; sleep 60")

    shown = world.cli("notify", "test")

    assert shown.code == 1
    assert "so far" in shown.out
    assert "The command was killed after 10 s." in shown.err


def test_without_a_command_the_test_says_how_to_set_it(world: World) -> None:
    shown = world.cli("notify", "test")

    assert shown.code == 0
    assert "notify.command is empty. Set it in ~/.claude/.sisyphus/config.toml" in shown.out
    assert "[notify]\ncommand = " in shown.out


@pytest.mark.parametrize("need", ["who pays?", "Pay!", "the key"])
def test_a_sentence_has_one_end(world: World, inbox: Path, need: str) -> None:
    loop = world.loop(prompt="Fix the kiln.")
    world.stop(f"<blocked>{need}</blocked>")

    (notice,) = arrived(inbox)

    end = "." if need == "the key" else ""
    assert notice["text"] == (
        f"Ralph loop {loop}, iteration 1 of 100: {need}{end} Task: Fix the kiln."
    )
