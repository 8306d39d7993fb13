"""What people who run such loops have complained about, as statements that hold here."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from making import COMMAND, a_space, configure, finish, ours, put, run_hook, start_hook, stored
from ralph.lines import (
    add,
    continued,
    expanded,
    prompt,
    result,
    said,
    skill,
    thought,
    typed,
    used,
)
from ralph.repositories import a_repository, commit, git, latest
from session.processes import nobody_above, sleeping

from arbiter.desk import ARGS, PROMISE
from sisyphus.errors import SisyphusError
from sisyphus.ralph import actions, arguments, statefile
from sisyphus.ralph import start as starting

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk
    from sisyphus._types import Json

LOOP = "ralph/loops/ralph-loop.s1.local.md"
COMPLETE, ENDED, PAUSED = "[RALPH LOOP COMPLETE]", "[RALPH LOOP ENDED]", "[RALPH LOOP PAUSED]"


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """With the clock of the installed command."""
    desk.now = time.time()
    return desk


def _payload(desk: Desk, message: str = "working", **raw: object) -> Json:
    fields = {"transcript_path": str(desk.transcript), "cwd": str(desk.project), **raw}
    return {"session_id": "s1", "last_assistant_message": message, **fields}


def _hook(desk: Desk, message: str = "working", **raw: object) -> Json:
    """The reply of the installed command; it exits 0."""
    code, reply = run_hook("stop", _payload(desk, message, **raw))
    assert code == 0
    return reply


def _cli(folder: Path, *words: str) -> str:
    """What the installed command says to somebody in this folder."""
    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def _state(desk: Desk) -> str:
    return ours(desk.home, LOOP).read_text()


def _told(messages: list[str]) -> list[str]:
    return [message.splitlines()[0] for message in messages]


# --- isolation ----------------------------------------------------------------------------------

NOBODY = [
    pytest.param({"session_id": "s2", "transcript_path": ""}, id="another session"),
    pytest.param({"session_id": ""}, id="an empty session"),
    pytest.param({"session_id": None}, id="no session"),
]


@pytest.mark.parametrize("raw", NOBODY)
def test_a_stop_of_another_session_or_of_none_never_blocks_and_never_changes_the_loop(
    desk: Desk, raw: dict[str, Any]
) -> None:
    desk.begin()
    before = _state(desk)

    assert _hook(desk, **raw) == {}
    assert _hook(desk, PROMISE, **raw) == {}
    assert _state(desk) == before


def test_state_without_a_session_blocks_nobody(desk: Desk) -> None:
    desk.begin()
    put(ours(desk.home, LOOP), _state(desk).replace('session_id: "s1"', 'session_id: ""'))

    assert "decision" not in _hook(desk)


def test_state_of_another_session_under_this_name_blocks_nobody(desk: Desk) -> None:
    desk.begin()
    put(ours(desk.home, LOOP), _state(desk).replace('session_id: "s1"', 'session_id: "s9"'))

    assert "decision" not in _hook(desk)


def test_two_loops_in_one_project_run_and_finish_independently(desk: Desk) -> None:
    desk.begin()
    second = desk.transcript.with_name("s2.jsonl")
    add(second, typed('"that" --completion-promise OTHER --max-minutes 0'))
    other = {"session_id": "s2", "transcript_path": str(second)}

    assert "<promise>DONE</promise>" in _hook(desk)["reason"]
    assert "<promise>OTHER</promise>" in _hook(desk, **other)["reason"]
    assert "decision" not in _hook(desk, "<promise>OTHER</promise>", **other)
    assert "Iteration 3 of 100" in _hook(desk)["reason"]
    assert COMPLETE in _hook(desk, PROMISE)["systemMessage"]


@pytest.mark.parametrize("place", ["src", "link", "worktree", "elsewhere"])
def test_the_loop_holds_wherever_the_agent_has_gone(desk: Desk, tmp_path: Path, place: str) -> None:
    a_repository(desk.project / "inner")
    git(desk.project / "inner", "worktree", "add", "-q", str(tmp_path / "worktree"))
    (desk.project / "src").mkdir()
    (tmp_path / "link").symlink_to(desk.project)
    (tmp_path / "elsewhere").mkdir()
    desk.begin()
    folder = desk.project / "src" if place == "src" else tmp_path / place

    assert _hook(desk, cwd=str(folder))["decision"] == "block"
    assert "Iteration 3 of 100" in _hook(desk, cwd=str(desk.project))["reason"]


def test_the_loop_holds_with_a_wrong_transcript_path(desk: Desk) -> None:
    desk.begin()

    for path in ("/nowhere", "", "relative.jsonl", str(desk.project)):
        assert _hook(desk, transcript_path=path)["decision"] == "block"
    assert COMPLETE in _hook(desk, PROMISE, transcript_path="/nowhere")["systemMessage"]


def test_a_subagent_neither_ends_nor_feeds_its_parents_loop(desk: Desk) -> None:
    desk.begin()
    before = _state(desk)
    payload = _payload(desk, PROMISE, agent_id="a1", agent_type="Explore")

    assert run_hook("subagent-stop", payload) == (0, {})
    assert _hook(desk, PROMISE, agent_id="a1") == {}
    assert _state(desk) == before
    desk.add(said(PROMISE, isSidechain=True), {**skill(ARGS), "isSidechain": True})
    assert _hook(desk)["decision"] == "block"
    assert len(desk.loops) == 1


def test_a_session_id_cannot_name_a_file_elsewhere(desk: Desk) -> None:
    for session in ("../../evil", "a/b", "..", "x" * 300):
        assert _hook(desk, session_id=session) == {}
    assert not ours(desk.home, "ralph").exists()


def test_another_sessions_background_work_has_no_effect(desk: Desk) -> None:
    desk.begin()
    other: dict[str, Any] = {"session_id": "s2", "transcript_path": ""}
    _hook(desk, background_tasks=[{"id": "b1"}], **other)

    assert _hook(desk, background_tasks=[], session_crons=[])["decision"] == "block"


def test_nothing_of_a_loop_appears_in_the_repository(desk: Desk) -> None:
    desk.project.joinpath(".git").rmdir()
    a_repository(desk.project)
    desk.begin("--verify 'exit 1'")
    _hook(desk)
    _hook(desk, PROMISE)

    assert git(desk.project, "status", "--porcelain") == ""


# --- the promise --------------------------------------------------------------------------------


def test_the_last_message_of_the_payload_is_enough(desk: Desk) -> None:
    """The transcript may not be written yet."""
    desk.begin()
    desk.transcript.unlink()

    assert COMPLETE in _hook(desk, PROMISE)["systemMessage"]


def test_without_it_the_transcript_is_read(desk: Desk) -> None:
    desk.begin()
    desk.add(said(PROMISE))
    payload = _payload(desk)
    del payload["last_assistant_message"]

    assert COMPLETE in run_hook("stop", payload)[1]["systemMessage"]


def test_where_the_model_has_not_spoken_yet_the_loop_goes_on(desk: Desk) -> None:
    desk.begin()
    payload = _payload(desk)
    del payload["last_assistant_message"]

    assert run_hook("stop", payload)[1]["decision"] == "block"
    assert desk.loop.iteration == 2


def test_a_promise_of_an_earlier_turn_never_ends_the_loop(desk: Desk) -> None:
    desk.begin()
    desk.add(said(PROMISE), continued(), said("working"), prompt("go on"))

    assert desk.answer("working").reason is not None


def test_a_promise_of_an_earlier_loop_never_ends_the_next(desk: Desk) -> None:
    desk.begin()
    assert desk.answer(PROMISE).reason is None
    desk.begin(prompt_id="p2")

    assert desk.answer("working").reason is not None


def test_one_wrong_promise_does_not_spoil_the_right_one(desk: Desk) -> None:
    desk.begin()
    assert desk.answer("<promise>ALMOST</promise>").reason is not None

    assert desk.answer("<promise>ALMOST</promise>\n\n<promise>DONE</promise>").reason is None


@pytest.mark.parametrize("text", ["DONE", "Task complete: DONE", "the promise is DONE.", "done"])
def test_text_without_a_tag_never_matches(desk: Desk, text: str) -> None:
    desk.begin()

    assert desk.answer(text).reason is not None


MENTIONS: list[object] = [
    pytest.param([said("```\n<promise>DONE</promise>\n```")], id="in a fence"),
    pytest.param([said("Say `<promise>DONE</promise>` then.")], id="in inline code"),
    pytest.param([said("<!-- <promise>DONE</promise> -->")], id="in a comment"),
    pytest.param([said("> <promise>DONE</promise>")], id="in a quotation"),
    pytest.param([said('The user wrote "<promise>DONE</promise>".')], id="in quotes"),
    pytest.param([said("It is not time for <promise>DONE</promise>")], id="negated"),
    pytest.param([said("I will end with <promise>DONE</promise>")], id="announced"),
    pytest.param([said("Is it <promise>DONE</promise>?")], id="asked"),
    pytest.param([thought("<promise>DONE</promise>")], id="thought"),
    pytest.param([used("Read"), result("<promise>DONE</promise>")], id="read from a file"),
    pytest.param([used("Bash", command="echo '<promise>DONE</promise>'")], id="in a command"),
    pytest.param([prompt("<promise>DONE</promise>")], id="said by the user"),
    pytest.param([expanded("<promise>DONE</promise>")], id="in what the client wrote"),
    pytest.param([continued("Expected promise: <promise>DONE</promise>")], id="in our own reason"),
]


@pytest.mark.parametrize("records", MENTIONS)
def test_a_mention_is_no_use(desk: Desk, records: list[Json]) -> None:
    desk.begin()
    desk.add(*records)

    assert desk.stop().reason is not None
    assert desk.stop("working").reason is not None


FORMS = [
    pytest.param("Tests pass.\n\n<promise>DONE</promise>", id="on its own line"),
    pytest.param("All 212 tests pass: <promise>DONE</promise>", id="at the end"),
    pytest.param("**<promise>DONE</promise>**.", id="emphasized"),
    pytest.param("<promise>\nDONE\n</promise>", id="on three lines"),
    pytest.param("<promise>DONE</promise>\n\nA summary follows: it works.", id="before a summary"),
    pytest.param(f"{'x ' * 400_000}\n\n<promise>DONE</promise>", id="behind a very long answer"),
]


@pytest.mark.parametrize("text", FORMS)
def test_a_promise_that_is_said_counts(desk: Desk, text: str) -> None:
    desk.begin()

    assert desk.answer(text).reason is None


def test_a_promise_is_found_however_many_messages_ago_it_was_given(desk: Desk) -> None:
    desk.begin()
    desk.add(said(PROMISE))
    for number in range(200):
        desk.add(used("Bash", f"toolu_{number}"), result("x", f"toolu_{number}"), said("tidying"))

    assert desk.answer("That was all.").reason is None


@pytest.mark.parametrize("record", [used("Bash", command="make"), thought("Let me see.")])
def test_a_last_message_of_tool_calls_or_thoughts_alone_keeps_the_loop(
    desk: Desk, record: Json
) -> None:
    desk.begin()
    desk.add(record)

    assert desk.stop("").reason is not None


def test_a_turn_of_tools_alone_counts_as_an_iteration(desk: Desk) -> None:
    desk.begin("--max-iterations 3")
    for _ in range(2):
        desk.add(used("Bash"), result("x"))
        assert desk.stop().reason is not None
        desk.add(continued())

    assert _told(desk.stop().messages) == [ENDED]


def test_content_that_is_a_bare_text_is_read_as_well(desk: Desk) -> None:
    desk.begin()
    line = said("x")
    line["message"]["content"] = PROMISE
    desk.add(line)

    assert desk.stop().reason is None


def test_a_promise_without_work_counts_and_a_check_is_the_answer_to_it(desk: Desk) -> None:
    """Whether there was work cannot be told from tool calls; a command can tell."""
    desk.begin()
    assert desk.answer(PROMISE).reason is None

    desk.begin("--verify 'test -e built'", prompt_id="p2")
    assert desk.answer(PROMISE).reason is not None
    put(desk.project / "built", "")
    assert desk.answer(PROMISE).reason is None


TOKENS = [
    pytest.param('"TESTS PASS"', "TESTS PASS", id="words"),
    pytest.param("'say \"done\" now'", 'say "done" now', id="quotes within"),
    pytest.param('"100% $HOME `id` (ok) [x] *"', "100% $HOME `id` (ok) [x] *", id="signs"),
    pytest.param("'ÜBER—FERTIG ✓'", "ÜBER—FERTIG ✓", id="other scripts"),
]


@pytest.mark.parametrize(("argument", "token"), TOKENS)
def test_a_promise_of_any_words_can_be_kept(desk: Desk, argument: str, token: str) -> None:
    desk.begin(args=f'"do it" --completion-promise {argument}')

    assert f"<promise>{token}</promise>" in str(desk.answer("working").reason)
    assert desk.answer(f"<promise>{token}</promise>").reason is None


# --- arguments ----------------------------------------------------------------------------------

PROMPTS = [
    "it's $HOME and `touch ran` and $(touch ran)",
    "a (b) [c] {d} !e & f | g ; touch ran > x",
    "first line\nsecond line\n\n---\nversion: 9\n---",
    "back\\slash and tab\there",
    "--flag inside, --other=1",
]


@pytest.mark.parametrize("text", PROMPTS)
def test_a_prompt_arrives_byte_for_byte_and_nothing_of_it_is_run(desk: Desk, text: str) -> None:
    line = f'/sisyphus:ralph-loop "{text}" --completion-promise DONE'
    payload = {"session_id": "s1", "cwd": str(desk.project), "prompt": line, "prompt_id": "p1"}

    code, reply = run_hook("user-prompt-submit", payload)
    assert (code, "decision" in reply) == (0, False)
    assert desk.loop.prompt == text
    assert _hook(desk)["decision"] == "block"
    assert os.listdir(desk.project) == [".git"]


def test_an_equals_sign_or_a_space_before_a_value_are_the_same(desk: Desk) -> None:
    desk.begin(args='"do it" --completion-promise=DONE --max-iterations=7 --max-minutes=9')
    first = desk.loop
    desk.begin(
        args='"do it" --completion-promise DONE --max-iterations 7 --max-minutes 9', prompt_id="p2"
    )
    second = desk.loop

    for name in ("prompt", "completion_promise", "max_iterations", "options"):
        assert getattr(first, name) == getattr(second, name)


BAD = [
    pytest.param('"do it" --max-iterations ten', id="a bad number"),
    pytest.param('"do it" --max-iterations', id="no number"),
    pytest.param('"do it" --max-iterations -1', id="a negative number"),
    pytest.param('"do it" --no-such-thing', id="an unknown option"),
    pytest.param("", id="no prompt"),
    pytest.param('""', id="an empty prompt"),
]


@pytest.mark.parametrize("args", BAD)
def test_a_bad_command_line_is_an_error_before_any_loop_is_written(desk: Desk, args: str) -> None:
    line = f"/sisyphus:ralph-loop {args}"
    payload = {"session_id": "s1", "cwd": str(desk.project), "prompt": line, "prompt_id": "p1"}

    code, reply = run_hook("user-prompt-submit", payload)

    assert (code, reply["decision"]) == (0, "block")
    assert reply["reason"].startswith("[RALPH LOOP NOT STARTED]")
    assert not ours(desk.home, LOOP).exists()
    with pytest.raises(arguments.BadArgumentsError):
        arguments.parse(args)


def test_a_prompt_may_come_from_a_file(desk: Desk) -> None:
    put(desk.project / "task.md", "do it\nwell\n")
    desk.begin(args="--prompt-file task.md --completion-promise DONE")

    assert desk.loop.prompt == "do it\nwell\n"
    assert desk.answer("working").texts[0].body.endswith("\n\ndo it\nwell\n")


# --- platform -----------------------------------------------------------------------------------


def test_no_other_program_is_needed(desk: Desk) -> None:
    desk.begin()
    env = {**os.environ, "PATH": ""}

    code, reply = finish(start_hook("stop", _payload(desk), env=env))

    assert (code, reply["decision"]) == (0, "block")


def test_a_state_file_with_other_line_ends_is_a_loop_all_the_same(desk: Desk) -> None:
    desk.begin()
    header, _, body = _state(desk).partition("\n\n")
    ours(desk.home, LOOP).write_bytes(f"{header}\n\n{body}".replace("\n", "\r\n").encode())

    assert _hook(desk)["decision"] == "block"
    assert _hook(desk, PROMISE).keys() == {"systemMessage"}


QUIET = [
    pytest.param({}, id="no loop"),
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"permission_mode": "plan"}, id="plan mode"),
    pytest.param({"session_id": "../x"}, id="an unsafe session"),
    pytest.param({"background_tasks": "x", "session_crons": 7}, id="odd fields"),
]


@pytest.mark.parametrize("raw", QUIET)
def test_a_stop_that_is_allowed_prints_nothing_at_all(desk: Desk, raw: dict[str, Any]) -> None:
    assert run_hook("stop", _payload(desk, **raw)) == (0, {})


def test_a_loop_works_in_print_mode(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
    desk.add(typed(f"{ARGS} --max-minutes 0"))

    assert _hook(desk)["decision"] == "block"
    assert COMPLETE in _hook(desk, PROMISE)["systemMessage"]


# --- running away, getting stuck ----------------------------------------------------------------


def test_a_loop_without_a_limit_gets_one(desk: Desk) -> None:
    desk.begin()

    assert (desk.loop.max_iterations, desk.loop.max_minutes) == (100, 1_440)


def test_the_last_iteration_is_a_hard_end_that_is_never_extended(desk: Desk) -> None:
    desk.begin("--max-iterations 5")
    blocked = [desk.answer("working").reason is not None for _ in range(8)]

    assert blocked == [True] * 4 + [False] * 4
    assert desk.loops == []


def test_no_limit_must_be_asked_for_in_so_many_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")
    desk.begin("--max-iterations 0 --max-minutes 0")

    assert all(desk.answer("working").reason is not None for _ in range(120))


def test_the_model_cannot_ask_for_no_limit(desk: Desk) -> None:
    desk.use('"do it" --completion-promise DONE --max-iterations 0 --max-minutes 0', "toolu_7")

    assert (desk.loop.max_iterations, desk.loop.max_minutes) == (100, 1_440)


def test_a_loop_that_changes_nothing_is_paused_with_the_reason(desk: Desk) -> None:
    configure("ralph.no_progress", None)
    desk.now = latest(desk.project)
    desk.begin()
    outcomes = [desk.answer(f"thought {number}") for number in range(5)]

    assert [outcome.reason is not None for outcome in outcomes] == [True] * 4 + [False]
    assert "5 iterations without progress" in outcomes[4].messages[0]


def test_commits_are_progress(desk: Desk) -> None:
    configure("ralph.no_progress", 2)
    desk.project.joinpath(".git").rmdir()
    a_repository(desk.project)
    desk.now = latest(desk.project)
    desk.begin()
    for _ in range(6):
        commit(desk.project)
        assert desk.answer("committed").reason is not None


def test_the_words_is_error_false_are_no_error(desk: Desk) -> None:
    configure("ralph.same_error", 2)
    desk.begin()
    for _ in range(4):
        desk.add(used("Bash"), result('{"is_error": false, "error": null}', is_error=False))
        assert desk.answer("next").reason is not None


def test_the_breaker_survives_the_end_of_a_process(desk: Desk) -> None:
    configure("ralph.no_progress", 3)
    desk.now = latest(desk.project)
    desk.begin("--max-minutes 0")
    replies = [_hook(desk) for _ in range(3)]

    assert [reply.get("decision") for reply in replies] == ["block", "block", None]
    assert replies[2]["systemMessage"].startswith(PAUSED)


def test_an_active_stop_hook_does_not_let_the_session_go(desk: Desk) -> None:
    """Not after one continuation, nor after many: the client's flag says nothing about the task."""
    desk.begin()
    for _ in range(20):
        desk.add(used("Bash"), result("x"))
        assert desk.answer("working", stop_hook_active=True).reason is not None


