from __future__ import annotations

from typing import TYPE_CHECKING

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
