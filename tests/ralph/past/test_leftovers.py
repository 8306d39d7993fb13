from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.ralph.past import leftovers

if TYPE_CHECKING:
    from pathlib import Path

T = "ralph/transcripts"
OF_ONE = (
    f"{T}/aaaaa_iter_1.txt", f"{T}/aaaaa_iter_12.jsonl", f"{T}/aaaaa_iter_1.err",
    f"{T}/aaaaa_iter_1.2.jsonl", f"{T}/aaaaa_iter_3.verify", f"{T}/aaaaa_full.txt",
    f"{T}/aaaaa_verify.txt", f"{T}/aaaaa_iterations.jsonl",
    "ralph/checklists/aaaaa-checklist.json", "ralph/checklists/aaaaa-checklist.json.lock",
)  # fmt: skip
OTHERS = (
    f"{T}/aaaaab_iter_1.txt", f"{T}/baaaaa_full.txt", f"{T}/aaaaa_iter_x.txt", f"{T}/aaaaa.txt",
    f"{T}/aaaaa_iter_1_full.txt", f"{T}/aaaaa_iter_1_iter_2.txt", f"{T}/_full.txt",
    "ralph/checklists/bbbbb-checklist.json", "ralph/loops/session-aaaaa.json",
    "logs/journal-aaaaa.jsonl",
)  # fmt: skip


def test_what_a_loop_has_left_goes_and_nothing_else(home: Path) -> None:
    for name in (*OF_ONE, *OTHERS):
        put(ours(home, name), "x")

    leftovers.remove(our_home(), {"aaaaa"})

    assert [name for name in OF_ONE if ours(home, name).exists()] == []
    assert [name for name in OTHERS if not ours(home, name).exists()] == []


def test_without_files_nothing_is_done() -> None:
    leftovers.remove(our_home(), {"aaaaa"})


IDS = [
    pytest.param("", id="none"),
    pytest.param("../x", id="one that leaves the folder"),
    pytest.param("..", id="the folder above"),
]


@pytest.mark.parametrize("loop_id", IDS)
def test_an_id_that_is_no_part_of_a_name_removes_nothing(home: Path, loop_id: str) -> None:
    names = (*OTHERS, "ralph/x-checklist.json", "ralph/checklists/-checklist.json")
    for name in names:
        put(ours(home, name), "x")
    leftovers.remove(our_home(), {loop_id})
    assert [name for name in names if not ours(home, name).exists()] == []


def test_a_link_goes_and_what_it_leads_to_stays(home: Path) -> None:
    there = put(home / "notes.txt", "mine")
    put(ours(home, f"{T}/x"), "")
    ours(home, f"{T}/aaaaa_full.txt").symlink_to(there)
    leftovers.remove(our_home(), {"aaaaa"})
    assert there.read_text() == "mine"
    assert not ours(home, f"{T}/aaaaa_full.txt").is_symlink()


def test_what_cannot_be_removed_is_told_when_everything_else_is_gone(home: Path) -> None:
    for name in OF_ONE:
        put(ours(home, name), "x")
    for name in ("aaaaa_iter_7.txt", "aaaaa_iter_8.txt"):
        ours(home, f"{T}/{name}").mkdir()

    with pytest.raises(SisyphusError, match=r"not all files are: .*aaaaa_iter_.*\(and 1 more\)"):
        leftovers.remove(our_home(), {"aaaaa"})

    assert [name for name in OF_ONE if ours(home, name).exists()] == []


def test_the_ids_of_runs_are_known_whatever_lies_there(home: Path) -> None:
    assert leftovers.of_runs(our_home()) == set()
    put(ours(home, "ralph/runs/shop.json"), json.dumps({"loop_id": "aaaaa"}))
    put(ours(home, "ralph/runs/bbbbb.json"), json.dumps({"loop_id": "bbbbb", "status": "x"}))
    put(ours(home, "ralph/runs/c.json"), json.dumps({"loop_id": 7}))
    put(ours(home, "ralph/runs/d.json"), "garbage")
    put(ours(home, "ralph/runs/e.prompt"), json.dumps({"loop_id": "eeeee"}))
    assert leftovers.of_runs(our_home()) == {"aaaaa", "bbbbb"}
