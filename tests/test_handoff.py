"""A full context: each level is told once, and the work is handed over."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from world import World, agent, result, typed, use, user

from sisyphus.door import statusline

PLAN = "# Kiln\n\n- [x] wash\n- [ ] fire\n- [ ] glaze\n"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
LARGE, SMALL = "claude-opus-5-5", "claude-sonnet-4-5-20250929"


def told(world: World, session: str = "s1", **fields: object) -> str:
    """The model has run a command; returns what it and its user are told."""
    reply = world.work(session, **fields)
    return f"{reply.text}\n{reply.message}".strip()


def begin(world: World, session: str = "s1", source: str = "startup") -> str:
    reply = world.start(session, source)
    return f"{reply.text}\n{reply.message}"


def end(world: World, session: str = "s1") -> None:
    world.hook("session-end", world.payload("SessionEnd.other", session))


def documents(world: World) -> list[Path]:
    return sorted((world.project / ".claude" / "handoffs").glob("*.md"))


@pytest.fixture
def plan(world: World) -> None:
    world.write("PLAN.md", PLAN)
    begin(world)


# ---------------------------------------------------------------- levels


@pytest.mark.parametrize("model", [LARGE, SMALL, f"{SMALL}[1m]"])
@pytest.mark.parametrize(
    ("percent", "mark"),
    [(69, ""), (70, "CCS_WARNING|L1|70|"), (72, "CCS_WARNING|L1|72|"),
     (85, "CCS_CHECKPOINT_TRIGGERED|L2|85|"), (96, "CCS_CHECKPOINT_TRIGGERED|L3|96|")],
)  # fmt: skip
@pytest.mark.usefixtures("plan")
def test_each_level_has_a_mark(world: World, model: str, percent: int, mark: str) -> None:
    world.fill(percent, model)

    said = told(world)

    assert (mark in said) if mark else said == ""


@pytest.mark.usefixtures("plan")
def test_each_level_is_told_once_until_usage_falls_below_it(world: World) -> None:
    world.fill(72)
    assert "L1" in told(world)
    assert told(world) == ""
    world.fill(87)
    assert "L2" in told(world)
    assert told(world) == ""
    world.fill(30)
    assert told(world) == ""
    world.fill(72)
    assert "L1" in told(world)


@pytest.mark.usefixtures("plan")
def test_the_user_sees_no_marks(world: World) -> None:
    for percent in (72, 87, 96):
        world.fill(percent)
        message = world.work().message
        assert f"{percent} %" in message
        assert "CCS_" not in message


def test_a_session_without_work_is_only_informed(world: World) -> None:
    begin(world)
    for percent in (72, 87, 96):
        world.fill(percent)
        said = told(world)
        assert f"{percent} %" in said
        assert "CCS_" not in said
    assert documents(world) == []


@pytest.mark.usefixtures("plan")
def test_a_subagent_and_a_setting_are_silent(world: World) -> None:
    world.fill(90)
    assert told(world, agent_id="a1") == ""
    world.write(world.ours / "config.toml", "[handoff]\nenabled = false\n")
    assert told(world) == ""


@pytest.mark.usefixtures("plan")
def test_the_percentages_are_settings(world: World) -> None:
    world.write(
        world.ours / "config.toml", "[handoff]\nwarn_percent = 20\ncheckpoint_percent = 0\n"
    )
    world.fill(21)
    assert "L1" in told(world)
    world.fill(90)
    assert told(world) == ""


@pytest.mark.usefixtures("plan")
def test_after_a_compaction_the_usage_is_unknown(world: World) -> None:
    world.fill(90)
    told(world)
    world.write_down({"type": "system", "subtype": "compact_boundary"})
    begin(world, source="compact")
    assert told(world) == ""
    assert "not known" in world.cli("context").out
    world.fill(90)
    assert "L2" in told(world)


@pytest.mark.parametrize(
    "line",
    ['{"type": "assistant", "message": {"usage": "much"}}', '{"usage"', "[]", "\x00\xff",
     '{"type": "assistant", "message": {"usage": {"input_tokens": true}}}',
     '{"type": "assistant", "isSidechain": true, "message": {"usage": {"input_tokens": 990000}}}'],
)  # fmt: skip
@pytest.mark.usefixtures("plan")
def test_odd_lines_of_a_transcript_are_skipped(world: World, line: str) -> None:
    world.fill(72)
    with world.transcript().open("a") as file:
        file.write(f"{line}\n")

    assert "CCS_WARNING|L1|72|" in told(world)


@pytest.mark.usefixtures("plan")
def test_a_long_result_leaves_the_level_as_it_is(world: World) -> None:
    world.fill(87)
    told(world)
    world.write_down(result("x" * 300_000))
    assert world.cli("context", "--json").json["percent"] == 87
    world.write_down(*(result("x" * 1_000_000) for _ in range(5)))
    assert told(world) == ""
    assert world.cli("context", "--json").json["percent"] is None
    world.fill(88)
    assert told(world) == ""


@pytest.mark.usefixtures("plan")
def test_odd_numbers_and_ids_are_skipped(world: World) -> None:
    message = {"id": {}, "content": "x", "usage": {"input_tokens": 10**30}}
    world.write_down({"type": "assistant", "message": message})
    assert told(world) == ""
    assert world.cli("handoff").code == 0
    assert world.log() == ""


# ---------------------------------------------------------------- the document


@pytest.mark.usefixtures("plan")
def test_at_the_second_level_a_handoff_is_written(world: World) -> None:
    world.write("kiln.py", "heat = 1\n")
    world.write_down(
        user("Build the kiln."),
        agent(use("Edit", "t1", file_path=str(world.project / "kiln.py"), new_string="heat = 1")),
        result("ok", "t1"),
        agent("I decided to use gas instead of wood, because wood smokes."),
    )
    world.fill(87)

    said = told(world)

    (document,) = documents(world)
    text = document.read_text()
    assert f"CCS_CHECKPOINT_TRIGGERED|L2|87|.claude/handoffs/{document.name}" in said
    for part in ("Build the kiln.", "kiln.py", "gas instead of wood", "1 of 3 tasks", "fire"):
        assert part in text
    assert (document.parent / ".gitignore").read_text().endswith("*\n")
    assert document.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("plan")
def test_what_the_agent_said_before_its_last_call_is_passed_on(world: World) -> None:
    """A level is told after a call, and the agent may end right there."""
    said = "The kiln is dry. Now I'll fire it with gas."
    edit = use("Edit", "t1", file_path=str(world.write("kiln.py", "x\n")), new_string="x")
    message = {
        "content": [edit], "usage": {"cache_read_input_tokens": 870_000}, "model": LARGE,
    }  # fmt: skip
    world.write_down(user("Build it."), agent(said), {"type": "assistant", "message": message})
    world.write_down(result("ok", "t1"))
    told(world)
    (document,) = documents(world)
    over = agent("I have added what was decided to the handoff. I stop here.")
    world.write_down(agent(use("Edit", "t2", file_path=str(document), new_string="x")), over)
    later = time.time() + 5
    os.utime(world.transcript(), (later, later))
    end(world)

    line = "- **Next step**: Go on with: fire\n- **Said last**: “The kiln is dry. Now I'll fire it"
    assert line in document.read_text()
    assert line in begin(world, "s2")


@pytest.mark.usefixtures("plan")
def test_a_link_in_the_project_leads_the_handoff_nowhere_else(world: World) -> None:
    outside = world.root / "outside"
    outside.mkdir()
    (world.project / ".claude").mkdir(exist_ok=True)
    (world.project / ".claude" / "handoffs").symlink_to(outside)
    world.fill(87)

    told(world)

    assert list(outside.iterdir()) == []
    (document,) = (world.ours / "projects").rglob("*.md")
    assert document.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("ends", "commits", "part", "not_part"),
    [
        (False, False, "go on", "60 seconds"),
        (True, False, "60 seconds", "Commit"),
        (False, True, "`ralph: checkpoint iter 1 (L2 at 87%)`", "60 seconds"),
    ],
)
def test_what_the_model_has_to_do(
    world: World, ends: bool, commits: bool, part: str, not_part: str
) -> None:
    world.write(
        world.ours / "config.toml",
        f"[handoff]\nends_session = {str(ends).lower()}\nwip_commit = {str(commits).lower()}\n",
    )
    begin(world)
    world.loop()
    world.fill(87)

    said = told(world)

    assert part in said
    assert not_part not in said


def test_what_was_written_is_there(world: World) -> None:
    """A project that lets us write nothing gets its handoffs in our folder; if that is no folder
    either, we say so."""
    world.write("PLAN.md", PLAN)
    world.write(".claude", "no folder\n")
    begin(world)
    world.fill(87)

    said = told(world)

    (document,) = (world.ours / "projects").rglob("*.md")
    assert document.name in said
    shutil.rmtree(world.ours / "projects")
    world.write(world.ours / "projects", "no folder\n")
    world.fill(96)
    said = told(world)
    assert "No handoff could be written" in said
    assert "CCS_CHECKPOINT" not in said
    assert "No handoff could be written" in world.cli("handoff").err


@pytest.mark.usefixtures("plan")
def test_a_refused_call_did_not_happen(world: World) -> None:
    world.write("a.py", "x\n")
    file = str(world.project / "a.py")
    world.write_down(
        user("Clean up"),
        agent("I'll push.", use("Bash", "t1", command="git push --force")),
        user(result("No.", is_error=True)["message"]["content"], toolDenialKind="user-rejected"),
        agent(use("Edit", "t2", file_path=file, new_string="x")),
        result(f"{REFUSED} STOP.", "t2", is_error=True),
        agent("I'll drop the table.", use("Bash", "t3", command="psql -c drop")),
        user("[Request interrupted by user]"),
    )
    world.cli("handoff")

    (document,) = documents(world)
    text = document.read_text()
    for part in ("push", "drop", "1 edit", "Errors"):
        assert part not in text
    assert "Go on with: fire" in text


@pytest.mark.usefixtures("plan")
def test_a_later_document_names_the_earlier_one(world: World) -> None:
    """Each one by one step, whether it was given or not; none is a file to resume."""
    world.fill(87)
    told(world)
    (first,) = documents(world)
    first.write_text("The agent's words.\n")
    world.write_down(
        agent(use("Edit", "t1", file_path=str(first), new_string="The agent's words."))
    )
    world.fill(96)
    told(world)
    (second,) = (file for file in documents(world) if file != first)
    assert f"**Earlier handoff**: .claude/handoffs/{first.name}" in second.read_text()
    assert "edit" not in second.read_text()
    assert first.name in begin(world, source="compact")
    world.write_down(agent(use("Edit", "t2", file_path="a.py", new_string="x")))
    world.hook("pre-compact", world.payload("PreCompact.manual"))
    (third,) = (file for file in documents(world) if file not in (first, second))
    assert second.name in third.read_text()
    end(world)
    begin(world, "s2")
    world.fill(87, session="s2")
    told(world, "s2")
    (fourth,) = (file for file in documents(world) if file not in (first, second, third))
    assert third.name in fourth.read_text()


@pytest.mark.usefixtures("plan")
def test_the_task_of_a_long_session_is_its_first_prompt(world: World) -> None:
    world.write_down(
        typed("opus", "model"), user("<local-command-stdout>Set</local-command-stdout>")
    )
    world.write_down(user("Build the kiln."))
    world.write_down(*(result("x" * 1_000_000) for _ in range(11)))
    world.write_down(user("Yes."))
    world.cli("handoff")

    (document,) = documents(world)
    assert "## Task\n\n> Build the kiln.\n" in document.read_text()
    assert "Set" not in document.read_text()


# ---------------------------------------------------------------- where it goes


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize("how", ["ticked", "cleared", "deleted"])
def test_a_handoff_whose_work_has_ended_is_not_given(world: World, how: str) -> None:
    world.fill(87)
    told(world)
    if how == "ticked":
        world.edit("PLAN.md", "- [ ] fire", "- [x] fire")
        world.edit("PLAN.md", "- [ ] glaze", "- [x] glaze")
    elif how == "cleared":
        world.cli("boulder", "clear")
    else:
        documents(world)[0].unlink()
    end(world)

    assert "CONTEXT CHECKPOINT RESUME" not in begin(world, "s2")
    assert "Open Handoff" not in world.cli("context", "--session-id", "s1").out


def test_a_handoff_of_a_loop_that_has_ended_is_not_given(world: World) -> None:
    begin(world)
    world.loop()
    world.prompt()
    world.fill(87)
    told(world)
    world.write_down(user("Go on."))
    world.stop("<promise>DONE</promise>")
    end(world)

    assert "CONTEXT CHECKPOINT RESUME" not in begin(world, "s2")


@pytest.mark.usefixtures("plan")
def test_what_happened_after_it_was_written_counts(world: World) -> None:
    failing = agent(use("Bash", "t1", command="pytest"))
    world.write_down(user("Fire the kiln"), failing, result("1 failed", is_error=True))
    world.fill(87)
    told(world)
    passing = agent(use("Bash", "t2", command="pytest"))
    world.write_down(passing, result("9 passed", "t2"), user("Use no gas."), agent("I see."))
    world.write_down(agent("Next, I'll glaze the pot."))
    later = time.time() + 5
    os.utime(world.transcript(), (later, later))
    (document,) = documents(world)
    before = document.read_text()
    end(world)

    said = begin(world, "s2")

    assert "Continue here: Next, I'll glaze the pot." in said
    assert "Use no gas." in said
    assert "Fails" not in said
    assert document.name in said
    assert document.read_text() == before


@pytest.mark.usefixtures("plan")
def test_a_transcript_that_is_gone_changes_nothing(world: World) -> None:
    world.write_down(user("Fire the kiln"))
    world.fill(87)
    told(world)
    world.transcript().unlink()
    end(world)

    assert "**Task**: Fire the kiln" in begin(world, "s2")


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize("source", ["startup", "clear"])
@pytest.mark.parametrize("answered", [False, True])
def test_a_session_without_an_answer_has_not_taken_it(
    world: World, source: str, answered: bool
) -> None:
    world.setenv("CLAUDE_PID", "1")
    begin(world)
    world.fill(87)
    told(world)
    end(world)
    assert "CONTEXT CHECKPOINT RESUME" in begin(world, "s2", source)
    if answered:
        world.fill(3, session="s2")
    end(world, "s2")

    assert ("CONTEXT CHECKPOINT RESUME" in begin(world, "s3", source)) is not answered


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize("source", ["compact", "resume"])
def test_the_session_itself_gets_its_handoff_once(world: World, source: str) -> None:
    world.fill(87)
    told(world)

    said = begin(world, source=source)

    assert "CONTEXT CHECKPOINT RESUME" in said
    assert "This session goes on from the handoff .claude/handoffs/" in said
    assert "CONTEXT CHECKPOINT RESUME" not in begin(world, source=source)


@pytest.mark.usefixtures("plan")
def test_after_a_clear_the_same_process_gets_it(world: World) -> None:
    world.setenv("CLAUDE_PID", "1")
    begin(world, "s2")
    world.fill(87, session="s2")
    told(world, "s2")

    assert "CONTEXT CHECKPOINT RESUME" in begin(world, "s3", source="clear")


@pytest.mark.usefixtures("plan")
def test_a_startup_gets_it_only_if_its_session_is_over(world: World) -> None:
    world.fill(87)
    told(world)

    assert "CONTEXT CHECKPOINT RESUME" not in begin(world, "s2")
    world.hook("session-end", world.payload("SessionEnd.other"))
    assert "CONTEXT CHECKPOINT RESUME" in begin(world, "s3")
    assert "CONTEXT CHECKPOINT RESUME" not in begin(world, "s4")


@pytest.mark.usefixtures("plan")
def test_a_compaction_hands_over_below_every_level(world: World) -> None:
    world.fill(30)

    world.hook("pre-compact", world.payload("PreCompact.manual"))

    assert len(documents(world)) == 1
    assert "CONTEXT CHECKPOINT RESUME" in begin(world, source="compact")


@pytest.mark.parametrize("kind", ["loop", "hold"])
def test_work_that_no_longer_moves_on_is_handed_over(world: World, kind: str) -> None:
    world.write("PLAN.md", PLAN)
    begin(world)
    if kind == "loop":
        world.loop(prompt="Fire the kiln")
    else:
        world.cli("boulder", "hold", "on")
    for number in range(4):
        world.write_down(agent(use("Bash", f"t{number}", command="ls")))
        assert world.stop().reason
    assert documents(world) == []

    assert world.stop().reason == ""

    (document,) = documents(world)
    assert "**Why**: The work no longer moved on" in document.read_text()
    assert f"wrote the handoff .claude/handoffs/{document.name}" in str(world.why()[-1])
    assert world.stop().reason == ""
    assert documents(world) == [document]
    end(world)
    assert document.name in begin(world, "s2")


def test_a_loop_that_ends_at_a_limit_is_not_called_stuck(world: World) -> None:
    world.loop("--max-iterations", "5")
    for _ in range(5):
        world.stop()

    assert world.ended()
    assert documents(world) == []


def test_no_handoff_of_stuck_work_is_written_where_they_are_switched_off(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\nenabled = false\n")
    world.loop()
    for _ in range(4):
        assert world.stop().reason

    assert world.stop().reason == ""
    assert documents(world) == []


def test_a_compaction_without_work_writes_nothing(world: World) -> None:
    begin(world)
    world.fill(90)
    world.hook("pre-compact", world.payload("PreCompact.manual"))

    assert documents(world) == []


def test_a_loop_ends_its_session_at_the_checkpoint_if_the_user_wants_that(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\nends_session = true\n")
    begin(world)
    world.loop()
    assert world.stop().reason
    world.fill(87)
    told(world)

    reply = world.stop()
    assert reply.reason == ""
    assert "waits at a checkpoint, with the handoff .claude/handoffs/" in reply.message
    assert world.stop().message == ""
    assert world.loops()[0]["status"] == "active"
    (waiting,) = world.cli("status", "--json").json["waiting"]
    assert (waiting["kind"], waiting["session_id"]) == ("checkpoint", "s1")
    begin(world, source="resume")
    assert world.stop().reason
    assert world.cli("status", "--json").json["waiting"] == []


def test_enforcement_leaves_a_full_context_alone(world: World) -> None:
    world.write("PLAN.md", PLAN)
    begin(world)
    world.cli("enforce", "on")
    world.fill(96)
    told(world)

    assert world.stop("All done. The work is complete.").reason == ""
    assert "the context is nearly full" in str(world.why()[-1])


def test_a_loop_goes_on_over_its_checkpoint(world: World) -> None:
    begin(world)
    world.loop()
    world.fill(87)
    told(world)

    assert world.stop().reason


@pytest.mark.usefixtures("plan")
def test_the_model_may_complete_its_own_open_handoff_alone(world: World) -> None:
    world.fill(87)
    told(world)
    (document,) = documents(world)
    other = world.write(".claude/handoffs/other.md")

    assert world.permit(document).json["hookSpecificOutput"]["decision"]["behavior"] == "allow"
    assert world.permit(other).is_silent
    assert world.permit(document, mode="default").is_silent
    assert world.permit(document, tool="Bash").is_silent
    world.write_down(agent(use("Edit", "t1", file_path="a.py", new_string="x")))
    world.cli("handoff")
    assert world.permit(document).json, "the agent was told of it"
    (document,) = (each for each in documents(world) if each not in (document, other))
    assert world.permit(document).json
    begin(world, source="compact")
    assert world.permit(document).is_silent, "it was given away"


# ---------------------------------------------------------------- commands


@pytest.mark.usefixtures("plan")
def test_context_shows_how_full_it_is(world: World) -> None:
    world.fill(67)

    answer = world.cli("context")
    data = world.cli("context", "--json").json

    for part in ("Current Context: 67 %", "L0 (Normal)", "330,000 of 1,000,000", "fire", "85 %"):
        assert part in answer.out
    assert (data["percent"], data["level"], data["tokens_left"]) == (67, "L0", 330_000)


NO_WORK = (
    "No handoff will be written: the session has no loop and no open plan. `sisyphus handoff` "
    "writes one."
)


@pytest.mark.parametrize(
    ("settings", "percent", "has_plan", "advice"),
    [
        ("", 30, True, "Safe to continue. A handoff is written at 85 %."),
        ("", 70, True, "Finish what is in progress. A handoff is written at 85 %."),
        ("", 87, True, "The context is nearly full: type /clear, and go on from the handoff."),
        ("", 30, False, f"Safe to continue. {NO_WORK}"),
        ("", 87, False, f"The context is nearly full: finish what is in progress. {NO_WORK}"),
        ("checkpoint_percent = 0", 70, True,
         "Finish what is in progress. A handoff is written at 95 %."),
        ("checkpoint_percent = 0\nemergency_percent = 0", 70, True,
         "Finish what is in progress. No handoff will be written: the settings say so."),
        ("enabled = false", 30, True,
         "Safe to continue. No handoff will be written: the settings say so."),
    ],
)  # fmt: skip
def test_the_recommendation_knows_what_is_written(
    world: World, settings: str, percent: int, has_plan: bool, advice: str
) -> None:
    if has_plan:
        world.write("PLAN.md", PLAN)
    world.write(world.ours / "config.toml", f"[handoff]\n{settings}\n")
    begin(world)
    world.fill(percent)
    told(world)

    assert world.cli("context", "--json").json["recommendation"] == advice


@pytest.mark.usefixtures("plan")
def test_a_level_that_is_off_is_not_counted(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\ncheckpoint_percent = 0\n")
    world.fill(96)
    assert "CCS_CHECKPOINT_TRIGGERED|L3|96|" in told(world)


@pytest.mark.usefixtures("plan")
def test_a_handoff_is_filed_in_the_project_of_its_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = world.new_project("other")
    monkeypatch.chdir(other)

    assert world.cli("handoff", "--session-id", "s1").code == 0

    assert len(documents(world)) == 1
    assert list(other.rglob("*.md")) == []


@pytest.mark.usefixtures("plan")
def test_a_handoff_promises_nothing_if_it_is_switched_off(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\nenabled = false\n")
    said = world.cli("handoff").out
    assert "No session gets it by itself" in said
    assert "next session" not in said


@pytest.mark.parametrize(
    ("item", "complexity"),
    [
        ("fire", "Medium"),
        ("Implement the 404 page", "Medium"),
        ("rewrite all 12 parsers", "Medium"),
        ("fire (trivial)", "Trivial"),
        ("fire (Very Complex)", "Very Complex"),
        ("fire [S]", "Simple"),
        ("[L] fire", "Complex"),
        ("fire [XL]", "Very Complex"),
        ("[P] [US1] fire", "Medium"),
        ("see [L](notes.md)", "Medium"),
        ("fire ~49 LOC", "Trivial"),
        ("fire ~50 LOC", "Simple"),
        ("fire ~150 lines", "Medium"),
        ("fire ~300 LOC", "Complex"),
        ("fire ~1,200 LOC", "Very Complex"),
    ],
)
def test_an_items_size_is_known_by_its_mark(world: World, item: str, complexity: str) -> None:
    world.write("PLAN.md", f"# Kiln\n\n- [ ] {item}\n")
    begin(world)
    world.fill(20)

    data = world.cli("context", "--json").json

    assert (data["item"], data["complexity"]) == (item, complexity)
    assert data["iterations_left"] is None


@pytest.mark.parametrize(
    ("item", "percent", "advice"),
    [
        ("fire (complex)", 50, "Safe to continue. "),
        ("fire (complex)", 51,
         "The next item needs about 40 to 60 % of a context, and 49 % is left: checkpoint before "
         "you begin it. To checkpoint, run `sisyphus handoff` and type /clear."),
        ("fire (complex)", 75, "Finish what is in progress. The next item needs about 40 to 60 %"),
        ("fire ~600 lines", 5,
         "The next item needs about 60 to 100 % of a context: split it before you begin it."),
        ("fire", 67, "Safe to continue. "),
        ("fire [XS]", 75, "Finish what is in progress. A handoff is written at 85 %."),
    ],
)  # fmt: skip
def test_the_recommendation_knows_the_items_size(
    world: World, item: str, percent: int, advice: str
) -> None:
    world.write("PLAN.md", f"# Kiln\n\n- [ ] {item}\n")
    begin(world)
    world.fill(percent)

    said = world.cli("context", "--json").json["recommendation"]

    assert said.startswith(advice)
    assert said in world.cli("context").out


def test_the_open_handoff_is_the_checkpoint(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire (complex)\n")
    begin(world)
    world.fill(65)
    world.cli("handoff")

    said = world.cli("context", "--json").json["recommendation"]

    assert said.endswith("To checkpoint, type /clear, and go on from the handoff.")


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ("fire (complex)", "and 28 % is left: checkpoint before you begin it."),
        ("fire (very complex)", "about 60 to 100 % of a context: split it before you begin it."),
        ("fire (simple)", ""),
    ],
)
def test_the_warning_knows_the_items_size(world: World, item: str, line: str) -> None:
    world.write("PLAN.md", f"# Kiln\n\n- [ ] {item}\n")
    begin(world)
    world.fill(72)

    text = told(world)

    assert "CCS_WARNING|L1|72|" in text
    assert line in text
    assert ("The next item" in text) == bool(line)


MISFIT = "The next item needs about 40 to 60 % of a context, and 33 % is left: checkpoint before"


def test_an_item_that_does_not_fit_is_told_before_it_begins(world: World) -> None:
    """When the one before it is ticked, once, to the model and its user."""
    world.write("PLAN.md", "# Kiln\n\n- [ ] wash\n- [ ] fire (complex)\n- [ ] glaze\n")
    begin(world)
    world.prompt()
    world.fill(67)

    reply = world.edit("PLAN.md", "- [ ] wash", "- [x] wash")

    assert f"The context is 67 % full. {MISFIT}" in reply.text
    assert f"Context: 67 % of 1,000,000 tokens are used. {MISFIT}" in reply.message
    world.write("notes.md", "x\n")
    said = told(world) + world.edit("PLAN.md", "glaze", "glaze it").text + world.prompt().text
    assert "The next item" not in said
    reply = world.edit("PLAN.md", "- [ ] fire", "- [x] fire")
    assert "The next item" not in reply.text


@pytest.mark.parametrize(
    ("item", "percent", "part"),
    [
        ("fire (complex)", 67, MISFIT),
        ("fire (complex)", 49, ""),
        ("fire", 67, ""),
        ("fire (simple)", 69, ""),
        ("fire (very complex)", 60, "about 60 to 100 % of a context: split it before you begin it"),
    ],
)
def test_a_prompt_may_begin_an_item_that_does_not_fit(
    world: World, item: str, percent: int, part: str
) -> None:
    world.write("PLAN.md", f"# Kiln\n\n- [ ] {item}\n")
    begin(world)
    world.fill(percent)

    reply = world.prompt(text="Go on with the plan.")

    assert part in reply.text
    assert ("The next item" in reply.text) == bool(part)
    assert "The next item" not in world.prompt(text="Go on.").text


def test_what_does_not_fit_is_told_at_a_level_alone_if_that_is_new(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] wash\n- [ ] fire (complex)\n")
    begin(world)
    world.fill(72)

    text = world.edit("PLAN.md", "- [ ] wash", "- [x] wash").text

    assert text.count("The next item") == 1
    assert "The next item" not in world.prompt().text


def test_the_first_task_of_another_plan_that_it_writes_is_not_measured(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] wash\n")
    begin(world)
    world.fill(67)

    reply = world.create("docs/kord/plans/glaze.md", "# Glaze\n\n- [ ] fire (complex)\n")

    assert world.plan()["plan_name"] == "Glaze"
    assert "The next item" not in reply.text + reply.message


def test_where_handoffs_are_switched_off_no_item_is_measured(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\nenabled = false\n")
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire (complex)\n")
    begin(world)
    world.fill(67)

    assert "The next item" not in world.prompt().text


@pytest.mark.parametrize(
    ("plan", "step"),
    [
        ("- [x] dry\n- [ ] fire\n", "Continue here: Go on with: fire"),
        ("- [x] dry\n- [x] fire\n", "Continue here: Look whether the work is whole"),
    ],
)
def test_what_the_same_calls_have_ticked_is_done(world: World, plan: str, step: str) -> None:
    tasks = "- [ ] dry\n- [ ] fire\n"
    world.write("PLAN.md", f"# Kiln\n\n{tasks}")
    begin(world)
    world.prompt(text="dry and fire")
    world.fill(87)
    world.edit("PLAN.md", tasks, plan)

    text = documents(world)[0].read_text()

    assert step in text
    assert "Go on with: dry" not in text


def test_context_without_a_session_or_an_answer(world: World) -> None:
    assert "No session of this project yet" in world.cli("context").out
    assert world.cli("context", "--json").out == "null\n"
    assert world.cli("handoff").code == 1
    begin(world)
    assert "not known" in world.cli("context").out


THERE_IS = (
    "There is `/sisyphus:ralph context`, `/sisyphus:ralph checkpoint`, `/sisyphus:ralph list`."
)


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("/sisyphus:ralph context", "Current Context: 67 %"),
        ("/sisyphus:ralph-context", "Current Context: 67 %"),
        ("/sisyphus:ralph checkpoint", "Handoff: .claude/handoffs/"),
        ("/sisyphus:ralph-checkpoint", "Handoff: .claude/handoffs/"),
        ("/sisyphus:ralph", "No loop is running."),
        ("/sisyphus:ralph list", "No loop is running."),
        ("/sisyphus:ralph nonsense", f"There is no `/sisyphus:ralph nonsense`. {THERE_IS}"),
        ("/sisyphus:ralph status", f"There is no `/sisyphus:ralph status`. {THERE_IS}"),
        ("/sisyphus:ralph checkpoint now",
         f"There is no `/sisyphus:ralph checkpoint now`. {THERE_IS}"),
        ("/sisyphus:ralph context --json", '"percent": 67'),
        ("/sisyphus:enforce maybe", "There is `/sisyphus:enforce on`, "),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("plan")
def test_slash_commands_answer_without_the_model(world: World, typed: str, part: str) -> None:
    world.fill(67)

    assert part in world.prompt(text=typed).json["reason"]


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("/sisyphus:ralph-context", "Current Context: 41 %"),
        ("/sisyphus:ralph-checkpoint", "Context: 41 %"),
    ],
)
def test_a_typed_command_reads_the_transcript_of_its_payload(
    world: World, typed: str, part: str
) -> None:
    """The client may have moved it since the session started."""
    world.fill(67)
    world.fill(41, session="moved")
    moved = str(world.transcript("moved"))

    assert part in world.prompt(text=typed, transcript_path=moved).json["reason"]


@pytest.mark.usefixtures("plan")
def test_a_handoff_on_request_ends_nothing(world: World) -> None:
    world.fill(72)

    answer = world.cli("handoff")

    (document,) = documents(world)
    assert f"Handoff: .claude/handoffs/{document.name}" in answer.out
    assert "Context: 72 %" in answer.out
    assert "CONTEXT CHECKPOINT RESUME" in begin(world, source="resume")


@pytest.mark.usefixtures("plan")
def test_a_handoff_of_a_plan_that_is_complete_is_not_given(world: World) -> None:
    world.fill(30)
    world.write("PLAN.md", PLAN.replace("[ ]", "[x]"))
    world.stop()

    assert "No session gets it by itself: its work has ended." in world.cli("handoff").out

    end(world)
    assert "CONTEXT CHECKPOINT RESUME" not in begin(world, "s2")


def _hand_over(world: World, way: str) -> None:
    if way == "command":
        assert world.cli("handoff").code == 0
    elif way == "compaction":
        world.hook("pre-compact", world.payload("PreCompact.manual"))
    else:
        world.fill(int(way))
        told(world)


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("command", "command"), ("compaction", "compaction"), ("command", "compaction"),
        ("compaction", "command"), ("command", "87"), ("87", "compaction"), ("87", "96"),
    ],
)  # fmt: skip
def test_a_handoff_that_says_the_same_is_not_written_again(
    world: World, first: str, second: str
) -> None:
    world.fill(30)
    _hand_over(world, first)
    (document,) = documents(world)
    text = document.read_text()

    _hand_over(world, second)

    assert documents(world) == [document]
    assert document.read_text() == text
    said = begin(world, source="compact")
    assert document.name in said
    assert "What was noted before" not in said, "it is not its own earlier handoff"
    _hand_over(world, "compaction")
    assert documents(world) == [document]
    assert document.name in begin(world, source="compact"), "given again"


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize("what", ["work", "the agent's words"])
def test_a_handoff_that_says_something_else_stands_beside_the_first(
    world: World, what: str
) -> None:
    world.fill(30)
    _hand_over(world, "compaction")
    (first,) = documents(world)
    if what == "work":
        world.write_down(agent(use("Edit", "t1", file_path="a.py", new_string="x")))
    else:
        first.write_text(first.read_text() + "\nThe kiln leaks.\n")
    text = first.read_text()

    _hand_over(world, "command")

    (second,) = (file for file in documents(world) if file != first)
    assert first.read_text() == text
    assert f"**Earlier handoff**: .claude/handoffs/{first.name}" in second.read_text()


@pytest.mark.usefixtures("plan")
def test_a_level_is_told_again_after_usage_has_fallen(world: World) -> None:
    for percent in (87, 40, 87):
        world.fill(percent)
        said = told(world)

    assert "CCS_CHECKPOINT_TRIGGERED|L2|87|" in said
    assert len(documents(world)) == 2


@pytest.mark.usefixtures("plan")
def test_a_checkpoint_counts_if_its_handoff_was_there_before(world: World) -> None:
    world.write(world.ours / "config.toml", "[handoff]\nends_session = true\n")
    world.loop()
    world.fill(30)
    _hand_over(world, "command")
    _hand_over(world, "87")

    assert len(documents(world)) == 1
    assert "waits at a checkpoint" in world.stop().message


def test_the_status_lines_window_counts(world: World) -> None:
    world.write("PLAN.md", PLAN)
    begin(world)
    payload = {
        "session_id": "s1",
        "cwd": str(world.project),
        "context_window": {"context_window_size": 500_000, "current_usage": {"input_tokens": 1}},
    }
    statusline.run([], io.BytesIO(json.dumps(payload).encode()), io.StringIO(), io.StringIO())
    world.fill(40)

    assert "CCS_WARNING|L1|80|" in told(world)
