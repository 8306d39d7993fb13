"""Who sends a rule on Claude Code: the client itself, or we. Pure.

Claude Code 2.1.329 loads `.claude/rules` of the project and of its own folder, unless its settings
exclude the file: one with `paths` when a file that they match is touched, any
other whole at session start. It knows no other key. So what `applies_to`, `globs`, `applyTo` or
`alwaysApply` alone brings to a file is ours.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Scope = Mapping[str, list[str]]


def native_globs(scope: Scope, *, always: bool) -> list[str] | None:
    """The globs of the files for which Claude Code sends by itself a rule that it loads.

    None = it leaves none of the files that the rule covers to us; [] = it leaves us all of them.
    `scope`: the globs of each scoping key that has any; `always`: every file is covered.
    """
    if "paths" in scope:
        return scope["paths"] if beside_paths(scope, always=always) else None
    return None if always or not scope else []


def beside_paths(scope: Scope, *, always: bool) -> list[str]:
    """The keys by which the rule covers files that its `paths` may not; [] where it has none."""
    paths = scope.get("paths")
    if not paths:
        return []
    excludes = any(glob.startswith("!") for glob in paths)  # a later key may take back in
    held = set() if excludes else set(paths)
    keys = [key for key, globs in scope.items() if key != "paths" and not held.issuperset(globs)]
    return [*keys, "alwaysApply"] if always else keys
