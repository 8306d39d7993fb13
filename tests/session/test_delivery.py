from __future__ import annotations

import io
import json
import os
import shutil
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from making import a_payload, a_piece, a_space, a_start, at_once, debug_log, ours, put, stored

from sisyphus.clients.base import Outcome, said_to_model, said_to_user
from sisyphus.measure import REPLY_UNITS, units
from sisyphus.session.delivery import deliver
from sisyphus.session.hooks import on_session_start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Piece
    from sisyphus.clients.base import Payload


class Desk:
    """One project's hooks, in this process."""

    def __init__(self, project: Path) -> None:
        self.space = a_space(project)
        self.printed: list[str] = []

    def say(self, payload: Payload, *pieces: Piece, **outcome: Any) -> str:
        """What the model reads of the reply that carries these pieces."""
        before = len(self.printed)
        deliver(payload, self.space, Outcome(pieces=pieces, **outcome), self.printed.append)
        return "".join(said_to_model(json.loads(reply)) for reply in self.printed[before:])

    def say_to_nobody(self, payload: Payload, *pieces: Piece) -> None:
        deliver(payload, self.space, Outcome(pieces=pieces), _gone)


def _gone(_: str) -> None:
    raise BrokenPipeError("nobody is there")


@pytest.fixture
def desk(project: Path) -> Desk:
    return Desk(project)


def test_a_text_is_sent_once(desk: Desk) -> None:
    assert desk.say(a_payload(), a_piece("rule")) == "<rule>"
    assert desk.say(a_payload(), a_piece("rule")) == ""


@pytest.mark.parametrize("ledger", ["", "rules-injector", "context-injector"])
def test_every_ledger_is_kept(desk: Desk, ledger: Any) -> None:
    piece = a_piece("text", ledger=ledger)
    assert [desk.say(a_payload(), piece) for _ in range(2)] == ["<text>", ""]


def test_a_text_without_a_hash_is_sent_each_time(desk: Desk) -> None:
    piece = a_piece("now", hash="")
    assert [desk.say(a_payload(), piece) for _ in range(2)] == ["<now>", "<now>"]


def test_a_changed_text_is_new(desk: Desk) -> None:
    desk.say(a_payload(), a_piece("rule", hash="1"))
    assert desk.say(a_payload(), a_piece("rule, changed", hash="2")) == "<rule, changed>"


def test_a_subagent_and_its_session_are_told_apart(desk: Desk) -> None:
    told = [desk.say(a_payload(agent_id=a), a_piece("rule")) for a in ("", "a1", "a2", "a1", "")]
    assert told == ["<rule>", "<rule>", "<rule>", "", ""]


def test_what_does_not_fit_comes_with_the_next_replies_in_order(desk: Desk) -> None:
    parts = [a_piece(f"part {n} " + "x" * 6_000, hash=f"{n}") for n in range(3)]
    told = [desk.say(a_start("startup"), *parts)]
    told += [
        desk.say(a_payload("user-prompt-submit")),
        desk.say(a_payload()),
        desk.say(a_payload()),
    ]
    assert [text[:7] for text in told] == ["<part 0", "<part 1", "<part 2", ""]
    assert all(units(text) <= REPLY_UNITS for text in told)


def test_what_waits_is_dropped_once_the_model_has_it(desk: Desk) -> None:
    full, rule = a_piece("x" * 9_998), a_piece("rule")
    desk.say(a_payload(), full, rule)
    assert desk.say(a_payload(), rule) == "<rule>"
    assert desk.say(a_payload()) == ""


SILENT = [
    pytest.param("stop", {}, id="Stop, which text alone would keep going"),
    pytest.param("session-end", {}, id="SessionEnd"),
    pytest.param("user-prompt-submit", {"reason": "answered"}, id="a prompt that we answered"),
]


@pytest.mark.parametrize(("event", "outcome"), SILENT)
def test_text_waits_where_no_reply_can_carry_it(
    desk: Desk, event: str, outcome: dict[str, Any]
) -> None:
    assert desk.say(a_payload(event), a_piece("rule"), **outcome) == outcome.get("reason", "")
    assert desk.say(a_payload()) == "<rule>"
    assert desk.say(a_payload()) == ""


def test_text_rides_on_a_stop_that_blocks(desk: Desk) -> None:
    desk.say(a_payload("stop"), a_piece("rule"))
    assert desk.say(a_payload("stop"), reason="go on") == "go on\n\n<rule>"
    assert desk.say(a_payload("stop"), reason="go on") == "go on"


def test_the_user_is_told_where_the_model_is_not(desk: Desk) -> None:
    desk.say(a_payload("session-end"), messages=["bye"])
    assert said_to_user(json.loads(desk.printed[-1])) == "bye"


