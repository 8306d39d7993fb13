from __future__ import annotations

from sisyphus.dashboard.api import (
    boulders,
    checklists,
    context,
    enforcement,
    journal,
    metrics,
    overview,
    sessions,
    transcripts,
)

ROUTERS = (
    overview.router,
    sessions.router,
    transcripts.router,
    checklists.router,
    boulders.router,
    context.router,
    enforcement.router,
    journal.router,
    metrics.router,
)
"""In the order of the document."""
