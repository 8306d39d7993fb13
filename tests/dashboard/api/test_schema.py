"""Whatever is asked, of files that hold whatever: the answer is what the document of the API says,
and no fault of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import positive_data_acceptance
from schemathesis.core.result import Ok

from dashboard.api import odd
from dashboard.conftest import ADDRESS, TOKEN
from sisyphus.dashboard.api.document import PATH
from sisyphus.dashboard.app import build

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.dashboard.access import Access
    from sisyphus.dashboard.desk import Desk

HEADERS = {"authorization": f"Bearer {TOKEN}", "host": ADDRESS.removeprefix("http://")}
EACH = 8
"""Cases of every operation, and as many that break the rules for its parameters."""

KNOWN = {"loop_id": [odd.ACTIVE, odd.ENDED, odd.LOST], "session_id": ["s1"]}
"""What is there to be asked for: made-up ids lead nowhere."""


@pytest.mark.parametrize(
    "tag",
    [
        "overview", "sessions", "transcripts", "checklists", "boulders", "context", "enforcement",
        "journal", "metrics",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_answers_are_as_documented(
    tag: str, mode: GenerationMode, home: Path, desk: Desk, access: Access
) -> None:
    odd.fill(home / ".claude")
    app = build(desk, access, watches=False)
    schema = schemathesis.openapi.from_asgi(PATH, app, headers=HEADERS).include(tag=tag)
    found = list(schema.get_all_operations())
    operations = [one.ok() for one in found if isinstance(one, Ok)]
    assert len(operations) == len(found) > 0
    for operation in operations:
        cases = operation.as_strategy(generation_mode=mode)
        _try(cases if mode is GenerationMode.NEGATIVE else _of_known(cases))


@st.composite
def _of_known(draw: st.DrawFn, cases: st.SearchStrategy[Case[Any]]) -> Case[Any]:
    """Half of them ask for what is there."""
    case = draw(cases)
    for name, ids in KNOWN.items():
        if name in case.path_parameters and draw(st.booleans()):
            case.path_parameters[name] = draw(st.sampled_from(ids))
    return case


def _try(cases: st.SearchStrategy[Case[Any]]) -> None:
    @settings(
        max_examples=EACH, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=cases)
    def answers(case: Case[Any]) -> None:
        # Whether something can be done with a loop is a matter of its state.
        passed_over = [] if case.method == "GET" else [positive_data_acceptance]
        answer = case.call(headers=HEADERS)
        case.validate_response(answer, headers=HEADERS, excluded_checks=passed_over)

    answers()
