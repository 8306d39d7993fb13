from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sisyphus.dashboard.api.document import PATH
from sisyphus.dashboard.views.operations import operations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from sisyphus.dashboard.access import Access

ENDPOINTS = {
    "GET /api/overview", "GET /api/sessions", "DELETE /api/sessions",
    "GET /api/sessions/{loop_id}", "DELETE /api/sessions/{loop_id}",
    "POST /api/sessions/{loop_id}/cancel", "POST /api/sessions/{loop_id}/pause",
    "POST /api/sessions/{loop_id}/resume", "POST /api/sessions/{loop_id}/archive",
    "GET /api/transcript/{loop_id}", "GET /api/transcript/{loop_id}/iterations",
    "GET /api/transcript/{loop_id}/full", "GET /api/checklist/{loop_id}", "GET /api/boulders",
    "GET /api/boulders/{boulder_id}", "GET /api/context", "GET /api/context/{session_id}",
    "GET /api/handoffs/{project_id}/{handoff_id}", "GET /api/enforcement", "GET /api/journal",
    "GET /metrics",
}  # fmt: skip


@pytest.fixture
def document(program: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = program.get(PATH).json()
    return found


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for method, path, operation in operations(document):
        yield f"{method} {path}", operation


def test_every_endpoint_is_documented(document: dict[str, Any]) -> None:
    assert {name for name, _ in _operations(document)} == ENDPOINTS


def test_every_operation_says_what_it_does(document: dict[str, Any]) -> None:
    for name, operation in _operations(document):
        assert operation["summary"], name
        assert operation["description"], name
        assert len(operation["tags"]) == 1, name


def test_every_parameter_has_a_meaning_and_bounds(document: dict[str, Any]) -> None:
    for name, operation in _operations(document):
        for parameter in operation.get("parameters", ()):
            place = f"{name}: {parameter['name']}"
            assert parameter["description"], place
            assert _is_bounded(parameter["schema"]), place


def _is_bounded(schema: dict[str, Any]) -> bool:
    if "anyOf" in schema:
        return all(map(_is_bounded, schema["anyOf"]))
    if schema["type"] == "integer":
        return {"minimum", "maximum"} <= schema.keys()
    return schema["type"] in ("boolean", "null") or bool({"maxLength", "enum"} & schema.keys())


def test_every_failure_has_one_shape(document: dict[str, Any]) -> None:
    """FastAPI documents an answer of its own for values that it cannot take; it is never given."""
    for name, operation in _operations(document):
        answers = operation["responses"]
        assert {"200", "400", "401", "403", "500"} <= answers.keys() <= {
            "200", "400", "401", "403", "404", "500",
        }, name  # fmt: skip
        for status, answer in answers.items():
            if status != "200":
                shape = answer["content"]["application/json"]["schema"]["$ref"]
                assert shape.endswith("/Failure"), name
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_it_says_how_one_may_ask(document: dict[str, Any], access: Access) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["bearer"] == {"type": "http", "scheme": "bearer"}
    assert schemes["cookie"] == {"type": "apiKey", "in": "cookie", "name": access.cookie_name}
    assert document["security"] == [{"bearer": []}, {"cookie": []}]
    assert document["servers"] == [{"url": "/"}]


def test_pages_are_not_in_it(document: dict[str, Any]) -> None:
    assert all(path.startswith("/api/") or path == "/metrics" for path in document["paths"])