def test_before_the_client_overrides_the_loop_pauses_and_says_how_to_go_on(desk: Desk) -> None:
    """The fourth such Stop in a row is held here, too: the eighth is the first that is not."""
    desk.begin()
    outcomes = [desk.answer("words alone") for _ in range(8)]

    assert [outcome.reason is not None for outcome in outcomes] == [True] * 7 + [False]
    assert "To resume it, send any prompt in this session" in outcomes[7].messages[0]
    assert "Iteration 8 of 100" in outcomes[7].messages[0]
    assert desk.loop.is_paused


FAILURES = ["rate_limit", "overloaded", "authentication_failed", "max_output_tokens", "unknown"]


@pytest.mark.parametrize("error", FAILURES)
def test_a_turn_that_failed_is_recorded_and_neither_counts_nor_blocks(
    desk: Desk, error: str
) -> None:
    desk.begin()

    outcome = desk.fail(error, "API Error: something")

    assert outcome is not None
    assert outcome.reason is None
    assert f"the turn failed ({error})" in outcome.notes[0]
    assert desk.loop.iteration == 1
    payload = _payload(desk, "API Error: 529", error=error)
    assert "decision" not in run_hook("stop-failure", payload)[1]


@pytest.mark.parametrize("event", ["pre-compact", "post-compact", "notification", "session-end"])
def test_no_other_event_is_ever_blocked(desk: Desk, event: str) -> None:
    desk.begin()

    code, reply = run_hook(event, _payload(desk, trigger="auto", reason="other"))

    assert code == 0
    assert "decision" not in reply
    assert "continue" not in reply


