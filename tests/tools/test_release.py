from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from making import put, without_coverage

CHECKOUT = Path(__file__).parents[2]
PACKAGE, MANIFEST, CHANGELOG = (
    "src/sisyphus/__init__.py",
    ".claude-plugin/plugin.json",
    "CHANGELOG.md",
)
ADDED = "\n### Added\n\n- A thing.\n\n"
UNRELEASED = f"# Changelog\n\n## [Unreleased]\n{ADDED}"
RELEASED = f"# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n{ADDED}"
CHANGED_SINCE = f"# Changelog\n\n## [Unreleased]\n{ADDED}## [1.2.3] - 2026-01-01\n{ADDED}"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What of a checkout says a version; 1.2.3, not yet released."""
    for name in (PACKAGE, MANIFEST):
        put(tmp_path / name, (CHECKOUT / name).read_text("utf-8"))
    put(tmp_path / CHANGELOG, UNRELEASED)
    assert _run(tmp_path, "set", "1.2.3").returncode == 0
    put(tmp_path / CHANGELOG, UNRELEASED)
    return tmp_path


def _run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CHECKOUT / "tools/release.py", *words],
        cwd=tree,
        env=without_coverage(),
        capture_output=True,
        text=True,
        check=False,
    )


def _texts(tree: Path) -> dict[str, str]:
    return {name: (tree / name).read_text("utf-8") for name in (PACKAGE, MANIFEST, CHANGELOG)}


def test_this_checkout_agrees_on_its_version() -> None:
    """Changes since the last release are no fault before the next one."""
    assert " says " not in _run(CHECKOUT, "check").stderr


AGREED = [
    pytest.param(UNRELEASED, id="a first version to come"),
    pytest.param(RELEASED, id="a release"),
    pytest.param(f"## [Unreleased]\n{ADDED}## [1.2.2] - 2025\n{ADDED}", id="the one after another"),
]


@pytest.mark.parametrize("changelog", AGREED)
def test_what_agrees_can_be_built(tree: Path, changelog: str) -> None:
    put(tree / CHANGELOG, changelog)

    assert (_run(tree, "check").returncode, _run(tree, "check").stderr) == (0, "")


SKEWED = [
    pytest.param(PACKAGE, '__version__ = "1.2.4"\n', "plugin.json says 1.2.3", id="package"),
    pytest.param(MANIFEST, '{\n  "version": "1.2.4"\n}\n', "plugin.json says 1.2.4", id="plugin"),
    pytest.param(MANIFEST, "{}\n", "plugin.json names no version", id="plugin without one"),
    pytest.param(CHANGELOG, CHANGED_SINCE, "1.2.3 is released", id="changes after the release"),
    pytest.param(CHANGELOG, "# Changelog\n", "says nothing of 1.2.3", id="no entry"),
    pytest.param(CHANGELOG, "## [Unreleased]\n\n", "says nothing of 1.2.3", id="an empty entry"),
    pytest.param(CHANGELOG, f"## [1.2.2]\n{ADDED}", "says nothing of 1.2.3", id="an older entry"),
]


@pytest.mark.parametrize(("name", "text", "why"), SKEWED)
def test_what_disagrees_is_not_built(tree: Path, name: str, text: str, why: str) -> None:
    put(tree / name, text)

    ran = _run(tree, "check")

    assert ran.returncode == 1
    assert ran.stderr.startswith("error: ")
    assert why in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_version_is_given_to_all_three(tree: Path) -> None:
    before = _texts(tree)

    assert _run(tree, "set", "1.3.0").returncode == 0

    after = _texts(tree)
    assert after[PACKAGE] == before[PACKAGE].replace("1.2.3", "1.3.0")
    assert after[MANIFEST] == before[MANIFEST].replace("1.2.3", "1.3.0")
    assert after[CHANGELOG].startswith("# Changelog\n\n## [Unreleased]\n\n## [1.3.0] - 20")
    assert after[CHANGELOG].endswith(f"\n{ADDED}")
    assert _run(tree, "check").returncode == 0


REFUSED = [
    pytest.param("", "is no version", id="none"),
    pytest.param("1.3", "is no version", id="two numbers"),
    pytest.param("v1.3.0", "is no version", id="a tag"),
    pytest.param("1.3.0rc1", "is no version", id="not semantic"),
    pytest.param("1.03.0", "is no version", id="a leading zero"),
    pytest.param('1.3.0"\nimport os', "is no version", id="more than a version"),
    pytest.param("1.2.3", "in CHANGELOG.md already", id="one that is out"),
]


@pytest.mark.parametrize(("version", "why"), REFUSED)
def test_what_is_no_new_version_changes_nothing(tree: Path, version: str, why: str) -> None:
    put(tree / CHANGELOG, CHANGED_SINCE)
    before = _texts(tree)

    ran = _run(tree, "set", version)

    assert (ran.returncode, _texts(tree)) == (1, before)
    assert why in ran.stderr


def test_nothing_new_is_no_version(tree: Path) -> None:
    put(tree / CHANGELOG, RELEASED)

    assert "nothing below `## [Unreleased]`" in _run(tree, "set", "1.3.0").stderr


def test_elsewhere_than_in_a_checkout_it_says_what_is_missing(tmp_path: Path) -> None:
    ran = _run(tmp_path, "check")

    assert ran.returncode == 1
    assert PACKAGE in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("words", [[], ["set"], ["bake"], ["check", "it"]])
def test_other_words_are_answered_by_how_it_is_used(tmp_path: Path, words: list[str]) -> None:
    ran = _run(tmp_path, *words)

    assert ran.returncode == 2
    assert "set X.Y.Z" in ran.stderr


def test_make_gives_the_version_that_it_is_told(tree: Path) -> None:
    shutil.copy(CHECKOUT / "Makefile", tree)
    shutil.copytree(CHECKOUT / "tools", tree / "tools")
    command = ["make", "-s", "version", "TO=2.0.0", f"PYTHON={sys.executable}"]

    subprocess.run(command, cwd=tree, env=without_coverage(), check=True)

    assert '"2.0.0"' in (tree / PACKAGE).read_text("utf-8")
