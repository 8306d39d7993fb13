"""`functools.partial` for modules that a hook loads, from the part of `functools` in C: importing
`functools` would also load `collections`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import partial
else:
    try:
        from _functools import partial
    except ImportError:  # this Python has no such part
        from functools import partial

__all__ = ["partial"]
