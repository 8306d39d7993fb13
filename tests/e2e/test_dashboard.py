"""The dashboard in a real browser: the ways of a user through it, and what no page may do."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from lived_in import lived_in

from e2e.chromium import HIDE, SHOW, Tab, browser
from e2e.claude_code import COMMANDS
from e2e.desk import Desk
from sisyphus.dashboard import private_page
from sisyphus.ground.paths import our_home
from sisyphus.ground.store import open_store

HOSTILE = "<script>alert(1)</script> \"'><img src=https://evil.example/x onerror=alert(1)> {{7*7}}"
WIDE, NARROW = 1280, 420
TALLEST = 4_000  # pixels of a page, on a phone


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@dataclass
class Dashboard:
    """The real server in a home of its own, and the tabs that look at it."""

    desk: Desk
    chromium: Any
    port: int = 0
    url: str = ""
    process: subprocess.Popen[str] | None = None
    tabs: list[Tab] = field(default_factory=list)

    def start(self) -> None:
        """Starts it, at the same port as the last time."""
        self.process = subprocess.Popen(
            [COMMANDS / "sisyphus", "dashboard", "--no-open", "--port", str(self.port)],
            cwd=self.desk.project, env=self.desk.environment(), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        self.url = self.process.stdout.readline().split()[-1]
        self.port = int(re.findall(r":(\d+)/", self.url)[0])

    def end(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=10)

    def tab(self, width: int = WIDE, **options: Any) -> Tab:
        """Opens the printed address in a new browser. `complaints` of it fail the test."""
        context = self.chromium.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(10_000)
        tab = Tab(context.new_page(), f"http://127.0.0.1:{self.port}")
        self.tabs.append(tab)
        tab.page.goto(self.url)
        tab.until_text("#live", "live")
        tab.page.bring_to_front()  # keys go to the page in front
        self.url = ""
        return tab

    @contextmanager
    def failing(self, tab: Tab) -> Iterator[None]:
        """Allows the browser to complain about a server that does not answer."""
        yield
        expected = ("console: Failed to load", "console: [object Event]")
        tab.complaints = [each for each in tab.complaints if not each.startswith(expected)]

    def hook(self, event: str, **fields: object) -> None:
        """Runs a hook in another process, as a client does."""
        payload = {
            "session_id": "s1", "cwd": str(self.desk.project), "source": "startup",
            "transcript_path": str(self.desk.home / "s1.jsonl"), **fields,
        }  # fmt: skip
        subprocess.run(
            [COMMANDS / "sisyphus", "hook", event], input=json.dumps(payload), text=True,
            cwd=self.desk.project, env=self.desk.environment(), check=True, capture_output=True,
        )  # fmt: skip

    def loop(self, prompt: str = "Build the shop.", session: str = "s1") -> str:
        """Starts a loop; returns its id."""
        self.hook("session-start", session_id=session)
        words = ("ralph", "start", "--session-id", session, "--completion-promise", "DONE", "--")
        return self.desk.sisyphus(*words, prompt).rpartition("Ralph loop ")[2].split()[0]


@pytest.fixture
def dashboard(desk: Desk, chromium: Any) -> Iterator[Dashboard]:
    running = Dashboard(desk, chromium)
    running.start()
    yield running
    complaints = [complaint for tab in running.tabs for complaint in tab.complaints]
    for tab in running.tabs:
        tab.page.context.close()
    running.end()
    desk.check_log()
    assert not complaints


@pytest.fixture
def full(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> Dashboard:
    """The dashboard of somebody who has worked for a week."""
    monkeypatch.setenv("HOME", str(dashboard.desk.home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    store = open_store(our_home())
    lived_in(store)
    store.close()
    return dashboard


# ---------------------------------------------------------------- what a user sees


def test_the_first_page_says_how_to_begin(dashboard: Dashboard) -> None:
    tab = dashboard.tab(permissions=["clipboard-read", "clipboard-write"])

    tab.until_text("main", "Begin here")
    tab.page.locator("button.copy").first.click()
    tab.until_text("button.copy", "copied")

    assert tab.page.evaluate("navigator.clipboard.readText()") == "sisyphus install"


def test_what_waits_comes_first(full: Dashboard) -> None:
    tab = full.tab()

    tab.until_text(".needs", "the password of the test account")
    assert re.match(r"\(\d+\) Overview", tab.page.title())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it(full: Dashboard, scheme: str) -> None:
    tab = full.tab(NARROW, color_scheme=scheme)

    for path in _navigation(tab):
        tab.go(path)
        assert tab.height() < TALLEST, path
        assert tab.wide_parts() == [], path
        for detail in _details(tab, path):
            tab.go(detail)
            assert tab.wide_parts() == [], detail


def test_everything_is_there_without_a_script(full: Dashboard) -> None:
    context = full.chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(full.url)

    assert page.locator("main h1").inner_text() == "Overview"
    assert page.locator("button:visible").count() == page.locator("form button:visible").count()
    context.close()


def test_the_file_that_it_opens_lets_the_browser_in_twice(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time the browser is known, and stays the same."""
    monkeypatch.setenv("HOME", str(dashboard.desk.home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    context = dashboard.chromium.new_context()
    cookies = []
    for _ in range(2):
        tab = Tab(context.new_page(), f"http://127.0.0.1:{dashboard.port}")
        dashboard.tabs.append(tab)
        tab.page.goto(private_page.write(dashboard.url, our_home()))
        tab.page.wait_for_url(f"{tab.address}/")
        tab.until_text("#live", "live")
        assert tab.complaints.pop(0).startswith("request to file://")
        cookies.append(context.cookies())
        printed = dashboard.desk.sisyphus("dashboard", "--no-open", "--port", str(dashboard.port))
        dashboard.url = printed.split()[-1]

    assert cookies[0] == cookies[1]
    assert not list(dashboard.desk.home.rglob("sisyphus-dashboard-*"))


# ---------------------------------------------------------------- live


def test_a_change_shows_within_a_second(dashboard: Dashboard) -> None:
    tab = dashboard.tab()
    id = dashboard.loop()
    tab.until_text(".card", id)

    dashboard.hook("stop", last_assistant_message="<blocked>the key of the bank</blocked>")

    tab.until_text(".needs", "the key of the bank", seconds=1.0)
    tab.until_text("#count", "1")
    assert tab.page.title().startswith("(1)")


def test_one_change_right_after_another_shows(dashboard: Dashboard) -> None:
    tab = dashboard.tab()
    id = dashboard.loop()
    tab.until_text(".card", id)

    dashboard.hook("stop", last_assistant_message="I work.")
    tab.until_text(".card", "iteration 2")

    dashboard.hook("stop", last_assistant_message="I work on.")

    tab.until_text(".card", "iteration 3", seconds=1.0)


def test_a_bar_grows_while_one_looks(dashboard: Dashboard) -> None:
    id = dashboard.loop()
    tab = dashboard.tab()
    tab.go(f"/loops/{id}")
    bar = tab.page.locator(".limits progress").first
    before = bar.evaluate("each => each.value")

    dashboard.hook("stop", last_assistant_message="I work.")

    tab.until_text(".limits", "2 of")
    assert bar.evaluate("each => each.value") == before + 1


def test_a_change_disturbs_nobody(full: Dashboard) -> None:
    tab = full.tab()
    page = tab.page
    page.locator(".needs summary").click()
    page.locator(".cards a").nth(3).focus()
    page.mouse.wheel(0, 300)
    page.wait_for_function("scrollY >= 290")
    focus = "document.activeElement.getAttribute('href')"
    focused, scrolled = page.evaluate(focus), page.evaluate("scrollY")

    full.loop("A new one.")
    tab.until_text("main", "A new one.")

    assert page.locator(".needs details").evaluate("each => each.open")
    assert page.evaluate(focus) == focused
    assert abs(page.evaluate("scrollY") - scrolled) < 200


def test_a_hidden_page_asks_for_nothing(dashboard: Dashboard) -> None:
    tab = dashboard.tab()
    tab.page.evaluate(HIDE)
    tab.requests.clear()

    dashboard.loop("Not yet.")
    tab.page.wait_for_timeout(1_500)
    assert tab.requests == []

    tab.page.evaluate(SHOW)
    tab.until_text(".card", "Not yet.")


def test_a_page_knows_when_nobody_answers(dashboard: Dashboard) -> None:
    tab = dashboard.tab()
    with dashboard.failing(tab):
        dashboard.end()
        tab.until_text("#live", "not connected")
        assert not tab.page.locator("#anew").is_visible()

        dashboard.start()
        tab.page.locator("#anew").wait_for()
        dashboard.tabs.append(Tab(tab.page.context.new_page(), tab.address))
        dashboard.tabs[-1].page.goto(dashboard.url)

        tab.until_text("#live", "live")
        tab.page.locator("#anew").wait_for(state="hidden")


def test_times_go_on(full: Dashboard) -> None:
    tab = full.tab()
    tab.page.clock.install()
    tab.page.reload()
    moment = tab.page.locator(".card time").first
    before = moment.inner_text()

    tab.page.clock.fast_forward("02:00:00")

    assert moment.inner_text() != before


# ---------------------------------------------------------------- by hand


def test_the_theme_stays(dashboard: Dashboard) -> None:
    tab = dashboard.tab(color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.page.evaluate(ground)

    tab.page.locator("#theme").click()
    tab.page.locator("#theme").click()
    tab.until_text("#theme", "dark")
    dark = tab.page.evaluate(ground)
    tab.page.reload()

    assert tab.page.evaluate(ground) == dark != light
    tab.until_text("#theme", "dark")


def test_keys(full: Dashboard) -> None:
    tab = full.tab()
    page = tab.page

    page.keyboard.press("?")
    tab.until_text("dialog", "Keys")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="hidden")
    page.keyboard.press("?")
    tab.until_text("dialog", "Keys")
    page.keyboard.press("?")
    page.locator("dialog").wait_for(state="hidden")

    for path in _navigation(tab):
        page.keyboard.press("g")
        page.keyboard.press(path[1:2] or "o")
        page.wait_for_url(tab.address + path)
        tab.until_text("#live", "live")


@pytest.mark.parametrize("path", ["/loops", "/rules"])
def test_a_slash_finds_the_search(full: Dashboard, path: str) -> None:
    tab = full.tab()
    tab.go(path)

    tab.page.keyboard.press("/")
    tab.page.locator("#q:focus").wait_for()
    tab.page.keyboard.type("django")
    tab.page.keyboard.press("Enter")

    tab.until_text("main", "Upgrade to Django 6")
    tab.page.locator("main", has_text="Fix the flaky upload test").wait_for(state="hidden")


def test_what_somebody_types_stays(dashboard: Dashboard) -> None:
    id = dashboard.loop()
    dashboard.hook("stop", last_assistant_message="<blocked>the key of the bank</blocked>")
    tab = dashboard.tab()
    tab.go(f"/loops/{id}")
    field = tab.page.locator("textarea")
    field.focus()
    tab.page.keyboard.type("It is in the va")

    dashboard.loop("Wait too.", session="s2")
    dashboard.hook("stop", session_id="s2", last_assistant_message="<blocked>a key</blocked>")
    tab.page.wait_for_timeout(1_500)
    tab.page.keyboard.type("ult.")
    assert tab.page.locator("#count").inner_text() == "1"
    tab.page.locator("main h1").click()

    tab.until_text("#count", "2")
    assert field.input_value() == "It is in the vault."


def test_every_focus_is_visible(full: Dashboard) -> None:
    page = full.tab().page
    for _ in range(12):
        page.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(style) == "solid", page.evaluate("document.activeElement.outerHTML")


def test_words_of_others_do_nothing(dashboard: Dashboard) -> None:
    dashboard.desk.write("PLAN.md", f"# {HOSTILE}\n\n- [x] one\n- [ ] {HOSTILE}\n")
    id = dashboard.loop(HOSTILE)
    dashboard.hook("stop", last_assistant_message=f"<blocked>{HOSTILE}</blocked>")
    tab = dashboard.tab()

    for path in [*_navigation(tab), f"/loops/{id}", f"/loops/{id}/transcript", "/plans/1"]:
        tab.go(path)
        assert tab.page.locator("main img, main script").count() == 0
    assert "evil.example" not in " ".join(tab.requests)


def test_a_loop_is_paused_resumed_and_cancelled(dashboard: Dashboard) -> None:
    tab = dashboard.tab()
    tab.go(f"/loops/{dashboard.loop()}")

    for label, word in (("Pause", "paused"), ("Resume", "active")):
        tab.page.get_by_role("button", name=label, exact=True).click()
        tab.until_text("main .badge", word)
        tab.page.locator("#told:focus").wait_for()
    tab.page.locator("main summary", has_text="Cancel").click()
    tab.page.keyboard.press("Escape")
    tab.page.locator(".question").wait_for(state="hidden")
    tab.page.keyboard.press("Enter")
    tab.page.locator(".question").get_by_role("button", name="Cancel").click()

    tab.until_text("main .badge", "cancelled")


def _navigation(tab: Tab) -> list[str]:
    """Returns the addresses of the pages in the navigation."""
    paths: list[str] = tab.page.evaluate(
        "[...document.querySelectorAll('.top nav a')].map((each) => each.pathname)"
    )
    return paths


def _details(tab: Tab, path: str) -> list[str]:
    """Returns the first addresses below a page that it links to."""
    links: list[str] = tab.page.evaluate(
        "[...document.querySelectorAll('main a')].map((each) => each.pathname)"
    )
    return [link for link in dict.fromkeys(links) if link.startswith(f"{path}/") and path != "/"][
        :2
    ]
