"""A dashboard before a browser: how long pages take, and what they ask for while much happens."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from e2e.dashboards import Dashboard
    from past import Past
    from playwright.sync_api import Browser, Page

    from sisyphus.ralph.loop import Loop

BUSY_SECONDS = 20
_SHOWN_MS = 20_000  # against a hang alone
_FAULT = 500

_PAINT = """
() => new Promise((resolve) => {
  const told = () => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const [page] = performance.getEntriesByType("navigation");
    if (paint) resolve([page.responseStart, paint.startTime]); else requestAnimationFrame(told);
  };
  told();
})
"""
_SHOWN_AT = """
([loop, text, patience]) => new Promise((resolve, reject) => {
  const look = () => [...document.querySelectorAll("main tr, main li")].some(
    (e) => e.innerHTML.includes(loop) && e.textContent.includes(text));
  const observer = new MutationObserver(() => { if (look()) resolve(Date.now()); });
  setTimeout(() => reject(new Error(`${loop} never showed ${text}`)), patience);
  observer.observe(document.body, {subtree: true, childList: true, characterData: true});
})
"""


class Paint(NamedTuple):
    """Milliseconds since the page was asked for: the answer's first byte, the first content."""

    first_byte: float
    content: float


class Busy(NamedTuple):
    """What a page and its server do while all loops write once a second, and how long another page
    then takes."""

    requests_per_second: float
    cpu_percent: float
    paint: Paint


def paints(browser: Browser, dashboard: Dashboard, path: str, rounds: int) -> Paint:
    """The medians of cold loads: each in a browser that has never seen the dashboard."""
    taken = [_paint(browser, dashboard, path) for _ in range(rounds)]
    return Paint(median(one.first_byte for one in taken), median(one.content for one in taken))


def _paint(browser: Browser, dashboard: Dashboard, path: str) -> Paint:
    with _page(browser, dashboard) as page:
        reply = page.goto(dashboard.address.rstrip("/") + path, wait_until="load")
        if reply is None or reply.status >= _FAULT:
            raise SystemExit(f"error: {path} could not be shown")
        return Paint(*page.evaluate(_PAINT))


@contextmanager
def _page(browser: Browser, dashboard: Dashboard) -> Iterator[Page]:
    bearer = {"authorization": f"Bearer {dashboard.token}"}
    context = browser.new_context(extra_http_headers=bearer)
    try:
        yield context.new_page()
    finally:
        context.close()


def answers(dashboard: Dashboard, path: str, rounds: int) -> float:
    """Median milliseconds of a request of a program, whole."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        answer = dashboard.ask(path)
        taken.append((time.perf_counter() - began) * 1_000)
        if answer.status not in (200, 401):
            raise SystemExit(f"error: {path} was answered by {answer.status}: {answer.text[:200]}")
    return median(taken)


def until_shown(
    browser: Browser, dashboard: Dashboard, past: Past, loop: Loop, rounds: int
) -> float:
    """Median milliseconds from the change of a state file to the page of loops that shows it."""
    with _page(browser, dashboard) as page:
        page.goto(dashboard.address + "loops")
        page.wait_for_timeout(1_000)  # it listens by then
        return median(_until_shown(page, past, loop, 700 + n) for n in range(rounds))


def _until_shown(page: Page, past: Past, loop: Loop, iteration: int) -> float:
    loop.iteration = iteration
    page.evaluate(f"(told) => {{ window.shown = ({_SHOWN_AT})(told); }}",
                  [loop.loop_id, str(iteration + 1), _SHOWN_MS])  # fmt: skip
    written = time.time()
    past.go_on(loop)
    shown: float = page.evaluate("() => window.shown")
    page.wait_for_timeout(1_000)  # what was told is over
    return shown - written * 1_000


def busy(
    browser: Browser, dashboard: Dashboard, past: Past, loops: Sequence[Loop], rounds: int
) -> Busy:
    """With the page of loops before somebody's eyes."""
    asked: list[str] = []
    with _page(browser, dashboard) as page, _writing(past, loops):
        page.goto(dashboard.address + "loops")
        page.wait_for_timeout(1_000)
        page.on("request", lambda request: asked.append(request.url))
        used = cpu_seconds(dashboard.pid)
        page.wait_for_timeout(BUSY_SECONDS * 1_000)
        used = cpu_seconds(dashboard.pid) - used
        requests = len(asked)
        paint = paints(browser, dashboard, "/loops", rounds)
    return Busy(requests / BUSY_SECONDS, used / BUSY_SECONDS * 100, paint)


@contextmanager
def _writing(past: Past, loops: Sequence[Loop]) -> Iterator[None]:
    """Every loop takes a step once a second, one after the other."""
    done = threading.Event()

    def write() -> None:
        while True:
            for loop in loops:
                past.go_on(loop)
                if done.wait(1 / len(loops)):
                    return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


def memory_mb(pid: int) -> float:
    """What the process has in memory; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS:"))


def cpu_seconds(pid: int) -> float:
    """What the process has had of the processor; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