@pytest.mark.parametrize("kind", ["background_tasks", "session_crons"])
def test_pending_work_lets_the_session_stop_and_counts_nothing(desk: Desk, kind: str) -> None:
    desk.begin()

    assert desk.answer("waiting", **{kind: [{"id": "b1", "status": "running"}]}).reason is None
    assert desk.loop.iteration == 1
    assert desk.answer("it is done", **{kind: []}).reason is not None


def test_plan_mode_and_a_paused_loop_hold_nobody(desk: Desk) -> None:
    desk.begin()

    assert desk.answer("my plan", permission_mode="plan").reason is None
    desk.pause()
    assert desk.answer("working").reason is None
    desk.resume()
    assert desk.answer("working").reason is not None


def test_a_question_to_the_user_lets_pass_where_that_was_asked_for(desk: Desk) -> None:
    desk.begin("--wait-for-user")

    assert desk.answer("Which of the two?").reason is None
    assert desk.loop.iteration == 1


def test_a_question_is_no_way_out_where_it_was_not(desk: Desk) -> None:
    desk.begin()

    assert desk.answer("Shall I go on?").reason is not None


# --- a life -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["project", "subfolder", "link", "elsewhere"])
def test_a_cancel_works_from_any_folder_and_at_the_next_stop(
    desk: Desk, tmp_path: Path, place: str
) -> None:
    (desk.project / "subfolder").mkdir()
    (tmp_path / "link").symlink_to(desk.project)
    (tmp_path / "elsewhere").mkdir()
    folders = {"project": desk.project, "subfolder": desk.project / "subfolder"}
    loop_id = desk.begin()
    _hook(desk)

    assert _cli(folders.get(place, tmp_path / place), "ralph", "cancel") == (
        f"Loop {loop_id} cancelled: do it\n"
    )
    assert _hook(desk).keys() == {"systemMessage"}
    assert _hook(desk) == {}


