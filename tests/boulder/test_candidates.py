from __future__ import annotations

from boulder.scene import CONTINUATION, PLAN, Scene, model
from sisyphus.boulder.discover import MAX_ENTRIES

AUDIT_FILE = "docs/kord/plans/audit.md"


def test_a_plan_in_which_nothing_is_to_be_done_is_no_candidate(scene: Scene) -> None:
    scene.write(PLAN)
    scene.write("# Audit\n- [ ] a\n", AUDIT_FILE)
    scene.start("s1")
    scene.write("# Audit\n- [-] a\n", AUDIT_FILE)
    for session in ("s2", "s3"):
        assert model(scene.start(session)).startswith(CONTINUATION)


def test_a_plan_that_is_gone_is_no_candidate(scene: Scene) -> None:
    scene.write(PLAN)
    audit = scene.write("# Audit\n- [ ] a\n", AUDIT_FILE)
    scene.start("s1")
    audit.unlink()
    for session in ("s2", "s3"):
        assert model(scene.start(session)).startswith(CONTINUATION)


def test_a_folder_with_more_files_than_are_looked_at_is_noted(scene: Scene) -> None:
    scene.write(PLAN)
    folder = scene.project / "docs/kord/plans"
    folder.mkdir(parents=True)
    for number in range(MAX_ENTRIES):
        (folder / f"{number}.md").touch()
    note = "boulder: of each folder of plans 2,000 entries are looked at"
    assert note in scene.start().notes
