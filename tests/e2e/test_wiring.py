"""Plugin, settings, both or none: what a user installs, and what the client then does."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e import claude_code
from e2e.claude_code import environment
from e2e.desk import Desk, Run
from e2e.install import CHECKOUT
from e2e.script import read, say, use

TEXTS = ("# Lighthouse", "[BOULDER STATE DETECTED]", "Be brief.")
RULE = "---\napplies_to: '**/*.py'\n---\nBe kind to snakes.\n"
FOREIGN = {
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
}


@pytest.fixture
def furnished(desk: Desk) -> Desk:
    """A project with a README, a plan, a rule and a file."""
    desk.write("README.md", "# Lighthouse\n")
    desk.write("PLAN.md", "# Plan\n\n- [ ] Light it\n")
    desk.write(".github/copilot-instructions.md", "Be brief.\n")
    desk.write("one.py", "1")
    return desk


@pytest.fixture
def bare(desk: Desk) -> Desk:
    """A desk without the plugin, and with settings of the user's own."""
    desk.plugins.clear()
    desk.write("../home/.claude/settings.json", json.dumps(FOREIGN, indent=4) + "\n")
    return desk


def look(desk: Desk, **more: Any) -> Run:
    return desk.run("hello", turns=[use(read("one.py")), say("seen")], **more)


def counts(run: Run) -> list[int]:
    return [run.requests[-1].text.count(text) for text in TEXTS]


def client(desk: Desk, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return claude_code.command(*words, folder=desk.project, variables=environment(desk.home))


def status(desk: Desk) -> str:
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(
        words, cwd=desk.project, capture_output=True, text=True, check=True
    ).stdout


# ---------------------------------------------------------------- the plugin


@pytest.mark.parametrize("is_installed", [False, True], ids=["the checkout", "as installed"])
def test_the_client_validates_the_plugin(desk: Desk, is_installed: bool) -> None:
    folder = desk.sisyphus("plugin-path").strip() if is_installed else CHECKOUT

    done = client(desk, "plugin", "validate", "--strict", folder)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "skills: sisyphus:sisyphus\n" in done.stdout


def test_the_installed_package_is_a_plugin(furnished: Desk) -> None:
    furnished.plugins[:] = [Path(furnished.sisyphus("plugin-path").strip())]

    assert counts(look(furnished)) == [1, 1, 1]


def test_the_plugin_installs_from_its_own_marketplace(furnished: Desk) -> None:
    furnished.plugins.clear()
    folder = furnished.sisyphus("plugin-path").strip()
    for words in (["marketplace", "add", folder], ["install", "sisyphus@sisyphus"]):
        done = client(furnished, "plugin", *words)
        assert done.returncode == 0, done.stdout + done.stderr

    assert counts(look(furnished)) == [1, 1, 1]


def test_if_disabled_no_hook_says_anything(furnished: Desk) -> None:
    run = look(furnished, env={"SISYPHUS_DISABLE": "1"})

    assert counts(run) == [0, 0, 0]
    assert {hook["stdout"] for hook in run.hooks} == {""}


def test_the_project_is_left_as_it_was(furnished: Desk) -> None:
    before = status(furnished)

    look(furnished)

    assert status(furnished) == before


@pytest.mark.parametrize("name", ["README.md", "PLAN.md", ".github/copilot-instructions.md"])
def test_a_fifo_in_place_of_a_file_blocks_no_hook(furnished: Desk, name: str) -> None:
    (furnished.project / name).unlink()
    os.mkfifo(furnished.project / name)

    assert sum(counts(look(furnished))) == 2


# ---------------------------------------------------------------- a hostile project, and no program


@pytest.mark.parametrize("way", ["plugin", "settings"])
def test_python_takes_nothing_from_the_project(furnished: Desk, way: str) -> None:
    """The environment leads it there, as `direnv` and a client's settings do."""
    if way == "settings":
        furnished.plugins.clear()
        furnished.sisyphus("install", "--yes", "--client", "claude-code")
    for name in ("sitecustomize.py", "re.py", "json.py", "sisyphus/__init__.py"):
        furnished.write(name, "open('ran', 'w')\n")
    variables = {"PYTHONPATH": str(furnished.project), "PYTHONPYCACHEPREFIX": "cache"}

    run = look(furnished, env=variables)

    assert counts(run) == [1, 1, 1]
    assert not (furnished.project / "ran").exists()


def test_where_the_program_is_gone_the_start_says_so(bare: Desk, furnished: Desk) -> None:
    bare.sisyphus("install", "--yes", "--client", "claude-code")
    file = bare.home / ".claude" / "settings.json"
    file.write_text(file.read_text().replace("/bin/python -I", "/gone/python -I"))

    run = look(bare)

    assert counts(run) == [0, 0, 0]
    said = [json.loads(hook["stdout"]) for hook in run.hooks if hook["stdout"].strip()]
    assert [list(each) for each in said] == [["systemMessage"]]
    assert "sisyphus does not start" in said[0]["systemMessage"]


# ---------------------------------------------------------------- `sisyphus install`


@pytest.mark.parametrize("scope", ["user", "local"])
def test_hooks_of_the_settings_do_the_same(bare: Desk, furnished: Desk, scope: str) -> None:
    before = status(bare)
    bare.sisyphus("install", "--yes", "--scope", scope)

    assert counts(look(bare)) == [1, 1, 1]
    assert status(bare) == before


def test_a_loop_starts_by_its_short_name(bare: Desk) -> None:
    bare.sisyphus("install", "--yes")
    typed = '/ralph-loop "do it" --completion-promise "DONE"'

    run = bare.run(typed, turns=[say("Not yet."), say("<promise>DONE</promise>")])

    assert ["[RALPH LOOP ENFORCEMENT]" in r.last for r in run.requests] == [False, True]
    assert "[RALPH LOOP COMPLETE]" in run.messages


def test_why_says_what_the_hooks_did(bare: Desk, furnished: Desk) -> None:
    bare.sisyphus("install", "--yes")
    run = look(bare)

    shown = bare.sisyphus("why", "--session-id", run.session[:8])

    assert f"Session {run.session}" in shown
    assert "sent readme README.md" in shown
    assert "hello" in bare.sisyphus("sessions")


@pytest.mark.parametrize("scope", ["user", "local"])
def test_a_rule_that_is_ours_comes_when_it_applies_and_not_before(bare: Desk, scope: str) -> None:
    folder = "../home/.claude/rules" if scope == "user" else ".claude/rules"
    bare.write(f"{folder}/p*y [1].md", RULE)
    bare.write(f"{folder}/puppy 1.md", "Be kind to dogs.\n")
    bare.write("one.py", "1")
    before = bare.run("look", turns=[say("seen")])
    bare.sisyphus("install", "--yes", "--scope", scope)

    after = look(bare)

    assert [request.text.count("Be kind to snakes.") for request in before.requests] == [1]
    assert [request.text.count("Be kind to snakes.") for request in after.requests] == [0, 1]
    assert [run.requests[0].text.count("Be kind to dogs.") for run in (before, after)] == [1, 1]


def files(folder: Path) -> dict[str, bytes]:
    """All files, except our own state and git's."""
    every = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in every
        if not {".sisyphus", ".git"} & set(path.parts)
    }


