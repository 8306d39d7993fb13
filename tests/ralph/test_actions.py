from __future__ import annotations

from pathlib import Path

import pytest

from sisyphus.errors import SisyphusError
from sisyphus.ralph import actions
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore, has_loop


@pytest.fixture
def ours(tmp_path: Path) -> str:
    return str(tmp_path / ".sisyphus")


def _save(ours: str, session: str, *prompts: str) -> None:
    with LoopStore(ours, session) as held:
        held.save([Loop(session, f"loop{n}", prompt) for n, prompt in enumerate(prompts)])


def test_loops_of_all_sessions_are_listed_with_prompt_and_file(ours: str) -> None:
    _save(ours, "one", "do it")
    _save(ours, "two", "outer", "inner")

    rows = actions.list_loops(ours)

    assert sorted(row["prompt"] for row in rows) == ["do it", "inner", "outer"]
    assert all(Path(row["state_file_path"]).exists() for row in rows)


def test_without_loops_the_list_is_empty(ours: str) -> None:
    assert actions.list_loops(ours) == []


def test_a_file_that_holds_no_loop_is_left_to_its_session(ours: str) -> None:
    _save(ours, "one", "do it")
    broken = Path(ours, "ralph/loops/ralph-loop.two.local.md")
    broken.write_text("garbage")

    assert len(actions.list_loops(ours)) == 1
    assert broken.read_text() == "garbage"


def test_the_only_loop_is_cancelled_without_naming_it(ours: str) -> None:
    _save(ours, "one", "do it")

    [row] = actions.cancel(ours)

    assert row["prompt"] == "do it"
    assert not has_loop(ours, "one")


def test_cancel_ends_the_loops_that_wait_as_well(ours: str) -> None:
    _save(ours, "one", "outer", "inner")

    assert len(actions.cancel(ours, "one")) == 2
    assert not has_loop(ours, "one")


def test_a_file_that_names_another_session_is_nobodys(ours: str) -> None:
    _save(ours, "one", "do it")
    folder = Path(ours, "ralph/loops")
    (folder / "ralph-loop.one.local.md").rename(folder / "ralph-loop.two.local.md")

    assert actions.list_loops(ours) == []


@pytest.mark.parametrize(
    ("sessions", "named", "said"),
    [
        pytest.param([], "", "no loop is active in any session", id="there is none"),
        pytest.param(["one"], "two", "no loop is active in session two", id="another session"),
        pytest.param(["one", "two"], "", "name one with --session-id: one, two", id="several"),
    ],
)
def test_what_cannot_be_cancelled_says_why(
    ours: str, sessions: list[str], named: str, said: str
) -> None:
    for session in sessions:
        _save(ours, session, "do it")

    with pytest.raises(SisyphusError, match=said):
        actions.cancel(ours, named)
