"""Our plugin in the project, as users get it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from e2e.opencode.lab import Lab

INTO_THE_PROJECT = ("--client", "opencode", "--scope", "project", "--yes")


def wire(lab: Lab) -> None:
    lab.sisyphus("install", *INTO_THE_PROJECT)


def unwire(lab: Lab) -> None:
    lab.sisyphus("uninstall", *INTO_THE_PROJECT)
