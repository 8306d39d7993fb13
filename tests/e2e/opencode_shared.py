"""OpenCode as one `opencode serve` that the tests of a process take one after the other.

A start is most of what a test costs. Here each run has what its own process would give it: the
variables, the project, and a plugin of ours that is loaded anew and disposed of at the end. What
stays is the client's own home, with its settings and its database; so tests of those, of
`opencode run` and of typed commands in it, have processes of their own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from e2e import opencode
from e2e.claude_code import COMMANDS
from e2e.opencode import Server

Json = dict[str, Any]

NAME = opencode.NAME
REASON_COPIES = opencode.REASON_COPIES
SHOWS_MESSAGES = opencode.SHOWS_MESSAGES
environment = opencode.environment
furnish = opencode.furnish
model_variables = opencode.model_variables
spell = opencode.spell

_WARDROBE = """\
export const Wardrobe = async () => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: async (request) => {
    const variables = await request.json()
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
    Object.assign(process.env, variables)
    return new Response()
  }})
  await Bun.write("@PORT@", String(server.port))
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.exit(), 1000)
  return {}
}
"""
"""A plugin that gives the client's process the variables that it is sent. OpenCode reads its
settings, and ours its home, when the first request comes from a folder. It ends the process if the
tests were killed."""


@dataclass
class _Process:
    url: str
    pid: int
    wardrobe: str
    logs: Path

    def put_on(self, variables: dict[str, str]) -> None:
        data = json.dumps(variables).encode()
        with urllib.request.urlopen(self.wardrobe, data, timeout=opencode.SECONDS):
            pass

    def failures(self) -> list[str]:
        """What our plugin has told the client's log."""
        texts = [file.read_text(encoding="utf-8") for file in self.logs.glob("*.log")]
        lines = [line for text in texts for line in text.splitlines()]
        return [line for line in lines if 'message="sisyphus: ' in line]


_ends = ExitStack()


def end() -> None:
    """Ends the process, if there is one."""
    _process.cache_clear()
    _ends.close()


def talk(
    prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Does what `opencode.talk` does for several prompts."""
    with serving(folder, variables) as server:
        return opencode.converse(server, prompts, flags)


@contextmanager
def serving(folder: Path, variables: dict[str, str]) -> Iterator[Server]:
    """Does what `opencode.serving` does, and lets our plugin end its sessions."""
    place = str(Path(variables["HOME"], ".claude"))  # Bun's `homedir` heeds no changed HOME
    try:
        process = _process()
        process.put_on({"CLAUDE_CONFIG_DIR": place, **variables})
        server = Server(process.url, folder, process.pid)
        server.until(lambda: server.is_connected, "first event")
        yield server
        server.call("POST", "/instance/dispose")
        server.until(lambda: server.is_disposed, "end of the instance")
        failures = process.failures()
        assert not failures, f"our plugin failed: {failures}"
    except BaseException:
        end()  # the next test shall not meet what this one has left
        raise


@cache
def _process() -> _Process:
    top = Path(tempfile.mkdtemp(prefix="opencode-"))
    _ends.callback(shutil.rmtree, top, ignore_errors=True)
    home, port = top / "home", top / "port"
    (home / "tmp").mkdir(parents=True)
    furnish(home)
    variables = environment(home)
    words = [str(COMMANDS / "sisyphus"), "install", "--client", NAME, "--yes"]
    subprocess.run(words, cwd=home, env=variables, check=True, capture_output=True)
    plugin = top / "wardrobe.js"
    plugin.write_text(_WARDROBE.replace("@PORT@", str(port)), encoding="utf-8")
    config = {"plugin": [plugin.as_uri()], "autoupdate": False, "share": "disabled"}
    variables["OPENCODE_CONFIG_CONTENT"] = json.dumps(config)
    server = _ends.enter_context(opencode.serving(home, variables, limit=None))
    server.call("GET", "/config")
    server.until(lambda: port.exists() and port.read_text(), "wardrobe")
    wardrobe = f"http://127.0.0.1:{port.read_text()}/"
    return _Process(server.url, server.pid, wardrobe, home / ".local/share/opencode/log")
