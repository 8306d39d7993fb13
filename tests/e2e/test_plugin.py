from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.client import Client, environment, plugin_folder
from e2e.desk import install_plugin
from e2e.install import CHECKOUT
from e2e.script import read, say, use
from e2e.texts import DOCUMENTS, RULES

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk

OURS = (DOCUMENTS, RULES, "[BOULDER", "[RALPH")


def _furnish(desk: Desk) -> None:
    desk.write("README.md", "# Lighthouse\n")
    desk.write(".claude/PLAN.md", "# Plan\n\n- [ ] Light it\n")
    desk.write(".github/copilot-instructions.md", "Be brief.\n")


@pytest.mark.parametrize(
    "folder",
    [pytest.param(CHECKOUT, id="the checkout"), pytest.param(plugin_folder(), id="as installed")],
)
def test_the_client_finds_no_fault_with_the_plugin(desk: Desk, folder: Path) -> None:
    client = Client(desk.project, environment(desk.home), desk.home / "stderr.txt")

    done = client.command("plugin", "validate", "--strict", str(folder))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout


def test_the_plugin_installs_from_its_own_marketplace(desk: Desk, tmp_path: Path) -> None:
    desk.write("README.md", "# Lighthouse\n")
    desk.plugins.clear()
    install_plugin(desk, tmp_path / "plugin")

    run = desk.run("hello", turns=[say("hi")])

    assert run.requests[0].count("# Lighthouse") == 1


def test_all_of_it_reaches_the_model(desk: Desk) -> None:
    _furnish(desk)
    file = desk.write("one.py", "1")

    run = desk.run("hello", turns=[use(read(file)), say("seen")])

    assert [text in run.requests[-1].text for text in OURS] == [True, True, True, False]


def test_off_means_off(desk: Desk) -> None:
    _furnish(desk)
    file = desk.write("one.py", "1")
    off = {"SISYPHUS_DISABLE": "1"}

    run = desk.run("hello", turns=[use(read(file)), say("seen")], env=off)

    assert not any(text in run.requests[-1].text for text in OURS)
    assert [hook["stdout"] for hook in run.hooks] == [""] * len(run.hooks)
    assert run.hooks


def test_the_project_is_left_as_it_was(desk: Desk) -> None:
    _furnish(desk)
    file = desk.write("one.py", "1")
    before = _status(desk)

    desk.run("hello", turns=[use(read(file)), say("seen")])

    assert _status(desk) == before


@pytest.mark.parametrize(
    "name", ["README.md", ".claude/PLAN.md", ".github/copilot-instructions.md"]
)
def test_a_file_that_never_ends_holds_nobody_up(desk: Desk, name: str) -> None:
    _furnish(desk)
    file = desk.write("one.py", "1")
    (desk.project / name).unlink()
    os.mkfifo(desk.project / name)

    run = desk.run("hello", turns=[use(read(file)), say("seen")])

    assert [text in run.requests[-1].text for text in OURS].count(True) == 2


def _status(desk: Desk) -> str:
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    done = subprocess.run(command, cwd=desk.project, capture_output=True, text=True, check=True)
    return done.stdout
