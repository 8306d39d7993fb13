from __future__ import annotations

from pathlib import Path

from making import put

from ralph.past.log import a_loop, lives
from sisyphus.paths import our_home
from sisyphus.ralph import store
from sisyphus.ralph.past.living import living
from sisyphus.ralph.store import LoopStore


def _ids() -> list[str]:
    return [loop.loop_id for loop, _ in living(our_home())]


def test_without_a_folder_there_is_none() -> None:
    assert _ids() == []


def test_every_session_s_loops_are_found_with_their_files() -> None:
    outer, inner = a_loop("outer"), a_loop("inner")
    with LoopStore(our_home(), "s1") as held:
        held.save([outer, inner])
    lives(a_loop("other", "s2"))

    assert sorted(_ids()) == ["inner", "other", "outer"]
    assert all(Path(path).exists() for _, path in living(our_home()))


def test_half_a_surrogate_pair_in_a_prompt_is_no_obstacle() -> None:
    loop = a_loop()
    loop.prompt = "a\ud83d"
    lives(loop)
    assert _ids() == ["aaaaa"]


def test_what_holds_no_loop_is_left_out() -> None:
    lives(a_loop())
    folder = Path(store.folder(our_home()))
    current = Path(store.loop_path(our_home(), "s1")).read_bytes()
    put(folder / "ralph-loop.s2.local.md", "no loop")
    put(folder / "ralph-loop.s3.local.md", current)  # another session's
    put(folder / "ralph-loop.s1.local.md.tmp", current)
    assert _ids() == ["aaaaa"]