def test_no_hook_makes_a_cancelled_loop_anew(desk: Desk) -> None:
    """Whatever the transcript says, and however often it is read."""
    desk.begin()
    desk.nest()
    _hook(desk)
    desk.cancel()
    copy = put(desk.project / "copy.jsonl", desk.transcript.read_bytes())

    for event in ("stop", "user-prompt-submit", "post-tool-use", "session-start", "stop"):
        for path in (desk.transcript, copy):
            payload = _payload(desk, transcript_path=str(path), prompt="go on", source="resume")
            assert "decision" not in run_hook(event, payload)[1]
    assert [*ours(desk.home, "ralph/loops").glob("*.md")] == []


def test_a_loop_that_was_left_for_hours_is_reported_and_not_obeyed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody_above(monkeypatch)
    with sleeping() as client:
        monkeypatch.setenv("CLAUDE_PID", str(client.pid))
        desk.begin("--max-minutes 0")
        run_hook("stop", _payload(desk))
    long_ago = os.stat(ours(desk.home, LOOP)).st_mtime - 5 * 3_600
    os.utime(ours(desk.home, LOOP), (long_ago, long_ago))

    with sleeping() as client:
        monkeypatch.setenv("CLAUDE_PID", str(client.pid))
        _, reply = run_hook("session-start", _payload(desk, source="resume"))
        assert reply["systemMessage"].startswith(PAUSED)
        assert _hook(desk) == {}
        assert desk.loop.paused_by == "stale"
        _cli(desk.project, "ralph", "resume", "--session-id", "s1")
        assert _hook(desk)["decision"] == "block"


