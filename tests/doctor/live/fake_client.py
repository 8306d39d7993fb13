"""What stands in for Claude Code. It runs no hook, but leaves what a run would leave."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sisyphus import memory

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Client:
    """`notes`: events that reach us; `failed`: those whose hook fails; `hung`: those whose hook
    takes too long; `hangs`: where it writes its own and its child's process id before it hangs,
    "" = it ends; `astray`: a host that it asks; `drops`: a settings file that it does not accept,
    without which it runs no hook."""

    notes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    hung: tuple[str, ...] = ()
    asks: bool = True
    says: str = ""
    code: int = 0
    hangs: str = ""
    astray: str = ""
    drops: str = ""

    def program(self) -> str:
        """The text of an executable that acts so."""
        path = f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})"
        lines = [f"#!{sys.executable}", "import sys", path]
        lines += [f"from {__name__} import Client, main", f"main({self!r})", ""]
        return "\n".join(lines)


def main(client: Client) -> None:
    home = Path(os.environ["CLAUDE_CONFIG_DIR"])
    if sys.argv[1:] == ["doctor"]:
        if client.drops:
            sys.stdout.write(f"Invalid settings\n- {home.parent / client.drops} \u203a model: no\n")
        return
    if client.drops and not (home.parent / client.drops).exists():
        client = replace(client, notes=())
    if client.asks:
        _ask([])
        _ask([{"type": "tool_result"}])
    if client.astray:
        _go_astray(client.astray)
    _note(home / ".sisyphus", client.notes)
    failed = {"type": "hook_non_blocking_error", "exitCode": 127, "stderr": "not found"}
    hung = {"type": "hook_cancelled", "timedOut": True}
    noted: list[dict[str, object]] = [{"type": "date"}]
    noted += [{**failed, "hookEvent": name} for name in client.failed]
    noted += [{**hung, "hookEvent": name} for name in client.hung]
    rows = [{"type": "user"}, *({"attachment": {"command": "x", **one}} for one in noted)]
    _write(home / "projects/p/s1.jsonl", rows)
    sys.stderr.write(client.says)
    if client.hangs:
        _hang(Path(client.hangs))
    raise SystemExit(client.code)


def _ask(messages: Sequence[object]) -> None:
    told = Path("README.md").read_text(encoding="utf-8")
    body = {"tools": [{}], "messages": messages, "told": told}
    url = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
    with contextlib.closing(http.client.HTTPConnection(url.netloc)) as connection:
        connection.request("POST", "/v1/messages?beta=true", json.dumps(body))
        assert connection.getresponse().status == http.client.OK


def _go_astray(address: str) -> None:
    """As a program does that heeds the proxy of its environment."""
    proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
    with contextlib.closing(http.client.HTTPConnection(proxy.netloc)) as connection:
        connection.request("GET", address)
        connection.getresponse()


def _write(path: Path, rows: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _note(ours: Path, events: Sequence[str]) -> None:
    opened = memory.open_memory(str(ours))
    for event in events:
        opened.write(
            "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, texts)"
            " VALUES (1, 0, ?, 1, 0, 0, 0, '[]', '[]')", event,
        )  # fmt: skip
    memory.close()


def _hang(pids: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        pids.write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
