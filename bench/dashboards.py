"""What the dashboard costs with 10,000 loops behind it and 100 that have not ended.

A real server on loopback, in front of it Chromium, where there is one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import browsing  # noqa: E402
import machine  # noqa: E402
import report  # noqa: E402
from e2e import chromium  # noqa: E402
from e2e.client import environment  # noqa: E402
from e2e.dashboards import Dashboard, dashboard  # noqa: E402
from past import Past, projects  # noqa: E402

from sisyphus.dashboard import needs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser

    from sisyphus.ralph.loop import Loop

PAGE = ROOT / "docs" / "benchmarks.md"
ENDED, ACTIVE = 10_000, 100
ROUNDS = 15
TARGET_MS = 300.0
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


class Figure(NamedTuple):
    """`ratio` is to the page that shows nothing."""

    what: str
    value: str
    ratio: float | None = None
    verdict: str = ""


class Stage:
    """A home with a past, and what its dashboard is measured by."""

    def __init__(self, folder: Path, stack: ExitStack, rounds: int) -> None:
        self.rounds = rounds
        home = folder / "home"
        (home / "tmp").mkdir(parents=True)
        variables = environment(home)
        roots = projects(folder / "projects", variables)
        os.environ.update({"HOME": str(home), "CLAUDE_CONFIG_DIR": variables["CLAUDE_CONFIG_DIR"]})
        self.past = Past(str(home / ".claude/.sisyphus"), time.time(), roots)
        self.loops: list[Loop] = self.past.write(ENDED, ACTIVE)
        began = time.perf_counter()
        self.dashboard: Dashboard = stack.enter_context(dashboard(home))
        self.start_ms = (time.perf_counter() - began) * 1_000
        self.browser = _browser(stack, home)

    def figures(self) -> Iterator[Figure]:
        yield Figure("start, until it can be asked", f"{self.start_ms:,.0f} ms")
        yield Figure("memory after the start", f"{browsing.memory_mb(self.dashboard.pid):.0f} MB")
        if self.browser:
            yield from self._painted(self.browser)
        for path in ANSWERS:
            took = browsing.answers(self.dashboard, path, self.rounds)
            yield Figure(f"`{path}`, whole answer", f"{took:.0f} ms")
        if self.browser:
            yield from self._live(self.browser)
        yield Figure("memory in the end", f"{browsing.memory_mb(self.dashboard.pid):.0f} MB")

    def _painted(self, browser: Browser) -> Iterator[Figure]:
        browsing.paints(browser, self.dashboard, NOBODY, 1)  # the browser's own first page
        least = browsing.paints(browser, self.dashboard, NOBODY, self.rounds)
        yield Figure("a page that shows nothing, first paint", f"{least.content:.0f} ms", 1.0)
        for path, name in PLACES.items():
            found = browsing.paints(browser, self.dashboard, path, self.rounds)
            ratio = found.content / least.content
            yield Figure(f"{name}, first byte", f"{found.first_byte:.0f} ms")
            verdict = _verdict(found.content) if path in FIRST else ""
            yield Figure(f"{name}, first paint", f"{found.content:.0f} ms", ratio, verdict)

    def _live(self, browser: Browser) -> Iterator[Figure]:
        one = self.loops[-2]  # on the first page of the list, and not paused
        shown = browsing.until_shown(browser, self.dashboard, self.past, one, self.rounds)
        yield Figure("a loop's file changes, until the page of loops shows it", f"{shown:.0f} ms")
        busy = browsing.busy(browser, self.dashboard, self.past, self.loops, self.rounds)
        what = f"{ACTIVE} loops write once a second, the page of loops is open"
        yield Figure(f"{what}: requests", f"{busy.requests_per_second:.1f} /s")
        yield Figure(f"{what}: server, of one processor", f"{busy.cpu_percent:.0f} %")
        found, verdict = f"{busy.paint.content:.0f} ms", _verdict(busy.paint.content)
        yield Figure(f"{what}: the page of loops, first paint", found, verdict=verdict)


def _browser(stack: ExitStack, home: Path) -> Browser | None:
    if not chromium.binary() or util.find_spec("playwright") is None:
        print("pages are not measured: that takes Chromium and playwright", file=sys.stderr)
        return None
    from e2e.browser import launch
    from playwright.sync_api import sync_playwright

    launched = launch(stack.enter_context(sync_playwright()).chromium, home)
    stack.callback(launched.close)
    return launched


def _told(figure: Figure) -> Figure:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"{figure.what}: {figure.value} {figure.verdict}", file=sys.stderr)
    return figure


def _verdict(milliseconds: float) -> str:
    return f"< {TARGET_MS:.0f} ms " + ("met" if milliseconds < TARGET_MS else "MISSED")


_SECTION = """\
{heading}

Measured by `python bench/dashboards.py`: {ended:,} loops that ended and {active} that have not, in
{projects} projects; a server on loopback, Chromium without a screen. Medians of {rounds}: each load
in a browser that has never seen the page.

{date}: {machine}.

| | median | ÷ a page that shows nothing | |
|---|--:|--:|---|
{rows}

First byte and first paint count from the moment at which the page is asked for. Server, browser and
those that write share the processors of the machine.
"""


def section(found: Sequence[Figure], rounds: int, roots: int) -> str:
    rows = [
        f"| {one.what} | {one.value} | {'' if one.ratio is None else f'{one.ratio:.2f}'} "
        f"| {one.verdict} |"
        for one in found
    ]
    return _SECTION.format(
        heading=report.DASHBOARD, ended=ENDED, active=ACTIVE, projects=roots, rounds=rounds,
        date=time.strftime("%Y-%m-%d", time.gmtime()), machine=machine.describe(),
        rows="\n".join(rows),
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each page is loaded")
    parser.add_argument("--print", action="store_true", help="leave docs/benchmarks.md as it is")
    options = parser.parse_args()
    if needs.missing():
        print(f"not measured: the dashboard needs {', '.join(needs.missing())}")
        return 0
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder, ExitStack() as stack:
        stage = Stage(Path(folder), stack, options.rounds)
        found = [_told(figure) for figure in stage.figures()]
        text = section(found, options.rounds, len(stage.past.roots))
    print(text)
    if not options.print:
        PAGE.write_text(report.with_section(PAGE.read_text("utf-8"), text), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
