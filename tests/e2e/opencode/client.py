"""Starts OpenCode in an environment of its own: empty home, nothing of the caller's but `PATH`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from e2e.client import COMMANDS, TIME_LIMIT
from e2e.install import OPENCODE
from e2e.opencode.wire import MODEL, OTHER_MODEL, SMALL_MODEL, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

CLIENT = OPENCODE.binary
WINDOW, ANSWER = 200_000, 8_000  # tokens of each model, and of its answers at most
USABLE = WINDOW - ANSWER  # where that many are in use, the client compacts
NOBODY = "http://127.0.0.1:9/"  # a port at which nobody listens


def environment(home: Path) -> dict[str, str]:
    """Everything that the client, its plugins and the hooks get."""
    return {
        "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "npm_config_registry": NOBODY,
        "npm_config_fetch_retries": "0",
    }


def configuration(model_url: str) -> Json:
    """The scripted model alone, and every tool without a question."""
    limit = {"context": WINDOW, "output": ANSWER}
    names = (MODEL, OTHER_MODEL, SMALL_MODEL)
    models = {name: {"limit": limit, "tool_call": True} for name in names}
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # comes with the client
        "options": {"baseURL": model_url, "apiKey": "of-no-account"},
        "models": models,
    }
    return {
        "enabled_providers": ["e2e"],
        "provider": {"e2e": provider},
        "model": f"e2e/{MODEL}",
        "small_model": f"e2e/{SMALL_MODEL}",
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
    }


def stub_dependencies(folder: Path) -> None:
    """Says that the package is there which the client else installs where it finds a plugin.

    Without a network that takes it over a minute, at each start. It looks for no more than this.
    """
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")


@contextmanager
def started(
    words: Sequence[str], folder: Path, variables: dict[str, str], **streams: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """The client at work; it and all that it started are gone at the end."""
    process = subprocess.Popen(
        [CLIENT, *words], cwd=folder, env=variables, start_new_session=True, **streams
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """First as the system does it, so that the plugins are told, then by force."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(
    condition: Callable[[], object],
    what: str,
    process: subprocess.Popen[bytes],
    seen: Callable[[], str] = str,
) -> None:
    """Waits for a fact; the time limit is against a hang alone. `seen` tells what was instead."""
    end = time.monotonic() + TIME_LIMIT
    while not condition():
        assert process.poll() is None, f"the client ended, no {what}: {seen()}"
        assert time.monotonic() < end, f"no {what} in {TIME_LIMIT} seconds: {seen()}"
        time.sleep(0.02)
