"""Asks `codex app-server`, a mode of the client's program, one question: JSON-RPC, an object a
line, as measured on 0.169.0. It starts no session and asks no model."""

import json
import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import Any

from sisyphus import clients
from sisyphus.clients import values
from sisyphus.ground import paths, processes

Json = dict[str, Any]

SECONDS = 5.0
"""How long an answer may take. Codex takes 0.6 s."""

_OFFLINE = ("-c", "features.plugins=false")
"""Otherwise the server fetches a list of plugins, and leaves a folder if it is ended meanwhile."""

_MOST_BYTES = 4_000_000
_END_SECONDS = 0.5
"""How long the server may take to end once its stdin is closed. Codex takes 0.02 s."""

_ID = 1


def ask(program: str, method: str, params: Json, seconds: float = SECONDS) -> Json | None:
    """Returns the result of a method; None if there is none within so many seconds."""
    folder = paths.user_home()
    with processes.OrderlyEnd() as end:
        try:
            server = subprocess.Popen(
                [program, "app-server", *_OFFLINE],
                cwd=folder if os.path.isdir(folder) else os.sep,
                env=clients.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            end.arm()
            return _answer(server, _questions(method, params), seconds)
        finally:
            _close(server)


def _questions(method: str, params: Json) -> bytes:
    about_us = {"clientInfo": {"name": "sisyphus", "version": "1"}}
    messages: list[Json] = [
        {"id": 0, "method": "initialize", "params": about_us},
        {"method": "initialized"},
        {"id": _ID, "method": method, "params": params},
    ]
    return b"".join(json.dumps(each).encode() + b"\n" for each in messages)


def _answer(server: subprocess.Popen[bytes], questions: bytes, seconds: float) -> Json | None:
    """Reads until the answer is there. The server drops a question if its stdin is closed before
    that."""
    assert server.stdin and server.stdout
    with suppress(OSError):
        server.stdin.write(questions)
        server.stdin.flush()
    deadline = time.monotonic() + seconds
    data, size = b"", 0
    while (left := deadline - time.monotonic()) > 0 and size < _MOST_BYTES:
        if not select.select([server.stdout], [], [], left)[0]:
            break
        new = os.read(server.stdout.fileno(), 65_536)
        if not new:
            break
        size += len(new)
        *lines, data = (data + new).split(b"\n")
        for message in map(_parse, lines):
            if message.get("id") == _ID:
                result = message.get("result")
                return result if isinstance(result, dict) else None
    return None


def _parse(line: bytes) -> Json:
    try:
        return values.mapping(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def _close(server: subprocess.Popen[bytes]) -> None:
    """Ends the server, and what it has started."""
    assert server.stdin and server.stdout
    with suppress(OSError):
        server.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        server.wait(_END_SECONDS)
    with suppress(OSError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()
    server.stdout.close()
