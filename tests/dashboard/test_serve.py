"""The real command, as a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from making import COMMAND, HANG_SECONDS, debug_log, ours

from sisyphus.dashboard import serve as sv
from sisyphus.dashboard.access import Access, is_loopback
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.client import HTTPResponse
    from pathlib import Path

    from sisyphus._types import Json

START = [COMMAND, "dashboard", "--no-open", "--port", "0", "--json"]


class Served:
    """A dashboard that answers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._open: list[HTTPConnection | HTTPResponse] = []
        self.told: Json = json.loads(self._first_value())
        self.port = int(self.told["address"].rpartition(":")[2].rstrip("/"))

    def get(self, path: str, **headers: str) -> HTTPResponse:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=HANG_SECONDS)
        known = {"authorization": f"Bearer {self.told['token']}"}
        connection.request("GET", path, headers={**known, **headers})
        reply = connection.getresponse()
        self._open += [reply, connection]
        return reply

    def close(self) -> None:
        for one in self._open:
            one.close()

    def end(self, by: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(by)
        _, said = self.process.communicate(timeout=HANG_SECONDS)
        return self.process.returncode, said

    def _first_value(self) -> str:
        assert self.process.stdout is not None
        text = ""
        for line in self.process.stdout:
            text += line
            if line == "}\n":
                break
        return text


@contextmanager
def _served(*more: str, **environment: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [*START, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    with process:
        served = Served(process)
        try:
            yield served
        finally:
            process.kill()
            served.close()


def test_it_serves_what_it_printed_to_who_knows_the_token(home: Path) -> None:
    with _served() as served:
        assert served.told["url"] == f"{served.told['address']}?token={served.told['token']}"
        assert served.get("/").status == 200
        assert served.get("/", authorization="").status == 401
        assert served.get("/", host="evil.example").status == 403
        assert served.end(signal.SIGINT) == (0, "")
    assert not ours(home, "logs").exists()


def test_the_token_is_written_nowhere(home: Path) -> None:
    with _served() as served:
        served.get(f"/?token={served.told['token']}")
        served.get(f"/nothing?token={served.told['token']}")
        served.end(signal.SIGINT)
        written = [path for path in home.rglob("*") if path.is_file()]
        assert [p for p in written if served.told["token"].encode() in p.read_bytes()] == []


@pytest.mark.parametrize(
    ("by", "code"),
    [
        pytest.param(signal.SIGINT, 0, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, -signal.SIGTERM, id="an end from outside"),
    ],
)
def test_pages_that_listen_do_not_keep_it(by: signal.Signals, code: int) -> None:
    with _served() as served:
        events = served.get("/events")
        assert events.readline() == b"event: ready\n"
        assert served.end(by) == (code, "")


def test_two_serve_side_by_side() -> None:
    with _served() as one, _served() as other:
        assert one.port != other.port
        assert one.get("/").status == other.get("/").status == 200
        told = f"Bearer {one.told['token']}"
        assert other.get("/", authorization=told).status == 401


def test_a_token_of_all_letters_opens_as_it_is_printed_and_sent() -> None:
    token = "".join(chr(code) for code in range(0x21, 0x7F)) + " ~"
    with _served(**{sv.TOKEN_VARIABLE: token}) as served:
        place = "/" + served.told["url"].removeprefix(served.told["address"])
        assert served.get(place, authorization="").status == 303
        assert served.get("/").status == 200


BROWSER = """
import http.cookiejar, socket, sys, urllib.request as asks
jar = asks.HTTPCookieProcessor(http.cookiejar.CookieJar())
with asks.build_opener(jar).open(sys.argv[1]) as page:
    found = f"{page.status} {page.url} {'Overview' in page.read().decode()}"
with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as told:
    told.sendall("\\n".join([sys.argv[1], found]).encode())
"""
"""A browser that is waited for until it ends: opens what it is started with, and tells of it."""


def test_our_own_browser_gets_in_and_its_arguments_let_nobody_else_in(tmp_path: Path) -> None:
    script = tmp_path / "browser.py"
    script.write_text(BROWSER)
    command = shlex.join([sys.executable, str(script)])
    with socket.create_server(("127.0.0.1", 0)) as ear:
        ear.settimeout(HANG_SECONDS)
        with _served("--open", BROWSER=f"{command} %s {ear.getsockname()[1]}") as served:
            told, _ = ear.accept()
            with told, told.makefile() as lines:
                started_with, found = lines.read().splitlines()
            assert found == f"200 {served.told['address']} True"
            assert served.told["token"] not in started_with
            assert started_with.startswith(f"{served.told['address']}?open=")
            place = "/" + started_with.removeprefix(served.told["address"])
            assert served.get(place, authorization="").status == 401


def test_a_token_may_be_given() -> None:
    with _served(**{sv.TOKEN_VARIABLE: "a-token-for-prometheus"}) as served:
        assert served.told["token"] == "a-token-for-prometheus"  # noqa: S105
        assert served.get("/metrics").status == 200


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("short", id="short"),
        pytest.param("fifteen-letters", id="one too short"),
        pytest.param("gr\xf6sser-als-sechzehn", id="other letters"),
        pytest.param("a" * 20 + "\n", id="a line's end"),
        pytest.param(" " + "a" * 20, id="a space before it"),
        pytest.param("a" * 20 + " ", id="a space after it"),
        pytest.param(" " * 20, id="spaces"),
    ],
)
def test_a_token_that_can_be_guessed_or_sent_by_nobody_is_none(
    monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv(sv.TOKEN_VARIABLE, token)
    with pytest.raises(SisyphusError, match="is no token") as error:
        sv.chosen_token()
    assert token not in str(error.value)


def test_every_start_has_a_token_of_its_own() -> None:
    tokens = {sv.chosen_token() for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 32


def test_a_port_that_is_taken_is_said() -> None:
    with sv.bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*START[:3], "--port", f"{port}"], capture_output=True, text=True,
            timeout=HANG_SECONDS, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: port {port} of 127.0.0.1 cannot be had: ")
    assert done.stderr.endswith("--port (0 = any free).\n")


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("", id="nothing"),
        pytest.param("nothing.invalid", id="a name of nobody"),
        pytest.param("a b", id="two words"),
        pytest.param("a\nb", id="two lines"),
        pytest.param("x..y", id="a name that is none"),
        pytest.param("192.0.2.1", id="an address of another machine"),
    ],
)
def test_a_host_that_is_not_here_is_said_on_one_line(host: str) -> None:
    with pytest.raises(SisyphusError, match="--host") as error:
        sv.bind(host, 0)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("host", "named"),
    [
        pytest.param("127.0.0.1", "127.0.0.1", id="an address"),
        pytest.param("LocalHost", None, id="the name of two addresses"),
        pytest.param("0", "0.0.0.0", id="everywhere in short"),  # noqa: S104
    ],
)
def test_what_is_printed_leads_to_our_socket_alone(host: str, named: str | None) -> None:
    with sv.bind(host, 0) as listening:
        address, port = listening.getsockname()[:2]
        assert sv._place(host, listening) == (named or address, port)  # noqa: SLF001


