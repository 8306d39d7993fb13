from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import put

from runner.runs import DONE
from runner.scripted import entry, said, stderr
from sisyphus.runner.keep import kept
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from runner.runs import Scene


@pytest.fixture
def places(project: Path) -> Places:
    return Places(Workspace(str(project)))


def test_of_a_flood_beginning_and_end_are_kept(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "".join(f"line {n:04}\n" for n in range(1_000)))
    kept.trim(str(tmp_path / "a"), most=1_000)
    lines = path.read_text().splitlines()
    cut = 10_000 - sum(len(line) + 1 for line in lines if line.startswith("line"))

    assert path.stat().st_size < 1_100
    assert (lines[0], lines[-1]) == ("line 0000", "line 0999")
    assert lines.index(f"[{cut} bytes are cut out here]") == 12
    assert len(lines) > 90


def test_a_line_without_an_end_is_cut_too(tmp_path: Path) -> None:
    path = put(tmp_path / "a.err", "x" * 5_000)
    kept.trim(str(tmp_path / "a"), most=1_000)

    assert path.read_text().splitlines()[0] == "x" * 125
    assert path.stat().st_size < 1_100


def test_what_is_short_or_not_there_is_left_alone(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "x\n")
    kept.trim(str(tmp_path / "a"), most=2)
    kept.trim("")

    assert path.read_text() == "x\n"


def test_what_cannot_be_cut_stays(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "x" * 10)
    put(tmp_path / "a.jsonl.tmp" / "x", "in the way")
    kept.trim(str(tmp_path / "a"), most=2)

    assert path.stat().st_size == 10


def test_the_last_iterations_of_a_run_are_kept(places: Places) -> None:
    folder = Path(places.transcripts)
    names = ["abc12_iter_5.jsonl", "abc12_iter_5.2.err", "abc12_iter_6.jsonl", "xyz12_iter_1.pid"]
    for name in [*names, "abc12_iter_1.txt", "notes"]:
        put(folder / name, "x")
    kept.forget_iterations(places, Run({"loop_id": "abc12", "judged": 25}))

    assert sorted(os.listdir(folder)) == [
        "abc12_iter_1.txt", "abc12_iter_6.jsonl", "notes", "xyz12_iter_1.pid",
    ]  # fmt: skip


def test_what_is_old_goes(places: Places) -> None:
    folder, now = Path(places.transcripts), time.time()
    kept.forget_old(places, now)
    for name in ("old_iter_1.jsonl", "new_iter_1.jsonl", "old.txt"):
        put(folder / name, "x")
    for name in ("old_iter_1.jsonl", "old.txt"):
        os.utime(folder / name, (now - 31 * 86_400, now - 31 * 86_400))
    put(folder / "old_iter_2.jsonl" / "x", "a folder, which is none of ours")
    os.utime(folder / "old_iter_2.jsonl", (0, 0))
    kept.forget_old(places, now)

    assert sorted(os.listdir(folder)) == ["new_iter_1.jsonl", "old.txt", "old_iter_2.jsonl"]


def test_an_iteration_is_cut_when_it_was_judged(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept.trim, "__defaults__", (1_000,))
    scene.run(entry(stderr("x" * 5_000)), said(DONE), completion_promise="DONE", max_iterations=1)
    [path] = Path(Places(Workspace(str(scene.project))).transcripts).glob("*.err")

    assert path.stat().st_size < 1_100
