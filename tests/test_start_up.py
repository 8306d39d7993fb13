"""What a hook that has nothing to say may import: every millisecond is paid at every tool call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import ours, put, run_hook
from opencode.stand_in import RECORDED, recorded

import sisyphus
from sisyphus.clients.base import EVENTS

if TYPE_CHECKING:
    from sisyphus._types import Json

HEAVY = {
    "argparse", "asyncio", "click", "contextvars", "dataclasses", "datetime", "difflib", "email",
    "frontmatter", "hashlib", "importlib.metadata", "inspect", "logging", "pathlib", "pathspec",
    "pydantic", "random", "rich", "shlex", "shutil", "signal", "socket", "subprocess", "tempfile",
    "textwrap", "tomlkit", "tomllib", "traceback", "typer", "typing", "urllib", "uuid", "yaml",
}  # fmt: skip

HEAVY_FOR_THE_SILENT = HEAVY | {"enum", "json", "re"}
"""`re` is what texts are found and cut with, so that a hook with something to say may load it."""

QUICK = {
    "arbiter", "arbiter.quiet", "arbiter.situation",
    "attempt", "boulder", "boulder.book", "boulder.discover", "boulder.enforcement",
    "boulder.hooks", "boulder.in_use", "boulder.record", "boulder.store", "boulder.watch",
    "checkpoint", "checkpoint.hooks", "checkpoint.size", "checkpoint.size.gauge",
    "checkpoint.store", "clients", "clients.base", "clients.claude_code",
    "clients.claude_code_files", "clients.claude_code_setup", "clients.opencode",
    "context", "context.blocks", "context.collect", "context.hooks", "documents", "enforce",
    "enforce.hooks", "enforce.idle", "enforce.marks", "entry", "errors", "hook",
    "hook.permission", "hook.routes", "hook.run", "markdown", "memory", "numbers", "paths",
    "purge", "quick_json", "ralph",
    "ralph.hooks", "ralph.loop", "ralph.lost", "ralph.memory", "ralph.sittings",
    "ralph.statefile", "ralph.store", "ralph.texts", "ralph.wake", "ralph.watch", "reading",
    "rules", "rules.backtracking", "rules.build", "rules.discover", "rules.globs",
    "rules.hooks", "rules.index", "rules.keys", "rules.match", "rules.parse",
    "rules.sources", "rules.survey", "rules.target", "rules.wording", "runner", "runner.keep",
    "runner.keep.places", "session",
    "session.client_process", "session.hooks", "session.process", "session.reply",
    "session.store", "settings", "state", "state.debug", "state.files", "state.lock",
    "text", "times", "transcript", "workspace",
}  # fmt: skip
"""All of ours that a hook with nothing to say may load, whichever event it is of."""

RAN = """
import os, sys

def leave(code, leave=os._exit):
    sys.stderr.write("\\n".join(sys.modules))
    leave(code)

os._exit = leave
sys.argv = ["sisyphus", "hook", {event!r}]
from sisyphus.entry import main
main()
"""
"""Runs a hook that says on stderr what it has loaded when it leaves."""


def _loaded(code: str, payload: Json) -> tuple[set[str], str]:
    """The modules that a hook has loaded, and its reply; there are no site-packages."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(sisyphus.__file__).parents[1])},
    )
    return set(done.stderr.split()), done.stdout


def _ours(event: str, payload: Json) -> set[str]:
    """Our own modules that a hook has loaded, without the package's name."""
    done = subprocess.run(
        [sys.executable, "-c", RAN.format(event=event)],
        input=json.dumps(payload), capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = done.stderr.split()
    return {name.removeprefix("sisyphus.") for name in names if name.startswith("sisyphus.")}


def _heavy(event: str, payload: Json) -> tuple[set[str], str]:
    """The heavy modules that a hook with something to say has loaded, and its reply."""
    loaded, printed = _loaded(RAN.format(event=event), payload)
    return HEAVY & loaded, printed


def _heavy_of_silent(event: str, payload: Json, code: str = RAN) -> set[str]:
    """The heavy modules that a hook with nothing to say has loaded."""
    loaded, printed = _loaded(code.format(event=event), payload)
    assert printed == ""
    return HEAVY_FOR_THE_SILENT & loaded


def _payload(project: Path, **fields: object) -> Json:
    touched = {"file_path": str(project / "src" / "app.py")}
    return {
        "session_id": "s1",
        "cwd": str(project),
        "prompt": "go on",
        "tool_name": "Read",
        "tool_input": touched,
        "last_assistant_message": "still at it",
        **fields,
    }


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_with_nothing_to_say_loads_nothing_heavy(project: Path, event: str) -> None:
    run_hook(event, _payload(project))  # indexes what is there, and looks for what is too old
    assert _heavy_of_silent(event, _payload(project)) == set()


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_with_nothing_to_say_loads_what_is_listed_alone(project: Path, event: str) -> None:
    assert _ours(event, _payload(project)) - QUICK == set()


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: path.stem)
def test_to_hear_opencode_costs_nothing_heavy(project: Path, path: Path) -> None:
    event = path.stem.partition(".")[0]
    code = RAN.format(event=event).replace(f"{event!r}]", f"{event!r}, '--client', 'opencode']")
    message = {**recorded(path.stem), "cwd": str(project)}
    if path.stem == "user-prompt-submit.command":  # it begins a loop, and git is asked for that
        message["prompt"] = "/sisyphus:list-ralph-loops"
    assert HEAVY & _loaded(code, message)[0] == set()


