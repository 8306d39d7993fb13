"""What waits for the user: open dialogs, questions, loops that are not active."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from test_statusline import line
from world import Reply, World

PLAN = "# Kiln\n\n- [ ] stack\n- [ ] fire\n"


def waiting(world: World, seconds: float = 60) -> list[dict[str, Any]]:
    """What waits for the user after so many seconds."""
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as store, store:
        store.execute("UPDATE session SET dialog_at = dialog_at - ?", (seconds,))
    found: list[dict[str, Any]] = world.cli("status", "--json").json["waiting"]
    return found


def kinds(world: World, seconds: float = 60) -> list[str]:
    return [each["kind"] for each in waiting(world, seconds)]


def ask(world: World, tool: str = "Bash", session: str = "s1", **fields: object) -> Reply:
    """The client opens a dialog: may the tool run?"""
    values = {"command": "make deploy"}
    payload = world.payload("PermissionRequest.Write", session, tool_name=tool, tool_input=values)
    return world.hook("permission-request", {**payload, **fields})


@contextmanager
def client(world: World, status: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """A client's process, in which all sessions run; it says that it has a status."""
    with subprocess.Popen(["sleep", "60"]) as process:
        world.setenv("CLAUDE_PID", str(process.pid))
        if status:
            state = json.dumps({"pid": process.pid, "status": status})
            world.write(world.claude / "sessions" / f"{process.pid}.json", state)
        yield process
        process.kill()
    world.setenv("CLAUDE_PID", "")


# ---------------------------------------------------------------- dialogs


def test_a_dialog_of_an_unattended_session_waits_after_ten_seconds(world: World) -> None:
    world.loop()
    assert ask(world).is_silent

    assert kinds(world, 5) == []
    (each,) = waiting(world, 5.5)
    assert each["text"] == "Session s1 in project asks for your permission to use Bash: make deploy"
    assert each["answer"] == "Answer the dialog in its terminal."
    assert (each["kind"], each["session_id"], each["project"], each["loop_id"]) == (
        "dialog", "s1", str(world.project), None,
    )  # fmt: skip
    assert each["since"].endswith("Z")


def hold(world: World) -> None:
    world.create("PLAN.md", PLAN)
    world.start()
    assert world.cli("boulder", "hold", "on").code == 0


def enforce(world: World) -> None:
    world.start()
    assert world.cli("enforce", "on").code == 0


LOW = "Credit balance is too low"


def fail(world: World, error: str = LOW, session: str = "s1") -> Reply:
    """The model's service has ended the turn."""
    return world.hook("stop-failure", world.stop_payload(error, session))


@pytest.mark.parametrize("begin", [World.loop, hold, enforce])
def test_a_turn_that_failed_waits_for_a_prompt(
    world: World, begin: Callable[[World], object]
) -> None:
    begin(world)
    assert fail(world).is_silent

    (each,) = waiting(world)
    assert (each["kind"], each["session_id"]) == ("failure", "s1")
    assert each["text"] == f"Session s1 stopped: its last turn failed: {LOW}"
    assert each["answer"] == "Your next prompt there makes it go on."

    world.prompt(text="Paid.")
    assert kinds(world) == []


@pytest.mark.parametrize("event", ["stop", "prompt"])
def test_the_next_turn_takes_a_failure_back(world: World, event: str) -> None:
    world.loop()
    fail(world)
    assert kinds(world) == ["failure"]

    getattr(world, event)()

    assert kinds(world) == []


def test_a_prompt_takes_a_failure_back_though_its_loop_is_gone(world: World) -> None:
    loop = world.loop()
    fail(world)
    world.cli("ralph", "cancel", loop)
    world.prompt(text="Paid.")

    world.loop()

    assert kinds(world) == []


def test_a_failure_that_its_user_watches_does_not_wait(world: World) -> None:
    world.start()
    fail(world)
    assert kinds(world) == []

    loop = world.loop()
    world.cli("ralph", "pause", loop)
    fail(world)
    assert kinds(world) == ["paused"]


def test_the_list_and_the_status_line_show_a_failure(world: World) -> None:
    world.loop()
    fail(world)

    assert "loop 1/100 failed" in line(world)
    assert f"its last turn failed: {LOW}. Your next prompt" in world.cli("ralph", "list").out
    world.stop()
    assert "loop 2/100" in line(world)
    assert "failed" not in line(world) + world.cli("ralph", "list").out


