"""The application: its pages, its API, and the guard around them."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.staticfiles import StaticFiles

from sisyphus import __version__
from sisyphus.dashboard import failures, live
from sisyphus.dashboard.api.common import EVERYWHERE
from sisyphus.dashboard.api.document import Application
from sisyphus.dashboard.api.routers import ROUTERS
from sisyphus.dashboard.guard import Guard
from sisyphus.dashboard.methods import HeadAsGet
from sisyphus.dashboard.pages import (
    api,
    boulders,
    context,
    enforcement,
    journal,
    loop,
    loops,
    overview,
    questions,
    rules,
)
from sisyphus.dashboard.rendering import HERE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette

    from sisyphus.dashboard.access import Access
    from sisyphus.dashboard.desk import Desk

PAGES = (
    overview.router,
    loops.router,
    loop.router,
    questions.router,
    context.router,
    rules.router,
    journal.router,
    boulders.router,
    enforcement.router,
    api.router,
    live.router,
)


def build(desk: Desk, access: Access, *, watches: bool = True) -> Guard:
    """`watches`: whether changes on disk are told to the pages that are open."""
    app = Application(
        access.cookie_name,
        title="sisyphus",
        version=__version__,
        lifespan=_watching if watches else None,
    )
    app.state.desk = desk
    app.state.live = live.Live(desk)
    app.mount("/static", StaticFiles(directory=os.path.join(HERE, "static")), name="static")
    for router in PAGES:
        app.include_router(router)
    for router in ROUTERS:
        app.include_router(router, responses=EVERYWHERE)
    failures.answer_with(app)
    app.add_middleware(HeadAsGet)
    return Guard(app, access)


@asynccontextmanager
async def _watching(app: Starlette) -> AsyncIterator[None]:
    """Follows the files first and reads them then: what is read is kept for the first request."""
    task = asyncio.create_task(app.state.live.run())
    await app.state.live.has_begun.wait()
    await asyncio.to_thread(app.state.desk.warm)
    yield
    app.state.live.close()
    await task
