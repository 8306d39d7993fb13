from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import put, stored

from sisyphus.errors import NewerVersionError, SisyphusError
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def places(project: Path) -> Places:
    return Places(Workspace(str(project)))


def a_run(**fields: object) -> Run:
    return Run({"loop_id": "abc12", "task_name": "do it", "iteration": 3, **fields})


def public(project: Path) -> Path:
    return project / ".claude" / "ralph-state.json"


def test_a_run_comes_back(places: Places) -> None:
    run = a_run(options={"verify": "true"}, in_flight={"item": "one"})
    store.save(places, run)
    found = store.load(places)

    assert found.run is not None
    assert (found.is_ours, found.notes) == (True, [])
    assert found.run.as_json() == {**run.as_json(), "version": 1}


def test_the_projects_file_is_for_people(project: Path, places: Places) -> None:
    put(public(project), json.dumps({"version": 1, "theirs": 1, "iteration": 9}))
    store.save(places, a_run())

    assert public(project).read_text().startswith('{\n  "task_name": "do it",\n')
    assert stored(public(project))["theirs"] == 1
    assert stored(public(project))["iteration"] == 3
    loaded = store.load(places).run
    assert loaded is not None
    assert loaded.extra["theirs"] == 1


def test_what_runs_commands_is_not_taken_from_the_project(project: Path, places: Places) -> None:
    store.save(places, a_run(options={"verify": "true"}))
    forged = {**stored(public(project)), "options": {"verify": "forged"}, "max_iterations": 10**9}
    put(public(project), json.dumps(forged))
    found = store.load(places).run

    assert found is not None
    assert (found.options, found.max_iterations) == ({"verify": "true"}, 50)


def test_a_state_of_another_origin_names_no_command(project: Path, places: Places) -> None:
    theirs = {
        "task_name": "x", "iteration": 2, "options": {"verify": "bad"}, "in_flight": {"child": {}},
        "waiting": {"until": 1}, "signs": {"at": 1}, "note": "x",
    }  # fmt: skip
    put(public(project), json.dumps(theirs))
    found = store.load(places)

    assert found.run is not None
    assert (found.is_ours, found.run.task_name, found.run.iteration) == (False, "x", 2)
    assert (found.run.options, found.run.in_flight, found.run.waiting) == ({}, {}, {})


def test_another_run_than_ours_is_of_another_origin(project: Path, places: Places) -> None:
    store.save(places, a_run(options={"verify": "true"}))
    put(public(project), json.dumps({"task_name": "theirs", "options": {"verify": "bad"}}))
    found = store.load(places)

    assert found.run is not None
    assert (found.is_ours, found.run.task_name, found.run.options) == (False, "theirs", {})


def test_without_the_projects_file_nothing_is_lost(project: Path, places: Places) -> None:
    store.save(places, a_run())
    public(project).unlink()
    found = store.load(places)

    assert found.run is not None
    assert (found.is_ours, found.run.task_name) == (True, "do it")


@pytest.mark.parametrize("name", ["state", "record"])
def test_a_corrupt_file_is_set_aside_and_said(places: Places, name: str) -> None:
    store.save(places, a_run())
    path = getattr(places, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("{")
    found = store.load(places)

    assert found.run is not None
    assert found.run.task_name == "do it"
    assert f"{path} could not be read" in found.notes[0]
    assert found.is_ours is (name == "state")


def test_there_may_be_nothing(places: Places) -> None:
    found = store.load(places)

    assert (found.run, found.notes) == (None, [])


NEWER = {**a_run().as_json(), "version": 99}


def test_a_newer_record_is_never_overwritten(places: Places) -> None:
    store.save(places, a_run())
    put(Path(places.record), json.dumps(NEWER))

    for action in (lambda: store.save(places, a_run()), lambda: store.check_writable(places)):
        with pytest.raises(NewerVersionError):
            action()
    with pytest.raises(NewerVersionError):
        store.load(places)
    assert stored(Path(places.record)) == NEWER


def test_a_newer_copy_without_a_record_is_never_overwritten(project: Path, places: Places) -> None:
    put(public(project), json.dumps(NEWER))

    with pytest.raises(NewerVersionError):
        store.check_writable(places)
    with pytest.raises(NewerVersionError):
        store.load(places)


def _newer(path: Path) -> None:
    put(path, '{"version": 99}')


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parents[2] / "outside")


