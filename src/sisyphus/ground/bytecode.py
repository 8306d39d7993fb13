"""The compiled files of our own modules. Without them each hook compiles all that it loads, which
doubles what it costs: `uv` compiles nothing, and `PYTHONDONTWRITEBYTECODE` keeps Python from it.
"""

import os
from importlib.util import cache_from_source

import sisyphus

PACKAGE = os.path.dirname(str(sisyphus.__file__))


def is_missing(package: str = PACKAGE) -> bool:
    """Tells whether a hook has to compile its modules, by the one that all of them load."""
    source = os.path.join(package, "door", "door.py")
    try:
        with open(cache_from_source(source), "rb") as file:
            head = file.read(16)
        changed_at = int(os.stat(source).st_mtime) & 0xFFFFFFFF
    except (OSError, NotImplementedError):
        return True
    is_checked = int.from_bytes(head[4:8], "little") == 0  # else it is good for any time
    return is_checked and int.from_bytes(head[8:12], "little") != changed_at


def make(package: str = PACKAGE) -> None:
    """Compiles all modules that need it, as far as their folders can be written. Takes seconds."""
    import compileall

    compileall.compile_dir(package, quiet=2)