def test_nothing_to_say_touches_no_file(home: Path, desk: Desk) -> None:
    assert desk.say(a_payload()) == ""
    assert desk.printed == []
    assert not (home / ".claude").exists()


def test_the_notes_say_what_was_sent_and_what_waits(desk: Desk, project: Path) -> None:
    parts = [
        a_piece("x" * 6_000, "readme", hash=f"{n}", path=f"{project}/README.md") for n in range(3)
    ]
    outcome = Outcome(pieces=[a_piece("plan", "boulder"), *parts])
    sent = deliver(a_start(), desk.space, outcome, desk.printed.append)
    assert sent == units(said_to_model(json.loads(desk.printed[0]))) > 6_000
    assert outcome.notes == [
        "sent boulder, README.md",
        "waiting for a later reply: README.md (2 parts)",
    ]
    assert outcome.texts == ["boulder"]


def _parts(path: str, *sizes: int) -> list[Piece]:
    return [a_piece("x" * size, "readme", hash=f"{n}", path=path) for n, size in enumerate(sizes)]


def _texts(desk: Desk, payload: Payload, *pieces: Piece) -> list[str]:
    outcome = Outcome(pieces=pieces)
    deliver(payload, desk.space, outcome, desk.printed.append)
    return outcome.texts


def test_a_file_in_parts_is_told_once_with_its_last_part(desk: Desk, project: Path) -> None:
    parts = _parts(f"{project}/README.md", 6_000, 6_000, 6_000)
    told = [_texts(desk, a_start(), *parts)] + [_texts(desk, a_payload()) for _ in range(3)]
    assert told == [[], [], ["readme README.md"], []]


def test_parts_that_go_out_together_are_one_text(desk: Desk, project: Path) -> None:
    parts = _parts(f"{project}/README.md", 20, 30)
    assert _texts(desk, a_start(), a_piece("r", path=f"{project}/a.md"), *parts) == [
        "rules a.md", "readme README.md",
    ]  # fmt: skip


def test_a_text_of_no_file_is_told_while_another_waits(desk: Desk) -> None:
    pieces = [a_piece("x" * 6_000, "loop", hash=f"{n}") for n in range(2)]
    assert [_texts(desk, a_start(), *pieces), _texts(desk, a_payload())] == [["loop"], ["loop"]]


def test_without_a_memory_it_is_told_what_was_sent(home: Path, desk: Desk, project: Path) -> None:
    put(ours(home, ""), "a file in the place of our folder")
    assert _texts(desk, a_start(), *_parts(f"{project}/README.md", 20)) == ["readme README.md"]


def test_a_reader_that_has_gone_away_loses_nothing(home: Path, desk: Desk) -> None:
    desk.say_to_nobody(a_payload(), a_piece("a"), a_piece("b", "readme", tail="]"))
    assert "nobody read the reply" in debug_log(home)
    assert desk.say(a_payload()) == "<a>\n\n<b]"
    assert desk.say(a_payload()) == ""


def test_a_reader_that_goes_away_again_and_again_loses_nothing(desk: Desk) -> None:
    for name in "abc":
        desk.say_to_nobody(a_payload(), a_piece(name))
    assert desk.say(a_payload()) == "<a\n\nb\n\nc>"


def test_a_reply_that_cannot_be_noted_is_sent_once(home: Path, desk: Desk) -> None:
    def note_nothing(reply: str) -> None:
        desk.printed.append(reply)
        shutil.rmtree(ours(home, "rules-injector"))

    deliver(a_start(), desk.space, Outcome(pieces=[a_piece("rule")]), note_nothing)
    assert len(desk.printed) == 1
    assert "sent, but not noted" in debug_log(home)


def _file_for_folder(home: Path) -> None:
    put(ours(home, ""), "a file in the place of our folder")


def _newer_version(home: Path) -> None:
    for name in ("sessions/s1.json", "queue/s1.json", "rules-injector/session-s1.json"):
        put(ours(home, name), '{"version": 99}')


def _folder_for_temporary(home: Path) -> None:
    ours(home, "rules-injector/session-s1.json.tmp").mkdir(parents=True)


SPOILERS = [_file_for_folder, _newer_version, _folder_for_temporary]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_without_a_memory_only_an_empty_context_is_told(
    home: Path, desk: Desk, spoil: Callable[[Path], None]
) -> None:
    spoil(home)
    assert desk.say(a_start("startup"), a_piece("rule")) == "<rule>"
    assert desk.say(a_start("resume"), a_piece("rule")) == ""
    assert desk.say(a_payload(), a_piece("rule")) == ""


