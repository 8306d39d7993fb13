from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import a_space, debug_log, put

from sisyphus.context.collect import TOTAL_CHARACTERS, Document, collect, folder_readmes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def project(project: Path) -> Path:
    """A project whose AGENTS.md is not the client's job."""
    put(project / "CLAUDE.md", "Be kind.\n")
    return project


def _shown(project: Path) -> dict[str, Document]:
    return {document.name: document for document in collect(a_space(project))[0]}


def _skipped(project: Path, name: str) -> str:
    return collect(a_space(project))[1].get(name, "")


def test_both_documents_of_the_root_are_found_readme_first(project: Path) -> None:
    put(project / "README.md", "# Ours\n\nHow to build.\n\n")
    put(project / "AGENTS.md", "Be brief.\n")
    found, skipped = collect(a_space(project))
    assert [(d.name, d.text, d.shown) for d in found] == [
        ("README.md", "# Ours\n\nHow to build.", ""),
        ("AGENTS.md", "Be brief.", ""),
    ]
    assert found[0].path == str(project / "README.md")
    assert skipped == {}


def test_a_session_in_a_folder_below_sees_those_of_the_root(project: Path) -> None:
    put(project / "README.md", "of the root\n")
    put(project / "src" / "README.md", "of the folder\n")
    assert _shown(project / "src")["README.md"].text == "of the root"


def test_missing_documents_are_skipped_silently(home: Path, project: Path) -> None:
    assert collect(a_space(project)) == ([], {"AGENTS.md": "absent", "README.md": "absent"})
    assert debug_log(home) == ""


def _link_out(path: str) -> None:
    os.symlink("/etc/hostname", path)


def _folder(path: str) -> None:
    os.mkdir(path)


SKIPPED: list[object] = [
    pytest.param(lambda path: put_bytes(path, b"\x89PNG\0\0"), "binary", id="binary"),
    pytest.param(lambda path: put_bytes(path, b"caf\xe9"), "not UTF-8", id="not UTF-8"),
    pytest.param(
        lambda path: put_bytes(path, b"x" * 1_000_001),
        "too large (over 1,000,000 bytes)",
        id="over 1 MB",
    ),
    pytest.param(lambda path: put_bytes(path, b" \n\t\n"), "empty", id="blank"),
    pytest.param(os.mkfifo, "not a regular file", id="a FIFO"),
    pytest.param(_folder, "not a regular file", id="a folder"),
    pytest.param(lambda path: os.symlink("gone", path), "No such file", id="a broken link"),
    pytest.param(_link_out, "leaves ", id="a link that leaves the project"),
]