def test_a_loop_comes_along_when_the_session_is_cleared(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sleeping() as client:
        monkeypatch.setenv("CLAUDE_PID", str(client.pid))
        run_hook("session-start", _payload(desk, source="startup"))
        desk.begin("--max-minutes 0")
        _hook(desk)
        run_hook("session-end", _payload(desk, reason="clear"))
        later = {"session_id": "s2", "transcript_path": str(desk.transcript.with_name("s2.jsonl"))}
        run_hook("session-start", _payload(desk, source="clear", **later))

        reply = _hook(desk, **later)

    assert "Iteration 3 of 100" in reply["reason"]
    assert "do it" in reply["hookSpecificOutput"]["additionalContext"]
    assert _hook(desk) == {}


def test_a_resumed_session_keeps_its_loop_and_a_fork_has_none(desk: Desk) -> None:
    desk.begin()
    _hook(desk)
    run_hook("session-start", _payload(desk, source="resume"))
    assert "Iteration 3 of 100" in _hook(desk)["reason"]

    fork = {"session_id": "s9", "transcript_path": str(desk.transcript.with_name("s9.jsonl"))}
    put(desk.transcript.with_name("s9.jsonl"), desk.transcript.read_bytes())
    run_hook("session-start", _payload(desk, source="fork", **fork))
    assert _hook(desk, **fork) == {}


@pytest.mark.parametrize("content", ["", "nonsense", "---\n", "---\nversion: 1\n---\n\nx", "\0\0"])
def test_unreadable_state_is_set_aside_with_a_message_and_never_deleted(
    desk: Desk, content: str
) -> None:
    desk.begin()
    path = put(ours(desk.home, LOOP), content)

    reply = _hook(desk)

    assert "decision" not in reply
    assert "The state of a loop could not be read" in reply["systemMessage"]
    assert [kept.read_text() for kept in path.parent.glob("*.corrupt-*")] == [content]
    assert _hook(desk) == {}


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9])
def test_a_state_file_that_was_cut_holds_nobody_or_is_whole(desk: Desk, keep: float) -> None:
    desk.begin()
    text = _state(desk)
    put(ours(desk.home, LOOP), text[: int(len(text) * keep)])

    assert "decision" not in _hook(desk)


