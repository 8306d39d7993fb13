from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import put

from boulder.scene import DONE, PLAN, Scene
from sisyphus.boulder.choose import choose
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
]


@pytest.mark.parametrize(("name", "file"), NAMED)
def test_a_plan_is_meant_by(plans: Scene, name: str, file: str) -> None:
    assert os.path.basename(choose(plans.space(), name).path) == file


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


def test_a_followed_plan_in_an_unusual_place_is_known_by_name(scene: Scene) -> None:
    from sisyphus.boulder import actions

    scene.write(PLAN, "notes/todo.md")
    actions.start(scene.space(), "notes/todo.md")
    scene.edit(PLAN.replace("[ ] two", "[x] two"), "notes/todo.md")
    assert choose(scene.space(), "todo").plan.counts.completed == 2
    assert scene.in_use
    assert scene.in_use["progress"]["completed"] == 2


def test_a_long_list_is_cut(scene: Scene) -> None:
    for number in range(25):
        scene.write(f"# Plan {number:02}\n- [ ] a\n", f".claude/plans/{number:02}.md")
    with pytest.raises(SisyphusError, match=r"Plan 05 \(.claude/plans/05.md\) and 5 more$"):
        choose(scene.space())
