"""`sisyphus install` and what the real client then does."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.client import COMMANDS, environment
from e2e.desk import install_plugin
from e2e.script import read, say, use
from e2e.terminal import CONTROLS, terminal
from e2e.texts import COMPLETE, GO_ON, continuation

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk
    from e2e.terminal import Terminal

TYPED = '/ralph-loop "do it" --completion-promise "DONE"'
NOT_YET, PROMISE = say("Not yet."), say("<promise>DONE</promise>")
PLAN = "# Shop\n\n- [x] one\n- [ ] two\n"
RULE = "---\napplies_to: '**/*.py'\n---\nBe kind to snakes.\n"
EVENTS = [
    "session-start", "user-prompt-submit", "post-tool-use", "stop",
    "session-end",
]  # fmt: skip
OF_OTHERS = {
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
}


@pytest.fixture
def bare(desk: Desk) -> Desk:
    """A desk without the plugin, and with settings of the user's own."""
    desk.plugins.clear()
    desk.write_home("settings.json", json.dumps(OF_OTHERS, indent=4))
    return desk


def _in_project(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMANDS / "sisyphus", *words],
        cwd=desk.project,
        env=environment(desk.home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _project_scope(desk: Desk, *words: str) -> None:
    done = _in_project(desk, *words, "--scope", "project")
    assert done.returncode == 0, done.stderr


def _files(folder: Path) -> dict[str, bytes]:
    """All but what sisyphus keeps and what the client does."""
    kept = [p for p in sorted(folder.rglob("*")) if p.is_file() and ".sisyphus" not in p.parts]
    return {str(p.relative_to(folder)): p.read_bytes() for p in kept}


def _shown(client: Terminal) -> str:
    return "".join(CONTROLS.sub("", client.written.decode(errors="replace")).split())


def test_hooks_of_the_settings_resume_a_plan(bare: Desk) -> None:
    bare.write(".claude/PLAN.md", PLAN)
    bare.sisyphus("install")
    bare.run("begin", turns=[say("begun")])

    run = bare.run("go on", turns=[say("going")])

    assert run.requests[0].count(continuation("Shop", "1/2")) == 1


def test_why_tells_what_the_hooks_did(bare: Desk) -> None:
    bare.sisyphus("install")

    run = bare.run("hello", turns=[use(read(bare.write("one.py", "1"))), say("hi")])

    told = json.loads(bare.sisyphus("why", "--all", "--json", "--session", run.session))
    assert [entry["event"] for entry in told["entries"]] == EVENTS


def test_a_loop_is_held_by_its_short_name(bare: Desk) -> None:
    bare.sisyphus("install", "--yes")

    run = bare.run(TYPED, turns=[NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, True]
    assert COMPLETE in run.told


def test_in_the_terminal_the_short_name_works_and_the_line_is_drawn(bare: Desk) -> None:
    bare.write(".claude/PLAN.md", PLAN)
    bare.sisyphus("install", "--yes")

    with terminal(bare, turns=[NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until_asked(2)
        client.until(lambda: "Shop1/2" in _shown(client), "plan in the line")

    assert [GO_ON in request.last for request in client.requests] == [False, True]


@pytest.mark.parametrize("name", ["py.md", "p*y [1].md"])
@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_a_rule_that_is_ours_is_sent_when_it_applies_and_not_before(
    bare: Desk, scope: str, name: str
) -> None:
    put = bare.write_home if scope == "user" else bare.write
    folder = "rules" if scope == "user" else ".claude/rules"
    put(f"{folder}/{name}", RULE)
    put(f"{folder}/puppy 1.md", "Be kind to dogs.\n")
    file = bare.write("one.py", "1")
    turns = [use(read(file)), say("seen")]
    before = bare.run("look", turns=[say("seen")])

    assert _in_project(bare, "install", "--yes", "--scope", scope).returncode == 0
    after = bare.run("look", turns=turns)

    assert [request.count("Be kind to snakes.") for request in before.requests] == [1]
    assert [request.count("Be kind to snakes.") for request in after.requests] == [0, 1]
    assert [run.requests[0].count("Be kind to dogs.") for run in (before, after)] == [1, 1]


def test_in_a_project_everybody_has_the_hooks_and_the_commands(bare: Desk) -> None:
    _project_scope(bare, "install", "--yes")

    run = bare.run(TYPED, turns=[NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, True]


SCOPES = [["--scope", "user"], ["--scope", "project"], ["--scope", "local"]]


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: str(scope[-1]))
def test_what_was_installed_goes_again_and_nothing_else(bare: Desk, scope: list[str]) -> None:
    before = _files(bare.home), _files(bare.project)

    for words in (["install", "--yes"], ["uninstall", "--yes"]):
        done = _in_project(bare, *words, *scope)
        assert done.returncode == 0, done.stderr

    assert (_files(bare.home), _files(bare.project)) == before


def test_what_the_client_wrote_meanwhile_stays(bare: Desk, tmp_path: Path) -> None:
    bare.sisyphus("install", "--yes")
    bare.run("hello", turns=[say("hi")])
    install_plugin(bare, tmp_path / "market")  # has the client write the settings anew

    bare.sisyphus("uninstall", "--yes")

    left = bare.state("settings.json")
    assert {key: left[key] for key in OF_OTHERS} == OF_OTHERS
    assert left["enabledPlugins"] == {"sisyphus@sisyphus": True}
    assert "statusLine" not in left


def test_after_it_is_taken_out_no_hook_runs(bare: Desk) -> None:
    bare.write("README.md", "# Lighthouse\n")
    bare.sisyphus("install", "--yes")
    bare.sisyphus("uninstall", "--yes")

    run = bare.run("hello", turns=[say("hi")])

    assert [hook["hook_event"] for hook in run.hooks] == ["Stop"]  # the user's own
    assert run.requests[0].count("# Lighthouse") == 0


def test_the_plugin_and_the_hooks_are_not_wired_both_unasked(bare: Desk, tmp_path: Path) -> None:
    install_plugin(bare, tmp_path / "market")
    before = bare.state("settings.json")

    refused = _in_project(bare, "install")
    agreed = _in_project(bare, "install", "--yes", "--only", "hooks")

    assert (refused.returncode, agreed.returncode) == (1, 0), agreed.stderr
    assert "every event would start two processes" in refused.stderr
    assert "its own stays silent" in agreed.stdout
    assert before["hooks"] == OF_OTHERS["hooks"]
