"""`sisyphus dashboard` as a process: its address, its port, its end, what it tells open pages."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from browser import Browser
from patience import PATIENCE, wait_for
from world import SISYPHUS, World

from sisyphus.dashboard import metrics, private_page, server
from sisyphus.dashboard import stream as live

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
        return self.process.wait(PATIENCE)


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
    with opener.open(url, timeout=PATIENCE) as answer:
        return int(answer.status)


def test_the_address_that_it_prints_opens_it(served: Served) -> None:
    assert open_url(served.url) == 200


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_a_signal_ends_it_though_a_page_is_open(
    served: Served, number: signal.Signals, code: int
) -> None:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(served.url, timeout=PATIENCE).read()
    stream = opener.open(served.url.partition("?")[0] + "events", timeout=PATIENCE)
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


# ---------------------------------------------------------------- the browser that it opens

_FIELD = re.compile(r'action="([^"]+)".*name="code" value="([^"]+)"', re.DOTALL)
_GOES_ON = re.compile(r'content="0; url=(/[^"]+)"')


class Screen:
    """A terminal on a screen, and a browser that notes with which words it was started."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.noted = world.root / "words"
        browser = world.root / "browser"
        browser.write_text(f"#!/bin/sh\nprintf '%s' \"$*\" > {self.noted}\n")
        browser.chmod(0o755)
        world.setenv("BROWSER", f"{browser} %s")
        world.setenv("DISPLAY", ":9")

    @contextmanager
    def dashboard(self, port: int = 0) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
        """Runs the dashboard; yields it, and the address that it has printed."""
        ours, its = os.openpty()
        command = [str(SISYPHUS), "dashboard", "--port", str(port)]
        with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
            os.close(its)
            printed = ""
            while not (found := _URL.search(printed)):
                printed += os.read(ours, 10_000).decode()
            yield process, found[0]
            process.kill()
        os.close(ours)

    def page(self) -> Path:
        """The file that the browser was told to open."""
        wait_for(lambda: self.noted.exists() and self.noted.read_text())
        words = self.noted.read_text()
        self.noted.unlink()
        assert words.startswith("file:///")
        return Path(words.removeprefix("file://"))


def send_code(page: Path, opener: urllib.request.OpenerDirector) -> str:
    """Does what a browser does with such a file; returns where it gets in."""
    found = _FIELD.search(page.read_text())
    assert found
    data = urllib.parse.urlencode({"code": found[2]}).encode()
    form = urllib.request.Request(found[1], data, {"origin": "null"})
    with opener.open(form, timeout=PATIENCE) as answer:
        goes_on = _GOES_ON.search(answer.read().decode())
    assert goes_on
    return found[1].removesuffix("/open") + goes_on[1]


def test_the_code_is_on_no_command_line(world: World) -> None:
    screen = Screen(world)
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with screen.dashboard() as (_, url):
        page = screen.page()

        assert url.partition("code=")[2] in page.read_text()
        assert url.partition("code=")[2] not in str(page)
        assert page.stat().st_mode & 0o777 == 0o600
        assert page.parent == world.ours
        way_in = send_code(page, opener)
        assert not page.exists()
        assert opener.open(way_in, timeout=PATIENCE).status == 200
        for used in (url, way_in):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                open_url(used)


def test_nor_if_it_runs_already_and_the_end_removes_the_file(world: World) -> None:
    screen = Screen(world)
    with screen.dashboard() as (first, url):
        unused = screen.page()
        with screen.dashboard(int(_URL.findall(url)[0])) as (second, _):
            page = screen.page()
            assert second.wait(PATIENCE) == 0
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert opener.open(send_code(page, opener), timeout=PATIENCE).status == 200
        assert not page.exists()
        assert unused.exists()
        first.send_signal(signal.SIGTERM)
        first.wait(PATIENCE)
        assert not unused.exists()


def test_a_file_that_nobody_opens_is_removed(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_page, "SECONDS", 0.2)
    program = {"authorization": f"Bearer {browser.token}"}
    link = browser.new_client().post("/link", headers=program).json()["url"]
    page = Path(private_page.write(link, browser.desk.our_home).removeprefix("file://"))
    assert page.exists()

    wait_for(lambda: not page.exists())


def test_where_no_file_can_be_written_the_address_is_printed(world: World) -> None:
    """A folder of the name stands in its way, as a disk that is full would."""
    screen = Screen(world)
    code = (
        "import sisyphus.__main__ as main, sys\n"
        "from sisyphus.ground import files\n"
        "def full(path, flags):\n"
        "    if path.endswith('.html'): raise OSError(28, 'No space left on device')\n"
        "    return real(path, flags)\n"
        "real, files.open_private = files.open_private, full\n"
        "sys.argv[1:] = ['dashboard', '--port', '0']; main.main()\n"
    )
    ours, its = os.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stdin=its, stdout=its) as process:
        printed = ""
        while "No browser was opened: No space left on device." not in printed:
            printed += os.read(ours, 10_000).decode()
        found = _URL.search(printed)
        assert found
        assert open_url(found[0]) == 200
        process.kill()
    assert not screen.noted.exists()
    os.close(its)
    os.close(ours)


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/open", {"origin": "null"}, 200),
        ("POST", "/open", {"origin": "https://evil.example"}, 403),
        ("POST", "/open", {"origin": "file://"}, 403),
        ("POST", "/open", {"origin": "null", "host": "evil.example"}, 403),
        ("POST", "/open", {}, 401),
        ("GET", "/open", {"origin": "null"}, 403),
        ("GET", "/", {"origin": "null"}, 403),
        ("POST", "/link", {"origin": "null"}, 403),
        ("POST", "/open/", {"origin": "null"}, 403),
    ],
)
def test_a_file_may_send_a_code_and_nothing_else(
    browser: Browser, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    """The browser of a stranger, too: a page in a frame looks like a file."""
    code = browser.access.new_link().partition("code=")[2]
    stranger = browser.new_client()
    send = stranger.get if method == "GET" else stranger.post
    options = {"data": {"code": code}} if method == "POST" else {}

    assert send(path, headers=headers, **options).status_code == status
    assert stranger.get("/").status_code == 401
    assert (code in browser.access.codes) is (status != 200)


def test_a_known_browser_that_sends_a_code_stays_the_same(browser: Browser) -> None:
    """Or the forms on its open pages would be those of another."""
    before = browser.get("/loops").text
    code = browser.access.new_link().partition("code=")[2]
    page = browser.new_client().post("/open", headers={"origin": "null"}, data={"code": code}).text
    found = _GOES_ON.search(page)
    assert found

    assert browser.get(found[1]).status_code == 200
    assert browser.get("/loops").text == before


@pytest.mark.parametrize("code", ["", "x", "é", "x" * 200_000])
def test_a_wrong_code_opens_nothing(browser: Browser, code: str) -> None:
    answer = browser.new_client().post("/open", headers={"origin": "null"}, data={"code": code})

    assert answer.status_code == 401


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
