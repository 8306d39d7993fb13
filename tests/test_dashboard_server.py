"""`sisyphus dashboard` as a process: its address, its port, its end, what it tells open pages."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from browser import Browser
from world import SISYPHUS, World

from sisyphus.dashboard import live, metrics, server

_URL = re.compile(r"http://127\.0\.0\.1:(\d+)/\?code=\S+")


class Served:
    """A dashboard that runs. url: what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout
        found = _URL.search(process.stdout.readline())
        assert found
        self.url, self.port = found[0], int(found[1])

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(10)


@pytest.fixture
def served(world: World, ctrl_c: None) -> Iterator[Served]:
    command = [str(SISYPHUS), "dashboard", "--port", "0", "--no-open"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        yield Served(process)
        process.kill()


def open_url(url: str) -> int:
    """Opens an address as a browser does; returns the status of the page."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(url, timeout=10) as answer:
        return int(answer.status)


def test_the_address_that_it_prints_opens_it(served: Served) -> None:
    assert open_url(served.url) == 200


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_a_signal_ends_it_though_a_page_is_open(
    served: Served, number: signal.Signals, code: int
) -> None:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(served.url, timeout=10).read()
    stream = opener.open(served.url.partition("?")[0] + "events", timeout=10)
    assert stream.readline() == b": ready\n"

    assert served.end(number) == code
    assert served.process.stderr
    assert served.process.stderr.read() == ""


def test_one_that_runs_already_gives_a_new_address(served: Served, world: World) -> None:
    open_url(served.url)

    answer = world.cli("dashboard", "--no-open", "--port", str(served.port))

    assert answer.code == 0
    assert answer.out.startswith("It runs already: ")
    found = _URL.search(answer.out)
    assert found
    assert open_url(found[0]) == 200


def test_a_port_that_another_program_has(world: World) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        answer = world.cli("dashboard", "--no-open", "--port", str(port))

    assert answer.code == 1
    assert f"Port {port} is taken by another program" in answer.err


def test_another_program_does_not_get_to_know_the_token() -> None:
    heard = []

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("authorization"))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"proof": "mine", "url": "http://evil.example"}')

        do_POST = do_GET

        def log_message(self, *words: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        Thread(target=stranger.serve_forever, daemon=True).start()
        assert server.link_of_running(stranger.server_port, "secret") == ""
        stranger.shutdown()

    assert heard == [None]


def test_it_listens_on_this_machine_alone(served: Served) -> None:
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("only Linux has such a table")
    end = f":{served.port:04X}"
    listening = [line.split()[1] for line in table.read_text().splitlines() if " 0A " in line]

    assert [each for each in listening if each.endswith(end)] == [f"0100007F{end}"]


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("pipx_metadata.json", "pipx inject sisyphus-hooks "),
        ("uv-receipt.toml", "uv pip install --python "),
        ("", " -m pip install "),
    ],
)
def test_without_its_packages_it_says_how_to_get_them(
    world: World, tmp_path: Path, receipt: str, command: str
) -> None:
    """The program runs in an environment that has none of them."""
    if receipt:
        (tmp_path / receipt).touch()
    code = (
        "import sys, sisyphus.__main__ as main\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'starlette':\n"
        "            raise ModuleNotFoundError(f'No module named {name}', name=name)\n"
        f"sys.meta_path.insert(0, Missing()); sys.prefix = {str(tmp_path)!r}\n"
        "sys.argv[1:] = ['dashboard']; main.main()\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "not there (starlette)" in done.stderr
    assert command in done.stderr
    assert "uvicorn" in done.stderr.partition(command)[2]


# ---------------------------------------------------------------- what open pages hear, figures


def test_open_pages_hear_of_a_change(world: World, browser: Browser) -> None:
    async def events() -> list[str]:
        stream = live.changes(browser.desk, live.version(browser.desk))
        first = await anext(stream)
        world.start("s9")
        second = await anext(stream)
        browser.desk.changes += 1
        return [first, second, await anext(stream)]

    change = "event: change\ndata:\n\n"
    assert asyncio.run(asyncio.wait_for(events(), 10)) == [": ready\n\n", change, change]


def test_what_changed_before_a_page_listened_is_not_lost(world: World, browser: Browser) -> None:
    async def second(shown: str) -> str:
        stream = live.changes(browser.desk, shown)
        await anext(stream)
        return await anext(stream)

    page = browser.get("/").text
    world.start("s9")
    found = re.search(r'sse-connect="/events\?shown=([^"]+)"', page)

    assert found
    assert asyncio.run(asyncio.wait_for(second(found[1]), 10)).startswith("event: change")


def test_figures_for_prometheus(world: World, browser: Browser) -> None:
    world.loop()
    world.stop("I work.")

    text = browser.get("/metrics").text

    assert 'sisyphus_loops{kind="loop",state="active"} 1.0' in text
    assert "sisyphus_iterations_total 1.0" in text
    assert metrics.render(browser.desk)[0] == text
    world.hook("session-end", world.payload("SessionEnd.other"))
    assert 'sisyphus_loops{kind="loop",state="left"} 1.0' in browser.get("/metrics").text
    assert json.loads(browser.get("/api/overview").text)["live"][0]["state"] == "left"
