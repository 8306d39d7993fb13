"""What a route is given by naming it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from sisyphus.dashboard.desk import Desk


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


DeskOf = Annotated[Desk, Depends(_desk)]
