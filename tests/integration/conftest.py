from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from integration.desk import Desk, furnish, nothing_else_touched, play

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def bare(home: Path, project: Path) -> Desk:
    """A desk on which there is nothing to say."""
    return Desk(home, project)


@pytest.fixture
def desk(bare: Desk) -> Desk:
    """A desk with a plan, documents and rules, on which no hook ran yet."""
    return furnish(bare)


@pytest.fixture
def played(desk: Desk) -> Desk:
    """The same after a few turns: every feature has its state, a loop is going on."""
    play(desk)
    return desk


@pytest.fixture
def watched(played: Desk, tmp_path: Path) -> Iterator[Desk]:
    """The same; fails a test whose hooks raised, or wrote anywhere but where they may."""
    with nothing_else_touched(played.home, tmp_path):
        yield played
    assert played.failures == []
