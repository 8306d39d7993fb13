from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, a_space, debug_log, ours, put, stored
from opencode.stand_in import CHILD, MODEL, RECORDED, SESSION, Answers, ask, recorded

from sisyphus.checkpoint import store
from sisyphus.clients.base import EVENTS, Outcome
from sisyphus.hook import opencode, run
from sisyphus.hook.routes import ROUTES
from sisyphus.opencode import payload

if TYPE_CHECKING:
    from sisyphus._types import Json

MESSAGES = sorted(RECORDED.glob("*.json"))


def _kept(home: Path, agent: str = "", session: str = SESSION) -> list[Json]:
    """The transcript that we keep of a session, or of a subagent of it."""
    name = f"{session}/subagents/agent-{agent}.jsonl" if agent else f"{session}.jsonl"
    path = ours(home, f"opencode/{name}")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _kinds(records: list[Json]) -> list[str]:
    return [record["uuid"].rsplit("-", 1)[1] for record in records]


def _told(home: Path, message: Json) -> Json:
    found = opencode.hear(message)
    assert debug_log(home) == ""
    return found


def test_both_call_the_client_the_same() -> None:
    assert run.OPENCODE == payload.CLIENT


# --- what is heard -------------------------------------------------------------------------------


def test_what_happened_is_kept_in_the_transcript_of_the_session(home: Path) -> None:
    found = _told(home, recorded("post-tool-use.read"))
    _told(home, recorded("post-tool-use.edit"))

    records = _kept(home)
    assert found["transcript_path"] == str(ours(home, f"opencode/{SESSION}.jsonl"))
    assert _kinds(records) == ["prompt", "tool", "result", "usage", "tool"]
    assert {record["cwd"] for record in records} == {"/home/user/project"}


def test_what_a_subagent_does_is_kept_apart(home: Path) -> None:
    _told(home, recorded("post-tool-use.in-subagent"))
    _told(home, recorded("post-tool-use.task"))

    assert _kinds(_kept(home, CHILD)) == ["prompt", "tool", "result", "usage", "text", "usage"]
    assert all(record["isSidechain"] for record in _kept(home, CHILD))
    assert not any("isSidechain" in record for record in _kept(home))


def test_the_window_of_its_model_is_noted_once(home: Path) -> None:
    path = ours(home, f"checkpoint/{SESSION}.json")
    _told(home, recorded("stop.first"))
    before = path.stat().st_ino
    _told(home, recorded("stop.second"))

    assert path.stat().st_ino == before
    noted = {"window": 200_000, "client": "opencode"}
    assert noted.items() <= stored(path).items()


def test_the_model_of_a_subagent_has_another_window(home: Path) -> None:
    _told(home, recorded("post-tool-use.in-subagent"))

    assert store.glance(str(ours(home, "")), SESSION) == {}


NOT_KEPT = [
    pytest.param({"session_id": "../s1"}, id="an unsafe id"),
    pytest.param({"session_id": 7}, id="a number"),
    pytest.param({"session_id": None}, id="null"),
    pytest.param({"agent_id": "../a1"}, id="a subagent's unsafe id"),
    pytest.param({"agent_id": 7}, id="a subagent's number"),
]


@pytest.mark.parametrize("fields", NOT_KEPT)
def test_what_nobody_can_be_named_for_is_not_kept(home: Path, fields: Json) -> None:
    _told(home, {**recorded("stop.first"), **fields})
    assert not (home / ".claude").exists()


def test_without_its_own_part_a_message_is_a_payload_of_claude_codes(home: Path) -> None:
    raw = {"session_id": "s1", "cwd": "/p", "prompt": "go"}
    kept = str(ours(home, "opencode/s1.jsonl"))

    assert _told(home, raw) == {**raw, "transcript_path": kept}
    assert not (home / ".claude").exists()


def test_what_cannot_be_kept_is_logged_and_the_event_answered_all_the_same(home: Path) -> None:
    put(ours(home, "opencode"), "a file in the place of the folder")
    found = opencode.hear(recorded("stop.first"))

    assert found["last_assistant_message"] == "All of it is done.\n\nAlmost."
    assert "opencode: not kept: FileExistsError" in debug_log(home)


# --- what is answered ----------------------------------------------------------------------------


