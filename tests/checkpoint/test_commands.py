from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign
from making import put

from checkpoint.telling import called
from sisyphus.checkpoint import commands, gather

if TYPE_CHECKING:
    from pathlib import Path

    from checkpoint.desk import Desk
    from sisyphus._types import Json

FILLED = 72


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """Its context is filled to `FILLED` percent."""
    desk.add(*called("Read", {"file_path": "/p/a.py"}))
    desk.fill(FILLED)
    return desk


ANSWERED = [
    pytest.param("/sisyphus:ralph-context", "72%", id="how full it is"),
    pytest.param("/ralph-context", "72%", id="without the plugin's name"),
    pytest.param("  /ralph-context  ", "72%", id="with blanks"),
    pytest.param("/ralph-context --forecast", "72%", id="what is to come"),
    pytest.param("/sisyphus:ralph-checkpoint", "Checkpoint written.", id="a checkpoint"),
    pytest.param("/ralph-checkpoint\n", "Context: 72%", id="with a line end"),
]


@pytest.mark.parametrize(("prompt", "said"), ANSWERED)
def test_a_command_is_answered_where_it_is_typed(filled: Desk, prompt: str, said: str) -> None:
    outcome = filled.prompt(prompt)
    assert outcome.reason is not None
    assert said in outcome.reason
    assert outcome.notes[0].startswith(("answered /ralph-context", "handoff "))


@pytest.mark.parametrize("name", ["ralph-context", "ralph-checkpoint"])
def test_a_users_own_command_of_the_name_is_his(filled: Desk, home: Path, name: str) -> None:
    put_foreign(home / ".claude", name)
    assert filled.prompt(f"/{name}").reason is None
    assert filled.prompt(f"/sisyphus:{name}").reason


OTHERS = [
    pytest.param("/ralph-context please", id="more words"),
    pytest.param("/ralph-contexts", id="another command"),
    pytest.param("/other:ralph-context", id="of another plugin"),
    pytest.param("how does /ralph-context work?", id="a question"),
    pytest.param("ralph-checkpoint", id="no slash"),
]


@pytest.mark.parametrize("prompt", OTHERS)
def test_any_other_prompt_reaches_the_model(filled: Desk, prompt: str) -> None:
    assert filled.prompt(prompt).reason is None
    assert filled.files == []


@pytest.mark.parametrize("command", ["/ralph-context", "/ralph-checkpoint"])
def test_without_a_transcript_the_answer_says_so(desk: Desk, command: str) -> None:
    assert gather.NO_TRANSCRIPT in " ".join(str(desk.prompt(command).reason).split())


def test_what_goes_wrong_is_answered_too(filled: Desk) -> None:
    put(filled.index, '{"version": 2}')
    assert "newer sisyphus" in str(filled.prompt("/ralph-checkpoint").reason)


MADE = [
    pytest.param({}, "", id="nothing but the file"),
    pytest.param({"percent_at_checkpoint": 72}, "Context: 72%\n", id="how full it was"),
    pytest.param(
        {"percent_at_checkpoint": 72, "iteration": 3},
        "Iteration: 3\nContext: 72%\n",
        id="of a loop",
    ),
]


@pytest.mark.parametrize(("fields", "rows"), MADE)
def test_a_person_reads_what_was_written(fields: Json, rows: str) -> None:
    assert commands.made({"handoff_file": "a.md", **fields}) == (
        f"Checkpoint written.\n{rows}Handoff: a.md\n"
        "The next session of this project goes on from it."
    )