def test_state_that_is_dated_in_the_future_holds_as_any_other(desk: Desk) -> None:
    desk.begin()
    text = _state(desk)
    at = statefile.parse(text).started_at
    put(ours(desk.home, LOOP), text.replace(at, "2999-01-01T00:00:00.000Z"))

    assert _hook(desk)["decision"] == "block"


def test_state_of_a_newer_version_holds_nobody_and_stays(desk: Desk) -> None:
    desk.begin()
    text = _state(desk).replace("version: 1", "version: 2")
    put(ours(desk.home, LOOP), text)

    assert _hook(desk) == {}
    assert _state(desk) == text


def test_fields_of_others_survive(desk: Desk) -> None:
    desk.begin()
    put(ours(desk.home, LOOP), _state(desk).replace("version: 1", 'version: 1\nmine: ["x"]'))
    _hook(desk)

    assert 'mine: ["x"]' in _state(desk)


# --- words that do nothing ----------------------------------------------------------------------

TALK = [
    "ralph, keep going until it is done!",
    'What does /ralph-wiggum:ralph-loop "x" --completion-promise DONE do?',
    "<command-name>/ralph-wiggum:ralph-loop</command-name> is what the client writes",
    "autopilot ultrawork ralph-loop DONE",
]


@pytest.mark.parametrize("text", TALK)
def test_talk_about_loops_starts_none(desk: Desk, text: str) -> None:
    payload = {"session_id": "s1", "cwd": str(desk.project), "prompt": text, "prompt_id": "p1"}
    run_hook("user-prompt-submit", payload)
    desk.add(prompt(text), said(text), used("Read"), result(text))

    assert _hook(desk, text) == {}
    assert desk.loops == []


