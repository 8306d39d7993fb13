from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import a_space, put

from sisyphus.ralph import adopt
from sisyphus.ralph.arguments import BadArgumentsError
from sisyphus.ralph.invocations import Start

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.ralph.loop import Loop


def _start(args: str, *, by_model: bool = False) -> Start:
    start = Start(args, origin="uuid-1")
    start.by_model = by_model
    return start


def _adopt(args: str, project: Path, *, by_model: bool = False) -> Loop:
    return adopt.adopt(_start(args, by_model=by_model), "s1", a_space(project))[0]


def test_a_start_becomes_a_loop_of_its_session_and_project(project: Path) -> None:
    loop = _adopt('"do it" --completion-promise DONE --max-iterations 5', project)

    assert (loop.session_id, loop.project, loop.origin) == ("s1", str(project), "uuid-1")
    assert (loop.prompt, loop.completion_promise, loop.max_iterations) == ("do it", "DONE", 5)
    assert loop.prompt_known


def test_every_loop_has_an_id_of_five_letters_and_digits() -> None:
    ids = {adopt.new_id() for _ in range(200)}

    assert len(ids) > 190
    assert all(len(one) == 5 and one.isascii() and one.isalnum() for one in ids)


def test_a_prompt_file_is_read_and_the_model_does_not_know_it(project: Path) -> None:
    put(project / "task.md", "do\r\nit\n")

    loop = _adopt("--prompt-file task.md", project)

    assert (loop.prompt, loop.prompt_known) == ("do\r\nit\n", False)


def test_the_user_may_name_any_file(project: Path, tmp_path: Path, home: Path) -> None:
    put(tmp_path / "task.md", "do it")
    put(home / "mine.md", "do that")

    assert _adopt(f"--prompt-file {tmp_path / 'task.md'}", project).prompt == "do it"
    assert _adopt("--prompt-file ~/mine.md", project).prompt == "do that"


@pytest.mark.parametrize("named", ["../task.md", "link.md"])
def test_the_model_may_not_leave_the_project(project: Path, tmp_path: Path, named: str) -> None:
    put(tmp_path / "task.md", "do it")
    (project / "link.md").symlink_to(tmp_path / "task.md")

    with pytest.raises(BadArgumentsError, match="leaves"):
        _adopt(f"--prompt-file {named}", project, by_model=True)


def test_but_it_may_name_a_file_of_the_project(project: Path) -> None:
    put(project / "task.md", "do it")

    assert _adopt("--prompt-file task.md", project, by_model=True).prompt == "do it"


@pytest.mark.parametrize("kind", ["absent", "empty", "binary", "fifo", "strange name"])
def test_a_prompt_file_that_holds_no_prompt_starts_nothing(project: Path, kind: str) -> None:
    path = project / "task.md"
    if kind == "empty":
        put(path, " \n")
    if kind == "binary":
        put(path, b"\0\xff")
    if kind == "fifo":
        os.mkfifo(path)
    named = "'a\0b'" if kind == "strange name" else "task.md"

    with pytest.raises(BadArgumentsError, match="--prompt-file"):
        _adopt(f"--prompt-file {named}", project)


def test_a_bad_command_line_starts_nothing(project: Path) -> None:
    with pytest.raises(BadArgumentsError, match="unknown option"):
        _adopt("do it --bad", project)


def test_what_the_model_does_not_get_is_noted(project: Path) -> None:
    _, notes = adopt.adopt(
        _start("do it --max-iterations 0", by_model=True), "s1", a_space(project)
    )

    assert notes == ["the model asked for --max-iterations 0; it gets 100"]
