from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import put

from boulder.scene import DONE, PLAN, Scene
from sisyphus.boulder import actions
from sisyphus.boulder.choose import choose, names_of_plans, unreadable_plans
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def plans(scene: Scene) -> Scene:
    """Three open plans and a complete one."""
    scene.write("# Docs audit\n- [ ] a\n", "docs/kord/plans/epic-13-docs.md")
    scene.write("# Login\n- [ ] a\n", ".claude/plans/login.md")
    scene.write("# Login page\n- [ ] a\n", ".claude/plans/page.md")
    scene.write("# Old docs\n- [x] a\n", "docs/kord/plans/old.md")
    return scene


NAMED = [
    pytest.param("Docs audit", "epic-13-docs.md", id="its name"),
    pytest.param("docs AUDIT", "epic-13-docs.md", id="in any case"),
    pytest.param("login", "login.md", id="exactly, though it is a part of another"),
    pytest.param("epic-13-docs", "epic-13-docs.md", id="its file"),
    pytest.param("13", "epic-13-docs.md", id="a part of its file"),
    pytest.param("audit", "epic-13-docs.md", id="a part of its name"),
    pytest.param("docs", "epic-13-docs.md", id="a part that a complete one shares"),
    pytest.param("docs/kord/plans/epic-13-docs.md", "epic-13-docs.md", id="its path"),
    pytest.param("./.claude/plans/page.md", "page.md", id="its path from here"),
    pytest.param("login.md", "login.md", id="its file with the ending"),
    pytest.param("kord", "epic-13-docs.md", id="a part of its place"),
]


@pytest.mark.parametrize(("name", "file"), NAMED)
def test_a_plan_is_meant_by(plans: Scene, name: str, file: str) -> None:
    assert os.path.basename(choose(plans.space(), name).path) == file


def test_a_name_goes_before_a_place(scene: Scene) -> None:
    audit = scene.write("# Docs audit\n- [ ] a\n", ".claude/plans/audit.md")
    scene.write("# One\n- [ ] a\n", "docs/kord/plans/one.md")
    scene.write("# Two\n- [ ] a\n", "docs/kord/plans/two.md")
    assert choose(scene.space(), "docs").path == str(audit)


