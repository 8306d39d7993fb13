"""What the dashboard says of ticks: on the pages of plans, of runs, and on the first one."""

from __future__ import annotations

import time
from typing import Any

from browser import Browser
from test_dashboard import HOSTILE
from test_dashboard_pages import plan_number, plan_page
from test_item_checks import TRUST, plan, tick
from test_run import NOT_PROVEN, Process, Runs, done, runs
from test_ticks import CHECK, Agent
from world import Json, World

from sisyphus.boulder import ticks
from sisyphus.boulder.evidence import FAILED
from sisyphus.boulder.ticks import Tick
from sisyphus.dashboard import checks
from sisyphus.loops import loops
from sisyphus.loops.runs import FailedCheck

__all__ = ["runs"]

FIVE = f"""# Shop

- [ ] cart (verify: `{CHECK}`)
- [ ] total
- [ ] tax
- [ ] receipt (verify: `pytest tests/test_receipt.py`)
- [ ] rebate (verify: `pytest tests/test_rebate.py`)
  check: both themes
- [ ] card
"""
NASTY = f"{HOSTILE} ]]> &lt; \x1b[31mred\x07 {'x' * 10_000}"


def five_ticks(world: World) -> Agent:
    """A plan with a tick for each word, of which one does not count."""
    model = Agent(world).begin(FIVE)
    model.tick("tax")
    model.work()
    model.tick("total")
    model.run(CHECK)
    model.tick("cart")
    model.run("pytest tests/test_receipt.py", "collected 0 items\n\n== no tests ran in 0.01s ==")
    model.tick("receipt")
    model.run("pytest tests/test_rebate.py", "1 failed", fails=True)
    model.tick("rebate")
    return model


def failing_run(runs: Runs, check: str = "cat cart.py", *words: str) -> Browser:
    """A run that has ended with an item whose box is ticked, and whose check fails."""
    runs.world.write("fix_plan.md", plan("total", f"cart (verify: `{check}`)"))
    runs.run(TRUST, "--max-iterations", "2", *words, processes=[done("total"), tick("cart")])
    return Browser(runs.world)


def tasks_of(page: Json) -> dict[str, Json]:
    return {
        task["text"]: task
        for wave in page["waves"]
        for story in wave["stories"]
        for task in story["tasks"]
    }


def note_output(browser: Browser, world: World, task: str, output: str) -> None:
    """Notes what a check printed that failed, as the Stop of a hold does."""
    path, store = str(world.project / "PLAN.md"), browser.desk.store
    with store.write():
        row = ticks.of_plan(store, path).get(task, Tick(task))
        row.evidence, row.output = FAILED, output
        ticks.save(store, path, row)


# ---------------------------------------------------------------- plans


def test_a_plan_says_what_stands_behind_each_tick(world: World, browser: Browser) -> None:
    five_ticks(world)
    page = plan_page(browser)

    words = {
        "cart": "checked", "total": "changed", "tax": "unchanged", "receipt": "unproven",
        "rebate": "failed",
    }  # fmt: skip
    assert page["evidence"] == words
    tasks = tasks_of(page)
    assert {name: task["evidence"] for name, task in tasks.items() if task["evidence"]} == words
    assert (tasks["rebate"]["status"], tasks["card"]["status"]) == ("failed", "open")
    assert (page["completed"], page["total"], page["failed"]) == (4, 6, 1)
    text = browser.page(f"/plans/{page['number']}")
    assert "4/6 , 1 more is ticked and fails" in text
    assert "Ticks: 1 checked 1 changed 1 unchanged 1 unproven Next task" in text
    assert "✗ rebate failed" in text
    assert "Only the plan changed" in browser.get(f"/plans/{page['number']}").text


def test_a_plan_says_how_its_tasks_are_checked(world: World, browser: Browser) -> None:
    five_ticks(world)
    page = plan_page(browser)

    rebate = tasks_of(page)["rebate"]["checks"]
    assert rebate["commands"] == ["pytest tests/test_rebate.py"]
    assert rebate["criteria"] == ["both themes"]
    text = browser.page(f"/plans/{page['number']}")
    assert "rebate failed check: pytest tests/test_rebate.py in prose: both themes" in text


