from __future__ import annotations

import re
from pathlib import Path

import pytest

from sisyphus.documents import parse
from sisyphus.install import commands
from sisyphus.shipped import plugin_folder

SHIPPED = {path.stem: path.read_text() for path in Path(plugin_folder()).glob("commands/*.md")}
TEXTS = commands.texts()


def test_every_command_is_there_under_its_plain_name() -> None:
    assert set(TEXTS) == set(SHIPPED)


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_command_says_the_same_as_in_claude_code(name: str) -> None:
    (before, prompt), (after, body) = parse(SHIPPED[name]), parse(TEXTS[name])
    assert after == {"description": before["description"]}
    assert body == prompt.replace("/sisyphus:", "/")


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_no_command_holds_what_opencode_would_carry_out(name: str) -> None:
    r"""It runs !`…` in a shell, puts in the file after an @, and counts $1 as an argument."""
    assert re.findall(r"!`|(?<![\w`])@|\$\d", parse(TEXTS[name])[1]) == []


TRANSLATED = [
    pytest.param(
        "---\ndescription: Do it\nargument-hint: x\n---\nBody",
        '---\ndescription: "Do it"\n---\nBody',
        id="keys of Claude Code's",
    ),
    pytest.param(
        '---\ndescription: "a: \\"b\\" - c"\n---\n',
        '---\ndescription: "a: \\"b\\" - c"\n---\n',
        id="quotes",
    ),
    pytest.param(
        "---\nagent: plan\nsubtask: true\n---\nBody",
        '---\nagent: "plan"\nsubtask: true\n---\nBody',
        id="keys of OpenCode's",
    ),
    pytest.param("Body", "---\n---\nBody", id="no frontmatter"),
    pytest.param("---\n---\n/sisyphus:enforce on", "---\n---\n/enforce on", id="the prefix"),
]


@pytest.mark.parametrize(("text", "translated"), TRANSLATED)
def test_a_command_is_translated(text: str, translated: str) -> None:
    assert commands.translated(text) == translated


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_for_claude_code_only_the_prefix_goes(name: str) -> None:
    assert commands.for_claude()[name] == SHIPPED[name].replace("/sisyphus:", "/")