@pytest.mark.parametrize("text", ["context compacted", "stop", "cancel ralph", "/cancel", "done"])
def test_words_end_and_disable_nothing(desk: Desk, text: str) -> None:
    desk.begin()
    desk.add(prompt(text), said(text), used("Read"), result(text))

    assert _hook(desk, text)["decision"] == "block"
    assert "Iteration 3 of 100" in _hook(desk)["reason"]


def test_a_compaction_gives_the_prompt_again(desk: Desk) -> None:
    desk.begin(args='"line one\nline two" --completion-promise DONE')
    _hook(desk)
    run_hook("session-start", _payload(desk, source="compact"))

    reply = _hook(desk)

    assert reply["hookSpecificOutput"]["additionalContext"].endswith("line one\nline two")


# --- budget and view ----------------------------------------------------------------------------


def test_tokens_and_time_can_be_bounded_and_seen(desk: Desk) -> None:
    desk.begin("--max-tokens 500 --max-minutes 60")
    line = said("working")
    line["message"].update(id="m1", usage={"input_tokens": 3, "output_tokens": 4})
    desk.add(line)

    assert "60 minutes; 7 of 500 tokens spent." in str(desk.answer("working").reason)
    (row,) = json.loads(_cli(desk.project, "ralph", "list", "--json"))
    assert (row["iteration"], row["tokens"], row["status"]) == (2, 7, "active")


