"""The frontmatter keys of a rule: what they mean, and what a misspelled one was meant to be.
Pure."""

from __future__ import annotations

from sisyphus.documents import GLOB_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

PRIORITY_LIMIT = 1_000_000_000

_KNOWN = (*GLOB_KEYS, "alwaysApply", "priority", "tags", "description")
_MEANT = {
    "appliesto": "applies_to",
    "applyto": "applyTo",
    "apply": "applyTo",
    "path": "paths",
    "files": "paths",
    "filepatterns": "paths",
    "glob": "globs",
    "pattern": "globs",
    "patterns": "globs",
    "match": "globs",
    "matches": "globs",
    "include": "globs",
    "scope": "globs",
    "always": "alwaysApply",
    "alwaysapply": "alwaysApply",
    "tag": "tags",
    "prio": "priority",
}


def always(metadata: Json) -> bool | None:
    """`alwaysApply`; None where it is absent or says neither."""
    value = metadata.get("alwaysApply")
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def priority(metadata: Json) -> float | None:
    """The priority, 0 where none is given; None for one that is no number."""
    value = metadata.get("priority")
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if number != number:  # noqa: PLR0124  # not a number, says YAML's `.nan`
        return None
    number = max(-PRIORITY_LIMIT, min(PRIORITY_LIMIT, number))
    return int(number) if number == int(number) else number


def words(metadata: Json, key: str) -> list[str]:
    """A list of texts, or a comma list."""
    value = metadata.get(key)
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        return []
    return [str(item).strip() for item in items if isinstance(item, (str, int, float))]


def misspelled(metadata: Json) -> dict[str, str]:
    """Unknown keys that were probably meant to be one of ours -> that one."""
    from difflib import get_close_matches

    found = {}
    for key in metadata:
        if key in _KNOWN:
            continue
        folded = key.lower().replace("_", "").replace("-", "")
        meant = _MEANT.get(folded) or next(iter(get_close_matches(key, _KNOWN, 1, 0.8)), None)
        if meant:
            found[key] = meant
    return found
