from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint.paper.test_handoff import GOLDEN, the_situation
from checkpoint.telling import a_situation, edited, hunk
from sisyphus.checkpoint.paper.resume import CHARACTERS, HEADING, block, checkpoint

FILE = ".claude/handoffs/2026-11-21-0413-k3x9a.md"


def test_a_whole_block_says_what_it_should() -> None:
    expected = (GOLDEN / "resume.md").read_text(encoding="utf-8")
    assert block(checkpoint(the_situation(), FILE)) == expected


def test_the_entry_holds_all_that_the_block_needs() -> None:
    entry = checkpoint(the_situation(), FILE)
    files = [
        {
            "path": "src/tokens.py",
            "lines": "1-2, 15-27",
            "description": "def check(token: str, key: bytes) -> str | None",
            "line": 17,
        },
        {
            "path": "tests/test_tokens.py",
            "lines": "1-13",
            "description": "def test_a_token_is_its_users()",
            "line": 1,
        },
    ]
    assert entry == {
        "active": True,
        "level": "L2",
        "percent_at_checkpoint": 87,
        "timestamp": "2026-11-21T04:13:20.000Z",
        "handoff_file": FILE,
        "resume_summary": "Working on: Refresh a token that runs out. Done before: Sign and check "
        "tokens. Last action: Bash ruff check src.",
        "files_in_progress": files,
        "current_todo_item": "Refresh a token that runs out",
        "progress_on_item": "33% (1 of 3 todos)",
        "occasion": "level",
        "session_id": "c14464dd-3dfa-470d-933e-5a4bbfadf5dd",
        "loop_id": "k3x9a",
        "iteration": 5,
        "next_step": "Mend what fails: `pytest -q --no-header -p no:cacheprovider` (FAILED "
        "tests/test_tokens.py::test_a_user_may_hold_a_dot - ValueError: too man...)",
        "task": "Session tokens",
    }


def test_what_is_not_known_is_not_in_it() -> None:
    entry = checkpoint(a_situation(occasion="asked", level="L1"), "")
    assert entry["level"] == ""
    assert not {"percent_at_checkpoint", "loop_id", "iteration"} & entry.keys()


def test_it_survives_a_file() -> None:
    entry = checkpoint(the_situation(), FILE)
    assert block(json.loads(json.dumps(entry))) == block(entry)


OCCASIONS = [
    pytest.param({"occasion": "level", "level": "L3", "percent_at_checkpoint": 96},
        "> The session before it reached 96% of its context (L3 threshold).", id="a level"),
    pytest.param({"level": "L2", "percent_at_checkpoint": 87},
        "> The session before it reached 87% of its context (L2 threshold).", id="another's hand"),
    pytest.param({"occasion": "level", "percent_at_checkpoint": 87},
        "> The session before it reached 87% of its context.", id="no level"),
    pytest.param({"occasion": "compaction", "percent_at_checkpoint": 90},
        "> The context was compacted at 90%.", id="a compaction"),
    pytest.param({"occasion": "compaction"}, "> The context was compacted.", id="alone"),
    pytest.param({"occasion": "breaker"}, "the circuit breaker stopped it.", id="the breaker"),
    pytest.param({"occasion": "asked", "percent_at_checkpoint": 40},
        "> The checkpoint was asked for at 40% of the context.", id="asked for"),
    pytest.param({}, "> The checkpoint was asked for.", id="nothing told"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "words"), OCCASIONS)
def test_the_occasion_is_told(entry: Any, words: str) -> None:
    assert words in block(entry)


SAME = "- **Task**: do it"
ROWS = [
    pytest.param({"task": "do it", "current_todo_item": "half"},
        f"{SAME}\n- **Item**: half", id="two"),
    pytest.param({"task": "do it", "current_todo_item": "do it", "progress_on_item": "9%"},
        f"{SAME}\n- **Progress on it**: 9%", id="one"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "words"), ROWS)
def test_what_was_in_progress_is_named_once(entry: Any, words: str) -> None:
    assert words in block(entry)


PLACES = [
    pytest.param(
        {"path": "a.py", "lines": "45-60, 90", "line": 52}, "at line 52 of `a.py`", id="line"
    ),
    pytest.param({"path": "a.py", "lines": "45-60, 90"}, "at line 45 of `a.py`", id="first lines"),
    pytest.param({"path": "a.py", "lines": "90"}, "at line 90 of `a.py`", id="one line"),
    pytest.param({"path": "a.py", "lines": ""}, "in `a.py`", id="whole file"),
    pytest.param({"path": "a.py", "lines": "x", "line": -1}, "in `a.py`", id="odd ones"),
    pytest.param({"path": "a`|\nb", "lines": "\u0663"}, "in ``a`| b``", id="odd names"),
]


@pytest.mark.parametrize(("file", "words"), PLACES)
def test_the_place_to_go_on_is_told(file: Any, words: str) -> None:
    assert f"\n3. Continue {words}\n" in block({"files_in_progress": [file], "handoff_file": "h"})


def test_without_files_and_document_there_are_instructions_all_the_same() -> None:
    assert block({"next_step": "Do b"}).endswith(
        "1. **DO NOT restart the task from scratch**\n"
        "2. Next step: Do b\n"
        "3. Do not read again what the handoff tells enough about"
    )


def test_no_text_of_a_stranger_ends_what_it_stands_in() -> None:
    hostile = "`|\n## X\n| a | <!-- ```\x1b[2J"
    situation = a_situation(edited(f"/home/user/project/{hostile}", hunk(1, "+a")))
    entry = checkpoint(situation, hostile)
    entry["files_in_progress"] = [{"path": hostile, "lines": hostile, "description": hostile}]
    entry["resume_summary"] = entry["next_step"] = entry["task"] = hostile
    found = block(entry)
    assert [line for line in found.splitlines() if line.startswith("## ")] == [HEADING]
    table = [line for line in found.splitlines() if line.startswith("| ")]
    assert len(table) == 3
    assert {line.replace("\\|", "").count("|") for line in table} == {4}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=600),
    lambda inner: st.lists(inner, max_size=7) | st.fixed_dictionaries(
        {}, optional={"path": inner, "lines": inner, "description": inner, "line": inner}
    ),
)  # fmt: skip
FIELDS = (
    "level", "percent_at_checkpoint", "handoff_file", "resume_summary", "files_in_progress",
    "current_todo_item", "progress_on_item", "occasion", "next_step", "task",
)  # fmt: skip


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)))
def test_any_entry_makes_a_bounded_block(entry: Any) -> None:
    found = block(entry)
    assert found.startswith(HEADING)
    assert len(found) <= CHARACTERS
    assert "**DO NOT restart the task from scratch**" in found


@pytest.mark.parametrize("character", ["x", "|", "`", "😀", "\n"])
def test_long_texts_everywhere_make_a_bounded_block(character: str) -> None:
    text = character * 9_999
    rows = [{"path": text, "lines": text, "description": text}] * 99
    entry: Any = {**dict.fromkeys(FIELDS, text), "files_in_progress": rows}
    assert len(block(entry)) <= CHARACTERS
