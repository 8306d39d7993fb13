"""Loops are told apart by their prompts: `A`, `B`, … Their promises are `A DONE`, `B DONE`, …"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ralph.lines import (
    AT,
    continued,
    notified,
    prompt,
    read,
    result,
    said,
    skill,
    typed,
    used,
)
from sisyphus.ralph import arguments, events, promise, turn
from sisyphus.ralph import loop as lp
from sisyphus.ralph.invocations import Start
from sisyphus.ralph.turn import Known, Turn

if TYPE_CHECKING:
    from sisyphus.ralph.loop import Loop

Record = dict[str, object]

EARLIER = "2026-11-20T14:00:00.000Z"
LATER = "2026-11-20T16:00:00.000Z"


def _args(name: str, token: str = "") -> str:
    return f'{name} --completion-promise "{token or name + " DONE"}"'


def _kept(name: str) -> Record:
    return said(f"<promise>{name} DONE</promise>")


def _begin(start: Start) -> tuple[Loop, list[str]]:
    asked = arguments.parse(start.args, trusted=not start.by_model)
    loop_id = f"id{asked.prompt}"
    return lp.begin(start, asked, session="s1", loop_id=loop_id, now=0.0), asked.notes


def _loop(name: str) -> Loop:
    return _begin(Start(_args(name), at=AT, origin=f"uuid of {name}"))[0]


def _follow(*records: Record, loops: tuple[str, ...] = (), known: Known | None = None) -> Turn:
    active = [_loop(name) for name in loops]
    return turn.follow(active, events.read(read(*records)), _begin, known or Known())


def _names(turn_: Turn) -> list[str]:
    return [loop.prompt for loop in turn_.loops]


def _ends(turn_: Turn) -> list[tuple[str, str]]:
    return [(loop.prompt, how) for loop, how in turn_.ended]


ACTIVE = [
    pytest.param([prompt("hello"), said("hi")], [], id="nobody started one"),
    pytest.param([typed(_args("A"))], ["A"], id="the user started one"),
    pytest.param([prompt("x"), skill(_args("A"))], ["A"], id="the model started one"),
    pytest.param([typed(_args("A")), typed(_args("B"))], ["B"], id="the user's new one replaces"),
    pytest.param(
        [typed(_args("A")), skill(_args("B"))], ["A", "B"], id="the model's new one is nested"
    ),
    pytest.param(
        [typed(_args("A")), skill(_args("B")), skill(_args("C"))], ["A", "B", "C"], id="twice"
    ),
    pytest.param(
        [typed(_args("A")), skill(_args("B")), typed(_args("C"))], ["C"],
        id="the user's new one replaces nested ones",
    ),
    pytest.param(
        [typed(_args("A")), skill(_args("A"))], ["A"], id="the model starts the same one again"
    ),
    pytest.param(
        [typed(_args("A")), skill(_args("B"), call="t7"), result("no", "t7", is_error=True)],
        ["A"], id="the model's call failed",
    ),
    pytest.param([typed("--bad A")], [], id="a bad command line"),
    pytest.param(
        [prompt("x"), skill(_args("A")), prompt("y"), skill(_args("B"))], ["B"],
        id="what the model started in an earlier turn is history",
    ),
    pytest.param(
        [prompt("x"), skill(_args("A")), prompt("y"), said("z")], ["A"],
        id="but the latest is not",
    ),
    pytest.param(
        [typed(_args("A")), prompt("y"), skill(_args("B"))], ["A", "B"],
        id="nor is what the user started",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("records", "active"), ACTIVE)
def test_which_loops_are_active(records: list[Record], active: list[str]) -> None:
    assert _names(_follow(*records)) == active


KEPT = [
    pytest.param([_kept("A")], ["A"], id="in the last message"),
    pytest.param([_kept("A"), used("Read"), said("bye")], ["A"], id="earlier in the turn"),
    pytest.param([prompt("x"), _kept("A")], ["A"], id="after a prompt"),
    pytest.param([continued(), _kept("A")], ["A"], id="after a continuation"),
    pytest.param([_kept("A"), notified(), said("x")], ["A"], id="before a machine's turn"),
    pytest.param([said("x")], [], id="not at all"),
    pytest.param([_kept("A"), prompt("go on")], [], id="before the user's last prompt"),
    pytest.param([_kept("A"), continued(), said("x")], [], id="before the last continuation"),
    pytest.param([prompt("<promise>A DONE</promise>")], [], id="by the user"),
    pytest.param([result("<promise>A DONE</promise>")], [], id="in a tool result"),
    pytest.param([used("Bash", command="<promise>A DONE</promise>")], [], id="in a tool call"),
    pytest.param([_kept("B")], [], id="another promise"),
]


@pytest.mark.parametrize(("records", "kept"), KEPT)
def test_when_the_promise_is_kept(records: list[Record], kept: list[str]) -> None:
    followed = _follow(*records, loops=("A",))

    assert [loop.prompt for loop in followed.kept] == kept
    assert _names(followed) == ([] if kept else ["A"])
    assert followed.ended == []


def test_what_was_said_before_the_loop_began_is_not_its_promise() -> None:
    assert _names(_follow(_kept("A"), typed(_args("A")), said("x"))) == ["A"]
    assert _names(_follow(prompt("x"), _kept("A"), skill(_args("A")), said("x"))) == ["A"]


def test_a_nested_loop_ends_and_the_outer_one_goes_on() -> None:
    followed = _follow(_kept("B"), loops=("A", "B"))

    assert [loop.prompt for loop in followed.kept] == ["B"]
    assert _names(followed) == ["A"]


def test_the_promise_of_a_waiting_loop_does_not_end_the_current_one() -> None:
    followed = _follow(_kept("A"), loops=("A", "B"))

    assert followed.kept == []
    assert _names(followed) == ["A", "B"]


def test_one_message_may_keep_the_promises_of_both() -> None:
    text = "<promise>B DONE</promise>\n<promise>A DONE</promise>"

    assert _names(_follow(said(text), loops=("A", "B"))) == []


def test_one_tag_ends_only_one_of_two_loops_with_the_same_promise() -> None:
    records = [typed(_args("A", "DONE")), skill(_args("B", "DONE"))]
    once = _follow(*records, said("<promise>DONE</promise>"))
    twice = _follow(*records, said("<promise>DONE</promise>"), said("<promise>DONE</promise>"))

    assert (_names(once), _names(twice)) == (["A"], [])


def test_loops_one_after_the_other_in_one_turn_each_end_by_their_own_promise() -> None:
    followed = _follow(
        prompt("x"), skill(_args("A")), _kept("A"), skill(_args("B")), said("working")
    )

    assert _names(followed) == ["B"]
    assert _ends(followed) == [("A", lp.SUCCESS)]
    assert followed.kept == []


def test_a_promise_of_an_earlier_turn_ends_a_loop_once_another_one_begins() -> None:
    followed = _follow(typed(_args("A")), _kept("A"), prompt("x"), skill(_args("B")))

    assert _names(followed) == ["B"]
    assert _ends(followed) == [("A", lp.SUCCESS)]


@pytest.mark.parametrize("between", [prompt("x"), continued()], ids=["a prompt", "a Stop"])
def test_but_not_a_loop_that_was_there_before(between: Record) -> None:
    followed = _follow(_kept("A"), between, skill(_args("B")), loops=("A",))

    assert _names(followed) == ["A", "B"]
    assert _ends(followed) == []


def test_a_replaced_loop_is_cancelled() -> None:
    assert _ends(_follow(typed(_args("C")), loops=("A", "B"))) == [
        ("B", lp.CANCELLED),
        ("A", lp.CANCELLED),
    ]


def test_a_loop_of_the_users_nests_in_what_holds_the_session_to_a_plan() -> None:
    hold, old = _loop("A"), _loop("B")
    hold.options = {lp.PLAN: "/p/PLAN.md"}

    followed = turn.follow([hold, old], events.read(read(typed(_args("C")))), _begin, Known())

    assert _names(followed) == ["A", "C"]
    assert _ends(followed) == [("B", lp.CANCELLED)]


def test_ended_loops_do_not_come_back() -> None:
    start = typed(_args("A"))
    known = Known()
    _follow(start, _kept("A"), known=known)

    assert _names(_follow(start, said("x"), known=known)) == []


def test_a_start_that_is_read_again_forgets_what_was_said_before_it() -> None:
    start = typed(_args("A"))
    loop = _loop("A")
    loop.origin = str(start["uuid"])
    events_ = events.read(read(_kept("A"), start, said("x")))

    assert turn.follow([loop], events_, _begin, Known([loop.origin])).loops == [loop]


def test_a_nested_start_that_is_read_again_does_so_too() -> None:
    start = skill(_args("A"))
    loop = _loop("A")
    loop.origin = str(start["uuid"])
    events_ = events.read(read(_kept("A"), start, said("x")))

    assert turn.follow([loop], events_, _begin, Known([loop.origin])).loops == [loop]


def _early(name: str, call: str) -> Loop:
    """A loop that the model has started and whose line is not written yet."""
    loop = _loop(name)
    loop.origin, loop.by_model = f"call {call}", True
    return loop


def test_a_loop_that_a_hook_saw_begins_at_its_line() -> None:
    outer, inner = _loop("A"), _early("B", "t7")
    start = skill(_args("B"), call="t7")
    known = Known([inner.origin])
    records = [_kept("A"), start, said("x")]

    followed = turn.follow([outer, inner], events.read(read(*records)), _begin, known)

    assert _names(followed) == ["B"]
    assert _ends(followed) == [("A", lp.SUCCESS)]
    assert inner.origin == start["uuid"]
    assert known.starts == {start["uuid"]}
    assert followed.begun == []


def test_while_its_line_is_not_written_it_is_simply_active() -> None:
    followed = turn.follow(
        [_loop("A"), _early("B", "t7")], events.read(read(_kept("B"))), _begin, Known()
    )

    assert _names(followed) == ["A"]


def test_once_its_line_is_known_the_name_of_its_call_is_free() -> None:
    known = Known(["call t7"])
    _follow(skill(_args("A"), call="t7"), known=known)

    assert _names(_follow(skill(_args("B"), call="t7"), known=known)) == ["B"]


def test_a_start_without_any_name_is_remembered_by_none() -> None:
    known = Known()
    event = events.Event(events.STARTED, start=Start(_args("A")))

    assert _names(turn.follow([], [event], _begin, known)) == ["A"]
    assert known.starts == set()


def test_loops_without_a_name_are_not_mixed_up() -> None:
    nameless = _loop("A")
    nameless.origin = ""

    followed = turn.follow(
        [nameless], events.read(read(skill(_args("B"), call=""))), _begin, Known()
    )

    assert _names(followed) == ["A", "B"]


def test_the_line_of_a_loop_that_its_prompt_started_confirms_it() -> None:
    loop = _loop("A")
    loop.origin = ""
    loop.iteration = 3
    start = typed(_args("A"))

    followed = turn.follow([loop], events.read(read(start)), _begin, Known())

    assert followed.loops == [loop]
    assert (loop.origin, loop.iteration) == (start["uuid"], 3)
    assert followed.begun == []


def test_the_line_of_another_task_replaces_it() -> None:
    loop = _loop("A")
    loop.origin = ""

    followed = turn.follow([loop], events.read(read(typed(_args("B")))), _begin, Known())

    assert _names(followed) == ["B"]


def test_a_fork_adopts_no_loop_of_its_parent() -> None:
    known = Known(forked_at=LATER)
    followed = _follow(typed(_args("A")), typed(_args("B"), timestamp=""), said("x"), known=known)

    assert _names(followed) == []
    assert followed.notes == ["no loop started: the line is the parent session's"] * 2


def test_a_fork_has_loops_of_its_own() -> None:
    assert _names(_follow(typed(_args("A")), known=Known(forked_at=EARLIER))) == ["A"]


def test_what_was_cancelled_before_it_was_seen_stays_away() -> None:
    known = Known(cancelled_at=LATER)
    followed = _follow(
        typed(_args("A")), skill(_args("B")), typed(_args("C"), timestamp=""), known=known
    )

    assert _names(followed) == []
    assert followed.notes == ["no loop started: it was cancelled"] * 3
    assert len(known.starts) == 3


def test_what_began_after_that_starts() -> None:
    known = Known(cancelled_at=EARLIER)

    assert _names(_follow(typed(_args("A")), skill(_args("B")), known=known)) == ["A", "B"]


def test_a_loop_that_is_there_is_not_cancelled_by_what_was_cancelled_before_it() -> None:
    loop = _loop("A")
    loop.origin = ""
    line = typed(_args("A"), timestamp=EARLIER)

    followed = turn.follow([loop], events.read(read(line)), _begin, Known(cancelled_at=LATER))

    assert followed.loops == [loop]


BACK = [
    pytest.param(0, ["A", "B", "C"], [], id="the innermost and all around it"),
    pytest.param(1, ["A", "B"], ["C"], id="those around the innermost"),
    pytest.param(2, ["A"], ["C", "B"], id="the outermost"),
    pytest.param(3, [], ["C", "B", "A"], id="none"),
]


@pytest.mark.parametrize(("index", "active", "kept"), BACK)
def test_loops_whose_promise_does_not_count_go_on(
    index: int, active: list[str], kept: list[str]
) -> None:
    text = "\n".join(f"<promise>{name} DONE</promise>" for name in "CBA")
    followed = _follow(said(text), loops=("A", "B", "C"))
    assert [loop.prompt for loop in followed.kept] == ["C", "B", "A"]

    followed.put_back(index)

    assert _names(followed) == active
    assert [loop.prompt for loop in followed.kept] == kept


def test_a_pause_of_the_clients_cap_ends_at_the_moment_of_the_look() -> None:
    loop = _loop("A")
    loop.pause(lp.BY_HOST_CAP, 100)

    turn.follow([loop], events.read(read(prompt("go on"))), _begin, Known(now=160))

    assert (loop.is_paused, loop.paused_seconds) == (False, 60)


def test_in_a_session_met_late_a_promise_of_an_earlier_turn_has_ended_its_loop() -> None:
    records = [typed(_args("A")), _kept("A"), prompt("something else"), said("x")]

    assert _names(_follow(*records, known=Known(met_at=LATER))) == []
    assert _names(_follow(*records, known=Known(met_at=EARLIER))) == ["A"]
    assert _names(_follow(*records)) == ["A"]


def test_in_a_session_met_late_a_loop_without_its_promise_goes_on() -> None:
    records = [typed(_args("A")), said("x"), prompt("go on"), said("y")]

    assert _names(_follow(*records, known=Known(met_at=LATER))) == ["A"]


def test_a_bad_command_line_is_told_once_and_changes_nothing() -> None:
    known = Known()
    start = typed("--bad A")
    followed = _follow(start, loops=("B",), known=known)

    assert "unknown option --bad" in followed.refused[0]
    assert _names(followed) == ["B"]
    assert _follow(start, loops=("B",), known=known).refused == []


def test_what_the_model_may_not_have_is_noted() -> None:
    followed = _follow(skill(_args("A") + " --max-iterations 0"))

    assert followed.notes[0] == "the model asked for --max-iterations 0; it gets 100"
    assert followed.loops[0].max_iterations == 100


def test_the_model_cannot_nest_loops_for_ever() -> None:
    starts = [skill(_args(f"L{number}")) for number in range(turn.DEEPEST + 5)]

    followed = _follow(*starts)

    assert len(followed.loops) == turn.DEEPEST + 1
    assert "too many loops wait already" in followed.notes[-1]


PAUSED = [
    pytest.param(lp.BY_HOST_CAP, [prompt("go on")], False, id="the user speaks"),
    pytest.param(lp.BY_HOST_CAP, [notified()], True, id="a machine speaks"),
    pytest.param(lp.BY_HOST_CAP, [said("x")], True, id="only the model speaks"),
    pytest.param("", [prompt("go on")], True, id="the user speaks, who paused it himself"),
]


@pytest.mark.parametrize(("paused_by", "records", "is_paused"), PAUSED)
def test_a_paused_loop_waits_for_the_user(
    paused_by: str, records: list[Record], is_paused: bool
) -> None:
    loop = _loop("A")
    loop.pause(paused_by, 0.0)

    turn.follow([loop], events.read(read(*records)), _begin, Known())

    assert loop.is_paused is is_paused


def test_of_nested_loops_the_current_one_is_resumed() -> None:
    outer, inner = _loop("A"), _loop("B")
    outer.pause("", 0.0)
    inner.pause(lp.BY_HOST_CAP, 0.0)

    turn.follow([outer, inner], events.read(read(prompt("go on"))), _begin, Known())

    assert (outer.is_paused, inner.is_paused) == (True, False)


def test_a_nested_loop_ends_while_its_outer_one_is_paused() -> None:
    outer, inner = _loop("A"), _loop("B")
    outer.pause("", 0.0)
    text = "<promise>B DONE</promise>\n<promise>A DONE</promise>"

    followed = turn.follow([outer, inner], events.read(read(said(text))), _begin, Known())

    assert followed.kept == [inner]
    assert followed.loops == [outer]


def test_a_paused_loop_is_not_ended_by_its_promise() -> None:
    loop = _loop("A")
    loop.pause("", 0.0)

    followed = turn.follow([loop], events.read(read(_kept("A"))), _begin, Known())

    assert followed.loops == [loop]


BUSY = [
    pytest.param([said("x")], False, False, id="talk"),
    pytest.param([used("Read"), said("x")], True, False, id="a tool"),
    pytest.param([used("Read"), continued(), said("x")], False, False, id="a tool, then a Stop"),
    pytest.param([continued(), used("Read")], True, False, id="a Stop, then a tool"),
    pytest.param([prompt("x"), said("x")], False, True, id="a prompt"),
    pytest.param([notified(), said("x")], False, False, id="a machine's turn"),
    pytest.param([skill("--bad x")], True, False, id="a loop that does not start"),
]


@pytest.mark.parametrize(("records", "used_tool", "prompted"), BUSY)
def test_what_resets_the_count_of_blocks_is_seen(
    records: list[Record], used_tool: bool, prompted: bool
) -> None:
    followed = _follow(*records, loops=("A",))

    assert (followed.used_tool, followed.prompted) == (used_tool, prompted)


REASONS = [
    pytest.param([], turn.SAID_NOTHING, id="nothing said"),
    pytest.param([said("x")], promise.NO_TAG, id="no tag"),
    pytest.param([said("`<promise>A DONE</promise>`"), said("x")], promise.SHOWN, id="the nearest"),
    pytest.param([said("<promise>A"), prompt("x"), said("x")], promise.NO_TAG, id="of this turn"),
    pytest.param([said("<promise>A"), prompt("x")], turn.SAID_NOTHING, id="nothing since"),
]


@pytest.mark.parametrize(("records", "reason"), REASONS)
def test_the_reason_is_what_came_nearest(records: list[Record], reason: str) -> None:
    assert _follow(*records, loops=("A",)).reason == reason


def test_a_nested_loop_whose_line_is_late_stays_the_current_one() -> None:
    line = typed(_args("A"))
    outer, inner = _loop("A"), _loop("B")
    outer.origin, inner.origin = str(line["uuid"]), "call toolu_7"

    known = Known([outer.origin, inner.origin])
    followed = turn.follow([outer, inner], events.read(read(line, said("x"))), _begin, known)

    assert followed.loops == [outer, inner]
