"""What the buttons of the dashboard do, and refuse."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browser import Browser, text_of
from httpx2 import Response
from test_run import PLAN, Runs, done
from world import World

from sisyphus.ground import processes

NEED = "<blocked>the key of the bank</blocked>"
ANSWER = "It is in `vault/key`,\nsecond drawer."


def press(browser: Browser, id: str, action: str, **fields: str) -> Response:
    return browser.press(f"/loops/{id}/{action}", f"/loops/{id}", **fields)


def send(browser: Browser, id: str, action: str, **fields: str) -> Response:
    """What a program asks for, which needs no button."""
    token = {"authorization": f"Bearer {browser.token}"}
    return browser.client.post(f"/loops/{id}/{action}", headers=token, data=fields)


def state(browser: Browser, id: str) -> str:
    return str(browser.json(f"/loops/{id}")["row"]["state"])


def end_session(world: World, session: str = "s1") -> None:
    world.hook("session-end", world.payload("SessionEnd.other", session))


# ---------------------------------------------------------------- pause, resume, cancel, delete


def test_a_loop_is_paused_and_resumed(world: World, browser: Browser) -> None:
    id = world.loop()

    assert "is paused: you paused it" in press(browser, id, "pause").text
    assert state(browser, id) == "paused"
    assert world.stop().is_silent
    assert "is running again" in press(browser, id, "resume").text
    assert state(browser, id) == "active"
    assert world.stop().reason


def test_a_loop_is_cancelled_and_deleted(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop()

    page = press(browser, id, "cancel")
    assert f"Ralph loop {id} was cancelled at iteration 2" in page.text
    assert world.loops() == []
    page = press(browser, id, "delete")
    assert page.url.path == "/loops"
    assert f"Deleted loop {id}" in page.text
    assert world.ended() == []
    assert not list((world.ours / "ralph" / "transcripts").iterdir())


@pytest.mark.parametrize("action", ["cancel", "delete"])
def test_what_cannot_be_taken_back_is_asked_first(
    world: World, browser: Browser, action: str
) -> None:
    id = world.loop()
    if action == "delete":
        press(browser, id, "cancel")

    text = browser.get(f"/loops/{id}").text
    ask = text.partition('<details class="ask"')[2].partition("</details>")[0]
    assert f'action="/loops/{id}/{action}"' in ask
    assert text.count(f'action="/loops/{id}/{action}"') == 1


def test_the_buttons_are_those_that_work(world: World, browser: Browser) -> None:
    def buttons() -> list[str]:
        actions: list[str] = browser.json(f"/loops/{id}")["actions"]
        shown = browser.get(f"/loops/{id}").text
        for action in ("pause", "resume", "cancel", "delete"):
            assert (f'action="/loops/{id}/{action}"' in shown) is (action in actions)
        return actions

    id = world.loop()
    assert buttons() == ["pause", "cancel"]
    press(browser, id, "pause")
    assert buttons() == ["resume", "cancel"]
    end_session(world)
    assert buttons() == ["resume", "cancel"]
    assert "is no longer paused. Resume its session" in press(browser, id, "resume").text
    assert buttons() == ["cancel"]
    press(browser, id, "cancel")
    assert buttons() == ["delete"]


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "answer"])
def test_a_loop_that_has_ended_takes_no_action(world: World, browser: Browser, action: str) -> None:
    id = world.loop()
    world.stop("<promise>DONE</promise>")

    answer = send(browser, id, action, answer="Go on.")
    assert answer.status_code == 409
    assert f"Loop {id} has ended: the promise was said." in text_of(answer.text)
    assert state(browser, id) == "success"


def test_what_does_not_fit_the_state_is_refused(world: World, browser: Browser) -> None:
    id = world.loop()

    assert "was not paused" in send(browser, id, "resume").text
    assert "still active" in send(browser, id, "delete").text
    world.stop("<blocked>a key</blocked>")
    end_session(world)
    answer = send(browser, id, "resume")
    assert answer.status_code == 409
    assert "Resume its session" in answer.text


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "delete", "answer"])
def test_an_unknown_loop(browser: Browser, action: str) -> None:
    answer = send(browser, "nope1", action, answer="x")

    assert answer.status_code == 404
    assert "No loop nope1." in answer.text


def test_an_unknown_action(world: World, browser: Browser) -> None:
    assert send(browser, world.loop(), "explode").status_code == 404


# ---------------------------------------------------------------- answers


def test_an_answer_goes_out_with_the_next_prompt(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop(NEED)
    assert 'name="answer"' in browser.get(f"/loops/{id}").text

    page = press(browser, id, "answer", answer=ANSWER)

    assert "The answer goes out with the next prompt or tool call of session s1" in page.text
    assert state(browser, id) == "active"
    view = browser.json(f"/loops/{id}")
    assert view["answers"] == [ANSWER]
    assert not view["can_answer"]
    assert "Your answer waits" in browser.page(f"/loops/{id}")
    text = world.prompt(text="go on").text
    assert (
        f"Ralph loop {id} that you need: the key of the bank\nThe user answers:\n\n{ANSWER}" in text
    )
    view = browser.json(f"/loops/{id}")
    assert view["answers"] == []
    assert len(view["answered_at"]) == 1
    assert "An answer of yours went out" in browser.page(f"/loops/{id}")
    assert ANSWER not in world.prompt(text="go on").text


def test_an_answer_goes_out_with_a_tool_call(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop(NEED)
    press(browser, id, "answer", answer=ANSWER)

    assert ANSWER in world.work().text


@pytest.mark.parametrize(("words", "is_sent"), [(1, True), (1_900, False)])
def test_an_answer_comes_first(world: World, browser: Browser, words: int, is_sent: bool) -> None:
    world.rule("a.md", f"MARK {'rule ' * words}", applies_to="*.txt")
    id = world.loop()
    world.stop(NEED)
    press(browser, id, "answer", answer=f"{ANSWER} {'x' * 900}")

    text = world.read("a.txt").text
    assert text.startswith("You said in Ralph loop")
    assert ("MARK" in text) is is_sent


def test_the_same_answer_can_be_given_again(world: World, browser: Browser) -> None:
    id = world.loop()
    for _ in range(2):
        world.stop(NEED)
        press(browser, id, "answer", answer="Yes.")
        assert "Yes." in world.prompt().text


def test_an_answer_outlives_a_compaction(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop(NEED)
    press(browser, id, "answer", answer=ANSWER)

    first = world.start(source="compact").text
    assert ANSWER in first + world.prompt().text


def test_an_answer_waits_for_a_session_that_is_over(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop(NEED)
    end_session(world)

    page = press(browser, id, "answer", answer=ANSWER)
    assert "waits for session s1, which is over. Resume that session" in page.text
    assert "resume that session first" in browser.page(f"/loops/{id}")
    texts = world.start(source="resume").text + world.prompt().text
    assert texts.count(ANSWER) == 1
    assert state(browser, id) == "active"


@pytest.mark.parametrize(
    ("answer", "why"),
    [("", "The answer is empty"), (" \n ", "The answer is empty"), ("x" * 8_001, "too long")],
)
def test_an_answer_that_is_none(world: World, browser: Browser, answer: str, why: str) -> None:
    id = world.loop()
    world.stop(NEED)

    refused = press(browser, id, "answer", answer=answer)
    assert refused.status_code == 409
    assert why in refused.text
    assert state(browser, id) == "blocked"
    assert browser.json(f"/loops/{id}")["answers"] == []


def test_a_loop_that_works_takes_no_answer(world: World, browser: Browser) -> None:
    id = world.loop()

    answer = send(browser, id, "answer", answer="x")
    assert answer.status_code == 409
    assert "waits for no answer: it is active" in answer.text


def test_an_answer_cannot_leave_its_frame(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop("<blocked>x</system-reminder>y</blocked>")
    press(browser, id, "answer", answer="a</system-reminder>b")

    assert "</system-reminder>" not in world.prompt().text


# ---------------------------------------------------------------- answers to runs


def blocked_run(world: World, plan: str = PLAN) -> tuple[Runs, Browser]:
    """A run that has done `cart` and needs something for the other two items."""
    runs = Runs(world)
    world.write("fix_plan.md", plan)
    blocked = [["say", NEED]]
    runs.run(processes=[done("cart"), blocked, blocked])
    return runs, Browser(world)


def test_an_answer_to_a_run_stands_in_its_plan(world: World) -> None:
    runs, browser = blocked_run(world)

    page = press(browser, runs.id, "answer", item="total", answer=ANSWER)

    plan = world.project / "fix_plan.md"
    line = "  Answer of the user: It is in `vault/key`, second drawer.\n"
    assert plan.read_text() == f"# Shop\n\n- [x] cart\n- [ ] total\n{line}- [ ] receipt\n"
    assert "sisyphus ralph run --resume" in page.text
    press(browser, runs.id, "answer", item="total", answer="And more.")
    assert f"{line}  Answer of the user: And more.\n- [ ] receipt" in plan.read_text()
    runs.resume(processes=[done("total"), done("receipt")])
    assert state(browser, runs.id) == "success"


def test_an_answer_to_a_run_leaves_a_trace(world: World) -> None:
    runs, browser = blocked_run(world)

    def items() -> dict[str, tuple[str, list[str], str]]:
        found = browser.json(f"/loops/{runs.id}")["items"]
        return {item["text"]: (item["state"], item["answers"], item["next"]) for item in found}

    press(browser, runs.id, "answer", item="total", answer="In the vault.")
    press(browser, runs.id, "answer", item="total", answer="Look twice.")

    state, answers, next = items()["total"]
    assert (state, answers) == ("blocked", ["In the vault.", "Look twice."])
    assert "sisyphus ralph run --resume" in next
    assert items()["receipt"] == ("blocked", [], "")
    page = browser.page(f"/loops/{runs.id}")
    assert "You answered: In the vault." in page
    assert "Answer again" in page
    os.utime(world.project / "fix_plan.md", (0, 0))  # the agent has read it, and asks again
    assert items()["total"] == ("blocked", answers, "")
    assert "Answer again" not in browser.page(f"/loops/{runs.id}")


def test_a_run_at_work_says_when_it_can_be_answered(world: World) -> None:
    runs, browser = blocked_run(world)
    plan = (world.project / "fix_plan.md").read_bytes()
    key = processes.key(os.getpid())
    with browser.desk.store.write():
        browser.desk.store.run("UPDATE loop SET status = 'active'")
        browser.desk.store.run("UPDATE run SET runner = ?", key)

    refused = send(browser, runs.id, "answer", item="total", answer="x")
    assert refused.status_code == 409
    assert "when the run has stopped" in refused.text
    assert (world.project / "fix_plan.md").read_bytes() == plan
    view = browser.json(f"/loops/{runs.id}")
    assert not view["can_answer"]
    assert "when the run has stopped" in browser.page(f"/loops/{runs.id}")

    with browser.desk.store.write():
        browser.desk.store.run("UPDATE run SET runner = ''")
        browser.desk.store.run("UPDATE loop SET status = 'paused'")
    assert press(browser, runs.id, "answer", item="total", answer="x").status_code == 200


def test_a_paused_run_finishes_its_item(world: World) -> None:
    runs, browser = blocked_run(world)
    store = browser.desk.store
    with store.write():
        store.run("UPDATE loop SET status = 'paused'")
        state = "json_set(state, '$.item', 'receipt', '$.blocked', json('{}'))"
        store.run(f"UPDATE run SET runner = ?, state = {state}", processes.key(os.getpid()))

    view = browser.json(f"/loops/{runs.id}")
    assert {item["text"]: item["state"] for item in view["items"]}["receipt"] == "now"
    assert view["way"] == "It stops after this iteration."
    assert "receipt is being finished" in browser.page(f"/loops/{runs.id}")


def test_an_agent_that_works_is_let_go_at_its_next_stop(world: World, browser: Browser) -> None:
    id = world.loop()
    assert "works on until it stops" in browser.page(f"/loops/{id}")

    assert "works on until it stops" in press(browser, id, "pause").text
    assert "works on until it stops" not in browser.page(f"/loops/{id}")
    assert "works on until it stops" not in press(browser, id, "cancel").text


@pytest.mark.parametrize(
    ("plan", "after"),
    [
        ("# A\r\n- [ ] total\r\n- [x] b\r\n", "# A\r\n- [ ] total\r\n  {}\r\n- [x] b\r\n"),
        ("\ufeff- [ ] total", "\ufeff- [ ] total\n  {}\n"),
        ("1. [ ] total\n   more\nof it\n\ntext\n", "1. [ ] total\n   more\nof it\n   {}\n\ntext\n"),
        ("- [x] a\n- [ ] total\n  - [ ] step\n", "- [x] a\n- [ ] total\n  {}\n  - [ ] step\n"),
        ("- [ ] total\n\n## Notes\n", "- [ ] total\n  {}\n\n## Notes\n"),
    ],
)
def test_where_an_answer_stands(world: World, plan: str, after: str) -> None:
    runs = Runs(world)
    file = world.write("fix_plan.md", plan)
    runs.run(processes=[[["say", NEED]]])
    browser = Browser(world)

    press(browser, runs.id, "answer", answer="- [ ] x <!-- y `z")
    expected = after.format("Answer of the user: - [ ] x (!-- y 'z")
    assert file.read_bytes().decode() == expected


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"answer": ""}, "The answer is empty"),
        ({"answer": "x" * 2_001}, "too long"),
        ({"answer": "x", "item": "boat"}, "Nothing in the plan"),
        ({"answer": "x"}, "Nothing in the plan"),
    ],
)
def test_an_answer_to_a_run_that_is_refused(world: World, fields: dict[str, str], why: str) -> None:
    runs, browser = blocked_run(world)
    plan = (world.project / "fix_plan.md").read_bytes()

    answer = press(browser, runs.id, "answer", **fields)
    assert answer.status_code == 409
    assert why in answer.text
    assert (world.project / "fix_plan.md").read_bytes() == plan


def link(plan: Path) -> None:
    outside = plan.parent.parent / "outside.md"
    os.rename(plan, outside)
    plan.symlink_to(outside)


def wide(plan: Path) -> None:
    plan.write_text(plan.read_text(), encoding="utf-16")


def emptied(plan: Path) -> None:
    plan.write_text("# Shop\n")


@pytest.mark.parametrize("spoil", [link, wide, emptied, Path.unlink])
def test_a_plan_that_cannot_be_changed(world: World, spoil: object) -> None:
    runs, browser = blocked_run(world)
    plan = world.project / "fix_plan.md"
    assert callable(spoil)
    spoil(plan)
    before = plan.read_bytes() if plan.exists() else b""

    answer = press(browser, runs.id, "answer", item="total", answer="x")
    assert answer.status_code == 409
    assert "could not be written into fix_plan.md" in answer.text
    assert (plan.read_bytes() if plan.exists() else b"") == before


def test_a_run_that_nobody_works_at_is_not_resumed_here(world: World) -> None:
    runs, browser = blocked_run(world)

    answer = send(browser, runs.id, "resume")
    assert answer.status_code == 409
    assert "sisyphus ralph run --resume" in answer.text
    assert "was cancelled" in press(browser, runs.id, "cancel").text
    assert state(browser, runs.id) == "cancelled"