def _no_folder(path: Path) -> None:
    shutil.rmtree(path.parent)
    put(path.parent, "a file in the way of the folder")


def _in_the_way(path: Path) -> None:
    put(path.with_name("ralph-state.json.tmp") / "x", "in the way of the next copy")


HARM = [
    pytest.param(_newer, "newer sisyphus", id="a newer version"),
    pytest.param(_link, "is a link that leaves the project", id="a link"),
    pytest.param(_no_folder, "File exists", id="no folder"),
    pytest.param(_in_the_way, "", id="a folder in the way of the next copy"),
]


@pytest.mark.parametrize(("harm", "why"), HARM)
def test_whatever_becomes_of_the_copy_the_record_counts(
    project: Path, places: Places, harm: Callable[[Path], None], why: str
) -> None:
    store.save(places, a_run())
    harm(public(project))
    told = store.save(places, a_run(iteration=4))
    loaded = store.load(places)

    assert why in told != ""
    assert not (project.parent / "outside").exists()
    assert loaded.run is not None
    assert (loaded.is_ours, loaded.run.iteration) == (True, 4)


def _gone(path: Path) -> None:
    path.unlink()


def _a_folder(path: Path) -> None:
    path.unlink()
    put(path / "inside", "x")


def _read_only(path: Path) -> None:
    path.chmod(0o400)


def _locked(path: Path) -> None:
    put(path.with_name("ralph-state.json.lock") / "x", "")


HEALED = [_gone, _a_folder, _read_only, _locked]


@pytest.mark.parametrize("harm", HEALED)
def test_a_copy_that_can_be_written_is(
    project: Path, places: Places, harm: Callable[[Path], None]
) -> None:
    store.save(places, a_run())
    harm(public(project))

    assert store.save(places, a_run(iteration=4)) == ""
    assert stored(public(project))["iteration"] == 4


def test_no_lock_lies_in_the_project(project: Path, places: Places) -> None:
    store.save(places, a_run())

    assert sorted(os.listdir(project / ".claude")) == [".gitignore", "ralph-state.json"]


def test_without_a_record_the_copy_must_be_written(project: Path, places: Places) -> None:
    put(public(project), json.dumps(NEWER))

    with pytest.raises(NewerVersionError):
        store.save(places, a_run(), keep_record=False)


KEY = "ghp_" + "a1B2" * 9


def test_the_copy_holds_no_keys(project: Path, places: Places) -> None:
    told = f"no access to https://user:{KEY}@host"
    fields = {
        "reason": told, "waiting": {"for": told, "until": 5.5}, "last": {"tail": told},
        "options": {"client_command": f"TOKEN={KEY} run"}, "in_flight": {"argv": [told]},
        "note": told, "breaker": {"why": told},
    }  # fmt: skip
    store.save(places, a_run(**fields))
    loaded = store.load(places).run

    assert KEY not in public(project).read_text()
    assert stored(public(project))["waiting"]["until"] == 5.5
    assert loaded is not None
    assert loaded.options == fields["options"]


# --- strangers ----------------------------------------------------------------------------------

ELSEWHERE = ["/etc/passwd", "../x.md", "a\0b", "", 5, None, "out/x.md"]


@pytest.mark.parametrize("file", ELSEWHERE)
def test_a_strangers_handoff_that_lies_elsewhere_is_none(
    project: Path, places: Places, tmp_path: Path, file: object
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / "out").symlink_to(tmp_path / "elsewhere")
    checkpoint = {"active": True, "handoff_file": file, "session_id": "s1"}
    put(public(project), json.dumps({"task_name": "x", "context_checkpoint": checkpoint}))
    found = store.load(places).run

    assert found is not None
    assert (found.context_checkpoint, found.open_checkpoint) == ({}, None)