def _said(project: Path, outcome: Outcome, *texts: str) -> list[Json]:
    written: list[str] = []
    answer = opencode.Answer(outcome, a_space(project), written.append)
    for text in texts:
        answer(text)
    answer.end()
    assert all(line.endswith("\n") for line in written)
    return [json.loads(line) for line in written]


GUARDS = {"abort_seconds": 3, "stability_seconds": 5}


def test_where_there_is_nothing_to_say_nothing_is_written(project: Path) -> None:
    assert _said(project, Outcome()) == []


def test_a_reply_without_more_is_that_of_claude_code(project: Path) -> None:
    assert _said(project, Outcome(), '{"systemMessage": "Größe"}\n') == [{"systemMessage": "Größe"}]


def test_what_is_opencodes_own_rides_on_the_reply(project: Path) -> None:
    reply = {"decision": "block", "reason": "go on"}
    said = _said(project, Outcome(reason="go on"), json.dumps(reply))
    assert said == [{**reply, "opencode": GUARDS}]


def test_our_commands_are_called_there_without_a_prefix(project: Path) -> None:
    texts = {"reason": "say /sisyphus:enforce stop", "systemMessage": "/sisyphus:ralph-help"}
    documents = {"additionalContext": "Our README speaks of /sisyphus:ralph-loop."}
    said = _said(project, Outcome(), json.dumps({**texts, "hookSpecificOutput": documents}))

    assert said == [
        {
            "reason": "say /enforce stop",
            "systemMessage": "/ralph-help",
            "hookSpecificOutput": documents,
        }
    ]


def test_or_comes_alone(project: Path) -> None:
    outcome = Outcome()
    outcome.wake_after = 30
    assert _said(project, outcome) == [{"opencode": {"wake_after": 30, **GUARDS}}]


# --- the real command ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_every_recorded_message_is_answered_politely(home: Path, project: Path, path: Path) -> None:
    put(project / "README.md", "# Ours\n")
    put(project / ".claude" / "PLAN.md", "- [ ] one\n")
    message = {**recorded(path.stem), "cwd": str(project)}
    code, stdout, stderr = ask(path.stem.partition(".")[0], message, project)

    assert (code, stderr, debug_log(home)) == (0, "", "")
    assert isinstance(json.loads(stdout or "{}"), dict)


def test_every_event_that_the_plugin_asks_for_was_recorded() -> None:
    asked = {path.stem.partition(".")[0] for path in MESSAGES}
    assert asked == set(ROUTES) - {"idle", "post-tool-batch"}


def test_a_loop_that_was_recorded_ends_as_it_did(home: Path, project: Path) -> None:
    names = ("user-prompt-submit.command", "post-tool-use.read", "stop.first", "stop.second")
    said = []
    for name in names:
        message = {**recorded(name), "cwd": str(project)}
        code, stdout, stderr = ask(name.partition(".")[0], message, project)
        assert (code, stderr) == (0, "")
        said.append(Answers(json.loads(stdout or "{}")))

    assert [bool(answer.reason) for answer in said] == [False, False, True, False]
    assert said[2].reason.startswith("[RALPH LOOP ENFORCEMENT]")
    assert said[2].extras == GUARDS
    assert said[3].told.startswith("[RALPH LOOP COMPLETE]")
    assert debug_log(home) == ""


WRONG: dict[str, object] = {
    "null": None,
    "true": True,
    "a number": -7,
    "a huge number": 10**400,
    "a float": 1.5e300,
    "a list": [[], {}, "x", None, 7],
    "an object": {"file_path": {"tool": []}, "lines": 1, "x": {"kind": "text"}},
    "an empty text": "",
    "a NUL byte": "a\0b",
    "a lone surrogate": "\ud800/\udfff",
    "a way up": "../../../../tmp/up",
    "a text of 5 MB": "x" * 5_000_000,
    "nested 400 times": json.loads("[" * 400 + "]" * 400),
}
FIELDS = ("session_id", "agent_id", "cwd", "source", "reason", "prompt", "prompt_id", "error")
OWN = ("agent", "model", "window", "text", "tool", "lines", "others")
LINE = (
    "kind", "at", "id", "part", "call", "tool", "args", "text", "metadata", "failed", "model",
    "tokens", "command", "ours",
)  # fmt: skip


