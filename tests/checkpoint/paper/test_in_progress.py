from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checkpoint.telling import ROOT, a_plan, a_situation, called, edited, hunk, wrote
from sisyphus.checkpoint.paper.in_progress import files_in_progress, relative

if TYPE_CHECKING:
    from pathlib import Path

A = f"{ROOT}/src/a.py"
SOURCE = """\
import os


class Reader:
    def read(self, path):
        return path

    x = 1


def last():
    return 1
"""


def _files(*calls: list[dict[str, object]], text: str = "", **fields: object) -> list[object]:
    return list(files_in_progress(a_situation(*calls, text_of=lambda _: text, **fields)))


def _lines(*starts: int, text: str = "") -> str:
    calls = (edited(A, hunk(start, "-x", "+y")) for start in starts)
    (found,) = files_in_progress(a_situation(*calls, text_of=lambda _: text))
    return found["lines"]


def test_a_file_is_told_with_its_lines_and_what_stands_there() -> None:
    assert _files(edited(A, hunk(6, "-x", "+y")), text=SOURCE) == [
        {
            "path": "src/a.py",
            "lines": "6",
            "description": "def read(self, path)",
            "line": 6,
        }
    ]


LINES = [
    pytest.param([5], "5", id="one"),
    pytest.param([5, 6, 7], "5-7", id="neighbours"),
    pytest.param([9, 5], "5, 9", id="in their order"),
    pytest.param([5, 8], "5-8", id="close together"),
    pytest.param([10, 20, 30, 40, 52, 60, 70], "10-20, 30, 40, 52-60, 70", id="only a few"),
]


@pytest.mark.parametrize(("starts", "lines"), LINES)
def test_lines_are_joined(starts: list[int], lines: str) -> None:
    assert _lines(*starts) == lines


def test_what_is_not_there_any_more_is_left_out() -> None:
    assert _lines(2, 99, text=SOURCE) == "2"
    assert _files(wrote(A, "x\n" * 99), text=SOURCE)[0] == {
        "path": "src/a.py",
        "lines": "1-12",
        "description": "class Reader",
        "line": 1,
    }


def test_the_latest_files_come_first_and_there_are_five() -> None:
    calls = [edited(f"{ROOT}/{name}", hunk(1, "+x")) for name in "abcdefga"]
    found = files_in_progress(a_situation(*calls))
    assert [file["path"] for file in found] == ["a", "g", "f", "e", "d"]


def test_bookkeeping_is_no_work() -> None:
    plan = a_plan()
    names = (
        plan["active_plan"] or "",
        f"{ROOT}/.claude/handoffs/x.md",
        f"{ROOT}/.claude/PROMPT.md",
    )
    assert _files(*(edited(name, hunk(1, "+x")) for name in names), plan=plan) == []


def test_a_file_of_which_no_lines_are_known() -> None:
    notebook = called("NotebookEdit", {"notebook_path": f"{ROOT}/n.ipynb"}, {})
    assert _files(notebook) == [{"path": "n.ipynb", "lines": "", "description": ""}]


def test_a_path_outside_the_project_stays_whole() -> None:
    assert relative("/etc/x", ROOT) == "/etc/x"
    assert relative("/etc/x", "") == "/etc/x"


def test_a_project_may_be_known_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert relative(f"{tmp_path}/link/a.py", str(tmp_path / "real")) == "a.py"


DESCRIBED = [
    ("a.py", "def f(x):\n    y", 2, "def f(x)"),
    ("a.py", "async def f(x):\n    y", 2, "async def f(x)"),
    ("a.py", "class A(B):\n    x", 2, "class A(B)"),
    ("a.py", "x = 1\n\ny = 2", 3, "y = 2"),
    ("a.py", "# Heading\nx = 1", 2, "x = 1"),
    ("a.py", "def f():\n  x\n\n\ndef g():\n  y", 4, "def f()"),
    ("a.ts", "export async function f(a) {\n  x", 2, "export async function f(a)"),
    ("a.ts", "const f = async (a) => {\n  x", 2, "const f = async (a) =>"),
    ("a.ts", "export default class A {\n  x", 2, "export default class A"),
    ("a.ts", "interface A {\n  x", 2, "interface A"),
    ("a.test.ts", "describe('a', () => {\n  x", 2, "describe('a', () =>"),
    ("a.go", "func (r *R) F(a int) error {\n  x", 2, "func (r *R) F(a int) error"),
    ("a.rs", "pub(crate) fn f() -> u8 {\n  x", 2, "pub(crate) fn f() -> u8"),
    ("a.rs", "impl A for B {\n  x", 2, "impl A for B"),
    ("A.java", "class A {\n  public int f(int a) {\n    x;", 3, "public int f(int a)"),
    ("a.c", "static int f(int a)\n{\n  x;", 3, "static int f(int a)"),
    ("a.c", "int f(int a) {\n  if (a) {\n    x;", 3, "int f(int a)"),
    ("a.sql", "CREATE TABLE a (\n  x int", 2, "CREATE TABLE a ("),
    ("a.md", "# A\n\n## B\n\ntext", 5, "## B"),
    ("a.md", "text\nclass A", 2, "class A"),
    ("a.toml", "[tool.x]\na = 1", 2, "[tool.x]"),
    ("a.txt", "\n\n  words  \n", 2, "")
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "words"), DESCRIBED)
def test_the_nearest_definition_describes_an_edit(
    name: str, text: str, line: int, words: str
) -> None:
    (found,) = files_in_progress(
        a_situation(edited(f"{ROOT}/{name}", hunk(line, "-a", "+b")), text_of=lambda _: text)
    )
    assert found["description"] == words


def test_an_edit_that_brings_a_definition_is_described_by_it() -> None:
    (found,) = files_in_progress(
        a_situation(
            edited(A, hunk(9, "+", "+def last():", "+    return 1")), text_of=lambda _: SOURCE
        )
    )
    assert found["description"] == "def last()"


@pytest.mark.parametrize(
    "line", ["a " * 200, "((" * 200, "pub " * 99, "a" * 300, "const x = " * 40]
)
def test_a_hostile_text_takes_no_longer(line: str) -> None:
    text = "\n".join([line] * 3_000)
    (found,) = files_in_progress(
        a_situation(edited(A, hunk(2_999, "-a", "+b")), text_of=lambda _: text)
    )
    assert len(found["description"]) <= 100
