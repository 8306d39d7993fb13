"""Stands for two features, one of which is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.clients.base import Outcome

if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace


def on_stop(payload: Payload, space: Workspace) -> Outcome | None:
    raise RuntimeError(f"broken\nfor {payload.session} in {space.root}")


def on_stop_too(payload: Payload, space: Workspace) -> Outcome | None:
    return Outcome(reason=f"go on, {payload.session} in {space.root}")
