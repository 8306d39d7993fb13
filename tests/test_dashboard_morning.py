"""The first page of the dashboard in the morning: what to see to, and the answer to it."""

from __future__ import annotations

from browser import Browser, text_of
from test_dashboard_actions import ANSWER, NEED, end_session
from test_run import PLAN, Process, Runs, done
from world import World

BLOCKED: Process = [["say", "<blocked>the price list</blocked>"]]
BARE: Process = [["tick", "cart"], ["say", "Done."]]


def night(world: World, plan: str, *processes: Process) -> Runs:
    runs = Runs(world)
    world.write("fix_plan.md", plan)
    runs.run(processes=processes)
    return runs


# ---------------------------------------------------------------- what to see to


def test_nothing_waits(world: World, browser: Browser) -> None:
    assert "Nothing waits" not in browser.page("/"), "nobody has begun"
    id = world.loop()
    world.stop("I work.")
    assert "Nothing waits for you." in browser.page("/")

    world.stop(NEED)
    assert "Nothing waits for you." not in browser.page("/")
    assert browser.json("/")["boxes"][id]["questions"] == [
        {"key": "", "item": "", "need": NEED[9:-10]}
    ]


def test_what_the_report_of_a_run_says_first(world: World) -> None:
    runs = night(world, "# Shop\n\n- [ ] cart\n", BARE)
    browser = Browser(world)

    points = browser.json("/")["look_at"]
    report = browser.json(f"/loops/{runs.id}")["report"]
    assert [each["row"]["id"] for each in points] == [runs.id]
    assert points[0]["text"] == "- Ticked without any change: cart"
    assert f"## Look at first\n\n{points[0]['text']}\n" in report
    assert "Look at first" in browser.page("/")
    assert "<li>Ticked without any change: cart</li>" in browser.get("/").text


def test_a_run_that_left_nothing_is_not_named(world: World) -> None:
    night(world, "# Shop\n\n- [ ] cart\n", done("cart"))
    browser = Browser(world)

    assert browser.json("/")["look_at"] == []
    assert "Look at first" not in browser.page("/")


# ---------------------------------------------------------------- the answer


def test_a_loop_is_answered_where_it_waits(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop(NEED)

    page = browser.press(f"/loops/{id}/answer", "/", answer=ANSWER)

    assert page.url.path == "/"
    assert "The answer goes out with the next prompt" in text_of(page.text)
    assert ANSWER in world.prompt(text="go on").text
    assert 'name="answer"' not in browser.get("/").text


def test_an_answer_that_waits_needs_no_other_one(world: World, browser: Browser) -> None:
    """Its session is over, so the loop still waits, for that."""
    id = world.loop()
    world.stop(NEED)
    end_session(world)

    browser.press(f"/loops/{id}/answer", "/", answer=ANSWER)

    view = browser.json("/")
    assert [each["loop"] for each in view["waiting"]] == [id]
    assert view["boxes"] == {}


def test_a_run_is_answered_item_by_item(world: World) -> None:
    runs = night(world, PLAN, done("cart"), BLOCKED, BLOCKED)
    browser = Browser(world)
    path = f"/loops/{runs.id}/answer"
    questions = [("total", "the price list"), ("receipt", "the price list")]

    def asked() -> list[tuple[str, str]]:
        box = browser.json("/")["boxes"].get(runs.id, {"questions": []})
        return [(each["item"], each["need"]) for each in box["questions"]]

    assert asked() == questions
    assert browser.get("/").text.count('name="answer"') == 2
    browser.press(path, "/", item="total", answer="It is in prices.csv.")
    assert asked() == questions[1:]
    browser.press(path, "/", item="receipt", answer="It is in prices.csv.")
    assert asked() == []
    assert (world.project / "fix_plan.md").read_text().count("prices.csv") == 2


def test_many_blocked_items_are_on_the_page_of_the_run(world: World) -> None:
    items = [f"part {number}" for number in range(5)]
    plan = "# Shop\n\n" + "".join(f"- [ ] {item}\n" for item in items)
    runs = night(world, plan, *[BLOCKED] * 5)
    browser = Browser(world)

    box = browser.json("/")["boxes"][runs.id]
    assert (len(box["questions"]), box["more"]) == (3, 2)
    assert "and 2 more to answer" in browser.page("/")