def test_a_check_that_was_taken_out_of_the_plan(world: World, browser: Browser) -> None:
    Agent(world).begin("# Shop\n\n- [ ] cart (verify: `make cart`)\n- [ ] total\n").tick("cart")
    world.edit("PLAN.md", " (verify: `make cart`)", "")
    page = plan_page(browser)

    assert tasks_of(page)["cart"]["checks"]["lost"] == ["`make cart`"]
    assert "taken out of the plan: `make cart`" in browser.page(f"/plans/{page['number']}")


def test_a_task_with_many_checks_shows_some(world: World, browser: Browser) -> None:
    lines = "".join(f"  verify: `make t{number}`\n" for number in range(14))
    world.write("PLAN.md", f"# Shop\n\n- [ ] cart\n{lines}")
    world.start()
    page = plan_page(browser)

    found = tasks_of(page)["cart"]["checks"]
    assert (len(found["commands"]), found["more"]) == (10, 4)
    assert "and 4 more, in the file" in browser.page(f"/plans/{page['number']}")


def test_what_a_failed_check_printed(world: World, browser: Browser) -> None:
    five_ticks(world)
    lines = "\n".join(f"line {number}" for number in range(40))
    note_output(browser, world, "rebate", f"pytest tests/test_rebate.py exited 1\n{lines}")
    note_output(browser, world, "cart", "of a check that passed since")
    page = plan_page(browser)

    shown = tasks_of(page)["rebate"]["checks"]["output"].splitlines()
    assert shown[:2] == ["pytest tests/test_rebate.py exited 1", "…"]
    assert shown[2:] == [f"line {number}" for number in range(32, 40)]
    assert tasks_of(page)["cart"]["checks"]["output"] == ""
    assert "line 39" in browser.page(f"/plans/{page['number']}")


def test_the_check_of_the_whole_plan(world: World, browser: Browser) -> None:
    world.write("PLAN.md", "---\nverify: make test\n---\n# Shop\n\n- [ ] cart\n")
    world.start()
    note_output(browser, world, ticks.OF_PLAN, "make test exited 2")
    page = plan_page(browser)

    assert page["checks"]["commands"] == ["make test"]
    assert page["checks"]["output"] == "make test exited 2"
    text = browser.page(f"/plans/{page['number']}")
    assert "Whole plan check: make test make test exited 2" in text


def test_a_plan_in_lists_counts_the_ticks_that_fail(world: World, browser: Browser) -> None:
    five_ticks(world)

    (project,) = browser.json("/plans")["projects"]
    assert [(plan["completed"], plan["failed"]) for plan in project["open"]] == [(4, 1)]
    assert [(plan["completed"], plan["failed"]) for plan in browser.json("/")["plans"]] == [(4, 1)]
    for path in ("/plans", "/"):
        assert "4/6 , 1 more is ticked and fails" in browser.page(path)


def test_a_plan_without_ticks_says_nothing_of_them(world: World, browser: Browser) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] cart\n")
    world.start()
    page = plan_page(browser)

    assert (page["evidence"], page["failed"]) == ({}, 0)
    text = browser.page(f"/plans/{page['number']}")
    assert "Ticks:" not in text
    assert "Whole plan" not in text


def test_a_plan_whose_only_tick_fails(world: World, browser: Browser) -> None:
    model = Agent(world).begin()
    model.run(CHECK, "1 failed", fails=True)
    model.tick("Show the total")
    page = plan_page(browser, "Cart")

    assert (page["evidence"], page["completed"]) == ({"Show the total": "failed"}, 0)
    text = browser.page(f"/plans/{page['number']}")
    assert "0/3 , 1 more is ticked and fails" in text
    assert "Ticks:" not in text


