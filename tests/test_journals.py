from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from sisyphus import journals

if TYPE_CHECKING:
    from pathlib import Path


def _found(folder: Path) -> set[str]:
    return {session for session, _, _ in journals.listed(str(folder))}


def test_only_a_file_whose_name_has_a_sessions_id_is_a_journal(tmp_path: Path) -> None:
    put(tmp_path / "journal-s1.jsonl", "")
    put(tmp_path / "journal-s.2@a1.jsonl", "")
    for name in ("\x1b[31mRED", "..", "", "a b"):
        put(tmp_path / f"journal-{name}.jsonl", "")
    put(tmp_path / "journal-s3.jsonl" / "x", "")
    put(tmp_path / "journal-.jsonl.tmp", "")
    put(tmp_path / "debug.log", "")
    put(tmp_path / "journal.jsonl", "")
    assert _found(tmp_path) == {"s1"}


def test_one_that_cannot_be_asked_hides_no_other(tmp_path: Path) -> None:
    put(tmp_path / "journal-s1.jsonl", "")
    (tmp_path / "journal-s2.jsonl").symlink_to("journal-s2.jsonl")
    (tmp_path / "journal-s3.jsonl").symlink_to("nowhere")
    assert _found(tmp_path) == {"s1"}


def test_without_a_folder_there_is_none(tmp_path: Path) -> None:
    assert _found(tmp_path / "logs") == set()
