"""The dashboard: who may use it, and its first page."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from browser import PORT, Browser
from world import World

from sisyphus.dashboard import access, app
from sisyphus.dashboard.commands import dashboard

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(1)> \u202e{{7*7}}"
PATHS = [page.path for page in app.PAGES if "{" not in page.path]


# ---------------------------------------------------------------- who may use it


def test_an_address_opens_one_browser_once(browser: Browser) -> None:
    url = browser.access.new_link()
    first, second = browser.new_client(), browser.new_client()

    answer = first.get(url)
    assert answer.status_code == 200
    assert "code=" not in str(answer.url)
    assert first.get("/").status_code == 200
    assert second.get(url).status_code == 401
    assert second.get("/").status_code == 401


def test_the_cookie_is_for_this_browser_alone(browser: Browser) -> None:
    answer = browser.new_client().get(browser.access.new_link(), follow_redirects=False)

    assert answer.headers["set-cookie"].startswith(f"sisyphus-{PORT}=")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert answer.headers["location"] == "/"


def test_a_browser_that_is_known_stays_the_same(browser: Browser) -> None:
    """Or the forms on its open pages would be those of another one."""
    answer = browser.client.get(browser.access.new_link(), follow_redirects=False)

    assert answer.status_code == 303
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["//evil.example/?code=", "/\\evil.example?code="])
def test_an_address_leads_nowhere_else(browser: Browser, path: str) -> None:
    code = browser.access.new_link().partition("code=")[2]
    client = browser.new_client()

    answer = client.get(browser.access.address + path + code, follow_redirects=False)

    assert answer.status_code == 303
    assert not answer.headers["location"].startswith(("//", "/\\", "http"))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", f"127.0.0.1.evil.example:{PORT}"])
def test_another_name_is_refused(browser: Browser, host: str) -> None:
    """A stranger's site can make its name lead here."""
    assert browser.get("/", host=host).status_code == 403
    assert browser.get("/static/style.css", host=host).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/overview", "/events", "/metrics"])
def test_a_page_of_another_site_is_refused(
    browser: Browser, headers: dict[str, str], path: str
) -> None:
    assert browser.get(path, **headers).status_code == 403


def test_a_form_needs_its_key(browser: Browser, world: World) -> None:
    id = world.loop()
    own = {"origin": browser.access.address}

    for key in ("", "0" * 64, browser.token):
        answer = browser.client.post(f"/loops/{id}/cancel", data={"key": key}, headers=own)
        assert answer.status_code == 403
    assert [loop["loop_id"] for loop in world.loops()] == [id]


def test_the_key_of_another_browser_is_refused(browser: Browser, world: World) -> None:
    id = world.loop()
    other = browser.new_client()
    other.get(browser.access.new_link())
    key = browser.get("/").text.partition('name="key" value="')[2][:64]

    assert other.post(f"/loops/{id}/cancel", data={"key": key}).status_code == 403


def test_every_answer_says_what_a_browser_may_do(browser: Browser) -> None:
    for path in [*PATHS, "/nothing", "/static/style.css", "/metrics"]:
        headers = browser.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", PATHS)
def test_no_page_has_a_script_or_style_in_it(browser: Browser, path: str) -> None:
    text = browser.get(path).text
    assert "<style" not in text
    assert " style=" not in text
    assert "<script>" not in text
    assert " onclick" not in text


def test_the_token_is_the_users_alone(browser: Browser, world: World) -> None:
    file = world.ours / access.TOKEN_FILE

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert access.read_token(str(world.ours)) == browser.token


