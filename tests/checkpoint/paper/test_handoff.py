from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import at_once, debug_log, ours
from ralph.lines import prompt, said, typed

from checkpoint.telling import (
    NOW,
    ROOT,
    a_plan,
    a_situation,
    broke,
    called,
    edited,
    failed,
    hunk,
    ran,
    todos,
    wrote,
)
from sisyphus.checkpoint.paper import handoff
from sisyphus.checkpoint.seen import work
from sisyphus.paths import project_id

if TYPE_CHECKING:
    from sisyphus.checkpoint.paper.situation import Situation

DATA = Path(__file__).parents[2] / "data"
GOLDEN = DATA / "checkpoint"


def the_situation() -> Situation:
    """The recorded session, in a loop and at a plan, at 87 %."""
    sources = [
        (f"{ROOT}/{folder}/{name}", (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))
        for folder, name in (("src", "tokens.py"), ("tests", "test_tokens.py"))
    ]
    waves = [{"number": 1, "name": "Tokens", "line": 3, "total": 3, "completed": 1, "blocked": 0}]
    story = {
        "id": "S02", "title": "Refresh", "line": 7, "wave": 1, "status": "in_progress",
        "total": 2, "completed": 0,
    }  # fmt: skip
    plan = a_plan(
        next_task="Refresh a token that runs out",
        current_wave=1,
        current_story="S02",
        waves=waves,
        stories=[story],
        checkpoint={"timestamp": "2026-11-21T03:50:00Z", "message": "tokens are signed"},
    )
    return a_situation(
        work=work.read_file(str(DATA / "transcripts" / "tokens.jsonl")),
        plan=plan,
        loop={
            "loop_id": "k3x9a",
            "description": "Session tokens",
            "prompt": "Session tokens",
            "iteration": 5,
            "max_iterations": 50,
            "completion_promise": "TOKENS DONE",
        },
        level="L2",
        percent=87,
        tokens=174_100,
        window=200_000,
        occasion="level",
        session_id="c14464dd-3dfa-470d-933e-5a4bbfadf5dd",
        head="0123456789abcdef0123456789abcdef01234567",
        branch="main",
        changed=["src/tokens.py", "tests/test_tokens.py", "README.md"],
        text_of=lambda path: dict(sources).get(path, ""),
        notes={"Decisions": "A token is taken apart from its end."},
    )


def test_a_whole_handoff_says_what_it_should() -> None:
    expected = (GOLDEN / "handoff.md").read_text(encoding="utf-8")
    assert handoff.render(the_situation()) == expected


