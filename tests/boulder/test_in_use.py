from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sisyphus.boulder import in_use
from sisyphus.boulder.record import new_record

if TYPE_CHECKING:
    from boulder.scene import Scene
    from sisyphus._types import Json


def a_record(scene: Scene) -> Json:
    return new_record(str(scene.project / "PLAN.md"), str(scene.project), scene.now)


def test_clearing_the_global_file_leaves_another_plan_in_it(scene: Scene) -> None:
    scene.use(a_record(scene))
    in_use.clear_global(str(scene.home), "/another")
    assert scene.in_use
    in_use.clear_global(str(scene.home), str(scene.project / "PLAN.md"))
    assert scene.in_use is None
    in_use.clear_global(str(scene.home), str(scene.project / "PLAN.md"))


def test_updating_the_global_file_does_not_bring_it_back(scene: Scene) -> None:
    scene.home.mkdir()
    in_use.update_global(str(scene.home), a_record(scene))
    assert scene.in_use is None


def test_what_a_newer_program_wrote_stays(scene: Scene) -> None:
    newer = {**a_record(scene), "version": 99}
    scene.use(newer)
    another = {**a_record(scene), "active_plan": "/another"}
    for record in (a_record(scene), another):
        assert in_use.copy_to_global(str(scene.home), record, lambda _: True) is None
    assert scene.in_use == newer


def test_the_same_plan_learns_what_another_tool_added(scene: Scene) -> None:
    scene.use({**a_record(scene), "squad": "red"})
    record = a_record(scene)
    assert in_use.copy_to_global(str(scene.home), record, lambda _: False) is None
    assert record["squad"] == "red"
    assert scene.in_use == record


@pytest.mark.parametrize("may_be", [False, True])
def test_another_plan_is_replaced_where_it_may_be(scene: Scene, may_be: bool) -> None:
    before = a_record(scene)
    scene.use(before)
    record = {**before, "active_plan": str(scene.project / "docs/kord/plans/b.md")}
    other = in_use.copy_to_global(str(scene.home), record, lambda _: may_be)
    assert other
    assert other["active_plan"] == before["active_plan"]
    assert scene.plan_in_use == (record if may_be else before)["active_plan"]


def test_what_is_no_boulder_is_set_aside(scene: Scene) -> None:
    scene.use({"shelf": 3})
    assert in_use.copy_to_global(str(scene.home), a_record(scene), lambda _: False) is None
    assert scene.in_use == a_record(scene)
    assert len(list(scene.home.glob(".boulder.json.corrupt-*"))) == 1