@pytest.mark.parametrize("spoil", SPOILERS)
def test_without_a_memory_the_user_is_told_of_a_text_only_where_the_model_gets_it(
    home: Path, desk: Desk, spoil: Callable[[Path], None]
) -> None:
    spoil(home)
    for source in ("startup", "resume"):
        desk.say(a_start(source), a_piece("rule"), messages=["hello"], announced=["a rule"])
    said = [said_to_user(json.loads(reply)) for reply in desk.printed]
    assert said == ["hello\n\na rule", "hello"]


def test_the_user_is_told_once_of_a_text_that_is_sent_once(desk: Desk) -> None:
    for _ in range(2):
        desk.say(a_payload(), a_piece("rule"), announced=["a rule"])
    assert [said_to_user(json.loads(reply)) for reply in desk.printed] == ["a rule"]


def test_the_user_is_told_of_a_text_that_waits(desk: Desk) -> None:
    desk.say(a_payload("stop"), a_piece("rule"), announced=["a rule"])
    assert said_to_user(json.loads(desk.printed[-1])) == "a rule"


@pytest.mark.parametrize("spoil", SPOILERS)
def test_without_a_memory_a_block_is_a_block(
    home: Path, desk: Desk, spoil: Callable[[Path], None]
) -> None:
    spoil(home)
    assert desk.say(a_payload("stop"), a_piece("rule"), reason="go on") == "go on"


def test_a_session_without_a_usable_id_is_told_at_its_start(home: Path, desk: Desk) -> None:
    nobody = {"session_id": "../../etc"}
    assert desk.say(a_start(**nobody), a_piece("rule")) == "<rule>"
    assert desk.say(a_payload(**nobody), a_piece("rule")) == ""
    assert not ours(home, "").exists()


def test_a_spoilt_session_file_is_set_aside(home: Path, desk: Desk) -> None:
    put(ours(home, "queue/s1.json"), "{")
    assert desk.say(a_payload(), a_piece("rule")) == "<rule>"
    assert [path.read_text() for path in ours(home, "queue").glob("*.corrupt-*")] == ["{"]


COPIED = '{"type":"user","uuid":"u-1","timestamp":"1970-01-01T00:00:00.000Z"}\n'
OWN = '{"type":"user","uuid":"u-2","timestamp":"2026-11-20T18:10:35.646Z"}\n'


@pytest.fixture
def fork(desk: Desk, tmp_path: Path) -> Callable[..., Payload]:
    """Payloads of a fork of the session "s1", whose transcript is not there yet."""
    put(tmp_path / "talks" / "s1.jsonl", COPIED)
    whose = {"session_id": "fork", "transcript_path": str(tmp_path / "talks" / "fork.jsonl")}
    start = a_start("fork", **whose)
    on_session_start(start, desk.space)
    return partial(a_payload, **whose)


def _fork_writes(payload: Payload) -> None:
    with open(payload.transcript, "w", encoding="utf-8") as file:
        file.write(COPIED + OWN)


def test_a_fork_has_what_its_parent_was_sent(desk: Desk, fork: Callable[..., Payload]) -> None:
    desk.say(a_payload(), a_piece("rule"))
    _fork_writes(fork())
    assert desk.say(fork(), a_piece("rule"), a_piece("new")) == "<new>"
    assert desk.say(fork(), a_piece("rule"), a_piece("new")) == ""


def test_a_fork_is_told_nothing_before_its_parent_is_known(
    desk: Desk, fork: Callable[..., Payload]
) -> None:
    desk.say(a_payload(), a_piece("rule"))
    assert desk.say(fork(), a_piece("rule"), a_piece("new")) == ""
    _fork_writes(fork())
    assert desk.say(fork()) == "<new>"


def test_a_fork_without_a_parent_here_is_told_all(
    desk: Desk, fork: Callable[..., Payload], tmp_path: Path
) -> None:
    os.remove(tmp_path / "talks" / "s1.jsonl")
    _fork_writes(fork())
    assert desk.say(fork(), a_piece("rule")) == "<rule>"


def test_a_fork_does_not_hold_what_its_sibling_alone_was_sent(
    desk: Desk, fork: Callable[..., Payload], tmp_path: Path
) -> None:
    desk.say(a_payload(), a_piece("of both"))
    _fork_writes(fork())
    assert desk.say(fork(), a_piece("of the sibling")) == "<of the sibling>"
    second = {"session_id": "second", "transcript_path": str(tmp_path / "talks" / "second.jsonl")}
    on_session_start(a_start("fork", **second), desk.space)
    _fork_writes(fork(**second))
    pieces = [a_piece("of both"), a_piece("of the sibling")]
    assert desk.say(fork(**second), *pieces) == "<of the sibling>"


