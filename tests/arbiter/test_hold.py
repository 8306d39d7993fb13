from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from making import a_space, configure, know_session, ours, put
from ralph.lines import add, prompt, result, said, typed, used
from ralph.repositories import a_repository, git, latest

from arbiter.desk import Desk
from arbiter.plans import BLOCKED, DONE, LATER, ONE, SINCE, TWO, Enforced
from sisyphus.ralph import actions, arguments, report, start, statefile, store
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import history, timeline, views
from sisyphus.text import units

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.clients.base import Outcome
    from sisyphus.ralph.loop import Loop

LOOP = "ralph/loops/ralph-loop.s1.local.md"
PROMISE = '"a part" --completion-promise "PART"'
KEPT = "<promise>PART</promise>"
DESCRIPTION = "boulder: Ship it (.claude/PLAN.md)"


@pytest.fixture
def plan(desk: Desk) -> Enforced:
    desk.add(prompt("work on the plan"))
    return Enforced(desk)


def _is_blocked(outcome: Outcome) -> bool:
    return outcome.reason is not None


def _outcomes(desk: Desk) -> list[tuple[str, str]]:
    """How loops ended, and why."""
    return [(line["outcome"], line["error_reason"]) for line in desk.log if "outcome" in line]


@pytest.mark.usefixtures("plan")
def test_a_block_names_the_next_task_first(desk: Desk) -> None:
    outcome = desk.answer("one is done")

    assert outcome.reason == (
        "Boulder: 1/3 tasks of Ship it are done. Next task: two (.claude/PLAN.md, line 4). Do it, "
        "check its box, and go on with the next one. A task that cannot be done is marked `[!]`; "
        "where you need the user, ask.\n\nIteration 2 of 100."
    )
    assert outcome.messages == []
    assert outcome.texts == []
    assert outcome.notes[0] == (
        "blocked: 1/3 tasks of Ship it are done; next: two (line 4); iteration 2 of 100"
    )
    assert outcome.notes[1] == f"loop {desk.loop.loop_id} started: {DESCRIPTION}"


