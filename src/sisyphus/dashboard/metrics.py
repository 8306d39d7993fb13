"""Figures for Prometheus."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from sisyphus import work
from sisyphus.dashboard.page import Desk
from sisyphus.loops import loops
from sisyphus.sessions import sessions


def render(desk: Desk) -> tuple[str, str]:
    """Returns the figures, and their content type."""
    registry = CollectorRegistry()
    registry.register(_Store(desk))
    return generate_latest(registry).decode(), CONTENT_TYPE_LATEST


class _Store(Collector):
    """Counts what the store has now. Rows that are deleted or too old are counted no more."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Metric]:
        store, now = self._desk.store, time.time()
        gauge = GaugeMetricFamily(
            "sisyphus_loops", "Loops, holds and runs, by how they are.", labels=["kind", "state"]
        )
        statuses = work.live(store, now)
        counts = Counter((each.kind, each.state) for each in statuses)
        counts.update(loops.count_ended(store))
        for (kind, state), count in sorted(counts.items()):
            gauge.add_metric([kind, state], count)
        yield gauge
        used = store.one("SELECT count(*), total(tokens), total(cost) FROM iteration") or (0, 0, 0)
        names = (
            ("iterations", "Iterations of loops and runs."),
            ("tokens", "Tokens that they used."),
            ("dollars", "What runs cost, as the client counts."),
        )
        for (name, help), value in zip(names, used, strict=True):
            yield CounterMetricFamily(f"sisyphus_{name}", help, value=value)
        yield GaugeMetricFamily(
            "sisyphus_waiting",
            "What waits for the user.",
            value=len(work.needs(store, now, statuses)),
        )
        yield GaugeMetricFamily(
            "sisyphus_sessions",
            "Sessions that have not ended.",
            value=sessions.count_open(store),
        )
