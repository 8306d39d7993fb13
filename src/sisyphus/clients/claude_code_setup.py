"""How Claude Code is set up: its settings, what it loads itself, how much it can hold.

All of it was measured on 2.1.329. AGENTS.md is loaded by a built-in plugin, unless a CLAUDE.md that
says anything stands in the folder where the session began or in one above it (the one of the
client's own folder does not count). A CLAUDE.md loads what it imports with `@path`, and what that
imports, from below that same folder alone. `.claude/rules` of the project and of its own folder are
loaded unless its settings exclude the file.

Contexts hold 1,000,000 tokens for models of version 5 on and for `[1m]` variants, 200,000 for the
rest. Where the name has no mark, an answer that found more than 200,000 tokens says it as well.
It compacts by itself, by a formula which 14 runs agree with, with models of the large window, and
for whoever has set a window for it, at `window - min(output, 20,000) - 13,000` tokens. Other models
are compacted only when the API refuses a prompt as too long.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache

from sisyphus.clients.base import as_object, as_path
from sisyphus.clients.claude_code import settings_paths
from sisyphus.errors import UnreadableError
from sisyphus.paths import ancestors, is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

    Rest = tuple[str, ...]
    Scope = Mapping[str, list[str]]

# --- its settings -----------------------------------------------------------------------------

HOOKS, STATUSLINE, EXCLUDES = "hooks", "statusLine", "claudeMdExcludes"
"""Keys of a settings file."""

TOOLS = "Read|Edit|Write|NotebookEdit|MultiEdit|Skill|TodoWrite|TaskCreate|TaskUpdate"
"""The matcher of hooks that are called for each tool call: a process for each of the others would
be for nothing."""

MANAGED_FOLDERS = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}
"""Where an organisation puts settings that nothing overrides; else `/etc/claude-code`."""

_MANAGED_FILES = 100

MAX_EXCLUDES = 100
MAX_CHARACTERS = 500
MAX_STARS = 4
"""Of one file; of one glob; of the `**` in it. A stranger's globs are matched against every rule of
a project."""


def settings(home: str, folder: str, root: str) -> list[Json]:
    """What these files hold; {} for one that is absent or unreadable."""
    from sisyphus.state.files import read_json

    return [read_json(path) or {} for path in settings_paths(home, folder, root)]


def managed_folder() -> str:
    return MANAGED_FOLDERS.get(sys.platform, "/etc/claude-code")


def managed_paths(folder: str) -> list[str]:
    """The settings files of an organisation, the weakest first."""
    more = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(more) if name.endswith(".json"))
    except OSError:
        names = []
    paths = [os.path.join(more, name) for name in names[:_MANAGED_FILES]]
    return [os.path.join(folder, "managed-settings.json"), *paths]


def plans_folder(home: str, root: str) -> str:
    """Where plan mode puts its plans. A project's own setting may name a folder of the project
    alone."""
    folder = os.path.join(home, "plans")
    for number, one in enumerate(settings(home, root, root)):
        if named := as_path(one.get("plansDirectory")):
            found = os.path.normpath(os.path.join(root, os.path.expanduser(named)))
            if not number or is_inside(found, root):
                folder = found
    return folder


def plugins(found: Json) -> Json:
    """Which plugins settings switch on and off, by their names."""
    return as_object(found.get("enabledPlugins"))


def excludes(found: Iterable[Json]) -> list[str]:
    """All globs of files that the client is told not to load."""
    lists = [some for one in found if isinstance(some := one.get(EXCLUDES), list)]
    globs = [glob for some in lists for glob in some[:MAX_EXCLUDES] if isinstance(glob, str)]
    return [g for g in globs if len(g) <= MAX_CHARACTERS and g.count("**") <= MAX_STARS]


def is_excluded(path: str, globs: Iterable[str]) -> bool:
    """Whether a glob matches the whole absolute path, as the client does it.

    Known are `**`, `*`, `?` and `[…]`. Braces, `!` and `~` are not: such a glob excludes nothing.
    """
    folder, _, name = path.rpartition(os.sep)
    return () in _step(_below(folder, tuple(globs)), name)


def exclude_glob(path: str) -> str:
    """A glob that matches this path alone: no backslash quotes a character, a class of one does."""
    return path.replace(os.sep, "/").translate(_CLASSES)


_CLASSES = str.maketrans({**{sign: f"[{sign}]" for sign in "*?[{(|"}, "\\": r"[\\]"})


@lru_cache(maxsize=1_000)  # many rules stand in few folders
def _below(folder: str, globs: tuple[str, ...]) -> frozenset[Rest]:
    """What of the globs a path in this folder has yet to match."""
    rests = _opened(tuple(glob.split("/")) for glob in globs)
    for part in folder.split(os.sep):
        rests = _step(rests, part)
    return rests


def _step(rests: Iterable[Rest], part: str) -> frozenset[Rest]:
    """Follows all readings of `**` at once: a search with a way back takes exponential time."""
    from fnmatch import fnmatchcase

    going_on = {rest for rest in rests if rest[:1] == ("**",)}
    others = (rest for rest in rests if rest and rest[0] != "**")
    return _opened(going_on.union(rest[1:] for rest in others if fnmatchcase(part, rest[0])))


def _opened(rests: Iterable[Rest]) -> frozenset[Rest]:
    """These, and what is left of each where its `**` stands for no folder at all."""
    opened = set(rests)
    for rest in list(opened):
        depth = 0
        while rest[depth : depth + 1] == ("**",):
            depth += 1
            opened.add(rest[depth:])
    return frozenset(opened)


# --- what it loads itself ---------------------------------------------------------------------

AGENTS_PLUGIN = "cc-plugin-agents-md@builtin"

_MEMORY_FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
_IMPORT_DEPTH = 4  # what a CLAUDE.md imports by way of three others is loaded, by four is not
_IMPORT_FILES = 100  # so that no project makes a session start slow
_IMPORT_NAMES = 1_000  # in one file, for the same reason

# Patterns are compiled where they are used: most hooks that read a transcript need none.
_FRONTMATTER = r"(?ms)\A---\n.*?^---\s*$"
_COMMENT = r"(?s)<!--.*?-->"
_IMPORT = r"(?:^|[\s\0*_\[])@((?:\\ |[^\s\\*\]\0])+)"


def why_agents_is_native(space: Workspace) -> str:
    if os.path.realpath(os.path.join(space.root, "AGENTS.md")) in imported(space):
        return "a CLAUDE.md loads it"
    if _plugin_is_off(space) or _memories(space):
        return ""
    return "Claude Code loads it where there is no CLAUDE.md"


def imported(space: Workspace) -> frozenset[str]:
    found: set[str] = set()
    for path, text in _memories(space):
        _follow(path, text, space.cwd, found, _IMPORT_DEPTH)
    return frozenset(found)


def _follow(path: str, text: str, inside: str, found: set[str], depth: int) -> None:
    found.add(os.path.realpath(path))
    for name in _imports(text) if depth else []:
        target = os.path.join(os.path.dirname(path), os.path.expanduser(name))
        is_new = os.path.realpath(target) not in found and len(found) < _IMPORT_FILES
        if is_new and is_inside(target, inside):
            _follow(target, _visible(target), inside, found, depth - 1)


def _imports(text: str) -> list[str]:
    from sisyphus import markdown

    found = re.findall(_IMPORT, markdown.read(text, hides_quotes=False).text)
    names = (name.partition("#")[0].replace("\\ ", " ").rstrip("_") for name in found)
    return list(dict.fromkeys(names))[:_IMPORT_NAMES]


@lru_cache(maxsize=1)  # asked for each document of one hook or command
def _memories(space: Workspace) -> list[tuple[str, str]]:
    """Path and text of each CLAUDE.md that the client loads at the start of the session."""
    own = os.path.realpath(space.home)
    excluded = excludes(_settings(space))
    found = []
    for folder in ancestors(os.path.realpath(space.cwd)):
        for name in _MEMORY_FILES:
            path = os.path.join(folder, name)
            if not os.path.lexists(path) or os.path.realpath(os.path.dirname(path)) == own:
                continue
            if is_excluded(path, excluded):
                continue
            text = _visible(path)
            if text.strip():
                found.append((path, text))
    return found


def _visible(path: str) -> str:
    """The text without frontmatter and comments; "" where the file cannot be read."""
    try:
        data = read_bytes(path, DOCUMENT_BYTES)
    except UnreadableError:
        return ""
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    # Comments end before the last mark of an end: searching on takes quadratic time.
    commented, end, rest = re.sub(_FRONTMATTER, "", text).rpartition("-->")
    return re.sub(_COMMENT, " ", commented + end) + rest


def _plugin_is_off(space: Workspace) -> bool:
    off = False
    for found in _settings(space):
        switched = plugins(found)
        if AGENTS_PLUGIN in switched:
            off = switched[AGENTS_PLUGIN] is False
    return off


@lru_cache(maxsize=1)
def _settings(space: Workspace) -> list[Json]:
    return settings(space.home, space.cwd, space.root)


def native_globs(scope: Scope, *, always: bool) -> list[str] | None:
    """The globs of the files for which it sends by itself a rule that it loads: one with `paths`
    when a file that they match is touched, any other whole at session start. It knows no other key,
    so what `applies_to`, `globs`, `applyTo` or `alwaysApply` alone brings to a file is ours.

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


