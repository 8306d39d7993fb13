from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.notify.environment import for_commands

if TYPE_CHECKING:
    import pytest


def test_a_command_is_told_nothing_that_the_client_tells_its_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ACCESS_TOKEN", "secret")
    monkeypatch.setenv("SISYPHUS_RUN", "ab3de")
    monkeypatch.setenv("LINEAR_API_KEY", "lin_api_1")
    found = for_commands()
    assert [name for name in found if name.startswith("CLAUDE")] == ["CLAUDE_CONFIG_DIR"]
    assert "SISYPHUS_RUN" not in found
    assert found["LINEAR_API_KEY"] == "lin_api_1"
    assert "PATH" in found