def _hostile(value: object) -> list[Json]:
    """Messages of every shape in which a value is not what it should be."""
    whole = recorded("post-tool-use.task")
    own, line = whole["opencode"], whole["opencode"]["lines"][0]
    kinds = ("prompt", "text", "tool", "result", "usage", "compacted")
    return [
        {**whole, "opencode": value},
        {**whole, "opencode": dict.fromkeys(OWN, value)},
        {**whole, **dict.fromkeys(FIELDS, value)},
        {**whole, "opencode": {**own, "lines": [value, line, value]}},
        {**whole, "opencode": {**own, "lines": [dict.fromkeys(LINE, value)]}},
        {
            **whole,
            "opencode": {
                **own, "lines": [{**dict.fromkeys(LINE, value), "kind": kind} for kind in kinds]
            },
        },
        {**whole, "opencode": {**own, "tool": {**own["tool"], "args": value, "metadata": value}}},
        {**whole, "opencode": {**own, "others": {"a1": value, "../a2": [line]}}},
    ]  # fmt: skip


@pytest.mark.parametrize("value", [pytest.param(WRONG[name], id=name) for name in WRONG])
def test_hostile_messages_are_answered_politely(
    home: Path, project: Path, tmp_path: Path, value: object
) -> None:
    put(project / ".claude" / "PLAN.md", "- [ ] one\n")
    for number, message in enumerate(_hostile(value)):
        event = ("post-tool-use", "stop", "user-prompt-submit", "session-start")[number % 4]
        code, stdout, stderr = ask(event, message, project)
        assert (code, stderr) == (0, "")
        assert isinstance(json.loads(stdout or "{}"), dict)

    assert {path.name for path in tmp_path.iterdir()} == {"project"}
    assert {path.name for path in home.iterdir()} <= {".claude"}
    assert ":on_" not in debug_log(home)


NO_MESSAGES = [b"", b"hello", b"[{}]", b"null", b"[" * 100_000, b'{"opencode": ' * 100_000]


@pytest.mark.parametrize("stdin", NO_MESSAGES)
def test_what_is_no_message_is_silence(home: Path, project: Path, stdin: bytes) -> None:
    assert ask("stop", stdin, project) == (0, "", "")
    assert "stop: payload" in debug_log(home)


@pytest.mark.parametrize("event", EVENTS)
def test_a_project_with_nothing_to_say_is_answered_with_silence(project: Path, event: str) -> None:
    message: Json = {"session_id": "ses_1", "cwd": str(project), "opencode": {"model": MODEL}}
    assert ask(event, message, project) == (0, "", "")


def test_the_folder_is_the_one_that_the_plugin_names(
    home: Path, project: Path, tmp_path: Path
) -> None:
    put(project / "README.md", "# Ours\n")
    put(tmp_path / "other" / "README.md", "# Theirs\n")
    around = {"CLAUDE_PROJECT_DIR": str(tmp_path / "other")}
    message = {**recorded("session-start.startup"), "cwd": str(project)}
    _, stdout, _ = ask("session-start", message, project, **around)

    assert "# Ours" in Answers(json.loads(stdout)).text
    assert debug_log(home) == ""


WAITING = """
import sys
from sisyphus.hook import routes, run
routes.ROUTES["idle"] = ("hook.failing:on_stop_too",)
sys.exit(run.run("idle", ["--client", "opencode"]))
"""


def test_an_idle_session_is_woken_by_the_reply_and_not_by_the_exit_code(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAITING],
        input=json.dumps({"session_id": "s1", "cwd": "/", "hook_event_name": "Stop"}).encode(),
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    reply = {"decision": "block", "reason": "go on, s1 in /", "opencode": GUARDS}

    assert (done.returncode, done.stderr, json.loads(done.stdout)) == (0, b"", reply)
    assert debug_log(home) == ""


def test_off_means_off(home: Path, project: Path) -> None:
    put(project / "README.md", "# Ours\n")
    message = {**recorded("session-start.startup"), "cwd": str(project)}

    assert ask("session-start", message, project, SISYPHUS_DISABLE="1") == (0, "", "")
    assert not (home / ".claude").exists()


def test_a_closed_stdout_disturbs_nobody(home: Path, project: Path) -> None:
    put(project / "README.md", "# Ours\n")
    message = json.dumps({**recorded("session-start.startup"), "cwd": str(project)})
    line = f"{COMMAND} hook session-start --client opencode >&-"
    done = subprocess.run(line, shell=True, input=message.encode(), check=False)  # noqa: S602

    assert done.returncode == 0
    assert "nobody read the reply" in debug_log(home)
