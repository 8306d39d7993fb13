"""`sisyphus dashboard` as a process of its own, and what programs ask it."""

from __future__ import annotations

import http.client
import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from e2e.client import COMMANDS, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PATIENCE = 30.0  # seconds; against a hang alone


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


@dataclass(frozen=True)
class Dashboard:
    """`url`: what the user opens, with the token; `address`: the same without it."""

    url: str
    address: str
    token: str
    pid: int

    @property
    def host(self) -> str:
        """Name and port, as the Host header has them."""
        return self.address.removeprefix("http://").rstrip("/")

    def ask(
        self, path: str, method: str = "GET", *, knows_token: bool = True, **headers: str
    ) -> Answer:
        """What a program gets; `headers` in the words of Python, `sec_fetch_site`."""
        known = {"authorization": f"Bearer {self.token}"} if knows_token else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        try:
            connection.request(method, path, headers={**known, **named})
            reply = connection.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, found, reply.read().decode())
        finally:
            connection.close()


@contextmanager
def dashboard(
    home: Path, script: str | Path = COMMANDS / "sisyphus", env: Mapping[str, str] | None = None
) -> Iterator[Dashboard]:
    """Serves what lies in `home` on a port that is free, until the end of the block."""
    process = subprocess.Popen(
        [script, "dashboard", "--no-open", "--port", "0", "--json"],
        cwd=home,
        env={**(environment(home) if env is None else env)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Dashboard(**_told(process), pid=process.pid)
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
    assert errors == "", errors


def _told(process: subprocess.Popen[str]) -> dict[str, str]:
    """What it prints once it can be asked."""
    assert process.stdout
    assert process.stderr
    text = ""
    while line := process.stdout.readline():
        text += line
        try:
            found: dict[str, str] = json.loads(text)
        except ValueError:
            continue
        return found
    raise AssertionError(f"the dashboard ended: {process.stderr.read()}")
