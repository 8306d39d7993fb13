"""One path, two plans: git puts another branch's plan there, or the next plan is written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import stored

from boulder.scene import ENABLED, Scene, model, user
from sisyphus.boulder import actions, enforcing
from sisyphus.boulder.store import book_path

if TYPE_CHECKING:
    from collections.abc import Callable

INVOICES = "# Invoices\n\n- [x] i1\n- [ ] i2\n- [ ] i3\n"
SEARCH = "# Search\n\n- [ ] s1\n- [ ] s2\n"
WAITS = "holds another plan now: Search, 0/2 tasks complete"


@pytest.fixture
def known(scene: Scene) -> Scene:
    """A plan of which something is known."""
    scene.edit(INVOICES)
    scene.todo("fix rounding")
    actions.checkpoint(scene.space(), "i2 half done")
    return scene


@pytest.mark.parametrize("event", ["edit", "stop", "start"])
def test_another_plan_at_the_same_path_begins_with_nothing_known(known: Scene, event: str) -> None:
    known.write(SEARCH)
    outcome = known.edit(SEARCH) if event == "edit" else getattr(known, event)()

    assert WAITS in user(outcome)
    told = model(known.start("s2"))
    assert "Active plan: Search" in told
    assert "i2 half done" not in told
    assert "fix rounding" not in told
    assert stored(known.own)["todos"] == []
    assert known.in_use
    assert known.in_use["plan_name"] == "Search"
    assert known.events()[-1] == "parked"


def test_what_waits_is_known_again_when_its_plan_is_back(known: Scene) -> None:
    known.edit(SEARCH)
    actions.checkpoint(known.space(), "s1 looked up")
    known.write(INVOICES.replace("[ ] i2", "[x] i2"))

    told = model(known.start("s2"))

    assert "Active plan: Invoices" in told
    assert "noted: i2 half done" in told or "Last checkpoint: i2 half done" in told
    assert "fix rounding" in told
    known.write(SEARCH)
    assert "s1 looked up" in model(known.start("s3"))


def test_it_waits_while_the_other_one_comes_to_its_end(known: Scene) -> None:
    known.edit(SEARCH)
    known.edit(SEARCH.replace("[ ]", "[x]"))
    known.write(INVOICES)

    assert "i2 half done" in model(known.start("s2"))


def test_another_plan_that_is_done_already_is_not_followed(known: Scene) -> None:
    outcome = known.edit(SEARCH.replace("[ ]", "[x]"))

    assert "[BOULDER COMPLETE]" not in user(outcome)
    assert known.book()["plans"] == {}
    assert known.in_use is None


def test_the_enforcement_of_a_plan_waits_with_it(known: Scene) -> None:
    enforcing.enforce(known.space(), on=True)
    known.edit(SEARCH)
    assert actions.status(known.space())["enforced"] is None
    known.edit(INVOICES)
    assert actions.status(known.space())["enforced"]


SAME = [
    pytest.param(INVOICES.replace("# Invoices", "# Bills"), id="another title"),
    pytest.param("# Invoices\n\n- [ ] one\n- [ ] two\n", id="other tasks"),
    pytest.param("# Bills\n\n- [ ] i3\n- [ ] new\n", id="one task in common"),
    pytest.param("# Bills\n\nTo be written.\n", id="no task yet"),
]


@pytest.mark.parametrize("text", SAME)
def test_a_plan_that_is_rewritten_is_the_same_plan(known: Scene, text: str) -> None:
    outcome = known.edit(text)

    assert "holds another plan" not in user(outcome)
    assert ENABLED not in user(outcome)
    assert "parked" not in known.events()


def test_only_the_last_few_wait_at_one_path(scene: Scene) -> None:
    for number in range(9):
        scene.edit(f"# Plan {number}\n\n- [ ] task {number}\n")

    [waiting] = scene.book()["parked"].values()
    assert [entry["record"]["plan_name"] for entry in waiting] == [f"Plan {n}" for n in range(3, 8)]


WRONG: list[object] = [7, [], {"x": 1}, {"/p": [1, {}, {"record": 7}, {"record": {}, "notes": 1}]}]


@pytest.mark.parametrize("found", WRONG)
def test_whatever_a_hand_wrote_about_what_waits_hurts_nobody(known: Scene, found: object) -> None:
    book = known.path(book_path(str(known.home), str(known.project)))
    known.by_hand(book, parked=found)
    known.edit(SEARCH)
    known.write(INVOICES)

    assert "i2 half done" in model(known.start("s2"))


BILLS = "docs/kord/plans/bills.md"
RENAMED = [
    pytest.param(
        "docs/kord/plans/bills.md", INVOICES.replace("[ ] i2", "[x] i2"), True, id="ticked"
    ),
    pytest.param(BILLS, INVOICES + "- [ ] i4\n", True, id="longer"),
    pytest.param("notes/bills.md", INVOICES + "- [ ] i4\n", False, id="to an unusual place"),
    pytest.param("PLAN.md", "# Invoices\n\n- [ ] other\n", False, id="other tasks"),
    pytest.param("PLAN.md", INVOICES.replace("# Invoices", "# Bills"), False, id="another title"),
]


@pytest.mark.parametrize(("name", "text", "is_same"), RENAMED)
def test_a_plan_that_was_renamed_and_changed_in_one_go_is_followed(
    known: Scene, name: str, text: str, is_same: bool
) -> None:
    (known.project / ".claude/PLAN.md").unlink()
    path = known.write(text, name)

    told = user(known.stop())

    assert (f"is {name} now; it is followed there" in told) is is_same
    assert (str(path) in known.book()["plans"] and "moved" in known.events()) is is_same


def test_a_plan_without_a_title_is_not_known_again_by_its_tasks_alone(scene: Scene) -> None:
    scene.edit("- [ ] a\n- [ ] b\n", "docs/kord/plans/a.md")
    (scene.project / "docs/kord/plans/a.md").unlink()
    scene.write("- [x] a\n- [ ] b\n", "docs/kord/plans/b.md")
    assert "deleted" in user(scene.stop())


EMPTY = ["", "# Invoices\n", "junk\n", "# Sea"]


@pytest.mark.parametrize("moment", EMPTY)
def test_a_moment_without_tasks_hides_no_other_plan(known: Scene, moment: str) -> None:
    enforcing.enforce(known.space(), on=True)
    known.write(moment)
    known.stop()
    known.write(SEARCH)

    assert WAITS in user(known.stop())
    assert actions.status(known.space())["enforced"] is None
    known.write(INVOICES)
    assert "i2 half done" in model(known.start("s2"))
    assert actions.status(known.space())["enforced"]


def test_a_record_that_changes_with_its_plan_is_about_that_plan(scene: Scene) -> None:
    def check_out(plan: str, record: bytes) -> None:
        scene.theirs.write_bytes(record)
        scene.write(plan)
        scene.prompt()

    scene.edit(INVOICES)
    actions.start(scene.space(), in_repo=True)
    actions.checkpoint(scene.space(), "invoices note")
    invoices = scene.theirs.read_bytes()
    scene.edit(SEARCH)
    actions.checkpoint(scene.space(), "search note")
    search = scene.theirs.read_bytes()

    for _ in range(3):
        check_out(INVOICES, invoices)
        assert scene.checkpoint(scene.theirs) == "invoices note"
        check_out(SEARCH, search)
        assert scene.checkpoint(scene.theirs) == "search note"


def _checkpoint(scene: Scene) -> None:
    actions.checkpoint(scene.space(), "for search")


COMMANDS: dict[str, Callable[[Scene], object]] = {
    "checkpoint": _checkpoint,
    "start": lambda scene: actions.start(scene.space()),
    "start in a session": lambda scene: scene.prompt("/sisyphus:start-work"),
    "enforce": lambda scene: enforcing.enforce(scene.space(), on=True),
    "clear": lambda scene: actions.clear(scene.space()),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_before_the_next_hook_is_about_the_plan_that_lies_there(
    known: Scene, command: str
) -> None:
    known.write(SEARCH)
    found = actions.status(known.space())
    assert (found["plan_name"], found["checkpoint"], found["todos"]) == ("Search", None, [])

    COMMANDS[command](known)

    assert "i2 half done" not in model(known.start("s2"))
    assert bool(actions.status(known.space())["enforced"]) is (command == "enforce")
    known.write(INVOICES)
    assert "i2 half done" in model(known.start("s3"))
    assert actions.status(known.space())["enforced"] is None


def test_a_plan_that_was_moved_and_edited_before_any_other_hook_is_followed(known: Scene) -> None:
    enforcing.enforce(known.space(), on=True)
    (known.project / ".claude/PLAN.md").unlink()

    outcome = known.edit(INVOICES.replace("[ ] i2", "[x] i2"), BILLS)

    assert f"is {BILLS} now" in user(outcome)
    assert ENABLED not in user(outcome)
    assert "no longer the current one" not in user(outcome)
    found = actions.status(known.space())
    assert found["enforced"]
    assert found["checkpoint"]
    assert "i2 half done" in found["checkpoint"]["message"]


GENERIC = "# Plan\n\n- [ ] a\n- [ ] b\n"


def test_a_plan_without_a_title_of_its_own_is_told_by_its_tasks(scene: Scene) -> None:
    scene.edit(GENERIC)
    actions.checkpoint(scene.space(), "about a")

    scene.edit("# Plan\n\n- [ ] c\n- [ ] d\n")

    assert actions.status(scene.space())["checkpoint"] is None


def test_an_enforced_plan_in_other_words_is_the_same_plan(scene: Scene) -> None:
    scene.edit(GENERIC)
    enforcing.enforce(scene.space(), on=True)

    scene.edit("# Plan\n\n- [ ] c\n- [ ] d\n")

    assert actions.status(scene.space())["enforced"]