def interrupt(world: World) -> Reply:
    """The user breaks off the turn."""
    return world.hook("interrupt", world.stop_payload(None))


def test_the_list_and_the_status_line_show_an_interruption(world: World) -> None:
    world.loop()
    assert interrupt(world).is_silent

    assert "loop 1/100 interrupted" in line(world)
    assert "You interrupted its agent." in world.cli("ralph", "list").out
    assert kinds(world) == ["prompt"]
    world.prompt()
    assert "interrupted" not in line(world) + world.cli("ralph", "list").out


@pytest.mark.parametrize("begin", [hold, enforce])
def test_an_interruption_without_a_loop_is_no_news(
    world: World, begin: Callable[[World], object]
) -> None:
    begin(world)
    interrupt(world)

    assert kinds(world) == []
    assert ("hold 1/100 interrupted" in line(world)) == (begin is hold)


def test_a_need_outlives_an_interruption(world: World) -> None:
    hold(world)
    world.stop("<blocked>the key</blocked>")

    interrupt(world)

    assert kinds(world) == ["rests"]


@pytest.mark.parametrize("begin", [hold, enforce])
def test_so_does_one_of_a_session_under_a_hold_or_enforcement(
    world: World, begin: Callable[[World], None]
) -> None:
    begin(world)
    ask(world)

    assert kinds(world) == ["dialog"]


def test_a_dialog_that_its_user_watches_is_not_noted(world: World) -> None:
    loop = world.loop()
    world.cli("ralph", "pause", loop)
    before = (world.ours / "sisyphus.db").stat().st_mtime_ns

    assert ask(world).is_silent
    assert ask(world, agent_id="a1").is_silent
    assert ask(world, session="s2").is_silent

    assert (world.ours / "sisyphus.db").stat().st_mtime_ns == before
    assert kinds(world) == ["paused"]


EVENTS: dict[str, Callable[[World], Reply]] = {
    "a quiet tool": lambda world: world.tool("Bash", {"command": "make"}),
    "a prompt": lambda world: world.prompt(),
    "a Stop": lambda world: world.stop(),
    "a start": lambda world: world.start(source="resume"),
}


@pytest.mark.parametrize("name", EVENTS)
def test_the_next_event_shows_that_it_was_answered(world: World, name: str) -> None:
    world.loop()
    ask(world)

    EVENTS[name](world)

    assert kinds(world) == []


def test_a_quiet_event_writes_only_while_a_dialog_is_open(world: World) -> None:
    world.loop()
    ask(world)
    for is_written in (True, False):
        before = (world.ours / "sisyphus.db").stat().st_mtime_ns
        assert world.tool("Bash", {"command": "make"}).is_silent
        assert ((world.ours / "sisyphus.db").stat().st_mtime_ns != before) is is_written


def test_another_request_leaves_it_open(world: World) -> None:
    """Tools of one answer ask in parallel."""
    world.loop()
    ask(world)
    ask(world, "WebFetch")

    (each,) = waiting(world)
    assert "WebFetch" in each["text"]


def test_so_does_a_notification_of_it(world: World) -> None:
    world.loop()
    ask(world)
    fields = {"hook_event_name": "Notification", "message": "Claude needs your permission."}
    world.hook("notification", world.payload("Stop", **fields))

    assert kinds(world) == ["dialog"]


def test_one_that_opens_during_a_check_stays_open(world: World) -> None:
    world.loop("--verify", f'{sys.executable} -c "{OPEN}" {world.ours / "sisyphus.db"}')
    world.stop("<promise>DONE</promise>")

    assert kinds(world) == ["dialog"]


def test_so_does_one_that_another_gave_way_to(world: World) -> None:
    world.loop("--verify", f'{sys.executable} -c "{OPEN}" {world.ours / "sisyphus.db"}')
    ask(world, "WebFetch")
    world.stop("<promise>DONE</promise>")

    (each,) = waiting(world)
    assert "make" in each["text"]


OPEN = (
    "import sqlite3, sys, time; store = sqlite3.connect(sys.argv[1]); "
    "store.execute('UPDATE session SET dialog = ?, dialog_at = ?', ('Bash: make', time.time())); "
    "store.commit(); sys.exit(1)"
)
"""A check during which the client asks for permission, as a subagent's tool may."""


def test_what_we_allow_ourselves_opens_no_dialog(world: World) -> None:
    world.create(".claude/PLAN.md", PLAN)
    world.start()
    world.loop()
    assert not world.permit(".claude/PLAN.md").is_silent

    assert kinds(world) == []


