"""What is released: the archives, and the ways in which users get sisyphus from them."""

from __future__ import annotations

import email
from typing import TYPE_CHECKING

import pytest

from e2e import packages
from e2e.dashboards import dashboard
from e2e.newcomer import Newcomer
from e2e.packages import PIPX, UV, Installer, Release, names_of_sdist, texts_of_wheel
from e2e.texts import continuation

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = (
    *(".ci", ".claude-plugin", "bench", "commands", "docs", "src", "tests", "tools", "hooks.json"),
    *("Makefile", "pyproject.toml", ".gitignore", "README.md", "CHANGELOG.md", "LICENSE"),
    "CONTRIBUTING.md",
)
"""What of a checkout is in the source archive."""
PLUGIN = ("hooks.json", "README.md", ".claude-plugin/", "commands/")
AT_LEAST = {"session-start", "user-prompt-submit", "stop"}
"""The hooks of the shortest session but the last, for which the client may not wait."""
SENT = (continuation("Tower", "1/2"), "# Lighthouse")
OURS = (".sisyphus", ".boulder.json", ".boulder.json.lock")
"""What sisyphus keeps in the client's folder, and leaves there: plans and loops are the user's."""


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return packages.build(tmp_path_factory.mktemp("release"))


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    """In a project with a document and a plan, half of which is done."""
    newcomer = Newcomer(tmp_path)
    (newcomer.project / ".claude").mkdir()
    (newcomer.project / ".claude/PLAN.md").write_text("# Tower\n\n- [x] Build it\n- [ ] Light it\n")
    (newcomer.project / "README.md").write_text("# Lighthouse\n")
    return newcomer


def test_the_source_archive_holds_what_building_and_testing_take(release: Release) -> None:
    wanted = {name for name in release.files if name.partition("/")[0] in SHIPPED}

    assert names_of_sdist(release.sdist) == wanted | {"PKG-INFO"}


def test_the_wheel_holds_the_package_and_the_plugin(release: Release) -> None:
    package = {name.removeprefix("src/") for name in release.files if name.startswith("src/")}
    plugin = {f"sisyphus/plugin/{name}" for name in release.files if name.startswith(PLUGIN)}

    found = {name for name in texts_of_wheel(release.wheel) if ".dist-info/" not in name}

    assert found == package | plugin
    assert {"sisyphus/py.typed", "sisyphus/opencode/plugin/sisyphus.js"} <= found
    dashboard = {"templates/base.html", "static/style.css", "static/live.js"}
    assert {f"sisyphus/dashboard/{name}" for name in dashboard} <= found


def test_the_source_archive_becomes_the_same_wheel(release: Release) -> None:
    assert texts_of_wheel(release.wheel_of_sdist) == texts_of_wheel(release.wheel)


def test_the_wheel_has_the_version_and_the_licence(release: Release) -> None:
    texts = texts_of_wheel(release.wheel)
    (told,) = [text for name, text in texts.items() if name.endswith("dist-info/METADATA")]
    about = email.message_from_bytes(told)

    assert (
        f'"version": "{about["Version"]}"'.encode()
        in texts["sisyphus/plugin/.claude-plugin/plugin.json"]
    )
    assert f'"{about["Version"]}"'.encode() in texts["sisyphus/__init__.py"]
    assert any(name.endswith("licenses/LICENSE") for name in texts)


def _bare(newcomer: Newcomer, release: Release) -> Path:
    """The script in an environment of its own, into which pip put the wheel and no more."""
    venv = newcomer.folder / "venv"
    newcomer.shell(packages.PYTHON, "-m", "venv", venv)
    newcomer.shell(venv / "bin/python", "-m", "pip", "install", "--quiet", release.wheel)
    return venv / "bin/sisyphus"


def test_a_bare_environment_is_enough(newcomer: Newcomer, release: Release) -> None:
    script = _bare(newcomer, release)
    version = release.wheel.name.split("-")[1]

    assert newcomer.shell(script, "--version") == f"sisyphus {version}\n"
    assert newcomer.shell(script.with_name("python"), "-m", "sisyphus", "--version")
    assert newcomer.shell(script, "demo")
    assert "No broken requirements" in newcomer.shell(script.with_name("pip"), "check")

    newcomer.shell(script, "install", "--yes")
    commands = newcomer.hook_commands()
    assert [command for command in commands if not command.startswith(f"{script} hook ")] == []
    assert newcomer.heard(newcomer.session(), script) >= AT_LEAST


def test_the_dashboard_comes_with_its_extra(newcomer: Newcomer, release: Release) -> None:
    script = _bare(newcomer, release)
    command = (script, "dashboard", "--no-open", "--port", "0")
    code, said = packages.refusal(command, newcomer.environment)
    assert (code, said.count("\n")) == (1, 1)
    assert "fastapi" in said
    assert f"{script.with_name('python')} -m pip install " in said

    pip = (script.with_name("python"), "-m", "pip", "install", "--quiet")
    newcomer.shell(*pip, f"{release.wheel}[dashboard]")
    with dashboard(newcomer.home, script, newcomer.environment) as served:
        assert "<h1>Overview</h1>" in served.ask("/").text
        assert served.ask("/static/style.css").status == 200
    assert "No broken requirements" in newcomer.shell(script.with_name("pip"), "check")


def test_the_plugin_of_the_wheel_serves_the_client(newcomer: Newcomer, release: Release) -> None:
    script = _bare(newcomer, release)
    (newcomer.folder / "bin").mkdir()
    (newcomer.folder / "bin/sisyphus").symlink_to(script)
    folder = newcomer.shell("sisyphus", "plugin-path").strip()

    assert folder.startswith(str(script.parents[1]))
    assert "Validation passed" in newcomer.plugin("validate", "--strict", folder)
    newcomer.plugin("marketplace", "add", folder)
    newcomer.plugin("install", "sisyphus@sisyphus")
    run = newcomer.session()

    assert [run.requests[0].count(text) for text in SENT] == [1, 1]
    assert newcomer.heard(run) >= AT_LEAST


@pytest.mark.parametrize(
    "installer", [pytest.param(PIPX, id="pipx"), pytest.param(UV, id="uv tool")]
)
def test_a_newcomer_takes_the_way_of_the_readme_and_back(
    newcomer: Newcomer, release: Release, installer: Installer
) -> None:
    installer(newcomer.environment, "install", release.wheel)
    assert newcomer.shell("sisyphus", "demo")
    assert newcomer.traces() == []

    newcomer.shell("sisyphus", "install", "--yes")
    script = newcomer.folder / "bin/sisyphus"
    assert [word for word in newcomer.hook_commands() if not word.startswith(f"{script} ")] == []
    assert ".claude/settings.json" in newcomer.traces()
    assert "problem" not in newcomer.shell("sisyphus", "doctor")
    run = newcomer.session()
    assert [run.requests[0].count(text) for text in SENT] == [1, 1]
    assert newcomer.heard(run) >= AT_LEAST

    newcomer.shell("sisyphus", "uninstall", "--yes")
    assert newcomer.session().hooks == []
    installer(newcomer.environment, "uninstall", "sisyphus")
    assert newcomer.traces() == []
    assert list((newcomer.folder / "bin").iterdir()) == []
    theirs = _places_of_the_client(newcomer.folder / "other")
    assert newcomer.places() - theirs == {*OURS, "session-env"}


def _places_of_the_client(folder: Path) -> set[str]:
    """What it makes in the home of somebody who has never heard of sisyphus. It adds its
    `session-env` where any hook runs at the start of a session."""
    folder.mkdir()
    other = Newcomer(folder)
    assert other.session().hooks == []
    return other.places()
