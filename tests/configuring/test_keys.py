from __future__ import annotations

import pytest

from sisyphus.configuring import keys
from sisyphus.settings import SETTINGS

MEANT = [
    pytest.param("rules.enabeld", "rules.enabled", id="a slip"),
    pytest.param("rule.enabled", "rules.enabled", id="a slip in the section"),
    pytest.param("Boulder.Stale_Days", "boulder.stale_days", id="capitals"),
    pytest.param("stale_days", "boulder.stale_days", id="no section"),
    pytest.param("ralph.stale_days", "boulder.stale_days", id="another section's"),
    pytest.param("stale_day", "boulder.stale_days", id="no section and a slip"),
    pytest.param("colour", "", id="nothing like it"),
    pytest.param("", "", id="nothing"),
    pytest.param("x" * 10_000, "", id="no name at all"),
]


@pytest.mark.parametrize(("key", "meant"), MEANT)
def test_the_key_that_was_meant_is_found(key: str, meant: str) -> None:
    assert keys.meant(key) == meant


def test_every_section_has_a_meaning() -> None:
    assert [section for section in keys.sections() if not keys.SECTIONS.get(section)] == []


def test_the_keys_of_all_sections_are_all_keys() -> None:
    assert {key for section in keys.sections() for key in keys.of_section(section)} == set(SETTINGS)