def test_the_parent_is_looked_for_once(
    home: Path, desk: Desk, fork: Callable[..., Payload], tmp_path: Path
) -> None:
    _fork_writes(fork())
    desk.say(fork(), a_piece("a"))
    assert stored(ours(home, "sessions/fork.json"))["parents"] == ["s1"]
    shutil.rmtree(tmp_path / "talks")
    assert desk.say(fork(), a_piece("b")) == "<b>"


def test_a_fork_that_is_compacted_at_once_is_told_all(
    desk: Desk, fork: Callable[..., Payload]
) -> None:
    desk.say(a_payload(), a_piece("rule"))
    _fork_writes(fork())
    compacted = fork("session-start", source="compact")
    on_session_start(compacted, desk.space)
    assert desk.say(compacted, a_piece("rule")) == "<rule>"


def test_a_parent_is_told_what_only_its_fork_was(desk: Desk, fork: Callable[..., Payload]) -> None:
    _fork_writes(fork())
    desk.say(fork(), a_piece("rule"))
    assert desk.say(a_payload(), a_piece("rule")) == "<rule>"


MANY = 64


def _one_of_many(project: Path, number: int) -> str:
    return Desk(project).say(a_payload(), a_piece("shared"), a_piece(f"own {number}."))


def test_of_many_hooks_at_once_each_text_is_sent_once(project: Path, desk: Desk) -> None:
    told = at_once(partial(_one_of_many, project), range(MANY))
    told.append(desk.say(a_payload()))
    bodies = ["shared", *(f"own {number}." for number in range(MANY))]
    assert [sum(text.count(body) for text in told) for body in bodies] == [1] * (MANY + 1)


def _one_of_many_with_much(project: Path, number: int) -> str:
    return Desk(project).say(a_payload(), a_piece(f"({number})" + "x" * 6_000, hash=f"{number}"))


def test_of_many_hooks_at_once_none_is_over_the_budget_and_nothing_is_lost(
    project: Path, desk: Desk
) -> None:
    told = at_once(partial(_one_of_many_with_much, project), range(16))
    assert all(units(text) <= REPLY_UNITS for text in told)
    assert sorted("".join(told).count(f"({number})") for number in range(16)) == [1] * 16
    assert desk.say(a_payload()) == ""


def _keep(desk: Desk, *items: str, **outcome: Any) -> list[str]:
    """What is printed at a compaction."""
    asked = Outcome(**outcome)
    asked.keep = list(items)
    deliver(a_payload("pre-compact"), desk.space, asked, desk.printed.append)
    return desk.printed


def test_a_compaction_is_told_what_to_keep_and_nothing_else(desk: Desk) -> None:
    """The client appends to its own words whatever is printed."""
    [reply] = _keep(desk, "the plan", "Größe", messages=["to the user"], pieces=[a_piece("rule")])
    assert json.loads(reply) == {"keep in the summary": ["the plan", "Größe"]}
    assert "Größe" in reply
    assert reply.endswith("\n")


STREAMS = [
    pytest.param("utf-8", True, id="all characters"),
    pytest.param("UTF8", True, id="by another name"),
    pytest.param("ascii", False, id="few"),
    pytest.param("latin-1", False, id="some"),
    pytest.param("cp1252", False, id="those of a Windows console"),
]


@pytest.mark.parametrize(("encoding", "is_plain"), STREAMS)
def test_what_to_keep_is_spelled_as_the_stream_can(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, encoding: str, *, is_plain: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    [reply] = _keep(desk, "Größe 測る")
    assert json.loads(reply) == {"keep in the summary": ["Größe 測る"]}
    assert ("測る" in reply) is is_plain
    assert reply.encode(encoding)


@pytest.mark.parametrize("stream", [None, io.StringIO(), object()])
def test_of_a_stream_that_does_not_tell_the_least_is_expected(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, stream: object
) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    [reply] = _keep(desk, "Größe")
    assert reply.isascii()


def test_a_compaction_with_nothing_to_keep_is_answered_with_silence(desk: Desk) -> None:
    assert _keep(desk, messages=["to the user"], pieces=[a_piece("rule")]) == []


def test_what_waits_for_a_reply_does_not_go_to_a_summary(desk: Desk) -> None:
    desk.say(a_payload("stop"), a_piece("rule"))
    assert _keep(desk) == []
    assert desk.say(a_payload()) == "<rule>"


def test_where_nothing_can_be_noted_that_is_why_nothing_is_sent(home: Path, desk: Desk) -> None:
    put(ours(home, ""), "somebody's")
    outcome = Outcome(pieces=[a_piece("rule")])
    deliver(a_payload(), desk.space, outcome, desk.printed.append)
    assert (desk.printed, outcome.texts) == ([], [])
    first, second = outcome.notes
    assert first.startswith("what was sent cannot be noted: ")
    assert second == "nothing was sent: whether the model has it already is not known"
