"""Each client's modules do what the protocols say, as mypy sees it."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.clients.base import Headless, Native, Payload, Transcript
from sisyphus.clients.claude_code import headless
from sisyphus.clients.claude_code import native as claude_native
from sisyphus.clients.claude_code import payload as claude_payload
from sisyphus.clients.claude_code import transcript as claude_transcript
from sisyphus.clients.codex import headless as codex_headless
from sisyphus.clients.codex import native as codex_native
from sisyphus.clients.codex import payload as codex_payload
from sisyphus.clients.codex import transcript as codex_transcript
from sisyphus.clients.copilot import native as copilot_native
from sisyphus.clients.copilot import payload as copilot_payload
from sisyphus.clients.copilot import transcript as copilot_transcript
from sisyphus.clients.opencode import native, payload, transcript
from sisyphus.clients.qwen import native as qwen_native
from sisyphus.clients.qwen import payload as qwen_payload
from sisyphus.clients.qwen import transcript as qwen_transcript

PAYLOADS: tuple[Payload, ...] = (
    claude_payload,
    payload,
    codex_payload,
    qwen_payload,
    copilot_payload,
)
NATIVES: tuple[Native, ...] = (claude_native, native, codex_native, qwen_native, copilot_native)
TRANSCRIPTS: tuple[Transcript, ...] = (
    claude_transcript,
    transcript,
    codex_transcript,
    qwen_transcript,
    copilot_transcript,
)
HEADLESS: tuple[Headless, ...] = (headless, codex_headless)


def test_each_client_is_found_by_its_name() -> None:
    for name, module in zip(clients.NAMES, PAYLOADS, strict=True):
        assert clients.payload(name) is module
        assert name == module.NAME


def test_a_sessions_client_is_known_by_its_id() -> None:
    assert clients.of_id("ses_0a1b2c3d4e5f") == clients.OPENCODE
    assert clients.of_id("01a20779-52a0-7b50-988b-823a4af7461e") == clients.CODEX
    assert clients.of_id("11111111-2222-4333-8444-555555555555") == clients.CLAUDE_CODE
