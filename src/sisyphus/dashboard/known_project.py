"""A project that an address names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.dashboard.failures import not_found

if TYPE_CHECKING:
    from collections.abc import Container

    from sisyphus.dashboard.desk import Desk


def check(desk: Desk, named: str, offered: Container[str] = ()) -> None:
    """`named`: its id, "" = none is named; `offered`: ids that one may choose from. Raises
    `FailedError` where nothing is known of such a project."""
    if named and named not in offered and named not in desk.projects():
        raise not_found("no such project is known. The list of projects names them all.")
