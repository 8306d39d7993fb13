from __future__ import annotations

import pytest

from sisyphus.rules import keys

ALWAYS = [
    pytest.param({}, None, id="absent"),
    pytest.param({"alwaysApply": True}, True, id="true"),
    pytest.param({"alwaysApply": False}, False, id="false"),
    pytest.param({"alwaysApply": "True"}, True, id="a text"),
    pytest.param({"alwaysApply": " false "}, False, id="a text with blanks"),
    pytest.param({"alwaysApply": "maybe"}, None, id="another text"),
    pytest.param({"alwaysApply": 1}, None, id="a number"),
    pytest.param({"alwaysApply": None}, None, id="empty"),
]


@pytest.mark.parametrize(("metadata", "value"), ALWAYS)
def test_always_apply_is_yes_no_or_nothing(metadata: dict[str, object], value: bool | None) -> None:
    assert keys.always(metadata) is value


PRIORITIES = [
    pytest.param(None, 0, id="absent"),
    pytest.param(10, 10, id="a number"),
    pytest.param(-3, -3, id="a negative one"),
    pytest.param(1.5, 1.5, id="a broken one"),
    pytest.param("7", 7, id="a number in quotes"),
    pytest.param(10**400, None, id="one beyond all measure"),
    pytest.param(10**30, keys.PRIORITY_LIMIT, id="a huge one"),
    pytest.param(float("-inf"), -keys.PRIORITY_LIMIT, id="endless"),
    pytest.param(float("nan"), None, id="not a number"),
    pytest.param("high", None, id="a word"),
    pytest.param(True, None, id="a truth"),
    pytest.param([1], None, id="a list"),
]


@pytest.mark.parametrize(("value", "priority"), PRIORITIES)
def test_a_priority_is_a_number_within_reason(value: object, priority: float | None) -> None:
    assert keys.priority({"priority": value}) == priority


WORDS = [
    pytest.param(None, [], id="absent"),
    pytest.param(["frontend", "react"], ["frontend", "react"], id="a list"),
    pytest.param("frontend, react", ["frontend", "react"], id="a comma list"),
    pytest.param([2024, None, {"a": 1}], ["2024"], id="odd items"),
    pytest.param({"a": 1}, [], id="a mapping"),
]


@pytest.mark.parametrize(("value", "words"), WORDS)
def test_tags_are_a_list_of_words(value: object, words: list[str]) -> None:
    assert keys.words({"tags": value}, "tags") == words


MISSPELLED = [
    pytest.param("apply_to", "applyTo", id="apply_to"),
    pytest.param("appliesTo", "applies_to", id="appliesTo"),
    pytest.param("applies-to", "applies_to", id="applies-to"),
    pytest.param("applyto", "applyTo", id="applyto"),
    pytest.param("path", "paths", id="path"),
    pytest.param("Paths", "paths", id="Paths"),
    pytest.param("glob", "globs", id="glob"),
    pytest.param("file_patterns", "paths", id="file_patterns"),
    pytest.param("always_apply", "alwaysApply", id="always_apply"),
    pytest.param("priorty", "priority", id="priorty"),
    pytest.param("desciption", "description", id="desciption"),
]


@pytest.mark.parametrize(("key", "meant"), MISSPELLED)
def test_a_misspelled_key_is_recognised(key: str, meant: str) -> None:
    assert keys.misspelled({key: 1}) == {key: meant}


@pytest.mark.parametrize("key", ["paths", "applies_to", "tags", "author", "title", "name", "date"])
def test_a_known_key_and_an_unrelated_one_are_left_alone(key: str) -> None:
    assert keys.misspelled({key: 1}) == {}
