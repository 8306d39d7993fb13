from __future__ import annotations

import json
from pathlib import Path

import pytest

from ralph.lines import line, prompt, read, result, said, skill, typed, used
from sisyphus.ralph import invocations

DATA = Path(__file__).parents[1] / "data" / "transcripts"
ARGS = '"do it" --completion-promise "DONE"'


def _starts(record: object) -> list[invocations.Start]:
    return [start for one in read(record) for start in invocations.find(one)]


def _recorded(name: str) -> list[invocations.Start]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [start for text in lines for start in _starts(json.loads(text))]


def test_a_typed_command_of_the_real_client_is_found_once() -> None:
    (start,) = _recorded("ralph-typed.jsonl")

    assert start.args == ARGS
    assert start.origin == "c4839e11-52e6-4248-9c27-540f98605372"
    assert start.early == "prompt 0eaa7eae-d59f-4250-af57-11ffc4ee979d"
    assert start.name == start.origin
    assert start.at == "2026-11-20T15:56:16.803Z"
    assert not start.by_model


def test_the_models_own_call_in_the_real_client_is_found_once() -> None:
    (start,) = _recorded("ralph-by-the-model.jsonl")

    assert start.args == ARGS
    assert start.origin == "aaf4fa14-dc63-455f-8bb7-61bd5f04ea08"
    assert start.early == "call toolu_fake000000"
    assert start.call == "toolu_fake000000"
    assert start.by_model


@pytest.mark.parametrize("plugin", ["sisyphus", "ralph-wiggum", "ralph-wiggum-pro", "ralph-loop"])
def test_the_command_of_each_plugin_starts_a_loop(plugin: str) -> None:
    (by_user,) = _starts(typed("go", f"/{plugin}:ralph-loop"))
    (by_model,) = _starts(skill("go", f"{plugin}:ralph-loop"))
    submitted = invocations.submitted(f"/{plugin}:ralph-loop go", "p1")

    assert submitted is not None
    assert {by_user.args, by_model.args, submitted.args} == {"go"}


NAMED = [
    pytest.param(typed("x", "/ralph-loop"), "ralph-loop", id="typed"),
    pytest.param(typed("x"), "ralph-wiggum:ralph-loop", id="typed, a plugin's"),
    pytest.param(skill("x", "ralph-loop"), "ralph-loop", id="called"),
    pytest.param(skill("x", "/sisyphus:ralph-loop"), "sisyphus:ralph-loop", id="called, ours"),
]


@pytest.mark.parametrize(("record", "command"), NAMED)
def test_a_start_knows_the_command_by_which_it_was_asked_for(
    record: dict[str, object], command: str
) -> None:
    assert [(start.command, start.args) for start in _starts(record)] == [(command, "x")]


def test_so_does_one_that_is_not_in_the_transcript_yet() -> None:
    submitted = invocations.submitted("/ralph-loop x", "p1")
    called = invocations.used({"skill": "ralph-loop", "args": "x"}, "toolu_1")
    assert submitted is not None
    assert called is not None
    assert (
        (submitted.command, submitted.args) == (called.command, called.args) == ("ralph-loop", "x")
    )


CANCELLED = [
    pytest.param(typed("", "/sisyphus:cancel-ralph"), "sisyphus:cancel-ralph", id="ours"),
    pytest.param(typed("", "/cancel-ralph"), "cancel-ralph", id="without a plugin"),
    pytest.param(typed("", "/other:cancel-ralph"), "", id="another plugin's"),
    pytest.param(typed("", "/cancel-ralphs"), "", id="a longer name"),
    pytest.param(prompt("/cancel-ralph"), "", id="plain text"),
    pytest.param(typed("", "/cancel-ralph", isSidechain=True), "", id="a subagent's line"),
    pytest.param(said("<command-name>/cancel-ralph</command-name>"), "", id="the model's words"),
]


@pytest.mark.parametrize(("record", "command"), CANCELLED)
def test_a_line_that_cancels_names_its_command(record: dict[str, object], command: str) -> None:
    assert [invocations.cancelled(one) for one in read(record)] == [command]


