from __future__ import annotations

from typing import Any

import pytest

from sisyphus.dashboard.views import operations


def _document(*parameters: dict[str, Any]) -> dict[str, Any]:
    answers = {"200": "fine", "400": "`BAD`", "404": "`NOT_FOUND`"}
    return {
        "info": {"description": "What\nit is.\n\nWho may `ask`."},
        "paths": {
            "/a": {
                "get": {
                    "tags": ["things"],
                    "description": "Tells `a`,\nand more.",
                    "parameters": list(parameters),
                    "responses": {s: {"description": text} for s, text in answers.items()},
                }
            }
        },
    }


def test_an_operation_is_told_without_marks() -> None:
    [row] = operations.by_tag(_document(), {"BAD"})["things"]
    assert (row["method"], row["path"], row["told"]) == ("GET", "/a", "Tells a, and more.")
    assert row["answers"] == [("404", "NOT_FOUND")]


def test_the_whole_is_told_in_paragraphs() -> None:
    assert operations.paragraphs(_document()) == ["What it is.", "Who may ask."]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 5_000, "default": 20}, "1 to 5,000, else 20"),
        ({"type": "string", "maxLength": 200, "default": ""}, "up to 200 characters"),
        ({"enum": ["a", "b"], "default": "a"}, "a | b, else a"),
        ({"enum": ["", "a", "b"]}, "a | b"),
        ({"anyOf": [{"enum": ["x"]}, {"type": "null"}]}, "x"),
        ({"type": "boolean", "default": False}, "true | false, else false"),
        ({"const": "x"}, "x"),
        ({"type": "string"}, ""),
    ],
)
def test_what_a_parameter_may_be_is_said_in_words(schema: dict[str, Any], told: str) -> None:
    parameter = {"name": "p", "in": "query", "schema": schema, "description": "A `p`."}
    [row] = operations.by_tag(_document(parameter))["things"]
    [found] = row["parameters"]
    assert found == {"name": "p", "place": "query", "range": told, "meaning": "A p."}
