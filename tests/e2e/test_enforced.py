"""Sessions that are held until their plan is done, in the real client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.script import edit, read, say, use, write

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk, Run
    from e2e.script import Tool

PLAN = "# Ship it\n\n- [x] one\n- [ ] two\n- [ ] three\n"


def begin(desk: Desk) -> tuple[Path, Run]:
    """A session whose plan is enforced from another terminal."""
    plan = desk.write(".claude/PLAN.md", PLAN)
    run = desk.run("hello", turns=[say("hi")])
    desk.sisyphus("boulder", "enforce", "on", "--project", str(desk.project))
    return plan, run


def check(plan: Path, task: str, box: str = "x") -> Tool:
    return edit(plan, f"- [ ] {task}", f"- [{box}] {task}")


def test_a_session_is_held_until_its_plan_is_done(desk: Desk) -> None:
    plan, start = begin(desk)

    run = desk.resume(start, "work", turns=[
        use(read(plan)), say("I had a look."),
        use(check(plan, "two")), say("Two is done."),
        use(check(plan, "three")), say("All done."),
    ])  # fmt: skip
    following = desk.resume(start, "and now?", turns=[say("nothing left")])

    assert "Next task: two" in run.requests[2].last
    assert "Next task: three" in run.requests[4].last
    assert run.result == "All done."
    assert following.result == "nothing left"
    assert "success" in desk.sisyphus("ralph", "log")


def test_blocked_tasks_hold_nobody(desk: Desk) -> None:
    plan, start = begin(desk)

    run = desk.resume(start, "work", turns=[
        use(read(plan)), use(check(plan, "two", "!")), say("Two waits for the key."),
        use(check(plan, "three", "!")), say("So does three."),
    ])  # fmt: skip

    assert "Next task: three" in run.requests[3].last
    assert run.result == "So does three."


def test_a_question_to_the_user_holds_nobody(desk: Desk) -> None:
    _, start = begin(desk)

    run = desk.resume(start, "work", turns=[say("Which of the two first?")])

    assert run.result == "Which of the two first?"


def test_a_loop_that_keeps_its_promise_hands_over_to_the_plan(desk: Desk) -> None:
    plan, start = begin(desk)
    desk.resume(start, "work", turns=[say("I had a look."), say("Which one first?")])

    run = desk.resume(
        start,
        '/sisyphus:ralph-loop "Tidy up" --completion-promise TIDY',
        turns=[
            say("tidying"), say("<promise>TIDY</promise>"),
            use(read(plan)), use(check(plan, "two")), use(check(plan, "three")), say("All done."),
        ],
    )  # fmt: skip

    assert "<promise>TIDY</promise>" in run.requests[1].last
    assert "Next task: two" in run.requests[2].last
    assert run.result == "All done."


def test_where_the_plan_has_held_nobody_yet_the_promise_is_enough(desk: Desk) -> None:
    _, start = begin(desk)

    run = desk.resume(
        start,
        '/sisyphus:ralph-loop "Tidy up" --completion-promise TIDY',
        turns=[say("<promise>TIDY</promise>")],
    )
    following = desk.resume(start, "and now?", turns=[say("resting"), say("Shall I?")])

    assert run.result == "<promise>TIDY</promise>"
    assert "Next task: two" in following.requests[1].last


def test_without_a_tool_call_it_lets_go_before_the_client_loses_patience(desk: Desk) -> None:
    _, start = begin(desk)

    run = desk.resume(start, "work", turns=[say(f"Not now ({n}).") for n in range(6)])

    assert "sisyphus ralph resume" in run.told
    assert "paused" in desk.sisyphus("ralph", "list")


def test_a_session_at_another_plan_is_not_held(desk: Desk) -> None:
    begin(desk)
    desk.write("docs/kord/plans/other.md", "# Other\n\n- [ ] a\n")

    run = desk.run("/sisyphus:start-work other", turns=[say("I begin with it tomorrow.")])

    assert run.result == "I begin with it tomorrow."


def test_who_writes_another_plan_is_held_to_the_first(desk: Desk) -> None:
    _, start = begin(desk)
    other = desk.project / "docs/kord/plans/other.md"

    run = desk.resume(start, "work", turns=[
        use(write(other, "# Other\n\n- [ ] a\n")), say("Off to the other one."), say("Shall I?"),
    ])  # fmt: skip

    assert "Next task: two" in run.requests[2].last


def test_the_user_alone_gives_the_session_another_plan(desk: Desk) -> None:
    _, start = begin(desk)
    desk.resume(start, "work", turns=[say("I had a look."), say("Which one first?")])
    desk.write("docs/kord/plans/other.md", "# Other\n\n- [ ] a\n")

    run = desk.resume(start, "/sisyphus:start-work other", turns=[say("I begin tomorrow.")])
    following = desk.resume(start, "/sisyphus:start-work ship", turns=[say("Hm."), say("Ready?")])

    assert run.result == "I begin tomorrow."
    assert "the session works on another plan" in desk.sisyphus("ralph", "log", "--json")
    assert "Next task: two" in following.requests[1].last


def test_it_is_switched_on_and_off_in_the_session(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)

    run = desk.run(
        "/sisyphus:boulder-enforce on",
        "work",
        "/sisyphus:boulder-enforce off",
        "rest",
        turns=[say("no"), say("Shall I?"), say("resting")],
    )

    assert "Next task: two" in run.requests[1].last
    assert run.result == "resting"