def test_of_a_strangers_handoff_what_lies_in_the_project_is_taken(
    project: Path, places: Places
) -> None:
    files = [{"path": "src/a.py"}, {"path": "../b.py"}, {"path": 5}, "c.py"]
    checkpoint = {
        "active": True, "handoff_file": ".claude/handoffs/a.md", "files_in_progress": files,
        "session_id": "../s",
    }  # fmt: skip
    put(public(project), json.dumps({"task_name": "x", "context_checkpoint": checkpoint}))
    found = store.load(places).run

    assert found is not None
    assert found.context_checkpoint == {
        **checkpoint, "files_in_progress": [{"path": "src/a.py"}], "session_id": "",
    }  # fmt: skip


def test_a_stranger_names_no_process(project: Path, places: Places) -> None:
    put(public(project), json.dumps({"task_name": "x", "runner": {"pid": 1, "started": "1-1"}}))
    found = store.load(places).run

    assert found is not None
    assert "runner" not in found.extra


def test_what_an_old_record_lacks_is_not_taken_from_the_project(
    project: Path, places: Places
) -> None:
    store.save(places, a_run())
    put(Path(places.record), json.dumps({"loop_id": "abc12", "task_name": "do it"}))
    forged = {"loop_id": "abc12", "options": {"verify": "bad"}, "in_flight": {"child": {"pid": 1}}}
    put(public(project), json.dumps(forged))
    found = store.load(places).run

    assert found is not None
    assert (found.options, found.in_flight) == ({}, {})


def test_a_home_that_takes_no_file_is_said(places: Places) -> None:
    put(Path(places.runs), "a file in the way of the folder")

    with pytest.raises(SisyphusError, match="nothing can be written there"), store.Alone(places):
        pass


def test_one_runner_at_a_time(places: Places) -> None:
    store.save(places, a_run(runner={"pid": 4711, "started": "x"}))
    with store.Alone(places), pytest.raises(SisyphusError) as refused, store.Alone(places):
        pass
    with store.Alone(places):
        pass

    told = str(refused.value)
    assert "a run is at work in this project already: do it (iteration 3 of 50)" in told
    assert "tail -f" in told
    assert "`kill -INT 4711`" in told


def test_a_record_is_put_aside_for_the_next_run(places: Places) -> None:
    store.retire(places)
    store.save(places, a_run())
    store.retire(places)

    assert store.load(places).is_ours is False
    with open(f"{places.runs}/abc12.json", encoding="utf-8") as file:
        assert json.load(file)["task_name"] == "do it"


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        pytest.param('{"name": "p", "version": "1.0.0", "scripts": {}}', False, id="a tool's"),
        pytest.param('{"status": "mine", "prompt": {"a": 1}}', False, id="words in common"),
        pytest.param('{"task_name": "x", "iteration": 1}', True, id="made by hand"),
        pytest.param("{}", True, id="empty"),
    ],
)
def test_a_file_that_is_none_of_ours_is_left_as_it_is(
    project: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, is_ours: bool
) -> None:
    path = put(project / "package.json", text)
    monkeypatch.setenv("RALPH_STATE_FILE", str(path))
    places = Places(Workspace(str(project)))
    if is_ours:
        store.load(places)
    else:
        with pytest.raises(SisyphusError, match="is no state file of a run"):
            store.load(places)
    assert path.read_text(encoding="utf-8") == text


def test_whoever_renames_the_copy_takes_no_check_away(project: Path, places: Places) -> None:
    run = Run({"loop_id": "abc12", "task_name": "x", "status": "max_iterations"})
    run.options["verify"] = "make test"
    store.save(places, run)
    copy = project / ".claude" / "ralph-state.json"
    put(copy, copy.read_text(encoding="utf-8").replace("abc12", "zzz99"))

    found = store.load(places, own_counts=True)

    assert found.is_ours
    assert found.run is not None
    assert found.run.options["verify"] == "make test"
    assert "speaks of another run" in found.notes[0]
