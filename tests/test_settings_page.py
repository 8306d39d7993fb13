from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from sisyphus.settings import SETTINGS

ROOT = Path(__file__).parents[1]
STORED = ROOT / "docs" / "settings.md"

page = runpy.run_path(str(ROOT / "tools" / "settings_page.py"))["page"]


def test_the_page_is_the_one_that_the_code_makes() -> None:
    assert STORED.read_text(encoding="utf-8") == page(), "make docs writes it anew"


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_has_a_row_with_its_default(key: str) -> None:
    section, name = key.split(".")
    part = page().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (row,) = (line for line in part.splitlines() if line.startswith(f"| `{name}` |"))

    cells = row.split("|")
    assert tomllib.loads(f"x = {cells[2].strip(' `')}") == {"x": SETTINGS[key].default}
    assert SETTINGS[key].doc in row


def test_every_example_would_count() -> None:
    blocks = [block.partition("```")[0] for block in page().split("```toml\n")[1:]]
    found = {
        f"{section}.{name}": value
        for block in blocks
        for section, part in tomllib.loads(block).items()
        for name, value in part.items()
    }

    assert list(found) == list(SETTINGS)
    assert [key for key, value in found.items() if not SETTINGS[key].accepts(value)] == []
