from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from making import COMMAND, put
from typer.testing import CliRunner

from cli.screen import on_a_terminal
from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

PLAN = "# Shop\n\n- [x] one\n- [ ] two\n- [ ] three\n"


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put(project / ".claude/PLAN.md", PLAN)
    monkeypatch.chdir(project)
    return project


def _run(*words: str) -> str:
    return CliRunner().invoke(app, ["boulder", *words], catch_exceptions=False).stdout


def _json(*words: str) -> Any:
    return json.loads(_run(*words, "--json"))


def test_without_a_plan_status_says_how_to_begin(project: Path) -> None:
    assert "sisyphus boulder start" in _run("status", "--project", str(project))


def test_any_plan_file_can_be_looked_at_without_being_followed(tmp_path: Path, home: Path) -> None:
    plan = put(tmp_path / "other.md", "- [ ] a\n- [x] b\n")

    answer = _json("status", "--plan", str(plan))

    assert (answer["state"], answer["next_task"]) == ("active", "a")
    assert not (home / ".claude").exists()


NO_PLAN_FILES = [
    pytest.param("nope.md", "no such file: ", id="nothing there"),
    pytest.param("docs", " is not a file. ", id="a folder"),
    pytest.param("binary.md", "binary.md: binary.", id="a binary"),
]


@pytest.mark.parametrize(("name", "told"), NO_PLAN_FILES)
def test_what_is_no_plan_file_is_an_error_and_clears_nothing(
    tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / "docs").mkdir()
    put(tmp_path / "binary.md", b"\0")

    with pytest.raises(SisyphusError) as caught:
        _run("status", "--plan", str(tmp_path / name))

    assert told in str(caught.value)
    assert "clear" not in str(caught.value)


def test_programs_are_told_that_a_plan_file_is_missing(tmp_path: Path) -> None:
    assert _json("status", "--plan", str(tmp_path / "nope.md"))["state"] == "missing"


def test_a_plan_that_cannot_be_read_is_named_where_none_is_shown(
    shop: Path, tmp_path: Path
) -> None:
    _run("start")
    plan = put(tmp_path / "b/.claude/PLAN.md", b"\xff")
    os.chdir(tmp_path / "b")

    assert f"In use elsewhere: {shop}" in _run("status")
    assert _run("status").endswith(f"\n\nCannot be read: {plan}: not UTF-8\n")
    assert "Cannot be read" not in _run("status", "--project", str(shop))


def test_where_none_of_several_plans_is_chosen_they_are_shown(shop: Path) -> None:
    put(shop / "PLAN.md", "# Other\n- [ ] x\n")

    text = _run("status")

    assert text.startswith("No plan is chosen here. Open plans:\n\n")
    assert text.endswith("\n\nTo continue one: sisyphus boulder start NAME\n")
    assert sorted(row["plan_name"] for row in _json("status")["open_plans"]) == ["Other", "Shop"]


def test_a_plan_elsewhere_is_called_so(shop: Path, tmp_path: Path) -> None:
    _run("start")
    (tmp_path / "empty/.git").mkdir(parents=True)
    os.chdir(tmp_path / "empty")

    assert f"In use elsewhere: {shop}" in _run("status")


@pytest.mark.usefixtures("shop")
def test_the_list_shows_all_projects_or_one(tmp_path: Path) -> None:
    assert _run("list").startswith("No plan is followed in any project.")
    _run("start")
    put(tmp_path / "two/PLAN.md", "# Two\n- [ ] x\n")
    _run("start", "--project", str(tmp_path / "two"))

    assert {row["plan_name"] for row in _json("list")} == {"Two", "Shop"}
    assert "Shop" in _run("list")
    assert "Shop" not in _run("list", "--project", str(tmp_path / "two"))


@pytest.mark.usefixtures("shop")
def test_the_todos_of_a_plan_without_any() -> None:
    _run("start")

    assert _run("todos") == "No todos.\n"
    assert _json("todos") == []


@pytest.mark.usefixtures("shop")
def test_the_history_ends_with_the_latest() -> None:
    _run("start")
    for number in range(22):
        _run("checkpoint", f"number {number}")
    _run("clear")

    rows = _json("history")

    assert [row["what"] for row in rows] == ["checkpoint"] * 19 + ["cleared"]
    assert [row["message"] for row in _json("history", "-n", "2")] == ["number 21", "number 21"]
    assert "  checkpoint  Shop  (user)\n  number 21\n" in _run("history")


