"""`sisyphus doctor --live`: the real clients, wired by `sisyphus install`, whole and broken."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.claude_code import COMMANDS, Json
from e2e.copilot import CACHE
from e2e.desk import CLAUDE_CODE, COPILOT, OPENCODE, QWEN, Desk
from e2e.install import CLAUDE_CODE as CLAUDE_PACKAGE
from e2e.install import COPILOT as COPILOT_PACKAGE
from e2e.install import OPENCODE as OPENCODE_PACKAGE
from e2e.install import QWEN as QWEN_PACKAGE

PROGRAMS = {
    CLAUDE_CODE: ("claude", CLAUDE_PACKAGE.binary),
    OPENCODE: ("opencode", OPENCODE_PACKAGE.binary),
    QWEN: ("qwen", QWEN_PACKAGE.binary),
    COPILOT: ("copilot", COPILOT_PACKAGE.binary),
}
MODEL = {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
"""What no user has set."""


@pytest.fixture
def bench(tmp_path: Path, desk: Desk, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A desk of a user who has one client and has installed sisyphus. Afterwards nothing is left
    where temporary files go."""
    program, binary = PROGRAMS[request.param]
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / program).symlink_to(binary.resolve())
    if request.param == COPILOT:  # it has unpacked itself before
        CACHE.mkdir(parents=True, exist_ok=True)
        (desk.home / ".cache").symlink_to(CACHE)
    done = sisyphus(desk, "install", "--yes", "--client", request.param)
    assert done.returncode == 0, done.stderr
    yield desk
    assert not list((desk.home / "tmp").glob("sisyphus-*"))


def sisyphus(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of ours as a user of this desk does, behind a proxy that nobody answers."""
    variables = {name: text for name, text in desk.environment().items() if name not in MODEL}
    path = f"{desk.home.parent / 'bin'}{os.pathsep}{variables['PATH']}"
    return subprocess.run(
        [COMMANDS / "sisyphus", *words],
        cwd=desk.project,
        env={**variables, "PATH": path, "HTTPS_PROXY": "http://127.0.0.1:9"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def live(desk: Desk) -> list[Json]:
    """What `--live` finds."""
    done = sisyphus(desk, "doctor", "--live", "--json")
    assert done.returncode in (0, 1), done.stderr
    findings: list[Json] = json.loads(done.stdout)["findings"]
    return [each for each in findings if each["subject"].endswith(" live")]


def files(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("bench", [CLAUDE_CODE, OPENCODE, QWEN, COPILOT], indirect=True)
def test_a_new_install_is_good_in_two_lines_and_changes_nothing(bench: Desk) -> None:
    before = files(bench.home)

    done = sisyphus(bench, "doctor", "--live")

    assert done.returncode == 0, done.stdout + done.stderr
    tried, all_of_it = done.stdout.splitlines()
    assert "live: tried, 3 of 3 hooks arrived" in tried
    assert all_of_it.startswith("All is well")
    assert files(bench.home) == before
    [finding] = live(bench)
    assert finding["level"] == "good"
    assert "a session started, the agent read a file and the agent stopped." in finding["text"]


def drop(settings: Json) -> None:
    del settings["hooks"]["Stop"], settings["hooks"]["SessionStart"]


def lead_nowhere(settings: Json) -> None:
    for groups in settings["hooks"].values():
        for hook in (hook for group in groups for hook in group["hooks"]):
            _, _, rest = hook["command"].partition(" hook ")
            hook["command"] = f"/gone/sisyphus hook {rest}"


@pytest.mark.parametrize("bench", [CLAUDE_CODE], indirect=True)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (drop, "it did not call sisyphus when a session started or the agent stopped."),
        (lambda s: s.update(disableAllHooks=True), 'settings.json sets "disableAllHooks"'),
        (lead_nowhere, "The hook for SessionStart, "),
        (lambda s: s.update(permissions={"allow": "Read"}), "it did not call sisyphus when"),
    ],
    ids=["hooks out", "switched off", "program gone", "a wrong entry"],
)
def test_settings_that_break_the_wiring(
    bench: Desk, change: Callable[[Json], object], text: str
) -> None:
    file = bench.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    change(settings)
    file.write_text(json.dumps(settings))

    [problem] = live(bench)

    assert problem["level"] == "problem"
    assert text in problem["text"]
    assert problem["mend"]


@pytest.mark.parametrize("bench", [CLAUDE_CODE], indirect=True)
def test_hooks_for_one_project_alone_work_too(bench: Desk) -> None:
    sisyphus(bench, "uninstall", "--yes", "--client", CLAUDE_CODE)
    sisyphus(bench, "install", "--yes", "--client", CLAUDE_CODE, "--scope", "local")

    [finding] = live(bench)

    assert finding["level"] == "good", finding


@pytest.mark.parametrize("bench", [OPENCODE], indirect=True)
@pytest.mark.parametrize(
    ("place", "old", "new", "text"),
    [
        ("plugins/sisyphus.js", "const [PROGRAM, ...OPTIONS] = [", "", "it did not call sisyphus"),
        ("plugins/sisyphus.js", '/python", ', '/gone", ', "/gone -I -m sisyphus was not found"),
        ("command/start-work.md", "", "", "it does not know the slash command /start-work."),
    ],
    ids=["plugin broken", "program gone", "command gone"],
)
def test_files_that_break_the_wiring(
    bench: Desk, place: str, old: str, new: str, text: str
) -> None:
    file = bench.home / ".config" / "opencode" / place
    content = file.read_text()
    assert old in content
    file.write_text(content.replace(old, new)) if old else file.unlink()

    [problem] = live(bench)

    assert problem["level"] == "problem"
    assert text in problem["text"]
    assert problem["mend"]


@pytest.mark.parametrize("bench", [QWEN], indirect=True)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (drop, "it did not call sisyphus when a session started or the agent stopped."),
        (lambda s: s.update(disableAllHooks=True), 'settings.json sets "disableAllHooks"'),
        (lead_nowhere, "it did not call sisyphus when"),
        (lambda s: s.update(permissions={"allow": "Read"}), "3 of 3 hooks arrived"),
    ],
    ids=["hooks out", "switched off", "program gone", "a wrong entry"],
)
def test_settings_that_break_the_wiring_of_qwen_code(
    bench: Desk, change: Callable[[Json], object], text: str
) -> None:
    file = bench.home / ".qwen" / "settings.json"
    settings = json.loads(file.read_text())
    change(settings)
    file.write_text(json.dumps(settings))

    [finding] = live(bench)

    assert text in finding["text"]
    assert bool(finding["mend"]) == (finding["level"] == "problem")
