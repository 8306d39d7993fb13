"""`opencode serve`: sessions by HTTP, every event of the client kept."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from e2e.client import TIME_LIMIT
from e2e.opencode.client import started, until
from e2e.opencode.wire import MODEL, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from e2e.opencode.model import Model
    from e2e.opencode.wire import Request

LISTENS = re.compile(rb"server listening on (http://\S+)")


@dataclass
class Server:
    """`events`: what the client told everybody who listens, in order."""

    process: subprocess.Popen[bytes]
    url: str
    folder: Path
    model: Model
    events: list[Json] = field(default_factory=list)
    _asked: dict[str, int] = field(default_factory=dict)

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    def new_session(self) -> str:
        return str(self.call("POST", "/session", {})["id"])

    def prompt(self, session: str, text: str, **more: Any) -> None:
        """A prompt; returns at once. `more`: `agent`, `model`, …"""
        body = {"parts": [{"type": "text", "text": text}], **more}
        self._ask(session, "prompt_async", body)

    def command(self, session: str, name: str, arguments: str = "", **more: Any) -> None:
        """A slash command, to the end of its turn."""
        self._ask(session, "command", {"command": name, "arguments": arguments, **more})
        self.until_idle(session)

    def shell(self, session: str, command: str) -> None:
        """A command of the user's own (`!command`), to its end."""
        self._ask(session, "shell", {"agent": "build", "command": command})
        self.until_idle(session)

    def summarize(self, session: str) -> None:
        """What `/compact` does, to its end."""
        self._ask(session, "summarize", {"providerID": "e2e", "modelID": MODEL})
        self.until_idle(session)

    def abort(self, session: str) -> None:
        self.call("POST", f"/session/{session}/abort")

    def messages(self, session: str) -> list[Json]:
        found: list[Json] = self.call("GET", f"/session/{session}/message")
        return found

    @property
    def said(self) -> str:
        """What the model said, with what it is saying."""
        return "".join(about["delta"] for about in self.events_of("message.part.delta"))

    def events_of(self, *kinds: str, session: str = "") -> list[Json]:
        """The properties of the events of these types, of one session or of all."""
        found = [event["properties"] for event in self.events if event["type"] in kinds]
        return [about for about in found if session in ("", about.get("sessionID"))]

    @property
    def toasts(self) -> list[Json]:
        return self.events_of("tui.toast.show")

    def until(self, condition: Callable[[], object], what: str) -> None:
        until(condition, what, self.process, self._gist)

    def until_asked(self, times: int) -> None:
        """Until the model got that many requests, counted from the start of the client."""
        self.until(lambda: len(self.requests) >= times, f"request {times}")

    def until_idle(self, session: str) -> None:
        """Until the session rests, and has since what was asked of it last."""
        self.until(lambda: self._rests(session), "end of the turn")

    def until_told(self) -> None:
        """Until the script is used up."""
        self.until(lambda: not self.model.script.main, "end of the script")

    def leave(self) -> None:
        """When the script is used up and every session rests; the plugins have their last word."""
        self.until_told()
        for session in self._asked:
            self.until_idle(session)
        self.call("POST", "/instance/dispose")
        self.until(lambda: self.events_of("server.instance.disposed"), "end of the plugins")

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        url = f"{self.url}{path}?{urlencode({'directory': self.folder})}"
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"} if data else {}
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310  (loopback)
        with urllib.request.urlopen(request, timeout=TIME_LIMIT) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text else None

    def _ask(self, session: str, what: str, body: Json) -> None:
        self._asked[session] = len(self.events)
        self.call("POST", f"/session/{session}/{what}", body)

    def _rests(self, session: str) -> bool:
        since = [e for e in self.events[self._asked.get(session, 0) :] if _is_about(e, session)]
        states = [e["properties"]["status"]["type"] for e in since if e["type"] == "session.status"]
        return "busy" in states and states[-1] == "idle" and since[-1]["type"] == "session.idle"

    def _gist(self) -> str:
        kinds = [event["type"] for event in self.events if "delta" not in event["type"]]
        return f"{len(self.requests)} requests; the last events: {kinds[-20:]}"


def _is_about(event: Json, session: str) -> bool:
    kinds = ("session.status", "session.idle", "session.error")
    return event["type"] in kinds and event["properties"].get("sessionID") == session


@contextmanager
def served(folder: Path, variables: dict[str, str], home: Path, model: Model) -> Iterator[Server]:
    output = home / "serve.log"
    with output.open("wb") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        words = ["serve", "--port", "0"]
        with started(words, folder, variables, **streams) as process:
            until(lambda: LISTENS.search(output.read_bytes()), "address", process)
            [url] = LISTENS.findall(output.read_bytes())
            server = Server(process, url.decode(), folder, model)
            threading.Thread(target=_listen, args=(server,), daemon=True).start()
            server.until(lambda: server.events, "first event")
            yield server


def _listen(server: Server) -> None:
    url = f"{server.url}/event?{urlencode({'directory': server.folder})}"
    with suppress(OSError), urllib.request.urlopen(url, timeout=TIME_LIMIT) as stream:  # noqa: S310
        for line in stream:  # until the client ends
            if line.startswith(b"data: "):
                server.events.append(json.loads(line.removeprefix(b"data: ")))