def test_hostile_checks_of_a_plan_stay_words(world: World, browser: Browser) -> None:
    nasty = NASTY.replace("\x1b", "").replace("\x07", "")
    lines = f"  verify: `{nasty}`\n  check: {nasty}\n  verify: `{nasty} 2`\n"
    model = Agent(world).begin(f"# Shop\n\n- [ ] cart\n{lines}- [ ] total\n")
    model.tick("cart")
    world.edit("PLAN.md", f"  verify: `{nasty} 2`\n", "")
    number = plan_number(browser)
    store = browser.desk.store
    with store.write():
        store.run("UPDATE plan SET record = json_set(record, '$.failed', json('[\"cart\"]'))")
    note_output(browser, world, "cart", f"{NASTY}\n" * 50)

    (task, _) = tasks_of(browser.json(f"/plans/{number}")).values()
    shown = task["checks"]
    assert task["status"] == "failed"
    assert max(map(len, [*shown["commands"], *shown["criteria"], *shown["lost"]])) <= 300
    assert max(map(len, shown["output"].splitlines())) <= 201
    assert "\x1b" not in shown["output"]
    assert "\u202e" not in shown["output"]
    assert_harmless(browser, f"/plans/{number}")


def assert_harmless(browser: Browser, *paths: str) -> None:
    for path in paths:
        text = browser.get(path).text
        assert "<script>alert" not in text, path
        assert "<img" not in text.partition("<main")[2], path
        assert "{{7*7}}" in text, path
        assert "x" * 1_001 not in text, path
        assert len(text) < 60_000, path


# ---------------------------------------------------------------- runs


def test_a_run_says_what_stands_behind_its_items(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)", "total", "receipt"))
    answer = runs.run(TRUST, processes=[done("cart"), done("total"), tick("receipt")])
    assert answer.code == NOT_PROVEN
    browser = Browser(runs.world)
    view, page = browser.json(f"/loops/{runs.id}"), browser.page(f"/loops/{runs.id}")

    words = {"cart": "checked", "total": "changed", "receipt": "unchanged"}
    assert view["evidence"] == words
    assert {item["text"]: item["evidence"] for item in view["items"]} == words
    assert [row["evidence"] for row in view["iterations"]] == [*words.values()][::-1]
    assert view["look_at"].startswith("- Ticked without any change: receipt")
    assert "Ticks: 1 checked 1 changed 1 unchanged" in page
    assert "done: cart checked" in page
    assert page.index("Look at first") < page.index("Items") < page.index("Iterations")
    assert page.count("Look at first") == 2, "at the top, and in the report"


def test_an_item_whose_check_fails_is_open(runs: Runs) -> None:
    browser = failing_run(runs)
    view, page = browser.json(f"/loops/{runs.id}"), browser.page(f"/loops/{runs.id}")

    items = {item["text"]: item for item in view["items"]}
    assert (items["cart"]["state"], items["cart"]["evidence"]) == ("open", "failed")
    failed = items["cart"]["failed"]
    assert (failed["command"], failed["how"], failed["tries"]) == ("cat cart.py", "exited 1", 1)
    assert "No such file" in failed["tail"]
    assert items["total"]["failed"] is None
    assert view["evidence"] == {"total": "changed", "cart": "failed"}
    assert (view["row"]["done"], view["row"]["total"], view["row"]["failed"]) == (1, 2, 1)
    assert view["look_at"].startswith("- Ticked, but `cat cart.py` exited 1: cart\n")
    assert "No such file" in view["look_at"]
    assert "✗ open: cart failed Its box is ticked, but cat cart.py exited 1." in page
    assert "Ticked, but cat cart.py exited 1: cart" in page
    assert "1/2 , 1 more is ticked and fails" in page
    assert "1/2 items, 1 more is ticked and fails" in browser.page("/loops")


def test_an_item_that_was_set_aside_for_its_check(runs: Runs) -> None:
    (runs.world.ours / "config.toml").write_text("[runner]\nitem_tries = 1\nretry_seconds = 0\n")
    browser = failing_run(runs)

    (item, _) = browser.json(f"/loops/{runs.id}")["items"]
    assert (item["state"], item["evidence"]) == ("blocked", "failed")
    page = browser.page(f"/loops/{runs.id}")
    assert "its check fails: cat cart.py" in page
    assert "No such file" in page


