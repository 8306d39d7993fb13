"""The version, which stands in three places, and says the same in all of them.

    python tools/release.py check        before a build: do they agree? 1 = no, with the reasons
    python tools/release.py set X.Y.Z    write it; what is [Unreleased] becomes its changes

The package says it in Python, so that asking for it costs a hook nothing; the plugin's manifest in
JSON, because the client reads it there; the changelog to people. Run it in the checkout.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

PACKAGE = Path("src/sisyphus/__init__.py")
MANIFEST = Path(".claude-plugin/plugin.json")
CHANGELOG = Path("CHANGELOG.md")
UNRELEASED = "Unreleased"

_IN_PACKAGE = re.compile(r'^(__version__ = ")([^"]*)', re.MULTILINE)
_IN_MANIFEST = re.compile(r'^(  "version": ")([^"]*)', re.MULTILINE)
_HEADING = re.compile(r"^## \[([^]]+)\].*\n", re.MULTILINE)
_VERSION = re.compile(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}")
"""What PEP 440 and Semantic Versioning, which the client follows, write alike."""


class ReleaseError(Exception):
    """What is wrong, why, and what to do."""


def check() -> list[str]:
    """What keeps this checkout from being built, as lines for people."""
    version, manifest = _found(_IN_PACKAGE, PACKAGE), _found(_IN_MANIFEST, MANIFEST)
    faults = []
    if version != manifest:
        faults.append(
            f"{PACKAGE} says {version}, {MANIFEST} says {manifest}. "
            "Write one version into both: make version TO=X.Y.Z"
        )
    changes = _sections(CHANGELOG.read_text("utf-8"))
    if version in changes and changes.get(UNRELEASED):
        faults.append(
            f"{version} is released, and {CHANGELOG} has changes since. "
            "Give them a version of their own: make version TO=X.Y.Z"
        )
    elif not changes.get(version) and not changes.get(UNRELEASED):
        faults.append(
            f"{CHANGELOG} says nothing of {version}. "
            f"Write what changes for users below `## [{UNRELEASED}]`."
        )
    return faults


def write(version: str) -> None:
    """Raises `ReleaseError` where it is no version, or not one to give."""
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f"{version} is no version. Write three numbers: X.Y.Z")
    text = CHANGELOG.read_text("utf-8")
    changes = _sections(text)
    if version in changes:
        raise ReleaseError(f"{version} is in {CHANGELOG} already. Take the next one.")
    if not changes.get(UNRELEASED):
        raise ReleaseError(
            f"{CHANGELOG} has nothing below `## [{UNRELEASED}]`. "
            "Write what changes for users, then give it a version."
        )
    _put(_IN_PACKAGE, PACKAGE, version)
    _put(_IN_MANIFEST, MANIFEST, version)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    released = f"## [{UNRELEASED}]\n\n## [{version}] - {today}\n"
    CHANGELOG.write_text(text.replace(f"## [{UNRELEASED}]\n", released, 1), "utf-8")


def _sections(changelog: str) -> dict[str, str]:
    """What stands below each heading, by what the heading has in brackets."""
    _, *parts = _HEADING.split(changelog)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def _found(pattern: re.Pattern[str], path: Path) -> str:
    match = pattern.search(path.read_text("utf-8"))
    if match is None:
        raise ReleaseError(f"{path} names no version, by the pattern {pattern.pattern}")
    return match[2]


def _put(pattern: re.Pattern[str], path: Path, version: str) -> None:
    _found(pattern, path)
    path.write_text(pattern.sub(rf"\g<1>{version}", path.read_text("utf-8"), count=1), "utf-8")


def main(words: list[str]) -> int:
    match words:
        case ["check"]:
            faults = check()
        case ["set", version]:
            write(version)
            faults = check()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ReleaseError, OSError) as error:
        sys.exit(f"error: {error}")
