from __future__ import annotations

import time
from typing import TYPE_CHECKING

from making import put

from doctor.scene import NOW, told
from sisyphus.doctor import records

if TYPE_CHECKING:
    from doctor.scene import Scene


def _line(ago: float, text: str) -> str:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW - ago))
    return f"{stamp} 12 {text}\n"


def test_the_failures_of_a_day_are_counted_and_the_last_is_shown(scene: Scene) -> None:
    lines = _line(90_000, "long ago") + _line(600, "stop: x") + _line(60, "stop: \x1b[2Jy")
    put(scene.ours / "logs/debug.log", lines)

    (found,) = records.check(scene.case())
    state, text = found.state, found.text

    assert state == "warning"
    log = "~/.claude/.sisyphus/logs/debug.log"
    assert found.hint == f"`tail {log}`; once that is mended, `rm {log}`"
    assert text.startswith("2 lines within 24 h, the last: 2027-01-15T07:59:00Z 12 stop: ")
    assert text.isprintable()


def test_an_old_log_is_well(scene: Scene) -> None:
    put(scene.ours / "logs/debug.log", _line(90_000, "long ago"))

    assert told(records.check(scene.case())) == []


def test_no_log_is_well(scene: Scene) -> None:
    assert told(records.check(scene.case())) == []