# --- how much it can hold ----------------------------------------------------------------------

LARGE, SMALL = 1_000_000, 200_000

LEAST = 10_000
"""What a setting may say: with less a client has no room for its own prompt."""

_LARGE_MARK = "[1m]"
_FIRST_LARGE = 5
_DATE = 8  # digits, as in `claude-sonnet-4-5-20250929`

WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
PERCENT = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
OUTPUT = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
SMALL_ONLY = "CLAUDE_CODE_DISABLE_1M_CONTEXT"
OFF = ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")

LEAST_WINDOW = 100_000
"""The client raises a smaller window of the environment to this one, and takes none from settings.
So a stranger's settings cannot make every session look full."""

_MOST_OUTPUT, _SPARE, _REFUSED = 20_000, 13_000, 3_000
_DIGITS = 9
_WHOLE = 100
_YES = ("1", "true", "yes", "on")
_UNITS = {"k": 1_000, "m": 1_000_000}


def window(model: str, tokens: int, setting: int = 0, reported: int = 0) -> int:
    """The window in tokens: what it reported, else the setting, else by the model's name.

    `tokens`: what is in it by the last answer.
    """
    if reported >= max(tokens, 1):  # else it is of another model that the session had before
        return reported
    if setting >= LEAST:
        return setting
    return LARGE if tokens > SMALL or is_large(model) else SMALL


