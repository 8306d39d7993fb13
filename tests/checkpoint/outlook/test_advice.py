from __future__ import annotations

from typing import Any

import pytest

from checkpoint.outlook.test_table import some_facts
from sisyphus.checkpoint.outlook.advice import recommendation
from sisyphus.checkpoint.outlook.complexity import MEDIUM, estimate

ADVICE = [
    pytest.param({}, "Safe to continue; the item may have to be handed over", id="passes L2"),
    pytest.param({"percent": 55.0}, "Safe to continue. Checkpoint will trigger", id="room"),
    pytest.param({"estimate": None}, "Safe to continue. Checkpoint will trigger", id="no item"),
    pytest.param({"percent": 80}, "The item may not fit: checkpoint first (`sisyphus", id="full"),
    pytest.param(
        {"estimate": estimate("(very complex)")}, "The item is too large for one", id="split"
    ),
    pytest.param(
        {"percent": 72, "level": "L1", "estimate": None}, "Begin nothing large. Check", id="L1"
    ),
    pytest.param({"percent": 87, "level": "L2"}, "Finish the current edit, complete", id="L2"),
    pytest.param({"percent": 96, "level": "L3"}, "Stop now: the context is almost", id="L3"),
    pytest.param(
        {"costs": [(MEDIUM, 12.0)] * 3}, "Safe to continue. Checkpoint will", id="smaller before"
    ),
    pytest.param({"l2": 77.5, "percent": 40}, "automatically at 77.5%.", id="another threshold"),
]


@pytest.mark.parametrize(("fields", "told"), ADVICE)
def test_what_is_recommended(fields: dict[str, Any], told: str) -> None:
    assert told in recommendation(some_facts(**fields))
