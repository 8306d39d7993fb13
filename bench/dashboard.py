"""How quick the dashboard is with 10,000 loops: its first answers, and the way of a change to it.

    PYTHONPATH=tests .venv/bin/python bench/dashboard.py [ROUNDS]

Each round starts the real server, in a home that somebody has lived in (`tests/lived_in.py`).
`make bench` runs this after `run.py`.
"""

from __future__ import annotations

import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from lived_in import lived_in

from sisyphus.ground.paths import our_home
from sisyphus.ground.store import Store, open_store

SISYPHUS = Path(sys.executable).with_name("sisyphus")
LOOPS = 10_000
PAGES = ("/", "/loops")
PAGE_BUDGET, CHANGE_BUDGET = 0.3, 1.0
"""The most seconds to a page, and from a change to the event that tells open pages of it."""


class Browser:
    """Knows the cookie of the address that a new server prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        link = urlsplit(process.stdout.readline().split()[-1])
        self.connection = http.client.HTTPConnection(link.netloc)
        self.connection.request("GET", f"{link.path}?{link.query}")
        answer = self.connection.getresponse()
        answer.read()
        self.headers = {"cookie": answer.headers["set-cookie"].partition(";")[0]}

    def seconds(self, path: str) -> float:
        """Returns how long a page takes."""
        started = time.perf_counter()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status == http.HTTPStatus.OK, (path, answer.status)
        return time.perf_counter() - started

    def seconds_to_event(self, store: Store) -> float:
        """Changes the store; returns how long it takes until open pages are told."""
        self.connection.request("GET", "/events", headers=self.headers)
        answer = self.connection.getresponse()
        assert answer.readline().startswith(b": ready")
        started = time.perf_counter()
        store.run("INSERT OR REPLACE INTO chore VALUES ('bench', ?)", time.time())
        while b"change" not in answer.readline():
            pass
        return time.perf_counter() - started


def _round(store: Store, seconds: dict[str, list[float]]) -> None:
    process = subprocess.Popen(
        [SISYPHUS, "dashboard", "--no-open", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        browser = Browser(process)
        for page in PAGES:
            seconds[page].append(browser.seconds(page))
        seconds["event"].append(browser.seconds_to_event(store))
    finally:
        process.terminate()
        process.communicate()


def main(rounds: int) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in (*PAGES, "event")}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        for name in list(os.environ):
            if name.startswith(("CLAUDE", "OPENCODE", "SISYPHUS_", "XDG_")):
                del os.environ[name]
        os.environ["HOME"] = str(home)
        store = open_store(our_home())
        lived_in(store, loops=LOOPS)
        for _ in range(rounds):
            _round(store, seconds)
        store.close()
    print(f"{'':38}{'s':>8}{'target':>16}")
    for page in PAGES:
        _print(f"the first {page} with {LOOPS:,} loops", seconds[page], PAGE_BUDGET)
    _print("from a change to its event", seconds["event"], CHANGE_BUDGET)


def _print(what: str, seconds: list[float], budget: float) -> None:
    median = statistics.median(seconds)
    mark = " missed" if median > budget else ""
    print(f"{what:38}{median:8.2f}{budget:>16g}{mark}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
