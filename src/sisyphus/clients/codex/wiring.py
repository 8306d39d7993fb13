"""What `sisyphus install` puts into Codex's folders: hooks in `hooks.json`, and our slash commands
as skills, as measured on 0.169.0. See `clients.base.Wiring`.

The user trusts each hook by its place in the file and a hash of its text. So what is here never
changes between versions without need, and our groups are the last of their events: what stands
before them keeps its place. One unknown key at the top of the file makes Codex drop all of it.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sisyphus.clients import CODEX, COMMAND_MARK, entry, hook_files, hook_groups
from sisyphus.clients.codex import native
from sisyphus.clients.hook_files import shown
from sisyphus.clients.installation import Installation, Site, Source
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

Json = dict[str, Any]

NEXT = "Start `codex` once and choose *Trust all*: it runs no hook that you have not trusted."
SHARED = "In Codex each has to trust the project and its hooks."
EXCLUDES = ""

_WHOLE = {"additionalContextLimit": 10_000}
"""In tokens of 4 bytes: 10,000 characters of any language reach the model whole."""

_SHORT = 3
"""The most seconds that Codex gives these hooks. Of more it warns."""

_KEYS = ("description", "hooks")
"""The keys that Codex knows at the top of the file."""

_LINES = re.compile(r"^(?:description|author):.*\n", re.MULTILINE)
"""The lines of a command's frontmatter that a skill has, too."""

_POLICY = b"policy:\n  allow_implicit_invocation: false\n"
"""The model is not told of our skills: they are for the user to type."""


def _groups(event: str, seconds: int, **more: Any) -> list[Json]:
    command = entry.line(event, "--client", CODEX)
    return [{"hooks": [{"type": "command", "command": command, "timeout": seconds, **more}]}]


HOOKS: Json = {
    "SessionStart": _groups("session-start", 10, **_WHOLE),
    "UserPromptSubmit": _groups("user-prompt-submit", 10, **_WHOLE),
    "PermissionRequest": _groups("permission-request", 10),
    "PostToolUse": _groups("post-tool-use", 10, **_WHOLE),
    "Stop": [*_groups("stop", 900), *_groups("idle", 900, **{"async": True})],
    "PreCompact": _groups("pre-compact", 10),
    "SessionEnd": _groups("session-end", _SHORT),
    "Interrupt": _groups("interrupt", _SHORT),
}
"""Event → groups, as `install` writes them."""


def folder(project: str) -> str:
    """Returns the user's folder of Codex or, with a project, the one there."""
    return os.path.join(project, ".codex") if project else native.codex_home()


def hooks_file(project: str) -> str:
    return os.path.join(folder(project), "hooks.json")


def file(home: str, project: str, *, is_shared: bool) -> str:
    return hooks_file(project)


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path = hooks_file(project)
    start = place.start if is_shared else start_with_home(place.start, place.home)
    skills, files = native.skills_folder(folder(project)), copies(project, place.commands)
    return Site(CODEX, project, path, path, start, HOOKS, skills, files)


problem = hook_groups.problem
wire = hook_groups.wire


def dropped(text: str) -> str:
    return ""


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    return hook_groups.without_ours(settings)


def excludes(settings: Json) -> list[str]:
    return []


def is_ours(data: bytes) -> bool:
    return False


def notes(site: Site, place: Installation) -> Iterator[str]:
    try:
        keys = unknown_keys(load(site.settings))
    except UnreadableError:  # there is no file yet
        keys = []
    if keys:
        yield (
            f"{shown(site.settings)} has a key that Codex does not know, {one_line(keys[0], 80)}: "
            "it runs no hook of that file. Take the key out."
        )
    for path in wired(place.project):
        if path != site.settings:
            yield (
                f"{shown(path)} has hooks of sisyphus, too. Codex runs both at each event: keep "
                "one of them."
            )