def test_every_decision_can_be_looked_up(desk: Desk) -> None:
    desk.begin()
    _hook(desk)
    _hook(desk, PROMISE)

    told = _cli(desk.project, "why", "--session-id", "s1")

    assert "promise `DONE` not found in the last message" in told
    assert "promise `DONE` kept" in told


def test_a_date_in_brackets_is_no_task_of_a_plan(desk: Desk) -> None:
    put(desk.project / ".claude/PLAN.md", "- [x] one\n- [2026-01-29] met\n- [ ](link)\n")
    desk.begin("--verify-plan")

    assert desk.answer(PROMISE).reason is None


def test_a_plan_without_tasks_or_without_a_file_is_not_complete(desk: Desk) -> None:
    desk.begin("--verify-plan")
    assert desk.answer(PROMISE).reason is not None

    put(desk.project / ".claude/PLAN.md", "# Nothing to do\n")
    assert desk.answer(PROMISE).reason is not None


def test_the_client_takes_a_loop_of_the_command_line_up(desk: Desk) -> None:
    """From another terminal, for a session that is at work; its prompt goes out whole."""
    space = a_space(desk.project)
    space.now = desk.now
    asked = starting.invocation("do it", {"completion_promise": "DONE"})
    starting.start(space, asked, "s1")

    assert desk.answer("x").texts[0].body == "The prompt of this ralph loop:\n\ndo it"
    with pytest.raises(SisyphusError, match="has a loop already"):
        starting.start(space, asked, "s1")
    assert len(actions.list_loops(desk.ours, desk.now)) == 1
    assert stored(ours(desk.home, "ralph/loops/session-s1.json"))["blocks"] == 1