@pytest.mark.parametrize("event", EVENTS)
def test_settings_are_read_from_their_cache(home: Path, project: Path, event: str) -> None:
    put(ours(home, "config.toml"), "[boulder]\nenabled = true\n")
    put(project / ".claude" / "sisyphus.toml", "[rules]\nenabled = true\n")
    run_hook(event, _payload(project))
    assert _heavy_of_silent(event, _payload(project)) == set()


@pytest.mark.parametrize("event", EVENTS)
def test_rules_that_do_not_match_are_read_from_their_index(project: Path, event: str) -> None:
    put(project / ".claude" / "rules" / "ts.md", '---\napplies_to: "**/*.ts"\n---\nBe typed.\n')
    for warms_up in ("post-tool-use", event):
        run_hook(warms_up, _payload(project))
    assert _heavy_of_silent(event, _payload(project)) == set()


def test_a_rule_is_sent_from_the_index(project: Path) -> None:
    put(project / ".claude" / "rules" / "py.md", '---\napplies_to: "**/*.py"\n---\nBe typed.\n')
    run_hook("post-tool-use", _payload(project))
    heavy, printed = _heavy("post-tool-use", _payload(project, session_id="s2"))
    assert "Be typed." in printed
    assert heavy == set()


def test_a_document_costs_nothing_heavy(project: Path) -> None:
    put(project / "README.md", "# Ours\n")
    heavy, printed = _heavy("session-start", _payload(project, source="startup"))
    assert "# Ours" in printed
    assert heavy == set()


def test_a_plan_costs_nothing_heavy(project: Path) -> None:
    put(project / ".claude" / "PLAN.md", "# Ship it\n\n- [x] one\n- [ ] two\n")
    heavy, printed = _heavy("session-start", _payload(project, source="startup"))
    assert "Progress: 1/2" in printed
    assert heavy == set()


def test_a_module_that_creeps_in_is_noticed(project: Path) -> None:
    code = RAN.replace("from sisyphus", "import json\nfrom sisyphus")
    assert _heavy_of_silent("stop", _payload(project), code) == {"enum", "json", "re"}


OF_THE_DASHBOARD = {"anyio", "fastapi", "jinja2", "starlette", "uvicorn", "watchfiles"}

SHOWN = """
import sys
sys.argv = ["sisyphus", "--help"]
from sisyphus.entry import main
try:
    main()
finally:
    sys.stderr.write("\\n" + " ".join(sys.modules))
"""
"""Shows the help and says on stderr what it has loaded."""


def _loaded_by_help(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "dashboard" in done.stdout
    return set(done.stderr.split())


def test_the_help_loads_nothing_that_only_the_dashboard_needs() -> None:
    loaded = _loaded_by_help(SHOWN)
    assert "sisyphus.cli.app" in loaded
    assert OF_THE_DASHBOARD & loaded == set()
    assert "sisyphus.dashboard.app" not in loaded


def test_what_the_dashboard_needs_would_be_noticed() -> None:
    code = SHOWN.replace("from sisyphus", "import jinja2\nfrom sisyphus")
    assert OF_THE_DASHBOARD & _loaded_by_help(code) == {"jinja2"}


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_loads_nothing_of_the_dashboard(project: Path, event: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RAN.format(event=event)],
        input=json.dumps(_payload(project)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = {name for name in done.stderr.split() if "dashboard" in name}
    assert found | OF_THE_DASHBOARD & set(done.stderr.split()) == set()
