"""Reads a limit of a loop, hold or run as people write it: `20`, `90m`, `8h`."""

import re

from sisyphus.ground.errors import UsageError

_DURATION = re.compile(r"(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?")
_LARGEST = 10**12


def read(name: str, value: str) -> int:
    """Returns the value of a limit; minutes may be given as `90m` or `8h`. name: of its option,
    without dashes. Raises `UsageError`."""
    if name == "max-minutes" and value and (parts := _DURATION.fullmatch(value)):
        return int(parts[1] or 0) * 60 + int(parts[2] or 0)
    if not (value.isascii() and value.isdecimal()) or int(value[:20]) > _LARGEST:
        units = ", or 90m or 8h" if name == "max-minutes" else ""
        raise UsageError(f"--{name} must be a whole number (0 = no limit){units}, not {value!r}.")
    return int(value)
