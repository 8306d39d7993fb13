"""Chromium before a dashboard. Whatever a page should not do fails the test that looked at it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from e2e import chromium
from e2e.install import AXE, CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import (
        Browser,
        BrowserContext,
        BrowserType,
        ConsoleMessage,
        Dialog,
        Page,
        Request,
    )

    from e2e.dashboards import Dashboard

DESKTOP, PHONE = (1280, 800), (390, 844)
SHOTS = CHECKOUT / ".e2e/screenshots"
PATIENCE_MS = 20_000  # against a hang alone
SERIOUS = ("serious", "critical")
"""What axe calls a violation that keeps somebody from using the page."""


def launch(kind: BrowserType, home: Path) -> Browser:
    """One for all tests of a run; `home` is the browser's own."""
    return kind.launch(
        executable_path=chromium.binary(),
        args=[*chromium.FLAGS],
        env={**os.environ, "HOME": str(home)},
    )


@dataclass
class Visitor:
    """A user at a page of a dashboard. `faults`: what the pages did that they should not: errors
    and warnings in the console, among them breaches of the content security policy, errors of
    scripts, dialogs, requests to other servers."""

    dashboard: Dashboard
    page: Page
    faults: list[str] = field(default_factory=list)

    @property
    def context(self) -> BrowserContext:
        return self.page.context

    def open(self, path: str = "/") -> Page:
        """A page of the dashboard, whole."""
        reply = self.page.goto(self.dashboard.address.rstrip("/") + path)
        assert reply, path
        assert reply.ok, f"{path}: {reply.status}"
        return self.page

    def shoot(self, name: str) -> None:
        """Keeps what the page looks like, from top to bottom."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True, animations="disabled")

    def overflow(self) -> list[str]:
        """What is wider than the window, so that the whole page scrolls sideways; [] = nothing."""
        found: list[str] = self.page.evaluate(_OVERFLOW)
        return found

    def barriers(self) -> list[str]:
        """What axe finds that keeps somebody from using the page."""
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(f"() => {{ {(AXE / 'axe.min.js').read_text('utf-8')} }}")
        found: list[dict[str, Any]] = self.page.evaluate(
            "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
        )
        return [
            f"{one['id']}: {node['html'][:200]} ({node['failureSummary']})"
            for one in found
            if one["impact"] in SERIOUS
            for node in one["nodes"]
        ]

    def focused(self) -> str:
        """The element that has the focus, as a person would name it."""
        found: str = self.page.evaluate(_FOCUSED)
        return found


_OVERFLOW = """
() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1)
    .map((e) => `<${e.localName} class="${e.className}"> ${e.textContent.trim().slice(0, 60)}`)
    .slice(0, 5).concat(`${root.scrollWidth} > ${root.clientWidth}`);
}
"""
_FOCUSED = """
() => {
  const e = document.activeElement;
  const name = e.getAttribute("aria-label") || e.textContent || e.name || e.id;
  return `${e.localName} ${name.trim().replace(/\\s+/g, " ").slice(0, 80)}`;
}
"""


@contextmanager
def visitor(
    browser: Browser,
    dashboard: Dashboard,
    size: tuple[int, int] = DESKTOP,
    *,
    enters: bool = True,
    **options: Any,
) -> Iterator[Visitor]:
    """A new user with an empty browser, who comes by the address that was printed; `options` are
    Playwright's for a context, such as `color_scheme`."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, reduced_motion="reduce", **options
    )
    context.set_default_timeout(PATIENCE_MS)
    guest = Visitor(dashboard, context.new_page())
    try:
        _watch(guest)
        if enters:
            guest.page.goto(dashboard.url)
        yield guest
        assert guest.faults == []
    except BaseException:
        guest.shoot("failed")
        raise
    finally:
        context.close()


def _watch(guest: Visitor) -> None:
    faults, host = guest.faults, guest.dashboard.host

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            faults.append(f"console: {message.text}")

    def on_request(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data" and parts.netloc != host:
            faults.append(f"request to another origin: {request.url}")

    def on_dialog(dialog: Dialog) -> None:
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_page(page: Page) -> None:
        page.on("console", on_console)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("request", on_request)
        page.on("dialog", on_dialog)

    guest.context.on("page", on_page)
    on_page(guest.page)


def until(page: Page, is_so: Callable[[], object], what: str) -> None:
    """Waits for what a page, or a process elsewhere, comes to."""
    for _ in range(PATIENCE_MS // 50):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it did not come to pass: {what}")