def test_a_dialog_of_a_subagent_counts(world: World) -> None:
    world.loop()
    ask(world, agent_id="a1")
    world.tool("Bash", {"command": "make"})
    assert kinds(world) == ["dialog"], "the session itself works on"
    assert waiting(world)[0]["session_id"] == "s1"

    world.tool("Bash", {"command": "make"}, agent_id="a1")
    assert kinds(world) == []

    ask(world, agent_id="a1")
    world.prompt()
    assert kinds(world) == [], "nobody can type while it is open"


def test_a_dialog_goes_with_its_process(world: World) -> None:
    with client(world):
        world.loop()
        world.prompt()
        ask(world)
        assert kinds(world) == ["dialog"]

    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as store, store:
        store.execute("UPDATE session SET seen_at = 0")
    (each,) = waiting(world)
    assert (each["kind"], each["since"]) == ("left", "1970-01-01T00:00:00Z")


@pytest.mark.parametrize(("status", "is_open"), [("waiting", True), ("busy", False)])
def test_the_client_says_whether_it_is_open(world: World, status: str, *, is_open: bool) -> None:
    """No event says that a dialog was answered, and the tool may run for an hour."""
    with client(world, status):
        world.loop()
        ask(world)

        assert kinds(world) == ["dialog"] * is_open


def test_a_tools_name_is_shown_on_one_line(world: World) -> None:
    world.loop()
    ask(world, "mcp__x\x1b[2J\n" + "y" * 500)

    (each,) = waiting(world)
    assert "\n" not in each["text"]
    assert "\x1b" not in world.cli("status").out
    assert len(each["text"]) < 200


# ---------------------------------------------------------------- loops, questions, rests


def test_a_loop_that_is_not_active_waits(world: World) -> None:
    loop = world.loop()
    world.cli("ralph", "pause", loop)

    (each,) = waiting(world)

    assert each["kind"] == "paused"
    assert each["text"] == f"Ralph loop {loop} is paused: you paused it"
    assert each["answer"] == f"Run `sisyphus ralph resume {loop}` to continue."
    assert (each["session_id"], each["loop_id"]) == ("s1", loop)
    world.cli("ralph", "resume", loop)
    assert kinds(world) == []


def test_a_paused_hold_waits_and_is_of_no_session(world: World) -> None:
    hold(world)
    world.cli("ralph", "pause")

    (each,) = waiting(world)
    assert (each["kind"], each["session_id"]) == ("paused", None)


def test_a_blocked_loop_waits_for_a_prompt(world: World) -> None:
    world.loop()
    world.stop("<blocked>a key for the kiln</blocked>")

    (each,) = waiting(world)
    assert each["kind"] == "blocked"
    assert "needs you: a key for the kiln" in each["text"]
    assert each["answer"] == "Your next prompt resumes it."
    world.prompt(text="Here it is.")
    assert kinds(world) == []


def test_a_stuck_loop_waits(world: World) -> None:
    world.loop()
    for _ in range(6):
        world.stop("Hm.")

    assert kinds(world) == ["stuck"]


def test_of_nested_loops_the_current_one_is_listed(world: World) -> None:
    world.loop()
    world.skill("sisyphus:ralph-loop", '"a part" --completion-promise PART')
    world.stop("<blocked>a key</blocked>")

    (each,) = waiting(world)
    assert each["kind"] == "blocked"


def test_a_loop_behind_another_asks_for_nothing(world: World) -> None:
    outer = world.loop(prompt="The whole.")
    world.skill("sisyphus:ralph-loop", '"a part" --completion-promise PART')
    world.cli("ralph", "pause", outer)

    assert kinds(world) == []
    assert f"Run `sisyphus ralph resume {outer}` to continue." in world.cli("ralph", "list").out


def test_a_session_that_rests_under_a_hold_waits(world: World) -> None:
    hold(world)
    world.stop("<blocked>clay</blocked>")

    (each,) = waiting(world)
    assert (each["kind"], each["session_id"]) == ("rests", "s1")
    assert each["text"] == "Session s1 needs you: clay"
    world.cli("boulder", "hold", "off")
    assert kinds(world) == [], "nobody is held any more"


def test_a_question_waits_for_its_answer(world: World) -> None:
    loop = world.loop("--wait-for-user")
    world.stop("Which database should I use?")

    (each,) = waiting(world)
    assert (each["kind"], each["text"]) == (
        "question", "Session s1 asks: Which database should I use?",
    )  # fmt: skip
    world.cli("ralph", "cancel", loop)
    assert kinds(world) == [], "its user watches it now"


