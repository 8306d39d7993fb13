from __future__ import annotations

import sys

import pytest

from cli.screen import on_a_terminal

CODE = """
from sisyphus.cli import terminal
style = terminal.style()
print(terminal.columns(), terminal.text_width(), style.is_ascii, repr(style.yellow("x")))
"""

TERMINALS = [
    pytest.param(80, {}, "80 80 False '\\x1b[33mx\\x1b[0m'", id="an ordinary one"),
    pytest.param(300, {}, "300 100 False '\\x1b[33mx\\x1b[0m'", id="a wide one"),
    pytest.param(0, {}, "1000 1000 False '\\x1b[33mx\\x1b[0m'", id="one that says 0"),
    pytest.param(80, {"NO_COLOR": "1"}, "80 80 False 'x'", id="without colours"),
    pytest.param(
        80, {"PYTHONIOENCODING": "ascii"}, "80 80 True '\\x1b[33mx\\x1b[0m'", id="ASCII alone"
    ),
]


@pytest.mark.parametrize(("columns", "environment", "expected"), TERMINALS)
def test_what_a_terminal_can_show(columns: int, environment: dict[str, str], expected: str) -> None:
    shown = on_a_terminal([sys.executable, "-c", CODE], columns=columns, env=environment)
    assert shown.text == f"{expected}\n"


def test_a_pipe_gets_lines_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    exec(CODE, namespace)  # noqa: S102  # the same as above, without a terminal
    assert capsys.readouterr().out.endswith("'x'\n")
