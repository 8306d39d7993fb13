from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.documents import MAX_CHARACTERS, MAX_DEPTH, MAX_FILES, MAX_LINES, expand

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.documents import Expansion


def _expand(root: Path, text: str) -> Expansion:
    return expand(text, str(root / "rules" / "a.md"), str(root))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder to include from: `rules/a.md` includes, the others are there to be included."""
    put(tmp_path / "root/rules/b.md", "from b\n")
    put(tmp_path / "root/rules/name", "from name\n")
    put(tmp_path / "root/rules/two words.md", "from two words\n")
    put(tmp_path / "root/rules/bare.md", "no line end")
    put(tmp_path / "root/rules/head.md", "---\npaths: x\n---\nfrom head\n")
    put(tmp_path / "root/rules/broken.md", "---\nnever closed\n")
    put(tmp_path / "root/common/c.md", "from c\n@d.md\n")
    put(tmp_path / "root/common/d.md", "from d\n")
    put(tmp_path / "outside.md", "secret\n")
    return tmp_path / "root"


INCLUDED = [
    pytest.param("@b.md", "from b\n", id="a file beside it"),
    pytest.param("@./b.md\nend", "from b\nend", id="with a leading dot"),
    pytest.param("  @b.md  \nend", "from b\nend", id="with blanks around it"),
    pytest.param("one\n@b.md\ntwo\n", "one\nfrom b\ntwo\n", id="between lines"),
    pytest.param("@name\n", "from name\n", id="a file that has no ending"),
    pytest.param("@two\\ words.md\n", "from two words\n", id="a name with a blank"),
    pytest.param("@bare.md\nend", "no line end\nend", id="a file without a last line end"),
    pytest.param("@head.md\n", "from head\n", id="without its frontmatter"),
    pytest.param("@broken.md\n", "---\nnever closed\n", id="one whose frontmatter is no such"),
    pytest.param("@../common/c.md\n", "from c\nfrom d\n", id="relative to the naming file"),
    pytest.param("@b.md\n@b.md\n", "from b\nfrom b\n", id="twice where it is named twice"),
    pytest.param("@b.md\r\nend", "from b\nend", id="after a Windows line end"),
    pytest.param("```\n@x.md\n```\n@b.md\n", "```\n@x.md\n```\nfrom b\n", id="after a fence"),
]


@pytest.mark.parametrize(("text", "expanded"), INCLUDED)
def test_a_line_that_names_a_file_becomes_that_file(root: Path, text: str, expanded: str) -> None:
    expansion = _expand(root, text)

    assert expansion.text == expanded
    assert not expansion.problems
    assert expansion.files


LEFT = [
    pytest.param("see @b.md for more\n", id="in mid-sentence"),
    pytest.param("@b.md and more\n", id="not alone on its line"),
    pytest.param("```\n@b.md\n```\n", id="in a fence"),
    pytest.param("~~~~\n@b.md\n~~~\n@b.md\n~~~~\n", id="in a longer fence"),
    pytest.param("```\n@b.md\n``` x\n@b.md\n", id="in a fence that is not closed"),
    pytest.param("    @b.md\n", id="in indented code"),
    pytest.param("<!--\n@b.md\n-->\n", id="in a comment"),
    pytest.param("- a\n  ```\n  @b.md\n  ```\n", id="in a fence of a list item"),
    pytest.param("@dataclass\n", id="a word that is no file"),
    pytest.param("@\n", id="an at sign alone"),
    pytest.param("me@example.org\n", id="an address"),
    pytest.param("@a\0.md\n", id="a name that no file can have"),
    pytest.param("@" + "a/" * 400_000 + "\n", id="a name longer than any path"),
    pytest.param("", id="nothing"),
]


@pytest.mark.parametrize("text", LEFT)
def test_every_other_line_is_left_as_it_is(root: Path, text: str) -> None:
    expansion = _expand(root, text)

    assert expansion.text == text
    assert not expansion.problems
    assert not expansion.files


REFUSED = [
    pytest.param("@missing.md", "No such file", id="a missing file"),
    pytest.param("@no/such/folder.md", "No such file", id="a missing folder"),
    pytest.param("@../../outside.md", "outside", id="a path that leaves"),
    pytest.param("@/etc/hostname", "outside", id="an absolute path elsewhere"),
    pytest.param("@~/x.md", "outside", id="the home folder"),
    pytest.param("@link.md", "a link out of", id="a link that leaves"),
    pytest.param("@../linked/outside.md", "a link out of", id="a linked folder that leaves"),
    pytest.param("@pipe.md", "not a regular file", id="a pipe"),
    pytest.param("@./", "not a regular file", id="a folder"),
    pytest.param("@binary.md", "binary", id="a binary file"),
    pytest.param("@latin.md", "not UTF-8", id="another encoding"),
    pytest.param("@huge.md", "too large", id="over 1 MB"),
    pytest.param("@a.md", "include itself", id="itself"),
]


@pytest.mark.parametrize(("line", "reason"), REFUSED)
def test_what_is_not_included_leaves_a_note(root: Path, line: str, reason: str) -> None:
    (root / "rules/link.md").symlink_to(root.parent / "outside.md")
    (root / "linked").symlink_to(root.parent)
    os.mkfifo(root / "rules/pipe.md")
    put(root / "rules/binary.md", b"\0")
    put(root / "rules/latin.md", b"\xe9")
    put(root / "rules/huge.md", b"x" * 1_000_001)
    put(root / "rules/a.md", "me\n")

    expansion = _expand(root, f"before\n{line}\nafter\n")

    assert expansion.text.startswith(f"before\n[not included: {line}: ")
    assert expansion.text.endswith("]\nafter\n")
    assert "secret" not in expansion.text
    (problem,) = expansion.problems
    assert reason in problem


def test_an_absolute_path_within_the_root_is_included(root: Path) -> None:
    assert _expand(root, f"@{root}/rules/b.md").text == "from b\n"


def test_a_link_within_the_root_is_included(root: Path) -> None:
    (root / "rules/link.md").symlink_to(root / "common/d.md")

    assert _expand(root, "@link.md").text == "from d\n"


def test_a_cycle_is_cut_where_it_closes(root: Path) -> None:
    put(root / "rules/x.md", "x\n@y.md\n")
    put(root / "rules/y.md", "y\n@x.md\n")

    expansion = _expand(root, "@x.md")

    assert expansion.text == "x\ny\n[not included: @x.md: it would include itself]\n"


def test_a_cycle_by_way_of_a_link_is_cut(root: Path) -> None:
    put(root / "rules/x.md", "x\n@alias.md\n")
    (root / "rules/alias.md").symlink_to(root / "rules/x.md")

    assert _expand(root, "@x.md").text.startswith("x\n[not included: @alias.md: it would")


def test_includes_are_followed_five_deep(root: Path) -> None:
    for depth in range(1, 8):
        put(root / f"rules/{depth}.md", f"level {depth}\n@{depth + 1}.md\n")

    expansion = _expand(root, "@1.md")

    levels = [line for line in expansion.text.splitlines() if line.startswith("level")]
    assert levels == [f"level {depth}" for depth in range(1, MAX_DEPTH + 1)]
    assert "[not included: @6.md: includes are followed 5 deep]" in expansion.text


def test_the_number_of_included_files_is_bounded(root: Path) -> None:
    expansion = _expand(root, "@b.md\n" * (MAX_FILES + 1))

    assert expansion.text.count("from b") == MAX_FILES
    assert len(expansion.problems) == 1


def test_lines_that_only_look_like_includes_are_bounded_too(root: Path) -> None:
    text = "@dataclass\n" * MAX_LINES

    assert _expand(root, text + "@b.md\n").text == text + "@b.md\n"
    assert _expand(root, text[len("@dataclass\n") :] + "@b.md\n").text.endswith("from b\n")


def test_includes_that_multiply_are_bounded(root: Path) -> None:
    for depth in range(1, 6):
        put(root / f"rules/{depth}.md", f"@{depth + 1}.md\n" * 50)

    expansion = _expand(root, "@1.md")

    assert len(expansion.files) == MAX_FILES


def test_what_is_included_is_bounded_in_size(root: Path) -> None:
    put(root / "rules/big.md", "x" * (MAX_CHARACTERS // 2))

    expansion = _expand(root, "@big.md\n" * 4)

    assert len(expansion.text) < MAX_CHARACTERS + 1_000
    assert len(expansion.problems) == 2


def test_every_file_that_was_looked_for_is_named(root: Path) -> None:
    files = _expand(root, "@../common/c.md\n@missing.md\n@../../outside.md\n").files

    assert files == [
        str(root / "common/c.md"),
        str(root / "common/d.md"),
        str(root / "rules/missing.md"),
    ]


@given(st.text(st.sampled_from("@`~ ./\\ab\r\n\0é"), max_size=80))
def test_whatever_the_text_nothing_is_raised(text: str) -> None:
    expand(text, "/nowhere/a.md", "/nowhere")


@given(st.text(st.characters(exclude_characters="@"), max_size=80))
def test_a_text_without_includes_is_kept_character_for_character(text: str) -> None:
    assert expand(text + "\na@b\n", "/nowhere/a.md", "/nowhere").text == text + "\na@b\n"
