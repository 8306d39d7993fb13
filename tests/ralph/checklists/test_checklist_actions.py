from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ralph.checklists.scene import NOW, a_loop, end_all, save
from sisyphus.errors import SisyphusError
from sisyphus.ralph.checklists.checklist_actions import Which, add, described, mark, remove, show
from sisyphus.ralph.checklists.criteria import COMPLETED, listed

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


@pytest.fixture
def ours(tmp_path: Path) -> str:
    return str(tmp_path / ".sisyphus")


def _which(ours: str, session: str = "", loop_id: str = "") -> Which:
    return Which(ours, NOW, session=session, loop_id=loop_id)


def _texts(found: Json) -> list[str]:
    return [criterion.text for criterion in listed(found)]


def test_the_only_loop_needs_no_name(ours: str) -> None:
    save(ours, a_loop())

    found = add(_which(ours), ["one", "two"])

    assert (found["loop_id"], _texts(found)) == ("abcde", ["one", "two"])
    assert show(_which(ours)) == found


def test_the_current_loop_of_a_session_is_the_nested_one(ours: str) -> None:
    save(ours, a_loop("outer"), a_loop("inner"))

    assert add(_which(ours), ["one"])["loop_id"] == "inner"
    assert add(_which(ours, loop_id="outer"), ["one"])["loop_id"] == "outer"


def test_a_session_is_named_or_is_the_one_around_us(
    ours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(ours, a_loop("abcde", "s1"))
    save(ours, a_loop("fghij", "s2"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s2")

    assert show(_which(ours))["loop_id"] == "fghij"
    assert show(_which(ours, "s1"))["loop_id"] == "abcde"
    assert show(_which(ours, "s1", "fghij"))["loop_id"] == "fghij"


def test_a_tick_notes_the_iteration(ours: str) -> None:
    save(ours, a_loop(iteration=4))
    add(_which(ours), ["one"])

    [raw] = mark(_which(ours), ["1"], COMPLETED)["completion_criteria"]

    assert raw["completed_iteration"] == 4


def test_what_is_taken_off_is_gone(ours: str) -> None:
    save(ours, a_loop())
    add(_which(ours), ["one", "two"])

    assert _texts(remove(_which(ours), ["1"])) == ["two"]


def test_a_checklist_that_was_never_written_is_empty(ours: str) -> None:
    save(ours, a_loop())

    found = show(_which(ours))

    assert found["completion_criteria"] == []
    assert described(found) == (
        'The checklist of loop abcde is empty: sisyphus ralph checklist add "TEXT"'
    )


def test_people_see_the_whole_checklist(ours: str) -> None:
    save(ours, a_loop())
    add(_which(ours), ["tests pass", "x" * 500])

    assert described(mark(_which(ours), ["1"], COMPLETED)) == (
        f"Checklist of loop abcde (1 of 2 done)\n- [x] 1 tests pass\n- [ ] 2 {'x' * 500}"
    )


def test_a_loop_that_has_ended_keeps_its_checklist(ours: str) -> None:
    save(ours, a_loop())
    found = add(_which(ours), ["one"])
    end_all(ours)

    which = _which(ours, loop_id="abcde")
    assert show(which) == found
    with pytest.raises(SisyphusError, match="loop abcde has ended; its checklist stays"):
        add(which, ["two"])
    with pytest.raises(SisyphusError, match="has ended"):
        mark(which, ["1"], COMPLETED)
    with pytest.raises(SisyphusError, match="has ended"):
        remove(which, ["1"])


NOT_FOUND = [
    pytest.param([], "", "", "no loop is active in any session", id="there is none"),
    pytest.param(["s1"], "s9", "", "no loop is active in session s9", id="another session"),
    pytest.param(["s1", "s2"], "", "", "name one with --loop", id="several"),
    pytest.param(["s1"], "", "xxxxx", "there is no loop xxxxx", id="another loop"),
    pytest.param([], "", "../../x", r"there is no loop \.\./\.\./x", id="an unsafe name"),
    pytest.param([], "../../x", "", "no loop is active in session", id="an unsafe session"),
]


@pytest.mark.parametrize(("sessions", "session", "loop_id", "said"), NOT_FOUND)
def test_without_the_loop_it_is_said_why(
    ours: str, sessions: list[str], session: str, loop_id: str, said: str
) -> None:
    for number, name in enumerate(sessions):
        save(ours, a_loop(f"loop{number}", name))

    with pytest.raises(SisyphusError, match=said):
        show(_which(ours, session, loop_id))
    with pytest.raises(SisyphusError, match=said):
        add(_which(ours, session, loop_id), ["one"])
