"""The record that everybody may read and edit, as hooks keep it."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from making import put, stored

from boulder.scene import CONTINUATION, DONE, PLAN, Scene, is_silent, model, user
from sisyphus.boulder import actions
from sisyphus.boulder.book import Book
from sisyphus.boulder.kord.keep import Keeper
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

WAVES = """\
# Audit

## Wave 1 — Ground
### S01: Base
- [x] a

## Wave 2 — Roof
### S07: Beams
- [ ] b
- [x] c
### S08: Tiles
- [~] d
### S09: Paint
- [ ] e
"""
AUDIT_FILE = "docs/kord/plans/audit.md"
TODO = {"id": "w2-s07", "content": "Add headers", "status": "in_progress"}
CHECKPOINT = {"timestamp": "2026-02-13T15:30:00Z", "message": "half way"}


def test_the_record_of_the_current_plan_has_exactly_its_shape(scene: Scene) -> None:
    scene.edit(WAVES, AUDIT_FILE)
    scene.todo("dig")
    actions.checkpoint(scene.space(), "half way")

    assert not scene.theirs.exists()
    assert stored(scene.own) == {
        "activePlan": AUDIT_FILE,
        "currentWave": 2,
        "currentStory": "S07",
        "checkpoint": {"timestamp": "2001-09-09T01:46:41Z", "message": "half way"},
        "progress": {
            "totalStories": 4,
            "completedStories": 1,
            "stories": {
                "S01": {"status": "completed", "wave": 1},
                "S07": {"status": "in_progress", "wave": 2},
                "S08": {"status": "blocked", "wave": 2},
                "S09": {"status": "pending", "wave": 2},
            },
        },
        "todos": [{"id": "t1", "content": "dig", "status": "pending"}],
    }
    assert scene.own.read_text().startswith('{\n  "activePlan"')


def test_a_plan_without_stories_has_no_story(scene: Scene) -> None:
    scene.edit(PLAN)
    assert stored(scene.own) == {
        "activePlan": ".claude/PLAN.md",
        "progress": {"totalStories": 0, "completedStories": 0, "stories": {}},
        "todos": [],
    }


def test_a_plan_outside_of_the_project_is_named_by_its_whole_path(scene: Scene) -> None:
    plan = put(scene.project.parent / "ideas.md", PLAN)
    actions.start(scene.space(), str(plan))
    assert stored(scene.own)["activePlan"] == str(plan)


def test_the_record_follows_the_current_plan(scene: Scene) -> None:
    scene.edit(WAVES, AUDIT_FILE)
    scene.edit(PLAN, session="s2")
    assert stored(scene.own)["activePlan"] == ".claude/PLAN.md"
    assert "currentStory" not in stored(scene.own)
    actions.start(scene.space(), "Audit")
    assert (stored(scene.own)["activePlan"], stored(scene.own)["currentStory"]) == (
        AUDIT_FILE,
        "S07",
    )


def test_fields_of_others_stay_while_the_work_goes_on(scene: Scene) -> None:
    scene.edit(WAVES, AUDIT_FILE)
    progress = stored(scene.own)["progress"]
    progress["eta"] = "May"
    progress["stories"]["S07"]["owner"] = "ann"
    todos = [{**TODO, "due": "June"}]
    checkpoint = {**CHECKPOINT, "author": "ann"}
    scene.by_hand(
        scene.own, squad={"a": [1]}, progress=progress, todos=todos, checkpoint=checkpoint
    )

    scene.edit(WAVES.replace("[ ] b", "[/] b"), AUDIT_FILE)
    scene.todo("dig")

    found = stored(scene.own)
    assert found["squad"] == {"a": [1]}
    assert found["progress"]["eta"] == "May"
    assert found["progress"]["stories"]["S07"] == {
        "status": "in_progress",
        "wave": 2,
        "owner": "ann",
    }
    assert found["todos"][0] == {**TODO, "due": "June"}
    assert found["checkpoint"] == checkpoint


@pytest.mark.parametrize("event", ["prompt", "stop"])
@pytest.mark.parametrize("place", ["own", "theirs"])
def test_an_edit_by_hand_is_taken_in(scene: Scene, place: str, event: str) -> None:
    plan = scene.write(WAVES, AUDIT_FILE)
    if place == "theirs":
        put(scene.theirs, "{}")
    scene.start()
    path = getattr(scene, place)
    scene.by_hand(path, checkpoint=CHECKPOINT, todos=[TODO], currentStory="S09")

    assert is_silent(getattr(scene, event)())

    notes = scene.book()["notes"][str(plan)]
    assert (notes["checkpoint"], notes["todos"]) == (CHECKPOINT, [TODO])
    assert (notes["wave"], notes["story"]) == (2, "S09")
    text = model(scene.start("s2"))
    assert "Current story: S09: Paint\nLast checkpoint: half way" in text
    assert text.endswith("Open todos:\n- Add headers (in progress)")
    assert stored(path)["currentStory"] == "S09"


def test_an_edit_of_what_follows_from_the_plan_is_put_right(scene: Scene) -> None:
    scene.edit(WAVES, AUDIT_FILE)
    before = stored(scene.own)
    scene.by_hand(scene.own, progress={"totalStories": 99, "completedStories": 99})
    scene.stop()
    assert stored(scene.own) == before


@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_another_open_plan_may_be_named_by_hand(scene: Scene, event: str) -> None:
    ship = scene.write(PLAN)
    scene.tool(ship)
    scene.todo("pour")
    audit = scene.write(WAVES, AUDIT_FILE)
    scene.tool(audit, "s2")
    scene.todo("dig", session="s2")
    actions.checkpoint(scene.space(), "of the audit", session="s2")

    scene.by_hand(scene.own, activePlan=".claude/PLAN.md")
    getattr(scene, event)()

    assert (scene.book()["current"], scene.book()["chosen"]) == (str(ship), str(ship))
    found = stored(scene.own)
    assert found["activePlan"] == ".claude/PLAN.md"
    assert found["progress"]["totalStories"] == 0
    assert [todo["content"] for todo in found["todos"]] == ["pour"]
    assert not {"checkpoint", "currentWave", "currentStory"} & set(found)
    notes = scene.book()["notes"][str(audit)]
    assert (notes["checkpoint"]["message"], notes["todos"][0]["content"]) == ("of the audit", "dig")
    assert "Active plan: Ship it" in model(scene.start("s3"))


def test_a_plan_without_a_record_may_be_named_by_hand(scene: Scene) -> None:
    scene.edit(WAVES, AUDIT_FILE)
    scene.write(PLAN, "ideas/big.md")
    scene.by_hand(scene.own, activePlan="ideas/big.md", checkpoint=CHECKPOINT)
    scene.prompt()
    assert scene.book()["current"] == str(scene.project / "ideas/big.md")
    assert scene.checkpoint(scene.own) == "half way"


NO_PLANS = [
    pytest.param("gone.md", id="missing"),
    pytest.param("../outside.md", id="outside"),
    pytest.param("/etc/hostname", id="absolute"),
    pytest.param("a\0b", id="no path"),
    pytest.param("\ud800", id="half a surrogate pair"),
    pytest.param("a/" * 100_000, id="long"),
    pytest.param(".", id="a folder"),
]


@pytest.mark.parametrize("named", NO_PLANS)
def test_what_is_named_and_no_plan_leaves_the_current_one(scene: Scene, named: str) -> None:
    plan = scene.write(PLAN)
    scene.tool(plan)
    put(scene.project.parent / "outside.md", WAVES)
    scene.by_hand(scene.own, activePlan=named, checkpoint=CHECKPOINT, todos=[TODO])
    before = scene.own.read_bytes()

    told = user(scene.stop())

    assert "which is not followed here" in told
    assert is_silent(scene.stop())
    assert scene.book()["current"] == str(plan)
    assert scene.own.read_bytes() == before
    assert "Last checkpoint" not in model(scene.start("s2"))


def test_a_person_who_starts_a_plan_takes_the_record_over_and_it_is_kept(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.by_hand(scene.own, activePlan="gone.md", checkpoint=CHECKPOINT, squad="red")
    scene.stop()

    actions.start(scene.space())

    assert stored(scene.own)["activePlan"] == ".claude/PLAN.md"
    assert stored(scene.own)["squad"] == "red"
    [replaced] = [json.loads(line) for line in scene.history() if '"replaced"' in line]
    assert replaced["record"]["checkpoint"] == CHECKPOINT


def test_the_record_of_a_plan_that_is_done_makes_room(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.write(DONE, AUDIT_FILE)
    scene.by_hand(scene.own, activePlan=AUDIT_FILE, checkpoint=CHECKPOINT)

    assert is_silent(scene.stop())

    assert stored(scene.own)["activePlan"] == ".claude/PLAN.md"
    assert "replaced" in scene.events()


def test_a_record_without_a_plan_is_about_the_one_that_begins(scene: Scene) -> None:
    scene.write(WAVES, AUDIT_FILE)
    put(scene.theirs, json.dumps({"checkpoint": CHECKPOINT, "todos": [TODO]}))

    told = model(scene.start())

    assert f"Last checkpoint: {CHECKPOINT['message']}" in told
    assert stored(scene.theirs)["todos"] == [TODO]


def test_a_record_that_comes_back_from_an_old_commit_takes_nothing_away(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.todo("dig")
    actions.checkpoint(scene.space(), "further on")
    old = {"timestamp": "1999-01-01T00:00:00Z", "message": "old"}

    scene.by_hand(scene.own, checkpoint=old, todos=[])
    scene.stop()

    assert scene.checkpoint(scene.own) == "further on"
    assert [todo["content"] for todo in stored(scene.own)["todos"]] == ["dig"]


def test_who_is_killed_between_the_book_and_the_record_leaves_no_news(scene: Scene) -> None:
    scene.edit(WAVES)
    scene.todo("dig")
    before = scene.own.read_bytes()
    scene.edit(WAVES.replace("[ ]", "[x]", 1))
    written = scene.own.read_bytes()
    scene.own.write_bytes(before)  # the book was saved, the record was not

    scene.todo("dig")

    assert scene.own.read_bytes() == written
    assert len(stored(scene.own)["todos"]) == 1


@pytest.fixture
def clone(scene: Scene) -> Scene:
    """A project as it comes from its repository: a plan, and a record of how far it is."""
    scene.write(PLAN)
    scene.write(WAVES, AUDIT_FILE)
    scene.by_hand(
        scene.theirs, activePlan=AUDIT_FILE, checkpoint=CHECKPOINT, todos=[TODO], squad="red"
    )
    return scene


def test_a_fresh_clone_goes_on_where_its_record_says(clone: Scene) -> None:
    outcome = clone.start()

    text = model(outcome)
    assert "Active plan: Audit\nProgress: 2/5 tasks complete" in text
    assert "Current story: S07: Beams\nLast checkpoint: half way" in text
    assert "Open todos:\n- Add headers (in progress)" in text
    assert text.endswith("Also open in this project: Ship it (1/3).")
    assert "Boulder state tracking enabled for this plan: Audit" in user(outcome)
    assert not clone.own.exists()
    found = stored(clone.theirs)
    assert (found["squad"], found["checkpoint"], found["todos"]) == ("red", CHECKPOINT, [TODO])
    assert found["progress"]["completedStories"] == 1


def test_a_clone_whose_work_rests_keeps_its_checkpoint(clone: Scene) -> None:
    clone.start()
    clone.compact()
    clone.end()
    assert clone.checkpoint(clone.theirs) == "half way"


def test_a_record_that_comes_with_a_pull_takes_the_place_of_our_own(clone: Scene) -> None:
    text = clone.theirs.read_text()
    clone.theirs.unlink()
    clone.tool(clone.project / ".claude/PLAN.md")
    assert clone.own.exists()

    put(clone.theirs, text)
    clone.prompt()

    assert not clone.own.exists()
    assert stored(clone.theirs)["activePlan"] == AUDIT_FILE
    assert clone.book()["current"] == str(clone.project / AUDIT_FILE)


def test_a_record_that_goes_from_the_project_lies_with_us_again(clone: Scene) -> None:
    clone.start()
    clone.theirs.unlink()
    clone.stop()
    assert not clone.theirs.exists()
    assert (stored(clone.own)["activePlan"], clone.checkpoint(clone.own)) == (
        AUDIT_FILE,
        "half way",
    )


def test_the_record_moves_into_the_project_with_all_it_says(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.by_hand(scene.own, squad="red", checkpoint=CHECKPOINT)

    actions.start(scene.space(), in_repo=True)

    assert not scene.own.exists()
    found = stored(scene.theirs)
    assert (found["squad"], found["checkpoint"]) == ("red", CHECKPOINT)
    assert stat.S_IMODE(scene.theirs.stat().st_mode) == 0o644
    actions.start(scene.space(), in_repo=True)
    assert stored(scene.theirs) == found


def test_it_does_not_move_where_a_link_leads_out(scene: Scene, tmp_path: Path) -> None:
    scene.edit(PLAN)
    (tmp_path / "elsewhere").mkdir()
    (scene.project / "docs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SisyphusError, match="reached by a link"):
        actions.start(scene.space(), in_repo=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_it_does_not_move_over_a_file_that_cannot_be_used(scene: Scene) -> None:
    scene.edit(PLAN)
    put(scene.theirs, "{")
    with pytest.raises(SisyphusError, match="Mend the file, or remove it"):
        actions.start(scene.space(), in_repo=True)
    assert scene.theirs.read_text() == "{"


SPOILT = [
    pytest.param(b'<<<<<<< HEAD\n{}\n=======\n{"a": 1}\n>>>>>>> b\n', "no JSON", id="conflict"),
    pytest.param(b'{"activePlan": "do', "no JSON", id="half written"),
    pytest.param(b"", "no JSON", id="empty"),
    pytest.param(b'{"version": 9, "activePlan": "x.md"}', "newer program", id="newer"),
    pytest.param(b'{"activePlan": 7}', "activePlan is not a text", id="wrong plan"),
    pytest.param(b'{"todos": ["dig"]}', "todos holds", id="wrong todos"),
    pytest.param(b'{"checkpoint": {"message": 7}}', "no message", id="wrong checkpoint"),
]


def bring_to_life(scene: Scene) -> list[str]:
    """A plan goes through all events; what the journal would note."""
    outcomes = [scene.start(), scene.todo("dig")]
    outcomes.append(scene.edit(PLAN.replace("[ ] two", "[x] two")))
    outcomes += [scene.prompt(), scene.stop(), scene.compact()]
    assert "Last checkpoint: 2/3 tasks done" in model(scene.start("s2"))
    assert "[BOULDER COMPLETE]" in user(scene.edit(DONE))
    outcomes.append(scene.end())
    return [note for outcome in outcomes for note in outcome.notes]


@pytest.mark.parametrize(("data", "why"), SPOILT)
def test_a_record_that_cannot_be_used_is_left_as_it_is_and_all_else_goes_on(
    scene: Scene, data: bytes, why: str
) -> None:
    scene.write(PLAN)
    put(scene.theirs, data)

    notes = bring_to_life(scene)

    assert scene.theirs.read_bytes() == data
    assert any(n.startswith("boulder record not written: ") and why in n for n in notes)
    assert not scene.own.exists()


@pytest.mark.parametrize("kind", ["folder", "link out", "dangling link"])
def test_what_is_no_file_of_the_project_is_left_as_it_is(
    scene: Scene, tmp_path: Path, kind: str
) -> None:
    scene.write(PLAN)
    secret = tmp_path / "secret.json"
    scene.theirs.parent.mkdir(parents=True)
    if kind == "folder":
        scene.theirs.mkdir()
    else:
        scene.theirs.symlink_to(put(secret, "{}") if kind == "link out" else secret)

    assert any(n.startswith("boulder record not written: ") for n in bring_to_life(scene))

    assert secret.exists() is (kind == "link out")
    assert not secret.exists() or secret.read_text() == "{}"
    assert scene.theirs.is_dir() or scene.theirs.is_symlink()


def test_the_user_is_told_at_session_start_what_to_do_about_it(scene: Scene) -> None:
    scene.write(PLAN)
    put(scene.theirs, '{"todos": 7}')

    told = (
        "Boulder: docs/kord/boulder.json is neither read nor written: todos is not a list. "
        "Mend the file, or remove it."
    )
    assert told in user(scene.start())
    assert told in user(scene.start("s2"))
    assert told not in user(scene.start("s2", "compact"))
    assert told not in "".join(user(turn) for turn in (scene.prompt(), scene.stop()))
    assert CONTINUATION in model(scene.start("s3"))


def test_of_a_newer_record_the_user_is_told_to_upgrade(scene: Scene) -> None:
    put(scene.theirs, '{"version": 2}')
    assert user(scene.start()).endswith("Upgrade sisyphus, or remove it.")


def test_a_newer_record_is_read_as_far_as_it_goes(scene: Scene) -> None:
    scene.write(PLAN)
    data = json.dumps({"version": 2, "activePlan": ".claude/PLAN.md", "checkpoint": CHECKPOINT})
    put(scene.theirs, data)

    told = model(scene.start())
    scene.todo("dig")
    scene.stop()

    assert f"Last checkpoint: {CHECKPOINT['message']}" in told
    assert scene.theirs.read_text() == data
    assert "dig" in model(scene.start("s2"))


def test_once_it_is_mended_it_is_used(scene: Scene) -> None:
    scene.write(PLAN)
    put(scene.theirs, "{")
    scene.start()
    put(scene.theirs, json.dumps({"checkpoint": CHECKPOINT, "squad": "red"}))
    scene.stop()
    found = stored(scene.theirs)
    assert (found["activePlan"], found["checkpoint"], found["squad"]) == (
        ".claude/PLAN.md",
        CHECKPOINT,
        "red",
    )


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"todos": 7}', b"\xff"])
def test_our_own_record_is_set_aside_where_it_is_broken(scene: Scene, data: bytes) -> None:
    scene.edit(PLAN)
    before = stored(scene.own)
    scene.own.write_bytes(data)

    assert "could not be understood" in user(scene.stop())

    [kept] = scene.own.parent.glob("boulder.json.corrupt-*")
    assert kept.read_bytes() == data
    assert stored(scene.own) == before


def test_our_own_record_of_a_newer_version_is_left_as_it_is(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.own.write_text('{"version": 2}')
    outcome = scene.stop()
    assert "written by a newer program" in outcome.notes[-1]
    assert scene.own.read_text() == '{"version": 2}'


def test_after_the_plan_the_record_keeps_its_checkpoint_and_what_is_not_ours(clone: Scene) -> None:
    clone.start()
    actions.clear(clone.space(), "s1")
    (clone.project / ".claude/PLAN.md").unlink()
    assert stored(clone.theirs) == {"checkpoint": CHECKPOINT, "squad": "red"}
    actions.start(clone.space(), "Audit")
    clone.edit(WAVES.replace("[ ]", "[x]").replace("[~]", "[x]"), AUDIT_FILE)
    assert stored(clone.theirs) == {
        "checkpoint": {
            "timestamp": stored(clone.theirs)["checkpoint"]["timestamp"],
            "message": "Audit: all 5 tasks done",
        },
        "squad": "red",
    }


def test_a_record_about_a_plan_that_is_not_ours_keeps_it(scene: Scene) -> None:
    found: Json = {"activePlan": "docs/theirs.md", "checkpoint": CHECKPOINT}
    put(scene.theirs, json.dumps(found))
    scene.write(DONE)
    for event in (scene.start, scene.prompt, scene.stop):
        event()
    assert stored(scene.theirs) == found


def test_where_the_record_cannot_be_written_all_else_goes_on(scene: Scene) -> None:
    scene.write(PLAN)
    put(scene.own.parent / "boulder.json.tmp/in/the/way", "")

    outcome = scene.start()

    assert model(outcome).startswith(CONTINUATION)
    assert any(note.startswith("boulder record not written") for note in outcome.notes)
    assert not scene.own.exists()


def test_a_hand_that_writes_while_we_do_is_heard_at_the_next_event(scene: Scene) -> None:
    scene.edit(PLAN)
    with Book(str(scene.home), str(scene.project)) as book:
        keeper = Keeper(str(scene.home), book)
        scene.by_hand(scene.own, checkpoint=CHECKPOINT)
        book.notes_of(book.current).todos = [TODO]
        assert not keeper.bring_up_to_date(None, None)
        assert keeper.commit().endswith("somebody else is writing it")
    scene.stop()
    assert scene.checkpoint(scene.own) == "half way"


def test_the_record_of_a_project_at_a_link_is_one(scene: Scene, tmp_path: Path) -> None:
    scene.edit(PLAN)
    (tmp_path / "link").symlink_to(scene.project)
    scene.start("s2", cwd=str(tmp_path / "link"))
    assert list(scene.home.rglob("boulder.json")) == [scene.own]


def test_a_hook_whose_own_folder_is_gone_keeps_the_record(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    put(scene.theirs, json.dumps({"checkpoint": CHECKPOINT}))
    scene.edit(PLAN)
    scene.by_hand(scene.theirs, activePlan=None, squad="red")
    assert is_silent(scene.stop())
    assert stored(scene.theirs)["activePlan"] == ".claude/PLAN.md"


def test_a_record_that_names_one_of_several_open_plans_decides(clone: Scene) -> None:
    text = clone.theirs.read_text()
    clone.theirs.unlink()
    assert "[BOULDER PLANS OPEN]" in model(clone.start())

    put(clone.theirs, text)
    clone.prompt()

    book = clone.book()
    assert (book["current"], book["undecided"]) == (str(clone.project / AUDIT_FILE), False)
    assert "Active plan: Audit" in model(clone.start("s2"))