def test_the_history_of_all_projects_names_each(shop: Path, tmp_path: Path) -> None:
    _run("start")
    _run("checkpoint", "x")
    os.chdir(tmp_path)

    assert _run("history").startswith("Nothing yet")
    assert f"  Shop in {shop}  (user)" in _run("history", "--all")
    assert _json("history", "--all")[0]["plan_name"] == "Shop"


@pytest.mark.usefixtures("shop")
def test_a_terminal_gets_colours_and_no_more_than_its_width() -> None:
    _run("start")

    lines = on_a_terminal([COMMAND, "boulder", "status"], columns=40).text.splitlines()

    assert lines[0] == "\x1b[1mShop\x1b[0m\x1b[32m  (active)\x1b[0m"


PLAIN = [
    pytest.param({"NO_COLOR": "1"}, id="who wants no colour"),
    pytest.param({"TERM": "dumb"}, id="a terminal without any"),
]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("env", PLAIN)
@pytest.mark.parametrize("command", ["status", "list"])
def test_some_get_no_colours(command: str, env: dict[str, str]) -> None:
    _run("start")

    assert "\x1b" not in on_a_terminal([COMMAND, "boulder", command], env=env).text


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("columns", [0, 5, 30, 60])
@pytest.mark.parametrize("command", ["status", "list", "history", "todos"])
def test_no_line_is_longer_than_the_terminal_is_wide(command: str, columns: int) -> None:
    _run("start")
    _run("checkpoint", "word " * 100)

    shown = on_a_terminal([COMMAND, "boulder", command], columns=columns, env={"NO_COLOR": "1"})

    longest = max(map(len, shown.text.splitlines()))
    assert shown.code == 0
    assert longest <= max(columns, 24) or not columns


@pytest.mark.usefixtures("shop")
def test_who_pipes_gets_whole_lines() -> None:
    _run("start")

    text = _run("list")

    assert text.splitlines()[1].endswith("  .claude/PLAN.md")


ENCODINGS = [
    pytest.param("latin-1", "[######", "Caf\xe9 ?", id="latin"),
    pytest.param("utf-8", "██████", "Café →", id="all there is"),
]


@pytest.mark.parametrize(("encoding", "bar", "name"), ENCODINGS)
def test_a_terminal_gets_the_characters_that_it_has(
    shop: Path, encoding: str, bar: str, name: str
) -> None:
    put(shop / ".claude/PLAN.md", PLAN.replace("Shop", "Café →"))
    _run("start")

    shown = on_a_terminal(
        [COMMAND, "boulder", "status"], env={"PYTHONIOENCODING": encoding, "NO_COLOR": "1"}
    )

    assert shown.code == 0
    assert shown.written.decode(encoding).startswith(f"{name}  (active)\r\n{bar}")


def test_json_is_whole_in_every_encoding(shop: Path) -> None:
    put(shop / ".claude/PLAN.md", PLAN.replace("Shop", "Café →"))
    _run("start")

    shown = on_a_terminal(
        [COMMAND, "boulder", "status", "--json"], env={"PYTHONIOENCODING": "latin-1"}
    )

    assert json.loads(shown.written.decode("latin-1"))["plan_name"] == "Café →"


ASKED = [
    pytest.param("n", 1, True, id="no"),
    pytest.param("y", 0, False, id="yes"),
]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(("key", "code", "is_followed"), ASKED)
@pytest.mark.parametrize("is_readable", [True, False])
def test_a_person_is_asked_before_a_plan_is_cleared(
    shop: Path, key: str, code: int, is_followed: bool, is_readable: bool
) -> None:
    _run("start")
    if not is_readable:
        put(shop / ".claude/PLAN.md", b"\xff")

    shown = on_a_terminal([COMMAND, "boulder", "clear"], keys=[("[y/N]", f"{key}\n")])

    assert shown.code == code
    assert "Stop following Shop (1/3 tasks complete)?" in shown.text
    assert bool(_json("list")) is is_followed


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("words", [["--yes"], ["-y"], ["--json"]])
def test_who_does_not_want_to_be_asked_is_not(words: list[str]) -> None:
    _run("start")

    assert on_a_terminal([COMMAND, "boulder", "clear", *words]).code == 0
    assert _json("list") == []


def test_without_anything_to_clear_nobody_is_asked(project: Path) -> None:
    shown = on_a_terminal([COMMAND, "boulder", "clear", "--project", str(project)])

    assert shown.code == 1
    assert "nothing to clear" in shown.text