@pytest.mark.parametrize("scope", ["user", "local"])
def test_uninstall_leaves_what_was_there_before(bare: Desk, scope: str) -> None:
    before = files(bare.home), files(bare.project)

    for command in ("install", "uninstall"):
        bare.sisyphus(command, "--yes", "--scope", scope)

    assert (files(bare.home), files(bare.project)) == before


def test_after_uninstall_no_hook_of_ours_runs(bare: Desk, furnished: Desk) -> None:
    bare.sisyphus("install", "--yes")
    bare.sisyphus("uninstall", "--yes")

    run = look(bare)

    assert [hook["hook_event"] for hook in run.hooks] == ["Stop"]  # the user's own
    assert counts(run) == [0, 0, 0]


# ---------------------------------------------------------------- both


def test_wired_twice_each_text_arrives_once(furnished: Desk) -> None:
    furnished.sisyphus("install", "--yes")
    first = look(furnished)
    second = furnished.resume(first, "on", turns=[use(read("one.py")), say("yes")])

    assert counts(first) == [1, 1, 1]
    assert counts(second) == [1, 1, 1]
    assert (first.messages + second.messages).count("wired twice") == 1
    replies = [hook for hook in first.hooks if hook["hook_event"] == "PostToolBatch"]
    assert [bool(hook["stdout"]) for hook in replies].count(True) == 1


def test_wired_twice_a_loop_counts_once(furnished: Desk) -> None:
    furnished.sisyphus("install", "--yes")
    typed = '/sisyphus:ralph-loop "do it" --completion-promise "DONE" --max-iterations 3'

    run = furnished.run(typed, turns=[say("Not yet.")] * 3)

    assert len(run.requests) == 3
    assert "3 iterations" in run.messages
