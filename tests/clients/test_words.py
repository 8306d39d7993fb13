"""The words of a client's transcript and of its native files stand in its own module alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import sisyphus

PACKAGE = Path(sisyphus.__file__).parent

WORDS = (
    "isMeta", "isSidechain", "isCompactSummary", "toolUseResult", "promptId", "turnOrigin",
    '"tool_use"', '"tool_result"', "compactMetadata", "requestedModel", "isApiErrorMessage",
    "quotaLimits", "goal_status", "hook_non_blocking_error", "hook_success", "hook_cancelled",
    "<command-name>", "<command-args>", "Stop hook feedback", "<task-notification>", "<synthetic>",
    "cache_creation_input_tokens", "cc-plugin-agents-md", "CLAUDE.local.md", "claude --resume",
    "opencode -s", "AskUserQuestion", "PowerShell", '"Skill"',
)  # fmt: skip

SPEAK_THEM = ("clients", "opencode", "demo", "doctor/live/model.py", "hook/statusline.py")
"""The demo and the model of `doctor --live` play the client; the status line has a payload of its
own."""


def _may_speak(path: Path) -> bool:
    return any(path.is_relative_to(PACKAGE / name) for name in SPEAK_THEM)


TEXTS = {p: p.read_text(encoding="utf-8") for p in PACKAGE.rglob("*.py") if not _may_speak(p)}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_a_client_stands_in_its_module_alone(word: str) -> None:
    assert [str(path.relative_to(PACKAGE)) for path, text in TEXTS.items() if word in text] == []


def test_there_is_something_to_look_at() -> None:
    whole = "".join(p.read_text(encoding="utf-8") for p in PACKAGE.rglob("clients/*.py"))
    assert [word for word in WORDS if word not in whole] == []
    assert len(TEXTS) > 100
