"""A page in a private file, which brings the code of an address to the dashboard.

All users of a machine can read the command line of a browser. So it has the path of this file
there, and no code. The file is removed when its code is used, or does not count any more.
"""

from __future__ import annotations

import hashlib
import html
import os
from contextlib import suppress
from pathlib import Path
from threading import Timer

from sisyphus.dashboard import access
from sisyphus.ground import files, paths

OPEN = "/open"
"""Where the page sends its code."""

SECONDS = 60.0
"""How long the file stays where nobody uses it. A browser that has to be started takes some."""

_SNAPS = "/snap"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>sisyphus</title>
<form method="post" action="{action}">
<input type="hidden" name="code" value="{code}">
<button>Open the dashboard</button>
</form>
<script>document.forms[0].submit()</script>
</html>
"""


def write(link: str, our_home: str) -> str:
    """Writes the page for an address that opens the dashboard once; returns its own address. Raises
    `OSError`."""
    address, code = access.split(link)
    path = _path(code, our_home)
    text = _PAGE.format(action=html.escape(address + OPEN), code=html.escape(code))
    files.make_folder(os.path.dirname(path))
    with files.open_private(path, os.O_EXCL) as file:
        file.write(text.encode())
    return Path(path).as_uri()


def remove(code: str, our_home: str) -> None:
    with suppress(OSError):
        os.unlink(_path(code, our_home))


def remove_later(link: str, our_home: str) -> None:
    """Removes the page for an address after SECONDS, if there is one by then."""
    timer = Timer(SECONDS, remove, (access.split(link)[1], our_home))
    timer.daemon = True
    timer.start()


def _path(code: str, our_home: str) -> str:
    """Returns the file of a code, which its name does not tell. Ours is a hidden folder, which a
    browser from a snap cannot read, as that of Ubuntu is."""
    folder = paths.user_home() if os.path.isdir(_SNAPS) else ""
    name = hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()[:16]
    return os.path.join(folder or our_home, f"sisyphus-dashboard-{name}.html")