STARTS = [
    pytest.param(typed(""), "", id="no arguments"),
    pytest.param(typed("a\nb --x\r\n"), "a\nb --x\r\n", id="several lines"),
    pytest.param(typed("</command-args> & <b>"), "</command-args> & <b>", id="tags"),
    pytest.param(
        prompt("<command-name>/ralph-loop:ralph-loop</command-name>\n"
               "<command-message>ralph-loop</command-message>"),
        "", id="another order, no arguments",
    ),
    pytest.param(
        line("user", [{"type": "text", "text": typed("go")["message"]["content"]}]), "go",
        id="as a content block",
    ),
    pytest.param(skill("go", "/ralph-wiggum:ralph-loop"), "go", id="a skill with its slash"),
    pytest.param(used("Skill", skill="ralph-loop:ralph-loop"), "", id="a skill without arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "args"), STARTS)
def test_these_lines_start_a_loop(record: dict[str, object], args: str) -> None:
    assert [start.args for start in _starts(record)] == [args]


NONE = [
    pytest.param(prompt("/ralph-wiggum:ralph-loop go"), id="plain text, as of an unknown command"),
    pytest.param(prompt("run /ralph-wiggum:ralph-loop"), id="prose"),
    pytest.param(prompt("see <command-name>/ralph-wiggum:ralph-loop</command-name>"), id="a quote"),
    pytest.param(prompt(typed("x")["message"]["content"] + " ok?"), id="words behind the tags"),
    pytest.param(typed("x", "/ralph-wiggum:help"), id="another command of the plugin"),
    pytest.param(typed("x", "/other:ralph-loop"), id="another plugin's command"),
    pytest.param(typed("x", "/ralph-wiggum:ralph-loops"), id="a longer name"),
    pytest.param(typed("x", isMeta=True), id="a line that the client wrote"),
    pytest.param(typed("x", isSidechain=True), id="a subagent's line"),
    pytest.param({**skill("x"), "isSidechain": True}, id="a subagent's call"),
    pytest.param(used("Skill", skill="ralph-wiggum:cancel"), id="another skill"),
    pytest.param(
        line("assistant", [{"type": "tool_use", "name": "Skill", "input": "ralph-loop"}]),
        id="a skill whose input is no object",
    ),
    pytest.param(used("Bash", command="/ralph-wiggum:ralph-loop x"), id="another tool"),
    pytest.param(used("Skill", skill=7), id="a skill that is no text"),
    pytest.param(said("/ralph-wiggum:ralph-loop x"), id="what the model says"),
    pytest.param(said(typed("x")["message"]["content"]), id="tags that the model says"),
    pytest.param(result(typed("x")["message"]["content"]), id="a tool result"),
    pytest.param(line("user", [{"type": "tool_use", "name": "Skill", "input": {}}]), id="a mix-up"),
    pytest.param(line("user", None), id="no content"),
    pytest.param({"type": "user", "message": 7}, id="no message"),
    pytest.param({"type": "attachment"}, id="another type of line"),
    pytest.param({}, id="nothing"),
]


@pytest.mark.parametrize("record", NONE)
def test_nothing_else_starts_a_loop(record: dict[str, object]) -> None:
    assert _starts(record) == []


SUBMITTED = [
    pytest.param('/ralph-wiggum:ralph-loop "a" --x', '"a" --x', id="arguments as typed"),
    pytest.param("  /ralph-wiggum:ralph-loop\ngo\r\n", "go\r\n", id="several lines"),
    pytest.param("/ralph-wiggum:ralph-loop", "", id="no arguments"),
]


@pytest.mark.parametrize(("text", "args"), SUBMITTED)
def test_a_prompt_starts_a_loop_before_it_is_in_the_transcript(text: str, args: str) -> None:
    start = invocations.submitted(text, "p1")

    assert start is not None
    assert (start.args, start.name, start.origin) == (args, "prompt p1", "")


@pytest.mark.parametrize(
    "text", ["/ralph-loopy go", "try /ralph-wiggum:ralph-loop go", "/ralph-wiggum:ralph-loopy", ""]
)
def test_other_prompts_do_not(text: str) -> None:
    assert invocations.submitted(text, "") is None


def test_a_line_without_a_uuid_is_known_by_its_content() -> None:
    first, same, other = (
        _starts({k: v for k, v in typed(args).items() if k != "uuid"})[0]
        for args in ("a", "a", "b")
    )

    assert first.origin == same.origin != other.origin


def test_a_call_of_the_skill_starts_a_loop_before_it_is_in_the_transcript() -> None:
    start = invocations.used({"skill": "ralph-wiggum:ralph-loop", "args": "go"}, "toolu_1")

    assert start is not None
    assert (start.args, start.name, start.origin) == ("go", "call toolu_1", "")
    assert start.by_model


@pytest.mark.parametrize("given", [{}, {"skill": 7}, {"skill": "ralph-wiggum:cancel"}])
def test_other_calls_do_not(given: dict[str, object]) -> None:
    assert invocations.used(given, "toolu_1") is None


def test_a_start_without_ids_has_no_name() -> None:
    start = invocations.used({"skill": "ralph-wiggum:ralph-loop"}, "")

    assert start is not None
    assert start.name == ""
