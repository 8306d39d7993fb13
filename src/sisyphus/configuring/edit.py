"""The settings file in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from sisyphus.configuring import change
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_inside

if TYPE_CHECKING:
    from sisyphus.configuring.sources import Source

HEAD = """\
# Settings of sisyphus. For example:
#
# [boulder]
# stale_days = 30
#
# `sisyphus config explain` lists them all, `sisyphus config show` what is in force.
"""


def edit(ours: str, source: Source) -> None:
    """Returns when the editor has ended; raises `SisyphusError` where there is none, or it fails.

    A file that is not there is made first.
    """
    if source.inside and not is_inside(source.path, source.inside):
        raise SisyphusError(f"{source.path} leaves {source.inside} by a link. Edit its target.")
    if os.path.exists(source.path) and not os.path.isfile(source.path):
        raise SisyphusError(f"{source.path} is not a regular file. Move it away, and try again.")
    command = _editor(source.path)
    change.begin(ours, source, HEAD)
    try:
        done = subprocess.run([*command, source.path], check=False)  # noqa: S603  # the user's own
    except OSError as error:
        raise SisyphusError(
            f"{command[0]} cannot be run: {error.strerror}. Set VISUAL or EDITOR to your editor."
        ) from error
    if done.returncode:
        raise SisyphusError(
            f"{command[0]} ended with exit code {done.returncode}: see {source.path}."
        )


def _editor(path: str) -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError as error:
            raise SisyphusError(f"{name} cannot be read: {error}. Mend its quotes.") from error
        if words:
            return words
    raise SisyphusError(
        f"no editor is named. Set VISUAL or EDITOR, or open {path} yourself; "
        "`sisyphus config set KEY VALUE` needs none."
    )