def put_bytes(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md"])
@pytest.mark.parametrize(("make", "reason"), SKIPPED)
def test_what_is_no_readable_text_of_the_project_is_skipped(
    project: Path, name: str, make: Callable[[str], None], reason: str
) -> None:
    make(str(project / name))
    assert _shown(project) == {}
    assert _skipped(project, name).startswith(reason)


def test_a_link_that_stays_in_the_project_is_followed(project: Path) -> None:
    put(project / "docs" / "index.md", "How to build.\n")
    (project / "README.md").symlink_to("docs/index.md")
    assert _shown(project)["README.md"].text == "How to build."


def test_of_a_very_large_readme_the_first_500_lines_are_shown(project: Path) -> None:
    put(project / "README.md", "".join(f"line {n}\n" for n in range(1, 1_201)))
    document = _shown(project)["README.md"]
    assert document.shown == "first 500 of 1,200 lines"
    assert document.text.endswith(
        "line 500\n\n[README.md is cut after line 500 of 1,200: read the file for the rest.]"
    )


def test_a_readme_of_500_lines_is_whole(project: Path) -> None:
    text = "\n".join(f"line {n}" for n in range(1, 501))
    put(project / "README.md", text + "\n")
    assert _shown(project)["README.md"].text == text


def test_a_line_ends_where_an_editor_says_so(project: Path) -> None:
    put(project / "README.md", "a\fb\u2028c\x85d\r\n" * 500)
    assert _shown(project)["README.md"].shown == ""


def test_agents_md_is_shown_in_full_length(project: Path) -> None:
    text = "\n".join(f"line {n}" for n in range(1, 2_001))
    put(project / "AGENTS.md", text)
    assert _shown(project)["AGENTS.md"].text == text


def test_both_together_have_at_most_50_000_characters(project: Path) -> None:
    put(project / "README.md", ("r" * 99 + "\n") * 490)
    put(project / "AGENTS.md", ("a" * 99 + "\n") * 200)
    shown = _shown(project)
    assert sum(len(document.text) for document in shown.values()) <= TOTAL_CHARACTERS
    assert shown["AGENTS.md"].shown == ""
    assert shown["README.md"].shown == "first 298 of 490 lines"


def test_50_000_characters_count_code_points(project: Path) -> None:
    put(project / "README.md", "😀" * (TOTAL_CHARACTERS))
    assert _shown(project)["README.md"].shown == ""


def test_an_agents_md_alone_is_cut_at_50_000_characters(project: Path) -> None:
    put(project / "AGENTS.md", ("a" * 99 + "\n") * 600)
    document = _shown(project)["AGENTS.md"]
    assert document.shown == "first 498 of 600 lines"
    assert document.text.endswith("read the file for the rest.]")


def test_a_readme_for_which_there_is_no_room_is_named(project: Path) -> None:
    put(project / "AGENTS.md", "a" * TOTAL_CHARACTERS)
    put(project / "README.md", "r\n")
    assert _skipped(project, "README.md") == "no room left in 50,000 characters"


CHOICES = [
    pytest.param("auto", True, "", id="auto where the client does not load it"),
    pytest.param("auto", False, "Claude Code loads it", id="auto where the client does"),
    pytest.param("always", False, "", id="always"),
    pytest.param("never", True, 'context.agents_md is "never"', id="never"),
    pytest.param("sometimes", False, "Claude Code loads it", id="a wrong choice is auto"),
]


@pytest.mark.parametrize(("choice", "beside_claude_md", "reason"), CHOICES)
def test_agents_md_goes_by_the_setting(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    beside_claude_md: bool,
    reason: str,
) -> None:
    monkeypatch.setenv("SISYPHUS_CONTEXT_AGENTS_MD", choice)
    put(project / "AGENTS.md", "Be brief.\n")
    put(project / "CLAUDE.md", "Be kind.\n" if beside_claude_md else "")
    assert _skipped(project, "AGENTS.md").startswith(reason)
    assert ("AGENTS.md" in _shown(project)) is (reason == "")


def test_a_readme_that_a_claude_md_imports_is_the_clients(project: Path) -> None:
    put(project / "README.md", "# Ours\n")
    put(project / "CLAUDE.md", "@README.md\n")
    assert _skipped(project, "README.md") == "a CLAUDE.md loads it"


def test_a_readme_that_is_agents_md_is_shown_once(project: Path) -> None:
    put(project / "AGENTS.md", "Be brief.\n")
    (project / "README.md").symlink_to("AGENTS.md")
    assert list(_shown(project)) == ["AGENTS.md"]
    assert _skipped(project, "README.md") == "it is AGENTS.md by another name"


@pytest.fixture
def deep(project: Path) -> Path:
    """A file three folders down, with a README.md in the root, the first and the third."""
    for name in ("README.md", "a/README.md", "a/b/c/README.md"):
        put(project / name, f"of {name}\n")
    return put(project / "a" / "b" / "c" / "users.py", "pass\n")


def test_the_readmes_between_a_file_and_the_root_are_found(project: Path, deep: Path) -> None:
    found = folder_readmes(a_space(project), str(deep))
    assert [(d.name, d.text) for d in found] == [
        ("a/b/c/README.md", "of a/b/c/README.md"),
        ("a/README.md", "of a/README.md"),
    ]


def test_the_roots_own_readme_is_not_a_folders(project: Path) -> None:
    put(project / "README.md", "# Ours\n")
    assert folder_readmes(a_space(project), str(project / "a.py")) == []


def test_a_file_outside_the_project_has_no_folder_readme(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "other" / "README.md", "a stranger's\n")
    assert folder_readmes(a_space(project), str(tmp_path / "other" / "a.py")) == []
    (project / "link").symlink_to(tmp_path / "other")
    assert folder_readmes(a_space(project), str(project / "link" / "a.py")) == []


def test_a_folder_readme_that_cannot_be_read_is_logged(home: Path, project: Path) -> None:
    put(project / "a" / "README.md", b"\0")
    assert folder_readmes(a_space(project), str(project / "a" / "x.py")) == []
    assert "a/README.md: binary" in debug_log(home)


def test_a_long_folder_readme_is_cut_like_the_roots(project: Path) -> None:
    put(project / "a" / "README.md", "line\n" * 600)
    (found,) = folder_readmes(a_space(project), str(project / "a" / "x.py"))
    assert found.shown == "first 500 of 600 lines"