def effects(site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
    if has_moved(_content(before), _content(after)):
        yield (
            f"Other hooks in {shown(site.file)} get another place there, so Codex asks again "
            "whether you trust them: start `codex` once."
        )


def sources(place: Installation) -> list[Source]:
    files = {path: partial(load, path, place.project) for path in paths_of(place.project)}
    return hook_files.sources(CODEX, files, hooks_file(""), place.project, HOOKS)


def start_with_home(start: str, home: str) -> str:
    """Returns the words that start us with a home that is not the default one. Codex may run hooks
    in a server of its own, with another environment than the user's terminal.

    start: the words that start us in a shell. home: see `paths.client_home`.
    """
    if home == os.path.join(paths.user_home(), ".claude"):
        return start
    return f"env {entry.HOME}={shlex.quote(home)} {start}"


def home_of(start: str) -> tuple[str, str]:
    """Returns the home that such words name, and those that start us; the default one if they name
    none."""
    try:
        words = shlex.split(start)
    except ValueError:
        words = []
    mark = f"{entry.HOME}="
    if words[:1] == ["env"] and words[1:2] and words[1].startswith(mark):
        return words[1].removeprefix(mark), shlex.join(words[2:])
    return os.path.join(paths.user_home(), ".claude"), start


def copies(project: str, commands: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns path → content of the files of our skills. A skill of the user's that has the name of
    one stays as it is, with what lies beside it.

    commands: file name → content, as Claude Code gets them.
    """
    contents = {}
    for file, data in commands.items():
        name = os.path.splitext(file)[0]
        path = native.skill_file(folder(project), name)
        if not _is_foreign(path):
            contents[os.path.join(os.path.dirname(path), "agents", "openai.yaml")] = _POLICY
        contents[path] = _skill(name, data)
    return contents


def load(path: str, project: str = "") -> Json:
    """Returns the content of a hooks.json. Raises `UnreadableError` if Codex cannot use it.

    project: the one that must contain the file, unless it is the user's own; "" = none.
    """
    inside = "" if path == hooks_file("") else project
    try:
        value = json.loads(files.read(path, inside=inside))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise UnreadableError("it is not a JSON object")
    if problem := hook_groups.problem(value):
        raise UnreadableError(problem)
    return value


def unknown_keys(content: Json) -> list[str]:
    """Returns the keys for which Codex drops the whole file."""
    return [key for key in content if key not in _KEYS]


def has_moved(old: Json, new: Json) -> bool:
    """Tells whether a group that stays has another place than before: Codex asks again whether its
    hooks are trusted."""
    after = new.get("hooks", {})
    return any(
        group in after.get(event, []) and after[event][place : place + 1] != [group]
        for event, groups in old.get("hooks", {}).items()
        for place, group in enumerate(groups)
    )


def wired(project: str) -> dict[str, Json]:
    """Returns path → content of the files of hooks that have ours, the user's first."""
    return {path: content for path, content in _every(project) if hook_groups.has_ours(content)}


def paths_of(project: str) -> list[str]:
    """Returns the files of hooks that Codex reads for a project, whether they exist or not."""
    own = hooks_file("")
    every = {os.path.realpath(path): path for path in (hooks_file(project), own)}
    found = [path for path in every.values() if os.path.isabs(path)]
    return sorted(found, key=lambda path: path != own)


def _every(project: str) -> Iterator[tuple[str, Json]]:
    for path in paths_of(project):
        try:
            yield path, load(path, project)
        except UnreadableError:
            continue


def _content(data: bytes | None) -> Json:
    try:
        value = json.loads((data or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and not hook_groups.problem(value) else {}


def _is_foreign(path: str) -> bool:
    """Tells whether there is a skill that is not ours."""
    try:
        return COMMAND_MARK not in files.read(path)
    except UnreadableError:
        return os.path.lexists(path)


def _skill(name: str, data: bytes) -> bytes:
    """Returns a command as a skill. Codex does not fill in what the user typed behind its name: the
    model reads that in the user's message."""
    head, _, body = data.decode().partition("\n---\n")
    lines = "".join(_LINES.findall(f"{head}\n"))
    text = body.replace(
        "$ARGUMENTS", f"The text after `${name}` in the user's message belongs to this."
    )
    return f"---\nname: {name}\n{lines}---\n{text}".encode()