PLAN = f"{ROOT}/.claude/PLAN.md"
WAVE = {"number": 2, "name": "Two", "line": 1, "total": 4, "completed": 1, "blocked": 0}
STORY = {
    "id": "S07", "title": "Seven", "line": 1, "wave": 2, "status": "in_progress", "total": 3,
    "completed": 1,
}  # fmt: skip
LOOP = {
    "loop_id": "ab1cd", "description": "Loop on", "prompt": "Loop on", "iteration": 4,
    "max_iterations": 9, "completion_promise": "ALL GREEN",
}  # fmt: skip
FACTS: list[Any] = [
    pytest.param([[prompt("Fix it")]], {}, "- **Task**: Fix it", id="the user's task"),
    pytest.param([[typed('"do it"')]], {}, "- **Task**: do it", id="a typed loop's task"),
    pytest.param([[prompt("a")]], {"loop": LOOP}, "- **Task**: Loop on", id="the loop's task"),
    pytest.param([], {"plan": a_plan()}, "- **Task**: Tokens", id="the plan's name"),
    pytest.param([], {"loop": LOOP}, "`ab1cd`, iteration 4 of 9, it ends with the promise "
        "`ALL GREEN`", id="loop and iteration"),
    pytest.param([], {"loop": {**LOOP, "max_iterations": 0}}, "iteration 4, ", id="no end"),
    pytest.param([], {"items_left": 3, "items_total": 5}, "3 of 5 are left", id="items"),
    pytest.param([], {"percent": 91, "level": "L2", "tokens": 1_820, "window": 2_000},
        "91% full (L2), 1,820 of 2,000 tokens", id="size of the context"),
    pytest.param([], {"occasion": "level", "level": "L3"}, "level L3", id="a level"),
    pytest.param([], {"occasion": "compaction"}, "compacts the context", id="a compaction"),
    pytest.param([], {"occasion": "breaker", "reason": "5 times the same"},
        "the circuit breaker opened: 5 times the same", id="the breaker"),
    pytest.param([], {"occasion": "breaker"}, "the circuit breaker", id="without a reason"),
    pytest.param([], {}, "a checkpoint was asked for", id="asked for"),
    pytest.param([], {"session_id": "s-1"}, "- **Session**: `s-1`", id="session"),
    pytest.param([], {}, f"- **Project**: `{ROOT}`", id="project"),
    pytest.param([], {"head": "a" * 40, "branch": "main"}, f"`{'a' * 12}` on `main`", id="commit"),
    pytest.param([], {"head": "a" * 40}, f"- **Commit**: `{'a' * 12}`\n", id="no branch"),
    pytest.param([], {"branch": "main"}, "- **Branch**: `main`", id="no commit"),
    pytest.param([], {}, "- **Written**: 2026-11-21T04:13:20.000Z", id="time"),
    pytest.param([[prompt("a")]], {}, "- **Session began**: 2026-11-20T15:00:00.000Z", id="began"),
    pytest.param([[prompt("a"), prompt("And b")]], {}, "- **Last prompt**: And b",
        id="last prompt"),
    pytest.param([], {"item": "Item 3"}, "- **Current item**: Item 3", id="a run's item"),
    pytest.param([todos(("a", "completed"), ("b", "in_progress"))], {},
        "- **Progress on it**: 50% (1 of 2 todos)", id="progress by todos"),
    pytest.param([todos(("a", "completed"))], {}, "- **Done before**: a", id="what is done"),
    pytest.param([ran("ls")], {}, "- **Last action**: Bash ls", id="last action"),
    pytest.param([failed("Read", {}, "No such file")], {}, "Read: No such file", id="failed tool"),
    pytest.param([], {"plan": a_plan()}, "- **Name**: Tokens", id="plan"),
    pytest.param([], {"plan": a_plan()}, "- **File**: `.claude/PLAN.md`", id="its file"),
    pytest.param([], {"plan": a_plan()}, "2 of 5 tasks are complete", id="its progress"),
    pytest.param([], {"plan": a_plan(next_task="Go on")}, "- **Next task**: Go on", id="its task"),
    pytest.param([], {"plan": a_plan(waves=[WAVE], current_wave=2)},
        "- **Current wave**: 2 Two (1 of 4 tasks)", id="its wave"),
    pytest.param([], {"plan": a_plan(stories=[STORY], current_story="S07")},
        "- **Current story**: S07 Seven (1 of 3 tasks)", id="its story"),
    pytest.param([], {"plan": a_plan(checkpoint={"message": "half", "timestamp": "T"})},
        "- **Last checkpoint**: half (T)", id="its checkpoint"),
    pytest.param([todos(("a", "completed"), ("b", "in_progress"), ("c", "pending"))], {},
        "- [x] a\n- [/] b\n- [ ] c", id="todos"),
    pytest.param([], {"plan": a_plan(todos=[{"id": "1", "content": "p", "status": "pending"}])},
        "- [ ] p", id="the plan's todos"),
    pytest.param([], {"changed": ["src/a.py"]}, "- `src/a.py`", id="changed files"),
    pytest.param([edited(f"{ROOT}/a.py", hunk(4, "+x"))], {}, "| a.py | 4 |", id="lines"),
    pytest.param([wrote(f"{ROOT}/a.py", "1\n2")], {}, "| a.py | 1-2 |", id="a new file"),
    pytest.param([called("NotebookEdit", {"notebook_path": f"{ROOT}/n.ipynb"}, {})], {},
        "| n.ipynb | whole file |", id="a notebook"),
    pytest.param([broke("./run", "TypeError: x")], {}, "TypeError: x\n```", id="last failure"),
    pytest.param([broke("./run", "")], {}, "Exit code 1", id="a failure that says nothing"),
    pytest.param([ran("pytest", "3 passed")], {}, "- `pytest`: passed (3 passed)", id="passed"),
    pytest.param([broke("pytest", "1 failed")], {}, "- `pytest`: failed (1 failed)", id="failed"),
    pytest.param([ran("make|cat", "x")], {}, "ended, but its exit code was hidden", id="hidden"),
    pytest.param([[said("I did a.\nThen b.")]], {}, "> I did a.\n> Then b.", id="what it said"),
    pytest.param([[said("Done.\nNext I do b.")]], {}, "\n\nNext I do b.", id="what it announced"),
    pytest.param([], {"notes": {"Open Questions": "Why?"}}, "### Open Questions\n\nWhy?",
        id="notes"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "fields", "words"), FACTS)
def test_a_fact_that_is_known_is_named(
    lines: list[list[dict[str, object]]], fields: dict[str, object], words: str
) -> None:
    found = handoff.render(a_situation(*lines, **fields))
    assert words in found
    assert "unknown" not in found.casefold()


ONCE = [
    pytest.param([[prompt("do it")]], {}, id="the task"),
    pytest.param([[prompt("do it"), prompt("more")]], {"item": "a"}, id="in a run"),
]


@pytest.mark.parametrize(("lines", "fields"), ONCE)
def test_a_prompt_that_is_told_already_or_none_of_the_users_is_not_told(
    lines: list[list[dict[str, object]]], fields: dict[str, object]
) -> None:
    assert "Last prompt" not in handoff.render(a_situation(*lines, **fields))


NOTHING = [
    "No command was run.", "Nothing was checked", "No file of the project was seen to change.",
    "# Handoff: work in progress",
]  # fmt: skip


@pytest.mark.parametrize("words", NOTHING)
def test_where_there_is_nothing_to_tell_that_is_said(words: str) -> None:
    found = handoff.render(a_situation())
    assert words in found
    assert "unknown" not in found.casefold()


