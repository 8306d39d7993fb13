"""The two variables with which a client labels its own telemetry, if its user has switched that on:
the run, the iteration and the item. Nothing is sent by us."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from urllib.parse import quote

from sisyphus.ground.masking import masked_line
from sisyphus.loops.runs import Run

_ATTRIBUTES, _PARENT = "OTEL_RESOURCE_ATTRIBUTES", "TRACEPARENT"

_ITEM_CHARACTERS = 100


def labels(run: Run, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables for the client of the current iteration. Attributes that its user has
    set stay, and so does a trace of theirs.

    https://opentelemetry.io/docs/specs/otel/resource/sdk/ (values are percent-encoded),
    https://www.w3.org/TR/trace-context/: a run is a trace, and an iteration a span of it.
    """
    own = {
        "sisyphus.run": run.owner,
        "sisyphus.iteration": str(run.counters.iteration),
        "sisyphus.item": masked_line(run.state.item, _ITEM_CHARACTERS),
    }
    pairs = [f"{name}={quote(value, safe='')}" for name, value in own.items() if value]
    given = environ.get(_ATTRIBUTES, "")
    found = {_ATTRIBUTES: ",".join([*([given] if given else []), *pairs])}
    if not environ.get(_PARENT):
        trace = _digest(f"{run.owner} {run.project}", 32)
        span = _digest(f"{run.id} {run.counters.iteration} {run.state.began_at}", 16)
        found[_PARENT] = f"00-{trace}-{span}-01"
    return found


def _digest(text: str, characters: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:characters]
