"""The context injector as the client meets it: payloads on stdin, the real command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from making import debug_log, ours, put, run_hook, stored

from sisyphus.clients.claude_code import heard

if TYPE_CHECKING:
    from pathlib import Path

README = "# Lighthouse\n\nKeeps ships off the rocks.\n"
AGENTS = "Never touch the lamp.\n"

HEAD = "<system-reminder>\nThe following project documentation is available:\n\n"
TAIL = "\n\n</system-reminder>"
README_SENT = f"{HEAD}# README.md\n\n# Lighthouse\n\nKeeps ships off the rocks.{TAIL}"


class Client:
    """A client whose session works in this project."""

    def __init__(self, project: Path) -> None:
        self.project = project

    def hook(self, event: str, **raw: object) -> dict[str, Any]:
        payload = {"session_id": "s1", "cwd": str(self.project), **raw}
        code, reply = run_hook(event, payload)
        assert code == 0
        return reply

    def start(self, source: str = "startup") -> str:
        return heard(self.hook("session-start", source=source))[0]

    def prompt(self) -> str:
        return heard(self.hook("user-prompt-submit", prompt="go on"))[0]

    def read(self, name: str) -> str:
        touched = {"file_path": str(self.project / name)}
        return heard(self.hook("post-tool-use", tool_name="Read", tool_input=touched))[0]


@pytest.fixture
def client(project: Path) -> Client:
    """In the project is a CLAUDE.md, so that the client leaves AGENTS.md to us."""
    put(project / ".claude" / "CLAUDE.md", "Be kind.\n")
    return Client(project)


def test_a_project_with_a_readme_is_shown_it(client: Client) -> None:
    put(client.project / "README.md", README)
    assert client.start() == README_SENT


def test_a_project_with_agents_md_is_shown_it(client: Client) -> None:
    put(client.project / "AGENTS.md", AGENTS)
    assert client.start() == f"{HEAD}# AGENTS.md\n\nNever touch the lamp.{TAIL}"


def test_claude_md_is_left_to_the_client(client: Client) -> None:
    assert client.start() == ""


def test_agents_md_is_left_to_a_client_that_loads_it(client: Client) -> None:
    put(client.project / "AGENTS.md", AGENTS)
    (client.project / ".claude" / "CLAUDE.md").unlink()
    assert client.start() == ""


def test_both_documents_stand_in_one_reminder(client: Client) -> None:
    put(client.project / "README.md", README)
    put(client.project / "AGENTS.md", AGENTS)
    assert client.start() == (
        "<system-reminder>\n"
        "The following project documentation is available:\n"
        "\n"
        "# README.md\n"
        "\n"
        "# Lighthouse\n"
        "\n"
        "Keeps ships off the rocks.\n"
        "\n"
        "---\n"
        "\n"
        "# AGENTS.md\n"
        "\n"
        "Never touch the lamp.\n"
        "\n"
        "</system-reminder>"
    )


def test_of_a_very_large_readme_500_lines_are_shown_with_a_warning(client: Client) -> None:
    put(client.project / "README.md", "".join(f"line {n}\n" for n in range(1, 1_201)))
    text = client.start()
    assert "\nline 1\n" in text
    assert "\nline 500\n" in text
    assert "\nline 501\n" not in text
    assert "[README.md is cut after line 500 of 1,200: read the file for the rest.]" in text


def test_agents_md_is_shown_whole(client: Client) -> None:
    put(client.project / "AGENTS.md", "".join(f"line {n}\n" for n in range(1, 801)))
    assert "\nline 1\nline 2\n" in (text := client.start())
    assert "\nline 799\nline 800\n" in text


def test_all_documents_together_are_50_000_characters_at_most(client: Client) -> None:
    put(client.project / "AGENTS.md", ("¤" * 99 + "\n") * 400)
    put(client.project / "README.md", ("§" * 99 + "\n") * 400)
    told = [client.start()]
    while told[-1]:
        told.append(client.prompt())
    text = "".join(told)
    assert text.count("¤") == 99 * 400
    assert 9_000 < text.count("§") < 10_000
    assert "[README.md is cut after line" in text


def test_a_resumed_session_is_not_shown_them_again(client: Client, home: Path) -> None:
    readme = put(client.project / "README.md", README)
    assert [client.start(), client.start("resume")] == [README_SENT, ""]
    ledger = stored(ours(home, "context-injector/session-s1.json"))
    assert ledger["injected_paths"] == [str(readme)]


def test_a_folders_readme_is_shown_with_the_first_file_read_there(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_CONTEXT_DIRECTORY_README", "1")
    put(client.project / "backend" / "README.md", "Of the backend.\n")
    told = [client.read(f"backend/api/{name}.py") for name in ("users", "users", "orders")]
    assert told == [f"{HEAD}# backend/README.md\n\nOf the backend.{TAIL}", "", ""]


def test_missing_documents_are_passed_over_in_silence(client: Client, home: Path) -> None:
    assert client.hook("session-start", source="startup") == {}
    assert debug_log(home) == ""


NO_TEXT = [
    pytest.param(b"\x89PNG\r\n\x1a\n\0\0", id="binary"),
    pytest.param("Käse".encode("latin-1"), id="not UTF-8"),
]


@pytest.mark.parametrize("data", NO_TEXT)
def test_a_readme_that_is_no_text_is_passed_over(client: Client, data: bytes) -> None:
    put(client.project / "README.md", data)
    assert client.start() == ""


def test_without_a_memory_a_resume_is_no_news_for_the_user(client: Client, home: Path) -> None:
    put(client.project / "README.md", README)
    put(ours(home, ""), "a file in the place of our folder")
    assert heard(client.hook("session-start", source="resume"))[1] == ""
