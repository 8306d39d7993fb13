from __future__ import annotations

import pytest

from sisyphus.cli.output import faint, heading, styled


def test_a_terminal_gets_colour() -> None:
    assert heading("x") != "x"
    assert faint("x") != "x"
    assert styled("x", fg="red") != "x"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_none_gets_none(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert heading("x") == faint("x") == styled("x", fg="red") == "x"