def is_large(model: str) -> bool:
    """Whether a name such as `claude-opus-5-5` or `claude-sonnet-4-5[1m]` has the large window."""
    return model.lower().endswith(_LARGE_MARK) or is_new(model)


def is_new(model: str) -> bool:
    """Whether it is of version 5 or later, whose windows it minds by itself."""
    return _major(model) >= _FIRST_LARGE


def _major(model: str) -> int:
    """Its first number: 4 of `claude-sonnet-4-5-20250929`, 3 of `claude-3-7-sonnet`; 0 = none."""
    words = model.lower().replace("[", "-").replace(".", "-").split("-")
    numbers = [word for word in words if word.isascii() and word.isdigit()]
    found = [number for number in numbers if len(number) < _DATE]
    return int(found[0]) if found else 0


def compaction(space: Workspace) -> Json:
    """What its settings say of its compaction: `compact_window`, `compacts`."""
    found: Json = {}
    for one in settings(space.home, space.cwd, space.root):
        if type(named := one.get("autoCompactWindow")) is int:
            found["compact_window"] = named
        if type(compacts := one.get("autoCompactEnabled")) is bool:
            found["compacts"] = compacts
    return found


def capacity(
    model: str, tokens: int, known: Json, setting: int = 0, reported: int = 0
) -> tuple[int, int]:
    compacts = Compaction(os.environ, known)
    whole = window(model, tokens, setting, reported)
    if compacts.is_small and not reported:
        whole = min(whole, SMALL)
    size = compacts.usable_window(whole)
    return size, compacts.ends_at(size, by_itself=is_new(model))


class Compaction:
    """How it is set up: `window` that was set for its compaction, 0 = none; `percent` of
    what can be used, 0 = none; `output` tokens that it keeps free; `is_off`; `is_small`: it uses no
    large window."""

    __slots__ = ("is_off", "is_small", "output", "percent", "window")

    def __init__(self, environment: Mapping[str, str], known: Json) -> None:
        """`known`: what `compaction` has found."""
        self.window = _set_window(environment.get(WINDOW), known.get("compact_window"))
        self.percent = min(_number(environment.get(PERCENT)), _WHOLE)
        self.output = min(_number(environment.get(OUTPUT)) or _MOST_OUTPUT, _MOST_OUTPUT)
        named_off = any(_is_on(environment.get(name)) for name in OFF)
        self.is_off = named_off or known.get("compacts") is False
        self.is_small = _is_on(environment.get(SMALL_ONLY))

    def usable_window(self, window: int) -> int:
        """The part of `window` that this client uses."""
        return min(window, self.window) if self.window and not self.is_off else window

    def ends_at(self, window: int, *, by_itself: bool) -> int:
        """Tokens of `window` at which it compacts, or refuses to go on where it does not; 0 = none.

        `by_itself`: models whose window the client minds without being told.
        """
        if self.is_off:
            return max(window - self.output - _REFUSED, 0)
        if not (by_itself or self.window):
            return 0
        limit = window - self.output - _SPARE
        if self.percent and by_itself:
            limit = min(limit, (window - self.output) * self.percent // _WHOLE)
        return max(limit, 0)


def _set_window(named: str | None, setting: object) -> int:
    if number := _number(named):
        return max(number, LEAST_WINDOW)
    return setting if type(setting) is int and setting >= LEAST_WINDOW else 0


def _number(text: str | None) -> int:
    """`200000`, `200k`; 0 for whatever is no number."""
    lower = (text or "").strip().lower()
    factor = _UNITS.get(lower[-1:], 1)
    digits = lower[:-1] if factor > 1 else lower
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS
    return int(digits) * factor if is_number else 0


def _is_on(text: str | None) -> bool:
    return (text or "").strip().lower() in _YES