def test_a_host_of_nothing_is_told_without_a_number_of_the_system() -> None:
    with pytest.raises(SisyphusError) as error:
        sv.bind(" ", 0)
    assert str(error.value) == "no address: --host is empty. Name one, such as 127.0.0.1, or none."
    with pytest.raises(SisyphusError, match=r"^no address nothing\.invalid: [^\[]+\. Name"):
        sv.bind("nothing.invalid", 0)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104
def test_where_it_listens_everywhere_others_open_an_address_that_is_not_their_own(
    host: str,
) -> None:
    access = Access(host, 3847, "a-token-of-the-tests", sv._names(host))  # noqa: SLF001
    url = sv.url_for_others(access)
    assert url.endswith(":3847/?token=a-token-of-the-tests")
    named = urlsplit(url)
    assert not is_loopback(named.hostname or "")
    assert access.is_ours(named.netloc)


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1", "mybox.local"])
def test_elsewhere_others_open_what_is_printed(host: str) -> None:
    assert sv.url_for_others(Access(host, 3847, "a-token-of-the-tests")) == ""


def test_the_names_of_this_machine_are_known_where_others_ask() -> None:
    assert sv._names("127.0.0.1") == sv._names("localhost") == ()  # noqa: SLF001
    assert socket.gethostname() in sv._names("0.0.0.0")  # noqa: SLF001, S104


def test_a_fault_at_the_start_is_in_the_debug_log_alone(home: Path) -> None:
    ours(home, "logs").mkdir(parents=True)
    ours(home, "ralph").write_text("no folder")
    with _served() as served:
        assert served.get("/").status in (200, 500)
        assert served.end(signal.SIGINT) == (0, "")
    assert "Traceback" not in debug_log(home)
