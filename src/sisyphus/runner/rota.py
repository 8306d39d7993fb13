"""Whose turn it is, of the clients of a run: the first one whose account has no limit now. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sisyphus.ground.record import Record


class Turn(Record, frozen=True):
    """The client whose turn it is, and when that begins, in seconds since 1970; 0 = now."""

    client: str
    begins_at: float = 0.0


def next_turn(order: Sequence[str], limits: Mapping[str, float], now: float) -> Turn:
    """Returns whose turn it is. Where all are at a limit, it is that of the client whose limit ends
    first, and begins then.

    order: the names of the clients, at least one; those before go first. limits: clients → until
    when their account's limit lasts; a client without one has none. Times are in seconds since
    1970.
    """
    for client in order:
        if limits.get(client, 0.0) <= now:
            return Turn(client)
    first = min(order, key=lambda client: limits[client])
    return Turn(first, limits[first])