def test_the_next_block_names_the_task_after_it(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.write(ONE)

    outcome = desk.answer("two is done")

    assert "2/3 tasks of Ship it are done. Next task: three" in str(outcome.reason)
    assert "Iteration 3 of 100." in str(outcome.reason)


def test_a_hold_is_a_loop_with_the_limits_of_the_enforcement(desk: Desk, plan: Enforced) -> None:
    plan.on(max_iterations=7, max_minutes=60, max_tokens=5_000)

    desk.answer("one is done")

    loop = desk.loop
    assert (loop.plan, loop.completion_promise, loop.by_model) == (plan.path, None, False)
    assert (loop.max_iterations, loop.max_minutes, loop.max_tokens) == (7, 60, 5_000)
    assert loop.origin == f"boulder {plan.path} {SINCE}"
    assert loop.description == DESCRIPTION


def test_without_limits_of_its_own_it_has_those_of_any_loop(desk: Desk, plan: Enforced) -> None:
    plan.on(max_iterations=0, max_minutes=0, max_tokens=0)

    desk.answer("one is done")

    assert desk.loop.max_iterations == arguments.MAX_ITERATIONS
    assert (desk.loop.max_minutes, desk.loop.max_tokens) == (lp.MAX_MINUTES, 0)


NOT_HELD = [
    pytest.param(TWO, {"message": "Shall I go on?"}, "asked the user", id="a question"),
    pytest.param(
        TWO,
        {"background_tasks": [{"id": "b1", "status": "running"}]},
        "background work is pending: b1",
        id="background work",
    ),
    pytest.param(TWO, {"permission_mode": "plan"}, "plan mode", id="plan mode"),
    pytest.param(TWO, {"agent_id": "a1"}, "a subagent stops freely", id="a subagent"),
    pytest.param(BLOCKED, {}, "no loop is active", id="only blocked tasks are left"),
    pytest.param(
        "- [x] one\n- [-] two\n", {}, "no loop is active", id="only cancelled tasks are left"
    ),
    pytest.param("# Ship it\n", {}, "no loop is active", id="no tasks"),
    pytest.param(DONE, {}, "no loop is active", id="all tasks are done"),
]


@pytest.mark.parametrize(("text", "fields", "why"), NOT_HELD)
def test_who_may_stop_at_once(
    desk: Desk, plan: Enforced, text: str, fields: dict[str, object], why: str
) -> None:
    plan.write(text)

    outcome = desk.stop(**{"message": "done so far", **fields})  # type: ignore[arg-type]

    assert not _is_blocked(outcome)
    assert why in outcome.notes[0]


@pytest.mark.usefixtures("plan")
def test_a_question_that_only_the_transcript_shows_is_one_too(desk: Desk) -> None:
    desk.add(said("Shall I go on?"))

    assert not _is_blocked(desk.stop())


RESTS = [
    pytest.param(BLOCKED, "1/3 tasks of Ship it are done, and only blocked ones", id="blocked"),
    pytest.param("- [x] one\n- [-] two\n- [!] three\n", "only blocked", id="and cancelled"),
    pytest.param("# Ship it\n", "the plan .claude/PLAN.md has no tasks", id="no tasks"),
    pytest.param(b"\xff\xfe\x00", "the plan .claude/PLAN.md cannot be read", id="not readable"),
    pytest.param(None, "the plan .claude/PLAN.md is gone", id="gone"),
]


@pytest.mark.parametrize(("text", "why"), RESTS)
def test_a_plan_without_anything_to_do_costs_no_iteration(
    desk: Desk, plan: Enforced, text: str | bytes | None, why: str
) -> None:
    desk.answer("one is done")
    path = desk.project / ".claude" / "PLAN.md"
    path.unlink() if text is None else put(path, text)

    outcome = desk.answer("I can do no more.")

    assert (outcome.reason, outcome.messages) == (None, [])
    assert why in outcome.notes[0]
    assert desk.loop.iteration == 2

    plan.write(ONE)
    assert _is_blocked(desk.answer("it moves on"))
    assert desk.loop.iteration == 3


@pytest.mark.usefixtures("plan")
def test_where_the_boulder_is_switched_off_nobody_is_held(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.answer("one is done")
    monkeypatch.setenv("SISYPHUS_BOULDER_ENABLED", "0")

    outcome = desk.answer("and now?!")

    assert outcome.notes[0] == "allowed: the boulder is switched off"
    monkeypatch.delenv("SISYPHUS_BOULDER_ENABLED")
    assert _is_blocked(desk.answer("back"))


DONES = [pytest.param(True, id="its record is cleared"), pytest.param(False, id="not yet")]


@pytest.mark.parametrize("is_cleared", DONES)
def test_a_plan_that_is_complete_lets_the_session_go(
    desk: Desk, plan: Enforced, *, is_cleared: bool
) -> None:
    desk.answer("one is done")
    plan.write(DONE)
    if is_cleared:
        plan.forget()

    outcome = desk.answer("all is done")

    assert (outcome.reason, outcome.messages, outcome.texts) == (None, [], [])
    assert outcome.notes[0] == "ended: all tasks of Ship it are done"
    assert desk.loops == []
    assert _outcomes(desk) == [("success", "all tasks of Ship it are done")]


ENDS = [pytest.param("off", id="off"), pytest.param("forget", id="cleared")]


@pytest.mark.parametrize("how", ENDS)
def test_an_enforcement_that_is_over_lets_the_session_go(
    desk: Desk, plan: Enforced, how: str
) -> None:
    desk.answer("one is done")
    getattr(plan, how)()

    outcome = desk.answer("and now")

    assert (outcome.reason, outcome.texts) == (None, [])
    (message,) = outcome.messages
    assert message == f"This session is held to its plan no more ({DESCRIPTION})."
    assert outcome.notes[0] == "ended: its plan is enforced no more"
    assert desk.loops == []
    assert _outcomes(desk) == [("cancelled", "its plan is enforced no more")]


def test_an_enforcement_that_is_renewed_holds_anew(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    before = desk.loop.loop_id
    plan.on(LATER, max_iterations=5)

    outcome = desk.answer("and now")

    assert "Iteration 2 of 5." in str(outcome.reason)
    assert outcome.messages == []
    assert desk.loop.loop_id != before
    assert [loop.origin for loop in desk.loops] == [f"boulder {plan.path} {LATER}"]


def test_a_plan_that_is_moved_goes_on(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.move("PLAN.md")

    outcome = desk.answer("moved")

    assert "(PLAN.md, line 4)" in str(outcome.reason)
    assert (desk.loop.plan, desk.loop.iteration) == (plan.path, 3)
    assert _is_blocked(desk.answer("again"))


def test_a_worktree_is_held_to_the_plan_of_its_checkout(home: Path, tmp_path: Path) -> None:
    main, side = tmp_path / "main", tmp_path / "side"
    a_repository(main)
    git(main, "worktree", "add", "-q", str(side))
    plan, desk = Enforced(Desk(home, main)), Desk(home, side)

    assert "(.claude/PLAN.md, line 4)" in str(desk.answer("first").reason)
    assert (desk.loop.plan, desk.loop.project) == (plan.path, str(side))

    plan.write(DONE)
    plan.forget()
    assert desk.answer("second").notes[0] == "ended: all tasks of Ship it are done"


def test_a_session_of_another_plan_is_not_held(desk: Desk, plan: Enforced) -> None:
    plan.on(sessions=("s2",))

    assert not _is_blocked(desk.answer("my own work"))
    assert desk.loops == []


# Another plan.


def test_whatever_plan_the_model_turns_to_it_stays_held(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.turn_to("docs/kord/plans/b.md")

    assert "Next task: two" in str(desk.answer("another plan").reason)
    assert [loop.iteration for loop in desk.loops] == [3]


def test_even_before_it_was_held_first(desk: Desk, plan: Enforced) -> None:
    plan.turn_to("docs/kord/plans/b.md")

    assert "Next task: two" in str(desk.answer("another plan").reason)


OTHER = "# Search\n\n- [ ] s1\n"


def test_while_another_plan_lies_in_its_place_it_rests(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.park(OTHER)

    assert not _is_blocked(desk.answer("on another branch"))
    assert not _is_blocked(desk.answer("done there"))

    plan.come_back()
    assert "Next task: two" in str(desk.answer("back again").reason)


def test_the_end_of_the_other_plan_is_not_its_own(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.park(OTHER.replace("[ ]", "[x]"))

    assert desk.answer("on another branch").notes[0].startswith("allowed")
    assert _outcomes(desk) == []


def test_a_moved_plan_is_found_by_its_enforcement(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.turn_to("docs/kord/plans/b.md")
    plan.move("PLAN.md")

    assert "(PLAN.md, line 4)" in str(desk.answer("another plan").reason)


def test_the_user_gives_it_another_plan(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.turn_to("docs/kord/plans/b.md", by_user=True)

    outcome = desk.answer("another plan")

    assert not _is_blocked(outcome)
    assert outcome.notes[0] == "ended: the session works on another plan"
    assert _outcomes(desk) == [("cancelled", "the session works on another plan")]
    assert not _is_blocked(desk.answer("and on"))


def test_or_does_so_before_it_was_held(desk: Desk, plan: Enforced) -> None:
    plan.turn_to("docs/kord/plans/b.md", by_user=True)

    assert not _is_blocked(desk.answer("another plan"))
    assert desk.loops == []


def test_a_loop_in_it_goes_on_with_the_other_plan(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    desk.begin(args=PROMISE, prompt_id="p2")
    plan.turn_to("docs/kord/plans/b.md", by_user=True)

    assert "PART" in str(desk.answer("another plan").reason)
    assert [bool(loop.plan) for loop in desk.loops] == [False]


BACK = [
    pytest.param(lambda plan: plan.turn_to(plan.path, by_user=True), id="by the user"),
    pytest.param(lambda plan: plan.turn_to(plan.path), id="of its own accord"),
    pytest.param(lambda plan: plan.on(LATER), id="enforced anew"),
]


@pytest.mark.parametrize("back", BACK)
def test_who_comes_back_is_held_again(
    desk: Desk, plan: Enforced, back: Callable[[Enforced], None]
) -> None:
    desk.answer("one is done")
    plan.turn_to("docs/kord/plans/b.md", by_user=True)
    desk.answer("another plan")
    back(plan)

    assert "Next task: two" in str(desk.answer("back again").reason)
    plan.turn_to("docs/kord/plans/b.md")
    assert _is_blocked(desk.answer("away again"))


def test_who_comes_back_before_its_next_stop_was_never_away(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.turn_to("docs/kord/plans/b.md", by_user=True)
    plan.turn_to(plan.path, by_user=True)

    assert "Iteration 3 of 100." in str(desk.answer("back again").reason)


def test_after_clear_it_is_as_free_as_before(desk: Desk, plan: Enforced) -> None:
    desk.answer("one is done")
    plan.turn_to("docs/kord/plans/b.md", by_user=True)
    _move(desk)
    _follows(desk, "s2", "s1")

    assert not _is_blocked(desk.stop("in the new session", session_id="s2"))
    assert _loops(desk, "s2") == []


# Once an enforcement has held a session, it is over for good.


def _at_its_limit(desk: Desk, plan: Enforced) -> None:
    plan.on(max_iterations=2)
    desk.answer("first")
    outcome = desk.answer("second")
    assert outcome.messages == [
        (
            "[BOULDER ENFORCEMENT ENDED]\n\n"
            "This session is held to its plan no more: the limit of 2 iterations is reached.\n"
            f"Task: {DESCRIPTION}\n"
            "To hold it again: `sisyphus boulder enforce on`."
        )
    ]


def _cancelled(desk: Desk, _: Enforced) -> None:
    desk.answer("first")
    desk.cancel()


def _cancelled_by_a_prompt(desk: Desk, _: Enforced) -> None:
    desk.answer("first")
    desk.prompt("/sisyphus:cancel-ralph")


def _switched_off(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    plan.off()
    desk.answer("second")
    plan.on()


def _completed(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    plan.write(DONE)
    desk.answer("second")
    plan.write(TWO)


def _cancelled_and_moved(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    desk.cancel()
    plan.move("PLAN.md")


def _cancelled_and_away_for_a_while(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    desk.cancel()
    plan.turn_to("docs/kord/plans/b.md", by_user=True)
    desk.answer("elsewhere")
    plan.turn_to(plan.path, by_user=True)


OVER = [
    pytest.param(_at_its_limit, id="a limit"),
    pytest.param(_cancelled, id="cancelled"),
    pytest.param(_cancelled_by_a_prompt, id="cancelled by a prompt"),
    pytest.param(_switched_off, id="off, and on again by hand"),
    pytest.param(_completed, id="complete"),
    pytest.param(_cancelled_and_moved, id="cancelled, and its plan was moved"),
    pytest.param(_cancelled_and_away_for_a_while, id="cancelled, and the user came back"),
]


@pytest.mark.parametrize("end", OVER)
def test_what_is_over_does_not_come_back(desk: Desk, plan: Enforced, end: object) -> None:
    end(desk, plan)  # type: ignore[operator]

    assert not _is_blocked(desk.answer("more"))
    assert desk.loops == []


@pytest.mark.parametrize("end", OVER)
def test_but_a_new_enforcement_does(desk: Desk, plan: Enforced, end: object) -> None:
    end(desk, plan)  # type: ignore[operator]
    plan.on("2027-11-20T00:00:00.000Z")

    assert _is_blocked(desk.answer("more"))


def test_a_loop_that_was_cancelled_before_it_began_is_another_matter(desk: Desk) -> None:
    desk.begin(args=PROMISE)
    Enforced(desk)
    desk.answer("working")
    desk.cancel()

    assert "Boulder: 1/3 tasks" in str(desk.answer("more").reason)


@pytest.mark.usefixtures("plan")
def test_so_is_a_command_that_finds_no_loop_to_cancel(desk: Desk) -> None:
    desk.prompt("/sisyphus:cancel-ralph")

    assert _is_blocked(desk.answer("more"))


# What a loop can do, a hold can.


@pytest.mark.usefixtures("plan")
def test_a_paused_hold_lets_the_session_stop(desk: Desk) -> None:
    desk.answer("first")
    desk.pause()

    assert desk.answer("second").notes[0] == "allowed: the loop is paused (user)"

    desk.resume()
    assert _is_blocked(desk.answer("third"))


@pytest.mark.usefixtures("plan")
def test_what_a_command_did_to_it_is_told_in_its_own_words(desk: Desk) -> None:
    desk.answer("first")
    desk.pause()

    (message,) = desk.answer("second").messages

    assert message.startswith("[BOULDER ENFORCEMENT PAUSED]\n\n")
    assert "boulder: Ship it" in message


@pytest.mark.usefixtures("plan")
def test_it_pauses_before_the_client_overrides(desk: Desk) -> None:
    outcomes = [desk.answer("words alone") for _ in range(8)]

    assert [_is_blocked(outcome) for outcome in outcomes] == [True] * 7 + [False]
    (message,) = outcomes[-1].messages
    assert message.startswith("[BOULDER ENFORCEMENT PAUSED]\n\nThe enforcement of the plan was")
    desk.prompt("go on")
    assert _is_blocked(desk.answer("going on"))


@pytest.fixture
def stuck(desk: Desk, plan: Enforced) -> Enforced:
    """A repository, with a breaker that opens after two iterations without progress."""
    configure("ralph.no_progress", 2)
    shutil.rmtree(desk.project / ".git")
    a_repository(desk.project)
    desk.now = latest(desk.project)
    return plan


@pytest.mark.usefixtures("stuck")
def test_the_breaker_opens_where_nothing_moves(desk: Desk) -> None:
    outcomes = [desk.answer("words alone") for _ in range(3)]

    assert [_is_blocked(outcome) for outcome in outcomes] == [True, True, False]
    assert "the circuit breaker opened" in outcomes[-1].notes[0]


def test_a_task_that_was_done_is_progress(desk: Desk, stuck: Enforced) -> None:
    desk.answer("first")
    desk.answer("second")
    stuck.write(ONE)

    assert _is_blocked(desk.answer("third"))
    assert _is_blocked(desk.answer("fourth"))


def test_its_tokens_are_counted_from_its_beginning(desk: Desk, plan: Enforced) -> None:
    plan.on(max_tokens=100)
    desk.add(_answer("a1", 60))
    desk.answer("first")
    desk.add(_answer("a2", 60))
    assert _is_blocked(desk.answer("second"))
    desk.add(_answer("a3", 60))

    outcome = desk.answer("third")

    assert "the limit of 100 tokens is reached (120 spent)" in outcome.notes[0]


def _answer(name: str, tokens: int) -> Json:
    line = said("words")
    line["message"] |= {"id": name, "usage": {"output_tokens": tokens}}
    return line


@pytest.mark.usefixtures("plan")
def test_a_day_is_over(desk: Desk) -> None:
    desk.answer("first")
    desk.now += 60 * lp.MAX_MINUTES

    assert "the limit of 1,440 minutes is reached" in desk.answer("second").notes[0]


@pytest.mark.usefixtures("plan")
def test_after_clear_it_comes_along(desk: Desk) -> None:
    desk.answer("first")
    _move(desk)

    assert [loop.iteration for loop in _loops(desk, "s2")] == [2]
    assert _is_blocked(desk.stop("in the new session", session_id="s2"))


def _move(desk: Desk) -> None:
    """As /clear does: the new session is at no plan yet."""
    with store.LoopStore(desk.ours, "s1") as old, store.LoopStore(desk.ours, "s2") as new:
        for loop in old.loops:
            loop.session_id = "s2"
        new.memory.learn(set(old.memory.starts))
        new.save(old.loops)
        old.save([])


def _follows(desk: Desk, session: str, before: str) -> None:
    """/clear began it where `before` was."""
    know_session(desk.ours, session, before=before)


def _loops(desk: Desk, session: str) -> list[Loop]:
    with store.LoopStore(desk.ours, session) as held:
        return held.loops


def test_after_clear_a_hold_that_was_cancelled_stays_so(desk: Desk, plan: Enforced) -> None:
    plan.on(sessions=("s1", "s2", "s3"))
    desk.answer("first")
    desk.cancel()
    _follows(desk, "s2", "s1")
    _follows(desk, "s3", "s2")

    for session in ("s3", "s3", "s2", "s2", "s1"):
        assert not _is_blocked(desk.stop("on a new page", session_id=session))


# Other loops.


@pytest.mark.usefixtures("plan")
def test_a_loop_that_the_user_types_nests_in_it(desk: Desk) -> None:
    desk.answer("first")
    desk.begin(args=PROMISE, prompt_id="p2")

    assert [bool(loop.plan) for loop in desk.loops] == [True, False]
    assert "Expected promise: <promise>PART</promise>" in str(desk.answer("on it").reason)


@pytest.mark.usefixtures("plan")
def test_and_where_its_promise_is_kept_the_plan_is_judged_at_once(desk: Desk) -> None:
    desk.answer("first")
    desk.begin(args=PROMISE, prompt_id="p2")

    outcome = desk.answer(KEPT)

    assert str(outcome.reason).startswith("Boulder: 1/3 tasks")
    assert outcome.messages == [
        (
            "[RALPH LOOP COMPLETE]\n\nCompletion promise detected: <promise>PART</promise>\n"
            "Ralph loop has ended."
        )
    ]


@pytest.mark.usefixtures("plan")
def test_a_loop_of_the_models_nests_in_it_too(desk: Desk) -> None:
    desk.answer("first")
    desk.nest()

    assert [bool(loop.plan) for loop in desk.loops] == [True, False]
    assert str(desk.answer("<promise>INNER</promise>").reason).startswith("Boulder: ")


@pytest.mark.usefixtures("plan")
def test_a_loop_that_no_hook_saw_nests_in_it(desk: Desk) -> None:
    desk.answer("first")
    desk.add(typed(PROMISE))

    desk.answer("on it")

    assert [bool(loop.plan) for loop in desk.loops] == [True, False]


@pytest.mark.usefixtures("plan")
def test_another_loop_of_the_users_replaces_the_first_one_alone(desk: Desk) -> None:
    desk.answer("first")
    desk.begin(args=PROMISE, prompt_id="p2")
    desk.pause()
    desk.now += 3_600
    desk.begin(args='"another" --completion-promise "OTHER"', prompt_id="p3")

    assert [loop.completion_promise for loop in desk.loops] == [None, "OTHER"]
    assert desk.loops[0].paused_at == 0
    assert _outcomes(desk) == [("cancelled", "another loop replaced it")]


@pytest.mark.usefixtures("plan")
def test_a_loop_from_the_command_line_nests_in_it(desk: Desk) -> None:
    desk.answer("first")

    start.start(a_space(desk.project), start.invocation("a part", {}), "s1")

    assert [bool(loop.plan) for loop in desk.loops] == [True, False]


def test_a_loop_that_is_there_is_not_held_by_a_plan(desk: Desk) -> None:
    desk.begin(args=PROMISE)
    Enforced(desk)

    desk.answer("working")

    assert [loop.plan for loop in desk.loops] == [""]


def test_where_its_promise_is_kept_the_plan_begins_at_the_next_stop(desk: Desk) -> None:
    desk.begin(args=PROMISE)
    Enforced(desk)
    desk.answer("working")

    kept = desk.answer(KEPT)
    assert not _is_blocked(kept)
    assert kept.notes[0] == "ended: promise `PART` kept"

    desk.prompt("go on", "p2")
    outcome = desk.answer("going on")
    assert str(outcome.reason).startswith("Boulder: 1/3 tasks")
    assert [bool(loop.plan) for loop in desk.loops] == [True]


def test_where_its_promise_does_not_count_the_plan_waits(desk: Desk) -> None:
    desk.begin("--verify false", PROMISE)
    Enforced(desk)
    desk.answer("working")

    outcome = desk.answer(KEPT)

    assert "The completion promise was output, but `false`" in str(outcome.reason)
    assert [loop.plan for loop in desk.loops] == [""]


@pytest.mark.usefixtures("plan")
def test_its_blocks_count_on_with_those_of_a_loop_in_it(desk: Desk) -> None:
    desk.answer("first")
    desk.begin(args=PROMISE, prompt_id="p2")
    for _ in range(5):
        assert _is_blocked(desk.answer("words alone"))

    outcomes = [desk.answer(text) for text in (KEPT, "words alone", "words alone")]

    assert [_is_blocked(outcome) for outcome in outcomes] == [True, True, False]


def test_a_plan_that_is_complete_lets_a_loop_in_it_go_on(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    desk.begin(args=PROMISE, prompt_id="p2")
    plan.write(DONE)
    plan.forget()

    assert _is_blocked(desk.answer("on it"))
    assert [loop.completion_promise for loop in desk.loops] == ["PART"]
    assert _outcomes(desk) == [("success", "all tasks of Ship it are done")]


def test_its_limits_do_not_end_a_loop_of_the_users(desk: Desk, plan: Enforced) -> None:
    plan.on(max_minutes=10)
    desk.answer("first")
    desk.now += 6_000
    desk.begin(args=PROMISE, prompt_id="p2")

    assert _is_blocked(desk.answer("on it"))

    outcome = desk.answer(KEPT)
    assert not _is_blocked(outcome)
    assert "[BOULDER ENFORCEMENT ENDED]" in outcome.messages[-1]


def test_its_limits_end_a_loop_of_the_models(desk: Desk, plan: Enforced) -> None:
    plan.on(max_minutes=10)
    desk.answer("first")
    desk.nest()
    desk.now += 6_000

    assert not _is_blocked(desk.answer("on it"))
    assert desk.loops == []


@pytest.mark.usefixtures("plan")
def test_a_loop_in_it_at_its_limit_gives_way_to_the_plan(desk: Desk) -> None:
    desk.answer("first")
    desk.begin("--max-iterations 1", PROMISE, prompt_id="p2")

    outcome = desk.answer("on it")

    assert str(outcome.reason).startswith("Boulder: 1/3 tasks")
    assert "[RALPH LOOP ENDED]" in outcome.messages[0]


@pytest.mark.usefixtures("plan")
def test_a_question_in_a_loop_of_the_users_does_not_excuse(desk: Desk) -> None:
    desk.answer("first")
    desk.begin(args=PROMISE, prompt_id="p2")

    assert _is_blocked(desk.answer("Shall I go on?"))


# Whose word counts.


def _hand_edited(desk: Desk, **options: object) -> None:
    path = ours(desk.home, LOOP)
    loop = statefile.parse(path.read_text())
    loop.options.update(options)
    path.write_text(statefile.render(loop))


EDITS = [
    pytest.param("/etc/hosts", id="outside of the project"),
    pytest.param("\0\ud800", id="no path"),
    pytest.param("x" * 5_000, id="a long one"),
]


@pytest.mark.parametrize("named", EDITS)
def test_a_plan_that_nobody_enforces_holds_nobody(desk: Desk, named: str) -> None:
    desk.begin(args='"do it"')
    _hand_edited(desk, plan=named, plan_root="\ud800")

    outcome = desk.answer("working")

    assert not _is_blocked(outcome)
    assert desk.loops == []
    assert _outcomes(desk) == [("cancelled", "its plan is enforced no more")]


def test_a_hold_of_another_plan_goes_back_to_its_own(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    put(desk.project / "other.md", "- [ ] delete everything\n")
    _hand_edited(desk, plan=str(desk.project / "other.md"))

    assert "Next task: two" in str(desk.answer("second").reason)
    assert desk.loop.plan == plan.path


@pytest.mark.parametrize("args", ['"do it" --plan /x', '"do it" --plan-root=/x'])
def test_no_command_line_names_a_plan(desk: Desk, args: str) -> None:
    desk.prompt(f"/sisyphus:ralph-loop {args}")
    desk.use(args, "toolu_7")

    assert desk.loops == []


def test_the_text_of_a_plan_is_one_short_line(desk: Desk, plan: Enforced) -> None:
    task = "do \x1b]0;it\x07 " * 500
    plan.write(f"# {'N' * 900}\x1b[31m\n\n- [ ] {task}\n")

    outcome = desk.answer("first")

    assert outcome.reason is not None
    assert units(outcome.reason) <= 600
    assert all(part.isprintable() for part in outcome.reason.split("\n"))
    assert outcome.reason.endswith("\n\nIteration 2 of 100.")


# For people.


def test_lists_name_it(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    (row,) = actions.list_loops(desk.ours, desk.now)

    assert report.title(row) == f"{desk.loop.loop_id}  {DESCRIPTION}"
    shown = report.details(row, desk.now)
    assert f"until the open tasks of {plan.path} are done" in shown
    assert "promise" not in shown


def test_the_history_names_it(desk: Desk, plan: Enforced) -> None:
    desk.answer("first")
    loop_id = desk.loop.loop_id
    plan.write(DONE)
    desk.answer("second")

    assert DESCRIPTION in views.log_text(desk.ours)
    record = timeline.find(history.read(desk.ours), loop_id)
    assert "its plan was done (all tasks of Ship it are done)." in timeline.text(desk.ours, record)
    decided = [(row["iteration"], row["decision"]) for row in desk.rows(loop_id)]
    assert decided == [(1, "blocked"), (2, "ended")]


@pytest.mark.usefixtures("plan")
def test_its_first_iteration_is_the_turn_in_which_it_began(desk: Desk) -> None:
    desk.add(used("Edit", file_path="a.py"), result("ok"), prompt("and now"))
    desk.add(used("Edit", file_path="b.py"), result("ok"))

    desk.answer("done")

    (row,) = desk.rows(desk.loop.loop_id)
    assert (row["tools"], row["edits"], row["tokens"]) == (1, 1, 0)


def test_a_quiet_session_notes_nothing(desk: Desk) -> None:
    desk.add(prompt("hello"))
    Enforced(desk).off()

    assert desk.answer("hi").notes == ["allowed: no loop is active"]
    assert not ours(desk.home, "ralph/loops/session-s1.json").exists()


@pytest.mark.usefixtures("plan")
def test_a_long_session_is_held_too(desk: Desk) -> None:
    add(desk.transcript, *(said("x" * 1_000) for _ in range(300)))

    assert _is_blocked(desk.answer("first"))
    assert desk.loop.tokens == 0
