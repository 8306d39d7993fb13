"""What the dashboard costs with 10,000 loops behind it and 100 that have not ended.

A real server on loopback, in front of it Chromium, where there is one.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import installation
import page

sys.path[:0] = [str(installation.ROOT / "tests"), str(installation.ROOT / "src")]

import browsing  # noqa: E402
from e2e import chromium  # noqa: E402
from e2e.client import environment  # noqa: E402
from e2e.dashboards import Dashboard, dashboard  # noqa: E402
from past import Past, projects  # noqa: E402

from sisyphus.dashboard import needs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from sisyphus.ralph.loop import Loop

ENDED, ACTIVE = 10_000, 100
ROUNDS = 15
PAINT_MS, CHANGE_MS = 300, 1_000
PLACES = {
    "/": "overview",
    "/loops": "loops",
    "/boulders": "boulders",
    "/context": "context",
    "/rules": "rules",
    "/enforcement": "enforcement",
    "/journal": "journal",
}
FIRST = ("/", "/loops")
"""The pages that the target is about."""
ANSWERS = ("/api/sessions", "/api/overview", "/metrics")
NOBODY = "/no-such-page"
"""The page that says so: what the browser and the server need for any page."""

WORDS = f"""
{ENDED:,} loops that ended and {ACTIVE} that have not, in 8 projects; a server on loopback, Chromium
without a screen. Medians of {ROUNDS}: each load in a browser that has never seen the page. First
byte and first paint count from the moment at which the page is asked for, and stand beside those of
an empty page. Server, browser and those that write share the processors of the machine.
"""


def measure() -> tuple[list[page.Row], str]:
    """The rows of the page and what it says of them."""
    why = f"not measured: it needs {', '.join(needs.missing())}" if needs.missing() else ""
    if why:
        return [page.Row("first paint", "", "", f"≤ {PAINT_MS} ms", why)], ""
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder, ExitStack() as stack:
        home = Path(folder) / "home"
        (home / "tmp").mkdir(parents=True)
        variables = environment(home)
        roots = projects(Path(folder) / "projects", variables)
        os.environ.update({"HOME": str(home), "CLAUDE_CONFIG_DIR": variables["CLAUDE_CONFIG_DIR"]})
        past = Past(str(home / ".claude/.sisyphus"), time.time(), roots)
        loops = past.write(ENDED, ACTIVE)
        began = time.perf_counter()
        served = stack.enter_context(dashboard(home))
        start = page.Row("start, until it can be asked", _ms(time.perf_counter() - began, 1_000))
        return [start, *_rows(served, past, loops, _browser(stack, home))], WORDS


def _rows(
    served: Dashboard, past: Past, loops: list[Loop], browser: Browser | None
) -> Iterator[page.Row]:
    yield page.Row("memory after the start", f"{browsing.memory_mb(served.pid):.0f} MB")
    if browser:
        yield from _painted(served, browser)
    else:
        why = "not measured: it needs Chromium and playwright"
        yield page.Row("first paint", "", "", f"≤ {PAINT_MS} ms", why)
    for path in ANSWERS:
        yield page.Row(f"`{path}`, whole answer", _ms(browsing.answers(served, path, ROUNDS)))
    if browser:
        yield from _live(served, past, loops, browser)
    yield page.Row("memory in the end", f"{browsing.memory_mb(served.pid):.0f} MB")


def _painted(served: Dashboard, browser: Browser) -> Iterator[page.Row]:
    browsing.paints(browser, served, NOBODY, 1)  # the browser's own first page
    least = browsing.paints(browser, served, NOBODY, ROUNDS)
    yield page.Row("an empty page, first paint", _ms(least.content))
    for path, name in PLACES.items():
        found = browsing.paints(browser, served, path, ROUNDS)
        yield page.Row(f"{name}, first byte", _ms(found.first_byte))
        beside = f"{found.content / least.content:.2f} times an empty page"
        limit = PAINT_MS if path in FIRST else 0
        yield _limited(f"{name}, first paint", found.content, limit, beside)


def _live(served: Dashboard, past: Past, loops: list[Loop], browser: Browser) -> Iterator[page.Row]:
    one = loops[-2]  # on the first page of the list, and not paused
    shown = browsing.until_shown(browser, served, past, one, ROUNDS)
    yield _limited("a loop's file changes, until the page of loops shows it", shown, CHANGE_MS)
    busy = browsing.busy(browser, served, past, loops, ROUNDS)
    what = f"{ACTIVE} loops write once a second, the page of loops is open"
    yield page.Row(f"{what}: requests", f"{busy.requests_per_second:.1f} /s")
    yield page.Row(f"{what}: server, of one processor", f"{busy.cpu_percent:.0f} %")
    yield _limited(f"{what}: its first paint", busy.paint.content, PAINT_MS)


def _limited(what: str, ms: float, limit: int, beside: str = "") -> page.Row:
    """`limit`: 0 = none."""
    verdict = "met" if ms <= limit else "**MISSED**"
    target, verdict = (f"≤ {limit} ms", verdict) if limit else ("", "")
    return page.Row(what, _ms(ms), beside or _ms(ms), target, verdict)


def _ms(value: float, unit: float = 1) -> str:
    return f"{value * unit:,.0f} ms"


def _browser(stack: ExitStack, home: Path) -> Browser | None:
    if not chromium.binary() or util.find_spec("playwright") is None:
        return None
    from e2e.browser import launch
    from playwright.sync_api import sync_playwright

    launched = launch(stack.enter_context(sync_playwright()).chromium, home)
    stack.callback(launched.close)
    return launched