def test_an_answer_ends_the_question(world: World) -> None:
    world.loop("--wait-for-user")
    world.stop("Which database should I use?")
    world.prompt(text="The small one.")

    assert kinds(world) == []


def test_a_session_that_has_ended_leaves_its_loop_alone(world: World) -> None:
    loop = world.loop("--wait-for-user")
    world.stop("Which database should I use?")
    ask(world)
    world.hook("session-end", world.payload("SessionEnd.other"))

    (each,) = waiting(world)

    assert (each["kind"], each["loop_id"]) == ("left", loop)
    assert f"sisyphus ralph resume {loop} --session-id ID" in each["answer"]
    world.start(source="resume")
    assert kinds(world) == ["question"], "nobody has answered it"


# ---------------------------------------------------------------- status


def test_status_shows_what_waits_here_and_where_else(world: World) -> None:
    loop = world.loop()
    world.cli("ralph", "pause", loop)
    ask(world)
    other = world.new_project("other")
    os.chdir(other)
    world.hook("session-start", world.payload("SessionStart.startup", "s2", cwd=str(other)))
    away = world.loop(session="s2")
    world.cli("ralph", "pause", away)

    there = world.cli("status").out.splitlines()
    here = world.cli("status", "--project", world.project).out.splitlines()

    assert here[1:3] == ["Waiting for you:", f"    Ralph loop {loop} is paused: you paused it"]
    assert here[3].startswith("        since 20")
    assert here[3].endswith(f". Run `sisyphus ralph resume {loop}` to continue.")
    elsewhere = "Waiting for you in other projects: 1 ({}). `sisyphus status --all` shows it."
    assert here[4] == elsewhere.format(other)
    assert f"    Ralph loop {away} is paused: you paused it" in there
    assert elsewhere.format(world.project) in there


# ---------------------------------------------------------------- the notice


@pytest.mark.slow
def test_a_dialog_that_nobody_answers_is_sent_to_the_users_command(world: World) -> None:
    file = world.root / "notice.json"
    world.write(world.ours / "config.toml", f"[notify]\ncommand = '''cat > {file}'''\n")
    world.loop()
    world.loop(session="s2")
    ask(world, session="s2")
    world.tool("Bash", {"command": "make"}, session="s2")  # answered at once
    begin = time.monotonic()
    ask(world)
    assert time.monotonic() - begin < 5

    while not (text := file.read_text() if file.exists() else ""):
        assert time.monotonic() - begin < 40
        time.sleep(0.1)

    assert time.monotonic() - begin > 9
    notice = json.loads(text)
    assert (notice["kind"], notice["title"]) == ("dialog", "Permission needed")
    text = "Session s1 in project asks for your permission to use Bash: make deploy"
    assert notice["text"] == text
    assert (notice["session"], notice["project"]) == ("s1", str(world.project))


@pytest.mark.parametrize(
    ("tool", "values", "shown"),
    [
        ("Write", {"file_path": "/x/a.py"}, "Write: /x/a.py"),
        ("WebFetch", {"url": "https://x.test/", "prompt": "p"}, "WebFetch: https://x.test/"),
        (
            "Bash",
            {"command": f"cat <<E\n\x1b[31m{'y' * 200}\nE"},
            f"Bash: cat <<E [31m{'y' * 107}…",
        ),
        ("mcp__db__drop", {"table": "t"}, "mcp__db__drop"),
        ("Bash", {"command": ["x"]}, "Bash"),
        ("Bash", "x", "Bash"),
    ],
)
def test_a_dialog_says_on_one_line_what_it_asks_for(
    world: World, tool: str, values: object, shown: str
) -> None:
    world.loop()
    ask(world, tool, tool_input=values)

    (each,) = waiting(world)
    assert each["text"] == f"Session s1 in project asks for your permission to use {shown}"


def test_a_loop_that_is_resumed_while_its_session_is_idle_waits_for_a_prompt(world: World) -> None:
    id = world.loop()
    world.stop("<blocked>a key</blocked>")
    world.cli("ralph", "resume", id)

    (found,) = waiting(world)
    assert (found["kind"], found["loop_id"]) == ("prompt", id)
    assert found["answer"] == 'Type "go on" in session s1.'
    world.prompt(text="go on")
    assert kinds(world) == []
