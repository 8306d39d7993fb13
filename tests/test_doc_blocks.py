"""Every code block of the documents is true: commands run, texts are said, settings exist."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages.blocks import Block, blocks, holds, shows, steps
from pages.scenes import SCENES
from pages.stand import Stand

from sisyphus import documents
from sisyphus.clients.claude_code import BATCH, CLIENT_EVENTS
from sisyphus.ralph import arguments
from sisyphus.rules.keys import _KNOWN as KEYS
from sisyphus.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKOUT = Path(__file__).parents[1]
PAGES = [
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    *sorted((CHECKOUT / "docs").glob("*.md")),
]
BLOCKS = [block for page in PAGES for block in blocks(page)]
TYPED = {
    typed
    for page in PAGES
    for typed in re.findall(
        r"(?:`|^ +)/ralph-loop (\".*?)(?:`|$)", page.read_text(encoding="utf-8"), re.MULTILINE
    )
}
"""What stands behind `/ralph-loop`."""

MOST_NOT_RUN = 5


def _console(block: Block, stand: Stand) -> None:
    """Each command ends well, but where it is shown to fail; what is shown is what it writes."""
    for step in steps(block.body):
        code, written = stand.type(step.command)
        fails = step.shown.startswith("error: ")
        assert code == int(fails), f"{step.command}\n{written}"
        assert not step.shown or shows(step.shown, written), f"{step.command}\n{written}"


def _script(block: Block, stand: Stand) -> None:
    code, written = stand.type(block.body)
    assert code == 0, written


def _settings(block: Block, _: Stand) -> None:
    for section, table in tomllib.loads(block.body).items():
        for name, value in table.items():
            assert SETTINGS[f"{section}.{name}"].accepts(value), name


def _json(block: Block, stand: Stand) -> None:
    value = json.loads(block.body)
    if block.event:
        batch = {BATCH} if "tool_calls" in value else {CLIENT_EVENTS[block.event]}
        assert {value["hook_event_name"]} == batch
        stand.hook(block.event, value)
        code, written = stand.type(f"sisyphus why --all --session-id {value['session_id']}")
        assert code == 0
        assert block.event in written


def _frontmatter(block: Block, _: Stand) -> None:
    fields, _rest = documents.parse(block.body)
    assert fields
    assert set(fields) <= set(KEYS)


READ: dict[str, Callable[[Block, Stand], None]] = {
    "console": _console,
    "sh": _script,
    "toml": _settings,
    "json": _json,
    "yaml": _frontmatter,
}


@pytest.mark.parametrize("block", [b for b in BLOCKS if not b.why_not], ids=str)
def test_a_block_is_true(block: Block, tmp_path: Path) -> None:
    stand = Stand(tmp_path)
    said = "".join([stand.plain(SCENES[name](stand)) for name in block.scenes])
    if block.language == "text":
        assert holds(said, block.body), said
    else:
        READ[block.language](block, stand)


@pytest.mark.parametrize("typed", sorted(TYPED))
def test_a_loop_that_is_typed_is_understood(typed: str) -> None:
    assert arguments.parse(typed).completion_promise


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    assert len([block for block in BLOCKS if block.why_not]) <= MOST_NOT_RUN


@pytest.mark.parametrize(
    ("expected", "written", "same"),
    [
        pytest.param("a\nb\n", "a\nb", True, id="the same"),
        pytest.param("a\n", "a\nb\n", False, id="more is written"),
        pytest.param("a\n…\n", "a\nb\nc\n", True, id="any lines"),
        pytest.param("at … o'clock", "at 9 o'clock", True, id="anything within a line"),
        pytest.param("a.b", "axb", False, id="nothing else is a pattern"),
    ],
)
def test_what_is_shown_is_compared(expected: str, written: str, *, same: bool) -> None:
    assert shows(expected, written) is same


def test_a_command_may_go_over_several_lines() -> None:
    first, second = steps("$ a \\\n  b\nout\n$ c\n")

    assert (first.command, first.shown) == ("a \\\n  b", "out\n")
    assert (second.command, second.shown) == ("c", "")


def test_a_renamed_command_is_noticed(tmp_path: Path) -> None:
    block = Block("x.md", 1, "console", "$ sisyphus boulder state\n")

    with pytest.raises(AssertionError, match="No such command"):
        _console(block, Stand(tmp_path))


def test_a_renamed_option_is_noticed(tmp_path: Path) -> None:
    block = Block("x.md", 1, "console", "$ sisyphus boulder list --as-json\n")

    with pytest.raises(AssertionError, match="No such option"):
        _console(block, Stand(tmp_path))


TAKEN = [
    "make test", "make", "claude --version", "claude -p < /dev/null", "opencode --version",
    "pipx install .", "pipx install dist/sisyphus-1.2.3-py3-none-any.whl",
    "pipx uninstall sisyphus", "uv tool install .", "pytest -q", "vi README.md", "git --version",
    "claude -p --output-format stream-json --verbose --session-id x --permission-mode plan <&-",
]  # fmt: skip
REFUSED = [
    "make tset", "make .PHONY", "make -B test", "claude --verison", "claude",
    "claude plugin instal x", "claude -p --output-format text",
    "claude -p --output-format stream-json",
    "claude -p --output-format stream-json --verbose --session-id x --permission-mode acceptEdit",
    "opencode --versoin", "pipx instal .", "pipx install sisyphus", "uv install .",
    "pip install sisyphus", "pytest --quite", "vi nowhere", "vi", "git clone https://example.org/x",
]  # fmt: skip


@pytest.mark.parametrize("command", TAKEN)
def test_a_stand_in_takes_what_the_real_program_takes(command: str, tmp_path: Path) -> None:
    stand = Stand(tmp_path)
    stand.write("README.md", "")

    assert stand.type(command)[0] == 0


@pytest.mark.parametrize("command", REFUSED)
def test_a_stand_in_refuses_what_no_page_may_type(command: str, tmp_path: Path) -> None:
    block = Block("x.md", 1, "console", f"$ {command}\n")

    with pytest.raises(AssertionError, match="no page types it so"):
        _console(block, Stand(tmp_path))


def test_a_renamed_setting_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        _settings(Block("x.md", 1, "toml", "[ralph]\nidle = 1\n"), Stand(tmp_path))
