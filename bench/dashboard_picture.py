"""Photographs the dashboard: `docs/pictures/dashboard.png`, and `dashboard-loop.png` of one loop.

Run it again when its pages change: `PYTHONPATH=tests .e2e/venv/bin/python
bench/dashboard_picture.py`. It needs what `make e2e` installs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from e2e import chromium
from lived_in import lived_in

from sisyphus.ground.paths import our_home
from sisyphus.ground.store import open_store
from sisyphus.loops import loops

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SISYPHUS = Path(sys.executable).with_name("sisyphus")
WIDTH, HEIGHT = 1280, 1280


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        for name in list(os.environ):
            if name.startswith(("CLAUDE", "OPENCODE", "SISYPHUS_", "XDG_")):
                del os.environ[name]
        os.environ["HOME"] = str(home)
        store = open_store(our_home())
        lived_in(store, runs=2)
        with store.write():
            store.run("UPDATE plan SET name = 'Ship it' WHERE name LIKE '%<b>%'")
        longest = max(loops.all_live(store), key=lambda each: each.counters.iteration)
        process = subprocess.Popen(
            [SISYPHUS, "dashboard", "--no-open", "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        url = process.stdout.readline().split()[-1]
        try:
            with chromium.browser() as browser:
                _photograph(browser, url, longest.id)
        finally:
            process.terminate()
            process.communicate()
        store.close()


def _photograph(browser: Any, url: str, loop: str) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page.goto(url)
    address = page.url.rstrip("/")
    for name, path in (("dashboard", "/"), ("dashboard-loop", f"/loops/{loop}")):
        page.goto(address + path)
        page.locator("#live", has_text="live").wait_for()
        page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
