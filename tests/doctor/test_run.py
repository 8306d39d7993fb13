from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import mode, told
from sisyphus.doctor import run
from sisyphus.doctor.finding import Finding, ok, warning
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.scene import Scene
    from sisyphus.doctor.case import Case


def test_where_all_is_well_nothing_is_told(scene: Scene) -> None:
    scene.wire()
    put(scene.ours / "sessions/s1.json", "{}").chmod(0o600)
    for folder in (scene.ours, scene.ours / "sessions"):
        folder.chmod(0o700)

    report = run.examine(scene.case())

    assert told(report.findings) == []
    assert {one.check for one in report.findings} >= {"wiring", "round trip", "folder", "config"}
    assert not report.is_bad


def test_nothing_is_written_by_looking(scene: Scene) -> None:
    scene.wire()

    run.examine(scene.case())

    assert sorted(path.name for path in scene.claude.iterdir()) == ["settings.json"]


def test_how_far_it_is_is_told(scene: Scene) -> None:
    heard: list[tuple[int, int]] = []

    run.examine(scene.case(), lambda done, total: heard.append((done, total)))

    count = sum(map(len, run.GROUPS.values()))
    assert heard == [(done, count) for done in range(count)]


FAILURES = [
    pytest.param(SisyphusError("it is gone"), "could not look: it is gone", id="expected"),
    pytest.param(
        PermissionError(13, "No"), "could not look: PermissionError: [Errno 13] No", id="system"
    ),
    pytest.param(KeyError("x"), "could not look: KeyError: 'x'", id="a slip of ours"),
    pytest.param(ValueError("a\nb\x1b"), "could not look: ValueError: a b", id="hostile words"),
]


@pytest.mark.parametrize(("error", "text"), FAILURES)
def test_a_check_that_fails_is_a_warning(scene: Scene, error: Exception, text: str) -> None:
    def fails(_: Case) -> Iterator[Finding]:
        yield ok("x", "half a look is none")
        raise error

    assert run.ask("x", fails, scene.case()) == [Finding("x", "warning", text)]


def test_what_can_be_mended_is_mended_and_looked_at_again(scene: Scene) -> None:
    path = put(scene.ours / "sessions/s1.json", "{}")
    path.chmod(0o666)

    done = run.mend(run.examine(scene.case()))

    assert done == ["rights: took the rights of others from 3 files and folders"]
    assert mode(path) == 0o600
    assert run.mend(run.examine(scene.case())) == []


def test_what_cannot_be_mended_is_told_and_the_rest_is_done() -> None:
    def refuse() -> str:
        raise PermissionError(1, "Not yours")

    both = [warning("a", "x", fix=refuse), warning("b", "y", fix=lambda: "gone")]

    done = run.mend(run.Report({"Group": both}))

    assert done == ["a: not mended: [Errno 1] Not yours", "b: gone"]


def test_programs_read_all_of_it() -> None:
    found = [Finding("a", "problem", "x\ny", "do it", lambda: ""), ok("b", "z"), warning("c", "w")]

    assert run.Report({"Group": found}).as_json() == {
        "ok": False,
        "problems": 1,
        "warnings": 1,
        "findings": [
            {"group": "Group", "check": "a", "state": "problem", "text": "x y", "hint": "do it",
             "fixable": True},
            {"group": "Group", "check": "b", "state": "ok", "text": "z", "hint": "",
             "fixable": False},
            {"group": "Group", "check": "c", "state": "warning", "text": "w", "hint": "",
             "fixable": False},
        ],
    }  # fmt: skip


PAGE = (Path(__file__).parents[2] / "docs/troubleshooting.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for checks in run.GROUPS.values() for name in checks])
def test_every_check_is_documented(name: str) -> None:
    assert f"\n| `{name}` | " in PAGE


@pytest.mark.parametrize("group", run.GROUPS)
def test_the_page_has_the_groups(group: str) -> None:
    assert f"\n{group}:\n" in PAGE
