from __future__ import annotations

import pytest

from sisyphus.doctor import lines

SINGLE = [
    pytest.param("sisyphus hook stop || true", ["sisyphus", "hook", "stop"], id="or true"),
    pytest.param("A=1 B='x y' s hook stop", ["s", "hook", "stop"], id="variables"),
    pytest.param('"$HOME/s" hook stop 2>/dev/null || :', ["HOME/s", "hook", "stop"], id="home"),
    pytest.param("~/s hook stop", ["HOME/s", "hook", "stop"], id="tilde"),
    pytest.param(
        "py -m sisyphus hook stop --scope user",
        ["py", "-m", "sisyphus", "hook", "stop", "--scope", "user"],
        id="a scope",
    ),
]


@pytest.mark.parametrize(("command", "expected"), SINGLE)
def test_one_program_with_our_words_at_its_end(
    monkeypatch: pytest.MonkeyPatch, command: str, expected: list[str]
) -> None:
    monkeypatch.setenv("HOME", "HOME")

    assert lines.words(command) == expected


MORE = [
    "a; sisyphus hook stop", "a\nsisyphus hook stop", "a && sisyphus hook stop",
    "a | sisyphus hook stop", "sisyphus hook stop > /x", "sisyphus hook stop &",
    "X=$(a) sisyphus hook stop", "`a` hook stop", 'X="`a`" sisyphus hook stop',
    "sisyphus hook stop || rm x", "(sisyphus hook stop)", "sisyphus hook stop #", "hook stop",
    "$aa" * 300 + ";", '"' + "$aa" * 300 + "`", "a" * 2_000 + " hook stop",
]  # fmt: skip


@pytest.mark.parametrize("command", MORE)
def test_what_is_more_than_that(command: str) -> None:
    assert lines.words(command) == []
