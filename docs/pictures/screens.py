"""Takes the pictures of the dashboard anew, in Chromium: `python docs/pictures/screens.py`.

Their home is one as hooks leave it behind. No test compares them: each browser draws letters in a
way of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from e2e import chromium  # noqa: E402
from e2e.client import environment  # noqa: E402
from e2e.dashboards import dashboard  # noqa: E402
from past import Past, projects  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

from sisyphus.ralph import loop as lp  # noqa: E402

if TYPE_CHECKING:
    from e2e.dashboards import Dashboard

SCREENS = {"dashboard": "/", "dashboard-loop": "/loops/e0003"}
WIDTH, HEIGHT = 1180, 1010
SCRIPT = Path(sys.executable).with_name("sisyphus")

_ENDED, _ACTIVE = 400, 3


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sisyphus-screens-") as folder:
        home = Path(folder).resolve()
        env = {**environment(home)}
        roots = projects(home / "work", env)
        os.environ["HOME"] = str(home)
        past = Past(str(home / ".claude/.sisyphus"), time.time(), roots)
        *_, stuck = past.write(_ENDED, _ACTIVE)
        stuck.pause(lp.BY_BREAKER, time.time())
        stuck.breaker = {"state": "open", "why": "5 iterations without progress"}
        past.go_on(stuck)
        with dashboard(home, SCRIPT, env) as served:
            _take(served)


def _take(served: Dashboard) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.binary(), args=chromium.FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(served.url)
        for name, path in SCREENS.items():
            page.goto(served.address.rstrip("/") + path)
            page.screenshot(path=HERE / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
