"""The pages of plans, sessions, handoffs, rules and enforcement."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from browser import Browser
from test_dashboard import HOSTILE
from test_enforcing import DONE, WORKING, configure, work
from test_run import Runs, done
from world import Json, World, agent, result, typed, use, user

PATHS = ["/plans", "/sessions", "/handoffs", "/rules", "/enforcement"]
PLAN = (
    "# Shop\n\n## Wave 1: Cart\n\n### S1: Prices\n- [x] sum\n- [ ] tax\n- [!] rebate\n\n"
    "## Wave 2: Pay\n- [ ] card\n- [-] cash\n"
)


def plan_number(browser: Browser, name: str = "Shop") -> int:
    plans = [
        plan
        for project in browser.json("/plans")["projects"]
        for plan in [*project["open"], *project["others"]]
    ]
    return next(int(plan["number"]) for plan in plans if plan["name"] == name)


def plan_page(browser: Browser, name: str = "Shop") -> Json:
    page: Json = browser.json(f"/plans/{plan_number(browser, name)}")
    return page


def sessions(browser: Browser, query: str = "") -> list[Json]:
    found: list[Json] = browser.json(f"/sessions{query}")["sessions"]
    return found


def handoffs(browser: Browser) -> list[Json]:
    return [
        each for project in browser.json("/handoffs")["projects"] for each in project["handoffs"]
    ]


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/plans", "sisyphus boulder start PLAN"),
        ("/sessions", "sisyphus install"),
        ("/handoffs", "sisyphus handoff"),
        ("/rules", "sisyphus rules"),
        ("/enforcement", "sisyphus enforce on"),
    ],
)
def test_an_empty_page_names_the_command_that_fills_it(
    browser: Browser, path: str, command: str
) -> None:
    assert command in browser.page(path)


@pytest.mark.parametrize(
    "path",
    ["/plans/1", "/plans/0", "/plans/x", "/plans/99999999999999999999", "/sessions/nobody",
     "/handoffs/1", "/handoffs/-1", "/handoffs/²"],
)  # fmt: skip
def test_what_is_unknown_is_not_found(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404
    assert "here" in browser.get(f"/api{path}").json()["error"]


def test_the_navigation_leads_to_each(browser: Browser) -> None:
    text = browser.get("/").text
    places = [text.index(f'<a href="{path}"') for path in PATHS]
    assert places == sorted(places)


def test_words_of_others_stay_words(world: World, browser: Browser) -> None:
    world.write(
        "PLAN.md", f"# {HOSTILE}\n\n## Wave 1: {HOSTILE}\n- [x] {HOSTILE}\n- [ ] {HOSTILE}\n"
    )
    world.rule("<b>x.md", "Rule.", globs=[f"*{HOSTILE}", "*.py"])
    world.cli("enforce", "on")
    world.write_down(user(HOSTILE))
    world.start()
    world.read("a.py")
    world.stop(f"It is done. {HOSTILE}")
    world.stop(f"I need it.\n\n<blocked>{HOSTILE}</blocked>")
    world.cli("boulder", "checkpoint", HOSTILE)
    world.cli("handoff", "--session-id", "s1")
    (document,) = (world.project / ".claude" / "handoffs").glob("*.md")
    document.write_text(f"# {HOSTILE}\n\n[run](javascript:alert(1)) ![x](http://evil.example/x)\n")

    number, handoff = plan_number(browser, sessions(browser)[0]["plan"]), handoffs(browser)[0]
    ones = [f"/plans/{number}", "/sessions/s1", f"/handoffs/{handoff['number']}"]
    for path in [*PATHS, *ones, f"/sessions?q={HOSTILE}", f"/sessions?page={HOSTILE}"]:
        text = browser.client.get(path).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "<b>x" not in text, path
        assert 'href="javascript' not in text, path
        assert '<img src="http://evil' not in text, path
    for path in ("/plans", *ones):
        assert "{{7*7}}" in browser.get(path).text, path


# ---------------------------------------------------------------- plans


def test_the_plans_of_each_project(world: World, browser: Browser) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    world.start("s2")

    (project,) = browser.json("/plans")["projects"]
    (plan,) = project["open"]

    assert project["project"] == str(world.project)
    assert plan["name"] == "Shop"
    assert (plan["completed"], plan["total"], plan["next_task"]) == (1, 4, "tax")
    assert plan["state"] == "active"
    assert sorted(plan["sessions"]) == ["s1", "s2"]
    assert "1/4" in browser.page("/plans")


def test_what_is_complete_or_cleared_is_folded(world: World, browser: Browser) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] cart\n")
    world.start()
    world.edit("PLAN.md", "[ ]", "[x]")

    (project,) = browser.json("/plans")["projects"]

    assert [plan["state"] for plan in project["others"]] == ["complete"]
    assert project["open"] == []
    assert "1 complete or cleared" in browser.page("/plans")


def test_a_plan_as_its_file_is_now(world: World, browser: Browser) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    world.cli("boulder", "checkpoint", "The sum is right.")
    world.write("PLAN.md", PLAN.replace("[ ] tax", "[x] tax"))

    page = plan_page(browser)

    assert (page["completed"], page["total"], page["blocked"]) == (2, 4, 1)
    first, second = page["waves"]
    assert (first["number"], first["name"], first["completed"], first["total"]) == (1, "Cart", 2, 3)
    assert [story["title"] for story in first["stories"]] == ["Prices"]
    assert [(t["text"], t["status"], t["line"]) for t in first["stories"][0]["tasks"]] == [
        ("sum", "done", 6), ("tax", "done", 7), ("rebate", "blocked", 8),
    ]  # fmt: skip
    assert (second["is_current"], first["is_current"]) == (True, False)
    assert [note["message"] for note in page["notes"]] == ["The sum is right."]
    assert page["history"][0]["what"] == "checkpoint"
    assert [(each["id"], each["is_here"]) for each in page["sessions"]] == [("s1", True)]
    text = browser.page(f"/plans/{page['number']}")
    assert "Wave 1: Cart" in text
    assert "The sum is right." in text


def test_a_plan_with_a_wave_zero(world: World, browser: Browser) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] name\n\n## Wave 0: Ground\n- [x] dig\n- [ ] level\n")
    world.start()

    waves = plan_page(browser)["waves"]

    assert [(each["number"], each["completed"], each["total"]) for each in waves] == [
        (None, 0, 0), (0, 1, 2),
    ]  # fmt: skip


def test_a_plan_shows_the_todos_of_the_agent(world: World, browser: Browser) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    todos = [{"content": "read the tax law", "status": "in_progress", "activeForm": "reading"}]
    world.tool("TodoWrite", {"todos": todos})

    assert [todo["text"] for todo in plan_page(browser)["todos"]] == ["read the tax law"]


def test_the_hold_of_a_plan_is_linked(world: World, browser: Browser) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    world.cli("boulder", "hold", "on")

    hold = plan_page(browser)["hold"]

    assert [row["id"] for row in browser.json("/")["live"]] == [hold]
    assert f'href="/loops/{hold}"' in browser.get("/plans").text


def test_a_plan_that_is_gone_or_unreadable_says_so(world: World, browser: Browser) -> None:
    file = world.write("PLAN.md", PLAN)
    world.start()
    path = f"/plans/{plan_number(browser)}"

    file.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in browser.page(path)
    file.unlink()
    assert "is gone" in browser.page(path)
    assert browser.json(path)["state"] == "missing"


# ---------------------------------------------------------------- sessions


def test_a_session_in_the_list(world: World, browser: Browser) -> None:
    world.write("PLAN.md", PLAN)
    world.write_down(user("Build the shop."))
    world.fill(42)
    id = world.loop(prompt="Build the cart.")

    (session,) = sessions(browser)

    assert session["title"] == "Build the shop."
    assert (session["id"], session["client"], session["percent"]) == ("s1", "claude-code", 42)
    assert (session["plan"], session["state"]) == ("Shop", "working")
    assert [(each["id"], each["task"]) for each in session["loops"]] == [(id, "Build the cart.")]
    assert f'href="/loops/{id}"' in browser.get("/sessions").text


def test_a_session_of_a_run_is_named_by_its_item(world: World) -> None:
    runs = Runs(world)
    world.write("fix_plan.md", "# Shop\n\n- [ ] cart\n")
    runs.run(processes=[done("cart")])

    assert [each["title"] for each in sessions(Browser(world))] == [
        f"Run {runs.id}, iteration 1: cart"
    ]


def test_the_earlier_sessions_of_a_run_are_folded(world: World) -> None:
    """But for those that failed, and those of another one."""
    runs = Runs(world)
    world.write("fix_plan.md", "# Shop\n\n- [ ] cart\n- [ ] total\n- [ ] receipt\n- [ ] tax\n")
    world.start("mine")
    blocked = [["say", "<blocked>the price list</blocked>"]]
    runs.run(processes=[done("cart"), blocked, done("receipt"), done("tax")])
    browser = Browser(world)

    def items(rows: list[Json]) -> list[str]:
        return [each["title"].rpartition(": ")[2] for each in rows]

    found = sessions(browser)
    assert items(found) == ["tax", "total", ""]
    assert [items(each["earlier"]) for each in found] == [["receipt", "cart"], [], []]
    text = browser.get("/sessions").text
    fold = text.partition(f'<details id="before-{found[0]["id"]}">')[2].partition("</details>")[0]
    assert "2 earlier sessions of this run" in fold
    assert [name in fold for name in ("tax", "receipt", "total", "cart")] == [
        False, True, False, True,
    ]  # fmt: skip
    assert text.count("earlier sessions of this run") == 1


def test_a_session_is_open_idle_or_has_ended(world: World, browser: Browser) -> None:
    world.start()
    assert [each["state"] for each in sessions(browser)] == ["open"]
    world.loop()
    world.stop("<blocked>the key of the bank</blocked>")
    assert [each["state"] for each in sessions(browser)] == ["idle"]
    world.hook("session-end", world.payload("SessionEnd.other", "s1"))
    assert [each["state"] for each in sessions(browser)] == ["ended"]


def test_a_dialog_makes_a_session_wait(world: World, browser: Browser) -> None:
    world.loop()
    world.permit("a.py", mode="default")

    (session,) = sessions(browser)

    assert session["state"] == "waiting"
    assert "a.py" in session["why"]


def test_the_filters_of_sessions(world: World, browser: Browser) -> None:
    other = world.new_project("other")
    world.start("abc-1")
    world.start("abd-2", cwd=str(other))

    def ids(query: str) -> list[str]:
        return [each["id"] for each in sessions(browser, query)]

    assert ids("") == ["abd-2", "abc-1"]
    assert ids("?q=ABC") == ["abc-1"]
    assert ids("?q=OTHER") == ["abd-2"]
    assert ids(f"?project={world.project}") == ["abc-1"]
    assert ids("?q=%25") == []
    assert "No session fits" in browser.page("/sessions?q=zzz")


def test_a_session_is_found_by_what_it_worked_on(world: World) -> None:
    runs = Runs(world)
    world.write("fix_plan.md", "# Shop\n\n- [ ] cart\n- [ ] total\n")
    runs.run(processes=[done("cart"), done("total")])
    world.loop(prompt="Mend the upload, 100%, and the Änderung.", session="s9")
    world.stop("I work.", session="s9")
    browser = Browser(world)

    def titles(query: str) -> list[str]:
        found = sessions(browser, f"?q={query}")
        rows = [row for each in found for row in (each, *each["earlier"])]
        return [each["title"].rpartition(": ")[2] for each in rows]

    assert titles("CART") == ["cart"]
    assert titles("shop") == ["total", "cart"]
    for query in ("the+UPLOAD", "%C3%84nderung", "100%25,"):
        assert [each["id"] for each in sessions(browser, f"?q={query}")] == ["s9"]
    assert titles("boat") == []


def test_sessions_are_in_pages(world: World, browser: Browser) -> None:
    for number in range(52):
        world.start(f"s{number:03}")

    newest, oldest = browser.json("/sessions?q=s0"), browser.json("/sessions?q=s0&page=2")

    assert newest["pages"] == {"number": 1, "last": 2, "total": 52}
    assert len(newest["sessions"]) == 50
    assert [each["id"] for each in oldest["sessions"]] == ["s001", "s000"]
    assert browser.json("/sessions?page=9")["pages"]["number"] == 2
    assert 'href="?q=s0&amp;page=2"' in browser.get("/sessions?q=s0").text


def test_the_journal_of_a_session(world: World, browser: Browser) -> None:
    world.write("README.md", "# Shop\n")
    world.rule("python.md", "Use types.", globs=["*.py"])
    id = world.loop()
    world.read("a.py")
    world.read("b.py", agent_id="a1")
    world.stop("I work.")

    page = browser.json("/sessions/s1")

    assert page["events"][0]["name"] == "stop"
    assert page["events"][0]["decision"] == "block"
    assert [each["name"] for each in page["events"]] == [
        event["event"] for event in reversed(world.why())
    ]
    assert page["events"][-1]["sent"] == world.why()[0]["sent"]
    assert [event["agent"] for event in page["events"]].count("a1") == 1
    assert page["agents"] == 1
    assert {(each["kind"], Path(each["file"]).name, each["agent"]) for each in page["sent"]} >= {
        ("readme", "README.md", ""), ("rules", "python.md", ""), ("rules", "python.md", "a1"),
    }  # fmt: skip
    assert [each["id"] for each in page["session"]["loops"]] == [id]
    assert "subagent a1" in browser.page("/sessions/s1")


def test_a_long_journal_is_in_pages(world: World, browser: Browser) -> None:
    world.start()
    for number in range(104):
        world.start(source="resume" if number % 2 else "clear")

    first, second = browser.json("/sessions/s1"), browser.json("/sessions/s1?page=2")
    times = [event["at"] for page in (first, second) for event in page["events"]]

    assert (len(first["events"]), len(second["events"])) == (100, 5)
    assert times == sorted(times, reverse=True)
    assert second["pages"] == {"number": 2, "last": 2, "total": 105}


def test_what_waits_in_the_queue(world: World, browser: Browser) -> None:
    for number in range(4):
        world.rule(f"r{number}.md", f"{number} " + "long " * 1_500, globs=["*.py"])
    world.start()
    world.read("a.py")

    waiting = browser.json("/sessions/s1")["waiting"]

    assert waiting
    assert all(each["kind"] == "rules" and each["characters"] > 7_000 for each in waiting)
    assert "Waits to be sent" in browser.page("/sessions/s1")


def test_a_prefix_that_fits_one_session_is_enough(world: World, browser: Browser) -> None:
    world.start("abc-1")
    world.start("abd-2")

    assert browser.json("/sessions/abc")["session"]["id"] == "abc-1"
    assert browser.get("/sessions/ab").status_code == 400
    assert "Several sessions" in browser.get("/api/sessions/ab").json()["error"]


# ---------------------------------------------------------------- handoffs


@pytest.fixture
def handoff(world: World) -> Path:
    """A full context with a loop, whose session has written a handoff."""
    world.write("PLAN.md", PLAN)
    world.write("cart.py")
    world.loop()
    edit = use("Edit", "e1", file_path=str(world.project / "cart.py"), old_string="a")
    world.write_down(typed("Build the cart."), agent(edit), result("done", "e1"))
    world.fill(87)
    world.work()
    (file,) = (world.project / ".claude" / "handoffs").glob("*.md")
    return file


def test_a_handoff_in_the_list(world: World, browser: Browser, handoff: Path) -> None:
    (row,) = handoffs(browser)

    assert row["file"] == str(handoff)
    assert (row["percent"], row["level"], row["state"]) == (87, "L2 (Checkpoint)", "open")
    assert row["why"] == "The context of the session was 87 % full (L2)."
    assert (row["session"], row["taker"]) == ("s1", "")
    assert [row["loop"]] == [loop["loop_id"] for loop in world.loops()]
    assert [file["path"] for file in row["files"]] == ["cart.py"]
    assert f'href="/loops/{row["loop"]}"' in browser.get("/handoffs").text


def test_a_handoff_says_who_got_it(world: World, browser: Browser, handoff: Path) -> None:
    world.start(source="clear")

    (row,) = handoffs(browser)

    assert (row["state"], row["taker"]) == ("given", "s1")


def test_a_handoff_shows_its_document(world: World, browser: Browser, handoff: Path) -> None:
    path = f"/handoffs/{handoffs(browser)[0]['number']}"

    page = browser.json(path)

    assert page["document"] == handoff.read_text()
    assert page["problem"] == ""
    assert ".claude/handoffs/" in page["resume"]
    assert "<h1>Handoff</h1>" in browser.get(path).text


@pytest.mark.parametrize("way", ["gone", "link", "second name", "linked folder"])
def test_a_document_that_is_not_ours_is_not_read(
    world: World, browser: Browser, handoff: Path, way: str
) -> None:
    path = f"/handoffs/{handoffs(browser)[0]['number']}"
    secret = world.write(world.root / "secret.md", "SECRET")
    if way == "linked folder":
        handoff.parent.rename(world.root / "moved")
        handoff.parent.symlink_to(world.root / "moved")
    else:
        handoff.unlink()
    if way == "link":
        handoff.symlink_to(secret)
    elif way == "second name":
        os.link(secret, handoff)

    page = browser.json(path)

    assert page["document"] == ""
    assert page["problem"]
    assert "SECRET" not in browser.page(path)
    assert ("is gone" in browser.page(path)) == (way == "gone")


# ---------------------------------------------------------------- rules


def test_which_rules_were_sent(world: World, browser: Browser) -> None:
    world.rule("python.md", "Use types.", globs=["*.py", "*.pyi"])
    world.rule("web.md", "Use tags.", globs=["*.html"])
    world.rule("all.md", "Be kind.", alwaysApply=True)
    for session in ("s1", "s2"):
        world.start(session)
        world.read("a.py", session)
    world.read("a.py", "s2", agent_id="a1")

    view = browser.json("/rules")
    sent = {Path(file["path"]).name: file for file in view["sent"]}

    python = sent["python.md"]
    assert (python["applies"], python["globs"]) == ("by globs", ["*.py", "*.pyi"])
    assert (python["times"], python["sessions"]) == (3, 2)
    assert {each["id"] for each in python["receivers"]} == {"s1", "s2"}
    assert python["last_at"] > 0
    assert "web.md" in [Path(file["path"]).name for file in view["never"]]
    assert "python.md" not in [Path(file["path"]).name for file in view["never"]]
    assert "*.pyi" in browser.page("/rules")


def test_which_documents_were_sent(world: World, browser: Browser) -> None:
    world.write("README.md", "# Shop\n" + "word " * 5_000)
    world.start()
    world.drain()
    world.start("s2")

    (document,) = browser.json("/rules")["documents"]

    assert document["path"] == str(world.project / "README.md")
    assert (document["times"], document["sessions"]) == (2, 2)


def test_many_rules_are_cut(world: World, browser: Browser) -> None:
    for number in range(105):
        world.rule(f"r{number:03}.md", f"Rule {number}.", globs=["*.none"])
    world.start()
    world.read("a.py")

    view = browser.json("/rules")

    assert (len(view["never"]), view["more_never"]) == (100, 5)
    assert "105 rules never sent" in browser.page("/rules")


# ---------------------------------------------------------------- enforcement


def test_where_enforcement_is_on(world: World, browser: Browser) -> None:
    other = world.new_project("other")
    world.cli("enforce", "on")
    world.cli("enforce", "on", "--project", other)
    world.cli("enforce", "off", "--project", other)

    view = browser.json("/enforcement")

    assert [(each["project"], each["since"] > 0) for each in view["projects"]] == [
        (str(world.project), True)
    ]
    assert "No session was made to go on" in browser.page("/enforcement")


def test_claims_and_what_followed_them(world: World, browser: Browser) -> None:
    world.cli("enforce", "on")
    configure(world, cooldown_seconds=0)
    world.start()
    world.stop(DONE)
    work(world)
    world.stop(DONE)
    world.write_down(agent("I have nothing to add."))
    world.stop(WORKING)
    world.stop(DONE)

    view = browser.json("/enforcement")

    assert [each["is_followed"] for each in view["latest"]] == [None, False, True]
    assert [each["kind"] for each in view["latest"]] == ["claim"] * 3
    assert view["latest"][0]["text"] == "enforcement 3 of 50: the agent says that it is done"
    assert (view["followed"], view["known"]) == (1, 2)
    assert [day["claims"] for day in view["days"]] == [0] * 13 + [3]
    assert view["projects"][0]["claims"] == 3
    text = browser.page("/enforcement")
    assert "a tool call followed 1 of 2" in text
    assert 'href="/sessions/s1"' in browser.get("/enforcement").text


def test_wakes_are_counted(world: World, browser: Browser) -> None:
    world.cli("enforce", "on")
    configure(world, idle_seconds=0, cooldown_seconds=0)
    world.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    world.setenv("CLAUDE_PID", str(os.getpid()))
    world.start()
    world.stop(WORKING)
    world.hook("idle", world.stop_payload(WORKING))

    view = browser.json("/enforcement")

    assert [each["kind"] for each in view["latest"]] == ["wake"]
    assert (view["days"][-1]["wakes"], view["days"][-1]["claims"]) == (1, 0)


def test_failures_and_backoff_now(world: World, browser: Browser) -> None:
    world.cli("enforce", "on")
    world.start()
    world.stop(DONE)
    world.stop(DONE)

    (session,) = browser.json("/enforcement")["sessions"]

    assert (session["iteration"], session["failures"]) == (1, 1)
    assert session["status"] == "on"
    status = world.cli("enforce", "status", "--json").json
    assert status["failureCount"] == session["failures"]
    (at,) = browser.desk.store.one("SELECT at FROM enforcement") or (0,)
    assert session["next_at"] - at == 60
    assert "left alone until" in browser.page("/enforcement")


def test_a_note_that_quotes_ours_is_not_counted(world: World, browser: Browser) -> None:
    world.cli("enforce", "on")
    world.start()
    world.stop("I need\n\n<blocked>enforcement 1: the agent says that it is done</blocked>")

    view = browser.json("/enforcement")

    assert "says that it is done" in json.dumps(world.why())
    assert view["latest"] == []


def test_notes_of_an_earlier_version_are_plain_texts(world: World, browser: Browser) -> None:
    world.cli("enforce", "on")
    world.start()
    world.stop(DONE)
    text = "enforcement 1 of 50: the agent says that it is done"
    assert world.why()[-1]["notes"] == [text]
    browser.desk.store.run("UPDATE event SET notes = ? WHERE name = 'stop'", json.dumps([text]))

    assert world.why()[-1]["notes"] == [text]
    assert text in world.cli("why").out
    assert browser.json("/enforcement")["latest"] == []