def test_a_program_brings_the_token(browser: Browser) -> None:
    client = browser.new_client()

    for path in ("/api/overview", "/metrics"):
        assert client.get(path).status_code == 401
        answer = client.get(path, headers={"authorization": f"Bearer {browser.token}"})
        assert answer.status_code == 200
        refused = client.get(path, headers={"authorization": "Bearer x"})
        assert refused.status_code == 401
        assert "dashboard.token" in refused.json()["error"]
        assert "Authorization: Bearer" in refused.json()["error"]


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/static/../app.py", "/static/%2e%2e/app.py"]
)
def test_no_path_leaves_the_static_files(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_the_model_cannot_start_it(world: World) -> None:
    world.setenv("CLAUDECODE", "1")
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")

    answer = world.cli("dashboard", "--no-open")

    assert answer.code == 1
    assert "Use another terminal" in answer.err
    assert not (world.ours / access.TOKEN_FILE).exists()


# ---------------------------------------------------------------- the first page


def test_the_first_look_says_how_to_begin(browser: Browser) -> None:
    page = browser.page("/")

    assert "sisyphus install" in page
    assert "Since you last looked" not in page


def test_the_first_look_after_an_installation(world: World, browser: Browser) -> None:
    with browser.desk.store.write():
        browser.desk.store.run("INSERT INTO installed VALUES ('/f', 'claude-code', '', '{}')")

    page = browser.page("/")
    assert "✓ Done: sisyphus install" in page
    assert "One more command" in page


def test_what_waits_latest_comes_first(world: World, browser: Browser) -> None:
    loops = [world.loop(session=f"s{number}") for number in range(8)]
    for number in range(8):
        world.stop("<blocked>a key</blocked>", session=f"s{number}")

    assert [each["loop"] for each in browser.json("/")["waiting"]] == loops[::-1]
    assert "and 4 more" in browser.page("/")


def test_what_works_and_what_waits(world: World, browser: Browser) -> None:
    world.write("PLAN.md", "# Shop\n\n- [x] cart\n- [ ] total\n")
    id = world.loop(prompt="Build the shop.")
    other = world.loop(prompt="Wait for a key.", session="s2")
    world.stop("<blocked>the key of the bank</blocked>", session="s2")

    page = browser.page("/")
    view = browser.json("/")

    assert [each["loop"] for each in view["waiting"]] == [other]
    assert "the key of the bank" in page
    assert {row["id"]: row["state"] for row in view["live"]} == {id: "active", other: "blocked"}
    assert view["plans"][0] | {"number": 0, "used_at": 0, "project": ""} == {
        "number": 0, "name": "Shop", "project": "", "completed": 1, "total": 2,
        "failed": 0, "next_task": "total", "used_at": 0,
    }  # fmt: skip
    assert "(1) Overview" in browser.get("/").text


def test_what_has_happened(world: World, browser: Browser) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] cart\n- [ ] total\n- [ ] receipt\n")
    id = world.loop(prompt="Build the shop.")
    world.edit("PLAN.md", "[ ] cart", "[x] cart")
    world.edit("PLAN.md", "[ ] total", "[x] total")
    world.stop("I work.")
    world.stop("<promise>DONE</promise>")

    news = browser.json("/")["news"]

    assert [row["id"] for row in news["ended"]] == [id]
    assert (news["iterations"], news["tasks"]) == (2, 2)
    assert news["period"] in ("today", "7 days")
    assert f'href="/loops?since={news["period"].replace(" ", "%20")}"' in browser.get("/").text
    assert "Build the shop." in browser.page("/")
    assert "complete</span>" in browser.get("/").text, "as `ralph log` says it"


def test_a_tick_that_is_taken_back_counts_once(
    world: World, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] cart\n- [ ] total\n")
    world.start()
    for old, new in (("[ ]", "[x]"), ("[x]", "[ ]"), ("[ ]", "[x]")):
        world.edit("PLAN.md", f"{old} cart", f"{new} cart")

    assert browser.json("/")["news"]["tasks"] == 1
    begun = time.time()
    monkeypatch.setattr(time, "time", lambda: begun + 5 * 60)
    assert "1 task of plans ticked" in browser.page("/")
    monkeypatch.setattr(time, "time", lambda: begun + 60 * 60)
    world.edit("PLAN.md", "[x] cart", "[ ] cart")
    assert browser.json("/")["news"]["tasks"] == 0, "one less is no news"
    world.edit("PLAN.md", "[ ] cart", "[x] cart")
    assert browser.json("/")["news"]["tasks"] == 0, "as it was at the last visit"
    world.edit("PLAN.md", "[ ] total", "[x] total")
    assert browser.json("/")["news"]["tasks"] == 1


def test_a_visit_ends_half_an_hour_after_its_last_page(
    world: World, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever page that was."""
    begun = time.time()
    world.loop()
    world.stop("I work.")
    browser.get("/")
    for minutes in (20, 40):
        monkeypatch.setattr(time, "time", lambda m=minutes: begun + m * 60)
        browser.get("/rules")

    first, page = browser.json("/")["news"], browser.page("/")
    assert (first["iterations"], first["is_first"]) == (1, True)
    assert "The last day" in page
    assert "Since you last looked" not in page
    monkeypatch.setattr(time, "time", lambda: begun + 80 * 60)
    second, page = browser.json("/")["news"], browser.page("/")
    assert (second["iterations"], second["is_first"]) == (0, False)
    assert "Since you last looked 40 min ago" in " ".join(page.split())


def test_a_small_cost_fits_above_its_bar(world: World, browser: Browser) -> None:
    world.loop()
    world.stop("I work.")
    with browser.desk.store.write():
        browser.desk.store.run("UPDATE iteration SET cost = 0.004, tokens = 7")

    text = browser.get("/").text

    assert "under $0.01</title>" in text
    assert ">&lt;$0.01</text>" in text


def test_words_of_others_stay_words(world: World, browser: Browser) -> None:
    world.write("PLAN.md", f"# {HOSTILE}\n\n- [ ] {HOSTILE}\n")
    world.loop(prompt=HOSTILE)

    text = browser.get("/").text

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "{{7*7}}" in text


def test_what_does_not_exist(browser: Browser) -> None:
    assert browser.get("/nothing").status_code == 404
    assert "Overview" in browser.page("/")
    assert browser.get("/api/nothing").json() == {"error": "There is no such page."}


def test_the_command_is_in_the_help(world: World) -> None:
    assert "dashboard" in world.cli("--help").out
    assert dashboard.__doc__
    assert os.path.exists(Path(app.__file__).parent / "static" / "vendor" / "LICENSE.txt")
