from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from ralph.checklists.scene import AT
from sisyphus.ralph.checklists.checklist import REMINDER_CHARACTERS, gate, reminder
from sisyphus.ralph.checklists.checklist_store import checklist_path, update
from sisyphus.ralph.checklists.criteria import COMPLETED, IN_PROGRESS, MOST, added, marked

LOOP = {"loop_id": "abcde", "session_id": "s1", "project": "/home/me/shop"}


@pytest.fixture
def ours(tmp_path: Path) -> str:
    return str(tmp_path / ".sisyphus")


def _add(ours: str, *texts: str) -> None:
    update(ours, LOOP, AT, lambda found: added(found, texts, AT))


def _mark(ours: str, status: str, *ids: str) -> None:
    update(ours, LOOP, AT, lambda found: marked(found, ids, status, AT, 3))


def test_without_a_checklist_nothing_is_said_and_nothing_is_done(ours: str) -> None:
    assert reminder(ours, "abcde") == ""
    is_open, why = gate(ours, "abcde")
    assert not is_open
    assert why.startswith("it is empty; write down what must be true")
    assert '`sisyphus ralph checklist add "TEXT" …`' in why
    assert not Path(ours).exists()


@pytest.mark.parametrize("content", ["garbage", "[]", "{}", '{"completion_criteria": 7}'])
def test_a_file_without_criteria_is_as_good_as_none(ours: str, content: str) -> None:
    put(Path(checklist_path(ours, "abcde")), content)

    assert reminder(ours, "abcde") == ""
    assert not gate(ours, "abcde")[0]


def test_the_reminder_shows_the_checklist_and_how_to_tick(ours: str) -> None:
    _add(ours, "tests pass", "docs say so", "no warnings", "released")
    _mark(ours, COMPLETED, "1", "4")
    _mark(ours, IN_PROGRESS, "3")

    assert reminder(ours, "abcde") == (
        "Checklist (2 of 4 done):\n"
        "- [x] 1 tests pass\n"
        "- [ ] 2 docs say so\n"
        "- [>] 3 no warnings\n"
        "- [x] 4 released\n"
        "Tick what is done: `sisyphus ralph checklist done 2`"
    )


def test_of_a_complete_checklist_nothing_is_left_to_tick(ours: str) -> None:
    _add(ours, "tests pass")
    _mark(ours, COMPLETED, "1")

    assert reminder(ours, "abcde") == "Checklist (1 of 1 done):\n- [x] 1 tests pass"


def test_of_a_long_checklist_the_open_criteria_are_shown(ours: str) -> None:
    _add(ours, *(f"criterion {'x' * 30} {number}" for number in range(MOST)))
    _mark(ours, COMPLETED, *(str(number) for number in range(1, 96)))

    shown = reminder(ours, "abcde").splitlines()

    assert [line.split()[3] for line in shown[1:6]] == ["96", "97", "98", "99", "100"]
    assert shown[6:] == [
        "- … and 95 more: `sisyphus ralph checklist list`",
        "Tick what is done: `sisyphus ralph checklist done 96`",
    ]


@given(st.integers(1, MOST), st.integers(0, MOST), st.integers(1, 600))
def test_a_reminder_is_short(
    tmp_path_factory: pytest.TempPathFactory, count: int, completed: int, length: int
) -> None:
    ours = str(tmp_path_factory.mktemp("ours"))
    _add(ours, *(f"{number}{'🎉' * length}" for number in range(count)))
    _mark(ours, COMPLETED, *(str(number) for number in range(1, min(completed, count) + 1)))

    shown = reminder(ours, "abcde")

    assert len(shown) <= REMINDER_CHARACTERS
    assert shown.startswith(f"Checklist ({min(completed, count)} of {count} done):\n- ")


def test_the_gate_is_closed_while_anything_is_open(ours: str) -> None:
    _add(ours, "tests pass", "docs say so", "no warnings")
    _mark(ours, COMPLETED, "1")
    _mark(ours, IN_PROGRESS, "2")

    assert gate(ours, "abcde") == (
        False,
        "1 of 3 criteria are completed; open: 2 docs say so; 3 no warnings",
    )


def test_the_gate_opens_when_all_is_completed(ours: str) -> None:
    _add(ours, "tests pass", "docs say so")
    _mark(ours, COMPLETED, "1", "2")

    assert gate(ours, "abcde") == (True, "2 of 2 criteria are completed")


def test_the_gate_names_a_few(ours: str) -> None:
    _add(ours, *(f"{number} {'x' * 400}" for number in range(8)))

    why = gate(ours, "abcde")[1]

    assert "5 4 xxx" in why
    assert why.endswith("...; and 3 more")
    assert len(why) < 600
