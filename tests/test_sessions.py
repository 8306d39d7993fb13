"""Sessions: listed, forked, wired twice, and removed when nobody has used them for long."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing

import pytest
from world import Json, World, agent, typed, user

DAY = 24 * 3600


def change(world: World, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute(statement, values)
        database.commit()


def listed(world: World, *words: str) -> list[Json]:
    sessions: list[Json] = world.cli("sessions", "--json", *words).json["sessions"]
    return sessions


# ---------------------------------------------------------------- `sisyphus sessions`


def test_sessions_are_listed_by_their_first_prompt(world: World) -> None:
    world.write("README.md", "README\n")
    world.rule("a.md", "MARK", applies_to="*.py")
    world.start("s1", transcript_path=str(world.transcript("s1")))
    world.write_down(user("Fix the *cart*,\nplease"), agent("I will."), user("and?"), session="s1")
    world.read("a.py", session="s1")
    world.start("s2", transcript_path=str(world.transcript("s2")))
    world.write_down(typed("x --max-iterations 3"), session="s2")

    first, second = listed(world)

    assert (first["session_id"], second["session_id"]) == ("s2", "s1")
    assert second["first_prompt"] == "Fix the *cart*,\nplease"
    assert first["first_prompt"] == "/ralph-wiggum:ralph-loop x --max-iterations 3"
    assert second["sent"] == {"readme": 1, "rules": 1}
    assert second["project"] == str(world.project)
    shown = world.cli("sessions").out
    assert "Fix the *cart*, please\n" in shown
    assert "sent: 1 README, 1 rule; 2 hooks acted" in shown


def test_sessions_of_several_clients_name_theirs(world: World) -> None:
    world.start()
    assert "Claude Code" not in world.cli("sessions").out
    world.hook("session-start", world.payload("SessionStart.startup", "s2"), "--client", "qwen")

    lines = world.cli("sessions").out.splitlines()

    assert [each.rpartition("  ")[2] for each in lines if not each.startswith(" ")] == [
        "Qwen Code", "Claude Code",
    ]  # fmt: skip
    assert [each["client"] for each in listed(world)] == ["qwen", "claude-code"]


def test_a_document_in_parts_counts_once(world: World) -> None:
    world.write("README.md", "".join(f"{n:04} {'word ' * 18}\n" for n in range(300)))
    world.start()
    world.drain()

    assert listed(world)[0]["sent"] == {"readme": 1}


def test_a_session_is_named_by_what_the_user_wanted(world: World) -> None:
    """The client's own commands say nothing. One that a hook has answered is not in the transcript
    as a prompt."""
    answered = (
        "UserPromptSubmit operation blocked by hook:\nNone.\n\nOriginal prompt: /checkpoint hi"
    )
    tags = "<command-name>/clear</command-name>\n<command-args></command-args>"
    for session, lines in {
        "s1": [user(tags), user("Fix the cart")],
        "s2": [{"type": "system", "content": answered}],
        "s3": [user(tags)],
    }.items():
        world.start(session, transcript_path=str(world.transcript(session)))
        world.write_down(*lines, session=session)

    prompts = {row["session_id"]: row["first_prompt"] for row in listed(world)}

    assert prompts == {"s1": "Fix the cart", "s2": "/checkpoint hi", "s3": ""}


def test_only_this_projects_sessions_are_listed_without_all(world: World) -> None:
    world.start("s1")
    other = world.new_project("other")

    assert world.cli("sessions", "--project", other).out == "No session of this project yet.\n"
    assert [row["session_id"] for row in listed(world, "--all", "--project", str(other))] == ["s1"]


def test_the_session_that_was_used_last_comes_first(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    world.start("s1")
    world.start("s2")
    world.read("a.py", session="s1")

    assert [row["session_id"] for row in listed(world)] == ["s1", "s2"]


def test_a_session_below_the_root_is_told_the_project_once(world: World) -> None:
    folder = world.project / "deep" / "down"
    folder.mkdir(parents=True)

    said = [world.start(session, cwd=str(folder)).message for session in ("s1", "s2")]

    assert said == [f"The project is {world.project}.", ""]
    assert world.start("s3").message == ""


def test_a_session_without_a_transcript_is_listed(world: World) -> None:
    world.start("s1", transcript_path="/nowhere")
    world.hook("session-end", world.payload("SessionEnd.other"))

    assert [(row["first_prompt"], row["state"]) for row in listed(world)] == [("", "ended")]
    assert "(no prompt yet)" in world.cli("sessions").out
    assert world.why()[-1]["notes"] == ["session ended"]


def test_why_takes_the_first_characters_of_an_id(world: World) -> None:
    world.start("abc-1")
    world.start("abd-2")

    assert world.cli("why", "--session-id", "abc").out.startswith("Session abc-1\n")
    assert (
        "Several sessions start with ab: abd-2, abc-1." in world.cli("why", "--session", "ab").err
    )


# ---------------------------------------------------------------- forks


def fork(world: World) -> None:
    """The client forks s1 as s2; it copies the transcript when the model has answered."""
    world.start("s2", "fork", transcript_path=str(world.transcript("s2")))
    world.transcript("s2").write_bytes(world.transcript("s1").read_bytes())


def test_a_fork_does_not_get_again_what_its_parent_got(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    world.start("s1", transcript_path=str(world.transcript("s1")))
    world.write_down(user("go"), session="s1")
    world.read("a.py", session="s1")
    fork(world)

    reply = world.read("a.py", session="s2", transcript_path=str(world.transcript("s2")))

    assert reply.text == ""
    assert "a fork of session s1" in str(world.why("s2"))


def test_a_fork_gets_the_texts_that_waited_for_its_parent(world: World) -> None:
    world.write("README.md", "".join(f"{n:04} {'word ' * 18}\n" for n in range(300)))
    first = world.start("s1", transcript_path=str(world.transcript("s1"))).text
    world.write_down(user("go"), session="s1")
    fork(world)
    world.tool("Bash", {}, "s2", transcript_path=str(world.transcript("s2")))

    rest = "".join(world.drain("s2"))

    assert "0000 word" in first
    assert "0299 word" in rest


def test_a_fork_is_one_after_a_resume_too(world: World) -> None:
    """It answered once, without tools, and was resumed: its parent was not found yet."""
    world.write("README.md", "".join(f"{n:04} {'word ' * 18}\n" for n in range(300)))
    world.start("s1", transcript_path=str(world.transcript("s1")))
    world.write_down(user("go"), session="s1")
    fork(world)

    resumed = world.start("s2", "resume", transcript_path=str(world.transcript("s2")))
    world.tool("Bash", {}, "s2", transcript_path=str(world.transcript("s2")))

    assert "0000 word" not in resumed.text
    assert "0299 word" in "".join(world.drain("s2"))


def test_a_fork_does_not_have_what_its_parent_got_later(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    world.start("s1", transcript_path=str(world.transcript("s1")))
    world.write_down(user("go"), session="s1")
    fork(world)
    world.read("a.py", session="s1")

    reply = world.read("a.py", session="s2", transcript_path=str(world.transcript("s2")))

    assert "MARK" in reply.text


def test_a_fork_adopts_no_loop_after_a_compaction_either(world: World) -> None:
    world.write_down(user("go"), typed("x --completion-promise DONE"), agent("hm"), session="s1")
    fork(world)
    world.start("s2", "compact", transcript_path=str(world.transcript("s2")))

    assert world.stop(session="s2").is_silent


def test_a_fork_of_an_unknown_session_gets_its_rules(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    world.write_down(user("go"), session="s1")
    fork(world)

    reply = world.read("a.py", session="s2", transcript_path=str(world.transcript("s2")))

    assert "MARK" in reply.text


# ---------------------------------------------------------------- plugin and settings


def as_plugin(world: World, is_plugin: bool = True) -> None:
    """Lets the plugin run the next hooks, or the settings."""
    world.setenv("CLAUDE_PLUGIN_ROOT", "/plugins/sisyphus" if is_plugin else "")


@pytest.mark.parametrize("plugin_first", [True, False])
def test_if_wired_twice_the_settings_answer_and_the_user_reads_it_once(
    world: World, plugin_first: bool
) -> None:
    world.write("README.md", "README\n")
    world.rule("a.md", "MARK", applies_to="*.py")
    replies = []
    for is_plugin in (plugin_first, not plugin_first):
        as_plugin(world, is_plugin)
        replies.append(world.start())

    assert ["README" in reply.text for reply in replies] == [True, False]
    assert "wired twice" in replies[1].message
    as_plugin(world)
    assert world.read("a.py").is_silent
    as_plugin(world, False)
    assert "MARK" in world.read("a.py").text
    world.start("s2")
    as_plugin(world)
    assert world.start("s2").message == ""


def test_the_plugin_answers_again_after_an_uninstall(world: World) -> None:
    """The session was wired twice; the user ran `sisyphus uninstall` and resumes it."""
    world.rule("a.md", "MARK", applies_to="*.py")
    world.start()
    as_plugin(world)
    world.start()
    change(world, "UPDATE session SET started_at = started_at - 60")

    world.start(source="resume")

    assert "MARK" in world.read("a.py").text


def test_the_plugin_alone_answers(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    as_plugin(world)

    assert "twice" not in world.start().message
    assert "MARK" in world.read("a.py").text


# ---------------------------------------------------------------- retention


def age(world: World, days: float) -> None:
    """Makes everything in the store so much older."""
    for table, column in (
        ("session", "seen_at"), ("session", "started_at"), ("chore", "at"), ("plan", "used_at"),
        ("loop", "started_at"), ("loop", "ended_at"),
    ):  # fmt: skip
        change(world, f"UPDATE {table} SET {column} = {column} - ?", days * DAY)


def test_rows_and_files_of_old_sessions_are_removed_at_a_start(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    world.start("old")
    world.read("a.py", session="old")
    exported = world.ours / "rules-injector" / "session-old.json"
    assert exported.exists()
    age(world, 31)

    world.start("new")

    assert [row["session_id"] for row in listed(world)] == ["new"]
    assert not exported.exists()
    assert world.why("old") == []


def test_open_plans_and_running_loops_stay(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.start("old")
    world.loop(session="old")
    age(world, 300)

    world.start("new")

    assert len(world.loops()) == 1
    assert "old" in {row["session_id"] for row in listed(world)}
    assert world.plan()["plan_name"] == "Kiln"
    assert world.plan()["state"] == "stale"


def test_retention_runs_once_a_day(world: World) -> None:
    world.start("first")
    age(world, 0.5)
    change(world, "UPDATE session SET seen_at = 0")
    world.start("second")
    assert len(listed(world)) == 2
    age(world, 0.6)

    world.start("third")

    assert [row["session_id"] for row in listed(world)] == ["third", "second"]


def test_the_user_and_no_project_sets_how_long_sessions_are_kept(world: World) -> None:
    world.ours.mkdir(parents=True)
    (world.ours / "config.toml").write_text("[state]\nkeep_days = 0\n")
    world.write(".claude/sisyphus.toml", "[state]\nkeep_days = 1\n")
    world.start("old")
    age(world, 5_000)

    world.start("new")

    assert len(listed(world)) == 2


def test_files_that_a_killed_process_left_half_written_are_removed(world: World) -> None:
    world.start("old")
    age(world, 2)
    stale, fresh = (world.ours / f"a.json.{pid}.tmp" for pid in (12_345, 12_346))
    for file in (stale, fresh):
        file.write_text("{")
    os.utime(stale, (time.time() - DAY,) * 2)

    world.start("new")

    assert (stale.exists(), fresh.exists()) == (False, True)


def test_the_earlier_part_of_the_log_stays(world: World) -> None:
    world.start("old")
    age(world, 2)
    log = world.write(world.ours / "logs" / "debug.log.1")
    os.utime(log, (time.time() - DAY,) * 2)

    world.start("new")

    assert log.exists()
