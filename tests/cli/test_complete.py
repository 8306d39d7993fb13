"""What the Tab key offers, and what `--install-completion` leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, journal, ours, put

from sisyphus.cli import complete
from sisyphus.settings import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

NO_DETECTION = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
"""In place of the shell around us the one that is named is taken."""


def _loop(home: Path, loop: str, session: str) -> None:
    lines = ["---", f'loop_id: "{loop}"', f'session_id: "{session}"', "active: true", "---", "x"]
    put(ours(home, f"ralph/loops/ralph-loop.{session}.local.md"), "\n".join(lines))


def _values(offers: list[complete.Offer]) -> list[str]:
    return [value for value, _ in offers]


def test_settings_are_offered_with_their_meaning() -> None:
    offered = complete.settings("boulder.st")

    assert _values(offered) == ["boulder.stale_days"]
    assert offered[0][1].startswith("After so many days")
    assert _values(complete.settings("")) == list(SETTINGS)


def test_sections_are_offered_where_they_are_taken() -> None:
    assert _values(complete.settings_and_sections("rules")) == ["rules", "rules.enabled"]


def test_events_are_offered() -> None:
    assert _values(complete.events("pre")) == ["pre-compact"]


def test_loops_are_offered_that_have_not_ended(home: Path) -> None:
    _loop(home, "3f2a9", "s1")
    _loop(home, "7c1d0", "s2")

    assert complete.loops("3f") == [("3f2a9", "session s1")]
    assert sorted(_values(complete.loops(""))) == ["3f2a9", "7c1d0"]


def test_loops_that_have_ended_are_offered_with_their_task(home: Path) -> None:
    started = {"loop_id": "3f2a9", "session_id": "s1", "status": "active", "task": "Make\nit green"}
    put(ours(home, "logs/sessions.jsonl"), json.dumps(started) + "\n")

    assert complete.past_loops("") == [("3f2a9", "Make it green")]


def test_sessions_are_offered_the_latest_first() -> None:
    for age, session in enumerate(["new", "old", "older"]):
        journal(session, {"at": 1_000 - age})

    assert _values(complete.sessions("")) == ["new", "old", "older"]
    assert _values(complete.sessions("olde")) == ["older"]


@pytest.mark.parametrize("offer", [complete.loops, complete.past_loops, complete.sessions])
def test_nothing_to_offer_is_no_failure(home: Path, offer: object) -> None:
    assert callable(offer)
    assert offer("x") == []
    shutil.rmtree(ours(home, ""), ignore_errors=True)
    put(ours(home, ""), "a file in the place of our folder")
    assert offer("") == []


OFFERED = [
    pytest.param("sisyphus config set boulder.", "boulder.enabled boulder.stale_days", id="keys"),
    pytest.param("sisyphus config explain rul", "rules rules.enabled", id="sections"),
    pytest.param("sisyphus hook pre", "pre-compact", id="events"),
    pytest.param("sisyphus ralph pause 3", "3f2a9", id="loops"),
    pytest.param("sisyphus ralph cancel 3", "3f2a9", id="loops to cancel"),
    pytest.param("sisyphus ralph status --session-id s", "s1", id="sessions"),
    pytest.param("sisyphus why --session-id s", "s1", id="sessions of why"),
    pytest.param("sisyphus why --event pre", "pre-compact", id="events of why"),
    pytest.param("sisyphus notify test c", "checkpoint completion", id="what is notified"),
    pytest.param("sisyphus conf", "config", id="commands"),
    pytest.param("sisyphus config se", "set", id="subcommands"),
]

IN_BASH = """
eval "$({command} --show-completion bash)"
COMP_WORDS=($1)
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
$(complete -p sisyphus | sed 's/.*-F \\([^ ]*\\) .*/\\1/') {command}
echo ${{COMPREPLY[@]}}
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(("typed", "offered"), OFFERED)
def test_bash_offers(home: Path, typed: str, offered: str) -> None:
    _loop(home, "3f2a9", "s1")
    journal("s1", {"at": 1})
    done = subprocess.run(
        ["bash", "-c", IN_BASH.format(command=COMMAND), "bash", typed],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **NO_DETECTION},
    )

    assert " ".join(sorted(done.stdout.split())) == offered


SHELLS = [
    pytest.param("bash", ".bash_completions/sisyphus.sh", ".bashrc", id="bash"),
    pytest.param("zsh", ".zfunc/_sisyphus", ".zshrc", id="zsh"),
    pytest.param("fish", ".config/fish/completions/sisyphus.fish", "", id="fish"),
]


@pytest.mark.parametrize(("shell", "script", "profile"), SHELLS)
def test_completion_is_installed_for(home: Path, shell: str, script: str, profile: str) -> None:
    done = subprocess.run(
        [COMMAND, "--install-completion", shell],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **NO_DETECTION},
    )

    assert shell in done.stdout
    text = (home / script).read_text()
    assert f"_SISYPHUS_COMPLETE=complete_{shell}" in text
    assert not profile or script.partition("/")[0] in (home / profile).read_text()
