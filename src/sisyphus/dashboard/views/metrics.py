"""What is counted, in the text format of Prometheus. Pure."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sisyphus.ralph import stale
from sisyphus.ralph.past import records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Loops
    from sisyphus.dashboard.views.tally import Tally
    from sisyphus.journal import SessionSums
    from sisyphus.ralph.past.records import Record

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends in seconds. A client gives a hook ten."""

MOST_PLANS = 100
"""The plans that were touched last: each name is a series of its own."""

NAME_CHARACTERS = 200

_COUNTER, _GAUGE, _HISTOGRAM = "counter", "gauge", "histogram"
_MS = 1_000

_NOW = ", as files have it now"
_SINCE = "; counted from 0 since this dashboard began to look"

Labels = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    suffix: str  # of the family's name
    labels: Labels
    value: float


class Family(NamedTuple):
    name: str
    kind: str
    told: str  # a sentence, of which nothing needs escaping
    samples: Sequence[Sample]


def metrics(
    tally: Tally,
    sums: Sequence[SessionSums],
    loops: Loops,
    plans: Sequence[Json],
    version: str,
) -> str:
    """The whole text. What files hold is a gauge, since files are purged and deleted; counters are
    of the tally. `plans`: as `boulder list --json` has them, the one touched last first."""
    sent = sum(one.sent for one in sums)
    return text((
        _gauge("build_info", "The version that runs.", 1, (("version", version),)),
        *_of_loops(loops.history),
        *_of_active(loops.rows),
        _gauge("sessions", f"Sessions that have a journal{_NOW}.", len(sums)),
        _gauge("sent_characters", f"Characters that these sessions were sent{_NOW}.", sent),
        _tasks(plans),
        _by("hooks", f"Hooks that ran, by event{_SINCE}.", "event", tally.hooks),
        _durations(tally),
        _count("blocks", f"Stops that were held: the work went on{_SINCE}.", tally.blocked.total()),
        _by("loops_ended", f"Loops that ended, by outcome{_SINCE}.", "outcome", tally.outcomes),
    ))  # fmt: skip


def text(found: Iterable[Family]) -> str:
    """One without a sample is left out."""
    lines = []
    for name, kind, told, samples in found:
        if samples:
            lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
            lines += [
                f"{name}{one.suffix}{_spelled(one.labels)} {one.value:.15g}" for one in samples
            ]
    return "".join(f"{line}\n" for line in lines)


def _of_loops(loops: Sequence[Record]) -> Iterator[Family]:
    states = Counter(record.status for record in loops)
    ended = Counter(one.outcome for one in loops if one.status == records.COMPLETED)
    active = states[records.ACTIVE] + states[records.PAUSED]
    yield _gauge("loops_active", "Loops that have not ended, paused ones included.", active)
    yield _gauge("loops_paused", "Loops that are paused.", states[records.PAUSED])
    yield _gauge("loops_lost", "Loops of which no end is known.", states[records.LOST])
    told = f"Loops of the history that have ended, by outcome{_NOW}."
    yield Family("sisyphus_loops", _GAUGE, told, _labelled("outcome", ended))


def _of_active(rows: Sequence[Json]) -> Iterator[Family]:
    """A loop is billed for what is nested in it: of a session the one billed most tells."""
    gone = sum(row["health"] != stale.ALIVE for row in rows)
    told = "Loops that have not ended and whose client has gone, or was silent for hours."
    yield _gauge("loops_client_gone", told, gone)
    spent: dict[str, int] = {}
    for row in rows:
        spent[row["session_id"]] = max(row["tokens"], spent.get(row["session_id"], 0))
    told = "Tokens that loops which have not ended have spent."
    yield _gauge("loops_active_tokens", told, sum(spent.values()))


def _gauge(name: str, told: str, value: float, labels: Labels = ()) -> Family:
    return Family(f"sisyphus_{name}", _GAUGE, told, [Sample("", labels, value)])


def _count(name: str, told: str, value: float) -> Family:
    return Family(f"sisyphus_{name}_total", _COUNTER, told, [Sample("", (), value)])


def _by(name: str, told: str, label: str, counts: Mapping[str, int]) -> Family:
    return Family(f"sisyphus_{name}_total", _COUNTER, told, _labelled(label, counts))


def _labelled(label: str, counts: Mapping[str, int]) -> list[Sample]:
    return _distinct(Sample("", ((label, _name(key)),), counts[key]) for key in sorted(counts))


def _durations(tally: Tally) -> Family:
    """`le` stands for "at most": each bucket holds those before it, as the format wants it."""
    samples = []
    for event, times in sorted(tally.times.items()):
        labels = (("event", _name(event)),)
        for end in (*BUCKETS, math.inf):
            below = sum(took / _MS <= end for took in times)
            name = f"{end:g}" if end < math.inf else "+Inf"
            samples.append(Sample("_bucket", (*labels, ("le", name)), below))
        samples.append(Sample("_sum", labels, round(tally.ms[event] / _MS, 6)))
        samples.append(Sample("_count", labels, len(times)))
    told = f"Seconds that hooks took, by event{_SINCE}."
    return Family("sisyphus_hook_duration_seconds", _HISTOGRAM, told, _distinct(samples))


def _tasks(plans: Sequence[Json]) -> Family:
    samples = []
    for row in plans[:MOST_PLANS]:
        labels = (("plan", _name(row["plan_name"])), ("project", _name(row["project_root"])))
        done, total = row["completed"], row["total"]
        samples.append(Sample("", (*labels, ("state", "completed")), done))
        samples.append(Sample("", (*labels, ("state", "open")), total - done))
    told = f"Tasks of the {MOST_PLANS} plans that were touched last."
    return Family("sisyphus_plan_tasks", _GAUGE, told, _distinct(samples))


def _distinct(samples: Iterable[Sample]) -> list[Sample]:
    """The first of several that are spelled the same: two of them make all numbers unreadable."""
    found: dict[str, Sample] = {}
    for one in samples:
        found.setdefault(one.suffix + _spelled(one.labels), one)
    return list(found.values())


def _name(name: str) -> str:
    return name[-NAME_CHARACTERS:] or "unknown"


def _spelled(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    clean = value.encode("utf-8", "replace").decode()
    return clean.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