def test_so_is_that_nothing_failed() -> None:
    assert "No command failed." in handoff.render(a_situation(ran("ls")))
    mended = handoff.render(a_situation(broke("./run"), ran("./run")))
    assert "What failed succeeded afterwards." in mended


def test_a_failure_without_words() -> None:
    found = a_situation(broke("./run"))
    assert found.work.failed is not None
    found.work.failed.output = found.work.failed.at = ""
    assert "`./run` failed:\n\nIt printed nothing." in handoff.render(found)


def test_of_very_much_not_everything_is_named() -> None:
    many = [(f"todo {number} " + "x" * 200, "pending") for number in range(200)]
    found = handoff.render(
        a_situation(
            todos(*many),
            broke("./run", "y" * 9_000),
            [said("z" * 9_000)],
            changed=["a" * 150 + str(number) for number in range(99_999)],
            notes=dict.fromkeys(("Decisions", "Tried And Rejected"), "n" * 9_000),
        )
    )
    assert len(found) <= handoff.CHARACTERS
    assert "more\n" in found


def test_fifty_changed_files_are_named() -> None:
    found = handoff.render(a_situation(changed=[f"f{number}" for number in range(52)]))
    assert "- `f49`\n- and 2 more\n" in found


HOSTILE = "`` ``` ~~~\n## Notes\n# x\n| a | <!-- \x1b[2J\u202e </b>"


def test_no_text_of_a_stranger_ends_what_it_stands_in() -> None:
    found = handoff.render(
        a_situation(
            [prompt(HOSTILE)],
            todos((HOSTILE, "in_progress")),
            edited(f"{ROOT}/{HOSTILE}", hunk(1, "+a")),
            broke(HOSTILE, HOSTILE),
            broke(f"make {HOSTILE}", HOSTILE),
            [said(HOSTILE)],
            branch=HOSTILE,
            changed=[HOSTILE],
            session_id=HOSTILE,
            occasion="breaker",
            reason=HOSTILE,
            text_of=lambda _: HOSTILE,
        )
    )
    assert found.count("\n## Notes\n") == 1
    assert [line for line in found.splitlines() if line.startswith("# ")] == [found.splitlines()[0]]
    assert "\x1b" not in found
    assert "\u202e" not in found
    section = found.partition("\n## Files In Progress\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line]
    assert len(table) == 3
    assert {line.replace("\\|", "").count("|") for line in table} == {4}


@pytest.fixture
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


NAMES = [
    pytest.param("k3x9a", "s-1", "2026-11-21-0413-k3x9a.md", id="by its loop"),
    pytest.param("", "c14464dd-3dfa", "2026-11-21-0413-c14464dd.md", id="by its session"),
    pytest.param("", "", "2026-11-21-0413-manual.md", id="by nobody"),
    pytest.param("../x", "s-1", "2026-11-21-0413-s-1.md", id="a name that leads elsewhere"),
    pytest.param("a/b", "/", "2026-11-21-0413-manual.md", id="two of them"),
    pytest.param("..", "-x", "2026-11-21-0413-x.md", id="an odd beginning"),
]


@pytest.mark.usefixtures("_clock")
@pytest.mark.parametrize(("loop", "session", "name"), NAMES)
def test_a_file_is_named_by_its_time_and_owner(loop: str, session: str, name: str) -> None:
    assert handoff.file_name(NOW, loop, session) == name


@given(st.text(), st.text())
def test_any_owner_makes_a_safe_name(loop: str, session: str) -> None:
    name = handoff.file_name(NOW, loop, session)
    assert os.path.basename(name) == name
    assert name.endswith(".md")


def test_it_goes_into_the_project(project: Path, home: Path) -> None:
    path = handoff.write(str(project), str(ours(home, "")), "a.md", "text\n")
    assert path == str(project / ".claude" / "handoffs" / "a.md")
    assert Path(path).read_text() == "text\n"
    assert (project / ".claude" / "handoffs" / ".gitignore").read_text() == "*\n"
    assert sorted(os.listdir(project / ".claude" / "handoffs")) == [".gitignore", "a.md"]


def test_else_into_our_own_folder(project: Path, home: Path) -> None:
    (project / ".claude").write_text("a file")
    path = handoff.write(str(project), str(home / "ours"), "a.md", "text")
    assert path == str(home / "ours" / "projects" / project_id(str(project)) / "handoffs" / "a.md")
    assert "the handoff does not go into" in debug_log(home)


def test_where_both_fail_that_is_said(project: Path, home: Path) -> None:
    (project / ".claude").write_text("a file")
    (home / "ours").write_text("a file")
    with pytest.raises(OSError, match="ours"):
        handoff.write(str(project), str(home / "ours"), "a.md", "text")


def _write(given: tuple[str, str, str]) -> str:
    return handoff.write(given[0], given[1], "a.md", given[2])


def test_many_writers_at_once_get_a_file_each(project: Path, home: Path) -> None:
    texts = [f"text {number}\n" * 1_000 for number in range(30)]
    paths = at_once(_write, [(str(project), str(home / "ours"), text) for text in texts])
    assert len(set(paths)) == 30
    assert [Path(path).read_text() for path in paths] == texts
    assert all(path.startswith(str(project)) for path in paths)
