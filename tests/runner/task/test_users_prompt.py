from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from runner.runs import DONE
from runner.scripted import said

if TYPE_CHECKING:
    from runner.runs import Scene


def test_a_prompt_that_no_run_wrote_is_kept(scene: Scene) -> None:
    path = put(scene.project / ".claude" / "PROMPT.md", "my own")
    scene.run(said(DONE), completion_promise="DONE")
    [kept] = path.parent.glob("PROMPT.md.yours-*")

    assert (kept.read_text(), path.read_text() == "my own") == ("my own", False)
    assert scene.told.notes == [f"{path} was not written by a run; it is kept as {kept}"]


def test_one_that_a_run_wrote_is_not(scene: Scene) -> None:
    for _ in range(2):
        scene.run(said("a"), completion_promise="DONE", max_iterations=1)

    assert scene.told.notes == []


def test_two_of_them_are_both_kept(scene: Scene) -> None:
    path = scene.project / ".claude" / "PROMPT.md"
    for words in ("one", "two", "three"):
        put(path, words)
        scene.run(said(DONE), completion_promise="DONE")
    kept = sorted(one.read_text() for one in path.parent.glob("PROMPT.md.yours-*"))

    assert kept == ["one", "three", "two"]
