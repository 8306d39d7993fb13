"""A real browser for the dashboard: finds Chromium, or installs it, and watches what a page does.

`CHROMIUM` names the browser; else it is the one of the system. `python -m e2e.chromium`, which
`install.py` runs, makes sure that there is one; where it cannot, it prints one line and exits 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]

VARIABLE = "CHROMIUM"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_INSTALL = (
    ("apt-get", "update", "-qq"),
    ("apt-get", "install", "-qq", "--no-install-recommends", "chromium"),
)

HIDE = "Object.defineProperty(document, 'hidden', {get: () => true, configurable: true})"
SHOW = "delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))"
"""What a page runs to be one that nobody sees, and to be seen again."""


def find() -> str:
    """Returns the browser; "" = there is none."""
    if named := os.environ.get(VARIABLE):
        return shutil.which(named) or ""
    return next((path for name in _NAMES if (path := shutil.which(name))), "")


def ensure() -> str:
    """Installs the browser of Debian where there is none. Returns why there is still none, in one
    line; "" = there is one."""
    if find():
        return ""
    if named := os.environ.get(VARIABLE):
        return f"{VARIABLE} names {named}, which does not run"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return f"no Chromium is on PATH: install it, or name one in {VARIABLE}"
    for command in _INSTALL:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            gist = (done.stderr or done.stdout).strip().rpartition("\n")[2]
            return f"`{' '.join(command)}` failed: {gist}"
    return "" if find() else "apt-get installed chromium, and it is not on PATH"


@dataclass
class Tab:
    """A page in a browser. page: of Playwright. complaints: what a user should never cause: errors
    and warnings of the console, refusals by the content security policy among them; exceptions;
    dialogs; requests to elsewhere. requests: the paths that it asked for."""

    page: Any
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        self.page.on("dialog", self._refuse)
        self.page.on("request", self._note)

    def go(self, path: str) -> None:
        """Opens a page of the dashboard, and waits until it is live."""
        self.page.goto(self.address + path)
        self.until_text("#live", "live")

    def until_text(self, selector: str, text: str, seconds: float = 10.0) -> None:
        self.page.locator(selector).get_by_text(text).first.wait_for(timeout=seconds * 1000)

    def wide_parts(self) -> list[str]:
        """Returns what makes the page scroll sideways."""
        parts: list[str] = self.page.evaluate(_WIDE)
        return parts

    def height(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollHeight"))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, request: Any) -> None:
        path = request.url.removeprefix(self.address)
        if path == request.url:
            self.complaints.append(f"request to {request.url}")
        self.requests.append(path)


_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("main *, .top *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 80))"""


@contextmanager
def browser() -> Iterator[Any]:
    """Runs a browser of its own, with an empty profile."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=find(), args=list(_FLAGS))
        try:
            yield running
        finally:
            running.close()


def main() -> int:
    problem = ensure()
    if problem:
        sys.stderr.write(f"{problem}\n")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