def test_what_a_run_that_works_has_to_look_at(runs: Runs) -> None:
    """It has no report yet."""
    browser = failing_run(runs)
    store = browser.desk.store
    with store.write():
        store.run("UPDATE loop SET status = 'active', outcome = '', ended_at = NULL")

    view = browser.json(f"/loops/{runs.id}")
    assert "Ticked, but `cat cart.py` exited 1: cart" in view["look_at"]
    (runs.world.project / "fix_plan.md").unlink()
    assert "cannot be used" in browser.json(f"/loops/{runs.id}")["look_at"]


def test_the_plan_of_a_run_that_is_over_may_be_gone(runs: Runs) -> None:
    browser = failing_run(runs)
    (runs.world.project / "fix_plan.md").unlink()

    assert "cannot be used" not in browser.json(f"/loops/{runs.id}")["look_at"]


def test_checks_that_were_taken_out_or_are_not_trusted(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `touch ran`)", "total (verify: `make t`)"))
    sly: Process = [
        ["write", ["fix_plan.md", plan("cart", "total (verify: `make t`)")]],
        *done("cart"),
    ]
    runs.run(processes=[sly, done("total")])
    browser = Browser(runs.world)

    page = browser.page(f"/loops/{runs.id}")
    assert "Check that was taken out of the plan: touch ran , of cart" in page
    assert "Not checked: make t is not trusted" in page


def test_what_ended_and_is_not_proven_is_named(runs: Runs) -> None:
    runs.world.rule("py.md", "Rule.")
    runs.world.start()  # or the first page only says how to begin
    runs.run(processes=[done("cart"), tick("total"), tick("receipt")])
    browser = Browser(runs.world)

    (row,) = browser.json("/")["news"]["ended"]
    assert (row["state"], row["not_proven"]) == ("success", {"unchanged": 2})
    for path in ("/", "/loops"):
        assert "complete 2 unchanged" in browser.page(path)


def test_a_loop_has_no_ticks(world: World, browser: Browser) -> None:
    id = world.loop()
    world.stop("I work.")

    view = browser.json(f"/loops/{id}")
    assert (view["evidence"], view["look_at"], view["row"]["failed"]) == ({}, "", 0)
    assert view["row"]["not_proven"] == {}
    assert "Ticks:" not in browser.page(f"/loops/{id}")


def test_hostile_checks_of_a_run_stay_words(runs: Runs) -> None:
    browser = failing_run(runs)
    change_run(
        browser, runs,
        failed={"cart": FailedCheck(NASTY, "exited 1", f"{NASTY}\n" * 50, 1)},
        lost_checks={"cart": [NASTY]}, untrusted=[NASTY],
    )  # fmt: skip

    failed = browser.json(f"/loops/{runs.id}")["items"][0]["failed"]
    assert len(failed["command"]) <= 300
    assert "\x1b" not in failed["tail"]
    assert_harmless(browser, f"/loops/{runs.id}")


def change_run(browser: Browser, runs: Runs, **state: Any) -> None:
    store = browser.desk.store
    run = loops.find_run(store, runs.id)
    assert run
    for name, value in state.items():
        setattr(run.state, name, value)
    with store.write():
        loops.save(store, run)


def test_a_page_of_a_large_plan_is_quick(world: World, browser: Browser) -> None:
    tasks = "".join(f"- [ ] task {n} (verify: `pytest tests/test_{n}.py`)\n" for n in range(1_000))
    world.write("PLAN.md", f"# Shop\n\n{tasks}")
    world.start()
    number = plan_number(browser)

    began = time.process_time()
    assert browser.get(f"/plans/{number}").status_code == 200
    assert time.process_time() - began < 2


def test_output_of_a_few_lines_stays_as_it_is() -> None:
    assert checks.output("") == ""
    assert checks.output("  E   assert\n\nline") == "  E   assert\n\nline"
