"""The workflows of this repository: they run what `make` runs, may do as little as they need, and a
release has the version and the notes of its tag."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
NAMES = sorted(file.name for file in FOLDER.glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

CHANGELOG = """\
# Changelog

## [Unreleased]

- Soon.

## [1.1.0] - 2026-12-01

### Added

- A page, [CI](docs/ci.md#a-loop), and [another](https://example.org/a.md).

### Fixed

- ## is no heading here.

## [1.0.0] - 2026-11-26

- The first.

## [0.1.0] - 2026-10-01
"""


def workflow(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text())


def steps(name: str) -> list[dict[str, Any]]:
    jobs = workflow(name)["jobs"].values()
    return [step for job in jobs for step in job.get("steps", [])]


def run(name: str, folder: Path, tag: str) -> subprocess.CompletedProcess[str]:
    """Runs a step of the release as GitHub does."""
    [script] = [step["run"] for step in steps("release.yml") if step.get("name") == name]
    env = {
        "PATH": os.environ["PATH"],
        "GITHUB_REF_NAME": tag,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "ada/kiln",
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


# ---------------------------------------------------------------- what they may do


@pytest.mark.parametrize("name", NAMES)
def test_a_job_may_write_only_what_it_is_for(name: str) -> None:
    wanted = {
        ("release.yml", "publish"): {"id-token": "write"},
        ("release.yml", "page"): {"contents": "write"},
    }
    loaded = workflow(name)

    assert loaded["permissions"] == {"contents": "read"}
    for job, each in loaded["jobs"].items():
        assert each.get("permissions") == wanted.get((name, job)), job


@pytest.mark.parametrize("name", NAMES)
def test_actions_have_a_version_and_no_checkout_keeps_the_token(name: str) -> None:
    for step in steps(name):
        if action := step.get("uses"):
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", action)
            if action.startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", NAMES)
def test_no_script_has_words_of_others_in_it(name: str) -> None:
    """`${{ … }}` in a script is code: a tag or title could run anything."""
    for step in steps(name):
        assert "${{" not in step.get("run", "")


# ---------------------------------------------------------------- the tests


def test_it_runs_what_make_runs() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = [step["run"] for step in steps("ci.yml") if "run" in step]

    assert commands == ["make test", "make e2e"]
    assert {command.removeprefix("make ") for command in commands} <= targets


def test_it_runs_on_all_that_the_package_names() -> None:
    matrix = workflow("ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    classifiers = "\n".join(PROJECT["classifiers"])

    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE)
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert {"MacOS", "POSIX :: Linux"} == set(re.findall(r"System :: (.*)$", classifiers, re.M))


def test_a_newer_push_ends_the_older_run() -> None:
    assert workflow("ci.yml")["concurrency"]["cancel-in-progress"] is True


# ---------------------------------------------------------------- the release


def test_a_release_is_built_after_the_tests_and_published_without_a_password() -> None:
    jobs = workflow("release.yml")["jobs"]

    assert jobs["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert "workflow_call" in workflow("ci.yml")[True]  # YAML takes `on` for a switch
    assert [jobs[name]["needs"] for name in ("build", "publish", "page")] == [
        "ci", "build", "publish",
    ]  # fmt: skip
    assert jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["steps"][-1].keys() == {"uses"}
    assert "secrets." not in (FOLDER / "release.yml").read_text()


@pytest.mark.parametrize(
    ("tag", "is_right"), [("v1.1.0", True), ("v1.1", False), ("v2.0.0", False), ("1.1.0", True)]
)
def test_the_tag_must_be_the_version(tmp_path: Path, tag: str, is_right: bool) -> None:
    name = PROJECT["name"].replace("-", "_")
    (tmp_path / "dist").mkdir()
    for end in (".tar.gz", "-py3-none-any.whl"):
        (tmp_path / "dist" / f"{name}-1.1.0{end}").touch()

    done = run("Check that the tag is the version of the package", tmp_path, tag)

    assert (done.returncode == 0) is is_right
    assert is_right or f"::error::The tag is {tag}, and there is no {name}-" in done.stdout


def test_the_plugin_has_the_version_of_the_package() -> None:
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())

    assert plugin["version"] == PROJECT["version"]


def test_the_notes_are_one_section_whose_links_lead_to_the_tag(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)

    assert run("Cut the notes out of the changelog", tmp_path, "v1.1.0").returncode == 0

    page = "https://github.example/ada/kiln/blob/v1.1.0"
    assert (tmp_path / "notes.md").read_text().strip() == (
        "### Added\n\n"
        f"- A page, [CI]({page}/docs/ci.md#a-loop), and [another](https://example.org/a.md).\n\n"
        "### Fixed\n\n"
        "- ## is no heading here."
    )


@pytest.mark.parametrize("tag", ["v1.1", "v2.0.0", "v0.1.0", "vUnreleased]"])
def test_without_notes_there_is_no_release(tmp_path: Path, tag: str) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)

    done = run("Cut the notes out of the changelog", tmp_path, tag)

    assert done.returncode == 1
    assert f"::error::CHANGELOG.md has no section for {tag}" in done.stdout


def test_the_changelog_of_today_gives_notes(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text((ROOT / "CHANGELOG.md").read_text())

    assert run("Cut the notes out of the changelog", tmp_path, "v1.0.0").returncode == 0

    notes = (tmp_path / "notes.md").read_text()
    assert "- **Plans**: " in notes
    assert "\n## " not in notes


# ---------------------------------------------------------------- reports


def test_a_report_asks_for_what_explains_it() -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text())
    fields = {each["id"]: each for each in form["body"] if each["type"] != "markdown"}

    for name, label in (("doctor", "sisyphus doctor --json"), ("why", "sisyphus why")):
        assert fields[name]["attributes"]["label"] == label
        assert fields[name]["validations"]["required"] is True
    assert {"name", "description", "body"} <= form.keys()


def test_a_pull_request_is_asked_for_targets_that_exist() -> None:
    text = (ROOT / ".github" / "pull_request_template.md").read_text()
    targets = re.findall(r"`make (\w+)`", text)

    assert targets == ["test", "e2e"]