def test_a_file_goes_before_a_part_of_a_name(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.write("# Plan of docs\n- [ ] a\n", ".claude/plans/docs.md")
    assert choose(scene.space(), "PLAN").path == str(plan)


def test_an_open_plan_goes_before_a_complete_one_of_the_same_name(scene: Scene) -> None:
    scene.write("# Login\n- [x] a\n", ".claude/plans/old.md")
    plan = scene.write("# Login page\n- [ ] a\n", ".claude/plans/login.md")
    assert choose(scene.space(), "login").path == str(plan)


UNCLEAR = [
    pytest.param("", "several plans are open; name one: Login page", id="no name, three open"),
    pytest.param("log", "'log' fits several plans; name one: Login page", id="a part of two"),
    pytest.param("nothing", "no plan is called 'nothing'. Open plans: Login page", id="no match"),
    pytest.param("old", "docs/kord/plans/old.md is complete", id="a complete one"),
    pytest.param("missing.md", "no plan is called 'missing.md'", id="a file that is not there"),
]


@pytest.mark.parametrize(("name", "words"), UNCLEAR)
def test_the_answer_says_what_is_unclear(plans: Scene, name: str, words: str) -> None:
    with pytest.raises(SisyphusError) as caught:
        choose(plans.space(), name)
    assert words in str(caught.value)


def test_where_there_is_no_plan_the_way_to_one_is_told(scene: Scene) -> None:
    with pytest.raises(SisyphusError, match="None is open here: write one as "):
        choose(scene.space(), "nothing")


def test_the_current_plan_goes_before_other_open_ones(plans: Scene) -> None:
    plans.edit(PLAN)
    assert choose(plans.space()).name == "Ship it"


def test_a_current_plan_that_is_complete_does_not_count(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.write(DONE)
    scene.write("- [ ] a\n", ".claude/plans/next.md")
    assert choose(scene.space()).name == "next"


def test_any_file_may_be_named(scene: Scene, tmp_path: Path) -> None:
    inside, outside = scene.write(PLAN, "docs/todo.md"), put(tmp_path / "todo.md", PLAN)
    assert choose(scene.space(), "docs/todo.md").path == str(inside)
    assert choose(scene.space(), str(outside)).path == str(outside)


@pytest.mark.parametrize(
    ("text", "words"), [(b"text", "has no tasks"), (b"\xff", "not UTF-8")], ids=["text", "bytes"]
)
def test_a_file_without_work_in_it_is_refused(scene: Scene, text: bytes, words: str) -> None:
    put(scene.project / "todo.md", text)
    with pytest.raises(SisyphusError, match=words):
        choose(scene.space(), "todo.md")


def test_without_any_plan_the_answer_says_how_to_write_one(scene: Scene) -> None:
    with pytest.raises(SisyphusError, match=r"Write one to \.claude/PLAN\.md, with tasks like"):
        choose(scene.space())


def test_plans_that_cannot_be_read_are_named_with_the_reason(scene: Scene) -> None:
    scene.write(DONE, ".claude/plans/done.md")
    for name in ("one", "t\x1bwo"):
        put(scene.project / f".claude/plans/{name}.md", b"\xff")
    for told in (unreadable_plans(scene.space()), [_why_none(scene)]):
        text = "; ".join(told)
        assert text.isprintable()
        assert "/.claude/plans/one.md: not UTF-8" in text
        assert "/.claude/plans/t wo.md: not UTF-8" in text
        assert "done" not in text


def test_the_current_plan_is_named_too_where_it_cannot_be_read(scene: Scene) -> None:
    scene.write(PLAN, "notes/todo.md")
    actions.start(scene.space(), "notes/todo.md")
    put(scene.project / "notes/todo.md", b"\xff")
    assert "that can be read: " in _why_none(scene)
    assert _why_none(scene).endswith("/notes/todo.md: not UTF-8. Mend the file.")


def _why_none(scene: Scene) -> str:
    with pytest.raises(SisyphusError, match="no open plan in") as caught:
        choose(scene.space())
    return str(caught.value)


def test_plans_of_the_plan_mode_are_offered_and_found_by_name(scene: Scene) -> None:
    idea = scene.write("# Idea\n- [ ] a\n", "plans/happy-cat.md", scene.home)
    with pytest.raises(SisyphusError, match="or name one of the plan mode: Idea"):
        choose(scene.space())
    assert choose(scene.space(), "happy-cat").path == str(idea)


FOLDERS = [
    pytest.param("home", "elsewhere", True, id="the user's setting"),
    pytest.param("project", "drafts", True, id="the project's setting, within it"),
    pytest.param("project", "../drafts", False, id="the project's setting, out of it"),
    pytest.param("project", 7, False, id="no text"),
]


@pytest.mark.parametrize(("whose", "named", "found"), FOLDERS)
def test_the_plan_mode_may_keep_its_plans_in_another_folder(
    scene: Scene, whose: str, named: object, found: bool
) -> None:
    home = scene.home if whose == "home" else scene.project / ".claude"
    put(home / "settings.json", json.dumps({"plansDirectory": named}))
    put(scene.project / str(named) / "idea.md", PLAN)
    if found:
        assert choose(scene.space(), "idea").name == "Ship it"
    else:
        with pytest.raises(SisyphusError, match="no plan is called"):
            choose(scene.space(), "idea")


@pytest.mark.parametrize("named", ["", "a\0b", "\ud800", "x" * 5_000])
def test_a_folder_that_no_path_names_counts_as_none(scene: Scene, named: str) -> None:
    put(scene.project / ".claude/settings.json", json.dumps({"plansDirectory": named}))
    put(scene.home / "plans/idea.md", PLAN)
    assert choose(scene.space(), "idea").name == "Ship it"


def test_a_followed_plan_in_an_unusual_place_is_known_by_name(scene: Scene) -> None:
    scene.write(PLAN, "notes/todo.md")
    actions.start(scene.space(), "notes/todo.md")
    scene.edit(PLAN.replace("[ ] two", "[x] two"), "notes/todo.md")
    assert choose(scene.space(), "todo").plan.counts.completed == 2
    assert scene.in_use
    assert scene.in_use["progress"]["completed"] == 2


def test_a_long_list_is_cut(scene: Scene) -> None:
    for number in range(15):
        scene.write(f"# Plan {number:02}\n- [ ] a\n", f".claude/plans/{number:02}.md")
    with pytest.raises(SisyphusError, match=r"Plan 05 \(.claude/plans/05.md\) and 5 more$") as told:
        choose(scene.space())
    assert "name one: Plan 14 (.claude/plans/14.md), Plan 13 " in str(told.value)


def test_a_followed_plan_that_is_gone_is_called_gone(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()
    for name in ("ship it", "plan"):
        with pytest.raises(SisyphusError, match=r"PLAN\.md is gone\. Restore the file, or name"):
            choose(scene.space(), name)


def test_what_a_stranger_wrote_is_told_on_one_line(scene: Scene) -> None:
    scene.write('---\nname: "a\\x1b[31m\\nb"\n---\n- [ ] x\n', ".claude/plans/one.md")
    scene.write("- [ ] x\n", ".claude/plans/t\x1bwo.md")
    scene.write("text\n", ".claude/plans/th\nree.md")
    for name in ("", "nothing\x1b\n", "th\nree", "x" * 1_000):
        with pytest.raises(SisyphusError) as caught:
            choose(scene.space(), name)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 600


def test_the_session_that_asks_goes_on_with_its_own_plan(scene: Scene) -> None:
    scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md", session="s2")
    scene.edit(PLAN)
    assert choose(scene.space(), session="s2").name == "Second"
    assert choose(scene.space(), session="s1").name == "Ship it"


def test_where_there_is_too_much_to_read_a_plan_is_known_by_its_file(scene: Scene) -> None:
    wide = scene.write("# Wide\n- [ ] a\n", ".claude/plans/wide.md")
    with wide.open("ab") as file:
        file.truncate(60_000_000)
    scene.write(PLAN, ".claude/plans/ship.md")
    assert choose(scene.space(), "ship").name == "Ship it"
    with pytest.raises(SisyphusError, match="no plan is called 'Ship it'"):
        choose(scene.space(), "Ship it")


def test_the_names_of_plans_are_those_of_their_files_newest_first(scene: Scene) -> None:
    scene.write(PLAN, "notes/todo.md")
    actions.start(scene.space(), "notes/todo.md")
    scene.write(PLAN)
    scene.write(DONE, ".claude/plans/old one.md")
    scene.write(PLAN, ".claude/plans/a\nb.md")
    assert names_of_plans(scene.space()) == ["old one", "PLAN", "todo"]
