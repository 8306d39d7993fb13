"""`sqlite`, the module in C that `sqlite3` wraps, at a tenth of its cost to every hook.

All it takes from `functools` is `lru_cache`, once, when it is loaded (measured on 3.11 to 3.13). A
hook has no other use for
`functools`, which loads `collections`, so it gets a stand-in.
"""

from __future__ import annotations

import _thread
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Call = Callable[..., Any]


def _load() -> None:
    """Loads `_sqlite3` with a stand-in for `functools`. If that fails, the import below loads it
    with the real one."""
    try:
        from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

        def lru_cache(maxsize: int = 128, typed: bool = False) -> Callable[[Call], Call]:
            return lambda call: _lru_cache_wrapper(call, maxsize, typed, tuple)

        stand_in = type(sys)("functools")
        stand_in.__dict__["lru_cache"] = lru_cache
        sys.modules["functools"] = stand_in
        import _sqlite3  # noqa: F401
    except (ImportError, AttributeError):
        pass
    finally:
        sys.modules.pop("functools", None)


if "functools" not in sys.modules and not _thread._count():  # no other thread can meet the stand-in
    _load()

import _sqlite3 as sqlite  # noqa: E402

__all__ = ["sqlite"]
